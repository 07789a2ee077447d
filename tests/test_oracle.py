"""The Oracle: proves what it can, keeps what it knows, and says what it only believes."""

import time
from pathlib import Path
from random import Random

import pytest

from kamon import Layout, Position, legal_cells, outcome, parse_line
from kamon.engine import kernel
from kamon.engine import oracle as oracle_module
from kamon.engine.limits import MIB, Limits
from kamon.engine.oracle import Effort, Oracle, Thought
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, WIN

DATA = Path(__file__).parent / "data"
START = Position(Layout.shuffled(1))


def solved(ply: int, value: str) -> Position:
    for line in (DATA / f"ply{ply:02}.txt").read_text().splitlines():
        if line.endswith(value):
            game = parse_line(line)
            assert game is not None
            return game.position
    raise AssertionError(value)


@pytest.mark.parametrize(("ply", "value"), [(12, WIN), (12, LOSS), (20, DRAW)])
def test_what_can_be_proven_is_proven_and_kept(ply: int, value: int) -> None:
    position = solved(ply, {WIN: "win", LOSS: "loss", DRAW: "draw"}[value])
    found = Oracle(position.layout, memory=16 * MIB).think(position, Effort())
    assert (found.value, found.chance) == (value, None)
    solver = Solver(position.layout, Limits(memory=16 * MIB))
    assert solver.value(position.after(found.cell)) == -value


def test_what_cannot_be_proven_is_an_estimate() -> None:
    told: list[Thought] = []
    found = Oracle(START.layout, memory=4 * MIB).think(START, Effort(0.3), told.append)
    assert found.value is None
    assert found.chance is not None
    assert 0 < found.chance < 1
    assert found.cell in legal_cells(START)
    assert told[-1] == found
    assert [each.games for each in told] == sorted(each.games for each in told)


def test_a_budget_gives_the_same_move_each_time() -> None:
    effort = Effort(nodes=3_000, games=4_000)
    found = [Oracle.for_one_move(START.layout, 3_000, 4_000, 7).think(START, effort) for _ in "ab"]
    assert found[0].cell == found[1].cell
    assert found[0].nodes == found[1].nodes >= 3_000
    assert found[0].games == found[1].games == 4_000


def test_the_highest_level_with_a_time_keeps_it() -> None:
    oracle = Oracle(START.layout, memory=4 * MIB)
    oracle.think(START, Effort(0.05))
    started = time.perf_counter()
    oracle.think(START, Effort(0.2))
    assert time.perf_counter() - started < 1.5


def test_thinking_can_be_cancelled() -> None:
    started = time.perf_counter()
    oracle = Oracle(START.layout, memory=4 * MIB)
    ends = started + 0.2
    found = oracle.think(START, Effort(cancelled=lambda: time.perf_counter() > ends))
    assert found.cell in legal_cells(START)
    assert time.perf_counter() - started < 3


def test_what_is_known_of_a_game_is_kept_from_move_to_move() -> None:
    oracle = Oracle(START.layout, memory=4 * MIB)
    mine = oracle.think(START, Effort(nodes=1_000, games=20_000)).cell
    after = START.after(mine)
    # It thinks about the reply, and goes on with that when the reply is there.
    oracle.think(after, Effort(nodes=1_000, games=20_000))
    reply = legal_cells(after)[0]
    assert oracle.tree_of(after.after(reply)).games > 0
    # Without such a thought, two moves are followed from the last position.
    oracle.think(START, Effort(nodes=1_000, games=20_000))
    best = max(oracle.tree_of(START).visits().items(), key=lambda item: item[1])[0]
    two = START.after(best)
    assert oracle.tree_of(two.after(legal_cells(two)[0])).games > 0
    # Another game begins anew.
    assert oracle.tree_of(Position(START.layout)).games == 0


def test_a_move_that_is_known_to_lose_is_not_played() -> None:
    # The games alone would choose the cell with the most visits, which the table knows to lose.
    position = solved(10, "win")
    solver = Solver(position.layout, Limits(memory=16 * MIB))
    losing = [cell for cell, value in solver.values(position).items() if value == LOSS]
    oracle = Oracle(position.layout, memory=16 * MIB)
    oracle.solver = solver
    thinking = oracle_module._Thinking(oracle, position, Effort(nodes=1), lambda _: None)
    assert losing
    assert thinking._likeliest().cell not in losing


