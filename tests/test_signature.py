"""One number for the whole search: how many nodes twenty positions take.

A change that is meant to alter no search must leave it as it is. One that alters it says so in its
commit, with the number before and after; the values are tested elsewhere.
"""

from pathlib import Path

from kamon import parse_line
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver

DATA = Path(__file__).parent / "data"
SIGNATURE = 967_589


def test_the_search_visits_as_many_nodes_as_ever() -> None:
    nodes = 0
    for ply in (20, 16, 12, 10, 8):
        for line in (DATA / f"ply{ply:02}.txt").read_text().splitlines()[:4]:
            game = parse_line(line)
            assert game is not None
            limits = Limits(memory=64 * MIB)
            budget = Budget(limits)
            Solver(game.layout, limits).value(game.position, budget)
            nodes += budget.nodes
    assert nodes == SIGNATURE
