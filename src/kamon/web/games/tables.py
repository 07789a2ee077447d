"""The games in memory: those that somebody plays or watches, and the latest of the others."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from kamon.position import Side
from kamon.web.errors import ApiError, cause_of, storage_failed
from kamon.web.games import rooms
from kamon.web.games.rooms import Event, Room
from kamon.web.games.store import Games, Holder
from kamon.web.logs import Seldom

ROOMS_IN_MEMORY: Final = 5_000
# How many games that cannot be forgotten are passed over in one go.
TRIM_STEPS: Final = 20
# A watcher that does not read is cut off: it gets what it missed when it comes back.
QUEUE_LIMIT: Final = 64

_log = logging.getLogger(__name__)
_unread = Seldom()

# A room as some events have left it, and those events. None: this watcher has been cut off.
News = tuple[Room, Sequence[Event]] | None


class NewsQueue:
    """What one page has yet to be told. Hardly takes memory while that is nothing.

    Nobody waits for it: it calls ``wake`` when something comes.
    """

    __slots__ = ("_news", "wake")

    def __init__(self) -> None:
        self._news: list[News] = []
        self.wake: Callable[[], None] | None = None

    def put_nowait(self, news: News) -> None:
        """Add what has happened, or raise ``asyncio.QueueFull``."""
        if len(self._news) >= QUEUE_LIMIT:
            raise asyncio.QueueFull
        self._news.append(news)
        if self.wake is not None:
            self.wake()

    def get_nowait(self) -> News:
        """Take what has happened first."""
        return self._news.pop(0)

    def qsize(self) -> int:
        """Count what is there."""
        return len(self._news)

    def empty(self) -> bool:
        """Tell whether there is nothing."""
        return not self._news


@dataclass(slots=True, eq=False)
class Watcher:
    """One page's queue of what happens to a game; ``sides`` are those that it plays for."""

    sides: frozenset[Side]
    holder: str | None = None
    queue: NewsQueue = field(default_factory=NewsQueue)


class Encoded:
    """What was written for one watcher of a table, for the others who may see the same.

    Clocks run, and people come and go, so it is good for a moment only.
    """

    GOOD_FOR: Final = 100

    def __init__(self) -> None:
        self._texts: dict[object, tuple[int, str]] = {}

    def get(self, key: object, now: int) -> str | None:
        """Return a text that was written just now."""
        written, text = self._texts.get(key, (0, ""))
        return text if now - written < self.GOOD_FOR else None

    def put(self, key: object, now: int, text: str) -> None:
        """Keep a text, in place of those that are too old."""
        self._texts = {
            each: kept for each, kept in self._texts.items() if now - kept[0] < self.GOOD_FOR
        }
        self._texts[key] = now, text

    def clear(self) -> None:
        """Forget everything: somebody has come or gone."""
        self._texts.clear()


@dataclass(slots=True)
class Table:
    """A room in memory with who holds its seats and who watches it."""

    room: Room
    holders: list[Holder]
    events: list[Event]
    watchers: set[Watcher] = field(default_factory=set)
    # The room with decided events that are not committed yet, and how many commits it waits for.
    pending: Room | None = None
    waiting: int = 0
    # After a failed commit nobody knows what the database holds: look before going on.
    doubtful: bool = False
    encoded: Encoded = field(default_factory=Encoded)

    @property
    def newest(self) -> Room:
        """The room that the next command is decided against."""
        return self.pending or self.room


class Tables:
    """All rooms of one server that are in memory. Used inside one event loop."""

    def __init__(self, games: Games, forgotten: Callable[[str], None]) -> None:
        self._games = games
        self._forgotten = forgotten
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Table | None]] = {}

    def __contains__(self, game: str) -> bool:
        return game in self._tables

    def __len__(self) -> int:
        return len(self._tables)

    async def get(self, game: str) -> Table:
        """Return a game's table, from memory or from the database."""
        table = self._tables.get(game)
        if table is None:
            task = self._loading.get(game)
            if task is None:
                task = self._loading[game] = asyncio.create_task(self._load(game))
            try:
                table = await asyncio.shield(task)
            except (SQLAlchemyError, OSError) as error:
                if _unread.is_due():
                    _log.error("game %s cannot be read: %s", game, cause_of(error))
                raise storage_failed() from None
        if table is None:
            raise ApiError("no-such-game")
        if game in self._tables:
            self._tables.move_to_end(game)
        return table

    async def _load(self, game: str) -> Table | None:
        try:
            events, holders = await asyncio.to_thread(self._games.load, game)
            if not events:
                return None
            known = self._tables.get(game)
            if known is not None:
                # Several games were loaded together meanwhile, and this one was among them.
                return known
            table = Table(rooms.create(game, events), holders, events)
            self.add(table)
            return table
        finally:
            self._loading.pop(game, None)

    def add(self, table: Table) -> None:
        """Keep a table, and forget those that nobody has asked for longest."""
        self._tables[table.room.id] = table
        self.trim()

    def trim(self) -> None:
        """Forget what is beyond the limit; the database has it. Takes a few steps at a time."""
        beyond = len(self._tables) - ROOMS_IN_MEMORY
        if beyond <= 0:
            return
        # The newest has just been asked for.
        newest = next(reversed(self._tables))
        for _ in range(min(beyond + TRIM_STEPS, len(self._tables))):
            game = next(iter(self._tables))
            # One that must stay is not looked at again before all others.
            self._tables.move_to_end(game)
            if game != newest:
                self.forget(game)
            if len(self._tables) <= ROOMS_IN_MEMORY:
                return

    def forget(self, game: str) -> None:
        """Drop a room from memory, unless somebody watches it or something waits to be written."""
        table = self._tables.get(game)
        if table is not None and not table.watchers and not table.waiting:
            self.drop(game)

    def drop(self, game: str) -> None:
        """Drop a room from memory, whatever happens there."""
        self._tables.pop(game, None)
        self._forgotten(game)

    def loaded(self, game: str) -> Table | None:
        """Return a table if it is in memory."""
        return self._tables.get(game)

    def watched(self) -> list[Table]:
        """List the tables that somebody watches."""
        return [table for table in self._tables.values() if table.watchers]