def test_after_many_games_the_move_that_was_tried_most_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oracle_module, "_MANY_GAMES", 1)
    monkeypatch.setattr(PlayoutTree, "visits", lambda _: {cell: cell for cell in range(37)})
    found = Oracle(START.layout, memory=4 * MIB).think(START, Effort(nodes=100, games=100))
    assert found.cell == max(legal_cells(START))


def test_a_tree_below_a_line_knows_what_the_whole_tree_knew() -> None:
    tree = PlayoutTree(START, 1, 100_000)
    tree.grow(20_000)
    visits = tree.visits()
    best = max(visits, key=lambda cell: visits[cell])
    below = tree.after([best])
    assert below is not None
    assert below.games == visits[best]
    assert set(below.visits()) == set(legal_cells(START.after(best)))
    assert sum(below.visits().values()) >= 0.9 * visits[best]
    below.grow(1_000)
    assert below.games == visits[best] + 1_000
    # Nothing is known below a move that cannot be played, nor below a tree that has not grown.
    unknown = next(cell for cell in range(37) if cell not in legal_cells(START))
    assert tree.after([unknown]) is None
    assert PlayoutTree(START, 1, 100).after([]) is None
    assert PlayoutTree(START, 1, 100).after([best]) is None


def test_a_tree_that_is_full_says_so() -> None:
    tree = PlayoutTree(START, 1, 200)
    assert not tree.is_full
    tree.grow(2_000)
    assert tree.is_full
    oracle = Oracle(START.layout, memory=4 * MIB, tree_size=200)
    # The games have nothing more to tell, so all the time goes into the proof.
    found = oracle.think(START, Effort(0.2))
    assert found.nodes > 0


def test_a_game_against_itself_ends_well() -> None:
    rng = Random(2)
    position = Position(Layout.shuffled(2))
    for _ in range(6):
        position = position.after(rng.choice(legal_cells(position)))
    oracle = Oracle(position.layout, memory=16 * MIB)
    solver = Solver(position.layout, Limits(memory=64 * MIB))
    value = solver.value(position)
    side = position.turn
    while outcome(position) is None:
        position = position.after(oracle.think(position, Effort()).cell)
    result = outcome(position)
    assert result is not None
    winner = {WIN: side, LOSS: side.other, DRAW: None}[value or 0]
    assert result.winner is winner


def test_a_forced_move_is_not_thought_about() -> None:
    rng, position = Random(3), START
    while len(legal := legal_cells(position)) != 1:
        position = position.after(rng.choice(legal)) if legal else START
    assert Oracle(position.layout, memory=MIB).think(position, Effort()) == Thought(legal[0])


def test_the_moves_between_two_positions_are_found() -> None:
    one = legal_cells(START)[1]
    first = START.after(one)
    two = legal_cells(first)[2]
    second = first.after(two)
    assert oracle_module._line_between(START, first) == [one]
    assert oracle_module._line_between(START, second) == [one, two]
    assert oracle_module._line_between(second, START) is None
    third = second.after(legal_cells(second)[0])
    assert oracle_module._line_between(START, third) is None
    # Two moves by other cells, of which one is legal here too.
    other = START.after(legal_cells(START)[3])
    strange = Position(START.layout, other.black, 1 << one, one)
    assert oracle_module._line_between(START, strange) in (None, [legal_cells(START)[3], one])


def test_what_the_tree_has_proven_stands_for_all_games_of_a_move() -> None:
    tree = PlayoutTree(START, 1, 10_000)
    tree.grow(500)
    first = int(tree._nodes[0]["first"])
    for at, winner in enumerate((0, 1, kernel.DRAWN)):
        tree._nodes[first + at]["first"] = kernel.ENDED - winner
    won, lost, drawn = (kernel.CELL_OF[int(tree._nodes[first + at]["bit"])] for at in range(3))
    chances, visits = tree.chances(), tree.visits()
    assert (chances[won], chances[lost], chances[drawn]) == (1.0, 0.0, 0.5)
    assert visits[lost] == 0 < visits[won]


def test_moves_that_the_table_knows_to_lose_are_told_without_search() -> None:
    position = solved(12, "win")
    solver = Solver(position.layout, Limits(memory=16 * MIB))
    values = solver.values(position)
    lost = {cell for cell, value in values.items() if value == LOSS}
    assert lost
    assert solver.prover.losing_moves(position) <= lost
    assert Solver(position.layout, Limits(memory=MIB)).prover.losing_moves(position) == set()
