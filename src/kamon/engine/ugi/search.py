"""Thinking about one ``go``: a thread that gives exactly one ``bestmove``."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kamon.engine import levels
from kamon.engine.judgement import log_odds
from kamon.engine.strengths import STRENGTHS
from kamon.engine.ugi.protocol import (
    format_bestmove,
    format_error,
    format_info,
    format_proven,
    proven_score,
)
from kamon.position import Position

if TYPE_CHECKING:
    # At run time only the strong levels import the kernel.
    from kamon.engine.oracle import Oracle, Thought

# After ``stop``, how long to wait for the search's own answer before giving the best so far.
STOP_SECONDS: Final = 0.02
# The levels up to this one look a fixed number of plies ahead; the others have no fixed depth.
MAX_DEPTH: Final = max(strength.plies for strength in STRENGTHS)
# ``nodes`` limits the proof; the random games beside it get a limit in proportion.
_GAMES_PER_NODE: Final = 2


@dataclass(frozen=True, slots=True)
class Task:
    """How long one search may take. Where nothing is said, the level uses its own budget."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False

    @property
    def is_bounded(self) -> bool:
        """Tell whether anything is said that replaces the budget of the strongest level."""
        return self.infinite or self.seconds is not None or self.nodes is not None


class Search:
    """One answer to ``go``, worked out in a thread and given exactly once.

    ``best`` is the answer so far, a legal move from the start. ``think`` gets the search, may
    update ``best`` and report what it finds, returns the answer, and must end soon after
    ``cancelled`` is set. If it does not, ``best`` is sent without waiting for it. The answer to an
    infinite task is kept back until ``stop``.
    """

    def __init__(
        self,
        think: Callable[["Search"], int],
        first: int,
        task: Task,
        write: Callable[[str], None],
    ) -> None:
        self.best = first
        self.nodes = 0
        self.task = task
        self.cancelled = threading.Event()
        self._think = think
        self._write = write
        self._started = time.perf_counter()
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self._timer = None if task.seconds is None else threading.Timer(task.seconds, self.stop)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """The time spent so far."""
        return time.perf_counter() - self._started

    @property
    def is_over(self) -> bool:
        """Tell whether the answer has been given.

        This waits while the answer is being written, because the other program may send its next
        command as soon as it has read the answer.
        """
        with self._lock:
            return self._answered.is_set()

    def report(self, line: str) -> None:
        """Write a line about the search, unless the answer has been given."""
        with self._lock:
            if not self._answered.is_set():
                self._write_lines(line)

    def stop(self) -> None:
        """Give the answer now: the search's own if it comes at once, else the best so far."""
        self.cancelled.set()
        if not self._answered.wait(STOP_SECONDS):
            self._answer()

    def wait(self) -> None:
        """Wait for the answer."""
        self._answered.wait()

    def _run(self) -> None:
        try:
            self.best = self._think(self)
        except Exception as error:  # noqa: BLE001 - whatever fails, the other program needs a move
            self.report(format_error(str(error) or type(error).__name__))
        if self.task.infinite:
            # As in UCI: a program that asks for an endless search expects no move before ``stop``.
            self.cancelled.wait()
        self._answer()

    def _answer(self) -> None:
        with self._lock:
            if self._answered.is_set():
                return
            self._write_lines(
                format_info(self.best, nodes=self.nodes, seconds=self.seconds),
                format_bestmove(self.best),
            )
            self._answered.set()
            if self._timer is not None:
                self._timer.cancel()

    def _write_lines(self, *lines: str) -> None:
        try:
            for line in lines:
                self._write(line)
        except (OSError, ValueError):
            # The other program has closed its end, so nobody needs the answer.
            self.cancelled.set()


# --- Ways to think --------------------------------------------------------------------------


def level_for_depth(depth: int) -> int:
    """Return the strongest level that looks no further ahead than so many plies."""
    plain = [strength for strength in STRENGTHS if not strength.needs_kernel]
    return max(strength.level for strength in plain if strength.plies <= max(1, depth))


def choose_as_level(level: int, position: Position, task: Task, seed: int) -> int:
    """Choose a move as a level does, within its own budget.

    A smaller budget makes the level weaker, but a larger one does not make it stronger: an
    opponent that was chosen by its strength should keep it.
    """
    strength = STRENGTHS[level - 1]
    if task.nodes is not None and task.nodes < strength.nodes:
        return levels.choose(position, level, seed=seed, scale=task.nodes / strength.nodes)
    return levels.choose(position, level, seed=seed, seconds=task.seconds)


def choose_as_oracle(oracle: "Oracle", position: Position, search: Search) -> int:
    """Let the Oracle think for as long as the task allows, and report what it finds."""
    from kamon.engine.oracle import Effort  # noqa: PLC0415 - the easy levels need no kernel

    task = search.task
    games = None if task.nodes is None else _GAMES_PER_NODE * task.nodes
    effort = Effort(task.seconds, task.nodes, games, search.cancelled.is_set)
    return oracle.think(position, effort, lambda thought: _report(thought, search)).cell


def _report(thought: "Thought", search: Search) -> None:
    search.best, search.nodes = thought.cell, thought.nodes
    if thought.value is None:
        score = round(100 * log_odds(thought.chance or 0.0))
    else:
        score = proven_score(thought.value)
        search.report(format_proven(thought.value))
    search.report(
        format_info(thought.cell, nodes=thought.nodes, seconds=thought.seconds, score=score)
    )
