"""A tree of random games from one position: which moves tend to win."""

import math
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from kamon.engine import kernel
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.position import Position

EXPLORATION: Final = 0.7
LARGEST: Final = 1 << 21
# A tree makes up to about so many nodes for each game.
NODES_PER_GAME: Final = 3
_GAMES_AT_ONCE: Final = 2_000
# How much the share of random games won tells of who wins with best play: a curve on log-odds,
# fitted to solved positions at ply 8 and 10.
_SLOPE: Final = 12.0
_SHIFT: Final = -1.2
_SUREST: Final = 7.0


def win_chance(share: float) -> float:
    """Estimate the chance that a move wins with best play by the share of random games it won."""
    sure = min(0.999, max(0.001, share))
    odds = _SLOPE * math.log(sure / (1.0 - sure)) + _SHIFT
    return 1.0 / (1.0 + math.exp(-min(_SUREST, max(-_SUREST, odds))))


class PlayoutTree:
    """Plain UCT, which can be grown bit by bit. The position must go on.

    With ``prove`` the ends of games are taken back as far as they are forced.
    """

    def __init__(
        self, position: Position, seed: int, size: int = LARGEST, *, prove: bool = True
    ) -> None:
        self.position = position
        self.games = 0
        self._prove = prove
        self._arguments = kernel.arguments(position)
        self._nodes = kernel.new_tree(size)
        self._used = 0
        self._random = np.uint64(kernel.seeded(seed))
        context = kernel.new_context(position.layout)
        self._space = kernel.new_path(), kernel.new_forest(), context, *kernel.new_stack()

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

    @property
    def is_full(self) -> bool:
        """Tell whether it has stopped growing, so that more games tell little."""
        return self._used > 0.97 * len(self._nodes)

    def after(self, cells: Sequence[int]) -> "PlayoutTree | None":
        """Return what is known below a line of moves, as a tree of its own; None if nothing."""
        node = 0
        position = self.position
        for cell in cells:
            first, count = int(self._nodes[node]["first"]), int(self._nodes[node]["count"])
            below = [at for at in range(first, first + count) if first > 0]
            node = next((at for at in below if _cell(self._nodes[at]) == cell), 0)
            if node == 0:
                return None
            position = position.after(cell)
        if self._nodes[node]["first"] <= 0:
            return None
        tree = PlayoutTree(position, 0, len(self._nodes), prove=self._prove)
        tree._used = kernel.copy_subtree(self._nodes, node, tree._nodes)
        tree._random = self._random
        tree.games = int(self._nodes[node]["visits"])
        return tree

    def visits(self) -> dict[int, int]:
        """Tell how often each move was tried: never, where it is proven to lose."""
        return {
            _cell(child): 0 if self._result(child) == LOSS else int(child["visits"])
            for child in self._children()
        }

    def chances(self) -> dict[int, float]:
        """Tell which share of its games each move has won, a draw for half.

        What is proven stands for all of its games.
        """
        return {_cell(child): self._share(child) for child in self._children()}

    def _share(self, child: np.void) -> float:
        result = self._result(child)
        if result is None:
            return float(child["points"] / max(1, child["visits"]))
        return {WIN: 1.0, DRAW: 0.5, LOSS: 0.0}[result]

    def _result(self, child: np.void) -> int | None:
        """Return what a move is worth where the tree has proven it."""
        if not self._prove or child["first"] > kernel.ENDED:
            return None
        winner = kernel.ENDED - int(child["first"])
        if winner == kernel.DRAWN:
            return DRAW
        return WIN if winner == self.position.ply % 2 else LOSS

    def _children(self) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        first, count = self._nodes[0]["first"], self._nodes[0]["count"]
        return self._nodes[first : first + count]


def _cell(node: np.void) -> int:
    return kernel.CELL_OF[int(node["bit"])]
