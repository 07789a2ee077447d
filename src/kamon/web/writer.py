"""A thread that writes to the database.

It is a thread of its own, so that a move never waits behind engines or pictures for a free one.
Games hand over their changes in batches; everything else that writes is a transaction of its own.
On PostgreSQL a second writer takes notes of the moment, such as heartbeats, so that no move waits
for those either. SQLite has one writer.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, delete, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from kamon.web.database import Database, Writing
from kamon.web.errors import cause_of, storage_failed
from kamon.web.health import Health
from kamon.web.metrics import Metrics, timed
from kamon.web.statements import insert_new

Result = TypeVar("Result")
# How many rows are deleted in one transaction, and how many seconds pass before the next.
CLEARED_AT_ONCE: Final = 200
CLEARING_PAUSE: Final = 0.05

_log = logging.getLogger(__name__)


class Writer:
    """Runs transactions one after the other."""

    def __init__(
        self,
        database: Database,
        health: Health | None = None,
        metrics: Metrics | None = None,
        *,
        notes: bool = False,
    ) -> None:
        self.database = database
        self._metrics = metrics or Metrics()
        self._health = health or Health()
        self._notes = notes
        self._part = "notes" if notes else "database"
        self._thread = ThreadPoolExecutor(1, "notes" if notes else "writer")

    async def write(
        self, work: Callable[[Connection], Result], how: Writing = "transaction"
    ) -> Result:
        """Do something in a transaction, and return when it is on the disk.

        An ``ApiError`` with the code ``storage`` means that the database has failed, and an
        ``IntegrityError`` that what was to be written contradicts what is there. Any other error is
        a defect in the work, and is raised as it is.
        """
        loop = asyncio.get_running_loop()
        try:
            with timed(self._metrics.commit_seconds):
                result = await loop.run_in_executor(self._thread, self._transact, work, how)
        except IntegrityError:
            raise
        except (SQLAlchemyError, OSError) as error:
            if self._part not in self._health.problems:
                # Once, and not for every write while it is away.
                _log.error("the database cannot be written: %s", cause_of(error))
            self._health.note(self._part, type(error).__name__)
            raise storage_failed() from None
        self._health.clear(self._part)
        return result

    async def insert(self, table: Table, row: Mapping[str, Any]) -> bool:
        """Insert a row unless there is one like it, and tell whether it is new."""
        return await self.write(lambda connection: insert_new(connection, table, row))

    async def clear(self, table: Table, condition: ColumnElement[bool]) -> None:
        """Delete the rows of a table that has an ``id``, a few in each transaction.

        Moves are written in between: deleting many rows at once would hold them up for seconds.
        """
        some = select(table.c.id).where(condition).limit(CLEARED_AT_ONCE)
        gone = delete(table).where(table.c.id.in_(some.scalar_subquery()))

        def clear_some(connection: Connection) -> int:
            return connection.execute(gone).rowcount

        while await self.write(clear_some):  # noqa: ASYNC110 - others write meanwhile
            await asyncio.sleep(CLEARING_PAUSE)

    def _transact(self, work: Callable[[Connection], Result], how: Writing) -> Result:
        try:
            with self.database.writing(how, notes=self._notes) as connection:
                return work(connection)
        except IntegrityError:
            raise
        except (SQLAlchemyError, OSError):
            # After a failed sync the driver may believe what the disk does not have, or the other
            # way round. Only connections that are opened anew tell the truth.
            self.database.reopen()
            raise

    def close(self) -> None:
        """End the thread when it has written what it was given."""
        self._thread.shutdown(wait=True)
