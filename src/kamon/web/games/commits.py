"""Decided changes gather, and are committed together: many games share one sync of the disk.

All changes of one command are committed together or not at all. Where a commit fails, the commands
in it fail, and so do later ones of the same games, which rest on them. On a database that servers
share, a command also fails if another server has changed the game first: that is a ``Conflict``,
and the command is decided again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from kamon.web.cluster import news
from kamon.web.errors import ApiError, storage_failed
from kamon.web.games import store
from kamon.web.games.rooms import Event, Room
from kamon.web.games.store import Change
from kamon.web.games.tables import Table
from kamon.web.health import Health
from kamon.web.writer import Writer

BATCH_LIMIT: Final = 256
# A move that comes alone is written at once. Where many come, a commit waits until so many seconds
# after the one before and takes more of them along. Nobody feels it, and it is far less work.
PACE: Final = 0.016
# Seconds that a server which is stopping waits for the disk.
FINISH_SECONDS: Final = 5.0
_PART: Final = "publishing"

_log = logging.getLogger(__name__)

Done = tuple[Room, Sequence[Event]]


class Conflict(Exception):  # noqa: N818 - nothing is wrong: somebody was faster
    """Another server has changed the game since the command was decided."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a command changes at one table, and the room afterwards."""

    table: Table
    change: Change
    room: Room


@dataclass(slots=True, eq=False)
class Job:
    """The changes of one command. ``done`` is answered with the first of its rooms."""

    parts: Sequence[Part]
    done: "asyncio.Future[Done]"

    def touches(self, games: set[str]) -> bool:
        """Tell whether it changes one of these games."""
        return any(part.change.game in games for part in self.parts)


class Commits:
    """Decided changes on their way to the disk."""

    def __init__(
        self,
        writer: Writer,
        publish: Callable[[Part], Awaitable[None]],
        undo: Callable[[Part], Awaitable[None]],
        server: str | None = None,
        health: Health | None = None,
    ) -> None:
        self._writer = writer
        self._health = health or Health()
        # Our name among the servers that share the database, if it is shared.
        self._server = server
        self._publish = publish
        self._undo = undo
        self._jobs: list[Job] = []
        self._wake = asyncio.Event()
        # A test puts a slow or failing disk here.
        self.commit = store.commit

    @property
    def waiting(self) -> int:
        """How many commands wait for the disk."""
        return len(self._jobs)

    def add(self, *parts: Part) -> "asyncio.Future[Done]":
        """Take the changes of a command; the future is done when they are on the disk.

        Whoever stops waiting for it cancels the future only: the changes are written all the same.
        """
        done: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        for part in parts:
            part.table.waiting += 1
        self._jobs.append(Job(parts, done))
        self._wake.set()
        return done

    async def run(self) -> None:
        """Commit for ever: whatever goes wrong, the next batch is written."""
        earliest = 0.0
        while True:
            await self._wake.wait()
            await asyncio.sleep(earliest - time.monotonic())
            earliest = time.monotonic() + PACE
            batch = self._jobs[:BATCH_LIMIT]
            if batch:
                await self._write(batch)
            else:
                self._wake.clear()

    async def finish(self) -> None:
        """Wait until everything that was decided is written, or has failed; not for ever."""
        limit = time.monotonic() + FINISH_SECONDS
        while self._jobs and time.monotonic() < limit:
            self._wake.set()
            await asyncio.sleep(0.005)
        if self._jobs:
            # Nobody was told that these have been obeyed.
            _log.error("%d commands could not be written before the end", len(self._jobs))

    async def _write(self, batch: Sequence[Job]) -> None:
        try:
            await self._commit(batch)
        except ApiError as error:
            # The database has failed, and would fail for each of them in turn.
            for job in batch:
                await self._fail(job, error)
        except Exception as error:  # noqa: BLE001 - one command must not stop all writing
            # A database that contradicts a command is not a defect; anything else is.
            expected = isinstance(error, IntegrityError)
            _log.warning("a batch cannot be written: %r", error, exc_info=not expected)
            await self._write_one_by_one(batch)

    async def _write_one_by_one(self, batch: Sequence[Job]) -> None:
        """Find the job that cannot be written, so that it does not spoil the others."""
        for job in batch:
            if job in self._jobs:
                try:
                    await self._commit([job])
                except (IntegrityError, ApiError):
                    await self._fail(job, storage_failed())
                except Exception:  # noqa: BLE001 - as above, where it was logged
                    await self._fail(job, ApiError("failed"))

    async def _commit(self, batch: Sequence[Job]) -> None:
        """Commit some jobs and publish them; all of them or none, but for those that are late."""
        late = await self._writer.write(
            lambda connection: self._transact(connection, batch), "pipelined"
        )
        written = [job for job in batch if job not in late]
        self._jobs = [job for job in self._jobs if job not in written]
        for job in written:
            for part in job.parts:
                part.table.waiting -= 1
            await self._publish_all(job)
            if not job.done.done():
                job.done.set_result((job.parts[0].room, job.parts[0].change.events))
        for job in late:
            if job in self._jobs:
                await self._fail(job, Conflict())

    async def _publish_all(self, job: Job) -> None:
        """Let everybody see what was written. It stays written, whatever goes wrong here."""
        try:
            for part in job.parts:
                await self._publish(part)
            self._health.clear(_PART)
        except Exception as error:  # noqa: BLE001 - the other games must go on
            games = [part.change.game for part in job.parts]
            _log.exception("what happened in %s could not be published", games)
            self._health.note(_PART, type(error).__name__)
            for part in job.parts:
                part.table.doubtful = True

    def _transact(self, connection: Connection, batch: Sequence[Job]) -> list[Job]:
        """Write some jobs; return those that were too late, because their games have moved on."""
        if self._server is None:
            self.commit(connection, _changes(batch))
            return []
        late = _resting_on(batch, store.moved_on(connection, _changes(batch)))
        changes = _changes([job for job in batch if job not in late])
        if changes:
            self.commit(connection, changes)
            news.tell(connection, self._server, _hints(changes))
        return late

    async def _fail(self, first: Job, error: Exception) -> None:
        """Undo what was decided. Later commands of the same games rest on it, and fail as well."""
        failed = _resting_on(self._jobs, {part.change.game for part in first.parts})
        self._jobs = [job for job in self._jobs if job not in failed]
        for job in failed:
            for part in job.parts:
                part.table.waiting -= 1
        for job in failed:
            for part in job.parts:
                try:
                    await self._undo(part)
                except Exception:  # noqa: BLE001 - the others must be told
                    part.table.doubtful = True
                    _log.exception("game %s could not be put back", part.change.game)
            if not job.done.done():
                job.done.set_exception(error)
                # Nobody may be waiting for it any more; then asyncio would complain.
                job.done.exception()


def _changes(jobs: Iterable[Job]) -> list[Change]:
    return [part.change for job in jobs for part in job.parts]


def _resting_on(jobs: Iterable[Job], games: set[str]) -> list[Job]:
    """Find the jobs that touch some games, and those that touch games of such a job, and so on."""
    found, games = [], set(games)
    for job in jobs:
        if job.touches(games):
            found.append(job)
            games |= {part.change.game for part in job.parts}
    return found


def _hints(changes: Iterable[Change]) -> list[news.Hint]:
    newest = {change.game: change for change in changes}
    found = [news.Hint(game, str(change.events[-1].number)) for game, change in newest.items()]
    return found + [
        news.Hint(game, news.THOUGHT)
        for game, change in newest.items()
        if change.thought is not None
    ]
