"""Positions of the census: legal, exact, and the same for the same number."""

from collections import Counter
from random import Random

import pytest

from kamon import Layout, format_cell, legal_cells, outcome, parse_line
from kamon.census import positions as positions_module
from kamon.census.positions import SHARES, PositionsJob, make_batch
from kamon.engine.distances import measure
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver

LIMITS = Limits(memory=16 * MIB)


@pytest.fixture(autouse=True)
def late_plies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions_module, "SHARES", {18: 1, 20: 1, 24: 1})


def test_every_row_is_exact() -> None:
    for row in make_batch(Random(4), 2):
        game = parse_line(f"{row['layout']} {row['moves']}")
        assert game is not None
        position = game.position
        assert position.ply == row["ply"]
        assert outcome(position) is None
        assert row["cells"] == [format_cell(cell) for cell in legal_cells(position)]
        solver = Solver(position.layout, LIMITS)
        assert row["values"] == list(solver.values(position).values())
        assert row["value"] == max(row["values"])
        assert row["length"] == measure(solver.prover, position, row["value"], Budget(LIMITS))


def test_positions_that_need_no_search_are_left_out() -> None:
    for row in make_batch(Random(5), 2):
        game = parse_line(f"{row['layout']} {row['moves']}")
        assert game is not None
        assert Solver(game.layout, LIMITS).prover.at_once(game.position) is None


def test_the_same_number_makes_the_same_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions_module, "_LAYOUTS_IN_A_BATCH", 1)
    first, again, other = (PositionsJob(number).run() for number in (1, 1, 2))
    assert first == again
    assert len(first) == 10
    assert first[0]["layout"] != other[0]["layout"]
    assert len({row["moves"] for row in first}) == 10


def test_every_ply_from_12_to_24_has_its_share() -> None:
    assert list(SHARES) == list(range(12, 25))
    assert sum(SHARES.values()) == 1000


def test_random_moves_stop_at_the_ply_that_is_asked_for() -> None:
    layout = Layout.shuffled(1)
    plies = Counter(
        len(positions_module.random_moves(layout, ply, Random(2))) for ply in (12, 12, 24)
    )
    assert plies == {12: 2, 24: 1}
