"""Exact answers: who wins with best play, which moves keep that, and how.

The kernel proves yes or no, so a position with three values takes up to two questions. The first
counts a draw for White, who alone can cover the last token. A bit beside each proof, its taint,
tells whether it rests on such a draw. Black's win, and White's win without taint, answer all; only
otherwise is the second question asked, with the draw for Black.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine import kernel
from kamon.layout import Layout
from kamon.position import Position, Side
from kamon.tokens import TOKENS

WIN: Final = 1
DRAW: Final = 0
LOSS: Final = -1
VALUE_NAMES: Final = {WIN: "win", DRAW: "draw", LOSS: "loss"}

MIB: Final = 1 << 20
DEFAULT_MEMORY: Final = 512 * MIB
SMALLEST_TABLE: Final = MIB
LARGEST_TABLE: Final = 1 << 44
_NO_LIMIT: Final = 1 << 60
# The search looks at its stop sign at every node, and we look at the clock this often.
_POLL_SECONDS: Final = 0.02
# A move whose value is in the table needs hardly more nodes than this to say so.
_GLANCE: Final = 1_000
# What was noted of so many positions is kept: of one and all its moves.
_LEANINGS_KEPT: Final = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up. ``memory`` is the size of the table in bytes."""

    seconds: float | None = None
    nodes: int | None = None
    memory: int = DEFAULT_MEMORY
    threads: int = 1

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"a time limit is more than 0 seconds, not {self.seconds}")
        if self.nodes is not None and not 1 <= self.nodes <= _NO_LIMIT:
            raise ValueError(f"a limit in nodes is 1 to {_NO_LIMIT:,}, not {self.nodes:,}")
        if self.memory < SMALLEST_TABLE:
            raise ValueError(f"a table needs {SMALLEST_TABLE} bytes or more, not {self.memory}")
        if self.memory > LARGEST_TABLE:
            raise ValueError(
                f"a table has at most {LARGEST_TABLE // MIB:,} MiB, not {self.memory // MIB:,}"
            )
        if not 1 <= self.threads <= 64:  # noqa: PLR2004 - more than any machine of today needs
            raise ValueError(f"threads are 1 to 64, not {self.threads}")


@dataclass(frozen=True, slots=True)
class Solution:
    """What is known of a position, for the side to move; what is None is not proven.

    ``best`` are the moves that are proven to keep the value, and ``complete`` tells whether every
    other move is proven not to. ``reason`` says which limit ended the work, if one did. ``nodes``
    and ``seconds`` are what the value took; the moves and the line come on top in ``total_nodes``.
    """

    value: int | None
    best: tuple[int, ...] = ()
    complete: bool = True
    line: tuple[int, ...] = ()
    distance: int | None = None
    nodes: int = 0
    seconds: float = 0.0
    total_nodes: int = 0
    reason: str | None = None


@dataclass(slots=True)
class Budget:
    """What is left of the limits, shared by all the searches that answer one question."""

    limits: Limits
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, float], None] = lambda _nodes, _seconds: None
    nodes: int = 0
    started: float = field(default_factory=time.perf_counter)
    reason: str | None = None

    @property
    def seconds(self) -> float:
        """The time spent so far."""
        return time.perf_counter() - self.started

    def nodes_left(self) -> int:
        """Return how many nodes may still be searched."""
        return _NO_LIMIT if self.limits.nodes is None else max(0, self.limits.nodes - self.nodes)

    def spent(self, under_way: int) -> bool:
        """Tell whether to stop now, with so many nodes in the search that is running."""
        self.progress(self.nodes + under_way, self.seconds)
        if self.cancelled():
            self.reason = "cancelled"
        elif self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            self.reason = "time"
        elif under_way >= self.nodes_left():
            self.reason = "nodes"
        return self.reason is not None

    def give_up(self) -> None:
        """Note that a search has ended without an answer; by itself, where nobody stopped it."""
        self.reason = self.reason or "nodes"


Noted = TypeVar("Noted")


