"""The board: 37 cells, their names and neighbours, the six edges, and masks of them.

A cell is an int from 0 to 36 in reading order. Here are the names and the ints:

          a1 b1 c1 d1                       0  1  2  3
        a2 b2 c2 d2 e2                    4  5  6  7  8
      a3 b3 c3 d3 e3 f3                 9 10 11 12 13 14
    a4 b4 c4 d4 e4 f4 g4             15 16 17 18 19 20 21
      b5 c5 d5 e5 f5 g5                22 23 24 25 26 27
        c6 d6 e6 f6 g6                   28 29 30 31 32
          d7 e7 f7 g7                      33 34 35 36

The number in a name is the row and the letter the diagonal, so every constant number and every
constant letter is a straight line; the third direction changes both at once. A set of cells is a
mask: bit ``c`` of an int stands for cell ``c``, so a1 is ``1 << 0`` and g7 is ``1 << 36``.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

CELL_COUNT: Final = 37
CELLS: Final = range(CELL_COUNT)
ALL: Final = (1 << CELL_COUNT) - 1

ROW_LENGTHS: Final = (4, 5, 6, 7, 6, 5, 4)

# Letter and row of each cell, both from 0: the left end of a row moves right below the middle.
COORDINATES: Final = tuple(
    (letter, row)
    for row, length in enumerate(ROW_LENGTHS)
    for letter in range(max(0, row - 3), max(0, row - 3) + length)
)
CELL_NAMES: Final = tuple(f"{'abcdefg'[letter]}{row + 1}" for letter, row in COORDINATES)
CELL_AT: Final = {coordinates: cell for cell, coordinates in enumerate(COORDINATES)}

# Clockwise from the right: e4 e5 d5 c4 c3 d3 around d4.
DIRECTIONS: Final = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))


def cells(mask: int) -> Iterator[int]:
    """Iterate over the cells of a mask, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(several: Iterable[int]) -> int:
    """Join cells into a mask."""
    mask = 0
    for cell in several:
        mask |= 1 << cell
    return mask


def _neighbour(cell: int, direction: tuple[int, int]) -> int | None:
    (letter, row), (d_letter, d_row) = COORDINATES[cell], direction
    return CELL_AT.get((letter + d_letter, row + d_row))


# For each cell its neighbour in each of DIRECTIONS, None off the board.
AROUND: Final = tuple(
    tuple(_neighbour(cell, direction) for direction in DIRECTIONS) for cell in CELLS
)
NEIGHBOURS: Final = tuple(
    mask_of(other for other in around if other is not None) for around in AROUND
)


def _line(letter: int | None = None, row: int | None = None, *, slant: int | None = None) -> int:
    """Return the cells of a constant letter, a constant row, or a constant letter - row."""
    return mask_of(
        cell
        for cell, (at, on) in enumerate(COORDINATES)
        if letter in (None, at) and row in (None, on) and slant in (None, at - on)
    )


class Edge(Enum):
    """The six edges, clockwise from the top; the value is the mask of its four cells."""

    TOP = _line(row=0)
    UPPER_RIGHT = _line(slant=3)
    LOWER_RIGHT = _line(letter=6)
    BOTTOM = _line(row=6)
    LOWER_LEFT = _line(slant=-3)
    UPPER_LEFT = _line(letter=0)


class Pair(Enum):
    """The three pairs of opposite edges, named by the colour that both edges have."""

    GREEN = (Edge.TOP, Edge.BOTTOM)
    BLUE = (Edge.UPPER_RIGHT, Edge.LOWER_LEFT)
    YELLOW = (Edge.LOWER_RIGHT, Edge.UPPER_LEFT)


# Plain ints for the inner loops of the rules, which run a hundred thousand times a second.
PAIR_MASKS: Final = tuple((pair, pair.value[0].value, pair.value[1].value) for pair in Pair)

BORDER: Final = mask_of(cell for cell in CELLS if None in AROUND[cell])
# A corner lies on two edges.
CORNERS: Final = mask_of(cell for cell in CELLS if sum(edge.value >> cell & 1 for edge in Edge) > 1)
OPENING: Final = BORDER & ~CORNERS


def spread(seed: int, within: int) -> int:
    """Grow ``seed`` over neighbouring cells as far as ``within`` allows.

    ``seed`` must lie in ``within``. Each cell is visited once, by its table of neighbours.
    """
    reached = frontier = seed
    while frontier:
        lowest = frontier & -frontier
        fresh = NEIGHBOURS[lowest.bit_length() - 1] & within & ~reached
        reached |= fresh
        frontier ^= lowest | fresh
    return reached
