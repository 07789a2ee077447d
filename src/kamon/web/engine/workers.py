"""Processes of our own for heavy work: of low priority, and replaced when they fail."""

import asyncio
import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar

_NICENESS: Final = 10
# What ends a process quietly: the server has closed the pipe or died, or Ctrl-C was for all.
NOBODY_LISTENS: Final = (EOFError, ConnectionError, KeyboardInterrupt)
Result = TypeVar("Result")
_spawn = multiprocessing.get_context("spawn")


def lower_priority() -> None:
    """Let everybody else go first: the event loop and the disk must not wait for us."""
    # Windows has no os.nice; its scheduler does without.
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)


class Threads:
    """Threads in which something waits for the answer of a process.

    They are apart from asyncio's own, which others need for shorter work.
    """

    def __init__(self, count: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(count, name)

    def begin(self, call: Callable[..., Result], *arguments: Any) -> asyncio.Future[Result]:  # noqa: ANN401
        """Begin a call that goes on even where nobody is left to hear how it ends."""
        loop = asyncio.get_running_loop()
        begun = loop.run_in_executor(self._pool, call, *arguments)
        begun.add_done_callback(lambda done: done.cancelled() or done.exception())
        return begun

    async def run(self, call: Callable[..., Result], *arguments: Any) -> Result:  # noqa: ANN401
        """Wait for a call in a thread."""
        return await asyncio.shield(self.begin(call, *arguments))

    def close(self) -> None:
        """Take nothing more, and wait for nothing: the processes have been ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Worker:
    """One process that runs ``work`` on its end of a pipe, that one thread at a time listens to."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self._work = work
        self.process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self.closed = False
        self._lock = threading.Lock()
        # Two threads may have something to say, and words must not be mixed.
        self._sending = threading.RLock()

    def send(self, message: Any) -> None:  # noqa: ANN401 - whatever the work understands
        """Say something to the process, which is started where it does not run."""
        with self._sending:
            process, pipe = self.process, self._pipe
            if process is None or pipe is None or not process.is_alive():
                pipe = self._start()
            try:
                pipe.send(message)
            except OSError:
                self.stop()
                raise

    def receive(self, seconds: float) -> Any:  # noqa: ANN401 - whatever the work says
        """Wait for a word of the process; one that fails or is silent for long is thrown away."""
        pipe = self._pipe
        if pipe is None:
            raise EOFError
        try:
            if pipe.poll(seconds):
                return pipe.recv()
        except (EOFError, OSError):
            self.stop()
            raise
        self.stop()
        raise TimeoutError

    def _start(self) -> Connection:
        self.stop()
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=self._work, args=(theirs,), daemon=True)
        with self._lock:
            if self.closed:
                raise EOFError
            process.start()
            self.process, self._pipe = process, ours
        theirs.close()
        return ours

    def stop(self) -> None:
        """End the process at once. Safe from any thread: the one that waits for it, and another."""
        with self._lock:
            process, pipe = self.process, self._pipe
            self.process, self._pipe = None, None
        # First the process: whoever waits for its word is woken by its end.
        if process is not None:
            process.kill()
            process.join()
        if pipe is not None:
            pipe.close()

    def close(self) -> None:
        """End the process for good: whoever says something to it from now on gets an error."""
        with self._lock:
            self.closed = True
        self.stop()
