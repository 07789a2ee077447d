"""A naive referee for the game of Kamon, to be believed rather than to be fast.

Cells and tokens are the texts of the rules, "c4" and "C4"; a position is a dictionary from cells
to colours; every question about chains and loops is a breadth-first search.  Nothing is kept that
can be worked out again from the stones and the moves.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from random import Random

# The board and its edges are written out as the rules draw them, to be checked by eye.
BOARD = """
      a1 b1 c1 d1
    a2 b2 c2 d2 e2
  a3 b3 c3 d3 e3 f3
a4 b4 c4 d4 e4 f4 g4
  b5 c5 d5 e5 f5 g5
    c6 d6 e6 f6 g6
      d7 e7 f7 g7
"""
ROWS = [line.split() for line in BOARD.strip().splitlines()]
CELLS = [cell for row in ROWS for cell in row]

# The colour of each pair of opposite edges, and the two edges.
EDGES = {
    "green": ({"a1", "b1", "c1", "d1"}, {"d7", "e7", "f7", "g7"}),
    "blue": ({"d1", "e2", "f3", "g4"}, {"a4", "b5", "c6", "d7"}),
    "yellow": ({"g4", "g5", "g6", "g7"}, {"a1", "a2", "a3", "a4"}),
}
BORDER = {cell for pair in EDGES.values() for edge in pair for cell in edge}
CORNERS = {"a1", "d1", "g4", "g7", "d7", "a4"}

NEUTRAL = "--"
TOKENS = [symbol + suit for symbol in "ABCDEF" for suit in "123456"] + [NEUTRAL]


def _neighbours(cell: str) -> set[str]:
    """Return the cells beside a cell: those of d4 are e4 e5 d5 c4 c3 d3."""
    steps = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))
    letter, number = ord(cell[0]), int(cell[1])
    return {f"{chr(letter + right)}{number + down}" for right, down in steps} & set(CELLS)


NEIGHBOURS = {cell: _neighbours(cell) for cell in CELLS}


@dataclass(frozen=True)
class Verdict:
    """How a game has ended."""

    winner: str | None
    """The colour that has won, or None for a draw."""

    by: list[str]
    """In the order of the rules: "connection", "loop" or both; or "full"; or "block"."""

    links: dict[str, int]
    """The colour of each joined pair of edges, and the stones in a shortest chain that joins it."""

    enclosed: set[str]
    """The cells not the mover's from which no path of such cells leads to the border."""

    shortest_ring: int | None
    """The stones in a smallest ring round a cell not the mover's, or None where there is none."""

    needed: str | None
    """The token that a blocked player has to match and cannot, or None where there is no block."""


class Referee:
    """One game of Kamon, from the empty board on."""

    def __init__(self, layout: str) -> None:
        """Lay the tokens out, given the seven rows joined by "/"."""
        rows = [[row[i : i + 2] for i in range(0, len(row), 2)] for row in layout.split("/")]
        assert [len(row) for row in rows] == [len(row) for row in ROWS], f"not the board: {layout}"
        tokens = [token for row in rows for token in row]
        assert sorted(tokens) == sorted(TOKENS), f"not every token once: {layout}"
        self.tokens: dict[str, str] = dict(zip(CELLS, tokens, strict=True))
        self.stones: dict[str, str] = {}
        self.moves: list[str] = []

    def turn(self) -> str:
        """Return the colour that places next, or that would if the game were not over."""
        return "black" if len(self.moves) % 2 == 0 else "white"

    def legal(self) -> set[str]:
        """Return the cells where a stone may be placed now: none when the game is over."""
        return self._placements() if self.verdict() is None else set()

    def play(self, cell: str) -> None:
        """Place a stone for the player whose turn it is."""
        assert cell in self.legal(), f"illegal: {cell} after {self.moves}"
        self.stones[cell] = self.turn()
        self.moves.append(cell)

    def undo(self) -> None:
        """Take the last stone back."""
        del self.stones[self.moves.pop()]

    def count(self, depth: int) -> int:
        """Return the number of legal sequences of exactly so many placements from here."""
        if depth == 0:
            return 1
        if depth == 1:  # The same number as below, without the time it takes to place each stone.
            return len(self.legal())
        total = 0
        for cell in self.legal():
            self.play(cell)
            total += self.count(depth - 1)
            self.undo()
        return total

    def verdict(self) -> Verdict | None:
        """Return how the last placement has ended the game, or None if the game goes on."""
        if not self.moves:
            return None
        last = self.moves[-1]
        mover = self.stones[last]
        own = {cell for cell, colour in self.stones.items() if colour == mover}
        links = joined_edges(own)
        enclosed = cut_off(own)

        by = []
        if links:
            by.append("connection")
        if enclosed:
            by.append("loop")
        # The full board comes before the block: on a full board nobody can place, yet it is a draw.
        if not by and len(self.stones) == len(CELLS) - 1:
            by.append("full")
        if not by and not self._placements():
            by.append("block")
        if not by:
            return None

        return Verdict(
            winner=None if by == ["full"] else mover,
            by=by,
            links=links,
            enclosed=enclosed,
            shortest_ring=shortest_ring(own, last) if enclosed else None,
            needed=self.tokens[last] if by == ["block"] else None,
        )

    def _placements(self) -> set[str]:
        """Return the cells that the next player may place on, whether or not somebody has won."""
        free = {c for c in CELLS if c not in self.stones and self.tokens[c] != NEUTRAL}
        if not self.moves:
            return free & (BORDER - CORNERS)
        last = self.tokens[self.moves[-1]]
        return {c for c in free if self.tokens[c][0] == last[0] or self.tokens[c][1] == last[1]}


