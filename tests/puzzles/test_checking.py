"""The second proof finds what is wrong with a puzzle that was changed by hand."""

from dataclasses import replace
from random import Random

import pytest

from kamon import Layout, format_cell, legal_cells, rules
from kamon.engine.late import LateSolver
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.puzzles.checking import _defects_of_kind, find_defects
from kamon.puzzles.files import from_fields
from kamon.puzzles.finding import refute
from kamon.puzzles.making import play_game
from kamon.puzzles.puzzle import Puzzle, Refutation
from kamon.puzzles.themes import themes_of
from shipped_puzzles import shipped_fields

KNOWN = from_fields(next(each for each in shipped_fields() if each["solution"].count(" ") == 4))


def test_a_good_puzzle_has_no_defects() -> None:
    assert find_defects(KNOWN) == []


def changed_refutation(given: Refutation) -> Puzzle:
    wrong = next(iter(KNOWN.refutations[0]))
    first = {**KNOWN.refutations[0], wrong: given}
    return replace(KNOWN, refutations=(first, *KNOWN.refutations[1:]))


GIVEN = next(iter(KNOWN.refutations[0].values()))


@pytest.mark.parametrize(
    "changed",
    [
        replace(GIVEN, plies=GIVEN.plies + 2),
        replace(GIVEN, value=LOSS if GIVEN.value == DRAW else DRAW),
        replace(GIVEN, reply=None),
    ],
)
def test_a_wrong_refutation_is_found(changed: Refutation) -> None:
    defects = find_defects(changed_refutation(changed))
    assert len(defects) == 1
    assert "the refutation of" in defects[0]


def test_a_wrong_value_and_wrong_themes_are_found() -> None:
    themes = f"its themes are {' '.join(KNOWN.themes)}"
    assert themes in find_defects(replace(KNOWN, themes=("draw",)))
    defects = find_defects(replace(KNOWN, value=DRAW))
    assert any("is worth a win" in defect for defect in defects)


def test_two_right_moves_are_found() -> None:
    game = next(
        (positions, moves, winning)
        for seed in range(100)
        for positions, moves in [play_game(Layout.shuffled(seed), Random(seed))]
        for winning in [rules.dangers(positions[-2]).winning]
        if len(winning) > 1
    )
    positions, moves, (first, second, *_) = game
    wrong = [cell for cell in legal_cells(positions[-2]) if cell != first]
    refutations = dict.fromkeys(wrong, Refutation(None, LOSS, 1))
    puzzle = Puzzle(positions[0].layout, tuple(moves[:-1]), (first,), WIN, (refutations,))
    defects = find_defects(puzzle)
    assert f"{format_cell(second)} is right too" in defects
    assert "its move is not the only one that wins at once or stops the threats" in defects


def test_a_longer_puzzle_must_not_be_won_at_once_nor_be_dull() -> None:
    last_turn, (winning,) = KNOWN.at(len(KNOWN.solution) - 1), KNOWN.solution[-1:]
    rest = legal_cells(last_turn)[:2]
    assert _defects_of_kind(last_turn, (winning, *rest)) == ["it is won in one move", "it is dull"]


def weak_defence() -> tuple[Puzzle, int, int]:
    """Find a puzzle with a reply that loses at once, to one move alone."""
    for puzzle in map(from_fields, shipped_fields()):
        if puzzle.turns <= 2:
            continue
        solver = LateSolver(puzzle.layout)
        for reply in legal_cells(puzzle.at(1)):
            after = puzzle.at(1).after(reply)
            winning = rules.dangers(after).winning
            if winning and list(solver.values(after).values()).count(WIN) == 1:
                return puzzle, reply, winning[0]
    raise AssertionError("there is none")


def test_a_defence_that_could_hold_out_longer_is_found() -> None:
    puzzle, weak, winning = weak_defence()
    solver, after = LateSolver(puzzle.layout), puzzle.at(1).after(weak)
    others = [cell for cell in legal_cells(after) if cell != winning]
    changed = replace(
        puzzle,
        solution=(puzzle.solution[0], weak, winning),
        refutations=(
            puzzle.refutations[0],
            {cell: refute(solver, after.after(cell)) for cell in others},
        ),
    )
    changed = replace(changed, themes=themes_of(puzzle.position, changed.solution, WIN))
    assert f"the reply {format_cell(weak)} is not the most stubborn" in find_defects(changed)
