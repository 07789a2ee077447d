"""Stones that have grown together: one outline around each group, and one in each hole.

The page draws them too: ``tests/page/bodies.test.js`` compares it with the same vectors.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kamon.geometry import AROUND, CELL_NAMES, CELLS, cells, mask_of, spread
from kamon.render import svg
from kamon.render.bodies import beyond, links, outlines

VECTORS = Path(__file__).parent / "data" / "bodies.json"
some_stones = st.frozensets(st.sampled_from(CELLS))


def named(*names: str) -> frozenset[int]:
    return frozenset(CELL_NAMES.index(name) for name in names)


def groups(stones: frozenset[int]) -> int:
    """Count the groups of neighbours among some cells."""
    left, count = mask_of(stones), 0
    while left:
        left &= ~spread(left & -left, left)
        count += 1
    return count


def holes(stones: frozenset[int]) -> int:
    """Count the groups of other cells that stones enclose."""
    others = frozenset(CELLS) - stones
    outside = mask_of(cell for cell in others if None in AROUND[cell])
    reached = spread(outside, mask_of(others))
    return groups(others - frozenset(cells(reached)))


def made_vectors() -> dict[str, Any]:
    """Draw some stones, few and many, and say by which measures."""
    measures = svg.measures()
    rng = Random(21)
    chosen = [frozenset(rng.sample(CELLS, count)) for count in (1, 2, 5, 9, 14, 18, 18, 25, 37)]
    cases = [
        {"stones": sorted(each), "outline": svg.body_path(each), "links": svg.link_path(each)}
        for each in chosen
    ]
    return {
        "drawing": {name: measures[name] for name in ("centres", "sizes", "beyond")},
        "cases": cases,
    }


def test_a_stone_alone_has_six_corners() -> None:
    (line,) = outlines(named("d4"))
    assert [corner for _, corner in line] == [0, 1, 2, 3, 4, 5]


def test_two_neighbours_are_one_piece_with_two_bridges() -> None:
    (line,) = outlines(named("d4", "e4"))
    assert len(line) == 12
    assert links(named("d4", "e4")) == [tuple(sorted(named("d4", "e4")))]


def test_what_three_stones_enclose_is_filled() -> None:
    (line,) = outlines(named("d4", "e4", "e5"))
    assert len(line) == 15


def test_a_ring_has_a_line_outside_and_one_inside() -> None:
    around = frozenset(cell for cell in AROUND[CELL_NAMES.index("d4")] if cell is not None)
    assert len(outlines(around)) == 2


@given(some_stones)
def test_there_is_one_line_for_each_group_and_each_hole(stones: frozenset[int]) -> None:
    assert len(outlines(stones)) == groups(stones) + holes(stones)


@given(some_stones)
def test_no_corner_is_passed_twice(stones: frozenset[int]) -> None:
    corners = [corner for line in outlines(stones) for corner in line]
    assert len(corners) == len(set(corners))
    assert {cell for cell, _ in corners} <= stones


def test_what_lies_beyond_a_side_has_the_cell_beyond_its_opposite_side() -> None:
    for cell in CELLS:
        for side in range(6):
            other = beyond(cell, side)
            assert other is None or beyond(other, (side + 3) % 6) == cell


def test_the_vectors_for_the_page_are_those_that_are_drawn() -> None:
    """To make them anew: write ``made_vectors()`` as JSON to that file."""
    assert json.loads(VECTORS.read_text(encoding="utf-8")) == made_vectors()
