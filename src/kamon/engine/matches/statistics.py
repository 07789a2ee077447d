"""What the games of a match say about the strength of the players.

The two games on one board are not independent, so the pair of games, not the game, is what the
confidence interval counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Score:
    """The points of the first player, game by game, two games to a board."""

    points: tuple[float, ...] = ()

    def plus(self, *points: float) -> "Score":
        """Add the points of one or more games."""
        return Score((*self.points, *points))

    @property
    def wins(self) -> int:
        """How many games the first player has won."""
        return self.points.count(1.0)

    @property
    def draws(self) -> int:
        """How many games were drawn."""
        return self.points.count(0.5)

    @property
    def losses(self) -> int:
        """How many games the first player has lost."""
        return self.points.count(0.0)

    @property
    def share(self) -> float:
        """The share of the points, from 0 to 1; one half before the first game."""
        return sum(self.points) / len(self.points) if self.points else 0.5

    @property
    def pairs(self) -> list[float]:
        """The share of the points on each board that was played from both sides."""
        return [(a + b) / 2 for a, b in zip(self.points[::2], self.points[1::2], strict=False)]


# The normal distribution has 95 % within so many standard deviations.
_Z: Final = 1.959964
# Student's factors for one and two degrees of freedom, where the series below is not exact enough.
_STUDENT: Final = {1: 12.7062, 2: 4.3027}


def interval(pairs: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the share of the points, or None without any pair.

    It comes from the mean and the variance of the pairs, with Student's factor for their number.
    If all pairs ended alike, the variance says nothing; then it is Wilson's interval for as many
    single trials, which is somewhat too wide.
    """
    if not pairs:
        return None
    count = len(pairs)
    mean = sum(pairs) / count
    squares = sum((share - mean) ** 2 for share in pairs)
    if squares == 0:
        return _wilson(mean, count)
    margin = _student(count - 1) * math.sqrt(squares / (count - 1) / count)
    return max(0.0, mean - margin), min(1.0, mean + margin)


def _student(freedom: int) -> float:
    """Return Student's factor for 95 %, by Cornish and Fisher's series, exact to 0.01."""
    if freedom in _STUDENT:
        return _STUDENT[freedom]
    return (
        _Z
        + (_Z**3 + _Z) / (4 * freedom)
        + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
        + (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / (384 * freedom**3)
    )


def _wilson(share: float, count: int) -> tuple[float, float]:
    weight = _Z**2 / count
    centre = (share + weight / 2) / (1 + weight)
    margin = _Z / (1 + weight) * math.sqrt((share * (1 - share) + weight / 4) / count)
    return max(0.0, centre - margin), min(1.0, centre + margin)


def summary(first: str, second: str, score: Score) -> str:
    """Describe the score of a match in two lines."""
    played = (
        f"{first} against {second}: {score.wins} won, {score.draws} drawn, {score.losses} lost "
        f"of {len(score.points)}"
    )
    between = interval(score.pairs)
    if between is None:
        return f"{played}\nno board has been played from both sides, so there is no score yet"
    low, high = (100 * bound for bound in between)
    return (
        f"{played}\nscore {100 * score.share:.1f} %, with 95 % confidence from {low:.1f} % to "
        f"{high:.1f} % (pairs of games: {len(score.pairs)})"
    )
