"""A program that speaks the Universal Game Interface (docs/ugi.md), in a process of its own.

Every line of the conversation is logged at level DEBUG, after the name of the program:

    engine << isready             what is sent to it
    engine >> readyok             what it answers
    engine stderr >> no book      what it writes to standard error
"""

import contextlib
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any, Final

from kamon.errors import KamonError

LOGGER: Final = logging.getLogger(__name__)

# How long a program may take to end after ``quit``.
_END_SECONDS: Final = 2.0
_ANSWERS: Final = ("ugiok", "readyok", "bestmove")
_LINE_LIMIT: Final = 1 << 16


class EngineError(KamonError):
    """A program has failed. The message goes on after the program's name: "closed its output"."""


class EngineTimeoutError(EngineError):
    """A program runs, but has not answered in time."""


class UgiClient:
    """Our end of the conversation with a running program. ``name`` stands in the log.

    Every method may raise an ``EngineError``, except ``quit`` and ``kill``.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._name = name
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user chose this program
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **_own_group(),
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise EngineError(f"does not run: {reason}") from None
        # The first line of each kind since the last one that was waited for. All others are
        # dropped, so a program that never stops talking cannot fill the memory.
        self._answers: dict[str, list[str]] = {}
        self._has_ended = False
        self._changed = threading.Condition()
        self._last_error_line = ""
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read_stdout, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()

    # --- The conversation ---

    def greet(self, seconds: float) -> None:
        """Open the conversation."""
        self.send("ugi")
        self.wait_for("ugiok", seconds)

    def new_game(self, seconds: float) -> None:
        """Announce a new game, and wait until the program is ready for it."""
        self.send("uginewgame")
        self._synchronise(seconds)

    def best_move(self, fen: str, seconds: float, grace: float) -> str:
        """Ask for a move in a position, and return the word that the program gives for it.

        The program may take ``grace`` seconds longer than it was told to.
        """
        self.send(f"position fen {fen}")
        # A program may have sent too many answers to the last command; this skips them.
        self._synchronise(seconds + grace)
        self.send(f"go movetime {max(1, round(1000 * seconds))}")
        words = self.wait_for("bestmove", seconds + grace)
        return " ".join(words[1:2])

    def quit(self) -> None:
        """Ask the program to end, and kill it if it does not."""
        with contextlib.suppress(EngineError):
            self.send("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.kill()

    def _synchronise(self, seconds: float) -> None:
        self.send("isready")
        self.wait_for("readyok", seconds)

    # --- Lines ---

    def send(self, line: str) -> None:
        """Send a line."""
        assert self._process.stdin is not None  # noqa: S101 - Popen was asked for a pipe
        LOGGER.debug("%s << %s", self._name, line)
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise self._exit_error() from None

    def wait_for(self, word: str, seconds: float) -> list[str]:
        """Return the words of the next line that begins with ``word``; drop what came before."""
        with self._changed:
            self._changed.wait_for(lambda: word in self._answers or self._has_ended, seconds)
            words = self._answers.get(word)
            self._answers.clear()
        if words is not None:
            return words
        if self._has_ended:
            raise self._exit_error()
        raise EngineTimeoutError(f"did not send {word} within {seconds:g} s")

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - as above
        with self._process.stdout as stream:
            while line := stream.readline(_LINE_LIMIT):
                text = line.decode("utf-8", errors="replace").strip()
                LOGGER.debug("%s >> %s", self._name, text)
                words = text.split()
                if words and words[0] in _ANSWERS:
                    with self._changed:
                        self._answers.setdefault(words[0], words)
                        self._changed.notify()
        with self._changed:
            self._has_ended = True
            self._changed.notify()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - as above
        with self._process.stderr as stream:
            while line := stream.readline(_LINE_LIMIT):
                text = line.decode("utf-8", errors="replace").strip()
                LOGGER.debug("%s stderr >> %s", self._name, text)
                self._last_error_line = text[:200] or self._last_error_line

    # --- The process ---

    def kill(self) -> None:
        """End the program at once; except on Windows, also the processes that it has started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None  # noqa: S101 - as above
        # Closing sends what is still in the buffer, and nobody reads that any more.
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._join_readers()

    def _join_readers(self) -> None:
        # A process that the program has left behind may hold the pipes open, so do not wait long.
        for reader in self._readers:
            reader.join(0.5)

    def _exit_error(self) -> EngineError:
        """Say how the program ended, and the last line that it wrote to standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._join_readers()
        how = _describe_exit(self._process.returncode)
        return EngineError(f"{how}: {self._last_error_line}" if self._last_error_line else how)


def _own_group() -> dict[str, Any]:
    """Return arguments for ``Popen`` that keep Ctrl-C at the terminal from the program.

    Windows has no sessions, and its name for a process group is missing elsewhere.
    """
    if hasattr(os, "killpg"):
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def _describe_exit(status: int | None) -> str:
    if status is None:
        return "closed its output"
    return f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
