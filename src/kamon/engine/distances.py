"""How long the game lasts under best play: the winner hurries, the loser delays."""

from collections.abc import Callable

import numpy as np

from kamon import rules
from kamon.engine import kernel
from kamon.engine.limits import NO_LIMIT, Budget
from kamon.engine.prover import Prover, StopSign, run_together
from kamon.engine.values import DRAW, WIN
from kamon.position import Position, Side
from kamon.tokens import TOKENS


def measure(prover: Prover, position: Position, value: int, budget: Budget) -> int | None:
    """Count the plies to the end of a position whose value is known; None if a limit ends it.

    A draw always fills the board. A win is searched for with ever more plies, so the first length
    that is found is the shortest.
    """
    stack = kernel.new_stack()

    def forced(attacker: int, plies: int) -> bool | None:
        return _forced(prover, position, attacker, plies, budget, stack)

    return _shortest(position, value, forced)


def measure_late(prover: Prover, position: Position, value: int) -> int:
    """Count the plies to the end as ``measure`` does, without limits and in this thread.

    Late in a game the search is shorter than the start of a thread.
    """
    stack, stop = prover.stacks[0], np.zeros(1, dtype=np.uint8)

    def forced(attacker: int, plies: int) -> bool:
        prover.set_root(stack, position)
        stack.space["nodes_allowed"] = NO_LIMIT
        return _ask(prover, stack, attacker, plies, stop) > 0

    length = _shortest(position, value, forced)
    if length is None:
        raise AssertionError("a search without limits has an answer")
    return length


def _shortest(
    position: Position, value: int, forced: Callable[[int, int], bool | None]
) -> int | None:
    if rules.outcome(position) is not None:
        return 0
    if value == DRAW:
        return plies_left(position)
    mover = 0 if position.turn is Side.BLACK else 1
    attacker = mover if value == WIN else 1 - mover
    # The winner makes the last move, so the length is odd for the one and even for the other.
    for plies in range(1 if value == WIN else 2, plies_left(position) + 1, 2):
        answer = forced(attacker, plies)
        if answer is None:
            return None
        if answer:
            return plies
    raise AssertionError("a proven win has a length")


def plies_left(position: Position) -> int:
    """Count the tokens that are still free: no game lasts longer."""
    return len(TOKENS) - position.ply


def _forced(
    prover: Prover,
    position: Position,
    attacker: int,
    plies: int,
    budget: Budget,
    stack: kernel.Stack,
) -> bool | None:
    stop = np.zeros(1, dtype=np.uint8)
    prover.set_root(stack, position)
    stack.space["nodes_allowed"] = budget.nodes_left()
    answers: list[int] = []

    def run(_: int) -> None:
        answers.append(_ask(prover, stack, attacker, plies, stop))

    run_together(run, 1, stop, budget, lambda: stack.nodes)
    if answers[0] < 0:
        budget.give_up()
        return None
    return bool(answers[0])


def _ask(prover: Prover, stack: kernel.Stack, attacker: int, plies: int, stop: StopSign) -> int:
    """Ask the kernel: 1 for yes, 0 for no, less where it was stopped."""
    memo, shared = prover.memo(attacker), prover.shared
    return kernel.forced(prover.context, *stack, memo, prover.table, shared, attacker, plies, stop)
