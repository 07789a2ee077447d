"""Reviews that are kept: a later one goes on from an earlier one, also after a kill."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy.exc import OperationalError

from kamon.web.database import Database
from kamon.web.engine import reviews as module
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.errors import ApiError
from kamon.web.health import Health
from kamon.web.writer import Writer
from web_server import PATIENCE, eventually

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


async def keep(writer: Writer, review: str, now: int, data: dict[str, Any]) -> None:
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
    await keep(writer, module._id(GAME), 1, {"version": module.VERSION, **last, "done": True})
    monkeypatch.setattr(reviews, "_analysts", None)
    assert len(await all_of(reviews, GAME)) == 1


async def test_a_review_of_another_version_is_made_anew(reviews: Reviews, writer: Writer) -> None:
    await keep(writer, module._id(GAME), 1, {"version": 0, "turns": "old"})
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

    with pytest.raises(ApiError, match="The analysis failed"):
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
        await keep(writer, "a", 1, {})
        await keep(writer, "b", 9, {})
        await Reviews(writer, analysts).clear(5)
    found = [module._stored(writer.database, name) for name in ("a", "b")]
    assert found == [None, {}]


# --- Several pages ----------------------------------------------------------------------------


class Engine:
    """Stands for the analysts: says what a test wants, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.words: asyncio.Queue[dict[str, Any] | Exception | None] = asyncio.Queue()
        self.stopped = 0

    async def work(self, _: object, client: str) -> AsyncGenerator[dict[str, Any], None]:
        self.asked.append(client)
        try:
            while (word := await self.words.get()) is not None:
                if isinstance(word, Exception):
                    raise word
                yield word
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped += 1
            raise


def found(count: int, *, done: bool = False) -> dict[str, Any]:
    """Make a review in which some values are proven."""
    turn = {"before": None, "after": None, "better": None}
    turns = [{**turn, "before": "win"} if at < count else turn for at in range(9)]
    return {"turns": turns, "done": done}


class Page:
    """Somebody who looks at a review."""

    def __init__(self, reviews: Reviews, client: str) -> None:
        self.heard: list[dict[str, Any]] = []
        self.task = asyncio.create_task(self._listen(reviews, client))

    async def _listen(self, reviews: Reviews, client: str) -> None:
        async with aclosing(reviews.work(GAME, client)) as messages:
            async for message in messages:
                self.heard.append(message)


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def shared(writer: Writer, engine: Engine) -> Reviews:
    return Reviews(writer, cast("Any", engine))


async def test_however_many_look_on_a_game_is_reviewed_once(
    shared: Reviews, engine: Engine
) -> None:
    ann = Page(shared, "ann")
    # Each looks first for what is stored, so the order in which they ask is not certain.
    await eventually(lambda: engine.asked == ["ann"])
    bob = Page(shared, "bob")
    await engine.words.put({"progress": [1, 9]})
    await engine.words.put(found(3))
    await eventually(lambda: len(ann.heard) == len(bob.heard) == 2)
    # Somebody who comes later hears first what is known.
    eve = Page(shared, "eve")
    await eventually(lambda: len(eve.heard) == 2)
    assert eve.heard == [found(3), {"progress": [1, 9]}]
    await engine.words.put(found(9, done=True))
    await engine.words.put(None)
    await asyncio.wait_for(asyncio.gather(ann.task, bob.task, eve.task), PATIENCE)
    assert ann.heard[-1] == bob.heard[-1] == eve.heard[-1] == found(9, done=True)
    assert engine.asked == ["ann"]


async def test_the_review_goes_on_until_the_last_page_leaves(
    shared: Reviews, engine: Engine
) -> None:
    ann = Page(shared, "ann")
    # Each looks first for what is stored, so the order in which they ask is not certain.
    await eventually(lambda: engine.asked == ["ann"])
    bob = Page(shared, "bob")
    await engine.words.put(found(2))
    await eventually(lambda: len(ann.heard) == len(bob.heard) == 1)
    ann.task.cancel()
    await asyncio.wait({ann.task})
    await engine.words.put(found(4))
    await eventually(lambda: len(bob.heard) == 2)
    assert engine.stopped == 0
    bob.task.cancel()
    await asyncio.wait({bob.task})
    assert engine.stopped == 1
    stored = await shared.stored(GAME)
    assert stored is not None
    assert stored["turns"] == found(4)["turns"]
    # Whoever comes next begins another one, with what is known.
    eve = Page(shared, "eve")
    await eventually(lambda: len(eve.heard) == 1)
    await engine.words.put(None)
    await asyncio.wait_for(eve.task, PATIENCE)
    assert engine.asked == ["ann", "eve"]


async def test_a_failure_is_told_to_everybody_who_looks_on(shared: Reviews, engine: Engine) -> None:
    pages = [Page(shared, name) for name in ("ann", "bob")]
    await engine.words.put({"progress": [1, 9]})
    await eventually(lambda: all(len(page.heard) == 1 for page in pages))
    await engine.words.put(ApiError("engine-failed"))
    for page in pages:
        with pytest.raises(ApiError, match="The analysis failed"):
            await asyncio.wait_for(page.task, PATIENCE)


async def test_a_server_that_stops_keeps_what_was_found(shared: Reviews, engine: Engine) -> None:
    page = Page(shared, "ann")
    await engine.words.put(found(5))
    await eventually(lambda: len(page.heard) == 1)
    await asyncio.wait_for(shared.close(), PATIENCE)
    stored = await shared.stored(GAME)
    assert stored is not None
    assert proven(stored) == 5
    await asyncio.wait_for(page.task, PATIENCE)


# --- Several servers --------------------------------------------------------------------------


async def test_servers_that_keep_the_same_review_agree(postgres_url: str) -> None:
    writers = []
    for _ in range(2):
        database = Database(postgres_url)
        database.open()
        writers.append(Writer(database, Health()))
    for round_ in range(20):
        name = f"game {round_}"
        data = {"version": module.VERSION, **found(round_ % 9)}
        await asyncio.gather(*(keep(writer, name, 1, data) for writer in writers))
        assert module._stored(writers[0].database, name) == data
    for writer in writers:
        writer.close()
        writer.database.close()


async def test_less_does_not_replace_more(writer: Writer) -> None:
    for count in (2, 6, 4, 6):
        await keep(writer, "game", count, {"version": module.VERSION, **found(count)})
    stored = module._stored(writer.database, "game")
    assert stored is not None
    assert proven(stored) == 6
