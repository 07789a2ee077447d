"""The solved boards that come with the program: one line each, as CSV, the version above them.

    # kamon solved boards 1
    seed,value,winning,not_winning,drawing,complete,line,ending,fairness

``tools/publish_census.py`` writes the file, and docs/census.md explains the columns. Cells are
separated by spaces. ``fairness`` is empty unless ``complete`` is ``yes`` and White does not win.
"""

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from kamon import rules
from kamon.errors import FormatError, KamonError, quote
from kamon.layout import Layout
from kamon.notation import format_cell, parse_cell
from kamon.position import Position

VALUES: Final = ("win", "draw", "loss")
COLUMNS: Final = (
    *("seed", "value", "winning", "not_winning", "drawing"),
    *("complete", "line", "ending", "fairness"),
)
_HEAD: Final = "# kamon solved boards "
_VERSION: Final = 1
_YES: Final = {True: "yes", False: "no"}
# From this fairness on a board is called fair: Black misses a win at least seven times in ten.
_FAIR_FROM: Final = 0.7


@dataclass(frozen=True, slots=True)
class SolvedBoard:
    """A board and what is proven about it. ``value`` is for Black; the cells are first moves."""

    seed: int
    value: str
    winning: tuple[int, ...] = ()
    not_winning: tuple[int, ...] = ()
    # Those that do not win, but are proven not to lose either.
    drawing: tuple[int, ...] = ()
    complete: bool = False
    # One way the game can go if both sides keep their values; empty if nobody wins.
    line: tuple[int, ...] = ()
    ending: str = ""
    fairness: float | None = None

    @property
    def layout(self) -> Layout:
        """The tokens."""
        return Layout.shuffled(self.seed)

    @property
    def first_moves(self) -> tuple[int, ...]:
        """All first moves, whatever is known of them."""
        return tuple(rules.legal_cells(Position(self.layout)))

    @property
    def unsettled(self) -> tuple[int, ...]:
        """The first moves of which nobody knows whether they win."""
        settled = {*self.winning, *self.not_winning}
        return tuple(cell for cell in self.first_moves if cell not in settled)


# --- As text ---


def format_boards(boards: Iterable[SolvedBoard]) -> str:
    """Write a file."""
    out = io.StringIO()
    out.write(f"{_HEAD}{_VERSION}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_fields, boards))
    return out.getvalue()


def _fields(board: SolvedBoard) -> list[str]:
    return [
        str(board.seed),
        board.value,
        _format_cells(board.winning),
        _format_cells(board.not_winning),
        _format_cells(board.drawing),
        _YES[board.complete],
        _format_cells(board.line),
        board.ending,
        "" if board.fairness is None else str(board.fairness),
    ]


def _format_cells(cells: Iterable[int]) -> str:
    return " ".join(map(format_cell, cells))


def parse_boards(text: str) -> Iterator[SolvedBoard]:
    """Read a file, board by board; an error tells the line."""
    lines = text.splitlines()
    if lines[:2] != [f"{_HEAD}{_VERSION}", ",".join(COLUMNS)]:
        raise FormatError(
            f"this is no file of solved boards: expected '{_HEAD}{_VERSION}' at its top, and then "
            f"the columns {', '.join(COLUMNS)}"
        )
    for number, row in enumerate(csv.reader(lines[2:]), 3):
        try:
            yield _read(row)
        except KamonError as error:
            raise error.at(line=number) from None


def _read(row: list[str]) -> SolvedBoard:
    if len(row) != len(COLUMNS):
        raise FormatError(f"expected {len(COLUMNS)} columns, found {len(row)}")
    fields = dict(zip(COLUMNS, row, strict=True))
    board = SolvedBoard(
        _read_seed(fields["seed"]),
        _one_of(fields["value"], VALUES),
        _read_cells(fields["winning"]),
        _read_cells(fields["not_winning"]),
        _read_cells(fields["drawing"]),
        _one_of(fields["complete"], _YES.values()) == _YES[True],
        _read_cells(fields["line"]),
        fields["ending"],
        _read_fairness(fields["fairness"]),
    )
    _check(board)
    return board


def _read_seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise FormatError(f"a seed is a whole number, not {quote(text)}")
    return int(text)


def _read_fairness(text: str) -> float | None:
    if not text:
        return None
    try:
        fairness = float(text)
    except ValueError:
        fairness = math.nan
    if not 0 <= fairness <= 1:
        raise FormatError(f"a fairness is a number from 0 to 1, not {quote(text)}")
    return fairness


def _one_of(text: str, words: Iterable[str]) -> str:
    if text not in words:
        raise FormatError(f"expected {' or '.join(words)}, not {quote(text)}")
    return text


def _read_cells(text: str) -> tuple[int, ...]:
    return tuple(map(parse_cell, text.split()))


def _check(board: SolvedBoard) -> None:
    """Check that the moves are possible. That they are worth what it says was proven before."""
    first = set(board.first_moves)
    settled = [*board.winning, *board.not_winning]
    if len(set(settled)) != len(settled) or not first.issuperset(settled):
        raise FormatError(f"board {board.seed} has a first move that is none, or one twice")
    position = Position(board.layout)
    for cell in board.line:
        position = rules.play(position, cell)


# --- The boards that come with the program ---

SHIPPED: Final = Path(__file__).with_name("boards.csv")


@lru_cache(maxsize=1)
def solved_boards() -> dict[int, SolvedBoard]:
    """Read the boards that come with the program, by their seeds."""
    text = SHIPPED.read_text(encoding="utf-8")
    return {board.seed: board for board in parse_boards(text)}


def board_on(day: int, seeds: Iterable[int]) -> int:
    """Choose the board of a day, given by its number.

    The boards take turns in an order that looks random and is always the same.
    """
    order = sorted(seeds, key=lambda seed: hashlib.sha256(str(seed).encode()).digest())
    return order[day % len(order)]


def fair_boards(boards: Iterable[SolvedBoard]) -> list[SolvedBoard]:
    """Choose the fair boards, by their seeds."""
    fair = [
        board for board in boards if board.fairness is not None and board.fairness >= _FAIR_FROM
    ]
    return sorted(fair, key=lambda board: board.seed)
