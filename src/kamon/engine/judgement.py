"""What a position looks like without search, in plain Python: the eyes of the easy levels."""

import math

from kamon.geometry import NEIGHBOURS, PAIR_MASKS, cells
from kamon.position import Position, Side

# Further than any chain is from its edges.
FAR = 9


def distance(position: Position, side: Side) -> int:
    """Count the fewest more stones with which a side could join two opposite edges."""
    mine, free = position.stones(side), position.free
    return min(_steps_between(mine, free, one, other) for _, one, other in PAIR_MASKS)


def _steps_between(mine: int, free: int, start: int, goal: int) -> int:
    """Count the free cells on a cheapest way from edge to edge; own stones cost nothing."""
    reached = _over_stones(start & mine, mine)
    entrance = start & free
    for steps in range(FAR):
        if reached & goal:
            return steps
        fresh = (_around(reached) | entrance) & free & ~reached
        reached |= fresh
        reached = _over_stones(reached | (_around(fresh) & mine), mine)
    return FAR


def _around(mask: int) -> int:
    reached = 0
    for cell in cells(mask):
        reached |= NEIGHBOURS[cell]
    return reached


def _over_stones(reached: int, mine: int) -> int:
    frontier = reached
    while frontier:
        frontier = _around(frontier) & mine & ~reached
        reached |= frontier
    return reached


def judge(position: Position) -> float:
    """Say how good a position that goes on looks for the side to move, between -1 and 1.

    Over solved positions the difference in distance is the best single sign of who wins.
    """
    mine, other = distance(position, position.turn), distance(position, position.turn.other)
    return (other - mine) / (2 * FAR)


def log_odds(chance: float) -> float:
    """Stretch a chance so that it can be added to other signs; nothing is quite sure."""
    sure = min(0.99, max(0.01, chance))
    return math.log(sure / (1 - sure))
