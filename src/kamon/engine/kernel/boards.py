"""Boards: sets of cells as 64-bit words, laid out so that neighbours are fixed shifts.

A row has eight bits. Cell (letter, row) is bit ``8 * row + letter``; the other bits stay 0:

          a1 b1 c1 d1                       0  1  2  3
        a2 b2 c2 d2 e2                    8  9 10 11 12
      a3 b3 c3 d3 e3 f3                16 17 18 19 20 21
    a4 b4 c4 d4 e4 f4 g4            24 25 26 27 28 29 30
      b5 c5 d5 e5 f5 g5                33 34 35 36 37 38
        c6 d6 e6 f6 g6                   42 43 44 45 46
          d7 e7 f7 g7                      51 52 53 54

``bit`` stands for a cell so numbered and ``board`` for a set of them. Everything in the kernel
trusts its caller. Compiled code must not mix signed with unsigned numbers, which numba would turn
into floats: boards are ``u64`` and everything that counts is an ``int``.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from kamon import geometry
from kamon.engine.kernel.compile import ONE, ZERO, Boards, Ints, compiled, intrinsic, types, u64
from kamon.geometry import CELLS, COORDINATES, Edge, cells, mask_of
from kamon.layout import Layout
from kamon.position import Position

BITS: Final = tuple(8 * row + letter for letter, row in COORDINATES)
CELL_OF: Final = {bit: cell for cell, bit in enumerate(BITS)}
# Before the first move there is no last cell. This bit stands for it, and "matches" the openings.
NO_BIT: Final = 63
# More than the plies of any game.
DEPTH: Final = 40


# Each row as a mask, and how far it moves from a mask to a board.
_ROW_SHIFTS: Final = tuple(
    (mask_of(cell for cell in CELLS if BITS[cell] - cell == shift), shift)
    for shift in sorted({BITS[cell] - cell for cell in CELLS})
)


def widen(mask: int) -> np.uint64:
    """Turn a mask of 37 bits into a board."""
    return u64(sum((mask & row) << shift for row, shift in _ROW_SHIFTS))


def narrow(board: int | np.uint64) -> int:
    """Turn a board into a mask of 37 bits."""
    return sum(int(board) >> shift & row for row, shift in _ROW_SHIFTS)


def match_table(layout: Layout) -> Boards:
    """Return for each bit the board of what may follow it."""
    match = np.zeros(64, dtype=np.uint64)
    for cell in CELLS:
        match[BITS[cell]] = widen(layout.matching[cell])
    match[NO_BIT] = widen(layout.opening)
    return match


def arguments(position: Position) -> tuple[Boards, np.uint64, np.uint64, np.uint64, int]:
    """Return a position as the kernel's functions take it: match, playable, black, white, last."""
    return match_table(position.layout), *stones_of(position)


def stones_of(position: Position) -> tuple[np.uint64, np.uint64, np.uint64, int]:
    """Return playable, black, white and last of a position, as the kernel's functions take it."""
    last = NO_BIT if position.last is None else BITS[position.last]
    playable = widen(position.layout.playable)
    return playable, widen(position.black), widen(position.white), last


VALID: Final = u64(sum(1 << bit for bit in BITS))
EDGES: Final = np.array([widen(edge.value) for edge in Edge], dtype=np.uint64)


def _edge_flags() -> Ints:
    flags = np.zeros(64, dtype=np.int64)
    for index, edge in enumerate(Edge):
        for cell in cells(edge.value):
            flags[BITS[cell]] |= 1 << index
    return flags


# For each bit the edges it lies on, as six flags; opposite edges are three apart.
EDGE_FLAGS: Final = _edge_flags()


def _generate_popcount(_: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Count the cells of a board: one machine instruction."""

    def generate(_: Any, builder: Any, ___: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount = cast("Callable[[np.uint64], int]", intrinsic(_generate_popcount))


def _generate_lowest(_: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Return the lowest bit of a board that is not empty: one machine instruction."""

    def generate(context: Any, builder: Any, ___: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.uint64), generate


lowest = cast("Callable[[np.uint64], int]", intrinsic(_generate_lowest))


@compiled
def board_of(bit: int) -> np.uint64:
    """Return the board of one bit."""
    return ONE << u64(bit)


@compiled
def grow(board: np.uint64) -> np.uint64:
    """Return the neighbours of all cells of a board."""
    return (
        (board << u64(1))
        | (board >> u64(1))
        | (board << u64(8))
        | (board >> u64(8))
        | (board << u64(9))
        | (board >> u64(9))
    ) & VALID


@compiled
def flood(seed: np.uint64, within: np.uint64) -> np.uint64:
    """Grow a seed as far as ``within`` allows."""
    reached = seed & within
    before = ZERO
    while reached != before:
        before = reached
        reached |= grow(reached) & within
    return reached


@compiled
def matching(match: Boards, board: np.uint64) -> np.uint64:
    """Return all cells whose token matches one of the given cells."""
    result = ZERO
    while board != ZERO:
        result |= match[lowest(board)]
        board &= board - ONE
    return result


def _neighbours() -> Boards:
    around = np.zeros(64, dtype=np.uint64)
    for cell in CELLS:
        around[BITS[cell]] = widen(geometry.NEIGHBOURS[cell])
    return around


# The neighbours of each bit.
NEIGHBOURS: Final = _neighbours()
