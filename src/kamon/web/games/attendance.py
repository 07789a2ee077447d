"""Who is there for a game through which server, where several share their games.

Each server writes down who is there through it, and reads what the others have written.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from kamon.position import Side
from kamon.web.cluster import news
from kamon.web.cluster.news import Hint
from kamon.web.database import Database, presence
from kamon.web.games.presence import NOBODY, Elsewhere, Presence
from kamon.web.games.tables import Table
from kamon.web.writer import Writer

_log = logging.getLogger(__name__)


class Attendance:
    """What one server tells the others about who is there, and what it hears from them."""

    def __init__(
        self, writer: Writer, server: str, present: Presence, now: Callable[[], int]
    ) -> None:
        self._writer = writer
        self._server = server
        self._presence = present
        self._now = now
        self._changed: dict[str, Table] = {}
        present.changed = self.note

    def note(self, table: Table) -> None:
        """Note that somebody has come or gone, to be told soon."""
        self._changed[table.room.id] = table

    async def tell(self) -> None:
        """Write down who is there now at the tables where that has changed."""
        changed, self._changed = self._changed, {}
        if not changed:
            return
        # In the order in which commits lock games, so that neither waits for the other.
        rows = [self._row(changed[game]) for game in sorted(changed)]
        try:
            await self._writer.write(lambda connection: self._write(connection, rows))
        except IntegrityError:
            # One of the games has been cleared away; whoever is at the others is told again.
            _log.debug("a game was cleared away while somebody left it")
            await self._tell_one_by_one(rows)
        except BaseException:
            self._changed = changed | self._changed
            raise

    async def _tell_one_by_one(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            with contextlib.suppress(IntegrityError):
                await self._writer.write(partial(self._write, rows=[row]))

    def _row(self, table: Table) -> dict[str, Any]:
        game, here = table.room.id, self._presence.present_here(table)
        return {
            "game": game,
            "server": self._server,
            "changed": self._now(),
            "watchers": sum(not watcher.sides for watcher in table.watchers),
            "black": Side.BLACK in here,
            "white": Side.WHITE in here,
            "black_left": self._presence.left_here(game, Side.BLACK),
            "white_left": self._presence.left_here(game, Side.WHITE),
        }

    def _write(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        statement = insert(presence)
        new = {
            column.name: statement.excluded[column.name]
            for column in presence.columns
            if not column.primary_key
        }
        keep = statement.on_conflict_do_update(index_elements=["game", "server"], set_=new)
        connection.execute(keep, rows)
        news.tell(connection, self._server, [Hint(row["game"], news.PRESENCE) for row in rows])

    async def look(self, tables: Sequence[Table]) -> None:
        """Find out who is at some tables through other servers."""
        if not tables:
            return
        names = [table.room.id for table in tables]
        rows = await asyncio.to_thread(_rows_of_others, self._writer.database, self._server, names)
        for table in tables:
            self._presence.heard(table, _summed(rows[table.room.id]))


def _rows_of_others(
    database: Database, server: str, games: Sequence[str]
) -> defaultdict[str, list[Row[Any]]]:
    query = select(presence).where(presence.c.game.in_(games), presence.c.server != server)
    found: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    with database.reading() as connection:
        for row in connection.execute(query):
            found[row.game].append(row)
    return found


def _summed(rows: Sequence[Row[Any]]) -> Elsewhere:
    """Join what several servers say about one game."""
    if not rows:
        return NOBODY
    present: set[Side] = set()
    left: dict[Side, int] = {}
    for row in rows:
        for side, here, since in (
            (Side.BLACK, row.black, row.black_left),
            (Side.WHITE, row.white, row.white_left),
        ):
            if here:
                present.add(side)
            if since is not None:
                left[side] = max(since, left.get(side, 0))
    return Elsewhere(frozenset(present), left, sum(row.watchers for row in rows))
