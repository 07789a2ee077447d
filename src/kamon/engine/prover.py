"""Proofs of one layout: the kernel's search, its table and its threads.

The kernel proves yes or no, so a position with three values takes up to two questions. The first
counts a draw for White, who alone can cover the last token. A bit beside each proof, its taint,
tells whether it rests on such a draw. Black's win, and White's win without taint, answer all; only
otherwise is the second question asked, with the draw for Black.
"""

import math
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine import kernel
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.geometry import cells
from kamon.layout import Layout
from kamon.position import Position, Side

StopSign = npt.NDArray[np.uint8]
Weights = dict[str, npt.NDArray[np.float32]]
Noted = TypeVar("Noted")

# The search looks at its stop sign at every node, and we look at the clock this often.
_POLL_SECONDS: Final = 0.02
# What was noted of so many positions is kept: of one and all its moves.
_NOTES_KEPT: Final = 16
# Of the memory, one part in so many is not for the table but for the memos of lengths and for the
# tree at the top; and never more than this.
_OTHER_PART: Final = 8
_MOST_FOR_OTHERS: Final = 96 * MIB
_MEMO_ENTRY_BYTES: Final = 24


class Answer(NamedTuple):
    """Who wins (0 Black, 1 White), and 1 if the proof rests on a draw somewhere."""

    winner: int
    taint: int


