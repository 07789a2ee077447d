"""Commands in, events out: rooms in memory, one writer, and those who watch.

A command is decided at once against the newest room, committed or not, and joins the next batch.
One thread commits a batch while the next one gathers, so many games share one sync of the disk.
Only then is the command acknowledged and its events are published. Where a commit fails, every
command that waited for it fails, and the rooms stand where they stood.
"""

import asyncio
import contextlib
import heapq
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from kamon.position import Side
from kamon.web import rooms
from kamon.web.rooms import Command, Event, Room, RoomError
from kamon.web.store import Change, Store

ROOMS_IN_MEMORY: Final = 5_000
BATCH_LIMIT: Final = 256
# A move that comes alone is written at once. Where many come, a commit waits until so many seconds
# after the one before, and takes more of them along: nobody feels it, and there is far less to do.
PACE: Final = 0.016
# A watcher that does not read is cut off: it gets what it missed when it comes back.
QUEUE_LIMIT: Final = 64
# A flag that falls while nothing can be written falls again so many milliseconds later.
_FLAG_RETRY: Final = 1_000

_log = logging.getLogger(__name__)


class StorageError(RoomError):
    """The disk or the database has refused; nothing has changed."""

    def __init__(self) -> None:
        super().__init__("storage", "the server cannot write at the moment; nothing has changed")


# A side, and the hashed secret of somebody who may play for it.
Holder = tuple[Side, str]


@dataclass(slots=True)
class Table:
    """A room in memory with who holds its seats and who watches it."""

    room: Room
    holders: list[Holder]
    events: list[Event]
    watchers: set["Watcher"] = field(default_factory=set)
    # The room with decided events that are not committed yet, and how many commits it waits for.
    pending: Room | None = None
    waiting: int = 0

    @property
    def newest(self) -> Room:
        """The room that the next command is decided against."""
        return self.pending or self.room


@dataclass(slots=True, eq=False)
class Watcher:
    """One page's queue of what happens to a game; ``sides`` are those that it plays for."""

    sides: frozenset[Side]
    queue: "asyncio.Queue[tuple[Room, Sequence[Event]] | None]" = field(
        default_factory=lambda: asyncio.Queue(QUEUE_LIMIT)
    )


_Promise = asyncio.Future[tuple[Room, Sequence[Event]]]


@dataclass(slots=True, eq=False)
class _Job:
    table: Table
    change: Change
    room: Room
    done: _Promise


Listener = Callable[[Room, Sequence[Event]], Awaitable[None]]


