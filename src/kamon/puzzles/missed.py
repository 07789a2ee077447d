"""The move that somebody missed: where a game that could be won, or held, was thrown away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from kamon import rules
from kamon.engine.late import LateSolver
from kamon.engine.values import LOSS, VALUE_NAMES
from kamon.notation import format_cell
from kamon.position import Position, Side
from kamon.puzzles.finding import refute
from kamon.puzzles.puzzle import Refutation

# Earlier positions take longer than somebody waits for.
_FIRST_PLY: Final = 13


@dataclass(frozen=True, slots=True)
class Missed:
    """A position in which a player could have kept more. Several moves may be right."""

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