class Prover:
    """A table for one layout: what one search proves, the next one knows.

    Not for use by several threads at once; it starts threads of its own.
    """

    def __init__(self, layout: Layout, limits: Limits, weights: Weights | None = None) -> None:
        self.layout = layout
        self.limits = limits
        others = min(limits.memory // _OTHER_PART, _MOST_FOR_OTHERS)
        self.context = kernel.new_context(layout, weights or stored_weights())
        self.table = new_table(limits.memory - others, limits.memory)
        self.stacks = [kernel.new_stack() for _ in range(limits.threads)]
        # What is known of how long each side needs for a win.
        self._memos: dict[int, kernel.Memo] = {}
        self._memo_entries = 1 << (others // 4 // _MEMO_ENTRY_BYTES).bit_length() - 1
        self._estimates: dict[Position, dict[int, float]] = {}
        # The move by which a position was proven won or drawn, for those asked for last.
        self._proofs: dict[Position, int] = {}

    @property
    def shared(self) -> int:
        """1 if several threads use the table, else 0."""
        return int(len(self.stacks) > 1)

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

    def ask(self, position: Position, draw_to: int, budget: Budget) -> Answer | None:
        """Tell who wins if a draw counts for one side, by all threads; None if stopped."""
        stop = np.zeros(1, dtype=np.uint8)
        busy = np.zeros((len(self.stacks), kernel.MARKS), dtype=np.uint8)
        found: list[Answer] = []
        proofs: list[int] = []
        for stack in self.stacks:
            self.set_root(stack, position)

        def run(thread: int) -> None:
            stack = self.stacks[thread]
            phi, delta, taint = self._search(
                stack, draw_to, budget.nodes_left(), stop, busy, thread
            )
            if phi == 0 or delta == 0:
                found.append(Answer(winner_of(position, won=phi == 0), taint))
            if phi == 0:
                proofs.append(_proving_cell(stack))

        run_together(run, len(self.stacks), stop, budget, self.nodes_under_way)
        if not found:
            budget.give_up()
            self._note_estimates(position)
            return None
        if proofs:
            _note(self._proofs, position, proofs[0])
        return found[0]

    def nodes_under_way(self) -> int:
        """Count the nodes of the searches that are running."""
        return sum(stack.nodes for stack in self.stacks)

    def search_slice(
        self, thread: int, position: Position, draw_to: int, nodes: int, stop: StopSign
    ) -> tuple[int, int, int, int]:
        """Search a position for so many nodes by one thread: phi, delta, taint and the nodes.

        The position is won where phi is 0, and lost where delta is 0.
        """
        stack = self.stacks[thread]
        busy = np.zeros((1, kernel.MARKS), dtype=np.uint8)
        at_once = self.set_root(stack, position)
        if at_once != kernel.UNKNOWN:
            return int(at_once == LOSS), int(at_once == WIN), 0, stack.nodes
        numbers = self._search(stack, draw_to, nodes, stop, busy, 0)
        return *numbers, stack.nodes

    def _search(
        self,
        stack: kernel.Stack,
        draw_to: int,
        nodes: int,
        stop: StopSign,
        busy: npt.NDArray[np.uint8],
        thread: int,
    ) -> tuple[int, int, int]:
        stack.space["nodes_allowed"] = nodes
        return kernel.search(
            self.context,
            stack.path,
            stack.space,
            self.table,
            self.shared,
            draw_to,
            stop,
            busy,
            thread,
        )

    def memo(self, attacker: int) -> kernel.Memo:
        """Return what is known of how long a side needs for a win."""
        if attacker not in self._memos:
            self._memos[attacker] = kernel.new_memo(self._memo_entries)
        return self._memos[attacker]

    def losing_moves(self, position: Position) -> set[int]:
        """Return the moves that the table knows to lose, without search."""
        stack = self.stacks[0]
        self.set_root(stack, position)
        _, lost = kernel.known_moves(self.context, stack.path, self.table, self.shared)
        return set(cells(kernel.narrow(lost)))

    # --- What the last searches have noted ---

    def proving_move(self, position: Position) -> int | None:
        """Return the move by which a position was proven, if that was lately."""
        return self._proofs.get(position)

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


def value_by_questions(position: Position, ask: Callable[[int], Answer | None]) -> int | None:
    """Turn up to two answers into the value for the side to move; None if one is missing.

    ``ask`` tells who wins if a draw counts for 1, White, or for 0, Black.
    """
    for draw_to in (1, 0):
        answer = ask(draw_to)
        if answer is None:
            return None
        if answer.taint == 0 or answer.winner != draw_to:
            return WIN if answer.winner == winner_of(position, won=True) else LOSS
    return DRAW


def winner_of(position: Position, *, won: bool) -> int:
    """Return the number of the side that wins where the side to move does, or does not."""
    return int((position.turn is Side.WHITE) == won)


def value_of_end(position: Position) -> int | None:
    """Return the value for the side to move where the game is over."""
    outcome = rules.outcome(position)
    if outcome is None:
        return None
    return DRAW if outcome.winner is None else LOSS


def run_together(
    work: Callable[[int], None],
    threads: int,
    stop: StopSign,
    budget: Budget,
    under_way: Callable[[], int],
) -> None:
    """Run some work in several threads, and stop all when one is done or a limit is reached.

    ``work`` takes the number of its thread, and ``under_way`` counts the nodes of all. What goes
    wrong in a thread is raised here.
    """
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised below, in the caller's thread
            failures.append(error)
        stop[0] = 1

    running = [
        threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)
    ]
    try:
        for thread in running:
            thread.start()
        _wait(running, budget, under_way)
    finally:
        stop[0] = 1
        for thread in running:
            thread.join()
        budget.nodes += under_way()
    if failures:
        raise failures[0]


def _wait(
    threads: Sequence[threading.Thread], budget: Budget, under_way: Callable[[], int]
) -> None:
    pause = 0.0005
    while any(thread.is_alive() for thread in threads):
        threads[0].join(pause)
        pause = min(_POLL_SECONDS, pause * 2)
        if budget.spent(under_way()):
            return


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


@lru_cache(maxsize=1)
def stored_weights() -> Weights:
    """Load the network that ships with the program; ``training`` tells how it was made."""
    with np.load(Path(__file__).with_name("first_guess.npz")) as stored:
        return {name: stored[name] for name in stored.files}


def new_table(memory: int, asked: int) -> npt.NDArray[np.uint64]:
    """Make an empty table of at most so many bytes that starts on a line of cache."""
    words = max(1, memory // 8 // kernel.WORDS_PER_GROUP) * kernel.WORDS_PER_GROUP
    try:
        raw = np.zeros(words + 8, dtype=np.uint64)
    except MemoryError:
        raise ValueError(
            f"a solver with {asked // MIB:,} MiB does not fit into the memory of this machine: "
            "use less"
        ) from None
    offset = (-raw.ctypes.data % 64) // 8
    return raw[offset : offset + words]
