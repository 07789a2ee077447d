"""``kamon convert``: between position lines and PGN records."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kamon.cli.files import ForceOption, Lines, SourceFile, open_source, read_games, write_whole
from kamon.errors import KamonError
from kamon.game import Game
from kamon.notation import format_line
from kamon.record import format_record, parse_record, split_records

EXAMPLES = """Examples:

\b
  kamon convert games.txt --output games.pgn
  kamon convert games.pgn > games.txt"""


def run(
    file: SourceFile = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to this file instead of standard output."
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Convert position lines to PGN, and PGN to position lines.

    The first character decides: PGN begins with a tag in brackets. A position line holds the moves
    of the main line, and its comment says how the game ended. Games that cannot be read are left
    out and reported on standard error, and the exit status is 1; all others are converted.
    """
    failed = False
    with open_source(file) as lines, contextlib.ExitStack() as closing:
        target = closing.enter_context(write_whole(output, force=force)) if output else None
        from_records = lines.first().removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
        for number, game in _read_records(lines) if from_records else read_games(lines):
            if isinstance(game, KamonError):
                failed = True
                typer.echo(f"kamon: {game.at(line=number)}", err=True)
                continue
            text = _as_line(game) if from_records else format_record(game)
            typer.echo(text, file=target)
    if failed:
        raise typer.Exit(1)


def _read_records(lines: Lines) -> Iterator[tuple[int, Game | KamonError]]:
    for number, record in split_records(lines):
        try:
            yield number, parse_record(record, first_line=number)
        except KamonError as error:
            yield number, error


def _as_line(game: Game) -> str:
    result = game.result
    if result is None:
        return format_line(game)
    winner = result.winner.value if result.winner else "draw"
    return f"{format_line(game)} ; {winner} {result.termination}"