class Solver:
    """A table for one layout: what one search proves, the next one knows.

    Not for use by several threads at once; it starts threads of its own.
    """

    def __init__(self, layout: Layout, limits: Limits | None = None) -> None:
        self.layout = layout
        self.limits = limits or Limits()
        self.ground = kernel.ground(layout, _weights())
        self.table = _new_table(self.limits.memory)
        threads = self.limits.threads
        self._stacks = [kernel.new_stack() for _ in range(threads)]
        self.locks = np.zeros(kernel.LOCKS if threads > 1 else 0, dtype=np.int64)
        # What is known of how long each side needs for a win; see distances.py.
        self.memos: dict[int, kernel.Memo] = {}
        self._leanings: dict[Position, dict[int, float]] = {}
        # The move by which a position was proven won or drawn, for those asked for last.
        self._proofs: dict[Position, int] = {}

    # --- Values ---

    def value(self, position: Position, budget: Budget | None = None) -> int | None:
        """Return the exact value for the side to move, or None where a limit ended the search."""
        budget = budget or Budget(self.limits)
        over = _value_of_end(position)
        if over is not None:
            return over
        at_once = self._set_roots(position)
        if at_once != kernel.UNKNOWN:
            budget.nodes += 1
            return at_once
        me = 0 if position.turn is Side.BLACK else 1
        for draw_to in (1, 0):
            winner, taint = self._winner(position, draw_to, budget)
            if winner is None:
                return None
            if taint == 0 or winner != draw_to:
                return WIN if winner == me else LOSS
        return DRAW

    def _set_roots(self, position: Position) -> int:
        board = kernel.arguments(position)[1:]
        answers = [kernel.set_root(self.ground, stack, *board) for stack in self._stacks]
        return answers[0]

    def _winner(self, position: Position, draw_to: int, budget: Budget) -> tuple[int | None, int]:
        """Answer one question: who wins if a draw counts for one side; None if stopped."""
        stop = np.zeros(1, dtype=np.uint8)
        busy = np.zeros((len(self._stacks), kernel.SIGNS), dtype=np.uint8)
        answers: list[tuple[int, int, int]] = []
        proofs: list[int] = []
        for stack in self._stacks:
            stack.counter[1] = budget.nodes_left()

        def run(thread: int) -> None:
            answer = kernel.search(
                self.ground,
                self._stacks[thread],
                self.table,
                self.locks,
                draw_to,
                stop,
                busy,
                thread,
            )
            if answer[0] == 0 or answer[1] == 0:
                answers.append(answer)
            if answer[0] == 0:
                proofs.append(_proving_cell(self._stacks[thread]))
            stop[0] = 1

        threads = [
            threading.Thread(target=run, args=(number,), daemon=True)
            for number in range(len(self._stacks))
        ]
        self.wait(threads, stop, budget, self._stacks)
        self._set_roots(position)
        if not answers:
            budget.give_up()
            self._note_leanings(position)
            return None, 0
        me = 0 if position.turn is Side.BLACK else 1
        if proofs:
            _note(self._proofs, position, proofs[0])
        phi, _, taint = answers[0]
        return (me if phi == 0 else 1 - me), taint

    @staticmethod
    def wait(
        threads: Sequence[threading.Thread],
        stop: npt.NDArray[np.uint8],
        budget: Budget,
        stacks: Sequence[kernel.Stack],
    ) -> None:
        """Run searches, and stop them when a limit is reached or something goes wrong."""

        def under_way() -> int:
            return sum(int(stack.counter[0]) for stack in stacks)

        pause = 0.0005
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                threads[0].join(pause)
                pause = min(_POLL_SECONDS, pause * 2)
                if budget.spent(under_way()):
                    break
        finally:
            stop[0] = 1
            for thread in threads:
                thread.join()
            budget.nodes += under_way()

    # --- Moves and lines ---

    def solve(
        self,
        position: Position,
        *,
        budget: Budget | None = None,
        moves: bool = True,
        distance: bool = False,
    ) -> Solution:
        """Answer everything that is asked for, as far as the limits allow."""
        over = _value_of_end(position)
        if over is not None:
            return Solution(over, distance=0)
        budget = budget or Budget(self.limits)
        value = self.value(position, budget)
        nodes, seconds = budget.nodes, budget.seconds
        if value is None or not moves:
            return Solution(
                value,
                () if value is None else self.known_best(position, value),
                complete=False,
                nodes=nodes,
                seconds=seconds,
                total_nodes=nodes,
                reason=budget.reason,
            )
        best, complete = self._keeping(position, value, budget)
        length = None
        if distance and complete:
            from kamon.engine.distances import measure  # noqa: PLC0415 - few ask for it

            length = measure(self, position, value, budget)
        line = self.line(position, budget) if complete else ()
        return Solution(
            value, best, complete, line, length, nodes, seconds, budget.nodes, budget.reason
        )

    def values(self, position: Position, budget: Budget | None = None) -> dict[int, int | None]:
        """Return the exact value of each legal move, for who plays it; None where not proven."""
        budget = budget or Budget(self.limits)
        return {
            cell: _negated(self.value(position.after(cell), budget))
            for cell in rules.legal_cells(position)
        }

    def leanings(self, position: Position) -> dict[int, float]:
        """Tell how a search that a limit ended leaned about each live move of its position.

        The logarithm of how hard it is to refute the move over how hard to prove it: above 0 it
        looks good. An estimate, and no more. Moves that lose at once are left out, and there are
        none where the position was not searched lately, or was solved.
        """
        return self._leanings.get(position, {})

    def _note_leanings(self, position: Position) -> None:
        stack = self._stacks[0]
        leanings = {
            kernel.CELL_OF[int(stack.bit[0, i])]: math.log(
                (1 + stack.phi[0, i]) / (1 + stack.delta[0, i])
            )
            for i in range(stack.children[0])
        }
        _note(self._leanings, position, leanings)

    def _keeping(
        self, position: Position, value: int, budget: Budget
    ) -> tuple[tuple[int, ...], bool]:
        """Return the moves proven to keep the value, and whether that are all."""
        if value == LOSS:
            return tuple(rules.legal_cells(position)), True
        values = self.values(position, budget)
        best = tuple(cell for cell, reached in values.items() if reached == value)
        return best, None not in values.values()

    def known_best(self, position: Position, value: int) -> tuple[int, ...]:
        """Return moves that are known to keep a value that was just proven, without search.

        The one that proved it is among them, and whatever else a glance at the table tells.
        """
        if value == LOSS:
            return tuple(rules.legal_cells(position))
        proving = self._proofs.get(position)
        return tuple(
            cell
            for cell in rules.legal_cells(position)
            if cell == proving
            or self.value(position.after(cell), Budget(Limits(nodes=_GLANCE))) == -value
        )

    def line(self, position: Position, budget: Budget | None = None) -> tuple[int, ...]:
        """Return a line of best play to the end: both keep their values, the loser resists.

        Where a limit ends the work, the line ends with it.
        """
        budget = budget or Budget(self.limits)
        line: list[int] = []
        while rules.outcome(position) is None:
            cell = self._best_move(position, budget)
            if cell is None:
                break
            line.append(cell)
            position = position.after(cell)
        return tuple(line)

    def _best_move(self, position: Position, budget: Budget) -> int | None:
        """Choose a move that keeps the value: the winner the easiest, the loser the hardest."""
        value = self.value(position, budget)
        if value is None:
            return None
        work: dict[int, int] = {}
        for cell in rules.legal_cells(position):
            before = budget.nodes
            reached = _negated(self.value(position.after(cell), budget))
            if reached is None:
                return None
            if reached == value:
                ended = rules.outcome(position.after(cell)) is not None
                work[cell] = 0 if ended else 1 + budget.nodes - before
        easiest = min if value == WIN else max
        return easiest(work, key=lambda cell: (work[cell], -cell))


