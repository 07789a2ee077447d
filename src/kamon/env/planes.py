"""What a network sees of a position: planes of 7 by 7, in the order of ``PLANES``.

A cell lies in the row of its number and the column of its letter, so its six neighbours are always
at the same six steps. The twelve places of the grid that are no cells are 0 in every plane.
"""

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from kamon.geometry import CELLS, COORDINATES, cells
from kamon.layout import Layout
from kamon.position import Position, Side
from kamon.tokens import SUITS, SYMBOLS

Planes = npt.NDArray[np.int8]

SIZE: Final = 7
PLANES: Final = (
    "stones of the side to move",
    "stones of the other side",
    "last cell",
    "Black is to move",
    "cells",
    *(f"symbol {symbol}" for symbol in SYMBOLS),
    *(f"suit {suit}" for suit in SUITS),
)
SHAPE: Final = (SIZE, SIZE, len(PLANES))
_MINE, _THEIRS, _LAST, _BLACK, _CELLS, _SYMBOLS, _SUITS = 0, 1, 2, 3, 4, 5, 5 + len(SYMBOLS)

# The column and the row of each cell, as NumPy takes them.
_ROWS: Final = [row for _, row in COORDINATES]
_COLUMNS: Final = [letter for letter, _ in COORDINATES]


def observe(position: Position, side: Side | None = None) -> Planes:
    """Return the planes of one position, as seen by a side; by the side to move if not told."""
    side = side or position.turn
    planes = _layout_planes(position.layout).copy()
    _mark(planes, _MINE, position.stones(side))
    _mark(planes, _THEIRS, position.stones(side.other))
    if position.last is not None:
        _mark(planes, _LAST, 1 << position.last)
    if position.turn is Side.BLACK:
        planes[_ROWS, _COLUMNS, _BLACK] = 1
    return planes


def _mark(planes: Planes, plane: int, mask: int) -> None:
    marked = list(cells(mask))
    planes[[_ROWS[cell] for cell in marked], [_COLUMNS[cell] for cell in marked], plane] = 1


@lru_cache(maxsize=256)
def _layout_planes(layout: Layout) -> Planes:
    """Draw what never changes in a game."""
    planes = np.zeros(SHAPE, dtype=np.int8)
    planes[_ROWS, _COLUMNS, _CELLS] = 1
    for cell in CELLS:
        token = layout.tokens[cell]
        if token is not None:
            at = _ROWS[cell], _COLUMNS[cell]
            planes[*at, _SYMBOLS + SYMBOLS.index(token.symbol)] = 1
            planes[*at, _SUITS + SUITS.index(token.suit)] = 1
    return planes
