"""Exact answers late in a game, on one layout: cheap enough that no limit is needed."""

from typing import Final

import numpy as np

from kamon import rules
from kamon.engine.distances import measure_late
from kamon.engine.limits import MIB, NO_LIMIT, Limits
from kamon.engine.prover import Answer, Prover, value_by_questions, winner_of
from kamon.layout import Layout
from kamon.position import Position

_MEMORY: Final = 16 * MIB


class LateSolver:
    """Values and lengths from about ply 12 on. What one search proves, the next one knows."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._prover = Prover(layout, Limits(memory=_MEMORY))
        self._stop = np.zeros(1, dtype=np.uint8)

    def is_open(self, position: Position) -> bool:
        """Tell whether it takes a search to see who wins."""
        return self._prover.at_once(position) is None

    def value(self, position: Position) -> int:
        """Return the exact value for the side to move."""
        known = self._prover.at_once(position)
        if known is None:
            known = value_by_questions(position, lambda draw_to: self._ask(position, draw_to))
        if known is None:
            raise AssertionError("a search without limits has an answer")
        return known

    def values(self, position: Position) -> dict[int, int]:
        """Return the exact value of each legal move, for who plays it."""
        return {cell: -self.value(position.after(cell)) for cell in rules.legal_cells(position)}

    def length(self, position: Position, value: int) -> int:
        """Count the plies to the end with best play; the value must be the right one."""
        return measure_late(self._prover, position, value)

    def _ask(self, position: Position, draw_to: int) -> Answer:
        won, _, taint, _ = self._prover.search_slice(0, position, draw_to, NO_LIMIT, self._stop)
        return Answer(winner_of(position, won=won == 0), taint)
