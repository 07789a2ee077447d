"""Opponents from a first-timer's to a perfect one (``strengths`` names and measures them).

The easy ones err like people: they miss what is far, never a win that is one move away. The others
spend a budget of nodes and games on one thread, so the same seed gives the same game anywhere.
"""

from random import Random

from kamon import rules
from kamon.engine.judgement import distance, judge
from kamon.engine.strengths import STRENGTHS, STRONGEST, Strength
from kamon.geometry import COORDINATES
from kamon.position import Position

_WON = 10.0


def choose(
    position: Position,
    level: int,
    *,
    seed: int,
    scale: float = 1.0,
    seconds: float | None = None,
) -> int:
    """Choose a move in a position that goes on.

    ``scale`` shrinks or stretches the budget. ``seconds`` bounds the time of the levels that need
    the kernel, and for the highest it replaces the budget; then the same seed no longer gives the
    same game.
    """
    legal = rules.legal_cells(position)
    if not legal:
        raise ValueError("there is nothing to choose: the game is over")
    if len(legal) == 1:
        return legal[0]
    rng = Random(seed)  # noqa: S311 - an opponent must be repeatable, not secret
    strength = STRENGTHS[level - 1]
    if strength.needs_kernel:
        return _think(position, strength, rng.getrandbits(63), scale, seconds)
    return _look_ahead(position, strength, rng)


def _think(
    position: Position, strength: Strength, seed: int, scale: float, seconds: float | None
) -> int:
    # The easy levels need no kernel.
    from kamon.engine.oracle import Effort, Oracle  # noqa: PLC0415

    nodes, games = (max(1, int(scale * size)) for size in (strength.nodes, strength.games))
    if seconds is not None and strength.level == STRONGEST:
        return Oracle(position.layout, seed=seed).think(position, Effort(seconds)).cell
    player = Oracle.for_one_move(position.layout, nodes, games, seed)
    return player.think(position, Effort(seconds, nodes, games)).cell


# --- The easy levels


def _look_ahead(position: Position, strength: Strength, rng: Random) -> int:
    """Play the best move that some plies of plain search see; among equals, any."""
    legal = rules.legal_cells(position)
    rng.shuffle(legal)
    if winning := [cell for cell in legal if _wins(position, cell)]:
        return winning[0]
    has_plan = rng.random() < strength.plans
    scores = {cell: _score(position, cell, strength, has_plan, rng) for cell in legal}
    best = max(scores.values())
    equal = [cell for cell in legal if scores[cell] == best]
    if strength.plies < 3 or not has_plan:  # noqa: PLR2004 - the plan is in their scores
        return equal[0]
    return min(equal, key=lambda cell: distance(position.after(cell), position.turn))


def _score(
    position: Position,
    cell: int,
    strength: Strength,
    has_plan: bool,  # noqa: FBT001 - told by the only caller
    rng: Random,
) -> float:
    after = position.after(cell)
    if strength.plies > 2:  # noqa: PLR2004 - the search knows no attention
        return -_value(after, strength.plies - 1)
    if strength.plies == 1 or rules.outcome(after) is not None:
        return 0.0
    if _sees_a_threat(after, cell, strength.attention, rng):
        return -_WON
    return -judge(after) if has_plan else 0.0


def _sees_a_threat(after: Position, cell: int, attention: float, rng: Random) -> bool:
    """Tell whether a reply is seen that wins at once: the farther off, the less likely."""
    return any(
        rng.random() < attention ** (_steps(cell, reply) - 1)
        for reply in rules.legal_cells(after)
        if _wins(after, reply)
    )


def _wins(position: Position, cell: int) -> bool:
    outcome = rules.outcome(position.after(cell))
    return outcome is not None and outcome.winner is position.turn


def _steps(one: int, other: int) -> int:
    """Count the steps from a cell to another over neighbours."""
    letters = COORDINATES[one][0] - COORDINATES[other][0]
    rows = COORDINATES[one][1] - COORDINATES[other][1]
    return max(abs(letters), abs(rows), abs(letters - rows))


def _value(position: Position, plies: int, best: float = -_WON, worst: float = _WON) -> float:
    """Search some plies with a window: for the side to move, exact inside it, a bound outside."""
    outcome = rules.outcome(position)
    if outcome is not None:
        return 0.0 if outcome.winner is None else -_WON
    if plies == 0:
        return judge(position)
    for cell in rules.legal_cells(position):
        best = max(best, -_value(position.after(cell), plies - 1, -worst, -best))
        if best >= worst:
            break
    return best
