"""The row of a board: what is proven, what a limit left open, and samples of the proof."""

from collections.abc import Sequence

import pytest

from kamon import Layout, Position, format_layout, legal_cells, outcome, parse_cell, parse_line
from kamon.census import solve as solve_module
from kamon.census.canonical import canonical_layout
from kamon.census.rows import Row
from kamon.census.solve import BoardJob, BoardSearch, solve_board
from kamon.engine import solver as solver_module
from kamon.engine import top_tree
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, VALUES, WIN

LIMITS = Limits(memory=16 * MIB)
# Positions late in a game stand for boards: won, drawn and lost by Black, who is to move.
WON = (
    "B1--A6D1/F1A4B6D3E4/A2A3E3A5E5E2/D6F2B5B3D4A1F6/C1B2F4D2F5C4/B4C5C2E6D5/E1C3C6F3 "
    "a2 b5 d6 c4 e3 g6 a4 d2 d1 e4 d5 g5 b2 b3 d3 c1"
)


def late(value: int) -> Position:
    """Find a position at ply 16 that has this value for Black."""
    for seed in range(2000):
        layout = Layout.shuffled(seed)
        position = Position(layout)
        while position.ply < 16 and (legal := legal_cells(position)):
            position = position.after(legal[(seed + position.ply) % len(legal)])
        if position.ply == 16 and outcome(position) is None:
            solver = Solver(layout, LIMITS)
            if solver.prover.at_once(position) is None and solver.value(position) == value:
                return position
    raise AssertionError("no such position")


def after(position: Position, moves: Sequence[str]) -> Position:
    for name in moves:
        assert parse_cell(name) in legal_cells(position)
        position = position.after(parse_cell(name))
    return position


