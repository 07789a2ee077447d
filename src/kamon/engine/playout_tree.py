"""A tree of random games from one position: which moves tend to win."""

import math
import time
from typing import Final

import numpy as np

from kamon.engine import kernel
from kamon.position import Position

EXPLORATION: Final = 0.7
LARGEST: Final = 1 << 21
# A tree makes up to about so many nodes for each game.
NODES_PER_GAME: Final = 3
_GAMES_AT_ONCE: Final = 2_000


class PlayoutTree:
    """Plain UCT, which can be grown bit by bit. The position must go on.

    With ``prove`` the ends of games are taken back as far as they are forced.
    """

    def __init__(
        self, position: Position, seed: int, size: int = LARGEST, *, prove: bool = True
    ) -> None:
        self.games = 0
        self._prove = prove
        self._arguments = kernel.arguments(position)
        self._nodes = kernel.new_tree(size)
        self._used = 0
        self._random = np.uint64(kernel.seeded(seed))
        self._space = kernel.new_path(), kernel.new_forest()

    def grow(self, count: int) -> None:
        """Play some more games."""
        self._used, random = kernel.uct(
            *self._arguments,
            count,
            EXPLORATION,
            self._random,
            self._nodes,
            self._used,
            self._prove,
            *self._space,
        )
        # Compiled code hands a plain int back, which it would not take again.
        self._random = np.uint64(random)
        self.games += count

    def grow_until(self, moment: float, count: float = math.inf) -> None:
        """Play so many games, or until a moment of the performance counter; some at least."""
        done = 0
        while done == 0 or (done < count and time.perf_counter() < moment):
            games = int(min(_GAMES_AT_ONCE, count - done))
            self.grow(games)
            done += games

    def visits(self) -> dict[int, int]:
        """Tell how often each move was tried."""
        return {_cell(child): int(child["visits"]) for child in self._children()}

    def chances(self) -> dict[int, float]:
        """Tell which share of its games each move has won, a draw for half."""
        return {
            _cell(child): float(child["points"] / max(1, child["visits"]))
            for child in self._children()
        }

    def _children(self) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        first, count = self._nodes[0]["first"], self._nodes[0]["count"]
        return self._nodes[first : first + count]


def _cell(node: np.void) -> int:
    return kernel.CELL_OF[int(node["bit"])]
