"""The time by which games are played: it never goes back and never jumps."""

import time

import pytest

from kamon.web.server_time import ServerTime, wall_time

HOUR = 3600 * 1000


def test_it_is_the_time_of_day_in_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    told = (wall_time(), ServerTime()())
    after = time.time_ns() // 1_000_000
    assert all(before <= each <= after for each in told)


@pytest.mark.parametrize("hours", [-1, 1, -24 * 365])
def test_it_does_not_go_back_or_jump_when_the_clock_of_the_machine_is_set(
    monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    now = ServerTime()
    before = now()
    read = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: read() + hours * HOUR * 1_000_000)
    assert abs(wall_time() - before) > HOUR - 10_000
    assert before <= now() < before + 10_000


def test_it_goes_on_by_the_monotonic_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 5_000_000_000
    monkeypatch.setattr(time, "monotonic_ns", lambda: moment)
    now = ServerTime()
    start = now()
    moment += 1_500_900_000
    assert now() == start + 1500
    moment += 99_999
    assert now() == start + 1500
    moment += 1
    assert now() == start + 1501


def test_it_is_never_before_what_was_told_earlier() -> None:
    # The server was started again, and the clock of the machine has been set back meanwhile.
    later = wall_time() + HOUR
    now = ServerTime(later)
    assert later <= now() < later + 10_000
    # What was told long ago changes nothing.
    assert ServerTime(1000)() >= wall_time() - 10_000


def test_it_never_goes_back() -> None:
    now = ServerTime()
    told = [now() for _ in range(10_000)]
    assert told == sorted(told)
