"""How hard a puzzle is: a first guess, until people have tried it.

A short puzzle is easier than a long one, and one that the easy levels solve is easier than one at
which the strong ones fail. Each level counts as a player of a known rating, and the rating of the
puzzle is the one that makes the tries of all levels most likely.
"""

import math
from random import Random
from typing import Final

from kamon.engine.levels import choose
from kamon.puzzles.puzzle import Puzzle

# The level that is called in, and how often. Higher ones solve everything that late in a game.
_TRIES: Final = {2: 3, 3: 3, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2}
# A puzzle of one move is within the reach of the lowest level too.
_ONE_MOVE_TRIES: Final = {1: 4, **_TRIES}
# A level scores about 73 % against the one below it (docs/engine.md): 170 points.
_LEVEL_ONE: Final = 700
_LEVEL_STEP: Final = 170
# Before anything is tried: a puzzle of two turns, each turn more, and how far off that may be.
_TWO_TURNS: Final = 1000
_TURN_STEP: Final = 170
_SPREAD: Final = 300
# Of one move more is known before: a look one stone ahead is always enough. Levels that seldom look
# there would make a defence seem harder than it is for people, so their tries count less.
_ONE_MOVE: Final = 640
_ONE_MOVE_SPREAD: Final = 120
_SCALE: Final = 400 / math.log(10)
_RATINGS: Final = range(300, 2601, 10)


def first_rating(puzzle: Puzzle) -> int:
    """Guess how hard a puzzle is. The same puzzle always gets the same rating."""
    tries = [
        (_LEVEL_ONE + _LEVEL_STEP * (level - 1), solves(puzzle, level, seed))
        for level, count in (_ONE_MOVE_TRIES if puzzle.turns == 1 else _TRIES).items()
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
    expected, spread = _TWO_TURNS + _TURN_STEP * (turns - 2), _SPREAD
    if turns == 1:
        expected, spread = _ONE_MOVE, _ONE_MOVE_SPREAD

    def fit(rating: int) -> float:
        logarithm = -(((rating - expected) / spread) ** 2) / 2
        for player, solved in tries:
            ahead = (player - rating) / _SCALE
            logarithm -= math.log1p(math.exp(-ahead if solved else ahead))
        return logarithm

    return max(_RATINGS, key=fit)
