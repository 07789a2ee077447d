"""Positions made by hand, for tests that are about certain cells."""

from kamon import Layout, Position, cells, format_cell, parse_cell
from kamon.geometry import ALL, mask_of
from kamon.notation import parse_layout

LAYOUT = parse_layout(
    "E5B1C3C2/D2A2D6D1A1/E2C5B4C4A4A3/A6F1C1E4D4A5F2/B6C6B3F6E1D5/D3--E3B5F5/B2E6F4F3"
)


def mask(names: str) -> int:
    return mask_of(map(parse_cell, names.split()))


def names(several: tuple[int, ...] | list[int] | int) -> str:
    chosen = cells(several) if isinstance(several, int) else several
    return " ".join(map(format_cell, chosen))


def position(black: str, white: str = "", *, last: str, layout: Layout = LAYOUT) -> Position:
    """Put stones on the board. Missing ones of the other side go where they do no harm.

    Whose turn it is follows from the counts, so the side that did not play last is topped up
    on scattered cells, from the far end of the board.
    """
    masks = {"black": mask(black), "white": mask(white)}
    last_cell = parse_cell(last)
    mover = "black" if masks["black"] >> last_cell & 1 else "white"
    other = "white" if mover == "black" else "black"
    wanted = masks[mover].bit_count() - (mover == "black")
    free = ALL & ~(masks["black"] | masks["white"] | 1 << layout.neutral)
    # Every second free cell, so that the filling forms no chain of its own.
    fill = [*cells(free)][::-2]
    while masks[other].bit_count() < wanted:
        masks[other] |= 1 << fill.pop(0)
    return Position(layout, masks["black"], masks["white"], last_cell)
