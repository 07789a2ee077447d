"""Random positions with their exact values, in the format of tests/data.

``--critical`` gives positions in which some moves keep the value and others do not, with the value
of every move: what a player of the opening is measured by.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from random import Random

from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import VALUE_NAMES
from kamon.game import Game
from kamon.layout import Layout
from kamon.notation import format_cell, format_line
from kamon.rules import legal_cells, outcome


def random_game(rng: Random, plies: int) -> Game:
    """Play random moves on a random board until so many are made and the game goes on."""
    while True:
        game = Game(Layout.shuffled(rng.getrandbits(60)))
        while game.position.ply < plies and (legal := legal_cells(game.position)):
            game.play(rng.choice(legal))
        if game.position.ply == plies and outcome(game.position) is None:
            return game


def solved_lines(rng: Random, plies: int, limits: Limits) -> Iterator[str]:
    """Give position lines with the value for the side to move, as many as are taken."""
    while True:
        game = random_game(rng, plies)
        value = Solver(game.layout, limits).value(game.position)
        if value is not None:
            yield f"{format_line(game)} ; {VALUE_NAMES[value]}"


def critical_lines(rng: Random, plies: int, limits: Limits) -> Iterator[str]:
    """Give position lines in which the choice matters, with the value of every move."""
    while True:
        game = random_game(rng, plies)
        solver = Solver(game.layout, limits)
        values = solver.values(game.position, Budget(limits))
        if None not in values.values() and len(set(values.values())) > 1:
            told = [
                f"{format_cell(cell)}={VALUE_NAMES[value or 0]}" for cell, value in values.items()
            ]
            yield f"{format_line(game)} ; {' '.join(told)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write lines to standard output."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ply", type=int, default=12, help="moves that have been made")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--critical", action="store_true", help="with the value of every move")
    parser.add_argument("--memory", type=int, default=256, help="MiB for the solver")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    limits = Limits(memory=options.memory * MIB, threads=options.threads)
    make = critical_lines if options.critical else solved_lines
    lines = make(Random(options.seed), options.ply, limits)  # noqa: S311 - no secret
    for _ in range(options.count):
        sys.stdout.write(f"{next(lines)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