def _note(notes: dict[Position, Noted], position: Position, noted: Noted) -> None:
    """Remember something of a position, and forget what was noted first."""
    while len(notes) >= _LEANINGS_KEPT:
        del notes[next(iter(notes))]
    notes[position] = noted


def _proving_cell(stack: kernel.Stack) -> int:
    """Return the move that wins row 0, by a proof that rests on no draw if there is one."""
    won = [i for i in range(stack.children[0]) if stack.delta[0, i] == 0]
    best = min(won, key=lambda i: stack.taint[0, i])
    return kernel.CELL_OF[int(stack.bit[0, best])]


def solve(
    position: Position,
    limits: Limits | None = None,
    *,
    moves: bool = True,
    distance: bool = False,
    progress: Callable[[int, float], None] = lambda _nodes, _seconds: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Solution:
    """Solve one position. Whoever solves several of one layout keeps a ``Solver``."""
    limits = limits or Limits()
    return Solver(position.layout, limits).solve(
        position, budget=Budget(limits, cancelled, progress), moves=moves, distance=distance
    )


def warm_up() -> None:
    """Compile or load what every search needs, so that no clock runs meanwhile."""
    layout = Layout.shuffled(0)
    Solver(layout, Limits(memory=SMALLEST_TABLE, nodes=100)).solve(Position(layout))
    kernel.note_compiled()


def _value_of_end(position: Position) -> int | None:
    """Return the value for the side to move where the game is over."""
    outcome = rules.outcome(position)
    if outcome is None:
        return None
    return DRAW if outcome.winner is None else LOSS


def _negated(value: int | None) -> int | None:
    return None if value is None else -value


def plies_left(position: Position) -> int:
    """Count the tokens that are still free: no game lasts longer."""
    return len(TOKENS) - position.ply


@lru_cache(maxsize=1)
def _weights() -> dict[str, npt.NDArray[np.float32]]:
    with np.load(Path(__file__).with_name("first_guess.npz")) as stored:
        return {name: stored[name] for name in stored.files}


def _new_table(memory: int) -> npt.NDArray[np.uint64]:
    """Make an empty table: the largest power of two that fits, and starts on a line of cache."""
    words = 8
    while words * 2 * 8 <= memory:
        words *= 2
    try:
        raw = np.zeros(words + 8, dtype=np.uint64)
    except MemoryError:
        raise ValueError(
            f"a table of {memory // MIB:,} MiB does not fit into the memory of this machine: "
            "ask for less"
        ) from None
    offset = (-raw.ctypes.data % 64) // 8
    return raw[offset : offset + words]
