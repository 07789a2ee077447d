"""Reviews that are kept: a later one goes on from an earlier one, also after a kill."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from kamon.web.database import Database
from kamon.web.engine import reviews as module
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.errors import ApiError
from kamon.web.health import Health
from kamon.web.writer import Writer
from web_server import PATIENCE

DATA = Path(__file__).parents[1] / "data"
GAME = (DATA / "games.txt").read_text().splitlines()[0].partition(";")[0].strip()

pytestmark = pytest.mark.anyio


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    made = Writer(database, Health())
    yield made
    made.close()
    database.close()


@pytest.fixture
async def reviews(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reviews]:
    monkeypatch.setattr(module, "REVIEW_SECONDS", 6.0)
    async with Analysts(1) as analysts:
        yield Reviews(writer, analysts)


async def keep(writer: Writer, review: str, now: int, data: str) -> None:
    await writer.write(lambda connection: module._keep(connection, review, now, data))


async def all_of(reviews: Reviews, line: str) -> list[dict[str, Any]]:
    async with asyncio.timeout(3 * PATIENCE), aclosing(reviews.work(line)) as told:
        return [each async for each in told if "turns" in each]


def proven(found: dict[str, Any]) -> int:
    return sum(turn["before"] is not None for turn in found["turns"])


async def test_a_review_is_kept_and_gone_on_with(reviews: Reviews) -> None:
    first = await all_of(reviews, GAME)
    assert proven(first[-1]) > 0
    second = await all_of(reviews, GAME)
    # It begins with what was known, and never knows less.
    assert second[0]["turns"] == first[-1]["turns"]
    assert [proven(each) for each in second] == sorted(proven(each) for each in second)
    for before, after in zip(first[-1]["turns"], second[-1]["turns"], strict=True):
        assert before["before"] in (None, after["before"])
        assert before["better"] in (None, after["better"])


async def test_one_game_has_one_review_however_its_line_is_written(reviews: Reviews) -> None:
    await all_of(reviews, GAME)
    assert await reviews.stored(f"  {GAME}   ; a comment") is not None
    assert await reviews.stored(GAME.rpartition(" ")[0]) is None


async def test_a_review_that_is_complete_needs_no_engine(
    reviews: Reviews, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = (await all_of(reviews, GAME))[-1]
    text = json.dumps({"version": module.VERSION, **last, "done": True})
    await keep(writer, module._id(GAME), 1, text)
    monkeypatch.setattr(reviews, "_analysts", None)
    assert len(await all_of(reviews, GAME)) == 1


async def test_a_review_of_another_version_is_made_anew(reviews: Reviews, writer: Writer) -> None:
    await keep(writer, module._id(GAME), 1, json.dumps({"version": 0, "turns": "old"}))
    assert await reviews.stored(GAME) is None
    assert proven((await all_of(reviews, GAME))[-1]) > 0


async def test_what_was_proven_before_the_engine_was_killed_is_kept(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REVIEW_SECONDS", 60.0)
    worker = reviews._analysts._workers[0]
    known = 0

    async def kill_it_when_it_knows_something() -> None:
        nonlocal known
        async with asyncio.timeout(3 * PATIENCE), aclosing(reviews.work(GAME)) as told:
            async for each in told:
                if "turns" in each and proven(each) > 3 and worker.process is not None:
                    known = proven(each)
                    assert worker.process.pid is not None
                    os.kill(worker.process.pid, signal.SIGKILL)

    with pytest.raises(ApiError, match="The engine has failed"):
        await kill_it_when_it_knows_something()
    stored = await reviews.stored(GAME)
    assert stored is not None
    assert proven(stored) >= known > 3


async def test_a_page_that_goes_away_loses_nothing(reviews: Reviews) -> None:
    async with asyncio.timeout(3 * PATIENCE), aclosing(reviews.work(GAME)) as told:
        async for each in told:
            if "turns" in each and proven(each) > 3:
                break
    stored = await reviews.stored(GAME)
    assert stored is not None
    assert proven(stored) > 3


async def test_a_full_disk_does_not_end_a_review(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("insert", {}, OSError("disk full"))

    monkeypatch.setattr(module, "_keep", fail)
    monkeypatch.setattr(module, "_SAVE_EVERY", 0.0)
    assert proven((await all_of(reviews, GAME))[-1]) > 0


async def test_old_reviews_are_removed(writer: Writer) -> None:
    async with Analysts(1) as analysts:
        await keep(writer, "a", 1, "{}")
        await keep(writer, "b", 9, "{}")
        await Reviews(writer, analysts).clear(5)
    found = [module._stored(writer.database, name) for name in ("a", "b")]
    assert found == [None, "{}"]