class Bus:
    """All rooms of one server. Made and used inside one event loop."""

    def __init__(self, store: Store, now: Callable[[], int] | None = None) -> None:
        self.store = store
        self.now = now or (lambda: time.time_ns() // 1_000_000)
        self.listeners: list[Listener] = []
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Table | None]] = {}
        self._jobs: list[_Job] = []
        self._wake = asyncio.Event()
        self._flags: list[tuple[int, str]] = []
        self._flag_wake = asyncio.Event()
        # Who has left a game, and when: side by side for each game.
        self._left: dict[tuple[str, Side], int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Bus"]:
        """Write, and watch the clocks, until the server ends."""
        self._flags = await asyncio.to_thread(self.store.flags)
        heapq.heapify(self._flags)
        self._tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._watch_flags())]
        try:
            yield self
        finally:
            # What has been decided is still written: an acknowledged move is never lost, and one
            # that is under way need not be.
            while self._jobs:
                self._wake.set()
                await asyncio.sleep(0.005)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- Rooms ---

    async def table(self, game: str) -> Table:
        """Return a game's table, from memory or from the store."""
        table = self._tables.get(game)
        if table is None:
            task = self._loading.get(game)
            if task is None:
                task = self._loading[game] = asyncio.create_task(self._load(game))
            try:
                table = await asyncio.shield(task)
            except (SQLAlchemyError, OSError):
                _log.exception("game %s could not be read", game)
                raise StorageError from None
        if table is None:
            raise RoomError("no-such-game", "there is no such game")
        if game in self._tables:
            self._tables.move_to_end(game)
        return table

    async def _load(self, game: str) -> Table | None:
        try:
            events, holders = await asyncio.to_thread(self.store.load, game)
            if not events:
                return None
            table = Table(rooms.create(game, events), holders, events)
            self._tables[game] = table
            self._forget_old()
            return table
        finally:
            self._loading.pop(game, None)

    def _forget_old(self) -> None:
        """Drop the rooms that nobody has asked for longest; the store has them."""
        # The newest has just been asked for.
        for game in list(self._tables)[:-1]:
            if len(self._tables) <= ROOMS_IN_MEMORY:
                break
            self._forget(game)

    def _forget(self, game: str) -> None:
        """Drop a room from memory, unless somebody watches it or something waits to be written."""
        table = self._tables[game]
        if not table.watchers and not table.waiting:
            del self._tables[game]
            for side in Side:
                self._left.pop((game, side), None)

    async def clear(self, before: int, statuses: Sequence[str]) -> None:
        """Remove games that have not changed since a moment, unless somebody looks at them now."""
        try:
            old = await asyncio.to_thread(self.store.unchanged_since, before, statuses)
            for game in old:
                if game in self._tables:
                    self._forget(game)
            await asyncio.to_thread(
                self.store.remove, [game for game in old if game not in self._tables]
            )
        except SQLAlchemyError:
            _log.exception("old games could not be cleared")

    async def clear_studies(self, before: int) -> None:
        """Remove studies and reviews that have not changed since a moment."""
        try:
            await asyncio.to_thread(self.store.remove_studies, before)
            await asyncio.to_thread(self.store.remove_reviews, before)
        except SQLAlchemyError:
            _log.exception("old studies could not be cleared")

    async def create(self, first: Event, holders: Sequence[Holder]) -> Room:
        """Open a new game."""
        return (await asyncio.shield(self._open(new_id(), first, holders)))[0]

    def _open(self, game: str, first: Event, holders: Sequence[Holder]) -> _Promise:
        room = rooms.create(game, [first])
        table = Table(room, [], [], pending=room)
        self._tables[game] = table
        self._forget_old()
        return self._enqueue(table, room, (first,), holders)

    async def submit(
        self,
        game: str,
        command: Command,
        holders: Sequence[Holder] = (),
        sequel: Callable[[], tuple[Event, Sequence[Holder]]] | None = None,
    ) -> tuple[Room, Sequence[Event]]:
        """Obey a command; return when what follows from it is on the disk.

        Where it makes a rematch, ``sequel`` sets the next game up, which is written before it.
        A command whose id has been obeyed before changes nothing and is acknowledged again.
        """
        table = await self.table(game)
        if command.id is not None and command.id in table.newest.commands:
            if command.id not in table.room.commands:
                await self._settled(table)
            if command.id not in table.room.commands:
                raise StorageError
            return table.room, ()
        before, room, events = rooms.step(table.newest, command, self.now())
        if not events:
            return table.room, ()
        if sequel is not None and room.next_id is not None and before.next_id is None:
            self._open(room.next_id, *sequel())
        table.pending = room
        return await asyncio.shield(self._enqueue(table, room, events, holders))

    @staticmethod
    async def _settled(table: Table) -> None:
        """Wait until what is under way for a table is written, or has failed."""
        while table.waiting:  # noqa: ASYNC110 - the same command twice at once is rare
            await asyncio.sleep(0.001)

    def _enqueue(
        self, table: Table, room: Room, events: Sequence[Event], holders: Sequence[Holder]
    ) -> _Promise:
        flag = room.clock.flag(room.turn) if room.turn is not None else None
        change = Change(room.id, events, room.status, room.listed, flag, holders)
        done: _Promise = asyncio.get_running_loop().create_future()
        table.waiting += 1
        self._jobs.append(_Job(table, change, room, done))
        self._wake.set()
        return done

    # --- Writing ---

    async def _write(self) -> None:
        earliest = 0.0
        while True:
            await self._wake.wait()
            await asyncio.sleep(earliest - time.monotonic())
            earliest = time.monotonic() + PACE
            batch = self._jobs[:BATCH_LIMIT]
            if not batch:
                self._wake.clear()
                continue
            if not await self._written(batch) and len(batch) > 1:
                # One that cannot be written must not spoil the others: try them one by one.
                for job in batch:
                    if job in self._jobs and not await self._written([job]):
                        self._fail(job)
            elif batch[0] in self._jobs:
                self._fail(batch[0])

    async def _written(self, batch: Sequence[_Job]) -> bool:
        """Commit some jobs and publish them; all of them or none."""
        try:
            await asyncio.to_thread(self.store.commit, [job.change for job in batch])
        except Exception:  # noqa: BLE001 - whatever it was, the writer must live on
            _log.warning("%s commands could not be written", len(batch), exc_info=True)
            return False
        self._jobs = [job for job in self._jobs if job not in batch]
        for job in batch:
            await self._publish(job)
        return True

    def _fail(self, first: _Job) -> None:
        """Undo what was decided. Later commands of the same game rest on it, and fail as well."""
        game = first.change.game
        failed = [job for job in self._jobs if job.change.game == game]
        self._jobs = [job for job in self._jobs if job.change.game != game]
        for job in failed:
            job.table.pending = None
            job.table.waiting -= 1
            if not job.done.done():
                job.done.set_exception(StorageError())
                # Somebody may wait for it, or nobody; it has been told in the log.
                job.done.exception()
        if failed[0].change.events[0].number == 1:
            self._tables.pop(game, None)

    async def _publish(self, job: _Job) -> None:
        table, room, events = job.table, job.room, job.change.events
        table.room = room
        table.events.extend(events)
        table.holders.extend(job.change.holders)
        table.waiting -= 1
        if not table.waiting:
            table.pending = None
        if not job.done.done():
            job.done.set_result((room, events))
        for event in events:
            if event.kind == "joined":
                # Whoever sits down is not away since the seat was free.
                self._left.pop((room.id, Side(event.data["side"])), None)
        if job.change.flag is not None:
            heapq.heappush(self._flags, (job.change.flag, room.id))
            self._flag_wake.set()
        for watcher in list(table.watchers):
            self._send(table, watcher, (room, events))
        for listener in self.listeners:
            await listener(room, events)

    # --- Watching ---

    @staticmethod
    def _send(table: Table, watcher: Watcher, news: tuple[Room, Sequence[Event]] | None) -> None:
        try:
            watcher.queue.put_nowait(news)
        except asyncio.QueueFull:
            table.watchers.discard(watcher)
            while not watcher.queue.empty():
                watcher.queue.get_nowait()
            watcher.queue.put_nowait(None)

    def watch(self, table: Table, sides: frozenset[Side]) -> Watcher:
        """Begin to watch a game. The caller reads the queue until it says None."""
        watcher = Watcher(sides)
        table.watchers.add(watcher)
        for side in sides:
            self._left.pop((table.room.id, side), None)
        self._tell_presence(table)
        return watcher

    def leave(self, table: Table, watcher: Watcher) -> None:
        """Stop watching."""
        table.watchers.discard(watcher)
        for side in watcher.sides:
            if not self.present(table, side):
                self._left[table.room.id, side] = self.now()
        self._tell_presence(table)
        self._forget_old()

    def present(self, table: Table, side: Side) -> bool:
        """Tell whether somebody who plays for a side has the game open."""
        if table.room.seat(side).kind == "computer":
            return True
        return any(side in watcher.sides for watcher in table.watchers)

    def absent_since(self, table: Table, side: Side) -> int | None:
        """Tell since when nobody has been there for a side; since our first look at the latest.

        A seat that nobody has taken yet is not left by anybody.
        """
        if self.present(table, side) or table.room.seat(side).kind == "open":
            return None
        return self._left.setdefault((table.room.id, side), self.now())

    def _tell_presence(self, table: Table) -> None:
        for watcher in list(table.watchers):
            self._send(table, watcher, (table.room, ()))

    # --- Clocks ---

    async def _watch_flags(self) -> None:
        """End games at the flag, whether anybody is there or not."""
        while True:
            self._flag_wake.clear()
            delay = (self._flags[0][0] - self.now()) / 1000 if self._flags else None
            if delay is None or delay > 0:
                # Not wait_for, which on Python 3.11 can swallow the end of the server.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await self._flag_wake.wait()
                continue
            _, game = heapq.heappop(self._flags)
            # A flag that a move has put off is no longer due, and the room says so.
            try:
                await self.submit(game, Command("flag"))
            except StorageError:
                heapq.heappush(self._flags, (self.now() + _FLAG_RETRY, game))
            except RoomError:
                _log.info("game %s is gone, and its flag with it", game)


def new_id() -> str:
    """Make the public name of a game: 60 random bits."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    return "".join(secrets.choice(alphabet) for _ in range(12))
