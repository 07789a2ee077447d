"""What every move of a position is worth.

What is proven is exact; what is not is an estimate, and says so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kamon import rules
from kamon.engine.distances import measure
from kamon.engine.limits import Budget, Limits
from kamon.engine.playout_tree import NODES_PER_GAME, PlayoutTree, win_chance
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, WIN
from kamon.notation import format_cell
from kamon.position import Position

_PLAYOUTS: Final = 4_000
# Nodes for the first look at each move, and seconds between two words about progress.
_FIRST_SLICE: Final = 4_000
_TELL_EVERY: Final = 0.25


@dataclass(frozen=True, slots=True)
class MoveValue:
    """One legal move: its exact value for who plays it, or an estimate of its chances.

    ``distance`` counts the plies to the end, this move included, where it was asked for.
    """

    cell: int
    value: int | None
    distance: int | None = None
    chance: float | None = None

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "move": format_cell(self.cell),
            "value": None if self.value is None else VALUE_NAMES[self.value],
            "distance": self.distance,
            "estimate": None if self.chance is None else round(self.chance, 3),
        }


@dataclass(frozen=True, slots=True)
class Threats:
    """Cells with which a side would win if it could play there now."""

    mover: tuple[int, ...]
    opponent: tuple[int, ...]

    def data(self) -> dict[str, list[str]]:
        """Turn it into plain values for JSON."""
        return {
            "mover": [format_cell(cell) for cell in self.mover],
            "opponent": [format_cell(cell) for cell in self.opponent],
        }


def value_moves(
    solver: Solver, position: Position, budget: Budget, *, distance: bool = False
) -> list[MoveValue]:
    """Value every legal move, best first: exactly where the budget allows, else by playouts."""
    values = solver.values(position, budget)
    open_moves = [cell for cell, value in values.items() if value is None]
    chances = _chances(position) if open_moves else {}
    found = [
        MoveValue(
            cell,
            value,
            _distance(solver, position.after(cell), value, budget) if distance else None,
            chances.get(cell) if value is None else None,
        )
        for cell, value in values.items()
    ]
    return sorted(found, key=_worth, reverse=True)


def _distance(solver: Solver, after: Position, value: int | None, budget: Budget) -> int | None:
    if value is None:
        return None
    if rules.outcome(after) is not None:
        return 1
    rest = measure(solver.prover, after, -value, budget)
    return None if rest is None else rest + 1


def _worth(move: MoveValue) -> tuple[float, float]:
    """Order moves: wins, the shortest first; what is open by its chance; draws; losses, longest."""
    plies = move.distance or 0
    if move.value is None:
        return (move.chance or 0.0), 0.0
    return {WIN: (2.0, -plies), DRAW: (0.5, 0.0), LOSS: (-1.0, plies)}[move.value]


def _chances(position: Position) -> dict[int, float]:
    tree = PlayoutTree(position, position.ply, NODES_PER_GAME * _PLAYOUTS + 50)
    tree.grow(_PLAYOUTS)
    return {cell: win_chance(share) for cell, share in tree.chances().items()}


@dataclass(frozen=True, slots=True)
class Insight:
    """What is known of a position so far: each legal move, best first, and the line of best play.

    ``done`` tells whether everything is known, and ``spent`` whether the time for it is over.
    """

    moves: tuple[MoveValue, ...]
    line: tuple[int, ...] = ()
    nodes: int = 0
    done: bool = False
    spent: bool = False

    @property
    def value(self) -> int | None:
        """The exact value for the side to move: of a move that wins, or of the best of all."""
        values = [move.value for move in self.moves]
        if WIN in values:
            return WIN
        return None if None in values else max((v for v in values if v is not None), default=None)

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "value": None if self.value is None else VALUE_NAMES[self.value],
            "moves": [move.data() for move in self.moves],
            "pv": [format_cell(cell) for cell in self.line],
            "nodes": self.nodes,
            "done": self.done,
            "spent": self.spent,
        }


def study(
    solver: Solver,
    position: Position,
    tell: Callable[[Insight], None],
    *,
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Insight:
    """Find out all about a position, and tell each thing as soon as it is proven.

    First the values, all moves in turn with ever more nodes, so that what is easy is known soon;
    then a line; then how long each move lasts. What is told before a proof is an estimate.
    """
    return _Study(solver, position, tell, seconds, cancelled).run()


class _Study:
    """One position under study."""

    def __init__(
        self,
        solver: Solver,
        position: Position,
        tell: Callable[[Insight], None],
        seconds: float,
        cancelled: Callable[[], bool],
    ) -> None:
        self.solver, self.position, self.tell = solver, position, tell
        self.over = time.monotonic() + seconds
        self.cancelled = cancelled
        self.nodes = 0
        self.told = 0.0
        cells = rules.legal_cells(position)
        chances = _chances(position) if cells else {}
        self.moves = {cell: MoveValue(cell, None, chance=chances.get(cell)) for cell in cells}
        self.line: tuple[int, ...] = ()

    def run(self) -> Insight:
        self._say()
        if self._prove_values():
            self.line = self.solver.line(self.position, self._budget())
            self._measure()
        found = self._insight(done=not self._stopped())
        self.tell(found)
        return found

    def _stopped(self) -> bool:
        return self.cancelled() or time.monotonic() >= self.over

    def _budget(self, nodes: int | None = None) -> Budget:
        return Budget(Limits(nodes=nodes), self._stopped, self._show_progress)

    def _show_progress(self, nodes: int, _: float) -> None:
        if time.monotonic() - self.told > _TELL_EVERY:
            self._say(nodes)

    def _insight(self, under_way: int = 0, *, done: bool = False) -> Insight:
        moves = tuple(sorted(self.moves.values(), key=_worth, reverse=True))
        spent = time.monotonic() >= self.over
        return Insight(moves, self.line, self.nodes + under_way, done, spent)

    def _say(self, under_way: int = 0) -> None:
        self.told = time.monotonic()
        self.tell(self._insight(under_way))

    def _prove_values(self) -> bool:
        """Prove the value of every move; False where there was no time for all."""
        nodes = _FIRST_SLICE
        while unproven := [cell for cell, move in self.moves.items() if move.value is None]:
            for cell in unproven:
                budget = self._budget(nodes)
                value = self.solver.value(self.position.after(cell), budget)
                self.nodes += budget.nodes
                if self._stopped():
                    return False
                if value is not None:
                    self.moves[cell] = MoveValue(cell, -value)
                    self._say()
            nodes *= 4
        return True

    def _measure(self) -> None:
        """Count how long each move lasts, the best first, as far as there is time."""
        for move in sorted(self.moves.values(), key=_worth, reverse=True):
            budget = self._budget()
            after = self.position.after(move.cell)
            length = _distance(self.solver, after, move.value, budget)
            self.nodes += budget.nodes
            if length is None:
                return
            self.moves[move.cell] = MoveValue(move.cell, move.value, length)
            self._say()


def threats(position: Position) -> Threats:
    """Find the free cells with which each side would win if it were allowed to play there."""
    mover, other = position.turn, position.turn.other
    return Threats(
        tuple(rules.winning_cells(position, mover)), tuple(rules.winning_cells(position, other))
    )
