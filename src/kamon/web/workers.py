"""Processes of our own for engine work: less favoured, and replaced when they fail."""

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
        self._lock = threading.Lock()

    def send(self, message: Any) -> None:  # noqa: ANN401 - whatever the work understands
        """Say something to the process, which is started where it does not run."""
        if self.process is None or self._pipe is None or not self.process.is_alive():
            self.start()
        assert self._pipe is not None  # noqa: S101 - start has made it
        try:
            self._pipe.send(message)
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

    def start(self) -> None:
        """Start a new process."""
        self.stop()
        self._pipe, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=self._work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

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
