import pytest

from build import LAYOUT, mask, names
from kamon import Game, IllegalMoveError, OffBoard, Position, Result, Side, parse_line

WON = (
    "B2F5B3C2/F1A6B1E4B6/D3B4F4D6--E6/D4C6D2C3D5B5A5/F6A1C1A3C4A2/C5E5E1F2E3/A4E2F3D1 "
    "g6 d2 e6 a2 b1 b5 b4 f3 b2 e2 c2 g7 e4 c6 g4 e5 d4 f5 d5 c5 g5 c4 e7 f6 c3"
)


def game(moves: str = "b1 d2 e2") -> Game:
    return Game(LAYOUT, [*map(_cell, moves.split())])


def _cell(name: str) -> int:
    return mask(name).bit_length() - 1


def test_a_game_starts_from_a_layout_or_a_position() -> None:
    assert Game(LAYOUT).position == Position(LAYOUT)
    later = game().position
    assert Game(later).position == later
    assert Game(later).moves == []


def test_an_illegal_move_changes_nothing() -> None:
    started = game("b1")
    with pytest.raises(IllegalMoveError):
        started.play(_cell("a1"))
    assert names(started.moves) == "b1"
    assert started.node.children == []


def test_undo_and_redo_walk_the_line_both_ways() -> None:
    played = game("b1 d2 e2")
    assert played.undo()
    assert played.undo()
    assert names(played.moves) == "b1"
    assert played.redo()
    assert played.redo()
    assert not played.redo()
    assert names(played.moves) == "b1 d2 e2"


def test_there_is_nothing_to_undo_at_the_start() -> None:
    assert not Game(LAYOUT).undo()


def test_another_move_after_undo_is_a_variation_and_loses_nothing() -> None:
    played = game("b1 d2")
    played.undo()
    played.play(_cell("c3"))
    assert [names([child.cell]) for child in played.root.children[0].children if child.cell] == [
        "d2",
        "c3",
    ]
    assert names([node.cell for node in played.main_line() if node.cell is not None]) == "b1 d2"


def test_redo_returns_into_the_variation_that_undo_left() -> None:
    played = game("b1 d2")
    played.undo()
    played.play(_cell("e2"))
    played.undo()
    played.redo()
    assert names(played.moves) == "b1 e2"


def test_playing_a_known_move_follows_it() -> None:
    played = game("b1 d2")
    played.undo()
    played.play(_cell("d2"))
    assert len(played.root.children[0].children) == 1


def test_a_variation_can_be_promoted() -> None:
    played = game("b1 d2")
    played.undo()
    played.promote(played.play(_cell("e2")))
    assert names([node.cell for node in played.main_line() if node.cell is not None]) == "b1 e2"


def test_a_removed_move_takes_the_cursor_with_it() -> None:
    played = game("b1 d2 e2")
    played.remove(played.root.children[0].children[0])
    assert names(played.moves) == "b1"
    assert not played.redo()


def test_removing_another_branch_leaves_the_cursor() -> None:
    played = game("b1 d2")
    played.undo()
    played.play(_cell("e2"))
    played.remove(played.root.children[0].children[0])
    assert names(played.moves) == "b1 e2"


def test_the_start_cannot_be_removed() -> None:
    with pytest.raises(ValueError, match="start"):
        Game(LAYOUT).remove(Game(LAYOUT).root)


def test_the_result_is_that_of_the_main_line_wherever_the_cursor_is() -> None:
    finished = parse_line(WON)
    assert finished is not None
    assert finished.result == Result(Side.BLACK, "connection")
    finished.undo()
    assert finished.outcome is None
    assert finished.result == Result(Side.BLACK, "connection")


def test_a_game_can_end_off_the_board() -> None:
    played = game()
    assert played.result is None
    played.end_off_board(Side.WHITE, OffBoard.RESIGNATION)
    assert played.result == Result(Side.WHITE, "resignation")
    with pytest.raises(ValueError, match="already over"):
        played.end_off_board(None, OffBoard.AGREEMENT)


@pytest.mark.parametrize(
    ("winner", "by"),
    [(None, OffBoard.TIME), (None, OffBoard.RESIGNATION), (Side.BLACK, OffBoard.AGREEMENT)],
)
def test_only_an_agreement_is_a_draw(winner: Side | None, by: OffBoard) -> None:
    with pytest.raises(ValueError, match="ends by agreement is a draw"):
        game().end_off_board(winner, by)
