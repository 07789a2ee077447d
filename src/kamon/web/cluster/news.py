"""What servers on one database tell each other, through PostgreSQL's notifications.

A notification is a hint where to look, and holds nothing else. Whoever misses one finds out a
second later by looking, so a lost one never costs a move (games/following.py).
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, select

from kamon.web.database import Database
from kamon.web.health import Health

CHANNEL: Final = "kamon"
# PostgreSQL takes at most 8,000 bytes.
PAYLOAD_LIMIT: Final = 7_000
# What else than the number of an event a hint may name.
SEATS: Final = "seats"
PRESENCE: Final = "presence"
THOUGHT: Final = "thought"
# Seconds after which a connection on which nothing was heard is tried.
_QUIET: Final = 5.0
_STOP_AFTER: Final = 0.5
_FIRST_PAUSE: Final = 0.2
_LAST_PAUSE: Final = 5.0
_PART: Final = "news"

_log = logging.getLogger(__name__)


class Hint(NamedTuple):
    """Something has changed in a game: its events up to a number, or what a word says."""

    game: str
    what: str

    @property
    def number(self) -> int | None:
        """The number of the last event, if the hint is about events."""
        return int(self.what) if self.what.isdecimal() else None


def tell(connection: Connection, server: str, hints: Iterable[Hint]) -> None:
    """Tell the other servers something, if the transaction succeeds."""
    for payload in _payloads(server, hints):
        connection.execute(select(func.pg_notify(CHANNEL, payload)))


def _payloads(server: str, hints: Iterable[Hint]) -> Iterator[str]:
    words, length = [server], len(server)
    for hint in hints:
        word = f"{hint.game}:{hint.what}"
        if length + len(word) > PAYLOAD_LIMIT:
            yield " ".join(words)
            words, length = [server], len(server)
        words.append(word)
        length += len(word) + 1
    if len(words) > 1:
        yield " ".join(words)


def parse(payload: str) -> tuple[str, list[Hint]]:
    """Return who has told something, and what; a word that is no hint is passed over."""
    server, *words = payload.split() or [""]
    pairs = (word.partition(":") for word in words)
    return server, [Hint(game, what) for game, colon, what in pairs if colon]


class Listener:
    """Hears what other servers tell, on a connection and a thread of its own.

    ``heard`` and ``connected`` are called on the event loop. After a connection was lost,
    ``connected`` is the sign to look everywhere, because nobody knows what was missed.
    """

    def __init__(
        self,
        database: Database,
        server: str,
        heard: Callable[[Sequence[Hint]], None],
        connected: Callable[[], None],
        health: Health,
    ) -> None:
        url = database.engine.url.set(drivername="postgresql")
        self._address = url.render_as_string(hide_password=False)
        self._server = server
        self._heard = heard
        self._connected = connected
        self._health = health
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="news", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        # Only a server on PostgreSQL has the driver.
        import psycopg  # noqa: PLC0415

        pause = _FIRST_PAUSE
        while not self._stop.is_set():
            started = time.monotonic()
            try:
                self._listen()
            except (psycopg.Error, OSError) as error:
                if _PART not in self._health.problems:
                    _log.warning("no news from other servers: %s", type(error).__name__)
                self._call(self._health.note, _PART, type(error).__name__)
            if time.monotonic() - started > _QUIET:
                pause = _FIRST_PAUSE
            self._stop.wait(pause)
            pause = min(_LAST_PAUSE, 2 * pause)

    def _listen(self) -> None:
        import psycopg  # noqa: PLC0415 - see above

        with psycopg.connect(
            self._address,
            autocommit=True,
            connect_timeout=5,
            keepalives_idle=5,
            tcp_user_timeout=10_000,
        ) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._call(self._health.clear, _PART)
            self._call(self._connected)
            heard_at = time.monotonic()
            while not self._stop.is_set():
                for notice in connection.notifies(timeout=_STOP_AFTER):
                    heard_at = time.monotonic()
                    self._hear(notice.payload)
                if time.monotonic() - heard_at > _QUIET:
                    # A connection that is dead may look like one on which nothing happens.
                    connection.execute("SELECT 1")
                    heard_at = time.monotonic()

    def _hear(self, payload: str) -> None:
        server, hints = parse(payload)
        if server != self._server and hints:
            self._call(self._heard, hints)

    def _call(self, what: Callable[..., None], *arguments: object) -> None:
        assert self._loop is not None  # noqa: S101 - it has started
        try:
            self._loop.call_soon_threadsafe(what, *arguments)
        except RuntimeError:
            # The server has ended.
            self._stop.set()
