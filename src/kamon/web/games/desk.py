"""Where commands come in and events go out.

A command is decided at once against the newest room, committed or not, and joins the next commit.
Only when that is on the disk is the command acknowledged and its events are published. Where
another server has changed the game first, its events are loaded and the command is decided again.
"""

import asyncio
import contextlib
import logging
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from kamon.layout import SEED_LIMIT, Layout
from kamon.position import Side
from kamon.web.cluster import news
from kamon.web.cluster.news import Hint
from kamon.web.errors import ApiError, storage_failed
from kamon.web.games import rooms, store
from kamon.web.games.commits import BATCH_LIMIT, Commits, Conflict, Done, Part
from kamon.web.games.flags import Flags
from kamon.web.games.presence import Presence
from kamon.web.games.rooms import Command, Event, Room
from kamon.web.games.store import Games, Holder
from kamon.web.games.tables import Table, Tables, Watcher
from kamon.web.health import Health
from kamon.web.ids import new_id
from kamon.web.writer import CLEARED_AT_ONCE, CLEARING_PAUSE, Writer

# How often a command is decided again because another server was faster, and how many seconds pass
# before each try, at most.
TRIES: Final = 12
_TRY_PAUSE: Final = 0.01
# A flag that falls while nothing can be written falls again so many milliseconds later.
_FLAG_RETRY: Final = 1_000
_LISTENERS: Final = "listeners"

_log = logging.getLogger(__name__)

Listener = Callable[[Room, Sequence[Event]], Awaitable[None]]


