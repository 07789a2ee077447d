"""Makes puzzles in bulk: plays games, finds what is in them, checks it, and leaves out twins."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from kamon import rules
from kamon.census.canonical import canonical_layout
from kamon.engine.levels import choose
from kamon.layout import Layout
from kamon.position import Position
from kamon.puzzles.checking import find_defects
from kamon.puzzles.difficulty import first_rating
from kamon.puzzles.files import to_fields
from kamon.puzzles.finding import find_puzzle
from kamon.puzzles.one_move import one_move_puzzles
from kamon.puzzles.puzzle import Pattern, Puzzle
from kamon.puzzles.themes import BLOCK, DEFEND, LINK, LOOP

GAMES_IN_A_BATCH: Final = 300
# The puzzles of one move in a batch, by their first theme. Half of them are defences; of the wins
# each kind is as frequent as the others, though connections are thirty times as frequent in games.
ONE_MOVE_BATCH: Final = {LINK: 1, LOOP: 1, BLOCK: 1, DEFEND: 3}
# The levels that play: they err, so their games have turning points, and they play to win.
_LEVELS: Final = (2, 3, 4, 6)
# The first plies are played at random, and later ones now and then, so that games differ.
_RANDOM_PLIES: Final = 4
_RANDOM_SHARE: Final = 0.1
_SEED_BITS: Final = 60
_MOVE_SEED_BITS: Final = 30


@dataclass(frozen=True, slots=True)
class PuzzlesJob:
    """A batch of games to find puzzles in: the same number always makes the same."""

    number: int

    def run(self) -> list[dict[str, Any]]:
        """Play the games, and return the puzzles."""
        rng = Random(f"puzzles {self.number}")  # noqa: S311 - no secret
        puzzles = (make_puzzle(rng) for _ in range(GAMES_IN_A_BATCH))
        return [dict(to_fields(puzzle)) for puzzle in puzzles if puzzle is not None]


@dataclass(frozen=True, slots=True)
class OneMoveJob:
    """A batch of one-move puzzles, a fixed number of each kind: the same number makes the same."""

    number: int

    def run(self) -> list[dict[str, Any]]:
        """Play games until there are enough puzzles of each kind, at most one from a game."""
        rng = Random(f"one-move puzzles {self.number}")  # noqa: S311 - no secret
        missing, found = dict(ONE_MOVE_BATCH), list[Puzzle]()
        while any(missing.values()):
            positions, moves = play_game(Layout.shuffled(rng.getrandbits(_SEED_BITS)), rng)
            for puzzle in one_move_puzzles(positions, moves):
                if missing[puzzle.themes[0]]:
                    missing[puzzle.themes[0]] -= 1
                    found.append(checked_and_rated(puzzle))
                    break
        return [dict(to_fields(puzzle)) for puzzle in found]


def make_puzzle(rng: Random) -> Puzzle | None:
    """Play a game, and return the best puzzle in it, if it has one."""
    layout = Layout.shuffled(rng.getrandbits(_SEED_BITS))
    positions, moves = play_game(layout, rng)
    return proven_puzzle(positions, moves)


def proven_puzzle(positions: list[Position], moves: list[int]) -> Puzzle | None:
    """Return the best puzzle of a game, proven twice and rated."""
    found = find_puzzle(positions, moves)
    return None if found is None else checked_and_rated(found)


def checked_and_rated(found: Puzzle) -> Puzzle:
    """Prove a puzzle a second time, and rate it."""
    defects = find_defects(found)
    if defects:
        raise AssertionError(f"two proofs of puzzle {found.id} differ: {', '.join(defects)}")
    return replace(found, rating=first_rating(found))


def play_game(layout: Layout, rng: Random) -> tuple[list[Position], list[int]]:
    """Let two levels play to the end; return the positions and the moves between them."""
    levels = rng.choice(_LEVELS), rng.choice(_LEVELS)
    positions, moves = [Position(layout)], list[int]()
    while legal := rules.legal_cells(position := positions[-1]):
        if position.ply < _RANDOM_PLIES or rng.random() < _RANDOM_SHARE:
            cell = rng.choice(legal)
        else:
            level = levels[position.ply % 2]
            cell = choose(position, level, seed=rng.getrandbits(_MOVE_SEED_BITS))
        moves.append(cell)
        positions.append(position.after(cell))
    return positions, moves


def without_twins(puzzles: Iterable[Puzzle]) -> Iterator[Puzzle]:
    """Leave out each puzzle whose board or whose picture of stones and moves was there before.

    Boards are compared by their canonical layout, pictures by their pattern.
    """
    layouts: set[Layout] = set()
    patterns: set[Pattern] = set()
    for puzzle in puzzles:
        layout = canonical_layout(puzzle.layout)
        if layout not in layouts and puzzle.pattern not in patterns:
            layouts.add(layout)
            patterns.add(puzzle.pattern)
            yield puzzle
