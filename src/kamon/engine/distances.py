"""How long the game lasts under best play: the winner hurries, the loser delays."""

import threading
from typing import Final

import numpy as np

from kamon import rules
from kamon.engine import kernel
from kamon.engine.solver import DRAW, WIN, Budget, Solver, plies_left
from kamon.position import Position, Side

_MEMO_ENTRIES: Final = 1 << 20


def measure(solver: Solver, position: Position, value: int, budget: Budget) -> int | None:
    """Count the plies to the end of a position whose value is known; None if a limit ends it.

    A draw always fills the board. A win is searched for with ever more plies, so the first length
    that is found is the shortest.
    """
    if rules.outcome(position) is not None:
        return 0
    if value == DRAW:
        return plies_left(position)
    mover = 0 if position.turn is Side.BLACK else 1
    attacker = mover if value == WIN else 1 - mover
    if attacker not in solver.memos:
        solver.memos[attacker] = kernel.new_memo(_MEMO_ENTRIES, solver.table, solver.locks)
    stack, memo = kernel.new_stack(), solver.memos[attacker]
    # The winner makes the last move, so the length is odd for the one and even for the other.
    for plies in range(1 if value == WIN else 2, plies_left(position) + 1, 2):
        answer = _forced(solver, position, attacker, plies, budget, (stack, memo))
        if answer is None:
            return None
        if answer:
            return plies
    raise AssertionError("a proven win has a length")


def _forced(
    solver: Solver,
    position: Position,
    attacker: int,
    plies: int,
    budget: Budget,
    memory: tuple[kernel.Stack, kernel.Memo],
) -> bool | None:
    stack, memo = memory
    stop = np.zeros(1, dtype=np.uint8)
    kernel.set_root(solver.ground, stack, *kernel.arguments(position)[1:])
    stack.counter[1] = budget.nodes_left()
    answers: list[int] = []

    def run() -> None:
        answers.append(kernel.forced(solver.ground, stack, memo, attacker, plies, stop))

    solver.wait([threading.Thread(target=run, daemon=True)], stop, budget, [stack])
    if answers[0] < 0:
        budget.give_up()
        return None
    return bool(answers[0])
