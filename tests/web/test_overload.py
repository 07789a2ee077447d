"""What is refused when there is too much to do, in which order, and for how long."""

import asyncio
import contextlib
import time

import pytest

from kamon.web import overload as module
from kamon.web.errors import ApiError
from kamon.web.metrics import Metrics
from kamon.web.overload import LOOKS, SHED, THRESHOLDS, Luxury, Overload

pytestmark = pytest.mark.anyio

FIRST, SECOND, THIRD = (threshold.lag for threshold in THRESHOLDS)


def looked(overload: Overload, *lags: float) -> int:
    """Let every lag last long enough to count, and return the level."""
    for lag in lags:
        for _ in range(LOOKS):
            overload.note(lag)
    return overload.level


def refused(overload: Overload) -> list[Luxury]:
    found: list[Luxury] = []
    for what in SHED:
        try:
            overload.require(what)
        except ApiError:
            found.append(what)
    return found


@pytest.mark.parametrize(
    ("lag", "expected"),
    [
        (0.0, []),
        (FIRST, ["studies"]),
        (SECOND, ["studies", "pictures"]),
        (THIRD, ["studies", "pictures", "games"]),
    ],
)
def test_what_is_cheapest_to_lose_is_refused_first(lag: float, expected: list[Luxury]) -> None:
    overload = Overload(lambda: 0)
    looked(overload, lag)
    assert refused(overload) == expected


@pytest.mark.parametrize("level", [1, 2, 3])
def test_commands_that_wait_for_the_disk_count_as_much(level: int) -> None:
    overload = Overload(lambda: THRESHOLDS[level - 1].commands)
    assert looked(overload, 0.0) == level


def test_a_refusal_says_when_to_try_again() -> None:
    overload = Overload(lambda: 0)
    looked(overload, FIRST)
    with pytest.raises(ApiError) as caught:
        overload.require("studies")
    assert (caught.value.code, caught.value.kind.status) == ("busy", 503)
    assert caught.value.retry == module.RETRY_SECONDS


def test_one_slow_moment_is_no_overload() -> None:
    overload = Overload(lambda: 0)
    looked(overload, 0.0)
    for _ in range(LOOKS // 2):
        overload.note(10.0)
    assert overload.level == 0


def test_too_few_looks_say_nothing() -> None:
    overload = Overload(lambda: 0)
    for _ in range(LOOKS - 1):
        overload.note(10.0)
    assert overload.level == 0


def test_a_level_ends_well_below_where_it_began() -> None:
    overload = Overload(lambda: 0)
    assert looked(overload, THIRD) == 3
    assert looked(overload, 0.9 * THIRD) == 3
    assert looked(overload, 0.9 * SECOND) == 2
    assert looked(overload, 0.9 * FIRST) == 1
    assert looked(overload, 0.4 * FIRST) == 0
    # From below it does not come back before its threshold.
    assert looked(overload, 0.9 * FIRST) == 0


async def test_a_loop_that_is_held_up_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY", 0.01)
    metrics = Metrics()
    overload = Overload(lambda: 0, metrics)
    watching = asyncio.create_task(overload.watch())
    for _ in range(3 * LOOKS):
        await asyncio.sleep(0)
        time.sleep(FIRST + 0.05)  # noqa: ASYNC251 - the loop is to be held up
        await asyncio.sleep(0)
        if overload.level:
            break
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    assert overload.level >= 1
    lag = metrics.registry.get_sample_value("kamon_event_loop_lag_seconds")
    assert lag is not None
    assert lag >= FIRST
