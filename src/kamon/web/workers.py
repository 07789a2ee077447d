"""Processes of our own for heavy work: less favoured, and replaced when they fail."""

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

_NICENESS: Final = 10
_spawn = multiprocessing.get_context("spawn")


def be_modest() -> None:
    """Let everybody else go first: the event loop and the disk must not wait for us."""
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)


class Worker:
    """One process that runs ``work`` on its end of a pipe, that one thread at a time listens to."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self._work = work
        self.process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self.closed = False
        self._lock = threading.Lock()
        # Two threads may have something to say, and words must not be mixed.
        self._sending = threading.Lock()

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
