"""Moving everything from one database to another, as from SQLite to PostgreSQL or back.

Rows are copied in batches. Each is one transaction of the target, together with a mark of how far
the copy has come, so that a copy that was interrupted goes on where it stopped. At the end the rows
of both databases are counted and compared; only then is the mark removed, and until then no server
starts on the target. Nothing is ever written to the rows of the source.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import (
    Connection,
    Select,
    Table,
    delete,
    func,
    insert,
    inspect,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from kamon.web.database import (
    COPY_MARK,
    Database,
    DatabaseError,
    games,
    metadata,
    presence,
    reviews,
    server,
    servers,
    spending,
    studies,
)
from kamon.web.errors import cause_of

# What running servers know of each other is of no use to those that run on the target later.
_OF_RUNNING_SERVERS: Final = (servers, presence, spending)
# In this order a row comes after those that it refers to.
COPIED: Final = tuple(table for table in metadata.sorted_tables if table not in _OF_RUNNING_SERVERS)
BATCH: Final = 1_000
# Any number will do that other programs on the same PostgreSQL database do not lock.
_COPYING: Final = 0x6B616D6F6F
_CHECKSUMS: Final = 2**64

# The values of one row, in the order of its table's columns.
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a table has been copied, or checked."""

    doing: Literal["copying", "checking"]
    table: str
    rows: int
    total: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows a table has, and a checksum of them in whatever order they come."""

    rows: int = 0
    checksum: int = 0

    def plus(self, values: Values) -> "Tally":
        """Count one more row."""
        text = json.dumps(values, separators=(",", ":"))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return Tally(self.rows + 1, (self.checksum + int.from_bytes(digest)) % _CHECKSUMS)


# --- Opening both -----------------------------------------------------------------------------


@contextmanager
def open_source(url: str) -> Iterator[Database]:
    """Open the database to copy from, which no server may use meanwhile."""
    with closing(Database(url)) as source:
        file = source.file()
        if file is not None and not file.exists():
            raise DatabaseError(f"there is no database at {source.name}")
        if source.revision() is None:
            raise DatabaseError(f"{source.name} is not a Kamon database")
        source.open()
        if source.servers_running():
            raise DatabaseError(f"servers are using {source.name}: stop them first")
        yield source


@contextmanager
def open_target(url: str, source: Database) -> Iterator[Database]:
    """Open the database to copy to: a new one, or one that holds a part of the same copy."""
    with closing(Database(url)) as target:
        file = target.file()
        if target.engine.url == source.engine.url or (file is not None and file == source.file()):
            raise DatabaseError(f"{target.name} cannot be copied to itself")
        if file is None or file.exists():
            _refuse_what_is_not_empty(target)
        target.open(partial=True)
        yield target


def _refuse_what_is_not_empty(target: Database) -> None:
    """Refuse a database in which there is anything but the beginning of a copy."""
    with target.reading() as connection:
        present = set(inspect(connection).get_table_names())
        if target.revision() is None:
            filled = present
        else:
            filled = {
                table.name
                for table in metadata.sorted_tables
                if table.name in present and connection.execute(select(table).limit(1)).first()
            }
    continued = server.name in present and target.copy_mark() is not None
    if filled and not continued:
        raise DatabaseError(
            f"{target.name} is not empty (see {', '.join(sorted(filled))}): "
            "copy into a new database"
        )


# --- Copying ----------------------------------------------------------------------------------


class Copy:
    """A copy from one open database to another. ``tell`` hears of every batch."""

    def __init__(
        self, source: Database, target: Database, tell: Callable[[Step], None] = lambda _: None
    ) -> None:
        self._source = source
        self._target = target
        self._tell = tell
        # How many rows had a character that the target cannot hold.
        self.cleaned = 0

    def run(self) -> dict[str, Tally]:
        """Copy what the target has not got yet, compare both, and return what was counted."""
        with self._alone():
            fingerprint = _fingerprint(self._source)
            reached, after = self._begin(fingerprint)
            for table in COPIED[reached:]:
                self._copy(table, after, fingerprint)
                after = None
            tallies = {table.name: self._compare(table) for table in COPIED}
            if _fingerprint(self._source) != fingerprint:
                raise DatabaseError(
                    f"{self._source.name} changed while it was copied: "
                    f"drop {self._target.name}, stop all servers, and copy into a new database"
                )
            with _writing(self._target) as connection:
                connection.execute(delete(server).where(server.c.name == COPY_MARK))
        return tallies

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep another copy out of a target that can be shared; a file is locked already."""
        if not self._target.shared:
            yield
            return
        with self._target.engine.connect() as connection:
            # The lock belongs to the connection, and ends with it, because no pool keeps it.
            connection.detach()
            if not connection.execute(select(func.pg_try_advisory_lock(_COPYING))).scalar():
                raise DatabaseError(f"another copy into {self._target.name} is running")
            connection.commit()
            yield

    def _begin(self, fingerprint: str) -> tuple[int, Sequence[Any] | None]:
        """Return at which table to go on, and after which key there, or make the first mark."""
        mark = self._target.copy_mark()
        if mark is None:
            first = _mark(fingerprint, COPIED[0], None)
            with _writing(self._target) as connection:
                connection.execute(insert(server).values(name=COPY_MARK, value=first))
            return 0, None
        found = json.loads(mark)
        if found["source"] != fingerprint:
            raise DatabaseError(
                f"{self._target.name} holds part of a copy of another database, or of this one "
                "before it changed: drop it, and copy into a new one"
            )
        names = [table.name for table in COPIED]
        return names.index(found["table"]), found["after"]

    def _copy(self, table: Table, after: Sequence[Any] | None, fingerprint: str) -> None:
        """Copy a table, from the row after a key on."""
        total = _count(self._source, table)
        done = 0 if after is None else _count(self._target, table)
        self._tell(Step("copying", table.name, done, total))
        for rows in _pages(self._source, table, after):
            mark = _mark(fingerprint, table, _key_of(table, rows[-1]))
            cleaned = [self._fitting(row) for row in rows]
            self.cleaned += sum(one != other for one, other in zip(rows, cleaned, strict=True))
            with _writing(self._target) as connection:
                connection.execute(insert(table), [_named(table, row) for row in cleaned])
                of_copy = server.c.name == COPY_MARK
                connection.execute(update(server).where(of_copy).values(value=mark))
            done += len(rows)
            self._tell(Step("copying", table.name, done, total))

    def _fitting(self, row: Values) -> Values:
        """Leave out what the target cannot hold: PostgreSQL's texts have no NUL characters."""
        if not self._target.shared:
            return row
        return tuple(each.replace("\0", "") if isinstance(each, str) else each for each in row)

    # --- Comparing ---

    def _compare(self, table: Table) -> Tally:
        """Count and compare the rows of a table on both sides."""
        ours = self._tally(self._source, table)
        theirs = self._tally(self._target, table)
        if ours != theirs:
            raise DatabaseError(
                f"the copy differs: {table.name} has {ours.rows} rows in "
                f"{self._source.name} and {theirs.rows} in {self._target.name}, "
                f"with checksums {ours.checksum:016x} and {theirs.checksum:016x}: "
                "drop the target, and copy into a new database"
            )
        return ours

    def _tally(self, database: Database, table: Table) -> Tally:
        total = _count(database, table)
        tally = Tally()
        for rows in _pages(database, table, None):
            for row in rows:
                tally = tally.plus(self._fitting(row))
            self._tell(Step("checking", table.name, tally.rows, total))
        return tally


