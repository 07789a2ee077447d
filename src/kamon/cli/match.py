"""``kamon match``: two players over many boards, and who is stronger."""

import contextlib
import logging
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from kamon.cli.engine import INTERRUPTED, prepare, stopped_by_hand
from kamon.cli.files import reason
from kamon.engine.matches import (
    EngineStartError,
    FinishedGame,
    Pace,
    Player,
    Score,
    parse_player,
    play_match,
    summary,
)
from kamon.engine.matches.client import LOGGER
from kamon.errors import EngineMissingError, FormatError
from kamon.layout import SEED_LIMIT
from kamon.record import format_record

EXAMPLES = """Examples:

\b
  kamon match level:5 level:4 --games 100
  kamon match level:8 uct:10000 --games 20 --seed 1 --output games.pgn
  kamon match level:7 'ugi:./my-engine --fast' --games 50 --movetime 0.5
  kamon match level:7 ugi:./my-engine --games 2 --log lines.txt"""

_GAMES = 1_000_000


def run(  # noqa: PLR0913 - each is an option of a match
    one: Annotated[
        str, typer.Argument(metavar="A", help="First player: level:5, uct:1000 or ugi:COMMAND.")
    ],
    other: Annotated[str, typer.Argument(metavar="B", help="Second player, in the same form.")],
    *,
    games: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=_GAMES, help="Number of games; each board is played twice."
        ),
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="SEED",
            min=0,
            max=SEED_LIMIT - _GAMES,
            help="Seed of the first board; the next boards use the next seeds. Random by default.",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Multiply the budgets of levels; 0.1 is quick."),
    ] = None,
    movetime: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Time for each move; levels below 12 still use no more than their budgets.",
        ),
    ] = None,
    ahead: Annotated[
        bool,
        typer.Option(
            "--think-ahead", help="With --movetime, let level 12 think on its opponent's time too."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Append each finished game to this file."
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Append everything sent to and from the programs to this file."
        ),
    ] = None,
) -> None:
    """Play a match between two players and report who is stronger.

    Each random board is played twice, with the sides swapped. A player that crashes, does not
    answer or plays an illegal move loses that game and is restarted. Ctrl-C stops the match early;
    the games played so far count and are saved.
    """
    players = _players(one, other, _pace(scale, movetime, ahead=ahead))
    if any(player.needs_kernel for player in players):
        prepare()
    first = secrets.randbelow(SEED_LIMIT - _GAMES) if seed is None else seed
    typer.echo(f"boards start at seed {first}")
    with _appending(output) as stream, _logging_to(log):
        status = _play(players, games, first, stream)
    if status:
        raise typer.Exit(status)


def _pace(scale: float | None, movetime: float | None, *, ahead: bool) -> Pace:
    if ahead and movetime is None:
        raise typer.BadParameter("--think-ahead needs --movetime")
    if scale is not None and movetime is not None:
        raise typer.BadParameter("--scale and --movetime cannot be used together")
    for name, number, most in (("--scale", scale, 1000), ("--movetime", movetime, 86_400)):
        if number is not None and not 0 < number <= most:
            raise typer.BadParameter(
                f"{name} must be more than 0 and at most {most}, not {number:g}"
            )
    return Pace(scale or 1.0, movetime, ahead)


def _players(one: str, other: str, pace: Pace) -> tuple[Player, Player]:
    try:
        players = parse_player(one, pace), parse_player(other, pace)
    except FormatError as error:
        raise typer.BadParameter(str(error)) from None
    if one == other:
        for number, player in enumerate(players, 1):
            player.name += f" #{number}"
    return players


@contextlib.contextmanager
def _appending(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        stream = path.open("a", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"cannot write {path}: {reason(error)}") from None
    with stream:
        yield stream


@contextlib.contextmanager
def _logging_to(path: Path | None) -> Iterator[None]:
    """Append what the programs are sent and what they answer to a file."""
    with _appending(path) as stream:
        if stream is None:
            yield
            return
        handler = logging.StreamHandler(stream)
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        level_before = LOGGER.level
        LOGGER.addHandler(handler)
        LOGGER.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            LOGGER.removeHandler(handler)
            LOGGER.setLevel(level_before)


def _play(players: tuple[Player, Player], games: int, seed: int, stream: TextIO | None) -> int:
    """Play until the end or an interruption, print the score, and return the exit status."""
    one, other = players
    score, status = Score(), 0
    try:
        for finished in play_match(one, other, games=games, seed=seed):
            # What is written must also be counted, even if Ctrl-C comes in between.
            with stopped_by_hand() as stopped:
                _keep(finished, stream)
                score = score.plus(finished.points)
            _tell(finished, score, games)
            if stopped():
                status = INTERRUPTED
                break
    except KeyboardInterrupt:
        status = INTERRUPTED
    except (EngineStartError, EngineMissingError) as error:
        typer.echo(f"kamon: {error}", err=True)
        status = 1
    finally:
        for player in players:
            player.close()
        if sys.stderr.isatty():
            typer.echo(err=True)
    typer.echo(summary(one.name, other.name, score))
    return status


def _keep(finished: FinishedGame, stream: TextIO | None) -> None:
    if stream is not None:
        # An empty line before it, whatever the file ends with.
        start = "\n" if not stream.seekable() or stream.tell() else ""
        stream.write(start + format_record(finished.game))
        stream.flush()


def _tell(finished: FinishedGame, score: Score, games: int) -> None:
    """Report what went wrong, and on a terminal also the score."""
    shown = sys.stderr.isatty()
    if finished.fault:
        start = "\n" if shown else ""
        where = finished.game.tags["Round"]
        typer.echo(f"{start}kamon: game {where}: {finished.fault}", err=True)
    if shown:
        line = f"game {len(score.points)} of {games}: +{score.wins} ={score.draws} -{score.losses}"
        typer.echo(f"\r{line}", err=True, nl=False)
