"""Puzzles of one move: a win at once, or the only move that stops a threat."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kamon import format_cell, legal_cells, outcome
from kamon.census.rows import ONE_MOVE_PUZZLES, PUZZLES, Parts
from kamon.cli.app import app
from kamon.engine.values import DRAW, WIN
from kamon.errors import KamonError
from kamon.position import Position
from kamon.puzzles import making
from kamon.puzzles.checking import find_defects
from kamon.puzzles.difficulty import first_rating
from kamon.puzzles.files import from_fields, parse_puzzles, to_fields
from kamon.puzzles.making import OneMoveJob, without_twins
from kamon.puzzles.one_move import LEAST_MOVES, PLIES, only_candidate
from kamon.puzzles.puzzle import Puzzle
from shipped_puzzles import shipped_fields
from tools import check_census

SHIPPED = [from_fields(each) for each in shipped_fields() if " " not in each["solution"]]
WINS = [puzzle for puzzle in SHIPPED if not puzzle.is_defence]
DEFENCES = [puzzle for puzzle in SHIPPED if puzzle.is_defence]


def wins_next(position: Position) -> list[int]:
    """List the moves that win at once, by trying each."""
    ends = {cell: outcome(position.after(cell)) for cell in legal_cells(position)}
    return [cell for cell, end in ends.items() if end is not None and end.winner is position.turn]


# --- Those that come with the program ---


def test_half_of_them_win_in_one_of_three_ways_and_half_defend() -> None:
    kinds = Counter(puzzle.themes[0] for puzzle in SHIPPED)
    assert kinds == {"link": 50, "loop": 50, "block": 50, "defend": 150}


def test_they_are_from_the_middle_of_a_game_and_easier_than_most() -> None:
    assert {puzzle.position.ply for puzzle in SHIPPED} <= set(PLIES)
    longer = sorted(int(each["rating"]) for each in shipped_fields() if " " in each["solution"])
    assert max(puzzle.rating for puzzle in SHIPPED) < longer[len(longer) // 4]
    assert min(puzzle.rating for puzzle in SHIPPED) >= 400
    assert max(puzzle.rating for puzzle in WINS) < min(longer)


def test_a_win_is_the_only_one_and_ends_the_game() -> None:
    for puzzle in WINS:
        assert wins_next(puzzle.position) == list(puzzle.solution)
        assert len(legal_cells(puzzle.position)) >= LEAST_MOVES
        assert puzzle.value == WIN


def test_a_defence_is_the_only_move_after_which_the_opponent_cannot_win_at_once() -> None:
    for puzzle in DEFENCES:
        position = puzzle.position
        safe = [cell for cell in legal_cells(position) if not wins_next(position.after(cell))]
        assert safe == list(puzzle.solution)
        assert not wins_next(position)
        assert len(legal_cells(position)) >= LEAST_MOVES
        assert ("draw" in puzzle.themes) == (puzzle.value == DRAW)
        for wrong, found in puzzle.refutations[0].items():
            assert found.plies == 1
            assert found.reply in wins_next(position.after(wrong))


@pytest.mark.parametrize("puzzle", [*WINS[::25], *DEFENCES[::25]], ids=lambda each: each.id)
def test_they_are_proven_again_and_rated_the_same(puzzle: Puzzle) -> None:
    assert find_defects(puzzle) == []
    assert first_rating(puzzle) == puzzle.rating


def test_they_are_no_twins_of_each_other() -> None:
    assert list(without_twins(SHIPPED)) == SHIPPED


# --- Making ---


def test_a_batch_has_a_fixed_number_of_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"link": 2, "loop": 0, "block": 0, "defend": 1}
    monkeypatch.setattr(making, "ONE_MOVE_BATCH", wanted)
    first, again, other = (OneMoveJob(number).run() for number in (1, 1, 2))
    assert first == again
    assert Counter(row["themes"].split()[0] for row in first) == {"link": 2, "defend": 1}
    assert {row["id"] for row in first}.isdisjoint(row["id"] for row in other)
    assert wanted == {"link": 2, "loop": 0, "block": 0, "defend": 1}


def test_a_position_with_several_candidates_or_too_few_moves_is_none() -> None:
    longer = [from_fields(each) for each in shipped_fields() if " " in each["solution"]][:200]
    for puzzle in longer:
        # A puzzle of several moves has wrong moves that survive the next stone.
        assert only_candidate(puzzle.position) is None
    few = [puzzle.at(len(puzzle.solution) - 1) for puzzle in longer]
    few = [at for at in few if len(legal_cells(at)) < LEAST_MOVES]
    assert few
    assert {only_candidate(at) for at in few} == {None}


# --- On the command line ---


def kamon(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["puzzles", *map(str, arguments)])


def test_one_folder_holds_both_kinds(tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "puzzles.csv"
    longer = next(each for each in shipped_fields() if " " in each["solution"])
    for kind, rows in (
        (PUZZLES, [dict(longer)]),
        (ONE_MOVE_PUZZLES, [to_fields(DEFENCES[0]), to_fields(WINS[0])]),
    ):
        parts = Parts(run, kind)
        parts.create()
        parts.write(1, rows)
    made = kamon("make", run, "--one-move", "6")
    assert "0 batches of 6 one-move puzzles to make, 1 already done" in made.output
    assert kamon("join", run, file).exit_code == 0
    ratings = [puzzle.rating for puzzle in parse_puzzles(file.read_text())]
    assert ratings == sorted([DEFENCES[0].rating, WINS[0].rating, int(longer["rating"])])
    assert "3 of 3 puzzles checked, 0 wrong" in kamon("check", file).output


@pytest.mark.parametrize("options", [[], ["--games", "1", "--one-move", "1"]])
def test_what_to_make_must_be_said_once(tmp_path: Path, options: list[str]) -> None:
    refused = kamon("make", tmp_path / "run", *options)
    assert refused.exit_code == 2
    assert "--one-move" in refused.output


# --- Checking ---


def with_another_move(puzzle: Puzzle) -> Puzzle:
    """Call a wrong move right, and the right one refuted as that was."""
    (right,), (wrong, found) = puzzle.solution, next(iter(puzzle.refutations[0].items()))
    refutations = {**puzzle.refutations[0], right: found}
    del refutations[wrong]
    return replace(puzzle, solution=(wrong,), refutations=(refutations,))


@pytest.mark.parametrize("puzzle", [WINS[0], DEFENCES[0]])
def test_another_move_is_found_to_be_wrong(puzzle: Puzzle) -> None:
    defects = find_defects(with_another_move(puzzle))
    assert "its move is not the only one that wins at once or stops the threats" in defects
    assert f"{format_cell(puzzle.solution[0])} is right too" in defects


def test_a_draw_that_is_called_a_win_is_found() -> None:
    drawn = next(puzzle for puzzle in DEFENCES if puzzle.value == DRAW)
    defects = find_defects(replace(drawn, value=WIN))
    assert f"{format_cell(drawn.solution[0])} is worth a draw" in defects


def test_only_a_defence_may_stop_before_the_game_ends() -> None:
    defence = to_fields(DEFENCES[0])
    with pytest.raises(KamonError, match="the solution ends before the game does"):
        from_fields({**defence, "themes": "quiet"})
    for other in (WINS[0], from_fields(shipped_fields()[-1])):
        with pytest.raises(KamonError, match="a defence is one move after which the game goes on"):
            from_fields({**to_fields(other), "themes": "defend"})


LATE = [puzzle for puzzle in SHIPPED if puzzle.position.ply == PLIES[-1]]


@pytest.mark.parametrize("is_defence", [False, True])
def test_the_second_program_agrees(is_defence: bool) -> None:  # noqa: FBT001 - a parameter
    for puzzle in [each for each in LATE if each.is_defence == is_defence][:4]:
        row = to_fields(puzzle)
        check_census.check_puzzle(row)
        changes = (
            to_fields(with_another_move(puzzle)),
            {"themes": "link" if is_defence else "defend"},
            {"refutations": row["refutations"].replace("-1", "-3", 1)},
            {"refutations": row["refutations"].partition(" ")[2]},
            {"value": "draw" if row["value"] == "win" else "win"},
        )
        for change in changes:
            if {**row, **change} == row:
                continue
            with pytest.raises(check_census.CheckFailedError):
                check_census.check_puzzle({**row, **change})


def test_the_second_program_finds_a_defence_against_nothing() -> None:
    """The first moves of longer puzzles have wrong answers that only lose later."""
    longer = from_fields(
        next(each for each in shipped_fields() if 25 <= each["line"].count(" ") <= 27)
    )
    row = to_fields(longer)
    first = row["refutations"].split(" / ", maxsplit=1)[0]
    defence = {"solution": row["solution"].split()[0], "refutations": first, "themes": "defend"}
    with pytest.raises(check_census.CheckFailedError, match=r"stops the threats|too few"):
        check_census.check_puzzle({**row, **defence})
