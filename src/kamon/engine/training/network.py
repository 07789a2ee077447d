"""Fit the network of the first guess to samples, and compare it with the one in use.

One hidden layer of rectified units and three outputs: the log-odds that the mover wins, and the
logarithm of the nodes that the proof takes if it wins and if it loses. The loss is the logistic
one for the first and the squared error for the others, each where it applies. Adam, in NumPy.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from kamon.engine import kernel
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.prover import Prover, Weights, stored_weights, value_by_questions
from kamon.engine.training.positions import random_game
from kamon.position import Position

Floats = npt.NDArray[np.float64]

_RATES: Final = (0.9, 0.999)
_BATCH: Final = 512
_STEP: Final = 0.003
_HELD_BACK: Final = 10
_COMPARED: Final = (12, 10, 9)


class Network:
    """Weights under training, for features of mean 0 and spread 1."""

    def __init__(self, features: Floats, rng: np.random.Generator) -> None:
        self.mean, self.spread = features.mean(axis=0), features.std(axis=0) + 1e-6
        inputs, hidden = features.shape[1], kernel.HIDDEN
        self.parts: dict[str, Floats] = {
            "w1": rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden)),
            "b1": np.zeros(hidden),
            "w2": rng.normal(0, np.sqrt(1 / hidden), (3, hidden)),
            "b2": np.zeros(3),
        }
        self._moments = {
            name: (np.zeros_like(x), np.zeros_like(x)) for name, x in self.parts.items()
        }
        self._steps = 0

    def outputs(self, features: Floats) -> tuple[Floats, Floats]:
        """Return the hidden units and the three outputs."""
        scaled = (features - self.mean) / self.spread
        hidden = np.maximum(0, scaled @ self.parts["w1"] + self.parts["b1"])
        return hidden, hidden @ self.parts["w2"].T + self.parts["b2"]

    def learn(self, features: Floats, won: Floats, work: Floats, step: float) -> None:
        """Go one step down the slope of the loss over some samples."""
        hidden, outputs = self.outputs(features)
        wrong = np.zeros_like(outputs)
        wrong[:, 0] = 1 / (1 + np.exp(-outputs[:, 0])) - won
        wrong[:, 1] = 0.2 * won * (outputs[:, 1] - work)
        wrong[:, 2] = 0.2 * (1 - won) * (outputs[:, 2] - work)
        wrong /= len(features)
        behind = (wrong @ self.parts["w2"]) * (hidden > 0)
        scaled = (features - self.mean) / self.spread
        self._descend(
            {
                "w1": scaled.T @ behind,
                "b1": behind.sum(axis=0),
                "w2": wrong.T @ hidden,
                "b2": wrong.sum(axis=0),
            },
            step,
        )

    def _descend(self, slopes: dict[str, Floats], step: float) -> None:
        self._steps += 1
        for name, slope in slopes.items():
            first, second = self._moments[name]
            first += (1 - _RATES[0]) * (slope - first)
            second += (1 - _RATES[1]) * (slope**2 - second)
            fair = first / (1 - _RATES[0] ** self._steps)
            size = np.sqrt(second / (1 - _RATES[1] ** self._steps)) + 1e-8
            self.parts[name] -= step * fair / size

    def weights(self) -> Weights:
        """Return what the kernel takes: mean and spread are worked into the first layer."""
        w1 = self.parts["w1"] / self.spread[:, None]
        b1 = self.parts["b1"] - self.mean @ w1
        parts = {"w1": w1, "b1": b1, "w2": self.parts["w2"], "b2": self.parts["b2"]}
        return {name: np.ascontiguousarray(x, dtype=np.float32) for name, x in parts.items()}

    def losses(self, features: Floats, won: Floats, work: Floats) -> tuple[float, float]:
        """Return the logistic loss and the mean error of the logarithm of the work."""
        _, outputs = self.outputs(features)
        sign = 2 * won - 1
        logistic = np.log1p(np.exp(-sign * outputs[:, 0])).mean()
        guessed = np.where(won > 0, outputs[:, 1], outputs[:, 2])
        return float(logistic), float(np.abs(guessed - work).mean())


def fit(features: Floats, won: Floats, work: Floats, epochs: int, seed: int) -> Network:
    """Fit a network, and tell how it does on samples that it has not seen."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(features))
    unseen, seen = np.split(order, [len(order) // _HELD_BACK])
    network = Network(features[seen], rng)
    for epoch in range(epochs):
        step = _STEP * (1 - epoch / epochs)
        for batch in np.array_split(rng.permutation(seen), max(1, len(seen) // _BATCH)):
            network.learn(features[batch], won[batch], work[batch], step)
        logistic, error = network.losses(features[unseen], won[unseen], work[unseen])
        sys.stderr.write(f"\repoch {epoch + 1} of {epochs}: loss {logistic:.4f}, work {error:.3f} ")
    sys.stderr.write("\n")
    return network


def nodes_over(weights: Weights, ply: int, count: int, seed: int) -> int:
    """Count the nodes that proofs of random positions take with some weights."""
    rng = Random(seed)  # noqa: S311 - no secret
    games = (random_game(rng, ply) for _ in range(count))
    return sum(_nodes_for(weights, game.position) for game in games)


def _nodes_for(weights: Weights, position: Position) -> int:
    prover = Prover(position.layout, Limits(memory=64 * MIB), weights)
    budget = Budget(Limits())
    if prover.at_once(position) is None:
        value_by_questions(position, lambda draw_to: prover.ask(position, draw_to, budget))
    return budget.nodes


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit a network to samples, write it, and compare it with the one in use."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("samples", type=Path, nargs="+", help="files that ``samples`` wrote")
    parser.add_argument("--output", type=Path, default=Path("first_guess.npz"))
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=40, help="positions at each of three plies")
    options = parser.parse_args(arguments)
    loaded = [np.load(path) for path in options.samples]
    features = np.concatenate([each["features"] for each in loaded]).astype(np.float64)
    won = np.concatenate([each["won"] for each in loaded]).astype(np.float64)
    work = np.log(np.concatenate([each["nodes"] for each in loaded]).astype(np.float64))
    weights = fit(features, won, work, options.epochs, options.seed).weights()
    np.savez(options.output, **weights)  # type: ignore[arg-type]
    for ply in _COMPARED if options.compare else ():
        counts = [
            nodes_over(each, ply, options.compare, ply) for each in (stored_weights(), weights)
        ]
        ratio = counts[1] / max(1, counts[0])
        sys.stdout.write(f"ply {ply}: {counts[0]:,} nodes in use, {counts[1]:,} new: {ratio:.3f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
