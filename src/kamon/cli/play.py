"""``kamon play``: two people at one terminal."""

import io
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from platformdirs import user_data_path

from kamon import rules
from kamon.cli.choices import OtherEditionOption
from kamon.cli.engine import prepare
from kamon.cli.files import reason, write_whole
from kamon.editions import COSMOLUDO_2020, EDITIONS, Edition
from kamon.engine.strengths import STRONGEST, strongest_plain_level
from kamon.errors import KamonError
from kamon.game import Game, OffBoard, Result
from kamon.layout import SEED_LIMIT, Layout
from kamon.notation import format_cell, parse_cell
from kamon.position import Side
from kamon.record import format_record, read_records
from kamon.render import text
from kamon.rules import By, Outcome

EXAMPLES = """Examples:

\b
  kamon play                a new board
  kamon play --seed 7       the board with this seed
  kamon play --against 4    against the computer, level 4
  kamon play --resume       continue the last game
  kamon play friday.pgn     continue a saved game"""

_HELP = """\
  c4            play on c4
  undo, redo    take a move back, or play it again
  save FILE     write the game so far to a file (save! FILE overwrites it)
  resign        give up the game
  board, help   show the board or this list again
  quit          exit; the game is saved, and kamon play --resume continues it"""


def run(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Saved game (PGN) to continue.", dir_okay=False),
    ] = None,
    *,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", min=0, max=SEED_LIMIT - 1, help="Seed of the board; random by default."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue the last game.")] = False,
    edition: OtherEditionOption = None,
    against: Annotated[
        int | None,
        typer.Option(
            metavar="LEVEL",
            min=1,
            max=STRONGEST,
            help=f"Play against the computer, at level 1 to {STRONGEST}.",
        ),
    ] = None,
    side: Annotated[
        Literal["black", "white"], typer.Option(help="Your side against the computer.")
    ] = "black",
) -> None:
    """Play in this terminal, with a friend or against the computer.

    Every move is saved as it is made.
    """
    if sum((file is not None, seed is not None, resume)) > 1:
        raise typer.BadParameter("use only one of FILE, --seed and --resume")
    kept = _latest_game() if resume else _new_path()
    source = kept if resume else file
    if source is not None:
        game = _read_game(source)
    else:
        number = secrets.randbelow(SEED_LIMIT) if seed is None else seed
        game = Game(Layout.shuffled(number))
        game.tags["Date"] = f"{datetime.now().astimezone():%Y.%m.%d}"
        game.tags["Seed"] = str(number)
        typer.echo(f"This is the board of seed {number}. Type help for a list of commands.")
    game.tags["Edition"] = edition or game.tags.get("Edition", COSMOLUDO_2020.name)
    opponent = None if against is None else Opponent(against, Side(side).other)
    Table(game, kept, EDITIONS[game.tags["Edition"]], opponent).play()


def _games_folder() -> Path:
    return user_data_path("kamon", appauthor=False) / "games"


def _new_path() -> Path:
    folder = _games_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot save games in {folder}: {reason(error)}") from None
    return folder / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}-{secrets.token_hex(2)}.pgn"


def _latest_game() -> Path:
    games = sorted(_games_folder().glob("*.pgn"), key=lambda path: path.stat().st_mtime)
    if not games:
        raise typer.BadParameter("there is no game to resume yet")
    return games[-1]


def _read_game(path: Path) -> Game:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            game = next(read_records(stream), None)
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{path} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        if isinstance(error, KamonError):
            raise
        raise typer.BadParameter(f"cannot read {path}: {reason(error)}") from None
    if game is None:
        raise typer.BadParameter(f"{path} does not contain a game")
    return game


@dataclass(frozen=True, slots=True)
class Opponent:
    """The computer on one side."""

    level: int
    side: Side

    def choose(self, game: Game) -> int:
        """Think about the position at the cursor."""
        from kamon.engine import levels  # noqa: PLC0415 - two people need no engine

        if self.level > strongest_plain_level():
            prepare()
        return levels.choose(game.position, self.level, seed=secrets.randbits(32))


