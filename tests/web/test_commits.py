"""Commits: what was decided together is written together, and fails together."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from kamon import Layout
from kamon.position import Side
from kamon.web.database import Database
from kamon.web.errors import ApiError
from kamon.web.games import commits as module
from kamon.web.games import store
from kamon.web.games.clocks import Control
from kamon.web.games.commits import Commits, Done, Part
from kamon.web.games.rooms import Event, Seat, create, evolve, set_up
from kamon.web.games.store import Change, Games
from kamon.web.games.tables import Table
from kamon.web.health import Health
from kamon.web.writer import Writer
from web_server import PATIENCE

FIRST = set_up(
    Layout.shuffled(1), Control(), {Side.BLACK: Seat("person"), Side.WHITE: Seat("person")}, 1
)
DISK_FULL = OperationalError("INSERT", {}, Exception("database or disk is full"))

pytestmark = pytest.mark.anyio


class Desk:
    """Stands for the desk: hears what was written and what has failed."""

    def __init__(self, writer: Writer) -> None:
        self.games = Games(writer.database)
        self.told: list[str] = []
        self.batches: list[list[str]] = []
        self.failures: list[Exception] = []
        self.failures_of: dict[str, list[Exception]] = {}
        self.health = Health()
        self.commits = Commits(writer, self.publish, self.undo, health=self.health)
        self.commits.commit = self.commit

    def commit(self, connection: Connection, changes: Iterable[Change]) -> None:
        batch = list(changes)
        self.batches.append([change.game for change in batch])
        if self.failures:
            raise self.failures.pop(0)
        for change in batch:
            if failures := self.failures_of.get(change.game):
                raise failures.pop(0)
        store.commit(connection, batch)

    async def publish(self, part: Part) -> None:
        self.told.append(f"{part.change.game} {part.change.events[-1].number}")

    async def undo(self, part: Part) -> None:
        self.told.append(f"not {part.change.game} {part.change.events[-1].number}")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    writer = Writer(database)
    made = Desk(writer)
    running = asyncio.create_task(made.commits.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    writer.close()
    database.close()


def opened(game: str) -> Part:
    room = create(game, [FIRST])
    table = Table(room, [], [])
    return Part(table, Change(game, [FIRST], "playing", listed=False, flag=None), room)


def changed(before: Part, number: int) -> Part:
    """Make an offer at a table; it matters to nobody what it is."""
    offer = Event(number, number, "offered", {"what": "draw", "side": "black"})
    change = Change(before.change.game, [offer], "playing", listed=False, flag=None)
    return Part(before.table, change, evolve(before.room, offer))


async def code_of(done: "asyncio.Future[Done]") -> str:
    with pytest.raises(ApiError) as caught:
        await asyncio.wait_for(done, PATIENCE)
    return caught.value.code


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.005)


async def test_a_command_is_done_when_all_its_changes_are_written(desk: Desk) -> None:
    one, two = opened("one"), opened("two")
    room, events = await desk.commits.add(one, two)
    assert (room.id, events) == ("one", [FIRST])
    assert desk.batches == [["one", "two"]]
    assert desk.told == ["one 1", "two 1"]
    assert one.table.waiting == two.table.waiting == 0
    assert desk.games.load("two")[0] == [FIRST]


async def test_a_batch_has_its_limit(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_LIMIT", 4)
    await asyncio.gather(*(desk.commits.add(opened(f"{each}")) for each in range(10)))
    assert [len(batch) for batch in desk.batches] == [4, 4, 2]


async def test_where_many_come_commits_keep_a_pace(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PACE", 0.2)
    await desk.commits.add(opened("alone"))
    # These come within the pace of the first, one after the other, and are written together.
    doing = []
    for each in range(5):
        doing.append(desk.commits.add(opened(f"{each}")))
        await asyncio.sleep(0.005)
    await asyncio.gather(*doing)
    assert [len(batch) for batch in desk.batches] == [1, 5]


async def test_what_contradicts_the_database_fails_alone(desk: Desk) -> None:
    await desk.commits.add(opened("taken"))
    good, bad, other = opened("good"), opened("taken"), opened("other")
    doing = [desk.commits.add(part) for part in (good, bad, other)]
    assert (await doing[0])[0].id == "good"
    assert await code_of(doing[1]) == "storage"
    assert (await doing[2])[0].id == "other"
    assert desk.told == ["taken 1", "good 1", "not taken 1", "other 1"]
    assert bad.table.waiting == 0


async def test_what_rests_on_a_failed_command_fails_with_it_across_games(desk: Desk) -> None:
    one, two, three = opened("one"), opened("two"), opened("three")
    await desk.commits.add(one, two, three)
    desk.told.clear()
    # The first cannot be written: its number is taken. The second joins two games, and the third
    # rests on the second. The last has nothing to do with them.
    doing = [
        desk.commits.add(changed(one, 1)),
        desk.commits.add(changed(one, 2), changed(two, 2)),
        desk.commits.add(changed(two, 3)),
        desk.commits.add(changed(three, 2)),
    ]
    assert [await code_of(each) for each in doing[:3]] == ["storage"] * 3
    assert (await doing[3])[0].number == 2
    assert desk.told == ["not one 1", "not one 2", "not two 2", "not two 3", "three 2"]
    assert [len(desk.games.load(each)[0]) for each in ("one", "two", "three")] == [1, 1, 2]
    assert one.table.waiting == two.table.waiting == three.table.waiting == 0


async def test_a_failing_database_fails_the_whole_batch_and_the_next_one_is_tried(
    desk: Desk,
) -> None:
    desk.failures = [DISK_FULL]
    doing = [desk.commits.add(opened(f"{each}")) for each in range(3)]
    assert [await code_of(each) for each in doing] == ["storage"] * 3
    assert len(desk.batches) == 1
    assert (await desk.commits.add(opened("0")))[0].id == "0"


async def test_everything_that_was_decided_is_written_before_the_end(desk: Desk) -> None:
    doing = [desk.commits.add(opened(f"{each}")) for each in range(5)]
    await asyncio.wait_for(desk.commits.finish(), PATIENCE)
    assert all(each.done() for each in doing)
    assert len(desk.told) == 5


async def test_whoever_goes_away_stops_nothing(desk: Desk) -> None:
    done = desk.commits.add(opened("one"))
    done.cancel()
    failed = desk.commits.add(opened("two"))
    failed.cancel()
    await until(lambda: len(desk.told) == 2)
    assert desk.games.load("one")[0] == [FIRST]


# --- Nothing ends the writing -----------------------------------------------------------------


async def test_what_cannot_be_published_is_written_and_does_not_stop_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [RuntimeError("a defect")]
    publish = desk.commits._publish

    async def publish_or_fail(part: Part) -> None:
        if failures:
            raise failures.pop()
        await publish(part)

    monkeypatch.setattr(desk.commits, "_publish", publish_or_fail)
    first = opened("one")
    room, _ = await asyncio.wait_for(desk.commits.add(first), PATIENCE)
    assert room.id == "one"
    assert first.table.doubtful
    assert desk.health.problems == {"publishing": "RuntimeError"}
    await asyncio.wait_for(desk.commits.add(opened("two")), PATIENCE)
    assert desk.told == ["two 1"]
    assert desk.health.problems == {}


async def test_a_defect_fails_its_own_command_and_no_other(desk: Desk) -> None:
    good, bad = opened("good"), opened("bad")
    # Once for both together, and once more for the bad one alone.
    desk.failures_of["bad"] = [TypeError("a defect"), TypeError("a defect")]
    doing = [desk.commits.add(good), desk.commits.add(bad)]
    await asyncio.wait_for(doing[0], PATIENCE)
    assert await code_of(doing[1]) == "failed"
    await asyncio.wait_for(desk.commits.add(opened("later")), PATIENCE)


async def test_what_cannot_be_put_back_does_not_stop_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Part) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(desk.commits, "_undo", fail)
    desk.failures.append(DISK_FULL)
    assert await code_of(desk.commits.add(opened("one"))) == "storage"
    await asyncio.wait_for(desk.commits.add(opened("two")), PATIENCE)


async def test_a_server_that_stops_does_not_wait_for_ever(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "FINISH_SECONDS", 0.1)
    # Nobody runs the commits.
    commits = Desk(writer).commits
    commits.add(opened("one"))
    await asyncio.wait_for(commits.finish(), PATIENCE)
    assert "1 commands could not be written" in caplog.text
