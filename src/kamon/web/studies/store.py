"""Studies in the database. What a list of them shows stands in columns of its own."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, update

from kamon.game import Game
from kamon.notation import format_line
from kamon.web.database import Database, studies
from kamon.web.errors import ApiError
from kamon.web.writer import Writer

# How many studies one visitor may keep.
STUDIES_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """A study in the database."""

    holder: str
    record: str
    updated: int
    line: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a study: ``line`` is the position at the end of its main line."""

    id: str
    updated: int
    title: str
    moves: int
    line: str


class Studies:
    """The studies of one server."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    # --- Reading, on a thread of its own ---

    def find(self, study: str) -> Kept | None:
        """Return a study."""
        query = select(studies).where(studies.c.id == study)
        with self._database.reading() as connection:
            row = connection.execute(query).first()
            return None if row is None else Kept(row.holder, row.record, row.updated, row.line)

    def list_of(self, holder: str, limit: int) -> list[Summary]:
        """List a holder's studies, the latest first."""
        columns = studies.c.id, studies.c.updated, studies.c.title, studies.c.moves, studies.c.line
        query = (
            select(*columns)
            .where(studies.c.holder == holder)
            .order_by(studies.c.updated.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [Summary(*row) for row in connection.execute(query)]

    # --- Writing ---

    async def keep(self, study: str, holder: str, now: int, record: str, game: Game) -> None:
        """Write a new study."""
        row = {"holder": holder, "updated": now, **_columns(record, game)}

        def write(connection: Connection) -> None:
            mine = select(func.count()).select_from(studies).where(studies.c.holder == holder)
            if connection.execute(mine).scalar_one() >= STUDIES_LIMIT:
                raise ApiError("too-many-studies", limit=STUDIES_LIMIT)
            connection.execute(insert(studies).values(id=study, **row))

        await self._writer.write(write)

    async def keep_again(
        self, study: str, holder: str, seen: int | None, now: int, record: str, game: Game
    ) -> int:
        """Write a study again, if it is the holder's and has not changed since it was seen.

        Return the moment of the change, which is later than the one before.
        """

        def write(connection: Connection) -> int:
            updated = _owned(connection, study, holder)
            if seen is not None and seen < updated:
                raise ApiError("study-changed")
            moment = max(now, updated + 1)
            row = {"updated": moment, **_columns(record, game)}
            connection.execute(update(studies).where(studies.c.id == study).values(**row))
            return moment

        return await self._writer.write(write)

    async def remove(self, study: str, holder: str) -> None:
        """Remove a study, if it is the holder's."""

        def write(connection: Connection) -> None:
            _owned(connection, study, holder)
            connection.execute(delete(studies).where(studies.c.id == study))

        await self._writer.write(write)

    async def let_go(self, holder: str) -> None:
        """Keep a holder's studies for whoever has their addresses, but as nobody's."""
        mine = update(studies).where(studies.c.holder == holder).values(holder="")
        await self._writer.write(lambda connection: connection.execute(mine))

    async def clear(self, before: int) -> None:
        """Remove the studies that nobody has changed since a moment."""
        await self._writer.clear(studies, studies.c.updated < before)


def _owned(connection: Connection, study: str, holder: str) -> int:
    """Return when a study was changed, if it is the holder's."""
    query = select(studies.c.holder, studies.c.updated).where(studies.c.id == study)
    row = connection.execute(query).first()
    if row is None:
        raise ApiError("no-such-study")
    if row.holder != holder:
        raise ApiError("not-your-study")
    return int(row.updated)


def _columns(record: str, game: Game) -> dict[str, str | int]:
    return {
        "record": record,
        "title": game.tags.get("Event", "")[:200],
        "moves": len(game.main_line()),
        "line": format_line(game),
    }
