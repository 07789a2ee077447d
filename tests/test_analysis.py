"""What moves are worth."""

from pathlib import Path

from build import names, position
from kamon import Game, Layout, Position, legal_cells, parse_line
from kamon.engine.analysis import Insight, study, threats, value_moves
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import WIN

DATA = Path(__file__).parent / "data"
LIMITS = Limits(nodes=20_000, memory=16 * MIB)


def finished(number: int) -> Game:
    game = parse_line((DATA / "games.txt").read_text().splitlines()[number])
    assert game is not None
    return game


def test_every_legal_move_has_its_exact_value_and_distance() -> None:
    game = parse_line((DATA / "ply20.txt").read_text().splitlines()[0])
    assert game is not None
    solver = Solver(game.layout, LIMITS)
    found = value_moves(solver, game.position, Budget(LIMITS), distance=True)
    assert sorted(move.cell for move in found) == legal_cells(game.position)
    assert all(move.value is not None and move.distance is not None for move in found)
    for move in found:
        after = game.position.after(move.cell)
        assert move.value == -(solver.value(after) or 0)
    wins = [move.distance or 0 for move in found if move.value == WIN]
    assert wins == sorted(wins)
    assert found[0].value == WIN
    assert set(found[0].data()) == {"move", "value", "distance", "estimate"}


def test_what_is_not_proven_is_an_estimate_and_says_so() -> None:
    start = Position(Layout.shuffled(1))
    few = Limits(nodes=60, memory=MIB)
    found = value_moves(Solver(start.layout, few), start, Budget(few), distance=True)
    assert len(found) == len(legal_cells(start))
    for move in found:
        assert move.value is None
        assert move.distance is None
        assert move.chance is not None
        assert 0 <= move.chance <= 1
        assert move.data()["value"] is None


def test_threats_are_cells_that_would_win_if_they_could_be_played() -> None:
    found = threats(position("d3 e4 e5 d5 c4", last="d3"))
    assert names(found.opponent) == "c3"
    assert found.mover == ()


def test_a_move_that_wins_at_once_has_distance_one() -> None:
    game = finished(0)
    game.undo()
    before = game.position
    found = value_moves(Solver(game.layout, LIMITS), before, Budget(LIMITS), distance=True)
    assert (found[0].value, found[0].distance) == (WIN, 1)


# --- Studies --------------------------------------------------------------------------------


def studied(game: Game, seconds: float = 60) -> list[Insight]:
    told: list[Insight] = []
    solver = Solver(game.layout, Limits(memory=16 * MIB))
    last = study(solver, game.position, told.append, seconds=seconds)
    assert told[-1] == last
    return told


def test_a_study_tells_each_value_as_it_is_proven_and_then_the_line_and_the_lengths() -> None:
    game = parse_line((DATA / "ply20.txt").read_text().splitlines()[0])
    assert game is not None
    told = studied(game)
    proven = [sum(move.value is not None for move in each.moves) for each in told]
    assert proven == sorted(proven)
    assert proven[0] == 0
    assert told[0].value is None
    assert all(move.chance is not None for move in told[0].moves)
    last = told[-1]
    assert last.done
    solver = Solver(game.layout, LIMITS)
    expected = value_moves(solver, game.position, Budget(LIMITS), distance=True)
    assert list(last.moves) == expected
    assert last.value == solver.value(game.position)
    assert last.line[0] in [move.cell for move in last.moves if move.value == last.value]
    data = last.data()
    assert data["done"]
    assert data["value"] in ("win", "draw", "loss")
    assert len(data["moves"]) == len(legal_cells(game.position))


def test_a_study_that_has_no_time_says_what_is_open() -> None:
    told = studied(Game(Layout.shuffled(1)), seconds=2)
    last = told[-1]
    assert told[-2].nodes > told[1].nodes
    assert (last.value, last.done, last.spent) == (None, False, True)
    assert len(told) > 1
    assert last.data()["value"] is None


def test_a_study_that_is_cancelled_ends() -> None:
    game = Game(Layout.shuffled(1))
    solver = Solver(game.layout, Limits(memory=MIB))
    last = study(solver, game.position, lambda _: None, seconds=60, cancelled=lambda: True)
    assert not last.done
    assert not last.spent


def test_a_study_ends_where_there_is_time_for_values_but_not_for_lengths() -> None:
    line = (DATA / "ply12.txt").read_text().splitlines()[0]
    game = parse_line(line)
    assert game is not None
    solver = Solver(game.layout, Limits(memory=64 * MIB))
    values: list[Insight] = []

    def enough() -> bool:
        return bool(values) and all(move.value is not None for move in values[-1].moves)

    last = study(solver, game.position, values.append, seconds=60, cancelled=enough)
    assert last.value is not None
    assert not last.done


def test_a_finished_game_has_nothing_to_study() -> None:
    (last,) = {each.moves for each in studied(finished(0))}
    assert last == ()
    assert studied(finished(0))[-1].value is None
