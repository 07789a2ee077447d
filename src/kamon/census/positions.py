"""Positions in the middle of random games, with the exact value of every move."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from kamon import rules
from kamon.census.rows import Row
from kamon.engine.distances import measure_late
from kamon.engine.limits import MIB, NO_LIMIT, Limits
from kamon.engine.prover import Answer, Prover, value_by_questions, winner_of
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
_MEMORY: Final = 16 * MIB
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
        solver = _LateSolver(layout)
        seen: set[Position] = set()
        while len(seen) < _ON_ONE_LAYOUT:
            (ply,) = rng.choices(list(SHARES), list(SHARES.values()))
            moves = random_moves(layout, ply, rng)
            position = after_moves(layout, moves)
            if position not in seen and solver.is_open(position):
                seen.add(position)
                yield solver.row(position, moves)


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


class _LateSolver:
    """Exact values on one layout, late enough in the game that no limit is needed."""

    def __init__(self, layout: Layout) -> None:
        self.text = format_layout(layout)
        self.prover = Prover(layout, Limits(memory=_MEMORY))
        self._stop = np.zeros(1, dtype=np.uint8)

    def is_open(self, position: Position) -> bool:
        """Tell whether it takes a search to see who wins."""
        return self.prover.at_once(position) is None

    def row(self, position: Position, moves: list[int]) -> Row:
        values = {cell: -self.value(position.after(cell)) for cell in rules.legal_cells(position)}
        best = max(values.values())
        return {
            "layout": self.text,
            "moves": " ".join(map(format_cell, moves)),
            "ply": position.ply,
            "value": best,
            "length": measure_late(self.prover, position, best),
            "cells": [format_cell(cell) for cell in values],
            "values": list(values.values()),
        }

    def value(self, position: Position) -> int:
        """Return the exact value for the side to move."""
        known = self.prover.at_once(position)
        if known is None:
            known = value_by_questions(position, lambda draw_to: self._ask(position, draw_to))
        if known is None:
            raise AssertionError("a search without limits has an answer")
        return known

    def _ask(self, position: Position, draw_to: int) -> Answer:
        won, _, taint, _ = self.prover.search_slice(0, position, draw_to, NO_LIMIT, self._stop)
        return Answer(winner_of(position, won=won == 0), taint)