def _fingerprint(source: Database) -> str:
    """Identify a database and its state, which changes as soon as a server uses it."""
    with _reading(source) as connection:
        state: list[Any] = [
            connection.execute(select(func.max(table.c.updated))).scalar()
            for table in (games, studies, reviews)
        ]
        state += sorted(tuple(row) for row in connection.execute(select(server)))
    state += [_count(source, table) for table in COPIED]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def _mark(fingerprint: str, table: Table, after: Sequence[Any] | None) -> str:
    return json.dumps({"source": fingerprint, "table": table.name, "after": after})


# --- Rows -------------------------------------------------------------------------------------


@contextmanager
def _reading(database: Database) -> Iterator[Connection]:
    with _naming(database, "read"), database.reading() as connection:
        yield connection


@contextmanager
def _writing(database: Database) -> Iterator[Connection]:
    with _naming(database, "written"), database.writing() as connection:
        yield connection


@contextmanager
def _naming(database: Database, used: str) -> Iterator[None]:
    """Say which of the databases has failed, and that the copy can be gone on with."""
    try:
        yield
    except SQLAlchemyError as error:
        raise DatabaseError(
            f"{database.name} cannot be {used} ({cause_of(error)}): fix that, and run the same "
            "command again to continue the copy"
        ) from error


def _selected(table: Table) -> Select[Any]:
    """Select the rows of a table, but for the mark of the copy itself."""
    query = select(table)
    return query.where(server.c.name != COPY_MARK) if table is server else query


def _count(database: Database, table: Table) -> int:
    query = select(func.count()).select_from(_selected(table).subquery())
    with _reading(database) as connection:
        return connection.execute(query).scalar_one()


def _pages(
    database: Database, table: Table, after: Sequence[Any] | None
) -> Iterator[Sequence[Values]]:
    """Read the rows after a key, some at a time, in the order of the keys."""
    key = tuple(table.primary_key.columns)
    while True:
        query = _selected(table).order_by(*key).limit(BATCH)
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(*after))
        with _reading(database) as connection:
            rows = [tuple(row) for row in connection.execute(query)]
        if not rows:
            return
        yield rows
        after = _key_of(table, rows[-1])


def _key_of(table: Table, row: Values) -> Values:
    named = _named(table, row)
    return tuple(named[column.name] for column in table.primary_key.columns)


def _named(table: Table, row: Values) -> dict[str, Any]:
    return {column.name: value for column, value in zip(table.columns, row, strict=True)}
