"""The opening: a tree over the solver, which finds what the solver finds."""

import json
from pathlib import Path

import numpy as np
import pytest

from kamon import Layout, Position, legal_cells, parse_line
from kamon.engine import top_tree as module
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.prover import Prover
from kamon.engine.solver import Solver
from kamon.engine.top_tree import Node, TopTree, _combine, _judge_by_search
from kamon.engine.values import LOSS, WIN
from kamon.errors import FormatError

DATA = Path(__file__).parent / "data"
LIMITS = Limits(memory=64 * MIB)
TWO_THREADS = Limits(memory=64 * MIB, threads=2)


def positions(ply: int, count: int) -> list[tuple[Position, str]]:
    found = []
    for line in (DATA / f"ply{ply:02}.txt").read_text().splitlines()[:count]:
        game = parse_line(line)
        assert game is not None
        found.append((game.position, line.partition(";")[2].strip()))
    return found


@pytest.mark.parametrize("limits", [LIMITS, TWO_THREADS])
@pytest.mark.parametrize(("ply", "count"), [(12, 15), (16, 30), (20, 60)])
def test_a_tree_over_late_positions_finds_the_values(
    limits: Limits, ply: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the opening reached two plies further than each of them.
    monkeypatch.setattr(module, "DEEPEST", ply + 2)
    monkeypatch.setattr("kamon.engine.solver.DEEPEST", ply + 2)
    monkeypatch.setattr(module, "_GAMES", (200,))
    monkeypatch.setattr(module, "_FIRST_SLICE", 200)
    names = {1: "win", 0: "draw", -1: "loss"}
    for position, expected in positions(ply, count):
        solver = Solver(position.layout, limits)
        value = solver.value(position)
        assert value is not None
        assert names[value] == expected
        if any(solver.trees[1].nodes.values()):
            assert solver.value(position, Budget(Limits(nodes=1))) == value


def test_draws_are_found_by_the_second_question(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [each for ply in (12, 16, 20) for each in positions(ply, 60) if each[1] == "draw"]
    assert drawn
    monkeypatch.setattr(module, "_GAMES", (200,))
    monkeypatch.setattr(module, "_FIRST_SLICE", 200)
    for position, _ in drawn:
        monkeypatch.setattr(module, "DEEPEST", position.ply + 2)
        monkeypatch.setattr("kamon.engine.solver.DEEPEST", position.ply + 2)
        solver = Solver(position.layout, LIMITS)
        assert solver.value(position) == 0
        assert solver.trees[0].nodes


def test_a_limit_ends_the_work_and_a_later_call_goes_on() -> None:
    opening = Position(Layout.shuffled(2))
    tree = TopTree(Prover(opening.layout, LIMITS), 1)
    assert tree.standing(opening) is None
    first = Budget(Limits(nodes=2_000_000))
    assert tree.ask(opening, first) is None
    assert first.reason == "nodes"
    standing = tree.standing(opening)
    assert standing is not None
    assert 0 < standing.chance < 1
    assert standing.work_left > 0
    spent = sum(node.spent for node in tree.nodes.values())
    assert tree.ask(opening, Budget(Limits(nodes=2_000_000))) is None
    assert sum(node.spent for node in tree.nodes.values()) > spent


def test_a_failure_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    opening = Position(Layout.shuffled(2))
    tree = TopTree(Prover(opening.layout, TWO_THREADS), 1)

    def fail(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(tree, "_improve", fail)
    with pytest.raises(RuntimeError, match="out of order"):
        tree.ask(opening, Budget(LIMITS))


def test_a_limit_in_nodes_is_kept() -> None:
    limits = Limits(nodes=300_000)
    opening = Position(Layout.shuffled(1))
    budget = Budget(limits)
    assert Solver(opening.layout, limits).value(opening, budget) is None
    assert budget.reason == "nodes"
    # A position is judged with all its moves.
    assert 300_000 <= budget.nodes < 300_020


def test_what_is_proven_is_not_searched_again() -> None:
    position, _ = positions(12, 1)[0]
    tree = TopTree(Prover(position.layout, LIMITS), 1)
    first = tree.ask(position, Budget(LIMITS))
    again = Budget(LIMITS)
    assert tree.ask(position, again) == first is not None
    assert again.nodes == 0


def test_a_way_down_ends_where_all_has_been_settled_meanwhile() -> None:
    position, _ = positions(12, 1)[0]
    tree = TopTree(Prover(position.layout, LIMITS), 1)
    root, inner = Node(position), Node(position.after(legal_cells(position)[0]))
    root.moves[0] = inner
    inner.moves[0] = Node(inner.position.after(legal_cells(inner.position)[0]))
    inner.moves[0].settle(WIN, 0)
    path = tree._choose_leaf(root)
    assert path[-1] is inner
    assert inner.value == LOSS
    before = inner.spent
    tree._improve(0, inner, np.zeros(1, dtype=np.uint8))
    assert inner.spent == before


def test_a_leaf_that_is_opened_when_all_must_stop_stays_a_leaf() -> None:
    leaf = Node(Position(Layout.shuffled(1)))
    tree = TopTree(Prover(leaf.position.layout, LIMITS), 1)
    tree._open(leaf, np.ones(1, dtype=np.uint8))
    assert leaf.moves == {}


# --- Numbers


def node(value: int | None = None, taint: int = 0, chance: float = 0.5, work: float = 8.0) -> Node:
    made = Node(Position(Layout.shuffled(1)), chance=chance, win_work=work, loss_work=work)
    if value is not None:
        made.settle(value, taint)
    return made


def parent(*moves: Node) -> Node:
    made = node()
    made.moves = dict(enumerate(moves))
    _combine(made)
    return made


def test_one_move_that_is_lost_for_the_other_wins() -> None:
    assert (parent(node(WIN), node(LOSS)).value, parent(node(LOSS, 1)).taint) == (WIN, 1)
    # A proof without a draw is the better one.
    assert parent(node(LOSS, 1), node(LOSS, 0)).taint == 0


def test_where_every_move_loses_it_is_lost() -> None:
    lost = parent(node(WIN), node(WIN, 1))
    assert (lost.value, lost.taint, lost.chance) == (LOSS, 1, 0.0)
    assert (lost.win_work, lost.loss_work) == (0.0, 0.0)


def test_expected_work_is_added_up_as_the_proof_will_go() -> None:
    sure, unsure = node(chance=0.1, work=10.0), node(chance=0.9, work=10.0)
    both = parent(sure, unsure, node(WIN))
    assert both.value is None
    # A loss needs every move refuted, a win the first and, if it fails, the second.
    assert both.loss_work == 20.0
    assert both.win_work == pytest.approx(10.0 + 0.1 * 10.0)
    assert both.chance > 0.9


# --- Saving


def test_a_search_is_saved_and_gone_on_with() -> None:
    opening = Position(Layout.shuffled(2))
    solver = Solver(opening.layout, LIMITS)
    solver.value(opening, Budget(Limits(nodes=3_000_000)))
    saved = solver.save()
    again = Solver(opening.layout, LIMITS)
    again.restore(saved)
    assert again.save() == saved
    before, after = solver.standing(opening), again.standing(opening)
    assert before == after
    again.value(opening, Budget(Limits(nodes=1_000_000)))
    assert len(again.trees[1].nodes) >= len(solver.trees[1].nodes)


def test_a_proof_that_was_saved_needs_no_search() -> None:
    opening = Position(Layout.shuffled(2))
    solver = Solver(opening.layout, LIMITS)
    first = legal_cells(opening)[0]
    for draw_to in (0, 1):
        tree = solver.trees[draw_to]
        tree.nodes[0, 0, None] = root = Node(opening)
        root.moves[first] = Node(opening.after(first))
        root.moves[first].settle(LOSS, 0)
        tree.nodes[1 << first, 0, first] = root.moves[first]
        root.settle(WIN, 0)
    again = Solver(opening.layout, LIMITS)
    again.restore(solver.save())
    assert again.solve(opening, moves=False).value == WIN
    assert again.solve(opening, moves=False).best == (first,)


def test_what_is_no_search_of_this_board_is_refused() -> None:
    solver = Solver(Layout.shuffled(1), Limits(memory=MIB))
    good = solver.save()
    head, body, _ = good.split("\n")
    other = Solver(Layout.shuffled(2), Limits(memory=MIB)).save()
    newer = json.dumps(json.loads(head) | {"version": 99})
    for text, message in (
        ("", "not a saved search"),
        ("[1]\n", "not a saved search"),
        ('{"format": "else"}\n', "not a saved search"),
        (f"{newer}\n{body}\n", "another version"),
        (good[:-20], "damaged"),
        (good.replace("trees", "trees "), "damaged"),
        (other, "another board"),
    ):
        with pytest.raises(FormatError, match=message):
            Solver(Layout.shuffled(1), Limits(memory=MIB)).restore(text)


def test_a_value_that_is_none_is_not_read() -> None:
    data = Node(Position(Layout.shuffled(1))).data()
    with pytest.raises(ValueError, match="7 is no value"):
        module.read_node(data | {"value": 7}, Layout.shuffled(1))


def searched(looks: float, phi: int, delta: int) -> Node:
    made = Node(Position(Layout.shuffled(1)), looks=looks, chance=looks)
    _judge_by_search(made, phi, delta)
    return made


def test_a_search_that_leans_to_one_side_changes_the_chance_and_the_work() -> None:
    even, won, lost = (searched(0.5, *each) for each in ((70, 70), (10, 90), (90, 10)))
    assert even.chance == pytest.approx(0.5)
    assert won.chance == pytest.approx(0.9)
    assert lost.chance == pytest.approx(0.1)
    assert won.win_work < even.win_work < lost.win_work
    assert lost.loss_work < even.loss_work < won.loss_work


def test_random_games_still_count_after_a_search() -> None:
    assert searched(0.1, 50, 50).chance < searched(0.9, 50, 50).chance
    # Searches again and again do not add up: the last one counts.
    again = searched(0.5, 10, 90)
    _judge_by_search(again, 10, 90)
    assert again.chance == pytest.approx(0.9)


def test_no_search_is_certain_before_its_end() -> None:
    assert 0 < searched(0.001, 10**8, 1).chance < searched(0.999, 1, 10**8).chance < 1
