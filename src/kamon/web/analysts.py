"""Studies and reviews: the engine thinks aloud, in a process of its own, for one page at a time.

A page that waits is told so. Where others wait as well, everybody's turn is shorter. A page that
goes away, or asks for something else, ends its work within moments. Play never waits for any of
this: it has workers of its own, and these are less favoured than everything else.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

from kamon.errors import EngineMissingError
from kamon.web.budgets import BudgetError
from kamon.web.rooms import RoomError
from kamon.web.workers import Worker, be_modest

# Seconds for one study: the first look, and each time that somebody wants it deeper.
STUDY_SECONDS: Final = 20.0
DEEPER_FACTOR: Final = 4
# Where others wait, a turn ends after this.
SHARED_SECONDS: Final = 10.0
WAITING_LIMIT: Final = 20
_MEMORY: Final = 256 << 20
# The engine tells its progress far more often; a process that is silent for so long is lost.
_SILENCE: Final = 60.0
_END: Final = "end"

_log = logging.getLogger(__name__)
Told = dict[str, Any]


def _work(pipe: Connection) -> None:
    """Answer questions until the pipe closes. Any word that comes meanwhile ends the answer."""
    be_modest()
    with suppress(EOFError, KeyboardInterrupt, OSError):
        while True:
            question = pipe.recv()
            if question is not None:
                try:
                    _answer(question, pipe.send, pipe.poll)
                except EngineMissingError as error:
                    pipe.send({"error": str(error)})
            pipe.send(_END)


def _answer(question: Told, tell: Callable[[Told], None], stopped: Callable[[], bool]) -> None:
    from kamon.engine import analysis, review  # noqa: PLC0415 - only the worker pays for the engine
    from kamon.engine.limits import Limits  # noqa: PLC0415
    from kamon.notation import parse_line  # noqa: PLC0415

    game = parse_line(question["line"])
    assert game is not None  # noqa: S101 - it has been checked
    if question["kind"] == "study":
        solver = _solver(game.layout)
        analysis.study(
            solver,
            game.position,
            lambda insight: tell(insight.data()),
            seconds=question["seconds"],
            cancelled=stopped,
        )
        return
    review.review(
        game,
        Limits(seconds=question["seconds"], memory=_MEMORY),
        known=[review.read_turn(turn) for turn in question["known"]],
        tell=lambda found: tell(found.data()),
        progress=lambda done, whole: tell({"progress": [done, whole]}),
        cancelled=stopped,
    )


_kept: dict[str, Any] = {}


def _solver(layout: Any) -> Any:  # noqa: ANN401 - the engine is imported where it is needed
    """Return the solver of a layout, with what it proved when this board was asked for last."""
    from kamon.engine.limits import Limits  # noqa: PLC0415
    from kamon.engine.solver import Solver  # noqa: PLC0415

    if _kept.get("layout") != layout:
        _kept.clear()
        _kept.update(layout=layout, solver=Solver(layout, Limits(memory=_MEMORY)))
    return _kept["solver"]


def _in_thread(call: Callable[[Any], Any], argument: Any) -> asyncio.Future[Any]:  # noqa: ANN401
    """Begin a call that goes on even where nobody is left to hear how it ends."""
    begun = asyncio.ensure_future(asyncio.to_thread(call, argument))
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun


class Analysts:
    """A few workers, and the pages that wait for one."""

    def __init__(self, workers: int) -> None:
        self._workers = [Worker(_work) for _ in range(workers)]
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._free.put_nowait(worker)
        self.waiting = 0
        self._hushing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._hushing:
            task.cancel()
        for worker in self._workers:
            worker.close()
        await asyncio.gather(*self._hushing, return_exceptions=True)

    @property
    def busy(self) -> bool:
        """Tell whether whoever comes now has to wait."""
        return self._free.empty()

    async def work(self, question: Told) -> AsyncGenerator[Told, None]:
        """Answer a question piece by piece; whoever stops listening ends the work."""
        worker = await self._wait_for_worker()
        started = time.monotonic()
        sent = _in_thread(worker.send, question)
        word: asyncio.Future[Any] | None = None
        try:
            await asyncio.shield(sent)
            while True:
                word = _in_thread(worker.receive, _SILENCE)
                told = await asyncio.shield(word)
                word = None
                if told == _END:
                    self._free.put_nowait(worker)
                    return
                if self._must_make_room(started):
                    yield {**told, "spent": True}
                    break
                yield told
        except (EOFError, OSError):
            self._free.put_nowait(worker)
            _log.warning("an analyst has died, and is replaced")
            raise RoomError("engine-failed", "the engine has failed; try again") from None
        except (asyncio.CancelledError, GeneratorExit):
            self._hush(worker, sent, word)
            raise
        self._hush(worker, sent, None)

    def _must_make_room(self, started: float) -> bool:
        """Tell whether a turn ends for those who wait; it can be gone on with later."""
        return self.waiting > 0 and time.monotonic() - started > SHARED_SECONDS

    async def _wait_for_worker(self) -> Worker:
        if self._free.empty() and self.waiting >= WAITING_LIMIT:
            raise BudgetError("studies", 30)
        self.waiting += 1
        try:
            return await self._free.get()
        finally:
            self.waiting -= 1

    def _hush(
        self, worker: Worker, sent: asyncio.Future[Any], word: asyncio.Future[Any] | None
    ) -> None:
        """Stop what a worker does, and let it go when it has stopped.

        The question may still be on its way, and its next word may be waited for already.
        """

        async def hush() -> None:
            try:
                await sent
                await asyncio.to_thread(worker.send, None)
                # It ends twice: once its answer, and once in answer to our word.
                ends, next_word = 0, word
                while ends < 2:  # noqa: PLR2004
                    told = await (next_word or asyncio.to_thread(worker.receive, _SILENCE))
                    next_word = None
                    ends += told == _END
            except (EOFError, OSError):
                worker.stop()
            self._free.put_nowait(worker)

        task = asyncio.create_task(hush())
        self._hushing.add(task)
        task.add_done_callback(self._hushing.discard)
