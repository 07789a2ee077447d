"""Positions in the middle of random games, with the exact value of every move."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from kamon import rules
from kamon.census.rows import Row
from kamon.engine.late import LateSolver
from kamon.layout import Layout
from kamon.notation import format_cell, format_layout
from kamon.position import Position

# How many positions of a thousand have each ply. Each ply earlier costs about twice as much.
SHARES: Final = {
    12: 2,
    13: 4,
    14: 8,
    15: 16,
    **dict.fromkeys(range(16, 24), 100),
    24: 170,
}
# Positions of one layout share what is proven of it.
_ON_ONE_LAYOUT: Final = 10
_LAYOUTS_IN_A_BATCH: Final = 500
BATCH: Final = _ON_ONE_LAYOUT * _LAYOUTS_IN_A_BATCH
_SEED_BITS: Final = 60


@dataclass(frozen=True, slots=True)
class PositionsJob:
    """A batch of positions: the same number always makes the same."""

    number: int

    def run(self) -> list[Row]:
        """Make them."""
        return list(make_batch(Random(self.number), _LAYOUTS_IN_A_BATCH))  # noqa: S311 - no secret


def make_batch(rng: Random, layouts: int) -> Iterator[Row]:
    """Make some positions on each of so many layouts, no two the same."""
    for _ in range(layouts):
        layout = Layout.shuffled(rng.getrandbits(_SEED_BITS))
        solver = LateSolver(layout)
        seen: set[Position] = set()
        while len(seen) < _ON_ONE_LAYOUT:
            (ply,) = rng.choices(list(SHARES), list(SHARES.values()))
            moves = random_moves(layout, ply, rng)
            position = after_moves(layout, moves)
            if position not in seen and solver.is_open(position):
                seen.add(position)
                yield make_row(solver, position, moves)


def random_moves(layout: Layout, ply: int, rng: Random) -> list[int]:
    """Play at random until so many moves are made and the game goes on."""
    while True:
        position, moves = Position(layout), list[int]()
        while position.ply < ply and (legal := rules.legal_cells(position)):
            moves.append(rng.choice(legal))
            position = position.after(moves[-1])
        if position.ply == ply and rules.outcome(position) is None:
            return moves


def after_moves(layout: Layout, moves: list[int]) -> Position:
    """Return the position after some moves, which are trusted to be legal."""
    position = Position(layout)
    for cell in moves:
        position = position.after(cell)
    return position


def make_row(solver: LateSolver, position: Position, moves: list[int]) -> Row:
    """Solve a position, and write down what is known of it."""
    values = solver.values(position)
    best = max(values.values())
    return {
        "layout": format_layout(position.layout),
        "moves": " ".join(map(format_cell, moves)),
        "ply": position.ply,
        "value": best,
        "length": solver.length(position, best),
        "cells": [format_cell(cell) for cell in values],
        "values": list(values.values()),
    }
