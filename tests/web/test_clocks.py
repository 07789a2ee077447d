"""Clocks as values: what a side has left follows from the moves and the moment alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kamon.errors import FormatError
from kamon.position import Side
from kamon.web.games.clocks import Clock, Control

BLACK, WHITE = Side.BLACK, Side.WHITE
FIVE_MINUTES = Control.parse("300+5")
THREE_DAYS = Control.parse("1/259200")
START = 1_000_000


def moved(control: Control, *moments: int) -> Clock:
    """Move by turns at these moments after the start."""
    clock = Clock.start(control)
    for ply, moment in enumerate(moments, 1):
        mover = BLACK if ply % 2 else WHITE
        clock = clock.after_move(control, mover, ply, START + moment)
    return clock


# --- Controls -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("-", Control()),
        ("300+5", Control(300_000, 5_000)),
        ("60+0", Control(60_000)),
        ("0+3", Control(0, 3_000)),
        ("1/259200", Control(per_move=259_200_000)),
    ],
)
def test_a_control_is_read_and_written(text: str, control: Control) -> None:
    assert Control.parse(text) == control
    assert str(control) == text


@pytest.mark.parametrize(
    "text", ["", "5", "0+0", "300+", "+5", "-1+5", "1/0", "2/60", "٣٠+٥", "5+5\n"]
)
def test_what_is_no_control_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="is not a time control"):
        Control.parse(text)


def test_people_sit_at_a_clock_but_not_for_days() -> None:
    assert (FIVE_MINUTES.timed, FIVE_MINUTES.clocked) == (True, True)
    assert (THREE_DAYS.timed, THREE_DAYS.clocked) == (True, False)
    assert (Control().timed, Control().clocked) == (False, False)


# --- A clock with an increment --------------------------------------------------------------


@pytest.mark.parametrize("moments", [(), (50_000,)])
def test_no_clock_runs_before_both_sides_have_moved(moments: tuple[int, ...]) -> None:
    clock = moved(FIVE_MINUTES, *moments)
    turn = WHITE if moments else BLACK
    assert clock.since is None
    assert clock.flag(turn) is None
    assert clock.left(turn, turn, START + 10**9) == 300_000


def test_the_clock_starts_after_the_second_move_and_the_first_two_cost_nothing() -> None:
    clock = moved(FIVE_MINUTES, 50_000, 90_000)
    assert (clock.black, clock.white) == (300_000, 300_000)
    assert clock.flag(BLACK) == START + 90_000 + 300_000


def test_a_move_costs_its_time_and_earns_the_increment() -> None:
    clock = moved(FIVE_MINUTES, 0, 0, 20_000, 50_000)
    assert clock.black == 300_000 - 20_000 + 5_000
    assert clock.white == 300_000 - 30_000 + 5_000


def test_only_the_clock_of_the_side_to_move_runs() -> None:
    clock = moved(FIVE_MINUTES, 0, 0)
    later = START + 7_000
    assert clock.left(BLACK, BLACK, later) == 293_000
    assert clock.left(WHITE, BLACK, later) == 300_000
    assert clock.left(BLACK, None, later) == 300_000


def test_a_clock_never_shows_less_than_nothing() -> None:
    assert moved(FIVE_MINUTES, 0, 0).left(BLACK, BLACK, START + 10**9) == 0


def test_without_time_at_the_start_the_first_timed_move_has_the_increment() -> None:
    clock = moved(Control.parse("0+3"), 0, 0)
    assert clock.flag(BLACK) == START + 3_000
    assert moved(Control.parse("0+3"), 0, 0, 1_000).black == 5_000


def test_an_untimed_game_has_no_flag_however_long_it_takes() -> None:
    clock = moved(Control(), 0, 10**9, 10**10)
    assert clock.since is None
    assert clock.flag(WHITE) is None


# --- Taking back ----------------------------------------------------------------------------


def test_a_take_back_restores_what_both_had_and_counts_from_now() -> None:
    before = moved(FIVE_MINUTES, 0, 0, 20_000)
    back = before.running(FIVE_MINUTES, 3, START + 500_000)
    assert (back.black, back.white) == (285_000, 300_000)
    assert back.flag(WHITE) == START + 500_000 + 300_000


def test_a_take_back_of_the_first_moves_stops_the_clock() -> None:
    assert moved(FIVE_MINUTES, 0).running(FIVE_MINUTES, 1, START + 9).since is None


# --- Days for a move ------------------------------------------------------------------------


def test_days_are_counted_anew_for_each_move() -> None:
    day = 86_400_000
    clock = moved(THREE_DAYS, 0, 0, 2 * day, 4 * day)
    assert (clock.black, clock.white) == (3 * day, 3 * day)
    assert clock.flag(BLACK) == START + 4 * day + 3 * day


def test_days_start_after_both_first_moves_too() -> None:
    assert moved(THREE_DAYS, 0).flag(WHITE) is None
    assert moved(THREE_DAYS, 0, 5).flag(BLACK) == START + 5 + THREE_DAYS.per_move


# --- Always ---------------------------------------------------------------------------------


@given(
    st.sampled_from(["300+5", "60+0", "0+3", "1/259200"]).map(Control.parse),
    st.lists(st.integers(0, 2_000), max_size=36),
)
def test_time_is_neither_lost_nor_found(control: Control, thoughts: list[int]) -> None:
    now = START
    moments = [(now := now + thought) - START for thought in thoughts]
    clock = moved(control, *moments)
    full = Clock.start(control).black
    for side, first in ((BLACK, 0), (WHITE, 1)):
        timed = thoughts[first::2][1:]
        left = clock.black if side is BLACK else clock.white
        spent = 0 if control.per_move else sum(timed) - len(timed) * control.increment
        assert left == full - spent
