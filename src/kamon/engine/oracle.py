"""The strongest player: it proves what it can, and else plays the move that is likeliest right.

The proof search and a tree of random games share the time. What they have found out is kept from
move to move, and both can go on while the opponent thinks. The levels below are the same player
with less of everything.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from kamon import rules
from kamon.engine.judgement import log_odds
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.playout_tree import LARGEST, NODES_PER_GAME, PlayoutTree
from kamon.engine.solver import Solver
from kamon.engine.values import LOSS
from kamon.layout import Layout
from kamon.position import Position

DEFAULT_MEMORY: Final = 64 * MIB
# For one move: two entries of 16 bytes for each node, and never less than this.
_LEAST_MEMORY: Final = 4 * MIB
_NODE_BYTES: Final = 32
# Proof and games take turns in rounds that grow. The first is over in the blink of an eye.
_FIRST_ROUND: Final = 2_000
_LARGEST_ROUND: Final = 200_000
_GAMES_PER_NODE: Final = 1
_GAMES_AT_ONCE: Final = 1_000
# What a proof takes at ply 8, in seconds of one thread, and how much more at each ply before it.
_PROOF_SECONDS_AT_8: Final = 0.12
_PROOF_FACTOR_PER_PLY: Final = 3.0
# The share of the time that goes into the proof, where that is expected to take at most so many
# times the time there is.
_PROOF_SHARES: Final = ((2.0, 0.7), (6.0, 0.5), (30.0, 0.1))
# After so many games, how often a move was tried says more than anything else.
_MANY_GAMES: Final = 20_000
# Before, proof numbers see what is forced and games see what is likely. Together they play better
# than either: 78 % against the first and 80 % against the second alone, on equal boards.
_ESTIMATE_WEIGHT: Final = 0.15
_LOST: Final = -9.0
# Of a time, this much is kept in hand.
_LAG: Final = 0.004
# What a thread searches at least, and the part of the time that is left for one slice of a proof.
_NODES_PER_SECOND: Final = 1_000_000
_SLICE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Effort:
    """How much may go into one move. Where nothing is said, thinking ends only with a proof."""

    seconds: float | None = None
    nodes: int | None = None
    games: int | None = None
    cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Thought:
    """A move, and what is known of it: its exact value, or an estimate of its chance to win."""

    cell: int
    value: int | None = None
    chance: float | None = None
    nodes: int = 0
    games: int = 0
    seconds: float = 0.0


class Oracle:
    """A player for the games on one layout. Thinks about one position at a time."""

    def __init__(
        self,
        layout: Layout,
        *,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
        seed: int = 0,
        tree_size: int = LARGEST,
    ) -> None:
        self.layout = layout
        self.solver = Solver(layout, Limits(memory=memory, threads=threads))
        self._seed = seed
        self._tree_size = tree_size
        self._tree: PlayoutTree | None = None

    @classmethod
    def for_one_move(cls, layout: Layout, nodes: int, games: int, seed: int) -> "Oracle":
        """Make a player with just the memory for so many nodes and games."""
        memory = max(_LEAST_MEMORY, _NODE_BYTES * nodes)
        tree_size = min(LARGEST, NODES_PER_GAME * games + 50)
        return cls(layout, memory=memory, seed=seed, tree_size=tree_size)

    def think(
        self,
        position: Position,
        effort: Effort,
        tell: Callable[[Thought], None] = lambda _: None,
    ) -> Thought:
        """Choose a move in a position that goes on: one that is proven best, else the likeliest.

        ``tell`` hears of every answer on the way. What is learnt is kept for the next position.
        """
        if len(legal := rules.legal_cells(position)) == 1:
            return Thought(legal[0])
        return _Thinking(self, position, effort, tell).run()

    def tree_of(self, position: Position) -> PlayoutTree:
        """Return the tree of a position, with what is known from the positions before it."""
        tree = self._tree
        if tree is not None and tree.position != position:
            line = _line_between(tree.position, position)
            tree = None if line is None else tree.after(line)
        if tree is None:
            tree = PlayoutTree(position, self._seed + position.ply, self._tree_size)
        self._tree = tree
        return tree


class _Thinking:
    """One position under thought."""

    def __init__(
        self,
        oracle: Oracle,
        position: Position,
        effort: Effort,
        tell: Callable[[Thought], None],
    ) -> None:
        self.solver, self.position, self.effort, self.tell = oracle.solver, position, effort, tell
        self.started = time.perf_counter()
        self.nodes = 0
        self.games = 0
        self.proof_seconds = 0.0
        self.legal = rules.legal_cells(position)
        self.tree = oracle.tree_of(position)
        self.estimates: dict[int, float] = {}

    def run(self) -> Thought:
        size = _FIRST_ROUND
        best = Thought(self.legal[0])
        while True:
            value = self._prove(size) if self._wants_proof() else None
            if value is not None:
                return self._keep(value)
            if self.games == 0 or not self._wants_proof():
                self._play_games(size * _GAMES_PER_NODE)
            best = self._likeliest()
            self.tell(best)
            if self._is_over():
                return best
            size = min(2 * size, _LARGEST_ROUND)

    # --- Limits ---

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def _seconds_left(self) -> float:
        if self.effort.seconds is None:
            return math.inf
        # Half of a very short time, so that there is something to go on.
        return max(self.effort.seconds - _LAG, self.effort.seconds / 2) - self.seconds

    def _nodes_left(self) -> float:
        return math.inf if self.effort.nodes is None else self.effort.nodes - self.nodes

    def _games_left(self) -> float:
        wanted = math.inf if self.effort.games is None else self.effort.games - self.games
        return 0 if self.tree.is_full and self.games > 0 else wanted

    def _is_over(self) -> bool:
        nothing_left = self._nodes_left() <= 0 and self._games_left() <= 0
        return self.effort.cancelled() or self._seconds_left() <= 0 or nothing_left

    # --- Proof ---

    def _wants_proof(self) -> bool:
        """Tell whether the next step should be one of the proof."""
        if self._nodes_left() <= 0:
            return False
        if self.effort.seconds is None or self._games_left() <= 0 or self.nodes == 0:
            return True
        return self.proof_seconds < self._proof_share() * self.seconds

    def _proof_share(self) -> float:
        assert self.effort.seconds is not None  # noqa: S101 - asked where there is a time
        expected = _PROOF_SECONDS_AT_8 * _PROOF_FACTOR_PER_PLY ** (8 - self.position.ply)
        expected /= self.solver.limits.threads
        ratio = expected / self.effort.seconds
        return next((share for most, share in _PROOF_SHARES if ratio <= most), 0.0)

    def _prove(self, size: int) -> int | None:
        """Search some nodes more for the value."""
        # A slice that ends by itself is not late, because a search looks at the clock rarely.
        in_time = _NODES_PER_SECOND * _SLICE * self._seconds_left()
        budget = self._budget(int(min(size, self._nodes_left(), in_time)))
        before = self.seconds
        value = self.solver.value(self.position, budget)
        self.proof_seconds += self.seconds - before
        self.nodes += budget.nodes
        if value is None:
            self.estimates = self.solver.prover.move_estimates(self.position)
        return value

    def _budget(self, nodes: int) -> Budget:
        left = self._seconds_left()
        seconds = None if left == math.inf else max(0.001, left)
        limits = replace(self.solver.limits, nodes=max(1, nodes), seconds=seconds)
        return Budget(limits, self.effort.cancelled)

    def _keep(self, value: int) -> Thought:
        """Play a move that keeps a proven value: one that ends the game if there is one."""
        if value == LOSS:
            # Every move loses. The likeliest one asks most of the opponent.
            if self.games == 0:
                self._play_games(_GAMES_AT_ONCE)
            cell = self._likeliest().cell
        else:
            keeping = self.solver.known_best(self.position, value)
            cell = min(keeping, key=lambda cell: rules.outcome(self.position.after(cell)) is None)
        found = self._thought(cell, value=value)
        self.tell(found)
        return found

    # --- Games ---

    def _play_games(self, count: int) -> None:
        """Play some games at random, as long as they have something to tell."""
        count = int(min(count, self._games_left()))
        while count > 0 and (self.games == 0 or not self._must_stop()):
            step = min(_GAMES_AT_ONCE, count)
            self.tree.grow(step)
            self.games += step
            count -= step

    def _must_stop(self) -> bool:
        return self.effort.cancelled() or self._seconds_left() <= 0

    def _likeliest(self) -> Thought:
        """Choose among the moves that are not known to lose; of none, among all."""
        if self.tree.games == 0:
            self.tree.grow(_GAMES_AT_ONCE)
        visits, chances = self.tree.visits(), self.tree.chances()

        def promise(cell: int) -> tuple[float, int]:
            # The tree has no moves that lose soon.
            if self.tree.games >= _MANY_GAMES:
                return visits.get(cell, -1), -cell
            estimate = _ESTIMATE_WEIGHT * self.estimates.get(cell, _LOST)
            return estimate + log_odds(chances.get(cell, 0.0)), -cell

        lost = self.solver.prover.losing_moves(self.position)
        hopeful = [cell for cell in self.legal if cell not in lost]
        cell = max(hopeful or self.legal, key=promise)
        return self._thought(cell, chance=chances.get(cell, 0.0))

    def _thought(self, cell: int, value: int | None = None, chance: float | None = None) -> Thought:
        return Thought(cell, value, chance, self.nodes, self.games, self.seconds)


def _line_between(before: Position, after: Position) -> list[int] | None:
    """Return the two moves or the one that lead from a position to another; None if others do.

    A game goes on by one move of each side between two thoughts of one player.
    """
    for cell in rules.legal_cells(before):
        first = before.after(cell)
        if first == after:
            return [cell]
        if after.ply == before.ply + 2 and (after.black | after.white) >> cell & 1:
            for reply in rules.legal_cells(first):
                if first.after(reply) == after:
                    return [cell, reply]
    return None
