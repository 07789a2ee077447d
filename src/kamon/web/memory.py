"""What a server remembers about itself between two runs: its key, and when it was last alive."""

import asyncio
import contextlib
import secrets as random_secrets
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, TextClause, func, select, text

from kamon.web.database import Database, server, servers, unsigned_holders
from kamon.web.errors import ApiError
from kamon.web.health import Health
from kamon.web.identity import Secrets
from kamon.web.writer import Writer

_KEY: Final = "key"
_ALIVE: Final = "alive"
# Both databases understand this.
_KEEP_LAST: Final = text(
    "INSERT INTO server (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
# A lease can be taken by one server when it has ended. Its value is when that is.
_LEASE: Final = text(
    "INSERT INTO server (name, value) VALUES (:name, :until)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    " WHERE CAST(server.value AS BIGINT) <= :now RETURNING value"
)
# Seconds between two notes that the server is alive; they also show that the disk can be written.
ALIVE_EVERY: Final = 10.0
# A shorter time than this is an ordinary delay between two notes.
_AWAY_AT_LEAST: Final = 2_000


def latest_alive(database: Database) -> int | None:
    """Return when any server was last alive; those that share a database say it more often."""
    noted = _read(database, _ALIVE)
    with database.reading() as connection:
        others = connection.execute(select(func.max(servers.c.alive))).scalar()
    known = [int(each) for each in (noted, others) if each is not None]
    return max(known, default=None)


def write_alive(connection: Connection, now: int) -> None:
    """Write down when a server was alive, in place of what was known before."""
    connection.execute(_KEEP_LAST, {"name": _ALIVE, "value": str(now)})


def _read(database: Database, name: str) -> str | None:
    query = select(server.c.value).where(server.c.name == name)
    with database.reading() as connection:
        return connection.execute(query).scalar_one_or_none()


class ServerMemory:
    """A few values in the database."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def secrets(self) -> Secrets:
        """Return who makes secrets, with the key of this database, which is made on first use."""
        key = await self.read(_KEY)
        if key is None:
            # Another server may be faster, and then its key counts.
            row = {"name": _KEY, "value": random_secrets.token_hex(32)}
            await self._writer.insert(server, row)
            key = await self.read(_KEY)
        assert key is not None  # noqa: S101 - it is written and never deleted
        return Secrets(bytes.fromhex(key), await asyncio.to_thread(self._unsigned))

    async def time_away(self, now: int) -> int:
        """Tell for how many milliseconds no server was running on this database."""
        alive = await asyncio.to_thread(latest_alive, self._database)
        away = 0 if alive is None else now - alive
        return away if away >= _AWAY_AT_LEAST else 0

    async def keep_alive(self, health: Health, now: Callable[[], int]) -> None:
        """Note again and again that the server is alive."""
        await health.repeat(
            "alive", lambda: self._write(_KEEP_LAST, _ALIVE, str(now())), ALIVE_EVERY
        )

    async def note_alive(self, now: int) -> None:
        """Note that the server was alive until now, when it ends."""
        with contextlib.suppress(ApiError):
            await self._write(_KEEP_LAST, _ALIVE, str(now))

    async def read(self, name: str) -> str | None:
        """Return a value that was kept under a name."""
        return await asyncio.to_thread(_read, self._database, name)

    async def keep(self, name: str, value: str) -> None:
        """Keep a value under a name, in place of the one before."""
        await self._write(_KEEP_LAST, name, value)

    async def take_lease(self, name: str, now: int, milliseconds: int) -> bool:
        """Take a lease unless another server has it, and return whether we have it now."""
        values = {"name": name, "now": now, "until": str(now + milliseconds)}

        def take(connection: Connection) -> bool:
            return connection.execute(_LEASE, values).first() is not None

        return await self._writer.write(take)

    async def end_lease(self, name: str) -> None:
        """Let any server take a lease that we have."""
        await self.keep(name, "0")

    async def _write(self, how: TextClause, name: str, value: str) -> None:
        def write(connection: Connection) -> None:
            connection.execute(how, {"name": name, "value": value})

        await self._writer.write(write)

    def _unsigned(self) -> frozenset[str]:
        with self._database.reading() as connection:
            return frozenset(connection.execute(select(unsigned_holders.c.holder)).scalars())
