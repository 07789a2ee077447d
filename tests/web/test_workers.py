"""Processes of our own: of low priority where that can be had, and replaced when they fail."""

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest

from kamon import Layout
from kamon.notation import format_position
from kamon.position import Position
from kamon.web.engine import analysing, playing, workers
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


FIRST = format_position(Position(Layout.shuffled(1)))


@pytest.mark.parametrize(
    ("work", "question"),
    [
        (playing.work, (FIRST, 1, 0)),
        (playing.compile_engine, None),
        (analysing.work, {"kind": "study", "line": FIRST, "seconds": 0.1}),
    ],
)
def test_a_process_whose_server_has_died_ends_without_a_word(
    work: Callable[[Connection], None], question: object, capfd: pytest.CaptureFixture[str]
) -> None:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    ours.send(question)
    ours.close()
    process.join(PATIENCE)
    assert process.exitcode == 0
    assert capfd.readouterr().err == ""
