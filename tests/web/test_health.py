"""What is wrong with a server at the moment, and nothing that is over."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from kamon.web.health import Health
from kamon.web.logs import Seldom
from web_server import PATIENCE

pytestmark = pytest.mark.anyio


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.005)


async def test_a_part_notes_its_problem_and_clears_its_own() -> None:
    health = Health()
    assert health.problems == {}
    health.note("database", "OperationalError")
    health.note("thinkers", "stopped")
    health.note("database", "OSError")
    assert health.problems == {"database": "OSError", "thinkers": "stopped"}
    health.clear("database")
    health.clear("flags")
    assert health.problems == {"thinkers": "stopped"}


async def test_a_step_that_fails_is_noted_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    health, steps = Health(), 0
    seen: list[dict[str, str]] = []

    async def step() -> None:
        nonlocal steps
        seen.append(dict(health.problems))
        steps += 1
        if steps in (2, 3):
            raise OSError

    task = asyncio.create_task(health.repeat("clearing", step, 0.001))
    await until(lambda: steps >= 6)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    problem = {"clearing": "OSError"}
    assert seen[:6] == [{}, {}, problem, problem, {}, {}]
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


async def test_a_task_that_should_never_end_is_noted_when_it_has_failed() -> None:
    health = Health()

    async def fail() -> None:
        raise RuntimeError

    task = health.watch("commits", asyncio.create_task(fail()))
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0)
    assert health.problems == {"commits": "stopped"}


async def test_a_task_that_was_ended_with_the_server_is_no_problem() -> None:
    health = Health()
    task = health.watch("commits", asyncio.create_task(asyncio.sleep(PATIENCE)))
    done = health.watch("thinkers", asyncio.create_task(asyncio.sleep(0)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, done, return_exceptions=True)
    await asyncio.sleep(0)
    assert health.problems == {}


def test_a_line_is_logged_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("kamon.web.logs.time.monotonic", lambda: now)
    seldom = Seldom(10)
    assert [seldom.is_due() for _ in range(3)] == [True, False, False]
    now += 11
    assert [seldom.is_due() for _ in range(2)] == [True, False]
