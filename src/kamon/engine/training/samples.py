"""Positions that searches judge, with what the network should have said of them.

A random position is searched for a while. Then the search is followed down, mostly along its best
moves, to a position that it has judged and not looked into yet: there the network's guess counts.
That position is solved with an empty table, which tells who wins and how many nodes the proof took.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kamon.engine import kernel
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.prover import Answer, Prover, winner_of
from kamon.engine.training.positions import random_game
from kamon.layout import Layout
from kamon.position import Position
from kamon.rules import legal_cells

_PLIES: Final = (6, 16)
_NODES: Final = 20_000
_LABEL_NODES: Final = 300_000
# How often the way down follows the move that the search likes best.
_FOLLOWED: Final = 0.6
# Samples taken from one search.
_FROM_ONE: Final = 8
_IN_ONE_JOB: Final = 200


class Sample(NamedTuple):
    """What a position looks like, whether its mover wins, and the nodes of the proof."""

    features: npt.NDArray[np.float32]
    won: bool
    nodes: int


def features_of(prover: Prover, position: Position) -> npt.NDArray[np.float32] | None:
    """Return what the network sees of a position; None where no search is needed."""
    stack = prover.stacks[0]
    if prover.set_root(stack, position) != kernel.UNKNOWN:
        return None
    kernel.describe(prover.context, *stack)
    return stack.space["features"][0].copy()  # type: ignore[no-any-return]


def frontier(prover: Prover, position: Position, rng: Random) -> Position | None:
    """Follow a search down to a position that it has judged and not looked into."""
    while True:
        estimates = _estimates(prover, position)
        if not estimates:
            return None
        best = max(estimates, key=lambda cell: estimates[cell])
        cell = best if rng.random() < _FOLLOWED else rng.choice(list(estimates))
        position = position.after(cell)
        if not _was_entered(prover, position):
            return position


def _estimates(prover: Prover, position: Position) -> dict[int, float]:
    """Return how good the open moves of a position look, by what the table says of them."""
    if prover.at_once(position) is not None:
        return {}
    prover.ask(position, 1, Budget(Limits(nodes=1)))
    return prover.move_estimates(position)


def _was_entered(prover: Prover, position: Position) -> bool:
    """Tell whether the table knows anything of the moves of a position."""
    if not legal_cells(position):
        return False
    before = Budget(Limits(nodes=1))
    prover.at_once(position)
    prover.ask(position, 1, before)
    # A position that was looked into has its moves in the table, so none needs judging.
    return before.nodes <= 1


def samples(seed: int) -> Iterator[Sample]:
    """Give samples without end."""
    rng = Random(seed)  # noqa: S311 - no secret
    while True:
        game = random_game(rng, rng.randrange(*_PLIES))
        prover = Prover(game.layout, Limits(memory=8 * MIB))
        if _is_easy(prover, game.position):
            continue
        for _ in range(_FROM_ONE):
            position = frontier(prover, game.position, rng)
            found = None if position is None else label(game.layout, position)
            if found is not None:
                yield found


def _is_easy(prover: Prover, position: Position) -> bool:
    """Search a position for a while; tell whether that has solved it."""
    budget = Budget(Limits(nodes=_NODES))
    at_once = prover.at_once(position) is not None
    return at_once or prover.ask(position, 1, budget) is not None


def label(layout: Layout, position: Position) -> Sample | None:
    """Solve a position; None where that is not needed, or takes too long."""
    prover = Prover(layout, Limits(memory=4 * MIB))
    features = features_of(prover, position) if legal_cells(position) else None
    if features is None:
        return None
    budget = Budget(Limits(nodes=_LABEL_NODES))
    answer: Answer | None = prover.ask(position, 1, budget)
    if answer is None:
        return None
    return Sample(features, answer.winner == winner_of(position, won=True), budget.nodes)


def _collect(job: tuple[int, int]) -> list[Sample]:
    seed, count = job
    source = samples(seed)
    return [next(source) for _ in range(count)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write samples to a file that ``network`` reads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    sizes = [_IN_ONE_JOB] * (options.count // _IN_ONE_JOB) + [options.count % _IN_ONE_JOB]
    jobs = [(options.seed * 1_000_003 + number, size) for number, size in enumerate(sizes)]
    found: list[Sample] = []
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for some in pool.imap_unordered(_collect, jobs):
            found += some
            sys.stderr.write(f"\r{len(found)} of {options.count}")
    sys.stderr.write("\n")
    np.savez_compressed(
        options.file,
        features=np.array([each.features for each in found]),
        won=np.array([each.won for each in found]),
        nodes=np.array([each.nodes for each in found]),
    )


if __name__ == "__main__":
    main()
