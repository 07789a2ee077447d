"""What must not be lost: events, who holds which seat, and links that carry a seat elsewhere.

SQLite by default; the tables are portable. Every method runs to its end and none is called from the
event loop: ``bus`` gives the writing to one thread, and commits what has gathered in one go.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from alembic import command as alembic
from alembic.config import Config
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)

from kamon.position import Side
from kamon.web.rooms import Event

metadata: Final = MetaData()
# Databases bound how long a list in a question may be.
_REMOVED_AT_ONCE: Final = 500

games: Final = Table(
    "games",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("status", String(10), nullable=False),
    Column("listed", Boolean, nullable=False),
    # The moment at which the side to move runs out of time, for the one who must end the game.
    Column("flag", BigInteger),
    Index("games_open", "status", "listed", "updated"),
    Index("games_flag", "flag"),
)
events: Final = Table(
    "events",
    metadata,
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("data", Text, nullable=False),
    Column("command", String(64)),
    UniqueConstraint("game", "command"),
)
holders: Final = Table(
    "holders",
    metadata,
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), primary_key=True),
    Column("side", String(5), primary_key=True),
    Column("holder", String(64), primary_key=True),
    Index("holders_holder", "holder"),
)
handovers: Final = Table(
    "handovers",
    metadata,
    Column("token", String(64), primary_key=True),
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), nullable=False),
    Column("side", String(5), nullable=False),
    Column("expires", BigInteger, nullable=False),
)
studies: Final = Table(
    "studies",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("record", Text, nullable=False),
    Index("studies_holder", "holder", "updated"),
)
reviews: Final = Table(
    "reviews",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("updated", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    Index("reviews_updated", "updated"),
)

# Built once and given the rows of a whole batch: that is half the work of a commit.
_OPEN: Final = insert(games).values(
    {column.name: bindparam(column.name) for column in games.columns}
)
_TOUCH: Final = (
    update(games)
    .where(games.c.id == bindparam("of"))
    .values({name: bindparam(name) for name in ("updated", "status", "listed", "flag")})
)
_HAPPEN: Final = insert(events)
_SEAT: Final = insert(holders)


@dataclass(frozen=True, slots=True)
class Change:
    """What one command adds to a game."""

    game: str
    events: Sequence[Event]
    status: str
    listed: bool
    flag: int | None
    holders: Sequence[tuple[Side, str]] = field(default=())


class Store:
    """One database. ``url`` is SQLAlchemy's, as in ``sqlite:////home/me/kamon.sqlite``."""

    def __init__(self, url: str) -> None:
        self.url = url
        # What a failed statement held is nobody's business: a log is no place for hashes.
        self.engine: Engine = create_engine(url, hide_parameters=True)
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine, "connect", _prepare_sqlite)

    def migrate(self) -> None:
        """Bring the tables up to date."""
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.engine.begin() as connection:
            config.attributes["connection"] = connection
            alembic.upgrade(config, "head")

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    # --- Writing ---

    def commit(self, changes: Iterable[Change]) -> None:
        """Write the changes of many games in one transaction; all of them or none."""
        opened, touched, happened, seated = [], [], [], []
        for change in changes:
            state = {
                "of": change.game,
                "updated": change.events[-1].at,
                "status": change.status,
                "listed": change.listed,
                "flag": change.flag,
            }
            if change.events[0].number == 1:
                opened.append({"id": change.game, "created": change.events[0].at, **state})
            else:
                touched.append(state)
            happened += [_row(change.game, each) for each in change.events]
            seated += [
                {"game": change.game, "side": side.value, "holder": holder}
                for side, holder in change.holders
            ]
        with self.engine.begin() as connection:
            for statement, rows in (
                (_OPEN, opened),
                (_TOUCH, touched),
                (_HAPPEN, happened),
                (_SEAT, seated),
            ):
                if rows:
                    connection.execute(statement, rows)

    def hand_over(self, token: str, game: str, side: Side, expires: int) -> None:
        """Keep a one-time token, hashed, with which another device may take a seat as well."""
        row = {"token": token, "game": game, "side": side.value, "expires": expires}
        with self.engine.begin() as connection:
            connection.execute(insert(handovers).values(**row))

    def take_over(self, token: str, holder: str, now: int) -> tuple[str, Side] | None:
        """Spend a one-time token: seat the holder, and say where; None where it is no good."""
        with self.engine.begin() as connection:
            # Taken and gone in one statement, so that of many who come at once one is seated.
            good = (handovers.c.token == token) & (handovers.c.expires > now)
            spent = delete(handovers).where(good).returning(handovers.c.game, handovers.c.side)
            found = connection.execute(spent).first()
            connection.execute(delete(handovers).where(handovers.c.expires <= now))
            if found is None:
                return None
            side = Side(found.side)
            held = (holders.c.game == found.game) & (holders.c.holder == holder)
            already = connection.execute(
                select(holders.c.side).where(held & (holders.c.side == found.side))
            ).first()
            if already is None:
                connection.execute(
                    insert(holders).values(game=found.game, side=found.side, holder=holder)
                )
            return found.game, side

    def keep_study(self, study: str, holder: str, now: int, record: str) -> bool:
        """Write a study, new or again; False where it is somebody else's."""
        state = {"holder": holder, "updated": now, "record": record}
        with self.engine.begin() as connection:
            owner = connection.execute(
                select(studies.c.holder).where(studies.c.id == study)
            ).scalar_one_or_none()
            if owner is None:
                connection.execute(insert(studies).values(id=study, **state))
            elif owner == holder:
                connection.execute(update(studies).where(studies.c.id == study).values(**state))
            return owner in (None, holder)

    def keep_review(self, review: str, now: int, data: str) -> None:
        """Write what is known of a game, in place of what was known before."""
        with self.engine.begin() as connection:
            connection.execute(delete(reviews).where(reviews.c.id == review))
            connection.execute(insert(reviews).values(id=review, updated=now, data=data))

    def remove(self, several: Sequence[str]) -> None:
        """Remove games, and links to seats that have expired."""
        with self.engine.begin() as connection:
            for start in range(0, len(several), _REMOVED_AT_ONCE):
                some = several[start : start + _REMOVED_AT_ONCE]
                connection.execute(delete(games).where(games.c.id.in_(some)))
            now = time.time_ns() // 1_000_000
            connection.execute(delete(handovers).where(handovers.c.expires <= now))

    def remove_studies(self, before: int) -> None:
        """Remove the studies that nobody has kept since a moment."""
        with self.engine.begin() as connection:
            connection.execute(delete(studies).where(studies.c.updated < before))

    def remove_reviews(self, before: int) -> None:
        """Remove the reviews that nobody has added to since a moment."""
        with self.engine.begin() as connection:
            connection.execute(delete(reviews).where(reviews.c.updated < before))

    # --- Reading ---

    def load(self, game: str) -> tuple[list[Event], list[tuple[Side, str]]]:
        """Return the events of a game and who holds its seats; both empty where there is none."""
        with self.engine.connect() as connection:
            rows = connection.execute(
                select(events).where(events.c.game == game).order_by(events.c.number)
            ).all()
            held = connection.execute(select(holders).where(holders.c.game == game)).all()
        found = [
            Event(row.number, row.at, row.kind, json.loads(row.data), row.command) for row in rows
        ]
        return found, [(Side(row.side), row.holder) for row in held]

    def games_of(self, holder: str, limit: int, before: int | None) -> list[str]:
        """List the games in which a holder has a seat, the latest first."""
        query = (
            select(games.c.id, games.c.updated)
            .where(games.c.id.in_(select(holders.c.game).where(holders.c.holder == holder)))
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        if before is not None:
            query = query.where(games.c.updated < before)
        with self.engine.connect() as connection:
            return [row.id for row in connection.execute(query)]

    def open_games(self, limit: int) -> list[str]:
        """List the games that wait for an opponent from anywhere, the latest first."""
        query = (
            select(games.c.id)
            .where(games.c.status == "waiting", games.c.listed)
            .order_by(games.c.updated.desc())
            .limit(limit)
        )
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def study(self, study: str) -> tuple[str, str] | None:
        """Return who keeps a study, and its record."""
        query = select(studies.c.holder, studies.c.record).where(studies.c.id == study)
        with self.engine.connect() as connection:
            row = connection.execute(query).first()
            return None if row is None else (row.holder, row.record)

    def review(self, review: str) -> str | None:
        """Return what is known of a game."""
        query = select(reviews.c.data).where(reviews.c.id == review)
        with self.engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def studies_of(self, holder: str, limit: int) -> list[tuple[str, int, str]]:
        """List somebody's studies, the latest first, each with its moment and its record."""
        query = (
            select(studies.c.id, studies.c.updated, studies.c.record)
            .where(studies.c.holder == holder)
            .order_by(studies.c.updated.desc())
            .limit(limit)
        )
        with self.engine.connect() as connection:
            return [(row.id, row.updated, row.record) for row in connection.execute(query)]

    def unchanged_since(self, before: int, statuses: Sequence[str]) -> list[str]:
        """List games of some status that nobody has touched since a moment."""
        query = select(games.c.id).where(games.c.updated < before, games.c.status.in_(statuses))
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def flags(self) -> list[tuple[int, str]]:
        """List when which game will be lost on time."""
        query = select(games.c.flag, games.c.id).where(
            games.c.status == "playing", games.c.flag.is_not(None)
        )
        with self.engine.connect() as connection:
            return [(row.flag, row.id) for row in connection.execute(query)]

    def healthy(self) -> bool:
        """Tell whether the database answers."""
        with self.engine.connect() as connection:
            return (
                connection.execute(select(func.count()).select_from(metadata.tables["games"]))
                is not None
            )

    def copy_to(self, path: Path) -> None:
        """Write a whole copy of a SQLite database while it is in use."""
        source = self.engine.raw_connection()
        try:
            target = sqlite3.connect(path)
            with target:
                source.driver_connection.backup(target)  # type: ignore[union-attr]
            target.close()
        finally:
            source.close()


def _row(game: str, each: Event) -> dict[str, Any]:
    return {
        "game": game,
        "number": each.number,
        "at": each.at,
        "kind": each.kind,
        "data": json.dumps(each.data, separators=(",", ":")),
        "command": each.command,
    }


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # WAL lets readers read while we write; FULL syncs every commit to the disk before we answer.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {pragma}")
