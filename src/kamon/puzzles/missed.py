"""The move that somebody missed: where a game that could be won, or held, was thrown away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kamon import rules
from kamon.engine.distances import measure, plies_left
from kamon.engine.late import LateSolver
from kamon.engine.limits import Budget, Limits
from kamon.engine.review import Turn
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, WIN
from kamon.notation import format_cell
from kamon.position import Position, Side
from kamon.puzzles.finding import refute
from kamon.puzzles.puzzle import Refutation

# Earlier positions take longer than somebody waits for.
_FIRST_PLY: Final = 13
# For what the other moves of a mistake are worth that a review has found, at any ply.
_SECONDS: Final = 12.0
# For the length of one lost game. Nodes, not seconds, so that it is the same each time.
_LENGTH_NODES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Missed:
    """A position in which a player could have kept more. Several moves may be right.

    Early in a game some moves may be neither among the right ones nor refuted: not proven in time.
    """

    ply: int
    value: int
    played: int
    right: tuple[int, ...]
    refutations: dict[int, Refutation]

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "ply": self.ply,
            "value": VALUE_NAMES[self.value],
            "played": format_cell(self.played),
            "right": [format_cell(cell) for cell in self.right],
            "refutations": {
                format_cell(cell): {
                    "reply": None if found.reply is None else format_cell(found.reply),
                    "value": VALUE_NAMES[found.value],
                    "plies": found.plies,
                }
                for cell, found in self.refutations.items()
            },
        }


def missed_move(positions: Sequence[Position], moves: Sequence[int], side: Side) -> Missed | None:
    """Find the last move by which a side threw something away, late in a game; None if none."""
    solver = LateSolver(positions[0].layout)
    for position, played in reversed(list(zip(positions, moves, strict=False))):
        if position.ply < _FIRST_PLY:
            return None
        if position.turn is not side or len(rules.legal_cells(position)) == 1:
            continue
        values = solver.values(position)
        best = max(values.values())
        if best > LOSS and values[played] < best:
            right = tuple(cell for cell, value in values.items() if value == best)
            wrong = [cell for cell in values if cell not in right]
            refutations = {cell: refute(solver, position.after(cell)) for cell in wrong}
            return Missed(position.ply, best, played, right, refutations)
    return None


def reviewed_mistake(solver: Solver, position: Position, mistake: Turn) -> Missed | None:
    """Return what a review has proven to be a mistake, however early it was.

    A move counts as right if it is proven to keep the value: the one that the review has found, and
    all others that the solver proves in time. None if there is no time to refute even the move that
    was played, as in the opening.
    """
    if mistake.before is None or mistake.better is None:
        raise ValueError("the review has not proven this mistake")
    budget = Budget(Limits(seconds=_SECONDS))
    values = {**solver.values(position, budget), mistake.better: mistake.before}
    refutations = {}
    for cell, value in values.items():
        if value is not None and value < mistake.before:
            refutation = _known_refutation(solver, position.after(cell), value)
            if refutation is not None:
                refutations[cell] = refutation
    if mistake.cell not in refutations:
        return None
    right = tuple(cell for cell, value in values.items() if value == mistake.before)
    return Missed(position.ply, mistake.before, mistake.cell, right, refutations)


def _known_refutation(solver: Solver, after: Position, value: int) -> Refutation | None:
    """Return a reply by which the value of a wrong move was just proven; None if it is not known.

    If the length of the game can be measured, it is the quickest reply; if not, ``plies`` is 0.
    """
    if rules.outcome(after) is not None:
        return Refutation(None, DRAW, 0)
    kept = solver.known_best(after, -value)
    if not kept:
        return None
    if value == DRAW:
        return Refutation(kept[0], DRAW, plies_left(after))
    length = _length(solver, after, WIN)
    if length is not None:
        for cell in kept:
            if _length(solver, after.after(cell), LOSS) == length - 1:
                return Refutation(cell, LOSS, length)
    return Refutation(kept[0], LOSS, 0)


def _length(solver: Solver, position: Position, value: int) -> int | None:
    return measure(solver.prover, position, value, Budget(Limits(nodes=_LENGTH_NODES)))
