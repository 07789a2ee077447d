"""Processes of our own: of low priority where that can be had, and replaced when they fail."""

import asyncio
import os
import threading
import time
from multiprocessing.connection import Connection

import pytest

from kamon.web.engine import workers
from kamon.web.engine.workers import Threads, Worker, lower_priority
from web_server import PATIENCE

pytestmark = pytest.mark.anyio


# --- Priority -------------------------------------------------------------------------------


def test_the_priority_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "nice", asked.append)
    lower_priority()
    assert asked == [workers._NICENESS]
    assert workers._NICENESS > 0


def test_a_system_without_priorities_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    # Windows has no os.nice.
    monkeypatch.delattr(os, "nice")
    lower_priority()


def test_a_system_that_refuses_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "nice", refuse)
    lower_priority()


# --- Threads --------------------------------------------------------------------------------


async def test_threads_of_our_own_do_not_take_those_of_others() -> None:
    threads, free = Threads(2, "engines"), threading.Event()
    blocked = [threads.begin(free.wait, PATIENCE) for _ in range(50)]
    started = time.monotonic()
    name = await asyncio.to_thread(lambda: threading.current_thread().name)
    assert time.monotonic() - started < 2
    assert not name.startswith("engines")
    free.set()
    await asyncio.gather(*blocked)
    threads.close()


async def test_a_call_goes_on_where_nobody_is_left_to_hear_how_it_ends() -> None:
    threads, free, ended = Threads(1, "engines"), threading.Event(), threading.Event()

    def work() -> None:
        assert free.wait(PATIENCE)
        ended.set()
        raise OSError

    listening = asyncio.create_task(threads.run(work))
    await asyncio.sleep(0.05)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    free.set()
    assert await asyncio.to_thread(ended.wait, PATIENCE)
    assert await threads.run(int, "7") == 7
    threads.close()


async def test_a_failure_is_told_to_whoever_waits() -> None:
    threads = Threads(1, "engines")
    with pytest.raises(ValueError, match="invalid literal"):
        await threads.run(int, "seven")
    threads.close()


# --- Processes ------------------------------------------------------------------------------


def never_run(_: Connection) -> None:
    raise AssertionError("this is never started")


def test_a_worker_that_is_closed_starts_no_process() -> None:
    worker = Worker(never_run)
    worker.close()
    with pytest.raises(EOFError):
        worker.send("anything")
    with pytest.raises(EOFError):
        worker.receive(1)
    assert worker.process is None


def test_a_worker_that_has_never_started_can_be_stopped() -> None:
    worker = Worker(never_run)
    worker.stop()
    worker.close()
    assert worker.process is None
