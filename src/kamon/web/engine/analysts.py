"""Studies and reviews: the engine thinks aloud, in a process of its own, for one page at a time.

A page that waits is told so. Where others wait as well, everybody's turn is shorter. A page that
goes away, or asks for something else, ends its work within moments. Play never waits for any of
this: it has workers of its own, and all workers have a low priority.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Any, Final, Self

from kamon.web.engine import analysing
from kamon.web.engine.analysing import END, NO_ENGINE
from kamon.web.engine.fairness import Places
from kamon.web.engine.workers import Threads, Worker
from kamon.web.errors import ApiError, too_many

# Seconds for one study: the first look, and each time that somebody wants it deeper.
STUDY_SECONDS: Final = 20.0
DEEPER_FACTOR: Final = 4
# Where others wait, a turn ends after this.
SHARED_SECONDS: Final = 10.0
WAITING_LIMIT: Final = 20
# So many studies and reviews of one address wait or run at a time.
PLACES_PER_CLIENT: Final = 3
# The engine tells its progress far more often; a process that is silent for so long is lost.
_SILENCE: Final = 60.0

_log = logging.getLogger(__name__)
Told = dict[str, Any]


class Analysts:
    """A few workers, and the pages that wait for one."""

    def __init__(self, workers: int) -> None:
        self._workers = [Worker(analysing.work) for _ in range(workers)]
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        # A worker may be listened to and spoken to at the same time.
        self._threads = Threads(2 * workers, "analysts")
        self._places = Places(PLACES_PER_CLIENT, "studies")
        self.waiting = 0
        self._cancelling: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._cancelling:
            task.cancel()
        for worker in self._workers:
            worker.close()
        self._threads.close()
        await asyncio.gather(*self._cancelling, return_exceptions=True)

    @property
    def busy(self) -> bool:
        """Tell whether whoever comes now has to wait."""
        return self._free.empty()

    async def work(self, question: Told, client: str = "") -> AsyncGenerator[Told, None]:
        """Answer a question piece by piece; whoever stops listening ends the work."""
        with self._places.one(client):
            async with contextlib.aclosing(self._work(question)) as told:
                async for each in told:
                    yield each

    async def _work(self, question: Told) -> AsyncGenerator[Told, None]:
        worker = await self._wait_for_worker()
        started = time.monotonic()
        sent = self._threads.begin(worker.send, question)
        word: asyncio.Future[Any] | None = None
        missing = False
        try:
            await asyncio.shield(sent)
            while True:
                word = self._threads.begin(worker.receive, _SILENCE)
                told = await asyncio.shield(word)
                word = None
                if told == END:
                    self._free.put_nowait(worker)
                    break
                if told == NO_ENGINE:
                    missing = True
                    continue
                if self._must_make_room(started):
                    yield {**told, "spent": True}
                    self._cancel(worker, sent, None)
                    break
                yield told
        except (EOFError, OSError):
            self._free.put_nowait(worker)
            _log.warning("an analyst has died, and is replaced")
            raise ApiError("engine-failed") from None
        except (asyncio.CancelledError, GeneratorExit):
            self._cancel(worker, sent, word)
            raise
        if missing:
            raise ApiError("no-engine")

    def _must_make_room(self, started: float) -> bool:
        """Tell whether a turn ends for those who wait; it can be gone on with later."""
        return self.waiting > 0 and time.monotonic() - started > SHARED_SECONDS

    async def _wait_for_worker(self) -> Worker:
        if self._free.empty() and self.waiting >= WAITING_LIMIT:
            raise too_many("studies", 30)
        self.waiting += 1
        try:
            return await self._free.get()
        finally:
            self.waiting -= 1

    def _cancel(
        self, worker: Worker, sent: asyncio.Future[Any], word: asyncio.Future[Any] | None
    ) -> None:
        """Stop what a worker does, and let it go when it has stopped.

        The question may still be on its way, and its next word may be waited for already.
        """

        async def cancel() -> None:
            try:
                await sent
                await self._threads.run(worker.send, None)
                # It ends twice: once its answer, and once in answer to our word.
                ends, next_word = 0, word
                while ends < 2:  # noqa: PLR2004
                    told = await (next_word or self._threads.run(worker.receive, _SILENCE))
                    next_word = None
                    ends += told == END
            except (EOFError, OSError):
                worker.stop()
            self._free.put_nowait(worker)

        task = asyncio.create_task(cancel())
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)
