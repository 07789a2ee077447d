"""The desk: a command is acknowledged when it is on the disk, and not a moment before."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from kamon import Layout, rules
from kamon.game import Result
from kamon.notation import format_cell
from kamon.position import Side
from kamon.web.database import Database
from kamon.web.errors import ApiError
from kamon.web.games import desk as module
from kamon.web.games import store, tables
from kamon.web.games.clocks import Control
from kamon.web.games.desk import Desk
from kamon.web.games.rooms import Command, Room, Seat, create, set_up
from kamon.web.games.store import Change, Games
from kamon.web.games.tables import QUEUE_LIMIT, Table
from kamon.web.ids import new_id
from kamon.web.server_time import wall_time
from kamon.web.writer import Writer
from web_server import PATIENCE

BLACK, WHITE = Side.BLACK, Side.WHITE
BOTH = frozenset(Side)
SEATS = {BLACK: Seat("person", "Ann"), WHITE: Seat("person", "Bob")}
HOLDERS = [(BLACK, "a" * 64), (WHITE, "b" * 64)]
DISK_FULL = OperationalError("INSERT", {}, Exception("database or disk is full"))

pytestmark = pytest.mark.anyio


class Disk(Games):
    """Games whose commits can be counted, held up, and made to fail."""

    def __init__(self, url: str) -> None:
        super().__init__(Database(url))
        self.writer = Writer(self.database)
        self.batches: list[int] = []
        self.asked = 0
        self.free = threading.Event()
        self.free.set()
        self.failures: list[Exception] = []
        self.loads: list[Exception] = []

    def commit(self, connection: Connection, changes: Sequence[Change]) -> None:
        batch = list(changes)
        self.asked += 1
        assert self.free.wait(PATIENCE)
        if self.failures:
            raise self.failures.pop(0)
        store.commit(connection, batch)
        self.batches.append(len(batch))

    def load(self, game: str, after: int = 0) -> tuple[list[Any], list[tuple[Side, str]]]:
        if self.loads:
            raise self.loads.pop(0)
        return super().load(game, after)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    made.database.migrate()
    yield made
    made.free.set()
    made.writer.close()
    made.database.close()


@contextlib.asynccontextmanager
async def running(
    disk: Disk, now: Callable[[], int] | None = None, away: int = 0
) -> AsyncIterator[Desk]:
    """Run a desk; it must also come to an end."""
    made = Desk(disk, disk.writer, now or wall_time)
    made.commits.commit = disk.commit
    life = made.running(away)
    desk = await life.__aenter__()
    try:
        yield desk
    finally:
        async with asyncio.timeout(PATIENCE):
            await life.__aexit__(None, None, None)


@pytest.fixture
async def desk(disk: Disk) -> AsyncIterator[Desk]:
    async with running(disk) as made:
        yield made


async def new(desk: Desk, control: str = "-", seats: dict[Side, Seat] | None = None) -> str:
    first = set_up(Layout.shuffled(1), Control.parse(control), seats or SEATS, desk.now())
    return (await desk.create(first, HOLDERS)).id


def move(room: Room, command: str | None = None) -> Command:
    """Play the first legal cell, for whoever is to move."""
    cell = format_cell(rules.legal_cells(room.position)[0])
    return Command("move", BOTH, {"cell": cell}, after=room.number, id=command)


async def play(desk: Desk, game: str, command: str | None = None) -> Room:
    table = await desk.table(game)
    return (await desk.submit(game, move(table.newest, command)))[0]


async def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        await asyncio.sleep(0.005)


async def code_of(doing: Awaitable[object]) -> str:
    with pytest.raises(ApiError) as caught:
        await doing
    return caught.value.code


# --- Games ----------------------------------------------------------------------------------


async def test_a_game_is_there_after_a_restart_as_it_was(disk: Disk) -> None:
    async with running(disk) as desk:
        game = await new(desk, "60+1")
        for _ in range(5):
            before = await play(desk, game)
    async with running(disk) as desk:
        table = await desk.table(game)
        assert table.room == before
        assert sorted(table.holders, key=str) == HOLDERS
        assert [event.number for event in table.events] == [1, 2, 3, 4, 5, 6]


async def test_a_game_that_is_not_there_is_refused(desk: Desk) -> None:
    assert await code_of(desk.table(new_id())) == "no-such-game"
    assert await code_of(desk.submit(new_id(), Command("flag"))) == "no-such-game"


async def test_a_new_game_has_each_holder_once(desk: Desk) -> None:
    table = await desk.table(await new(desk))
    assert table.holders == HOLDERS
    assert (table.room.number, len(table.events)) == (1, 1)


async def test_whoever_joins_holds_the_seat_when_it_is_written(desk: Desk) -> None:
    game = await new(desk, seats={BLACK: Seat("person"), WHITE: Seat()})
    holder = (WHITE, "c" * 64)
    await desk.submit(game, Command("join", data={"name": "Cid"}), [holder])
    assert (await desk.table(game)).holders == [*HOLDERS, holder]
    assert holder in desk.games.load(game)[1]


async def test_rooms_that_nobody_asked_for_longest_are_forgotten_and_come_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROOMS_IN_MEMORY", 3)
    games = [await new(desk) for _ in range(6)]
    assert len(desk.tables) <= 3
    for _ in range(3):
        for game in games:
            await play(desk, game)
    assert [len((await desk.table(game)).room.moves) for game in games] == [3] * 6


async def test_a_room_can_be_opened_although_all_in_memory_are_being_watched(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [await new(desk) for _ in range(4)]
    for game in games[:2]:
        desk.presence.watch(await desk.table(game), frozenset())
    monkeypatch.setattr(tables, "ROOMS_IN_MEMORY", 2)
    desk.tables.trim()
    assert (await play(desk, games[2])).number == 2
    assert (await play(desk, await new(desk))).number == 2


async def test_many_who_open_a_room_at_once_sit_at_one_table(disk: Disk) -> None:
    async with running(disk) as desk:
        game = await new(desk)
    async with running(disk) as desk:
        tables = await asyncio.gather(*(desk.table(game) for _ in range(20)))
        assert all(table is tables[0] for table in tables)


def test_the_name_of_a_game_is_60_random_bits() -> None:
    made = {new_id() for _ in range(1000)}
    assert len(made) == 1000
    assert {len(each) for each in made} == {12}
    assert len(set("".join(made))) == 32


# --- Writing --------------------------------------------------------------------------------


async def test_a_move_is_acknowledged_and_shown_only_after_its_commit(
    desk: Desk, disk: Disk
) -> None:
    game = await new(desk)
    table = await desk.table(game)
    watcher = desk.presence.watch(table, frozenset())
    watcher.queue.get_nowait()
    disk.free.clear()
    moving = asyncio.create_task(play(desk, game))
    await asyncio.sleep(0.1)
    assert not moving.done()
    assert watcher.queue.empty()
    assert (table.room.moves, table.events[1:]) == ((), [])
    disk.free.set()
    assert (await moving).number == 2
    assert len(disk.load(game)[0]) == 2
    room, events = watcher.queue.get_nowait() or (None, ())
    assert room == table.room
    assert [event.kind for event in events] == ["moved"]


async def test_the_moves_of_many_games_share_a_commit(desk: Desk, disk: Disk) -> None:
    games = [await new(desk) for _ in range(60)]
    disk.batches.clear()
    disk.free.clear()
    moving = [asyncio.create_task(play(desk, game)) for game in games]
    await asyncio.sleep(0.1)
    disk.free.set()
    rooms = await asyncio.gather(*moving)
    assert [room.number for room in rooms] == [2] * 60
    assert sum(disk.batches) == 60
    assert len(disk.batches) <= 3


async def test_several_moves_of_one_game_may_wait_for_one_commit(desk: Desk, disk: Disk) -> None:
    game = await new(desk)
    disk.free.clear()
    moving = []
    for _ in range(5):
        moving.append(asyncio.create_task(play(desk, game)))
        await asyncio.sleep(0)
    disk.free.set()
    assert [room.number for room in await asyncio.gather(*moving)] == [2, 3, 4, 5, 6]
    assert create(game, disk.load(game)[0]) == (await desk.table(game)).room


async def test_what_was_decided_is_written_before_the_server_ends(disk: Disk) -> None:
    async with running(disk) as desk:
        game = await new(desk)
        disk.free.clear()
        moving = asyncio.create_task(play(desk, game))
        await asyncio.sleep(0.05)
        asyncio.get_running_loop().call_later(0.1, disk.free.set)
    assert (await moving).number == 2
    assert len(disk.load(game)[0]) == 2


async def test_a_client_that_goes_away_does_not_take_its_move_along(desk: Desk, disk: Disk) -> None:
    game = await new(desk)
    disk.free.clear()
    moving = asyncio.create_task(play(desk, game))
    await asyncio.sleep(0.05)
    moving.cancel()
    disk.free.set()
    table = await desk.table(game)
    await until(lambda: table.room.number == 2)
    assert (await play(desk, game)).number == 3


# --- A disk that fails ----------------------------------------------------------------------


@pytest.mark.parametrize("failure", [DISK_FULL, OSError("no space left")])
async def test_a_failing_commit_undoes_the_move_and_says_so(
    desk: Desk, disk: Disk, failure: Exception
) -> None:
    game = await new(desk)
    table = await desk.table(game)
    before = table.room
    watcher = desk.presence.watch(table, frozenset())
    watcher.queue.get_nowait()
    disk.failures = [failure]
    async with asyncio.timeout(PATIENCE):
        assert await code_of(play(desk, game, "my-command")) == "storage"
    assert table.room == table.newest == before
    assert watcher.queue.empty()
    assert len(disk.load(game)[0]) == 1
    # The same command, sent again when there is room on the disk, is obeyed.
    async with asyncio.timeout(PATIENCE):
        assert (await play(desk, game, "my-command")).number == 2


async def test_what_rests_on_a_failed_move_fails_with_it(desk: Desk, disk: Disk) -> None:
    game, other = await new(desk), await new(desk)
    disk.free.clear()
    disk.failures = [DISK_FULL]
    moving = [asyncio.create_task(code_of(play(desk, game)))]
    await asyncio.sleep(0.05)
    # The first commit is under way. These two wait, and one of them rests on it.
    moving.append(asyncio.create_task(code_of(play(desk, game))))
    good = asyncio.create_task(play(desk, other))
    await asyncio.sleep(0.05)
    disk.free.set()
    assert await asyncio.gather(*moving) == ["storage", "storage"]
    assert (await good).number == 2
    assert (await desk.table(game)).newest.number == 1
    assert (await play(desk, game)).number == 2


async def test_a_game_that_could_not_be_written_is_not_there(desk: Desk, disk: Disk) -> None:
    disk.failures = [DISK_FULL]
    assert await code_of(new(desk)) == "storage"
    assert len(desk.tables) == 0
    assert (await play(desk, await new(desk))).number == 2


async def test_a_game_that_was_cleared_does_not_spoil_the_moves_of_others(
    desk: Desk, disk: Disk
) -> None:
    cleared, other = await new(desk), await new(desk)
    with disk.database.engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM games WHERE id = '{cleared}'")  # noqa: S608
    disk.free.clear()
    first = asyncio.create_task(play(desk, other))
    await asyncio.sleep(0.05)
    lost = asyncio.create_task(code_of(play(desk, cleared)))
    second = asyncio.create_task(play(desk, other))
    await asyncio.sleep(0.05)
    disk.free.set()
    assert (await first).number == 2
    assert (await second).number == 3
    assert await lost in ("storage", "no-such-game")


async def test_a_rematch_is_set_up_together_with_the_agreement_or_not_at_all(
    desk: Desk, disk: Disk
) -> None:
    game = await new(desk)
    await desk.submit(game, Command("resign", frozenset({BLACK})))
    await desk.submit(game, Command("offer", frozenset({BLACK}), {"what": "rematch"}))
    accept = Command("accept", frozenset({WHITE}), {"what": "rematch"})
    before = len(desk.tables)
    disk.failures = [DISK_FULL]
    assert await code_of(desk.submit(game, accept)) == "storage"
    assert (await desk.table(game)).room.next_id is None
    assert len(desk.tables) == before
    room, _ = await desk.submit(game, accept)
    assert room.next_id is not None
    following = await desk.table(room.next_id)
    assert following.room.status == "playing"
    assert {side.other for side, _ in following.holders} == set(Side)


async def test_a_rematch_whose_game_cannot_be_written_leaves_no_trace(
    desk: Desk, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, taken = await new(desk), await new(desk)
    await desk.submit(game, Command("resign", frozenset({BLACK})))
    await desk.submit(game, Command("offer", frozenset({BLACK}), {"what": "rematch"}))
    with monkeypatch.context() as patch:
        # The name of the next game is taken, so that its row contradicts the database.
        patch.setattr("kamon.web.games.desk.new_id", lambda: taken)
        accept = Command("accept", frozenset({WHITE}), {"what": "rematch"})
        assert await code_of(desk.submit(game, accept)) == "storage"
    assert create(game, disk.load(game)[0]).next_id is None
    assert (await desk.submit(game, accept))[0].next_id not in (None, taken)


async def test_a_commit_that_is_there_although_it_failed_is_found_and_shown(
    desk: Desk, disk: Disk
) -> None:
    """After a failed sync the disk may have what was refused: only looking tells."""
    game = await new(desk)
    watcher = desk.presence.watch(await desk.table(game), frozenset())
    watcher.queue.get_nowait()

    def commit_and_fail(connection: Connection, changes: Sequence[Change]) -> None:
        store.commit(connection, changes)
        connection.commit()
        raise DISK_FULL

    desk.commits.commit = commit_and_fail
    assert await code_of(play(desk, game, "my-command")) == "storage"
    desk.commits.commit = disk.commit
    table = await desk.table(game)
    assert table.room.number == 2
    assert [event.kind for event in (watcher.queue.get_nowait() or (None, ()))[1]] == ["moved"]
    # Sent again it is acknowledged, and the game goes on.
    command = Command("move", BOTH, {"cell": "a1"}, id="my-command")
    assert (await desk.submit(game, command))[1] == ()
    assert (await play(desk, game)).number == 3


async def test_while_nobody_knows_what_is_on_the_disk_nothing_is_decided(
    desk: Desk, disk: Disk
) -> None:
    game = await new(desk)
    disk.failures, disk.loads = [DISK_FULL], [DISK_FULL, DISK_FULL]
    assert await code_of(play(desk, game)) == "storage"
    assert (await desk.table(game)).doubtful
    assert await code_of(play(desk, game)) == "storage"
    assert (await play(desk, game)).number == 2


async def test_a_database_that_fails_is_asked_once_for_a_whole_batch(
    desk: Desk, disk: Disk
) -> None:
    games = [await new(desk) for _ in range(20)]
    disk.free.clear()
    disk.asked = 0
    disk.failures = [DISK_FULL] * 20
    moving = [asyncio.create_task(code_of(play(desk, game))) for game in games]
    await asyncio.sleep(0.05)
    disk.free.set()
    assert await asyncio.gather(*moving) == ["storage"] * 20
    assert disk.asked <= 2


# --- The same command twice -----------------------------------------------------------------


async def test_a_move_sent_twice_is_one_move(desk: Desk) -> None:
    game = await new(desk)
    command = move((await desk.table(game)).room, "my-command")
    room, events = await desk.submit(game, command)
    assert (room.number, len(events)) == (2, 1)
    room, events = await desk.submit(game, command)
    assert (room.number, len(events)) == (2, 0)


async def test_a_move_sent_twice_at_once_is_one_move(desk: Desk, disk: Disk) -> None:
    game = await new(desk)
    command = move((await desk.table(game)).room, "my-command")
    answers = await asyncio.gather(*(desk.submit(game, command) for _ in range(5)))
    assert [room.number for room, _ in answers] == [2] * 5
    assert sum(len(events) for _, events in answers) == 1
    assert len(disk.load(game)[0]) == 2


async def test_a_move_sent_twice_at_once_is_not_acknowledged_before_it_is_written(
    desk: Desk, disk: Disk
) -> None:
    game = await new(desk)
    command = move((await desk.table(game)).room, "my-command")
    disk.free.clear()
    moving = [asyncio.create_task(desk.submit(game, command)) for _ in range(2)]
    await asyncio.sleep(0.1)
    assert not any(task.done() for task in moving)
    disk.free.set()
    await asyncio.gather(*moving)


async def test_a_move_sent_twice_at_once_to_a_full_disk_is_acknowledged_to_nobody(
    desk: Desk, disk: Disk
) -> None:
    game = await new(desk)
    command = move((await desk.table(game)).room, "my-command")
    disk.failures = [DISK_FULL]
    codes = await asyncio.gather(*(code_of(desk.submit(game, command)) for _ in range(2)))
    assert codes == ["storage", "storage"]
    assert len(disk.load(game)[0]) == 1


async def test_a_move_sent_again_after_a_restart_is_one_move(disk: Disk) -> None:
    async with running(disk) as desk:
        game = await new(desk)
        command = move((await desk.table(game)).room, "my-command")
        await desk.submit(game, command)
    async with running(disk) as desk:
        room, events = await desk.submit(game, command)
        assert (room.number, len(events)) == (2, 0)


# --- Clocks ---------------------------------------------------------------------------------


class Time:
    """The time of day, which a test can put forward."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead


async def ended(table: Table) -> Result | None:
    await until(lambda: table.room.result is not None)
    return table.room.result


async def test_a_flag_ends_a_game_with_nobody_there(desk: Desk, disk: Disk) -> None:
    game = await new(desk, "1+0")
    await play(desk, game)
    await play(desk, game)
    started = time.monotonic()
    assert await ended(await desk.table(game)) == Result(WHITE, "time")
    assert time.monotonic() - started > 0.9
    assert create(game, disk.load(game)[0]).status == "over"
    assert disk.flags() == []


async def test_the_time_that_the_server_was_away_runs_on_nobodys_clock(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        game = await new(desk, "60+0")
        await play(desk, game)
        await play(desk, game)
        clock.ahead += 20_000
    clock.ahead += 3_600_000
    async with running(disk, clock, away=3_600_000) as desk:
        table = await desk.table(game)
        await until(lambda: table.events[-1].kind == "resumed")
        assert 38_000 < table.room.clock.left(BLACK, BLACK, clock()) <= 40_000
        # From here on it counts again, up to the flag.
        clock.ahead += 60_000
        desk.flags.put(game, clock())
        assert await ended(table) == Result(WHITE, "time")


async def test_a_clock_that_does_not_run_need_not_be_resumed(disk: Disk) -> None:
    async with running(disk) as desk:
        game = await new(desk, "60+0")
        assert (await desk.submit(game, Command("resume", data={"away": 5000})))[1] == ()


async def test_a_flag_that_was_due_before_the_server_ended_falls_at_its_next_start(
    disk: Disk,
) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        late, fresh = await new(desk, "60+0"), await new(desk, "9000+0")
        for game in (late, fresh):
            await play(desk, game)
            await play(desk, game)
    clock.ahead += 3_600_000
    async with running(disk, clock) as desk:
        # Nobody asks for the game: the desk itself must look.
        await until(lambda: late in desk.tables)
        assert await ended(await desk.table(late)) == Result(WHITE, "time")
        assert (await desk.table(fresh)).room.status == "playing"


async def test_one_unreadable_game_does_not_keep_the_flags_of_others_from_falling(
    disk: Disk,
) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        broken, other = await new(desk, "60+0"), await new(desk, "90+0")
        for game in (broken, other):
            await play(desk, game)
            await play(desk, game)
    with disk.database.engine.begin() as connection:
        query = f"UPDATE events SET data = '{{' WHERE game = '{broken}'"  # noqa: S608
        connection.exec_driver_sql(query)
    clock.ahead += 3_600_000
    async with running(disk, clock) as desk:
        assert await ended(await desk.table(other)) == Result(WHITE, "time")
        assert f"game {broken}" in desk.health.problems


async def test_every_game_has_one_flag_however_often_it_is_put_off(desk: Desk) -> None:
    for number in range(10_000):
        desk.flags.put(f"game {number % 3}", desk.now() + 1_000_000 + number)
    assert len(desk.flags) < 200


async def test_a_move_puts_the_flag_off(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        game = await new(desk, "60+0")
        await play(desk, game)
        await play(desk, game)
        for seconds in (50, 20, 5):
            clock.ahead += 1000 * seconds
            room = await play(desk, game)
        # Black's first flag would have fallen by now, and has been looked at.
        await asyncio.sleep(0.05)
        assert room.clock.left(BLACK, WHITE, clock()) in range(4_000, 5_001)
        assert (await desk.table(game)).room.status == "playing"


@pytest.mark.parametrize("failing", ["commit", "load"])
async def test_a_flag_that_falls_while_the_disk_fails_ends_the_game_later(
    disk: Disk, failing: str
) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        game = await new(desk, "60+0")
        await play(desk, game)
        await play(desk, game)
    clock.ahead += 3_600_000
    (disk.failures if failing == "commit" else disk.loads).append(DISK_FULL)
    async with running(disk, clock) as desk:
        await until(lambda: not disk.failures and not disk.loads)
        await asyncio.sleep(0.05)
        table = await desk.table(game)
        assert await ended(table) == Result(WHITE, "time")


# --- Watching -------------------------------------------------------------------------------


async def test_a_watcher_gets_every_event_in_order(desk: Desk) -> None:
    game = await new(desk)
    watcher = desk.presence.watch(await desk.table(game), frozenset())
    for _ in range(6):
        await play(desk, game)
    numbers = []
    while not watcher.queue.empty():
        news = watcher.queue.get_nowait()
        assert news is not None
        numbers += [event.number for event in news[1]]
    assert numbers == [2, 3, 4, 5, 6, 7]


async def test_old_games_are_cleared_from_memory_too_unless_somebody_watches(desk: Desk) -> None:
    watched, left = await new(desk), await new(desk)
    desk.presence.watch(await desk.table(watched), frozenset())
    await desk.clear(desk.now() + 1, ["playing"])
    assert (await desk.table(watched)).room.id == watched
    with pytest.raises(ApiError):
        await desk.table(left)


async def test_a_young_game_is_not_cleared(desk: Desk) -> None:
    game = await new(desk)
    await desk.clear(desk.now() - 1000, ["playing"])
    assert (await desk.table(game)).room.id == game


async def test_whoever_sits_down_is_not_away_since_the_seat_was_free(disk: Disk) -> None:
    moment = 1_000_000
    async with running(disk, lambda: moment) as desk:
        seats = {BLACK: Seat("person", "Ann"), WHITE: Seat("open")}
        first = set_up(Layout.shuffled(1), Control.parse("300+5"), seats, desk.now())
        table = await desk.table((await desk.create(first, HOLDERS[:1])).id)
        assert desk.presence.absent_since(table, WHITE) is None
        moment += 600_000
        await desk.submit(table.room.id, Command("join", data={"name": "Bob"}), HOLDERS[1:])
        assert desk.presence.absent_since(table, WHITE) == moment


async def test_a_watcher_that_does_not_read_is_cut_off_and_holds_nobody_up(desk: Desk) -> None:
    game = await new(desk)
    table = await desk.table(game)
    deaf, keen = desk.presence.watch(table, frozenset()), desk.presence.watch(table, frozenset())
    heard = 0
    for _ in range(QUEUE_LIMIT):
        await play(desk, game)
        await desk.submit(game, Command("offer", frozenset({BLACK}), {"what": "takeback"}))
        await desk.submit(game, Command("accept", frozenset({WHITE}), {"what": "takeback"}))
        while not keen.queue.empty():
            assert keen.queue.get_nowait() is not None
            heard += 1
    assert heard >= 2 * QUEUE_LIMIT
    assert table.watchers == {keen}
    assert deaf.queue.get_nowait() is None
    assert deaf.queue.empty()


async def test_a_listener_hears_of_every_game(desk: Desk) -> None:
    heard = []

    async def listen(room: Room, events: object) -> None:
        del events
        heard.append((room.id, room.number))

    desk.listeners.append(listen)
    game = await new(desk)
    await play(desk, game)
    await until(lambda: len(heard) == 2)
    assert heard == [(game, 1), (game, 2)]


async def test_who_has_left_is_known_and_since_when(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as desk:
        table = await desk.table(await new(desk, "600+0"))
        ann = desk.presence.watch(table, frozenset({BLACK}))
        second_tab = desk.presence.watch(table, frozenset({BLACK}))
        assert desk.presence.absent_since(table, BLACK) is None
        desk.leave(table, second_tab)
        assert desk.presence.absent_since(table, BLACK) is None
        desk.leave(table, ann)
        gone = desk.presence.absent_since(table, BLACK)
        assert gone is not None
        clock.ahead += 60_000
        assert desk.presence.absent_since(table, BLACK) == gone
        desk.leave(table, desk.presence.watch(table, frozenset({BLACK})))
        again = desk.presence.absent_since(table, BLACK)
        assert again is not None
        assert again >= gone + 60_000


async def test_the_computer_is_never_away(desk: Desk) -> None:
    seats = {BLACK: Seat("person"), WHITE: Seat("computer", "", 1)}
    table = await desk.table(await new(desk, seats=seats))
    assert desk.presence.present(table, WHITE)
    assert desk.presence.absent_since(table, WHITE) is None
    assert not desk.presence.present(table, BLACK)


async def test_games_that_are_forgotten_leave_nothing_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROOMS_IN_MEMORY", 2)
    for _ in range(10):
        table = await desk.table(await new(desk))
        desk.presence.absent_since(table, BLACK)
        desk.leave(table, desk.presence.watch(table, frozenset({WHITE})))
    assert len(desk.tables) <= 2
    assert len(desk.presence._left) <= 4


async def test_those_who_watch_are_told_who_comes_and_goes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kamon.web.games.presence._PAUSE", 0.0)
    table = await desk.table(await new(desk))
    watcher = desk.presence.watch(table, frozenset())
    watcher.queue.get_nowait()
    other = desk.presence.watch(table, frozenset({BLACK}))
    assert watcher.queue.get_nowait() == (table.room, ())
    desk.leave(table, other)
    assert watcher.queue.get_nowait() == (table.room, ())


# --- Listeners --------------------------------------------------------------------------------


async def test_a_listener_that_fails_keeps_nobody_from_playing(disk: Disk) -> None:
    heard: list[int] = []
    failures = [RuntimeError("a defect")]

    async def fail(*_: object) -> None:
        if failures:
            raise failures.pop()

    async def listen(room: Room, _: object) -> None:
        heard.append(room.number)

    async with running(disk) as desk:
        desk.listeners += [fail, listen]
        async with asyncio.timeout(PATIENCE):
            game = await new(desk)
            assert desk.health.problems == {"listeners": "RuntimeError"}
            await play(desk, game)
        assert heard == [1, 2]
        assert desk.health.problems == {}


# --- Clearing ---------------------------------------------------------------------------------


async def test_old_games_are_cleared_in_pieces_and_moves_are_written_in_between(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLEARED_AT_ONCE", 5)
    monkeypatch.setattr(module, "CLEARING_PAUSE", 0.01)
    old = [await new(desk) for _ in range(23)]
    kept = await new(desk)
    watcher = desk.presence.watch(await desk.table(kept), frozenset())
    clearing = asyncio.create_task(desk.clear(desk.now() + 1_000, ["playing"]))
    moves = 0
    while not clearing.done():
        await play(desk, kept)
        moves += 1
    assert moves >= 4
    assert not any(desk.games.load(game)[0] for game in old)
    assert desk.games.load(kept)[0]
    desk.leave(await desk.table(kept), watcher)