@pytest.fixture(params=[5, 18], ids=["searched", "in-a-tree"])
def deepest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the tree of the opening reach past the root, as it does on a board."""
    for module in (top_tree, solver_module, solve_module):
        monkeypatch.setattr(module, "DEEPEST", request.param)
    monkeypatch.setattr(solve_module, "_SAMPLE_PLY", 22)
    ply: int = request.param
    return ply


def searched(position: Position, *, every_move: bool = True) -> Row:
    search = BoardSearch(position, BoardJob(7, LIMITS, every_move))
    search.run()
    return search.row()


@pytest.mark.usefixtures("deepest")
@pytest.mark.parametrize("value", [WIN, DRAW, LOSS])
def test_every_first_move_is_told_apart(value: int) -> None:
    position = late(value)
    row = searched(position)
    values = Solver(position.layout, LIMITS).values(position)
    assert row["value"] == VALUE_NAMES[value]
    assert row["complete"]
    assert row["reason"] is None
    assert row["winning"] == names(values, WIN)
    assert sorted(row["not_winning"]) == sorted(names(values, DRAW) + names(values, LOSS))
    assert set(row["drawing"]) <= set(names(values, DRAW))
    assert row["first_moves"] == names(values, *VALUE_NAMES)
    assert len(row["estimates"]) == len(values)
    assert all(0 < each < 1 for each in row["estimates"])


def names(values: dict[int, int | None], *wanted: int) -> list[str]:
    return solve_module._names(cell for cell, value in values.items() if value in wanted)


@pytest.mark.usefixtures("deepest")
@pytest.mark.parametrize("value", [WIN, DRAW, LOSS])
def test_the_samples_hold_what_the_proof_claims(value: int) -> None:
    position = late(value)
    row = searched(position, every_move=False)
    assert len(row["samples"]) >= 3
    if value == DRAW:
        assert {each["side"] for each in row["samples"]} == {"black", "white"}
    for sample in row["samples"]:
        end = after(position, sample["moves"])
        reached = Solver(position.layout, LIMITS).solve(end, moves=False).value
        assert reached is not None
        kept = reached if end.turn.value == sample["side"] else -reached
        assert kept >= VALUES[sample["at_least"]]


@pytest.mark.usefixtures("deepest")
def test_the_line_of_a_won_board_ends_the_game() -> None:
    position = late(WIN)
    row = searched(position, every_move=False)
    end = outcome(after(position, row["line"]))
    assert end is not None
    assert end.winner is position.turn
    assert row["ending"] == "+".join(by.value for by in end.by)


def test_a_drawn_board_has_no_line() -> None:
    row = searched(late(DRAW), every_move=False)
    assert row["line"] == []
    assert row["ending"] is None


def test_a_board_that_a_limit_ends_is_a_row_too() -> None:
    (row,) = BoardJob(5, Limits(nodes=1000, memory=MIB)).run()
    layout = Layout.shuffled(5)
    assert row["value"] is None
    assert not row["complete"]
    assert row["reason"] == "nodes"
    assert (row["winning"], row["not_winning"], row["samples"]) == ([], [], [])
    assert row["layout"] == format_layout(layout)
    assert row["canonical"] == format_layout(canonical_layout(layout))
    assert row["nodes"] >= 1000
    assert row["seconds"] > 0
    assert row["cpu_seconds"] > 0


@pytest.mark.parametrize(("least_chance", "reason"), [(1.0, "chance"), (0.0001, "nodes")])
def test_a_board_that_black_does_not_seem_to_win_can_be_put_off(
    least_chance: float, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve_module, "_LOOK_NODES", 1)
    limits = Limits(nodes=1_000_000, memory=16 * MIB)
    (row,) = BoardJob(5, limits, least_chance=least_chance).run()
    assert row["reason"] == reason
    assert row["value"] is None


def test_a_board_is_looked_at_after_every_so_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    search = BoardSearch(late(WIN), BoardJob(7, LIMITS, least_chance=0.5))
    chances = {30: 0.6, 61: 0.5, 95: 0.4}
    looks = []

    def standing(_tree: top_tree.TopTree, _position: Position) -> top_tree.Standing:
        looks.append(millions)
        return top_tree.Standing(chances[millions], 0.0, {})

    monkeypatch.setattr(top_tree.TopTree, "standing", standing)
    for millions in (0, 29, 30, 31, 59, 61, 90, 95):
        search._note_nodes(millions * 1_000_000, 1.0)
        assert search._is_put_off() == (millions == 95)
    assert looks == [30, 61, 95]


def test_a_board_that_black_is_proven_not_to_win_is_not_put_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (top_tree, solver_module, solve_module):
        monkeypatch.setattr(module, "DEEPEST", 18)
    search = BoardSearch(late(DRAW), BoardJob(7, LIMITS, least_chance=1.0))
    search.run()
    search._note_nodes(10**9, 1.0)
    assert search.solver.trees[1].standing(search.root) is not None
    assert not search._is_put_off()


def test_what_an_earlier_run_has_proven_is_not_proven_again() -> None:
    known = solve_board(BoardJob(5, Limits(nodes=1000, memory=MIB)))
    known |= {
        "value": "win",
        "winning": ["b1"],
        "not_winning": [name for name in known["first_moves"] if name != "b1"],
        "line": ["b1"],
        "ending": "loop",
        "checked": 2,
    }
    row = solve_board(BoardJob(5, Limits(nodes=1000, memory=MIB), every_move=True, known=known))
    assert row["complete"]
    assert row["reason"] is None
    assert row["nodes"] == known["nodes"]
    for column in ("value", "winning", "not_winning", "line", "ending", "checked", "estimates"):
        assert row[column] == known[column]


def test_what_was_spent_in_vain_is_no_part_of_the_next_try() -> None:
    known = solve_board(BoardJob(5, Limits(nodes=1000, memory=MIB)))
    row = solve_board(BoardJob(5, Limits(nodes=500, memory=MIB), known=known))
    assert known["nodes"] >= 1000
    assert row["nodes"] < 1000


def test_a_limit_between_first_moves_leaves_the_rest_open() -> None:
    game = parse_line(WON)
    assert game is not None
    search = BoardSearch(game.position, BoardJob(7, LIMITS, every_move=True))
    search.value = WIN
    search.job = BoardJob(7, Limits(nodes=1, memory=MIB), every_move=True)
    search.budget = Budget(search.job.limits)
    search.run()
    row = search.row()
    assert row["value"] == "win"
    assert not row["complete"]
    assert row["reason"] == "nodes"
