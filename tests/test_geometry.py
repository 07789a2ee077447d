from build import mask, names
from kamon.geometry import (
    ALL,
    BORDER,
    CELL_COUNT,
    CELL_NAMES,
    CELLS,
    CORNERS,
    NEIGHBOURS,
    OPENING,
    Edge,
    Pair,
    cells,
    mask_of,
    spread,
)


def test_cells_are_numbered_in_reading_order() -> None:
    assert " ".join(CELL_NAMES) == (
        "a1 b1 c1 d1 a2 b2 c2 d2 e2 a3 b3 c3 d3 e3 f3 a4 b4 c4 d4 e4 f4 g4 "
        "b5 c5 d5 e5 f5 g5 c6 d6 e6 f6 g6 d7 e7 f7 g7"
    )


def test_d4_has_the_six_neighbours_of_the_rules() -> None:
    assert NEIGHBOURS[CELL_NAMES.index("d4")] == mask("e4 e5 d5 c4 c3 d3")


def test_neighbourhood_is_mutual_and_never_with_oneself() -> None:
    for cell in CELLS:
        assert not NEIGHBOURS[cell] >> cell & 1
        assert all(NEIGHBOURS[other] >> cell & 1 for other in cells(NEIGHBOURS[cell]))


def test_there_are_ninety_borders_between_cells() -> None:
    # 3 directions, each with lines of 4 5 6 7 6 5 4 cells: 30 steps a direction.
    assert sum(mask.bit_count() for mask in NEIGHBOURS) == 2 * 90


def test_edges_have_the_cells_of_the_rules() -> None:
    assert {edge.name.lower(): names(edge.value) for edge in Edge} == {
        "top": "a1 b1 c1 d1",
        "upper_right": "d1 e2 f3 g4",
        "lower_right": "g4 g5 g6 g7",
        "bottom": "d7 e7 f7 g7",
        "lower_left": "a4 b5 c6 d7",
        "upper_left": "a1 a2 a3 a4",
    }


def test_opposite_edges_share_a_colour_and_no_cell() -> None:
    order = list(Edge)
    for pair, start in zip(Pair, range(3), strict=True):
        assert pair.value == (order[start], order[start + 3])
        assert not pair.value[0].value & pair.value[1].value


def test_a_corner_lies_on_both_of_its_edges() -> None:
    for corner in cells(CORNERS):
        assert sum(edge.value >> corner & 1 for edge in Edge) == 2
    assert names(CORNERS) == "a1 d1 a4 g4 d7 g7"


def test_the_border_is_eighteen_cells_and_twelve_without_corners() -> None:
    assert BORDER.bit_count() == 18
    assert OPENING.bit_count() == 12
    assert mask_of(cell for edge in Edge for cell in cells(edge.value)) == BORDER


def test_masks_and_cells_convert_both_ways() -> None:
    assert mask_of(CELLS) == ALL
    assert list(cells(ALL)) == list(range(CELL_COUNT))
    assert all(list(cells(1 << cell)) == [cell] for cell in CELLS)


def test_spreading_stops_at_what_is_not_within() -> None:
    assert spread(mask("a1"), mask("a1 b1 d1 b2 g7")) == mask("a1 b1 b2")
    assert spread(0, ALL) == 0
