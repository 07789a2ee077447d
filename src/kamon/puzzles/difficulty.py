"""How hard a puzzle is: a first guess, until people have tried it.

A short puzzle is easier than a long one, and one that the easy levels solve is easier than one at
which the strong ones fail. Each level counts as a player of a known rating, and the rating of the
puzzle is the one that makes the tries of all levels most likely.
"""

import math
from random import Random
from typing import Final

from kamon.engine.levels import choose
from kamon.puzzles.puzzle import FEWEST_TURNS, Puzzle

# The level that is called in, and how often. Higher ones solve everything that late in a game.
_TRIES: Final = {2: 3, 3: 3, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2}
# A level scores about 73 % against the one below it (docs/engine.md): 170 points.
_LEVEL_ONE: Final = 700
_LEVEL_STEP: Final = 170
# Before anything is tried: a puzzle of two turns, each turn more, and how far off that may be.
_SHORTEST: Final = 1000
_TURN_STEP: Final = 170
_SPREAD: Final = 300
_SCALE: Final = 400 / math.log(10)
_RATINGS: Final = range(500, 2601, 10)


def first_rating(puzzle: Puzzle) -> int:
    """Guess how hard a puzzle is. The same puzzle always gets the same rating."""
    tries = [
        (_LEVEL_ONE + _LEVEL_STEP * (level - 1), solves(puzzle, level, seed))
        for level, count in _TRIES.items()
        for seed in range(count)
    ]
    return likeliest_rating(puzzle.turns, tries)


def solves(puzzle: Puzzle, level: int, seed: int) -> bool:
    """Let a level try a puzzle once."""
    rng = Random(f"{puzzle.id} {level} {seed}")  # noqa: S311 - no secret
    for place in range(0, len(puzzle.solution), 2):
        if choose(puzzle.at(place), level, seed=rng.getrandbits(30)) != puzzle.solution[place]:
            return False
    return True


def likeliest_rating(turns: int, tries: list[tuple[int, bool]]) -> int:
    """Return the rating that fits the length and the tries best: ratings, and who succeeded."""
    expected = _SHORTEST + _TURN_STEP * (turns - FEWEST_TURNS)

    def fit(rating: int) -> float:
        logarithm = -(((rating - expected) / _SPREAD) ** 2) / 2
        for player, solved in tries:
            ahead = (player - rating) / _SCALE
            logarithm -= math.log1p(math.exp(-ahead if solved else ahead))
        return logarithm

    return max(_RATINGS, key=fit)
