"""Finds puzzles of one move: one that wins at once, or the only one that stops the threats.

In both kinds the rules alone name the move, by a look one stone ahead. The solver then proves that
it keeps the value, and that no other move does.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from kamon import rules
from kamon.engine.late import LateSolver
from kamon.engine.values import LOSS
from kamon.position import Position
from kamon.puzzles.finding import only_right_move, prove
from kamon.puzzles.puzzle import Puzzle

# With fewer stones there are hardly any chains. With more the board is too full for a beginner.
PLIES: Final = range(12, 23)
# With fewer legal moves there is too little to choose from.
LEAST_MOVES: Final = 4


def one_move_puzzles(positions: Sequence[Position], moves: Sequence[int]) -> Iterator[Puzzle]:
    """Find the puzzles of one move in a game, the last first; see ``find_puzzle``."""
    solver = LateSolver(positions[0].layout)
    for position in reversed(positions[PLIES.start : PLIES.stop]):
        right = only_candidate(position)
        if right is not None and _is_proven(solver, position, right):
            yield prove(solver, moves[: position.ply], position, (right,))


def only_candidate(position: Position) -> int | None:
    """Return the only move that wins at once, or else the only one that does not lose at once.

    None if there are several, or too few legal moves. What the move is worth later is not asked.
    """
    legal, dangers = rules.legal_cells(position), rules.dangers(position)
    if len(legal) < LEAST_MOVES:
        return None
    candidates = dangers.winning or [cell for cell in legal if cell not in dangers.losing]
    return candidates[0] if len(candidates) == 1 else None


def _is_proven(solver: LateSolver, position: Position, right: int) -> bool:
    goal = solver.value(position)
    return goal != LOSS and only_right_move(solver, position, goal) == right
