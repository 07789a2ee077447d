"""Exact answers: who wins with best play, which moves keep that, and how."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kamon import rules
from kamon.engine import kernel
from kamon.engine.distances import measure
from kamon.engine.limits import LEAST_MEMORY, Budget, Limits
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.prover import Answer, Prover, value_by_questions, value_of_end
from kamon.engine.top_tree import DEEPEST, Standing, TopTree
from kamon.engine.values import LOSS, WIN, negated
from kamon.errors import FormatError
from kamon.layout import Layout
from kamon.notation import format_layout
from kamon.position import Position

# A move whose value is in the table needs hardly more nodes than this to say so.
_GLANCE: Final = 1_000
# The tree at the top judges each of its nodes by random games, which pays only in a long search.
_LONG_SEARCH: Final = 1_000_000
_FORMAT: Final = "kamon search"
_FORMAT_VERSION: Final = 2


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


class Solver:
    """What is known of one layout: what one search proves, the next one knows.

    Not for use by several threads at once; it starts threads of its own.
    """

    def __init__(self, layout: Layout, limits: Limits | None = None) -> None:
        self.layout = layout
        self.limits = limits or Limits()
        self.prover = Prover(layout, self.limits)
        # By whom a draw counts for: 1 White, which is asked first, and 0 Black.
        first = TopTree(self.prover, 1)
        self.trees = {1: first, 0: TopTree(self.prover, 0, first)}
        # The values of positions that were solved as a whole.
        self._solved: dict[Position, int] = {}

    # --- Values ---

    def value(self, position: Position, budget: Budget | None = None) -> int | None:
        """Return the exact value for the side to move, or None where a limit ended the search."""
        budget = budget or Budget(self.limits)
        known = self._solved.get(position)
        if known is None:
            known = self.prover.at_once(position)
        if known is not None:
            budget.nodes += 1
            return known
        return value_by_questions(position, lambda draw_to: self.ask(position, draw_to, budget))

    def ask(self, position: Position, draw_to: int, budget: Budget) -> Answer | None:
        """Tell who wins if a draw counts for 1, White, or for 0, Black; None if a limit ended it.

        Trusts that the position is one that takes a search.
        """
        tree = self.trees[draw_to]
        known = tree.known(position)
        if known is not None:
            return known
        if position.ply < DEEPEST and budget.nodes_left() >= _LONG_SEARCH:
            return tree.ask(position, budget)
        return self.prover.ask(position, draw_to, budget)

    def standing(self, position: Position) -> Standing | None:
        """Tell how the proof of an early position stands; None for others, and before it begins."""
        later, first = (self.trees[draw_to].standing(position) for draw_to in (0, 1))
        return later or first

    # --- Saving ---

    def save(self) -> str:
        """Write down what is solved, and how far the opening is, as text that ``restore`` reads.

        Work on leaves that are not proven yet is not saved: some seconds of each thread.
        """
        trees = {str(draw_to): tree.dump() for draw_to, tree in self.trees.items()}
        solved = [
            [position.black, position.white, position.last, value]
            for position, value in self._solved.items()
        ]
        body = json.dumps({"layout": format_layout(self.layout), "solved": solved, "trees": trees})
        head = {"format": _FORMAT, "version": _FORMAT_VERSION, "sha256": _digest(body)}
        return f"{json.dumps(head)}\n{body}\n"

    def restore(self, text: str) -> None:
        """Go on from what was saved. Raises ``FormatError`` where that is not possible."""
        head_line, _, body = text.partition("\n")
        try:
            head = json.loads(head_line)
            is_ours = head["format"] == _FORMAT
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            raise FormatError("this is not a saved search")
        if head.get("version") != _FORMAT_VERSION:
            raise FormatError(
                f"this search was saved by another version: expected format {_FORMAT_VERSION}, "
                f"not {head.get('version')!r}"
            )
        if head.get("sha256") != _digest(body.removesuffix("\n")):
            raise FormatError("this saved search is damaged: its checksum is wrong")
        saved = json.loads(body)
        if saved["layout"] != format_layout(self.layout):
            raise FormatError(f"this is the search of another board: {saved['layout']}")
        self._solved = {
            Position(self.layout, black, white, last): value
            for black, white, last, value in saved["solved"]
        }
        for draw_to, tree in self.trees.items():
            tree.restore(saved["trees"][str(draw_to)], self.layout)

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
        if value is not None:
            self._solved[position] = value
        if value is None or not moves:
            return Solution(
                value,
                () if value is None else self.known_best(position, value),
                complete=value == LOSS,
                nodes=nodes,
                seconds=seconds,
                total_nodes=nodes,
                reason=budget.reason,
            )
        best, complete = self._keeping(position, value, budget)
        length = None
        if distance and complete:
            length = measure(self.prover, position, value, budget)
        line = self.line(position, budget) if complete else ()
        return Solution(
            value, best, complete, line, length, nodes, seconds, budget.nodes, budget.reason
        )

    def values(self, position: Position, budget: Budget | None = None) -> dict[int, int | None]:
        """Return the exact value of each legal move, for who plays it; None where not proven."""
        budget = budget or Budget(self.limits)
        return {
            cell: negated(self.value(position.after(cell), budget))
            for cell in rules.legal_cells(position)
        }

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
        proving = self.prover.proving_move(position)
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
            reached = negated(self.value(position.after(cell), budget))
            if reached is None:
                return None
            if reached == value:
                ended = rules.outcome(position.after(cell)) is not None
                work[cell] = 0 if ended else 1 + budget.nodes - before
        easiest = min if value == WIN else max
        return easiest(work, key=lambda cell: (work[cell], -cell))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
    opening = Position(Layout.shuffled(0))
    limits = Limits(memory=LEAST_MEMORY, nodes=100)
    solver = Solver(opening.layout, limits)
    solver.solve(opening)
    measure(solver.prover, opening, WIN, Budget(limits))
    tree = PlayoutTree(opening, 0, 1_000)
    tree.grow(100)
    tree.after(rules.legal_cells(opening)[:1])
    kernel.note_compiled()
