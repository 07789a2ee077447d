"""Exact answers: who wins with best play, which moves keep that, and how.

The kernel proves yes or no, so a position with three values takes up to two questions. The first
counts a draw for White, who alone can cover the last token. A bit beside each proof, its taint,
tells whether it rests on such a draw. Black's win, and White's win without taint, answer all; only
otherwise is the second question asked, with the draw for Black.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine import kernel
from kamon.engine.limits import LEAST_MEMORY, MIB, Budget, Limits
from kamon.layout import Layout
from kamon.position import Position, Side
from kamon.tokens import TOKENS

WIN: Final = 1
DRAW: Final = 0
LOSS: Final = -1
VALUE_NAMES: Final = {WIN: "win", DRAW: "draw", LOSS: "loss"}

# The search looks at its stop sign at every node, and we look at the clock this often.
_POLL_SECONDS: Final = 0.02
# A move whose value is in the table needs hardly more nodes than this to say so.
_GLANCE: Final = 1_000
# What was noted of so many positions is kept: of one and all its moves.
_NOTES_KEPT: Final = 16
# Of the memory, one part in so many is not for the table but for the memos of lengths and for the
# tree at the top; and never more than this.
_OTHER_PART: Final = 8
_MOST_FOR_OTHERS: Final = 96 * MIB
_MEMO_ENTRY_BYTES: Final = 24


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


Noted = TypeVar("Noted")


class Solver:
    """A table for one layout: what one search proves, the next one knows.

    Not for use by several threads at once; it starts threads of its own.
    """

    def __init__(self, layout: Layout, limits: Limits | None = None) -> None:
        self.layout = layout
        self.limits = limits or Limits()
        others = min(self.limits.memory // _OTHER_PART, _MOST_FOR_OTHERS)
        self.context = kernel.new_context(layout, _weights())
        self.table = _new_table(self.limits.memory - others, self.limits.memory)
        self.stacks = [kernel.new_stack() for _ in range(self.limits.threads)]
        # What is known of how long each side needs for a win; see distances.py.
        self.memos: dict[int, kernel.Memo] = {}
        self._memo_entries = 1 << (others // 4 // _MEMO_ENTRY_BYTES).bit_length() - 1
        self._estimates: dict[Position, dict[int, float]] = {}
        # The move by which a position was proven won or drawn, for those asked for last.
        self._proofs: dict[Position, int] = {}

    # --- Values ---

    def value(self, position: Position, budget: Budget | None = None) -> int | None:
        """Return the exact value for the side to move, or None where a limit ended the search."""
        budget = budget or Budget(self.limits)
        known = self.at_once(position)
        if known is not None:
            budget.nodes += 1
            return known
        return value_by_questions(position, lambda draw_to: self._ask(position, draw_to, budget))

    def at_once(self, position: Position) -> int | None:
        """Return the value where no search is needed to tell it."""
        over = value_of_end(position)
        if over is not None:
            return over
        answer = self.set_root(self.stacks[0], position)
        return None if answer == kernel.UNKNOWN else answer

    def set_root(self, stack: kernel.Stack, position: Position) -> int:
        """Put a position at the root of a search; +1 or -1 where no search is needed."""
        playable, black, white, last = kernel.stones_of(position)
        return kernel.set_root(self.context, stack.path, stack.space, playable, black, white, last)

    def _ask(self, position: Position, draw_to: int, budget: Budget) -> "Answer":
        """Answer one question: who wins if a draw counts for one side; None if stopped."""
        stop = np.zeros(1, dtype=np.uint8)
        busy = np.zeros((len(self.stacks), kernel.MARKS), dtype=np.uint8)
        found: list[tuple[int, int, int]] = []
        proofs: list[int] = []
        for stack in self.stacks:
            self.set_root(stack, position)

        def run(thread: int) -> None:
            stack = self.stacks[thread]
            numbers = self.search(stack, draw_to, budget.nodes_left(), stop, busy, thread)
            if 0 in numbers[:2]:
                found.append(numbers)
            if numbers[0] == 0:
                proofs.append(_proving_cell(stack))

        run_together(
            [lambda thread=thread: run(thread) for thread in range(len(self.stacks))],  # type: ignore[misc]
            stop,
            budget,
            lambda: sum(stack.nodes for stack in self.stacks),
        )
        if not found:
            budget.give_up()
            self._note_estimates(position)
            return None
        if proofs:
            _note(self._proofs, position, proofs[0])
        phi, _, taint = found[0]
        return _winner(position, won=phi == 0), taint

    def search(
        self,
        stack: kernel.Stack,
        draw_to: int,
        nodes: int,
        stop: npt.NDArray[np.uint8],
        busy: npt.NDArray[np.uint8] | None = None,
        thread: int = 0,
    ) -> tuple[int, int, int]:
        """Search the root of a stack for so many nodes: phi, delta and taint.

        ``busy`` has a row for each thread that searches the same root at this time.
        """
        if busy is None:
            busy = np.zeros((1, kernel.MARKS), dtype=np.uint8)
        stack.space["nodes_allowed"] = nodes
        shared = int(len(self.stacks) > 1)
        return kernel.search(self.context, *stack, self.table, shared, draw_to, stop, busy, thread)

    def memo(self, attacker: int) -> kernel.Memo:
        """Return what is known of how long a side needs for a win."""
        if attacker not in self.memos:
            self.memos[attacker] = kernel.new_memo(self._memo_entries)
        return self.memos[attacker]

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
        over = value_of_end(position)
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

    def move_estimates(self, position: Position) -> dict[int, float]:
        """Tell how good each live move looked to a search that a limit ended.

        The logarithm of how hard it is to refute the move over how hard to prove it: above 0 it
        looks good. An estimate, and no more. Moves that lose at once are left out, and there are
        none where the position was not searched lately, or was solved.
        """
        return self._estimates.get(position, {})

    def _note_estimates(self, position: Position) -> None:
        root = self.stacks[0].path[0]
        estimates = {
            kernel.CELL_OF[int(root["bit"][i])]: math.log(
                (1 + root["phi"][i]) / (1 + root["delta"][i])
            )
            for i in range(root["children"])
        }
        _note(self._estimates, position, estimates)

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


Answer = tuple[int, int] | None
"""Who wins (0 Black, 1 White) and whether the proof rests on a draw; None where it was stopped."""


def value_by_questions(position: Position, ask: Callable[[int], Answer]) -> int | None:
    """Turn up to two answers into the value for the side to move.

    ``ask`` tells who wins if a draw counts for 1, White, or for 0, Black.
    """
    me = _winner(position, won=True)
    for draw_to in (1, 0):
        answer = ask(draw_to)
        if answer is None:
            return None
        winner, taint = answer
        if taint == 0 or winner != draw_to:
            return WIN if winner == me else LOSS
    return DRAW


def _winner(position: Position, *, won: bool) -> int:
    """Return the number of the side that wins where the side to move does, or does not."""
    return int((position.turn is Side.WHITE) == won)


def run_together(
    works: Sequence[Callable[[], None]],
    stop: npt.NDArray[np.uint8],
    budget: Budget,
    under_way: Callable[[], int],
) -> None:
    """Run searches in threads, and stop all when one is done or a limit is reached.

    What goes wrong in one of them is raised here. ``under_way`` counts their nodes.
    """
    failures: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            failures.append(error)
        stop[0] = 1

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
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
    if failures:
        raise failures[0]


def _note(notes: dict[Position, Noted], position: Position, noted: Noted) -> None:
    """Remember something of a position, and forget what was noted first."""
    while len(notes) >= _NOTES_KEPT:
        del notes[next(iter(notes))]
    notes[position] = noted


def _proving_cell(stack: kernel.Stack) -> int:
    """Return the move that wins row 0, by a proof that rests on no draw if there is one."""
    root = stack.path[0]
    won = [i for i in range(root["children"]) if root["delta"][i] == 0]
    best = min(won, key=lambda i: root["taint"][i])
    return kernel.CELL_OF[int(root["bit"][best])]


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
    Solver(layout, Limits(memory=LEAST_MEMORY, nodes=100)).solve(Position(layout))
    kernel.note_compiled()


def value_of_end(position: Position) -> int | None:
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


def _new_table(memory: int, asked: int) -> npt.NDArray[np.uint64]:
    """Make an empty table of at most so many bytes that starts on a line of cache."""
    words = max(1, memory // 8 // kernel.WORDS_PER_GROUP) * kernel.WORDS_PER_GROUP
    try:
        raw = np.zeros(words + 8, dtype=np.uint64)
    except MemoryError:
        raise ValueError(
            f"a solver with {asked // MIB:,} MiB does not fit into the memory of this machine: "
            "ask for less"
        ) from None
    offset = (-raw.ctypes.data % 64) // 8
    return raw[offset : offset + words]