class Table:
    """One game, the file that keeps it, and who sits in front of it."""

    def __init__(
        self, game: Game, kept: Path, edition: Edition, opponent: Opponent | None = None
    ) -> None:
        self.game = game
        self.opponent = opponent
        self.kept = kept
        self.edition = edition
        self.colour = sys.stdout.isatty()
        self.commands: dict[str, Callable[[str], bool]] = {
            "undo": self._undo,
            "redo": self._redo,
            "save": self._save,
            "save!": self._save_over,
            "resign": self._resign,
            "board": self._board,
            "help": self._help,
        }

    def play(self) -> None:
        """Ask for moves until the players quit."""
        if isinstance(sys.stdin, io.TextIOWrapper):
            # Bytes that are not text must not end the game: they become marks, and no command.
            sys.stdin.reconfigure(errors="replace")
        self._board("")
        while True:
            try:
                self._answer()
                typed = input(self._prompt()).split(maxsplit=1)
            except (EOFError, KeyboardInterrupt):
                typed = ["quit"]
                typer.echo()
            if typed == ["quit"]:
                break
            if typed:
                self._obey(*typed)
        if self.game.moves:
            self._keep()
            typer.echo(f"The game is saved in {self.kept}")

    def _answer(self) -> None:
        """Let the computer move if it is its turn."""
        game, opponent = self.game, self.opponent
        over = game.outcome is not None or game.off_board is not None
        if opponent is None or over or game.position.turn is not opponent.side:
            return
        cell = opponent.choose(game)
        typer.echo(f"The computer plays {format_cell(cell)}.")
        self._obey(format_cell(cell))

    def _prompt(self) -> str:
        if self.game.outcome is not None or self.game.off_board is not None:
            return "The game is over (undo, save FILE, quit): "
        return f"{self.game.position.turn.value.capitalize()} plays: "

    def _obey(self, word: str, rest: str = "") -> None:
        """Do what was typed: a command by its name, anything else is a move."""
        try:
            command = self.commands.get(word)
            changed = command(rest.strip()) if command else self._move(word)
            if changed:
                self._keep()
                self._board("")
        except KamonError as error:
            typer.echo(f"  {error}")
        except typer.BadParameter as error:
            typer.echo(f"  {error.message}")

    def _keep(self) -> None:
        self._write_record(self.kept, force=True)

    def _write_record(self, path: Path, *, force: bool) -> None:
        """Write the game up to the cursor: what was taken back behind it is not part of it."""
        here = self.game.node
        ahead, here.children = here.children, []
        try:
            with write_whole(path, force=force) as stream:
                stream.write(format_record(self.game))
        finally:
            here.children = ahead

    # --- What can be typed: each returns whether the game has changed ---

    def _move(self, word: str) -> bool:
        if self.game.off_board is not None:
            typer.echo("  the game is over: undo lets you play on")
            return False
        node = self.game.play(parse_cell(word))
        # What was taken back stays in the record, as a variation of what was played instead.
        self.game.promote(node)
        return True

    def _undo(self, _: str) -> bool:
        if self.game.off_board is not None:
            self.game.off_board = None
            return True
        if not self.game.undo():
            typer.echo("  there is nothing to take back")
            return False
        # Against the computer one takes back one's own move, and with it the answer.
        if self.opponent is not None and self.game.position.turn is self.opponent.side:
            self.game.undo()
        return True

    def _redo(self, _: str) -> bool:
        if not self.game.redo():
            typer.echo("  there is nothing to redo")
            return False
        return True

    def _save(self, name: str) -> bool:
        return self._write(name, force=False)

    def _save_over(self, name: str) -> bool:
        return self._write(name, force=True)

    def _write(self, name: str, *, force: bool) -> bool:
        if not name:
            raise typer.BadParameter("save needs a file name, for example save friday.pgn")
        try:
            path = Path(name).expanduser()
        except RuntimeError as error:
            raise typer.BadParameter(f"cannot write {name}: {error}") from None
        self._write_record(path, force=force)
        typer.echo(f"  saved to {name}")
        return False

    def _resign(self, _: str) -> bool:
        if self.game.outcome is not None or self.game.off_board is not None:
            typer.echo("  the game is already over")
            return False
        # The record must end here: what was taken back before is no longer part of the game.
        for taken_back in list(self.game.node.children):
            self.game.remove(taken_back)
        self.game.end_off_board(self.game.position.turn.other, OffBoard.RESIGNATION)
        return True

    def _help(self, _: str) -> bool:
        typer.echo(_HELP)
        typer.echo(text.legend(self.edition))
        return False

    def _board(self, _: str) -> bool:
        board = text.draw(self.game.position, edition=self.edition, colour=self.colour)
        typer.echo(f"\n{board}\n")
        typer.echo(self._situation())
        return False

    # --- What is shown to the players ---

    def _situation(self) -> str:
        position, outcome = self.game.position, self.game.outcome
        if outcome is not None:
            return _describe(outcome, self.edition)
        if self.game.off_board is not None:
            return _describe_off_board(self.game.off_board)
        legal = " ".join(map(format_cell, rules.legal_cells(position)))
        token = position.layout.tokens[position.last] if position.last is not None else None
        if token is None:
            return f"Black begins on an edge space, but not on a corner: {legal}"
        return f"To match {self.edition.describe(token)} ({token}): {legal}"


def _describe_off_board(result: Result) -> str:
    if result.winner is None:
        return "A draw by agreement."
    winner, loser = result.winner.value.capitalize(), result.winner.other.value.capitalize()
    if result.termination == OffBoard.TIME.value:
        return f"{loser} has run out of time. {winner} has won."
    return f"{loser} has resigned. {winner} has won."


def _describe(outcome: Outcome, edition: Edition) -> str:
    """Say in a sentence who has won, and why."""
    if outcome.winner is None:
        return "A draw: all the tokens are covered and nobody has won."
    winner = outcome.winner.value.capitalize()
    reasons = [
        f"connects {edition.edges[link.pair]} to {edition.edges[link.pair]} through "
        + " ".join(map(format_cell, link.chain))
        for link in outcome.links
    ]
    if outcome.ring:
        enclosed = " ".join(map(format_cell, outcome.enclosed))
        reasons.append(f"closes a loop around {enclosed}")
    if By.BLOCK in outcome.by and outcome.needed is not None:
        loser = outcome.winner.other.value.capitalize()
        need = edition.describe_need(outcome.needed)
        reasons.append(f"leaves {loser} nothing to play: {loser} needs {need}")
    return f"{winner} {' and '.join(reasons)}. {winner} has won."
