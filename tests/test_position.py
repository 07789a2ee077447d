from build import LAYOUT, mask, position
from kamon import Layout, Position, Side, Token, parse_cell


def test_the_empty_board_is_blacks_turn() -> None:
    start = Position(LAYOUT)
    assert (start.turn, start.ply, start.free) == (Side.BLACK, 0, LAYOUT.playable)


def test_stones_belong_to_who_played_them() -> None:
    after = Position(LAYOUT).after(parse_cell("b1")).after(parse_cell("d2"))
    assert after.stones(Side.BLACK) == mask("b1")
    assert after.stones(Side.WHITE) == mask("d2")
    assert after.owner(parse_cell("b1")) is Side.BLACK
    assert after.owner(parse_cell("d2")) is Side.WHITE
    assert after.owner(parse_cell("a1")) is None
    assert after.just_moved == mask("d2")


def test_a_covered_token_and_the_neutral_are_not_free() -> None:
    after = Position(LAYOUT).after(parse_cell("b1"))
    assert after.free == LAYOUT.playable & ~mask("b1")
    assert not after.free >> LAYOUT.neutral & 1


def test_positions_are_values() -> None:
    one = position("b1 e2", "d2", last="e2")
    rebuilt = eval(repr(one), {"Position": Position, "Layout": Layout, "Token": Token})  # noqa: S307
    assert rebuilt == one
    assert hash(rebuilt) == hash(one)
    assert rebuilt != Position(LAYOUT)


def test_the_other_side_of_the_other_side_is_oneself() -> None:
    assert [side.other.other for side in Side] == list(Side)
