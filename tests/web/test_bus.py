"""The bus: a command is acknowledged when it is on the disk, and not a moment before."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from kamon import Layout, rules
from kamon.game import Result
from kamon.notation import format_cell
from kamon.position import Side
from kamon.web import bus as bus_module
from kamon.web.bus import QUEUE_LIMIT, Bus, StorageError, Table, new_id
from kamon.web.clocks import Control
from kamon.web.rooms import Command, Room, RoomError, Seat, create, set_up
from kamon.web.store import Change, Store
from web_server import PATIENCE

BLACK, WHITE = Side.BLACK, Side.WHITE
BOTH = frozenset(Side)
SEATS = {BLACK: Seat("person", "Ann"), WHITE: Seat("person", "Bob")}
HOLDERS = [(BLACK, "a" * 64), (WHITE, "b" * 64)]
DISK_FULL = OperationalError("INSERT", {}, Exception("database or disk is full"))

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Disk(Store):
    """A store whose commits can be counted, held up, and made to fail."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.batches: list[int] = []
        self.free = threading.Event()
        self.free.set()
        self.failures: list[Exception] = []
        self.loads: list[Exception] = []

    def commit(self, changes: Iterable[Change]) -> None:
        batch = list(changes)
        assert self.free.wait(PATIENCE)
        if self.failures:
            raise self.failures.pop(0)
        super().commit(batch)
        self.batches.append(len(batch))

    def load(self, game: str) -> tuple[list[Any], list[tuple[Side, str]]]:
        if self.loads:
            raise self.loads.pop(0)
        return super().load(game)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    made.migrate()
    yield made
    made.free.set()
    made.close()


@contextlib.asynccontextmanager
async def running(disk: Disk, now: Callable[[], int] | None = None) -> AsyncIterator[Bus]:
    """Run a bus; it must also come to an end."""
    life = Bus(disk, now).running()
    bus = await life.__aenter__()
    try:
        yield bus
    finally:
        async with asyncio.timeout(PATIENCE):
            await life.__aexit__(None, None, None)


@pytest.fixture
async def bus(disk: Disk) -> AsyncIterator[Bus]:
    async with running(disk) as made:
        yield made


async def new(bus: Bus, control: str = "-", seats: dict[Side, Seat] | None = None) -> str:
    first = set_up(Layout.shuffled(1), Control.parse(control), seats or SEATS, bus.now())
    return (await bus.create(first, HOLDERS)).id


def move(room: Room, command: str | None = None) -> Command:
    """Play the first legal cell, for whoever is to move."""
    cell = format_cell(rules.legal_cells(room.position)[0])
    return Command("move", BOTH, {"cell": cell}, after=room.number, id=command)


async def play(bus: Bus, game: str, command: str | None = None) -> Room:
    table = await bus.table(game)
    return (await bus.submit(game, move(table.newest, command)))[0]


async def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        await asyncio.sleep(0.005)


async def code_of(doing: Awaitable[object]) -> str:
    with pytest.raises(RoomError) as caught:
        await doing
    return caught.value.code


# --- Games ----------------------------------------------------------------------------------


async def test_a_game_is_there_after_a_restart_as_it_was(disk: Disk) -> None:
    async with running(disk) as bus:
        game = await new(bus, "60+1")
        for _ in range(5):
            before = await play(bus, game)
    async with running(disk) as bus:
        table = await bus.table(game)
        assert table.room == before
        assert sorted(table.holders, key=str) == HOLDERS
        assert [event.number for event in table.events] == [1, 2, 3, 4, 5, 6]


async def test_a_game_that_is_not_there_is_refused(bus: Bus) -> None:
    assert await code_of(bus.table(new_id())) == "no-such-game"
    assert await code_of(bus.submit(new_id(), Command("flag"))) == "no-such-game"


async def test_a_new_game_has_each_holder_once(bus: Bus) -> None:
    table = await bus.table(await new(bus))
    assert table.holders == HOLDERS
    assert (table.room.number, len(table.events)) == (1, 1)


async def test_whoever_joins_holds_the_seat_when_it_is_written(bus: Bus) -> None:
    game = await new(bus, seats={BLACK: Seat("person"), WHITE: Seat()})
    holder = (WHITE, "c" * 64)
    await bus.submit(game, Command("join", data={"name": "Cid"}), [holder])
    assert (await bus.table(game)).holders == [*HOLDERS, holder]
    assert holder in bus.store.load(game)[1]


