r"""Neighbouring stones of a side as one piece, with one outline.

A stone is a hexagon that is a little smaller than its cell. Between two neighbours lies a bridge as
wide as a whole side, and what three of them enclose is filled. The outline of all that goes from
corner to corner:

             0
           /   \           Side 0 of a stone lies between its corners 0 and 1, and so on
         5       1         clockwise. From corner k the outline follows side k if there is no
         |       |         stone of the same colour beyond it. If there is one, it crosses the
         4       2         bridge to corner k + 4 of that stone.
           \   /
             3

The page draws the same outlines (static/js/cells.js); both are compared with the same vectors.
"""

from collections.abc import Collection

from kamon.geometry import AROUND

Corner = tuple[int, int]
_SIDES = 6


def beyond(cell: int, side: int) -> int | None:
    """Return the cell beyond a side of a cell; None off the board."""
    # The first of the directions there is to the right, which is side 1.
    return AROUND[cell][(side - 1) % _SIDES]


def outlines(stones: Collection[int]) -> list[list[Corner]]:
    """Return the closed lines around some stones, as corners of cells; holes have lines as well."""
    following: dict[Corner, Corner] = {}
    for cell in sorted(stones):
        for side in range(_SIDES):
            other = beyond(cell, side)
            if other is None or other not in stones:
                following[cell, side] = cell, (side + 1) % _SIDES
            elif beyond(cell, side - 1) not in stones:
                following[cell, side] = other, (side + 4) % _SIDES
    lines = []
    while following:
        line = [next(iter(following))]
        while (corner := following.pop(line[-1])) != line[0]:
            line.append(corner)
        lines.append(line)
    return lines


def links(stones: Collection[int]) -> list[tuple[int, int]]:
    """Return the pairs of neighbours among some stones, each once."""
    return [
        (cell, other)
        for cell in sorted(stones)
        for side in (1, 2, 3)
        if (other := beyond(cell, side)) is not None and other in stones
    ]
