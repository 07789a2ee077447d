"""The engine thinks aloud: for one page at a time, and only while somebody listens."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from kamon.web.engine import analysts as module
from kamon.web.engine.analysts import PLACES_PER_CLIENT, WAITING_LIMIT, Analysts
from kamon.web.errors import ApiError
from kamon.web.limits import BUDGETS, Budgets
from web_server import PATIENCE

DATA = Path(__file__).parents[1] / "data"
EASY = (DATA / "ply20.txt").read_text().splitlines()[0].partition(";")[0].strip()
GAME = (DATA / "games.txt").read_text().splitlines()[3].partition(";")[0].strip()
HARD = GAME.split()[0]

pytestmark = pytest.mark.anyio


@pytest.fixture
async def analysts() -> AsyncIterator[Analysts]:
    async with Analysts(1) as working:
        yield working


def question(line: str, kind: str = "study", seconds: float = 60) -> dict[str, Any]:
    return {"kind": kind, "line": line, "seconds": seconds}


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)


async def all_of(
    analysts: Analysts, asked: dict[str, Any], client: str = ""
) -> list[dict[str, Any]]:
    async with asyncio.timeout(3 * PATIENCE), aclosing(analysts.work(asked, client)) as told:
        return [each async for each in told]


async def test_a_study_is_told_piece_by_piece_until_all_is_proven(analysts: Analysts) -> None:
    told = await all_of(analysts, question(EASY))
    assert len(told) > 2
    assert not told[0]["done"]
    assert told[-1]["done"]
    assert all(move["value"] for move in told[-1]["moves"])
    # The same process answers the next one too.
    assert (await all_of(analysts, question(EASY)))[-1]["done"]


async def test_a_review_tells_its_progress_and_then_the_game(analysts: Analysts) -> None:
    told = await all_of(analysts, question(GAME, "review", 3) | {"known": []})
    progress = [each["progress"] for each in told if "progress" in each]
    assert progress == sorted(progress)
    found = told[-1]
    assert len(found["turns"]) == len(GAME.split()) - 1
    assert set(found["accuracy"]) == {"black", "white"}


async def test_a_review_reports_while_it_thinks_about_one_long_position(
    analysts: Analysts,
) -> None:
    pauses, last = [], time.monotonic()
    # No position of so short a game can be proven in this time.
    line = " ".join(GAME.split()[:2])
    asked = question(line, "review", 7) | {"known": []}
    async with asyncio.timeout(3 * PATIENCE), aclosing(analysts.work(asked)) as told:
        async for _ in told:
            pauses.append(time.monotonic() - last)
            last = time.monotonic()
    # The first includes the start of the process.
    assert max(pauses[1:]) < 4


async def test_who_stops_listening_ends_the_work(analysts: Analysts) -> None:
    async with asyncio.timeout(3 * PATIENCE):
        async with aclosing(analysts.work(question(HARD))) as told:
            async for _ in told:
                break
        # The long study is over: a short one is answered, by the same process.
        assert (await all_of(analysts, question(EASY)))[-1]["done"]


async def test_a_page_that_goes_away_while_nothing_is_said_ends_the_work(
    analysts: Analysts,
) -> None:
    async def listen() -> None:
        await all_of(analysts, question(HARD))

    task = asyncio.create_task(listen())
    await until(lambda: not analysts._turns._free)
    await asyncio.sleep(0.5)
    task.cancel()
    assert (await all_of(analysts, question(EASY)))[-1]["done"]


async def test_a_page_that_goes_away_at_once_leaves_the_worker_in_order(
    analysts: Analysts,
) -> None:
    for _ in range(3):
        task = asyncio.create_task(all_of(analysts, question(HARD)))
        await until(lambda: not analysts._turns._free)
        task.cancel()
    assert (await all_of(analysts, question(EASY)))[-1]["done"]


async def test_where_others_wait_a_turn_is_short(
    analysts: Analysts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SHARED_SECONDS", 0.2)
    async with asyncio.timeout(3 * PATIENCE):
        await all_of(analysts, question(EASY))
        long = asyncio.create_task(all_of(analysts, question(HARD)))
        await until(lambda: not analysts._turns._free)
        assert (await all_of(analysts, question(EASY)))[-1]["done"]
        assert (await long)[-1]["spent"]


async def test_a_line_that_is_too_long_is_refused(analysts: Analysts) -> None:
    tasks = [
        asyncio.create_task(all_of(analysts, question(HARD), f"client {number}"))
        for number in range(WAITING_LIMIT + 1)
    ]
    await until(lambda: analysts.waiting >= WAITING_LIMIT)
    with pytest.raises(ApiError) as refused:
        await all_of(analysts, question(EASY))
    assert refused.value.code == "too-many"
    assert refused.value.retry == WAITING_LIMIT * module.SHARED_SECONDS
    for task in tasks:
        task.cancel()


async def test_who_waits_is_told_how_long(analysts: Analysts) -> None:
    first = asyncio.create_task(all_of(analysts, question(HARD), "eve"))
    await until(lambda: not analysts._turns._free)
    second = asyncio.create_task(all_of(analysts, question(EASY), "ann"))
    third = asyncio.create_task(all_of(analysts, question(EASY), "bob"))
    await until(lambda: analysts.waiting == 2)
    first.cancel()
    shared = int(module.SHARED_SECONDS)
    assert (await second)[0] == {"waiting": True, "place": 1, "seconds": shared}
    told = await third
    assert told[0] == {"waiting": True, "place": 2, "seconds": 2 * shared}
    assert told[-1]["done"]


async def test_who_goes_away_while_waiting_leaves_the_queue(analysts: Analysts) -> None:
    first = asyncio.create_task(all_of(analysts, question(HARD), "eve"))
    await until(lambda: not analysts._turns._free)
    waiting = asyncio.create_task(all_of(analysts, question(HARD), "ann"))
    await until(lambda: analysts.waiting == 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert analysts.waiting == 0
    first.cancel()
    assert (await all_of(analysts, question(EASY)))[-1]["done"]


async def test_seconds_are_charged_and_those_not_used_are_given_back() -> None:
    budgets, burst = Budgets(lambda: 0.0), BUDGETS["analysis"].burst
    async with Analysts(1, budgets) as analysts:
        study = asyncio.create_task(all_of(analysts, question(HARD, seconds=300), "eve"))
        await until(lambda: not analysts._turns._free)
        with pytest.raises(ApiError, match="analysis of this address") as refused:
            await all_of(analysts, question(EASY, seconds=301), "eve")
        assert refused.value.code == "too-many"
        await asyncio.sleep(0.3)
        study.cancel()
        await asyncio.gather(study, return_exceptions=True)
        budgets.require("eve", "analysis", burst - PATIENCE)
        with pytest.raises(ApiError):
            budgets.require("eve", "analysis", burst - 0.2)


async def test_one_address_leaves_a_worker_for_others() -> None:
    async with Analysts(2) as analysts:
        tasks = [asyncio.create_task(all_of(analysts, question(HARD), "eve")) for _ in range(2)]
        await until(lambda: analysts.waiting == 1)
        assert "waiting" not in (await all_of(analysts, question(EASY), "ann"))[0]
        for task in tasks:
            task.cancel()


async def test_one_address_takes_only_some_places_in_the_line(analysts: Analysts) -> None:
    tasks = [
        asyncio.create_task(all_of(analysts, question(HARD), "eve"))
        for _ in range(PLACES_PER_CLIENT)
    ]
    await until(lambda: analysts.waiting >= PLACES_PER_CLIENT - 1)
    with pytest.raises(ApiError) as refused:
        await all_of(analysts, question(EASY), "eve")
    assert refused.value.code == "too-many"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await all_of(analysts, question(EASY), "ann")


async def test_a_process_that_was_killed_is_told_and_replaced(analysts: Analysts) -> None:
    async def listen() -> None:
        await all_of(analysts, question(HARD))

    task = asyncio.create_task(listen())
    worker = analysts._workers[0]
    await until(lambda: worker.process is not None and worker.process.pid is not None)
    await asyncio.sleep(0.3)
    assert worker.process is not None
    assert worker.process.pid is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    with pytest.raises(ApiError) as failed:
        await task
    assert failed.value.code == "engine-failed"
    assert (await all_of(analysts, question(EASY)))[-1]["done"]