async def test_rooms_that_nobody_asked_for_longest_are_forgotten_and_come_back(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_module, "ROOMS_IN_MEMORY", 3)
    games = [await new(bus) for _ in range(6)]
    assert len(bus._tables) <= 3
    for _ in range(3):
        for game in games:
            await play(bus, game)
    assert [len((await bus.table(game)).room.moves) for game in games] == [3] * 6


async def test_a_room_can_be_opened_although_all_in_memory_are_being_watched(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [await new(bus) for _ in range(4)]
    for game in games[:2]:
        bus.watch(await bus.table(game), frozenset())
    monkeypatch.setattr(bus_module, "ROOMS_IN_MEMORY", 2)
    bus._forget_old()
    assert (await play(bus, games[2])).number == 2
    assert (await play(bus, await new(bus))).number == 2


async def test_many_who_open_a_room_at_once_sit_at_one_table(disk: Disk) -> None:
    async with running(disk) as bus:
        game = await new(bus)
    async with running(disk) as bus:
        tables = await asyncio.gather(*(bus.table(game) for _ in range(20)))
        assert all(table is tables[0] for table in tables)


def test_the_name_of_a_game_is_60_random_bits() -> None:
    made = {new_id() for _ in range(1000)}
    assert len(made) == 1000
    assert {len(each) for each in made} == {12}
    assert len(set("".join(made))) == 32


# --- Writing --------------------------------------------------------------------------------


async def test_a_move_is_acknowledged_and_shown_only_after_its_commit(bus: Bus, disk: Disk) -> None:
    game = await new(bus)
    table = await bus.table(game)
    watcher = bus.watch(table, frozenset())
    watcher.queue.get_nowait()
    disk.free.clear()
    moving = asyncio.create_task(play(bus, game))
    await asyncio.sleep(0.1)
    assert not moving.done()
    assert watcher.queue.empty()
    assert (table.room.moves, table.events[1:]) == ((), [])
    disk.free.set()
    assert (await moving).number == 2
    assert len(disk.load(game)[0]) == 2
    room, events = await asyncio.wait_for(watcher.queue.get(), PATIENCE) or (None, ())
    assert room == table.room
    assert [event.kind for event in events] == ["moved"]


async def test_the_moves_of_many_games_share_a_commit(bus: Bus, disk: Disk) -> None:
    games = [await new(bus) for _ in range(60)]
    disk.batches.clear()
    disk.free.clear()
    moving = [asyncio.create_task(play(bus, game)) for game in games]
    await asyncio.sleep(0.1)
    disk.free.set()
    rooms = await asyncio.gather(*moving)
    assert [room.number for room in rooms] == [2] * 60
    assert sum(disk.batches) == 60
    assert len(disk.batches) <= 3


async def test_several_moves_of_one_game_may_wait_for_one_commit(bus: Bus, disk: Disk) -> None:
    game = await new(bus)
    disk.free.clear()
    moving = []
    for _ in range(5):
        moving.append(asyncio.create_task(play(bus, game)))
        await asyncio.sleep(0)
    disk.free.set()
    assert [room.number for room in await asyncio.gather(*moving)] == [2, 3, 4, 5, 6]
    assert create(game, disk.load(game)[0]) == (await bus.table(game)).room


async def test_what_was_decided_is_written_before_the_server_ends(disk: Disk) -> None:
    async with running(disk) as bus:
        game = await new(bus)
        disk.free.clear()
        moving = asyncio.create_task(play(bus, game))
        await asyncio.sleep(0.05)
        asyncio.get_running_loop().call_later(0.1, disk.free.set)
    assert (await moving).number == 2
    assert len(disk.load(game)[0]) == 2


async def test_a_client_that_goes_away_does_not_take_its_move_along(bus: Bus, disk: Disk) -> None:
    game = await new(bus)
    disk.free.clear()
    moving = asyncio.create_task(play(bus, game))
    await asyncio.sleep(0.05)
    moving.cancel()
    disk.free.set()
    table = await bus.table(game)
    await until(lambda: table.room.number == 2)
    assert (await play(bus, game)).number == 3


# --- A disk that fails ----------------------------------------------------------------------


@pytest.mark.parametrize("failure", [DISK_FULL, OSError("no space left"), RuntimeError("odd")])
async def test_a_failing_commit_undoes_the_move_and_says_so(
    bus: Bus, disk: Disk, failure: Exception
) -> None:
    game = await new(bus)
    table = await bus.table(game)
    before = table.room
    watcher = bus.watch(table, frozenset())
    watcher.queue.get_nowait()
    disk.failures = [failure]
    async with asyncio.timeout(PATIENCE):
        assert await code_of(play(bus, game, "my-command")) == "storage"
    assert table.room == table.newest == before
    assert watcher.queue.empty()
    assert len(disk.load(game)[0]) == 1
    # The same command, sent again when there is room on the disk, is obeyed.
    async with asyncio.timeout(PATIENCE):
        assert (await play(bus, game, "my-command")).number == 2


async def test_what_rests_on_a_failed_move_fails_with_it(bus: Bus, disk: Disk) -> None:
    game, other = await new(bus), await new(bus)
    disk.free.clear()
    disk.failures = [DISK_FULL]
    moving = [asyncio.create_task(code_of(play(bus, game)))]
    await asyncio.sleep(0.05)
    # The first commit is under way. These two wait, and one of them rests on it.
    moving.append(asyncio.create_task(code_of(play(bus, game))))
    good = asyncio.create_task(play(bus, other))
    await asyncio.sleep(0.05)
    disk.free.set()
    assert await asyncio.gather(*moving) == ["storage", "storage"]
    assert (await good).number == 2
    assert (await bus.table(game)).newest.number == 1
    assert (await play(bus, game)).number == 2


async def test_a_game_that_could_not_be_written_is_not_there(bus: Bus, disk: Disk) -> None:
    disk.failures = [DISK_FULL]
    assert await code_of(new(bus)) == "storage"
    assert len(bus._tables) == 0
    assert (await play(bus, await new(bus))).number == 2


async def test_a_game_that_was_cleared_does_not_spoil_the_moves_of_others(
    bus: Bus, disk: Disk
) -> None:
    cleared, other = await new(bus), await new(bus)
    with disk.engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM games WHERE id = '{cleared}'")  # noqa: S608
    disk.free.clear()
    first = asyncio.create_task(play(bus, other))
    await asyncio.sleep(0.05)
    lost = asyncio.create_task(code_of(play(bus, cleared)))
    second = asyncio.create_task(play(bus, other))
    await asyncio.sleep(0.05)
    disk.free.set()
    assert (await first).number == 2
    assert (await second).number == 3
    assert await lost in ("storage", "no-such-game")


# --- The same command twice -----------------------------------------------------------------


async def test_a_move_sent_twice_is_one_move(bus: Bus) -> None:
    game = await new(bus)
    command = move((await bus.table(game)).room, "my-command")
    room, events = await bus.submit(game, command)
    assert (room.number, len(events)) == (2, 1)
    room, events = await bus.submit(game, command)
    assert (room.number, len(events)) == (2, 0)


async def test_a_move_sent_twice_at_once_is_one_move(bus: Bus, disk: Disk) -> None:
    game = await new(bus)
    command = move((await bus.table(game)).room, "my-command")
    answers = await asyncio.gather(*(bus.submit(game, command) for _ in range(5)))
    assert [room.number for room, _ in answers] == [2] * 5
    assert sum(len(events) for _, events in answers) == 1
    assert len(disk.load(game)[0]) == 2


async def test_a_move_sent_twice_at_once_is_not_acknowledged_before_it_is_written(
    bus: Bus, disk: Disk
) -> None:
    game = await new(bus)
    command = move((await bus.table(game)).room, "my-command")
    disk.free.clear()
    moving = [asyncio.create_task(bus.submit(game, command)) for _ in range(2)]
    await asyncio.sleep(0.1)
    assert not any(task.done() for task in moving)
    disk.free.set()
    await asyncio.gather(*moving)


async def test_a_move_sent_twice_at_once_to_a_full_disk_is_acknowledged_to_nobody(
    bus: Bus, disk: Disk
) -> None:
    game = await new(bus)
    command = move((await bus.table(game)).room, "my-command")
    disk.failures = [DISK_FULL]
    codes = await asyncio.gather(*(code_of(bus.submit(game, command)) for _ in range(2)))
    assert codes == ["storage", "storage"]
    assert len(disk.load(game)[0]) == 1


async def test_a_move_sent_again_after_a_restart_is_one_move(disk: Disk) -> None:
    async with running(disk) as bus:
        game = await new(bus)
        command = move((await bus.table(game)).room, "my-command")
        await bus.submit(game, command)
    async with running(disk) as bus:
        room, events = await bus.submit(game, command)
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


async def test_a_flag_ends_a_game_with_nobody_there(bus: Bus, disk: Disk) -> None:
    game = await new(bus, "1+0")
    await play(bus, game)
    await play(bus, game)
    started = time.monotonic()
    assert await ended(await bus.table(game)) == Result(WHITE, "time")
    assert time.monotonic() - started > 0.9
    assert create(game, disk.load(game)[0]).status == "over"
    assert disk.flags() == []


async def test_a_flag_that_fell_while_the_server_was_down_ends_the_game(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as bus:
        late, fresh = await new(bus, "60+0"), await new(bus, "9000+0")
        for game in (late, fresh):
            await play(bus, game)
            await play(bus, game)
    clock.ahead += 3_600_000
    async with running(disk, clock) as bus:
        # Nobody asks for the game: the bus itself must look.
        await until(lambda: late in bus._tables)
        assert await ended(await bus.table(late)) == Result(WHITE, "time")
        assert (await bus.table(fresh)).room.status == "playing"


async def test_a_clock_goes_on_while_the_server_is_down(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as bus:
        game = await new(bus, "60+0")
        await play(bus, game)
        await play(bus, game)
    clock.ahead += 20_000
    async with running(disk, clock) as bus:
        room = (await bus.table(game)).room
        assert 38_000 < room.clock.left(BLACK, BLACK, clock()) <= 40_000


async def test_a_move_puts_the_flag_off(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as bus:
        game = await new(bus, "60+0")
        await play(bus, game)
        await play(bus, game)
        for seconds in (50, 20, 5):
            clock.ahead += 1000 * seconds
            room = await play(bus, game)
        # Black's first flag would have fallen by now, and has been looked at.
        await until(lambda: bus._flags[0][0] > clock())
        assert room.clock.left(BLACK, WHITE, clock()) in range(4_000, 5_001)
        assert (await bus.table(game)).room.status == "playing"


@pytest.mark.parametrize("failing", ["commit", "load"])
async def test_a_flag_that_falls_while_the_disk_fails_ends_the_game_later(
    disk: Disk, failing: str
) -> None:
    clock = Time()
    async with running(disk, clock) as bus:
        game = await new(bus, "60+0")
        await play(bus, game)
        await play(bus, game)
    clock.ahead += 3_600_000
    (disk.failures if failing == "commit" else disk.loads).append(DISK_FULL)
    async with running(disk, clock) as bus:
        await until(lambda: not disk.failures and not disk.loads)
        await asyncio.sleep(0.05)
        table = await bus.table(game)
        assert await ended(table) == Result(WHITE, "time")


# --- Watching -------------------------------------------------------------------------------


async def test_a_watcher_gets_every_event_in_order(bus: Bus) -> None:
    game = await new(bus)
    watcher = bus.watch(await bus.table(game), frozenset())
    for _ in range(6):
        await play(bus, game)
    numbers = []
    while not watcher.queue.empty():
        news = watcher.queue.get_nowait()
        assert news is not None
        numbers += [event.number for event in news[1]]
    assert numbers == [2, 3, 4, 5, 6, 7]


async def test_old_games_are_cleared_from_memory_too_unless_somebody_watches(bus: Bus) -> None:
    watched, left = await new(bus), await new(bus)
    bus.watch(await bus.table(watched), frozenset())
    await bus.clear(bus.now() + 1, ["playing"])
    assert (await bus.table(watched)).room.id == watched
    with pytest.raises(RoomError):
        await bus.table(left)


async def test_a_young_game_is_not_cleared(bus: Bus) -> None:
    game = await new(bus)
    await bus.clear(bus.now() - 1000, ["playing"])
    assert (await bus.table(game)).room.id == game


async def test_old_studies_are_cleared_and_young_ones_are_not(bus: Bus) -> None:
    bus.store.keep_study("old", "a" * 64, 1000, "record")
    bus.store.keep_study("new", "a" * 64, 3000, "record")
    await bus.clear_studies(2000)
    assert bus.store.study("old") is None
    assert bus.store.study("new") is not None


async def test_whoever_sits_down_is_not_away_since_the_seat_was_free(disk: Disk) -> None:
    moment = 1_000_000
    async with running(disk, lambda: moment) as bus:
        seats = {BLACK: Seat("person", "Ann"), WHITE: Seat("open")}
        first = set_up(Layout.shuffled(1), Control.parse("300+5"), seats, bus.now())
        table = await bus.table((await bus.create(first, HOLDERS[:1])).id)
        assert bus.absent_since(table, WHITE) is None
        moment += 600_000
        await bus.submit(table.room.id, Command("join", data={"name": "Bob"}), HOLDERS[1:])
        assert bus.absent_since(table, WHITE) == moment


async def test_a_watcher_that_does_not_read_is_cut_off_and_holds_nobody_up(bus: Bus) -> None:
    game = await new(bus)
    table = await bus.table(game)
    deaf, keen = bus.watch(table, frozenset()), bus.watch(table, frozenset())
    heard = 0
    for _ in range(QUEUE_LIMIT):
        await play(bus, game)
        await bus.submit(game, Command("offer", frozenset({BLACK}), {"what": "takeback"}))
        await bus.submit(game, Command("accept", frozenset({WHITE}), {"what": "takeback"}))
        while not keen.queue.empty():
            assert keen.queue.get_nowait() is not None
            heard += 1
    assert heard >= 2 * QUEUE_LIMIT
    assert table.watchers == {keen}
    assert deaf.queue.get_nowait() is None
    assert deaf.queue.empty()


async def test_a_listener_hears_of_every_game(bus: Bus) -> None:
    heard = []

    async def listen(room: Room, events: object) -> None:
        del events
        heard.append((room.id, room.number))

    bus.listeners.append(listen)
    game = await new(bus)
    await play(bus, game)
    await until(lambda: len(heard) == 2)
    assert heard == [(game, 1), (game, 2)]


async def test_who_has_left_is_known_and_since_when(disk: Disk) -> None:
    clock = Time()
    async with running(disk, clock) as bus:
        table = await bus.table(await new(bus, "600+0"))
        ann = bus.watch(table, frozenset({BLACK}))
        second_tab = bus.watch(table, frozenset({BLACK}))
        assert bus.absent_since(table, BLACK) is None
        bus.leave(table, second_tab)
        assert bus.absent_since(table, BLACK) is None
        bus.leave(table, ann)
        gone = bus.absent_since(table, BLACK)
        assert gone is not None
        clock.ahead += 60_000
        assert bus.absent_since(table, BLACK) == gone
        bus.leave(table, bus.watch(table, frozenset({BLACK})))
        again = bus.absent_since(table, BLACK)
        assert again is not None
        assert again >= gone + 60_000


async def test_the_computer_is_never_away(bus: Bus) -> None:
    seats = {BLACK: Seat("person"), WHITE: Seat("computer", "", 1)}
    table = await bus.table(await new(bus, seats=seats))
    assert bus.present(table, WHITE)
    assert bus.absent_since(table, WHITE) is None
    assert not bus.present(table, BLACK)


async def test_games_that_are_forgotten_leave_nothing_behind(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_module, "ROOMS_IN_MEMORY", 2)
    for _ in range(10):
        table = await bus.table(await new(bus))
        bus.absent_since(table, BLACK)
        bus.leave(table, bus.watch(table, frozenset({WHITE})))
    assert len(bus._tables) <= 2
    assert len(bus._left) <= 4


async def test_those_who_watch_are_told_who_comes_and_goes(bus: Bus) -> None:
    table = await bus.table(await new(bus))
    watcher = bus.watch(table, frozenset())
    watcher.queue.get_nowait()
    other = bus.watch(table, frozenset({BLACK}))
    assert watcher.queue.get_nowait() == (table.room, ())
    bus.leave(table, other)
    assert watcher.queue.get_nowait() == (table.room, ())


def test_a_storage_error_has_a_code_that_the_page_knows() -> None:
    assert StorageError().code == "storage"
