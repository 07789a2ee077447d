"""The database: its tables, bringing them up to date, and who may use them.

A SQLite file belongs to one server. A PostgreSQL database may be shared by several, and has a few
tables more for what they must know of each other. No method here may be called on the event loop.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from alembic import command as alembic
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    extract,
    func,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import (
    ArgumentError,
    DisconnectionError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import DatabaseError as FileError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from kamon.errors import KamonError

metadata: Final = MetaData()

games: Final = Table(
    "games",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("status", String(10), nullable=False),
    Column("listed", Boolean, nullable=False),
    # The moment at which the side to move runs out of time.
    Column("flag", BigInteger),
    # Who has set it up, while it waits for anyone: a pseudonym of their address (identity.py).
    Column("client", String(16)),
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
    # What a list of studies shows, so that it need not read the records.
    Column("title", String(200), nullable=False, server_default=""),
    Column("moves", Integer, nullable=False, server_default="0"),
    Column("line", Text, nullable=False, server_default=""),
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
# The board of each day.
board_days: Final = Table(
    "board_days",
    metadata,
    Column("date", String(10), primary_key=True),
    Column("seed", BigInteger, nullable=False),
)
# Games against the computer on the board of a day, and how they have ended (days/store.py).
day_games: Final = Table(
    "day_games",
    metadata,
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), primary_key=True),
    Column("date", String(10), nullable=False),
    Column("level", Integer, nullable=False),
    Column("side", String(5), nullable=False),
    Column("won", Boolean),
    Column("moves", Integer),
    Index("day_games_date", "date"),
)
# The days on which somebody has tried a puzzle or ended a game, counted from 1 January 1970 in UTC.
played_days: Final = Table(
    "played_days",
    metadata,
    Column("holder", String(64), primary_key=True),
    Column("day", Integer, primary_key=True),
)
# What the server itself must remember: its key, and when it was last seen alive.
server: Final = Table(
    "server",
    metadata,
    Column("name", String(20), primary_key=True),
    Column("value", Text, nullable=False),
)
# Secrets from before they were signed; those that hold something stay good.
unsigned_holders: Final = Table(
    "unsigned_holders",
    metadata,
    Column("holder", String(64), primary_key=True),
)
# The servers that share a database, and when each was last seen alive.
servers: Final = Table(
    "servers",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("alive", BigInteger, nullable=False),
    Column("people", Integer, nullable=False),
    # False for a server that only thinks.
    Column("web", Boolean, nullable=False),
)
# Who is there for a game, as one server sees it; ``left`` is when the last page of a side went.
presence: Final = Table(
    "presence",
    metadata,
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), primary_key=True),
    Column("server", String(16), primary_key=True),
    Column("changed", BigInteger, nullable=False),
    Column("watchers", Integer, nullable=False),
    Column("black", Boolean, nullable=False),
    Column("white", Boolean, nullable=False),
    Column("black_left", BigInteger),
    Column("white_left", BigInteger),
)
# Games in which the computer is to move, and the server that thinks about each for a while.
thoughts: Final = Table(
    "thoughts",
    metadata,
    Column("game", String(16), ForeignKey("games.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("client", String(16), nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("server", String(16)),
    Column("leased_until", BigInteger, nullable=False),
)
# How much of its budgets a client has spent at each server.
spending: Final = Table(
    "spending",
    metadata,
    Column("server", String(16), primary_key=True),
    Column("client", String(16), primary_key=True),
    Column("what", String(20), primary_key=True),
    Column("round", BigInteger, nullable=False),
    Column("amount", Float, nullable=False),
)
# Puzzles that somebody has tried, or that were made here. What comes with the program has no row.
puzzles: Final = Table(
    "puzzles",
    metadata,
    Column("id", String(8), primary_key=True),
    # As a line of a file of puzzles; for those that come with the program it is there.
    Column("text", Text),
    # No two of those that were made here are alike.
    Column("canonical", String(100), unique=True),
    Column("pattern", String(64), unique=True),
    Column("rating", Float, nullable=False),
    Column("deviation", Float, nullable=False),
    Column("volatility", Float, nullable=False),
    Column("tries", Integer, nullable=False),
)
# How each visitor does at puzzles, and their run against the clock.
puzzle_players: Final = Table(
    "puzzle_players",
    metadata,
    Column("holder", String(64), primary_key=True),
    Column("rating", Float, nullable=False),
    Column("deviation", Float, nullable=False),
    Column("volatility", Float, nullable=False),
    Column("streak", Integer, nullable=False),
    Column("best_streak", Integer, nullable=False),
    Column("run_started", BigInteger),
    Column("run_score", Integer, nullable=False),
    Column("run_misses", Integer, nullable=False),
    # The puzzle of the run that is to be solved now.
    Column("run_puzzle", String(8)),
    Column("best_run", Integer, nullable=False),
)
# Each visitor's first try of each puzzle.
puzzle_tries: Final = Table(
    "puzzle_tries",
    metadata,
    Column("holder", String(64), primary_key=True),
    Column("puzzle", String(8), primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("solved", Boolean, nullable=False),
)
puzzle_days: Final = Table(
    "puzzle_days",
    metadata,
    Column("date", String(10), primary_key=True),
    Column("puzzle", String(8), nullable=False),
)

# The name under which ``server`` holds how far a copy into this database has come (copying.py).
COPY_MARK: Final = "copy"
# A server that has not been seen for so many milliseconds is not running any more.
_ALIVE_WITHIN: Final = 10_000
# Any number will do that other programs on the same PostgreSQL database do not lock.
_STARTING: Final = 0x6B616D6F6E
# Seconds to wait for a database server that does not answer.
_CONNECT_TIMEOUT: Final = 5
# Seconds to wait at the end for those who still read.
_CLOSE_PATIENCE: Final = 1.0
# The settings of each kind of database that we can use.
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "sqlite": {},
    "postgresql": {
        "connect_args": {
            "connect_timeout": _CONNECT_TIMEOUT,
            # A database that has vanished must be noticed, and so must a server that has: nobody
            # may wait for ever for a lock that it holds.
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
            "options": "-c lock_timeout=4s -c idle_in_transaction_session_timeout=5s",
        },
        "pool_size": 10,
    },
}
# Seconds after which a connection that nobody has used is tried before it is used again.
_IDLE_SECONDS: Final = 2.0
_EXAMPLES: Final = "sqlite:////home/me/kamon.sqlite or postgresql://me@localhost/kamon"


# How something is written on PostgreSQL: in a transaction; as a single statement, which is one by
# itself; or in a transaction whose statements are sent together. The results of those cannot be
# used, unless somebody reads them from the driver, and then they are waited for.
Writing = Literal["transaction", "single", "pipelined"]


class DatabaseError(KamonError):
    """A database that cannot be used, and what to do about it."""


class Database:
    """One database. ``url`` is SQLAlchemy's, as in ``sqlite:////home/me/kamon.sqlite``.

    ``shared`` tells whether other servers may use it at the same time.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)
        self.shared = self.engine.dialect.name == "postgresql"
        # For notes that may be lost in a power cut, on connections of their own.
        self._notes = _engine(url, "-c synchronous_commit=off") if self.shared else self.engine
        self._refuse_what_is_no_file()
        self._lock: sqlite3.Connection | None = None
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_transaction)

    def _refuse_what_is_no_file(self) -> None:
        """Refuse an embedded database without a plain file: it could be neither kept nor locked."""
        name = self.engine.url.database
        plain = name not in (None, "", ":memory:") and not str(name).startswith("file:")
        if self.engine.dialect.name == "sqlite" and not plain:
            raise DatabaseError(
                f"{shown(self.url)} does not name a file: expected an address such as {_EXAMPLES}"
            )

    # --- Opening ---

    def open(self, *, partial: bool = False) -> None:
        """Take hold of the database, look whether it is sound, and bring it up to date.

        A ``partial`` one may hold the beginning of a copy; nobody else may use that.
        """
        path = self.file()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._hold(path)
            if not path.exists():
                # It will hold who sits where: that is nobody else's business on this machine.
                os.close(os.open(path, os.O_CREAT, 0o600))
        try:
            self._check(path)
            with self.starting():
                self.migrate()
            if not partial:
                self._refuse_a_part()
        except BaseException:
            # Whoever restores a copy must be able to open it.
            self.close()
            raise

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Keep other servers from starting meanwhile on a database that they share."""
        if not self.shared:
            yield
            return
        with self.engine.connect() as connection:
            # Another server may need long for its migrations. The lock belongs to the connection.
            connection.execute(text("SET lock_timeout = 0"))
            connection.execute(select(func.pg_advisory_lock(_STARTING)))
            connection.commit()
            try:
                yield
            finally:
                connection.execute(select(func.pg_advisory_unlock(_STARTING)))
                connection.execute(text("RESET lock_timeout"))
                connection.commit()

    @asynccontextmanager
    async def starting_alone(self) -> AsyncIterator[None]:
        """Do the same inside an event loop."""
        lock = self.starting()
        await asyncio.to_thread(lock.__enter__)
        try:
            yield
        finally:
            await asyncio.to_thread(lock.__exit__, None, None, None)

    def migrate(self) -> None:
        """Bring the tables up to date, in one transaction."""
        config = _migrations()
        with self.engine.begin() as connection:
            if self.shared:
                # A table may be in use by servers that go on meanwhile.
                connection.execute(text("SET LOCAL lock_timeout = '60s'"))
                connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            self._revision_of(connection)
            config.attributes["connection"] = connection
            alembic.upgrade(config, "head")

    def _check(self, path: Path | None) -> None:
        """Refuse an embedded database that is damaged, before more is written to it."""
        if path is None:
            return
        try:
            with self.reading() as connection:
                found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        except FileError as error:
            # SQLite cannot even begin to read it. Its subclasses are about the disk, not the file.
            if type(error) is not FileError:
                raise
            found = error.orig
        if found != "ok":
            raise DatabaseError(
                f"{path} is damaged ({found}): restore a copy, or name another database"
            )

    def _refuse_a_part(self) -> None:
        """Refuse a database into which a copy has not been finished."""
        if self.copy_mark() is not None:
            raise DatabaseError(
                f"{self.name} holds an unfinished copy of another database: finish it with "
                "kamon copy, or drop it and start with a new one"
            )

    def _hold(self, path: Path) -> None:
        """Refuse to be the second server on one file: each would overlook what the other writes.

        The lock is one of SQLite's, on a file beside the database, so it works on every system
        and ends with the process, however that ends.
        """
        lock = None
        try:
            lock = sqlite3.connect(f"{path}.lock", timeout=0, check_same_thread=False)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if lock is not None:
                lock.close()
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise DatabaseError(
                    f"another server is using {path}: stop it first, or name another database"
                ) from None
            raise DatabaseError(
                f"{path}.lock cannot be written ({error}): is the disk full, or the folder "
                "write-protected?"
            ) from None
        self._lock = lock

    def close(self) -> None:
        """Let go of the database, when whoever still reads has finished."""
        pool, limit = self.engine.pool, time.monotonic() + _CLOSE_PATIENCE
        while isinstance(pool, QueuePool) and pool.checkedout() and time.monotonic() < limit:
            time.sleep(0.005)
        self.reopen()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # --- Using ---

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection to read with. Each statement sees what is there when it begins."""
        with self.engine.connect() as connection:
            if self.shared:
                # It is asked twice less where no transaction begins and ends.
                connection.execution_options(isolation_level="AUTOCOMMIT")
            yield connection

    @contextmanager
    def writing(self, how: Writing = "transaction", *, notes: bool = False) -> Iterator[Connection]:
        """Give a transaction to write in. Only a writer may ask for one.

        On PostgreSQL, ``notes`` may be lost in a power cut: they are about this moment only.
        """
        engine = self._notes if notes else self.engine
        if how == "transaction" or not self.shared:
            with engine.begin() as connection:
                yield connection
            return
        with engine.connect() as connection:
            # The driver then begins no transaction by itself.
            connection.execution_options(isolation_level="AUTOCOMMIT")
            if how == "single":
                yield connection
            else:
                with _pipelined(connection):
                    yield connection

    def reopen(self) -> None:
        """Close all connections, so that the next one sees what is really on the disk."""
        self.engine.dispose()
        self._notes.dispose()

    def copy_to(self, path: Path) -> None:
        """Write a whole copy of a SQLite database while it is in use."""
        # As private as the database itself: it holds the same hashes and the same key.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        source = self.engine.raw_connection()
        try:
            target = sqlite3.connect(path)
            with target:
                source.driver_connection.backup(target)  # type: ignore[union-attr]
            target.close()
        finally:
            source.close()

    def revision(self) -> str | None:
        """Return which migration the tables are at; None where there are none of ours."""
        with self.reading() as connection:
            return self._revision_of(connection)

    def _revision_of(self, connection: Connection) -> str | None:
        """Refuse tables that a newer version has made."""
        known = {
            each.revision for each in ScriptDirectory.from_config(_migrations()).walk_revisions()
        }
        found = MigrationContext.configure(connection).get_current_revision()
        if found is not None and found not in known:
            raise DatabaseError(
                f"{self.name} belongs to a newer version of Kamon (its tables are those of "
                f"{found}): install that version, or name another database"
            )
        return found

    def up_to_date(self) -> bool:
        """Tell whether the tables are those of this version."""
        return self.revision() == ScriptDirectory.from_config(_migrations()).get_current_head()

    def copy_mark(self) -> str | None:
        """Return how far an unfinished copy into this database has come, if there is one."""
        query = select(server.c.value).where(server.c.name == COPY_MARK)
        with self.reading() as connection:
            return connection.execute(query).scalar()

    def servers_running(self) -> int:
        """Count the servers that share this database now."""
        if not self.shared:
            return 0
        # By the clock of the database, because the machines of the servers may differ.
        now = extract("epoch", func.clock_timestamp()) * 1000
        query = select(func.count()).where(servers.c.alive > now - _ALIVE_WITHIN)
        with self.reading() as connection:
            return connection.execute(query).scalar_one()

    @property
    def name(self) -> str:
        """The database as a message may name it: without a password."""
        return self.engine.url.render_as_string(hide_password=True)

    def file(self) -> Path | None:
        """Return the file of an embedded database."""
        if self.shared:
            return None
        # Resolved, because the lock beside it must be the same under every name of the file.
        return Path(str(self.engine.url.database)).resolve()


