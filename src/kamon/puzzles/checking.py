"""Proves a puzzle a second time, from nothing.

What finds puzzles and what checks them share the rules and the kernel, but no table and no search:
here a new solver with limits and a table of another size answers every question, and it is asked
in the order of the solution. ``tools/check_census.py`` checks some with no line of code in common.
"""

from typing import Final

from kamon import rules
from kamon.engine.distances import measure
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, WIN
from kamon.notation import format_cell
from kamon.position import Position
from kamon.puzzles.finding import is_dull
from kamon.puzzles.one_move import only_candidate
from kamon.puzzles.puzzle import Puzzle, Refutation
from kamon.puzzles.themes import themes_of

_LIMITS: Final = Limits(memory=4 * MIB)


def find_defects(puzzle: Puzzle) -> list[str]:
    """Say everything that is wrong with a puzzle whose moves are legal."""
    check = _Check(puzzle)
    position = puzzle.position
    check.defects += _defects_of_kind(position, puzzle.solution)
    themes = themes_of(position, puzzle.solution, puzzle.value)
    if puzzle.themes != themes:
        check.defects.append(f"its themes are {' '.join(themes)}")
    for place, cell in enumerate(puzzle.solution):
        if place % 2 == 0:
            check.solver_turn(position, cell, puzzle.refutations[place // 2])
        else:
            check.defence(position, cell)
        position = position.after(cell)
    return check.defects


def _defects_of_kind(position: Position, solution: tuple[int, ...]) -> list[str]:
    """Say what the rules alone show to be wrong with a puzzle of one move, or of several."""
    if len(solution) == 1:
        if only_candidate(position) != solution[0]:
            return ["its move is not the only one that wins at once or stops the threats"]
        return []
    defects = []
    if rules.dangers(position).winning:
        defects.append("it is won in one move")
    if is_dull(position, solution):
        defects.append("it is dull")
    return defects


class _Check:
    def __init__(self, puzzle: Puzzle) -> None:
        self.goal = puzzle.value
        self.solver = Solver(puzzle.layout, _LIMITS)
        self.defects: list[str] = []

    def solver_turn(
        self, position: Position, right: int, refutations: dict[int, Refutation]
    ) -> None:
        """Check that one move alone is right, and what becomes of each other one."""
        for cell, value in self.solver.values(position).items():
            name = format_cell(cell)
            if value is None:
                raise AssertionError("a search without limits has an answer")
            if cell == right:
                if value != self.goal:
                    self.defects.append(f"{name} is worth a {VALUE_NAMES[value]}")
            elif value >= self.goal:
                self.defects.append(f"{name} is right too")
            elif not self._is_refuted(position.after(cell), value, refutations[cell]):
                self.defects.append(f"the refutation of {name} is not the best")

    def _is_refuted(self, after: Position, value: int, given: Refutation) -> bool:
        """Tell whether a refutation is right, and as quick as any."""
        if rules.outcome(after) is not None:
            return given == Refutation(None, value, 0)
        plies = self._length(after, -value)
        if given.reply is None or (given.value, given.plies) != (value, plies):
            return False
        return self._keeps(after.after(given.reply), value, plies - 1)

    def _keeps(self, reached: Position, value: int, plies: int) -> bool:
        return self.solver.value(reached) == value and self._length(reached, value) == plies

    def defence(self, position: Position, reply: int) -> None:
        """Check that no other reply holds out longer."""
        name = format_cell(reply)
        if self.goal == DRAW:
            if self.solver.value(position.after(reply)) != DRAW:
                self.defects.append(f"the reply {name} loses")
            return
        longest = self._length(position, LOSS)
        if self._length(position.after(reply), WIN) != longest - 1:
            self.defects.append(f"the reply {name} is not the most stubborn")

    def _length(self, position: Position, value: int) -> int:
        length = measure(self.solver.prover, position, value, Budget(_LIMITS))
        if length is None:
            raise AssertionError("a search without limits has an answer")
        return length
