"""The solved boards that come with the program: their file, and which are taken when."""

import pytest

from kamon.errors import FormatError
from kamon.notation import parse_cell
from kamon.web.days.boards import (
    COLUMNS,
    SHIPPED,
    SolvedBoard,
    board_on,
    fair_boards,
    format_boards,
    parse_boards,
    solved_boards,
)


def cells(text: str) -> tuple[int, ...]:
    return tuple(map(parse_cell, text.split()))


WON = SolvedBoard(2, "win", cells("g6"), cells("b1"), line=cells("g6 e4 c3"), ending="connection")
FIRST_MOVES = cells("b1 c1 a2 e2 a3 f3 b5 g5 c6 g6 e7 f7")
DRAWN = SolvedBoard(7, "draw", (), FIRST_MOVES, cells("b1"), complete=True, fairness=1.0)


def fair(seed: int, fairness: float) -> SolvedBoard:
    return SolvedBoard(seed, "win", complete=True, fairness=fairness)


# --- The file ---


def test_boards_are_read_as_they_were_written() -> None:
    boards = [WON, DRAWN, fair(3, 0.25)]
    assert list(parse_boards(format_boards(boards))) == boards


def test_the_boards_of_the_program_can_be_read() -> None:
    boards = solved_boards()
    assert boards
    assert format_boards(boards.values()) == SHIPPED.read_text(encoding="utf-8")
    for board in boards.values():
        assert bool(board.winning) == (board.value == "win")
        has_fairness = board.complete and board.value != "loss"
        assert has_fairness == (board.fairness is not None)
        assert not board.complete or not board.unsettled


def test_what_is_not_settled_is_said() -> None:
    assert WON.unsettled == cells("c1 a2 e2 a3 f3 b5 g5 c6 e7 f7")
    assert DRAWN.unsettled == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2,win,g6", "expected 9 columns, found 3"),
        ("two,win,,,,no,,,", "a seed is a whole number, not 'two'"),
        ("2,good,,,,no,,,", "expected win or draw or loss, not 'good'"),
        ("2,win,,,,maybe,,,", "expected yes or no, not 'maybe'"),
        ("2,win,d4,,,no,,,", "board 2 has a first move that is none, or one twice"),
        ("2,win,g6,g6,,no,,,", "board 2 has a first move that is none, or one twice"),
        ("2,win,z9,,,no,,,", "z9"),
        ("2,win,g6,,,no,g6 g6,,", "g6"),
        ("2,win,g6,,,yes,,,fair", "a fairness is a number from 0 to 1, not 'fair'"),
        ("2,win,g6,,,yes,,,1.5", "a fairness is a number from 0 to 1, not '1.5'"),
    ],
)
def test_a_board_that_cannot_be_read_is_named_by_its_line(row: str, message: str) -> None:
    text = f"# kamon solved boards 1\n{','.join(COLUMNS)}\n{row}\n"
    with pytest.raises(Exception, match=message) as caught:
        list(parse_boards(text))
    assert caught.value.line == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "# kamon solved boards 2\n", "# kamon solved boards 1\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="this is no file of solved boards"):
        list(parse_boards(text))


# --- Choosing ---


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_all_boards_take_turns_before_one_comes_again(count: int) -> None:
    seeds = range(100, 100 + count)
    chosen = [board_on(day, seeds) for day in range(739_000, 739_000 + 2 * count)]
    assert set(chosen[:count]) == set(seeds)
    assert chosen[count:] == chosen[:count]


def test_the_order_of_the_boards_is_no_order_of_their_seeds_and_always_the_same() -> None:
    chosen = [board_on(day, range(12)) for day in range(12)]
    assert chosen == [9, 8, 10, 4, 3, 11, 0, 1, 7, 2, 6, 5]
    assert [board_on(day, reversed(range(12))) for day in range(12)] == chosen


def test_a_board_is_fair_if_black_misses_the_win_seven_times_in_ten() -> None:
    boards = [fair(seed, (10 - seed) / 10) for seed in range(9)]
    assert [board.seed for board in fair_boards([WON, *reversed(boards)])] == [0, 1, 2, 3]
    assert fair_boards([WON]) == []
