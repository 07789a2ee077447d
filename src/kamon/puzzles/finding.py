"""Finds puzzles in games, and proves them."""

from collections.abc import Sequence
from typing import Final

from kamon import rules
from kamon.engine.late import LateSolver
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.position import Position
from kamon.puzzles.puzzle import MOST_TURNS, Puzzle, Refutation
from kamon.puzzles.themes import themes_of

# Earlier positions take longer to prove, and hardly any is decided within six turns.
FIRST_PLY: Final = 15
# Puzzles of one move follow rules of their own (``one_move``).
_FEWEST_TURNS: Final = 2
# So many wrong first moves must survive the opponent's next stone, or a short look finds the right
# one: where all but one lose to the same threat, it is the move that meets the threat.
_LEAST_TEMPTING: Final = 2
# At so many of the solver's turns there must be something to choose, and of the last turns so many
# at most may have only one legal move: they are played without a thought.
_LEAST_TURNS_WITH_CHOICE: Final = 2
_MOST_FORCED_AT_THE_END: Final = 1


def find_puzzle(positions: Sequence[Position], moves: Sequence[int]) -> Puzzle | None:
    """Find the best puzzle in a game, if it has one.

    ``positions`` are those of the game from an empty board on, and ``moves`` lead from each to the
    next. One puzzle for each game is enough: others of the same game would be much like it. The
    one that tempts most is taken, and of equal ones the longest.
    """
    solver = LateSolver(positions[0].layout)
    found: dict[Position, tuple[int, ...]] = {}
    # What is proven of the end of the game helps with the positions before it.
    for position in reversed(positions[FIRST_PLY:]):
        solution = find_solution(solver, position)
        if solution is not None and not is_dull(position, solution):
            found[position] = solution
    if not found:
        return None
    best = max(found, key=lambda at: (len(tempting_moves(at, found[at][0])), len(found[at])))
    return prove(solver, moves[: best.ply], best, found[best])


def find_solution(solver: LateSolver, position: Position) -> tuple[int, ...] | None:
    """Return the moves of both sides if the position is a puzzle.

    Trusts that it comes late in the game, where the solver needs no limit.
    """
    if rules.dangers(position).winning:
        return None
    goal = solver.value(position)
    if goal == LOSS or not _fits(solver.length(position, goal)):
        return None
    line = _only_line(solver, position, goal)
    return None if line is None else tuple(line)


def _fits(plies: int) -> bool:
    """Tell whether a game of so many plies has a fitting number of the solver's turns."""
    return _FEWEST_TURNS <= (plies + 1) // 2 <= MOST_TURNS


def _only_line(solver: LateSolver, position: Position, goal: int) -> list[int] | None:
    """Follow the only moves that keep a value, against the most stubborn defence, to the end.

    None as soon as a turn has several such moves. Of equally stubborn defences the first is taken
    that leaves only one right move each time.
    """
    right = only_right_move(solver, position, goal)
    if right is None:
        return None
    after = position.after(right)
    if rules.outcome(after) is not None:
        return [right]
    for reply in stubborn_replies(solver, after, goal):
        reached = after.after(reply)
        if rules.outcome(reached) is not None:
            # The last stone of a drawn game is White's.
            return [right, reply]
        rest = _only_line(solver, reached, goal)
        if rest is not None:
            return [right, reply, *rest]
    return None


def only_right_move(solver: LateSolver, position: Position, goal: int) -> int | None:
    """Return the move that keeps a value; None if several do."""
    right = None
    for cell in rules.legal_cells(position):
        if -solver.value(position.after(cell)) == goal:
            if right is not None:
                return None
            right = cell
    return right


def stubborn_replies(solver: LateSolver, position: Position, goal: int) -> list[int]:
    """List the replies that hold out longest against a side that is to get ``goal``.

    In a draw those are all that keep it: every drawn game fills the board.
    """
    kept = [cell for cell, value in solver.values(position).items() if value == -goal]
    if goal == DRAW:
        return kept
    lengths = {cell: solver.length(position.after(cell), WIN) for cell in kept}
    return [cell for cell in kept if lengths[cell] == max(lengths.values())]


def is_dull(position: Position, solution: Sequence[int]) -> bool:
    """Tell whether a puzzle solves itself: too little to choose, or wrong moves that are plain."""
    if len(tempting_moves(position, solution[0])) < _LEAST_TEMPTING:
        return True
    turns_with_choice = []
    for place, cell in enumerate(solution):
        if place % 2 == 0 and len(rules.legal_cells(position)) > 1:
            turns_with_choice.append(place // 2)
        position = position.after(cell)
    if len(turns_with_choice) < _LEAST_TURNS_WITH_CHOICE:
        return True
    last_turn = (len(solution) - 1) // 2
    return last_turn - turns_with_choice[-1] > _MOST_FORCED_AT_THE_END


def tempting_moves(position: Position, right: int) -> list[int]:
    """List the wrong moves that do not lose to the very next one."""
    losing = rules.dangers(position).losing
    return [cell for cell in rules.legal_cells(position) if cell != right and cell not in losing]


def prove(
    solver: LateSolver, moves: Sequence[int], position: Position, solution: Sequence[int]
) -> Puzzle:
    """Put a puzzle together: refute every wrong move, and say what it teaches."""
    goal = solver.value(position)
    refutations, at = [], position
    for place, cell in enumerate(solution):
        if place % 2 == 0:
            wrong = [other for other in rules.legal_cells(at) if other != cell]
            refutations.append({other: refute(solver, at.after(other)) for other in wrong})
        at = at.after(cell)
    return Puzzle(
        position.layout,
        tuple(moves),
        tuple(solution),
        goal,
        tuple(refutations),
        themes_of(position, solution, goal),
    )


def refute(solver: LateSolver, after: Position) -> Refutation:
    """Find the best answer to a wrong move, given the position after it."""
    if rules.outcome(after) is not None:
        return Refutation(None, DRAW, 0)
    values = solver.values(after)
    best = max(values.values())
    kept = [cell for cell, value in values.items() if value == best]
    if best == DRAW:
        return Refutation(kept[0], DRAW, solver.length(after, DRAW))
    lengths = {cell: solver.length(after.after(cell), LOSS) for cell in kept}
    quickest = min(kept, key=lambda cell: lengths[cell])
    return Refutation(quickest, LOSS, lengths[quickest] + 1)