class Desk:
    """All games of one server. Made and used inside one event loop."""

    def __init__(
        self,
        games: Games,
        writer: Writer,
        now: Callable[[], int],
        health: Health | None = None,
        server: str | None = None,
    ) -> None:
        self.games = games
        # Our name among the servers that share the database, if it is shared.
        self.server = server
        self.writer = writer
        self.now = now
        self.listeners: list[Listener] = []
        self.health = health or Health()
        self.presence = Presence(now)
        self.tables = Tables(games, self.presence.forget)
        self.flags = Flags(now)
        self.commits = Commits(writer, self._publish, self._undo, server, self.health)
        # True while a shared database is away: until clocks are put right, nobody may run out.
        self.paused = False
        # Is called whenever another server was faster.
        self.met_conflict: Callable[[], None] = lambda: None

    @contextlib.asynccontextmanager
    async def running(self, away: int = 0) -> AsyncIterator["Desk"]:
        """Commit, and watch the clocks, until the server ends.

        ``away`` is for how long the server was down: that time is given back to the players.
        """
        flags = await asyncio.to_thread(self.games.flags)
        if self.server is None:
            # On a shared database every server looks for clocks that have run out.
            self.flags.put_all((due + away, game) for due, game in flags)
        tasks = [self.health.watch("commits", asyncio.create_task(self.commits.run()))]
        if away:
            # Before anybody is served: until then a clock shows the time of the downtime as used.
            await self.resume([game for _, game in flags], away)
        tasks.append(self.health.watch("flags", asyncio.create_task(self._watch_flags())))
        try:
            yield self
        finally:
            # What has been decided is still written: an acknowledged move is never lost, and one
            # that is under way need not be.
            await self.commits.finish()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # --- Commands ---

    async def table(self, game: str, after: int = 0) -> Table:
        """Return a game's table, from memory or from the database.

        Somebody who has seen event ``after``, perhaps at another server, is not shown less.
        """
        table = await self.tables.get(game)
        if self.server is None:
            return table
        followed = bool(table.watchers or table.waiting)
        if not followed or after > table.room.number:
            await self._catch_up(table)
            # From the beginning, if it seems to have been cleared away.
            return await self.tables.get(game)
        return table

    async def newest(self, game: str) -> Table:
        """Return a game's table as the database has it now, also where somebody follows it."""
        table = await self.tables.get(game)
        if self.server is not None:
            await self._catch_up(table)
        return table

    async def several(self, games: Sequence[str]) -> list[Table]:
        """Return the tables of several games; one that is gone or cannot be read is left out."""
        if self.server is not None:
            try:
                await self._load_together(games)
            except SQLAlchemyError:
                raise
            except Exception:  # noqa: BLE001 - it is looked for below, one by one
                _log.debug("one of several games cannot be read")
        tables = []
        for game in games:
            try:
                tables.append(await self.tables.get(game))
            except ApiError:
                continue
            except Exception as error:  # noqa: BLE001 - the others must be shown
                self._note_unreadable(game, error)
        return tables

    def _note_unreadable(self, game: str, error: Exception) -> None:
        """Say once that a game makes no sense; it stays in health until it is removed."""
        part = f"game {game}"
        if part not in self.health.problems:
            _log.error("game %s cannot be read", game, exc_info=error)
        self.health.note(part, type(error).__name__)

    async def _load_together(self, games: Sequence[str]) -> None:
        """Bring the tables that nobody follows up to date, with one question to the database."""
        after = dict.fromkeys(games, 0)
        for game in games:
            table = self.tables.loaded(game)
            if table is not None and (table.watchers or table.waiting):
                del after[game]
            elif table is not None:
                after[game] = table.room.number
        found = await asyncio.to_thread(self.games.load_newer, after)
        held = await asyncio.to_thread(self.games.load_holders, after)
        for game, events in found.items():
            table = self.tables.loaded(game)
            if table is not None:
                await self.take_in(table, events, held[game])
            elif events:
                self.tables.add(Table(rooms.create(game, events), held[game], events))

    async def create(
        self,
        first: Event,
        holders: Sequence[Holder],
        game: str | None = None,
        client: str = "",
    ) -> Room:
        """Open a new game, under a name that was chosen before or a new one."""
        part = self._open(game or new_id(), first, holders, client)
        return (await self.commits.add(part))[0]

    async def submit(
        self, game: str, command: Command, holders: Sequence[Holder] = (), client: str = ""
    ) -> Done:
        """Obey a command; return when what follows from it is on the disk.

        A command whose id has been obeyed before changes nothing and is acknowledged again.
        """
        for tried in range(TRIES):
            try:
                return await self._try_to_submit(game, command, holders, client)
            except Conflict:
                self.met_conflict()
                # Servers that want the same must not go on meeting each other.
                await asyncio.sleep(_TRY_PAUSE * tried * random.random())  # noqa: S311
        raise storage_failed()

    async def _try_to_submit(
        self, game: str, command: Command, holders: Sequence[Holder], client: str
    ) -> Done:
        if self.paused and command.do != "resume":
            raise storage_failed()
        table = await self.table(game, command.after or 0)
        if table.doubtful:
            await self._catch_up(table)
        if command.id is not None and command.id in table.newest.commands:
            if command.id not in table.room.commands:
                await self._settled(table)
            if command.id not in table.room.commands:
                raise storage_failed()
            return table.room, ()
        if command.data.get("what") == "rematch":
            command = replace(command, data={**command.data, "next_id": new_id()})
        before, room, events = rooms.step(table.newest, command, self.now())
        if not events:
            return table.room, ()
        parts = [self._part(table, room, events, holders, client)]
        if room.next_id is not None and before.next_id is None:
            parts.append(self._open_next(table, room, events[-1], client))
        table.pending = room
        return await self.commits.add(*parts)

    def _part(
        self,
        table: Table,
        room: Room,
        events: Sequence[Event],
        holders: Sequence[Holder],
        client: str,
    ) -> Part:
        change = store.change_of(room, events, holders, client)
        return Part(table, change, room)

    def _open(self, game: str, first: Event, holders: Sequence[Holder], client: str) -> Part:
        room = rooms.create(game, [first])
        table = Table(room, [], [], pending=room)
        self.tables.add(table)
        return self._part(table, room, (first,), holders, client)

    def _open_next(self, table: Table, room: Room, agreed: Event, client: str) -> Part:
        """Set the next game up, to be written together with the event that agrees to it."""
        fresh = Layout.shuffled(secrets.randbelow(SEED_LIMIT))
        first = rooms.next_game(room, agreed.data["board"], fresh, self.now())
        holders = [(side.other, holder) for side, holder in table.holders]
        return self._open(agreed.data["game"], first, holders, client)

    @staticmethod
    async def _settled(table: Table) -> None:
        """Wait until what is under way for a table is written, or has failed."""
        while table.waiting:  # noqa: ASYNC110 - the same command twice at once is rare
            await asyncio.sleep(0.001)

    # --- After a commit ---

    async def _publish(self, part: Part) -> None:
        table, change = part.table, part.change
        table.holders.extend(each for each in change.holders if each not in table.holders)
        if not table.waiting:
            table.pending = None
        # It may have been heard of already, and loaded.
        if not table.events or table.events[-1].number < change.events[-1].number:
            await self._show(table, part.room, change.events)
        self.flags.put(change.game, change.flag)

    async def _show(self, table: Table, room: Room, events: Sequence[Event]) -> None:
        """Let everybody see what has happened."""
        table.room = room
        table.events.extend(events)
        for event in events:
            if event.kind == "joined":
                # Whoever sits down has not been away since the seat was free.
                self.presence.has_come(room.id, Side(event.data["side"]))
        self.presence.tell(table, room, events)
        problem = None
        for listener in self.listeners:
            try:
                await listener(room, events)
            except Exception as error:  # noqa: BLE001 - what has happened has happened
                _log.exception("a listener failed at game %s", room.id)
                problem = type(error).__name__
        if problem is None:
            self.health.clear(_LISTENERS)
        else:
            self.health.note(_LISTENERS, problem)

    async def _undo(self, part: Part) -> None:
        """Go back to what is on the disk, which is not always what the failed commit promised."""
        table = part.table
        table.pending = None
        table.doubtful = True
        if part.change.events[0].number == 1:
            self.tables.drop(part.change.game)
            return
        try:
            await self._catch_up(table)
        except ApiError:
            _log.debug("game %s will be read when somebody asks for it", part.change.game)
        except Exception:  # noqa: BLE001 - it must not keep the others from being written
            _log.exception("game %s cannot be read", part.change.game)

    async def _catch_up(self, table: Table) -> None:
        """Take over what the database has and the memory has not."""
        room = table.room
        try:
            events, holders = await asyncio.to_thread(self.games.load, room.id, room.number)
        except (SQLAlchemyError, OSError):
            raise storage_failed() from None
        if not events and not holders:
            # It has been cleared away.
            self.tables.drop(room.id)
            return
        table.doubtful = False
        await self.take_in(table, events, holders)

    async def take_in(
        self, table: Table, events: Sequence[Event], holders: Sequence[Holder] | None = None
    ) -> None:
        """Let a table know what the database has; others may have told it some of that already.

        Without ``holders`` those are the same as before.
        """
        if holders is not None and set(holders) != set(table.holders):
            table.holders[:] = holders
            self.presence.seats_changed(table)
        new = [event for event in events if event.number > table.room.number]
        if new and new[0].number == table.room.number + 1:
            await self._show(table, reduce(rooms.evolve, new, table.room), new)

    # --- Clocks ---

    async def _watch_flags(self) -> None:
        """End games at the flag, whether anybody is there or not."""
        while True:
            game = await self.flags.next()
            try:
                await self.submit(game, Command("flag"))
            except ApiError as error:
                if error.code == "storage":
                    self.flags.put(game, self.now() + _FLAG_RETRY)
            except Exception as error:  # noqa: BLE001 - see below
                # One game that cannot be read must not keep the others from ending.
                _log.exception("the flag of game %s cannot fall", game)
                self.health.note(f"game {game}", type(error).__name__)

    async def resume(self, games: Sequence[str], away: int) -> None:
        """Write down for every game with a running clock for how long nobody could play."""

        async def resume(game: str) -> None:
            try:
                await self.submit(game, Command("resume", data={"away": away}))
            except Exception as error:  # noqa: BLE001 - the others must get theirs
                _log.exception("the clock of game %s could not be put right", game)
                self.health.note(f"game {game}", type(error).__name__)

        for start in range(0, len(games), BATCH_LIMIT):
            await asyncio.gather(*map(resume, games[start : start + BATCH_LIMIT]))

    # --- Seats and clearing ---

    def leave(self, table: Table, watcher: Watcher) -> None:
        """Stop watching a game, which may be forgotten then."""
        self.presence.leave(table, watcher)
        self.tables.trim()

    async def hand_over(self, token: str, game: str, side: Side, expires: int) -> None:
        """Keep a one-time token, hashed, with which another device may take a seat as well."""
        await self.writer.write(
            lambda connection: store.hand_over(connection, token, game, side, expires)
        )

    def _tell_seats(self, connection: Connection, games: Iterable[str]) -> None:
        """Tell the other servers that seats have changed."""
        if self.server is not None:
            news.tell(connection, self.server, [Hint(game, news.SEATS) for game in games])

    async def take_over(self, token: str, holder: str) -> str | None:
        """Spend a one-time token: the holder has the seat as well. Return the game."""
        now = self.now()

        def write(connection: Connection) -> tuple[str, Side] | None:
            found = store.take_over(connection, token, holder, now)
            self._tell_seats(connection, [] if found is None else [found[0]])
            return found

        found = await self.writer.write(write)
        if found is None:
            return None
        game, side = found
        table = self.tables.loaded(game)
        if table is not None and (side, holder) not in table.holders:
            table.holders.append((side, holder))
        return game

    async def let_go(self, holder: str) -> None:
        """Take all seats away from a holder, who wants to be forgotten."""

        def write(connection: Connection) -> list[str]:
            games = store.let_go(connection, holder)
            self._tell_seats(connection, games)
            return games

        for game in await self.writer.write(write):
            table = self.tables.loaded(game)
            if table is not None:
                table.holders[:] = [each for each in table.holders if each[1] != holder]
                self.presence.seats_changed(table)

    async def keep_only(self, table: Table, side: Side, holder: str) -> None:
        """Take a seat away from every device but one."""
        game = table.room.id

        def write(connection: Connection) -> None:
            store.keep_only(connection, game, side, holder)
            self._tell_seats(connection, [game])

        await self.writer.write(write)
        table.holders[:] = [
            each for each in table.holders if each == (side, holder) or each[0] is not side
        ]
        self.presence.seats_changed(table)

    async def clear(self, before: int, statuses: Sequence[str]) -> None:
        """Remove games that have not changed since a moment, unless somebody looks at them now."""
        old = await asyncio.to_thread(self.games.unchanged_since, before, statuses)
        # A few in each transaction, so that moves are written in between.
        for start in range(0, len(old), CLEARED_AT_ONCE):
            await self._clear_some(old[start : start + CLEARED_AT_ONCE], before)
            await asyncio.sleep(CLEARING_PAUSE)

    async def _clear_some(self, old: Sequence[str], before: int) -> None:
        for game in old:
            self.tables.forget(game)
        # Whoever opens one from now on may come too late, and is told that there is no such game.
        gone = [game for game in old if game not in self.tables]
        now = self.now()
        await self.writer.write(lambda connection: store.remove(connection, gone, now, before))
        for game in gone:
            self.tables.forget(game)