def reach(starts: Iterable[str], allowed: AbstractSet[str]) -> dict[str, int]:
    """Return the cells that can be reached from the starts, stepping on allowed cells only.

    With each comes the number of cells on a shortest path to it, both ends counted.
    """
    distances = {cell: 1 for cell in starts if cell in allowed}
    queue = deque(distances)
    while queue:
        cell = queue.popleft()
        for beside in NEIGHBOURS[cell]:
            if beside in allowed and beside not in distances:
                distances[beside] = distances[cell] + 1
                queue.append(beside)
    return distances


def joined_edges(own: AbstractSet[str]) -> dict[str, int]:
    """Return the colours of the pairs of edges that stones join, each with its shortest chain."""
    joined = {}
    for colour, (here, there) in EDGES.items():
        distances = reach(here, own)
        arrivals = [distances[cell] for cell in there if cell in distances]
        if arrivals:
            joined[colour] = min(arrivals)
    return joined


def cut_off(wall: AbstractSet[str]) -> set[str]:
    """Return the cells off the wall from which no path off the wall leads to the border."""
    passable = set(CELLS) - wall
    return passable - reach(BORDER, passable).keys()


def shortest_ring(own: AbstractSet[str], last: str) -> int | None:
    """Return the length of a smallest ring of own stones round a cell that is not one of them.

    Only rings through the last stone are tried.  Any other ring would have stood before that
    stone was placed, round a cell that was not the player's then either, for stones are never
    taken; and so the game would have been over already.
    """
    # Three stones are the shortest cycle there is.  Shorter cycles come first: the first ring ends
    # the search.
    for length in range(3, len(own) + 1):
        for cycle in _cycles([last], own, length):
            # The player's other stones are no part of this ring: the flood passes over them, and
            # they do not count as enclosed.
            if cut_off(set(cycle)) - own:
                return length
    return None


def _cycles(path: list[str], own: AbstractSet[str], length: int) -> Iterator[list[str]]:
    """Yield every simple cycle of exactly so many own stones that begins with the path."""
    if len(path) == length:
        if path[0] in NEIGHBOURS[path[-1]]:
            yield path
        return
    for beside in NEIGHBOURS[path[-1]]:
        if beside in own and beside not in path:
            yield from _cycles([*path, beside], own, length)


def random_game(layout: str, rng: Random) -> Iterator[Referee]:
    """Play a game at random, yielding its referee at the start and after every placement.

    It is one and the same referee each time, and it must be given back as it was.
    """
    referee = Referee(layout)
    yield referee
    while legal := referee.legal():
        # Sorted, because the order of a set of texts differs from one run to the next.
        referee.play(rng.choice(sorted(legal)))
        yield referee
