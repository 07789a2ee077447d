"""Glicko-2: how strong somebody is, how sure that is, and how steady.

After Mark Glickman, "Example of the Glicko-2 system". A puzzle is an opponent: who solves it has
won against it. Each try is a rating period of its own, for both.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# How much the steadiness may change in a period; the paper recommends 0.3 to 1.2.
_TAU: Final = 0.5
_CENTRE: Final = 1500.0
_SCALE: Final = 173.7178
_PRECISE: Final = 1e-6
# A rating is never surer than this, so that whoever learns is not held back by old results.
LEAST_DEVIATION: Final = 45.0
MOST_DEVIATION: Final = 350.0


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, its standard deviation, and how much it is expected to change."""

    value: float
    deviation: float = MOST_DEVIATION
    volatility: float = 0.06


def rated(player: Rating, results: Iterable[tuple[Rating, float]]) -> Rating:
    """Return a rating after a period: opponents as they were, and 1 for a win or 0 for a loss."""
    own, deviation = (player.value - _CENTRE) / _SCALE, player.deviation / _SCALE
    information, gain = 0.0, 0.0
    for opponent, score in results:
        weight = _weight(opponent.deviation / _SCALE)
        ahead = weight * (own - (opponent.value - _CENTRE) / _SCALE)
        expected = 1 / (1 + math.exp(-ahead))
        information += weight**2 * expected * (1 - expected)
        gain += weight * (score - expected)
    if not information:
        return player
    variance = 1 / information
    volatility = _new_volatility(player.volatility, deviation, variance, variance * gain)
    spread = math.hypot(deviation, volatility)
    new_deviation = 1 / math.sqrt(1 / spread**2 + information)
    return Rating(
        _CENTRE + _SCALE * (own + new_deviation**2 * gain), _SCALE * new_deviation, volatility
    )


def bounded(rating: Rating) -> Rating:
    """Keep a rating open to change."""
    deviation = min(MOST_DEVIATION, max(LEAST_DEVIATION, rating.deviation))
    return Rating(rating.value, deviation, rating.volatility)


def _weight(deviation: float) -> float:
    """Tell how much an opponent counts, whose rating may be off by so much."""
    return 1 / math.sqrt(1 + 3 * (deviation / math.pi) ** 2)


def _new_volatility(volatility: float, deviation: float, variance: float, delta: float) -> float:
    """Solve the equation of step 5 of the paper by its own method, the Illinois algorithm."""
    start = math.log(volatility**2)

    def slope(x: float) -> float:
        grown = math.exp(x)
        total = deviation**2 + variance + grown
        return grown * (delta**2 - total) / (2 * total**2) - (x - start) / _TAU**2

    low = start
    if delta**2 > deviation**2 + variance:
        high = math.log(delta**2 - deviation**2 - variance)
    else:
        steps = 1
        while slope(start - steps * _TAU) < 0:
            steps += 1
        high = start - steps * _TAU
    at_low, at_high = slope(low), slope(high)
    while abs(high - low) > _PRECISE:
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = slope(middle)
        if at_middle * at_high <= 0:
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, at_middle
    return math.exp(low / 2)
