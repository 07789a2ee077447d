"""Keeps the games in memory in step with what other servers do to them.

Hints from the other servers say where to look (cluster/news.py). Besides, a look at all games that
somebody watches, once a second, finds whatever no hint has told of.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any, Final

from kamon.web.cluster import news
from kamon.web.cluster.gossip import Gossip
from kamon.web.cluster.members import BEAT, Members
from kamon.web.cluster.news import Hint, Listener
from kamon.web.errors import ApiError
from kamon.web.games.attendance import Attendance
from kamon.web.games.desk import Desk
from kamon.web.games.people import People
from kamon.web.games.rooms import Command, Event
from kamon.web.games.tables import Table
from kamon.web.limits import Budgets
from kamon.web.memory import ServerMemory
from kamon.web.metrics import Metrics
from kamon.web.server_time import ServerTime
from kamon.web.writer import Writer

# Seconds between two looks at everything, and how many games one look asks for at a time.
LOOK_EVERY: Final = 1.0
LOOKED_AT_ONCE: Final = 500
# Every so many looks also find out who is there and who holds the seats.
_THOROUGH_EVERY: Final = 10
# Seconds in which several people who come and go are told together.
_TELL_EVERY: Final = 0.1
# Milliseconds after which any server ends a game whose clock has run out. Until then the server on
# which the last move was made does it.
_FLAG_PATIENCE: Final = 250
_FLAGS_AT_ONCE: Final = 100
_PART: Final = "catching up"
# What a server writes to find out whether the database can be written again.
_WRITABLE: Final = "writable"

_log = logging.getLogger(__name__)


class Following:
    """What one server does to know what the others do."""

    def __init__(  # noqa: PLR0913 - the parts of a server that others have a say in
        self,
        desk: Desk,
        members: Members,
        people: People,
        budgets: Budgets,
        memory: ServerMemory,
        notes: Writer,
        *,
        now: ServerTime,
        metrics: Metrics,
    ) -> None:
        self._desk = desk
        self._memory = memory
        self.members = members
        self._people = people
        self._now = now
        self._health = desk.health
        self._gossip = Gossip(notes, members, budgets)
        self._metrics = metrics
        self.attendance = Attendance(notes, members.id, desk.presence, now)
        # When the next clock runs out, as far as we know.
        self._next_flag: int | None = None
        # Is called when a game waits for the computer.
        self.wants_thought: Callable[[], None] = lambda: None
        self._behind: set[str] = set()
        self._attended: set[str] = set()
        self._reseated: set[str] = set()
        self._wake = asyncio.Event()
        self._looks = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the others until the server ends, and take leave of them."""
        database = self._desk.writer.database
        listener = Listener(
            database, self.members.id, self.hear, self._look_everywhere, self._health
        )
        await self._beat()
        tasks = [
            self._begin("following", self._catch_up()),
            self._begin("looking", self._health.repeat("looking", self.look, LOOK_EVERY)),
            self._begin("alive", self._health.repeat("alive", self._beat, BEAT)),
            self._begin(
                "presence", self._health.repeat("presence", self.attendance.tell, _TELL_EVERY)
            ),
        ]
        listener.start()
        try:
            yield
        finally:
            await asyncio.to_thread(listener.close)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(ApiError):
                await self.members.leave()

    def _begin(self, part: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._health.watch(part, asyncio.create_task(work))

    # --- Hints ---

    def hear(self, hints: Iterable[Hint]) -> None:
        """Take hints: look soon at the games that are in memory."""
        for hint in hints:
            if hint.what == news.THOUGHT:
                self.wants_thought()
                continue
            table = self._desk.tables.loaded(hint.game)
            if table is None:
                continue
            if hint.what == news.PRESENCE:
                self._attended.add(hint.game)
            elif hint.number is None:
                self._reseated.add(hint.game)
            elif hint.number > table.room.number:
                self._behind.add(hint.game)
        if self._behind or self._attended or self._reseated:
            self._wake.set()

    def _look_everywhere(self) -> None:
        """Look at everything: nobody knows which hints were lost."""
        watched = {table.room.id for table in self._desk.tables.watched()}
        self._behind |= watched
        self._reseated |= watched
        self._attended |= watched
        self._wake.set()
        self.wants_thought()

    async def _catch_up(self) -> None:
        """Load what is new in the games that are behind, many at a time."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            behind, self._behind = self._behind, set()
            attended, self._attended = self._attended, set()
            reseated, self._reseated = self._reseated, set()
            try:
                await self._load(self._loaded(behind | reseated), reseated)
                for some in _parts(self._loaded(attended)):
                    await self.attendance.look(some)
                self._health.clear(_PART)
            except Exception as error:  # noqa: BLE001 - the database may be away for a while
                if _PART not in self._health.problems:
                    _log.warning("cannot follow other servers: %s", type(error).__name__)
                self._health.note(_PART, type(error).__name__)
                self._behind |= behind
                self._attended |= attended
                self._reseated |= reseated
                await asyncio.sleep(LOOK_EVERY)
                self._wake.set()

    def _loaded(self, games: Iterable[str]) -> list[Table]:
        tables = (self._desk.tables.loaded(game) for game in games)
        return [table for table in tables if table is not None]

    async def _load(self, tables: Sequence[Table], seats: Collection[str] = ()) -> None:
        """Load what is new at some tables, and who sits at those whose seats have changed."""
        games = self._desk.games
        for some in _parts(tables):
            after = {table.room.id: table.room.number for table in some}
            found = await asyncio.to_thread(games.load_newer, after)
            changed = {game for game in after if game in seats or _has_joined(found[game])}
            held = await asyncio.to_thread(games.load_holders, changed) if changed else {}
            for table in some:
                game = table.room.id
                try:
                    await self._desk.take_in(table, found[game], held.get(game))
                except Exception as error:  # noqa: BLE001 - the others must be followed
                    _log.exception("game %s cannot be followed", game)
                    self._health.note(f"game {game}", type(error).__name__)

    # --- Looking ---

    async def look(self) -> None:
        """Look at the games that somebody watches, and at the clocks that have run out."""
        watched = self._desk.tables.watched()
        self._looks += 1
        if self._looks % _THOROUGH_EVERY == 0:
            self._look_everywhere()
        else:
            await self._load(await self._find_behind(watched))
        await self._end_overdue()

    async def _find_behind(self, tables: Sequence[Table]) -> list[Table]:
        """Find the games that another server has changed, and no hint has told us."""
        behind = []
        for some in _parts(tables):
            names = [table.room.id for table in some]
            numbers = await asyncio.to_thread(self._desk.games.numbers, names)
            behind += [table for table in some if numbers.get(table.room.id, 0) > table.room.number]
        self._metrics.lost_notifications.inc(len(behind))
        return behind

    async def _end_overdue(self) -> None:
        """End games whose clock has run out, and whose own server has not ended them."""
        due = self._now() - _FLAG_PATIENCE
        if self._desk.paused or self._next_flag is None or self._next_flag > due:
            return
        overdue = await asyncio.to_thread(self._desk.games.overdue, due, _FLAGS_AT_ONCE)
        for game in overdue:
            try:
                await self._desk.submit(game, Command("flag"))
            except ApiError:
                continue
            except Exception as error:  # noqa: BLE001 - the others must end
                _log.exception("the flag of game %s cannot fall", game)
                self._health.note(f"game {game}", type(error).__name__)

    async def _beat(self) -> None:
        """Note that we are alive. After the database was away, put the clocks right first."""
        try:
            if self._desk.paused:
                async with self._desk.writer.database.starting_alone():
                    # Moves are written on another connection than heartbeats.
                    await self._memory.keep(_WRITABLE, str(self._now()))
                    await self._give_time_back()
                    await self._note_alive()
            else:
                await self._note_alive()
        except Exception:
            self._desk.paused = True
            raise
        if self._desk.paused:
            self._desk.paused = False
            self._tell_everything()

    def _tell_everything(self) -> None:
        """Tell the others who is here, and look at what they have done: some may have been lost."""
        for table in self._desk.tables.watched():
            self.attendance.note(table)
        self._look_everywhere()

    async def _give_time_back(self) -> None:
        """Give players the time back for which no server had reached the database.

        Servers do this one after the other, and the first one to do it counts as alive then.
        """
        away = await self._memory.time_away(self._now())
        if away:
            flags = await asyncio.to_thread(self._desk.games.flags)
            await self._desk.resume([game for _, game in flags], away)

    async def _note_alive(self) -> None:
        beat = await self.members.beat(self._people.count_here())
        # Half of the time that it took to ask has passed since.
        self._now.correct(beat.now + int(beat.took * 500))
        self._people.elsewhere = self.members.people_elsewhere
        self._next_flag = beat.next_flag
        if beat.has_work:
            self.wants_thought()
        if beat.anew:
            # The others had given us up: we may have been stopped for a while.
            self._tell_everything()
        if beat.missing:
            self._look_everywhere()
        await self._gossip.exchange(beat)


def _has_joined(events: Iterable[Event]) -> bool:
    return any(event.kind == "joined" for event in events)


def _parts(tables: Sequence[Table]) -> list[Sequence[Table]]:
    return [
        tables[start : start + LOOKED_AT_ONCE] for start in range(0, len(tables), LOOKED_AT_ONCE)
    ]
