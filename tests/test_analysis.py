"""What moves are worth, and the review of whole games."""

from pathlib import Path

import pytest

from build import names, position
from kamon import Game, Layout, Position, format_record, legal_cells, parse_line, parse_record
from kamon.engine.analysis import (
    Insight,
    Review,
    Turn,
    annotate,
    review,
    study,
    threats,
    value_moves,
)
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import DRAW, LOSS, WIN, Solver

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


def test_a_review_finds_the_move_that_lost_and_a_better_one() -> None:
    reviews = [(finished(number), number) for number in range(8)]
    points = 0
    for game, _ in reviews:
        found = review(game, LIMITS)
        assert len(found.turns) == len(game.main_line())
        solver = Solver(game.layout, Limits(memory=32 * MIB))
        current = game.root.position
        for turn, node in zip(found.turns, game.main_line(), strict=True):
            if turn.lost_by:
                points += 1
                assert turn.better is not None
                assert solver.value(current) == turn.before
                assert solver.value(current.after(turn.better)) == -(turn.before or 0)
                assert turn.line[0] == turn.better
            current = node.position
        assert found.turns[-1].after in (WIN, DRAW)
    assert points > 3


def test_an_annotated_record_reads_back_and_shows_the_better_line() -> None:
    game = finished(2)
    before = [node.cell for node in game.main_line()]
    found = review(game, LIMITS)
    once = format_record(annotate(game, found))
    again = parse_record(once)
    # Whoever reviews a reviewed game reads nothing twice.
    assert format_record(annotate(parse_record(once), found)) == once
    assert [node.cell for node in again.main_line()] == before
    marked = [node for node in again.main_line() if set(node.glyphs) & {2, 4}]
    assert len(marked) == len(found.turning_points)
    for node in marked:
        assert node.parent is not None
        assert len(node.parent.children) > 1
    assert "with best play" in again.main_line()[-1].comment


def test_progress_is_told_and_a_review_can_be_cancelled() -> None:
    seen: list[tuple[int, int]] = []
    game = finished(0)
    found = review(
        game,
        LIMITS,
        progress=lambda done, whole: seen.append((done, whole)),
        cancelled=lambda: True,
    )
    assert [done for done, _ in seen] == list(range(1, len(game.main_line()) + 2))
    assert any(turn.before is None for turn in found.turns)


def test_accuracy_counts_proven_moves_that_kept_their_value() -> None:
    turns = (
        Turn(0, 1, WIN, WIN),
        Turn(1, 2, LOSS, LOSS),
        Turn(2, 3, WIN, LOSS, better=4),
        Turn(3, 5, None, None, chance=0.5),
    )
    found = Review(turns)
    assert (found.accuracy(0), found.accuracy(1)) == (0.5, 1.0)
    assert Review(()).accuracy(0) is None
    assert [turn.lost_by for turn in turns] == [0, 0, 2, 0]
    data = found.data()
    assert data["accuracy"] == {"black": 0.5, "white": 1.0}
    assert data["turns"][2]["better"] == "a2"


def test_an_empty_game_has_an_empty_review() -> None:
    game = Game(Layout.shuffled(3))
    assert review(game, Limits(nodes=50, memory=MIB)).turns == ()
    with pytest.raises(ValueError, match="zip"):
        annotate(game, Review((Turn(0, 1, None, None),)))


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


def test_a_review_without_patience_leaves_the_rest_open() -> None:
    game = finished(0)
    found = review(game, LIMITS, patience=0)
    assert found.turns[0].before is None
    assert found.turns[0].chance is not None


def test_a_turning_point_whose_better_move_is_forgotten_is_still_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Solver, "known_best", lambda *_: ())
    points = [each for n in range(8) for each in review(finished(n), LIMITS).turning_points]
    assert points
    assert {turn.better for turn in points} == {None}
    # It is marked all the same.
    record = annotate(finished(1), review(finished(1), LIMITS))
    marked = [node for node in record.main_line() if node.glyphs]
    assert len(marked) == len(review(finished(1), LIMITS).turning_points)


def test_a_better_move_tells_what_it_leaves() -> None:
    for number in range(8):
        for turn in review(finished(number), LIMITS).turning_points:
            assert turn.better is not None
            game = Game(finished(number).layout, finished(number).moves[: turn.ply])
            game.play(turn.better)
            expected = [] if game.outcome else legal_cells(game.position)
            assert list(turn.leaves) == expected
            assert len(turn.data()["leaves"]) == len(expected)
            by = game.outcome.by if game.outcome else ()
            assert turn.ends == ("+".join(how.value for how in by) or None)