def _migrations() -> Config:
    """Tell Alembic where the history of the tables is."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _engine(url: str, server_options: str = "") -> Engine:
    """Make the connections to a database, or say why there can be none."""
    try:
        parsed = make_url(url)
        options = _OPTIONS[parsed.get_backend_name()]
        if parsed.get_backend_name() == "postgresql":
            # Whoever writes the address need not know which driver we use.
            parsed = parsed.set(drivername="postgresql+psycopg")
            arguments = dict(options["connect_args"])
            arguments["options"] = f"{arguments['options']} {server_options}".strip()
            options = {**options, "connect_args": arguments}
        # What a failed statement held must not reach the log: it may be a hash of a secret.
        engine = create_engine(parsed, hide_parameters=True, **options)
    except ModuleNotFoundError as error:
        raise DatabaseError(
            f"{shown(url)} needs a driver that is not installed ({error.name}): "
            "install it with pip install 'kamon[postgres]'"
        ) from error
    except (ArgumentError, NoSuchModuleError, KeyError) as error:
        raise DatabaseError(
            f"{shown(url)} is not a database that can be opened: "
            f"expected an address such as {_EXAMPLES}"
        ) from error

    if engine.dialect.name == "postgresql":
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", _try_if_idle)
    return engine


@contextmanager
def _pipelined(connection: Connection) -> Iterator[None]:
    """Begin a transaction, send what a block writes without waiting for answers, and commit."""
    # Only a server on PostgreSQL has the driver.
    import psycopg  # noqa: PLC0415

    raw = connection.connection.driver_connection
    assert isinstance(raw, psycopg.Connection)  # noqa: S101 - there is no other driver
    try:
        with raw.pipeline():
            raw.execute("BEGIN")
            yield
            raw.execute("COMMIT")
    except psycopg.IntegrityError as error:
        raise IntegrityError(None, None, error) from error
    except psycopg.Error as error:
        raise OperationalError(None, None, error) from error
    finally:
        if raw.broken:
            # SQLAlchemy has not seen the error, and would use the connection again.
            connection.invalidate()
        elif raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                raw.execute("ROLLBACK")


def _note_use(_: object, record: ConnectionPoolEntry) -> None:
    record.info["used"] = time.monotonic()


def _try_if_idle(connection: Any, record: ConnectionPoolEntry, _: object) -> None:  # noqa: ANN401
    """Replace a connection that has died while it was idle, so that nobody notices.

    SQLAlchemy's own ``pool_pre_ping`` would ask the database before every single use.
    """
    used = record.info.get("used")
    if used is None or time.monotonic() - used < _IDLE_SECONDS:
        return
    try:
        connection.execute("")
        connection.rollback()
    except Exception as error:
        raise DisconnectionError from error


def shown(url: str) -> str:
    """Return an address as a message may show it: without a password."""
    try:
        return repr(make_url(url).render_as_string(hide_password=True))
    except ArgumentError:
        return repr(url)


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # Python's driver would begin transactions late and never for changes of tables. With this,
    # ``_begin_transaction`` does it, and a migration is all done or not at all.
    connection.isolation_level = None
    # WAL lets readers read while we write; FULL syncs every commit to the disk before we answer.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_transaction(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
