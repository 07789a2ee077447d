"""Puzzle: a position, the only right moves, and how every wrong one is refuted."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kamon.census.canonical import SYMMETRIES
from kamon.geometry import cells, mask_of
from kamon.layout import Layout
from kamon.notation import format_position
from kamon.position import Position
from kamon.puzzles.themes import DEFEND

FEWEST_TURNS: Final = 1
MOST_TURNS: Final = 6
_ID_LENGTH: Final = 8

Pattern = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Refutation:
    """What becomes of a wrong move.

    ``reply`` is the opponent's best answer, and ``value`` what the solver gets then: a loss, or
    a draw where a win was there. ``plies`` counts to the end of the game from before the reply.
    The game may end with the wrong move itself, as a draw; then there is no reply.
    """

    reply: int | None
    value: int
    plies: int


@dataclass(frozen=True)
class Puzzle:
    """A position in which one move alone keeps the value, at each of the solver's turns.

    ``solution`` has the moves of both sides to the end of the game, the solver's first: the only
    right one each time, and between them the most stubborn defence. A puzzle with the theme
    ``defend`` is over after one move, though the game goes on. ``refutations`` has for each of the
    solver's turns every wrong move. ``value`` is a win or a draw. ``rating`` is a first guess.
    """

    layout: Layout
    moves: tuple[int, ...]
    solution: tuple[int, ...]
    value: int
    refutations: tuple[dict[int, Refutation], ...]
    themes: tuple[str, ...] = ()
    rating: int = 0

    @cached_property
    def position(self) -> Position:
        """Where the puzzle begins."""
        return self.at(0)

    @cached_property
    def id(self) -> str:
        """A name that follows from the position alone, so that it is the same everywhere."""
        digest = hashlib.sha256(format_position(self.position).encode()).digest()
        return base64.b32encode(digest).decode().lower()[:_ID_LENGTH]

    @property
    def turns(self) -> int:
        """How many moves the solver has to find."""
        return (len(self.solution) + 1) // 2

    @property
    def is_defence(self) -> bool:
        """Whether the task is to stop a threat: the puzzle is over before the game is."""
        return DEFEND in self.themes

    def at(self, plies: int) -> Position:
        """Return the position after so many moves of the solution."""
        position = Position(self.layout)
        for cell in (*self.moves, *self.solution[:plies]):
            position = position.after(cell)
        return position

    @cached_property
    def pattern(self) -> Pattern:
        """What a player sees of stones and moves, whatever lies on the cells.

        It is the same for puzzles that are turned or mirrored: the least of all twelve.
        """
        mine = self.position.stones(self.position.turn)
        theirs = self.position.stones(self.position.turn.other)
        return min(
            (_moved(mine, to), _moved(theirs, to), tuple(to[cell] for cell in self.solution))
            for to in SYMMETRIES
        )


def _moved(mask: int, to: tuple[int, ...]) -> int:
    return mask_of(to[cell] for cell in cells(mask))
