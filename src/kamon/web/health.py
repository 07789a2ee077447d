"""What is wrong with a server at the moment, as its health check tells it.

Parts of the server note a problem under their own name and clear it when they work again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sqlalchemy.exc import SQLAlchemyError

from kamon.web.errors import ApiError

_log = logging.getLogger(__name__)


class Health:
    """The problems that are known now, by the part that has them."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def note(self, part: str, problem: str) -> None:
        """Remember that a part does not work."""
        self.problems[part] = problem

    def clear(self, part: str) -> None:
        """Forget the problem of a part: it works again."""
        self.problems.pop(part, None)

    async def repeat(self, part: str, step: Callable[[], Awaitable[None]], pause: float) -> None:
        """Do something again and again. A step that fails is noted, and the next one is tried."""
        while True:
            try:
                await step()
                self.clear(part)
            except Exception as error:  # noqa: BLE001 - whatever it was, the next step is tried
                # A database that is away is not a defect, and would fill the log.
                expected = isinstance(error, ApiError | SQLAlchemyError)
                if not expected or part not in self.problems:
                    _log.error("%s failed: %s", part, type(error).__name__, exc_info=not expected)
                self.note(part, type(error).__name__)
            await asyncio.sleep(pause)

    def watch(self, part: str, task: asyncio.Task[None]) -> asyncio.Task[None]:
        """Note when a task that should never end has failed."""

        def ended(done: asyncio.Task[None]) -> None:
            if not done.cancelled() and done.exception() is not None:
                _log.error("%s has stopped", part, exc_info=done.exception())
                self.note(part, "stopped")

        task.add_done_callback(ended)
        return task
