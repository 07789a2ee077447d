"""Eight opponents, from a first-timer's to a perfect one (``strengths`` names and measures them).

The easy ones err like people: they miss what is far, never a win that is one move away. The others
spend a budget of nodes and playouts on one thread, so the same seed gives the same game anywhere.
"""

from random import Random

from kamon import rules
from kamon.engine.judgement import distance, judge
from kamon.engine.strengths import STRENGTHS, Strength
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
        from kamon.engine.thinking import think  # noqa: PLC0415 - the easy levels need no kernel

        return think(position, strength, seed=rng.getrandbits(63), scale=scale, seconds=seconds)
    return _look_ahead(position, strength, rng)


def _look_ahead(position: Position, strength: Strength, rng: Random) -> int:
    """Play the best move that some plies of plain search see; among equals, any."""
    legal = rules.legal_cells(position)
    rng.shuffle(legal)
    if strength.plies == 1:
        winning = [cell for cell in legal if _value(position.after(cell), 0) == -_WON]
        return (winning or legal)[0]
    scores = {cell: -_value(position.after(cell), strength.plies - 1) for cell in legal}
    best = max(scores.values())
    equal = [cell for cell in legal if scores[cell] == best]
    if strength.plies == 2:  # noqa: PLR2004 - the one that sees a threat and no plan
        return equal[0]
    return min(equal, key=lambda cell: distance(position.after(cell), position.turn))


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
