"""Studies and reviews: the engine thinks aloud, in a process of its own, for one page at a time.

A page that waits is told its place in the queue and about how long that takes. Where others wait as
well, everybody's turn is shorter. A page that goes away, or asks for something else, ends its work
within moments, and only the seconds that it has used are charged. Play never waits for any of this:
it has workers of its own, and all workers have a low priority.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Final, Self

from kamon.web.engine import analysing
from kamon.web.engine.analysing import END, NO_ENGINE
from kamon.web.engine.fairness import Average, Places, Turns
from kamon.web.engine.workers import Threads, Worker
from kamon.web.errors import ApiError, too_many
from kamon.web.limits import Budgets

# Seconds for one study: the first look, and each time that somebody wants it deeper.
STUDY_SECONDS: Final = 20.0
DEEPER_FACTOR: Final = 4
# Where others wait, a turn ends after this.
SHARED_SECONDS: Final = 10.0
WAITING_LIMIT: Final = 20
# So many studies and reviews of one address wait or run at a time.
PLACES_PER_CLIENT: Final = 3
# A process that has died is noticed at once. One that says nothing for this long is lost too: the
# engine reports every second or two, but on a slow machine it may have to be compiled first.
_SILENCE: Final = 300.0
# A page that waits hears about every so many seconds how far it has got.
_TELL_EVERY: Final = 2.0

_log = logging.getLogger(__name__)
Told = dict[str, Any]


class Analysts:
    """A few workers, and the pages that wait for one."""

    def __init__(self, workers: int, budgets: Budgets | None = None) -> None:
        self._budgets = budgets or Budgets()
        self._workers = [Worker(analysing.work) for _ in range(workers)]
        self._turns: Turns[Worker] = Turns(self._workers, WAITING_LIMIT)
        self._turn_length = Average(SHARED_SECONDS)
        # A worker may be listened to and spoken to at the same time.
        self._threads = Threads(2 * workers, "analysts")
        self._places = Places(PLACES_PER_CLIENT, "studies")
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
    def waiting(self) -> int:
        """How many studies and reviews wait for a worker."""
        return self._turns.waiting

    async def work(self, question: Told, client: str = "") -> AsyncGenerator[Told, None]:
        """Answer a question piece by piece; whoever stops listening ends the work.

        The most that it may take is charged before, and what it did not use is given back.
        """
        most, started = question["seconds"], None
        with self._places.one(client):
            self._budgets.spend(client, "analysis", most)
            try:
                asked = self._ask(client)
                async with aclosing(self._wait(client, asked)) as waiting:
                    async for each in waiting:
                        yield each
                started = time.monotonic()
                async with aclosing(self._work(question, client, asked.result())) as told:
                    async for each in told:
                        yield each
            finally:
                used = 0.0 if started is None else time.monotonic() - started
                self._budgets.charge(client, "analysis", used - most)
                if started is not None:
                    self._turn_length.note(used)

    def _ask(self, client: str) -> "asyncio.Future[Worker]":
        try:
            return self._turns.ask(client)
        except asyncio.QueueFull:
            raise too_many("studies", self._seconds_until(WAITING_LIMIT)) from None

    async def _wait(
        self, client: str, asked: "asyncio.Future[Worker]"
    ) -> AsyncGenerator[Told, None]:
        """Tell a page again and again how long it has to wait, until it has a worker."""
        told = None
        try:
            while not asked.done():
                place = self._turns.place(client, asked)
                if place != told:
                    told = place
                    seconds = max(1, round(self._seconds_until(place)))
                    yield {"waiting": True, "place": place, "seconds": seconds}
                await asyncio.wait({asked}, timeout=_TELL_EVERY)
        except (asyncio.CancelledError, GeneratorExit):
            self._turns.leave(client, asked)
            raise

    def _seconds_until(self, place: int) -> float:
        """Estimate how long a place in the queue waits: where others wait, turns are short."""
        return self._turns.rounds(place) * min(SHARED_SECONDS, self._turn_length.seconds)

    async def _work(
        self, question: Told, client: str, worker: Worker
    ) -> AsyncGenerator[Told, None]:
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
                    self._turns.give_back(client, worker)
                    break
                if told == NO_ENGINE:
                    missing = True
                    continue
                if self._must_make_room(started):
                    yield {**told, "spent": True}
                    self._cancel(client, worker, sent, None)
                    break
                yield told
        except (EOFError, OSError):
            self._turns.give_back(client, worker)
            _log.warning("an analyst has died, and is replaced")
            raise ApiError("engine-failed") from None
        except (asyncio.CancelledError, GeneratorExit):
            self._cancel(client, worker, sent, word)
            raise
        if missing:
            raise ApiError("no-engine")

    def _must_make_room(self, started: float) -> bool:
        """Tell whether a turn ends for those who wait; it can be gone on with later."""
        return self.waiting > 0 and time.monotonic() - started > SHARED_SECONDS

    def _cancel(
        self,
        client: str,
        worker: Worker,
        sent: asyncio.Future[Any],
        word: asyncio.Future[Any] | None,
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
            self._turns.give_back(client, worker)

        task = asyncio.create_task(cancel())
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)
