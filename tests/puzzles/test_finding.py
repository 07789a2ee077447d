"""Puzzles are found in games, and every one has only one right move at each turn."""

from random import Random

import pytest

from kamon import Layout, Position, legal_cells, outcome, rules
from kamon.engine.late import LateSolver
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.puzzles.checking import find_defects
from kamon.puzzles.files import from_fields
from kamon.puzzles.finding import (
    find_puzzle,
    find_solution,
    is_dull,
    refute,
    stubborn_replies,
    tempting_moves,
)
from kamon.puzzles.making import play_game, proven_puzzle
from shipped_puzzles import shipped_fields

# A game in which a puzzle of three turns is known.
KNOWN = from_fields(next(each for each in shipped_fields() if each["solution"].count(" ") == 4))


def test_a_puzzle_is_found_where_it_is() -> None:
    solver = LateSolver(KNOWN.layout)
    assert find_solution(solver, KNOWN.position) == KNOWN.solution


def test_a_game_may_have_no_puzzle() -> None:
    rng = Random(1)
    found = [find_puzzle(*play_game(Layout.shuffled(seed), rng)) for seed in range(12)]
    assert None in found


def test_what_is_found_in_games_is_proven_twice() -> None:
    rng = Random(2)
    games = [play_game(Layout.shuffled(seed), rng) for seed in range(120)]
    found = [puzzle for game in games if (puzzle := proven_puzzle(*game)) is not None]
    assert found
    for puzzle in found:
        assert find_defects(puzzle) == []
        assert puzzle.rating > 0
        assert 2 <= puzzle.turns <= 6


def test_a_win_in_one_move_is_no_puzzle() -> None:
    last_turn = KNOWN.at(len(KNOWN.solution) - 1)
    assert rules.dangers(last_turn).winning
    assert find_solution(LateSolver(KNOWN.layout), last_turn) is None


def test_a_lost_position_is_no_puzzle() -> None:
    assert find_solution(LateSolver(KNOWN.layout), KNOWN.at(1)) is None


def test_a_position_with_two_right_moves_is_no_puzzle() -> None:
    rng, several = Random(3), 0
    for seed in range(10):
        positions, _ = play_game(Layout.shuffled(seed), rng)
        solver = LateSolver(positions[0].layout)
        for position in positions[18:-1]:
            values = list(solver.values(position).values())
            if max(values) > LOSS and values.count(max(values)) > 1:
                several += 1
                assert find_solution(solver, position) is None
    assert several


def test_the_defence_holds_out_as_long_as_it_can() -> None:
    solver = LateSolver(KNOWN.layout)
    position = KNOWN.at(1)
    stubborn = stubborn_replies(solver, position, WIN)
    assert KNOWN.solution[1] in stubborn
    longest = solver.length(position, LOSS) - 1
    for reply in legal_cells(position):
        assert (solver.length(position.after(reply), WIN) == longest) == (reply in stubborn)


def test_every_wrong_move_is_refuted() -> None:
    solver = LateSolver(KNOWN.layout)
    for place in range(0, len(KNOWN.solution), 2):
        position = KNOWN.at(place)
        for cell, found in KNOWN.refutations[place // 2].items():
            after = position.after(cell)
            assert found == refute(solver, after)
            assert found.value == -solver.value(after) < WIN
            assert found.reply is not None
            assert solver.value(after.after(found.reply)) == found.value


def test_a_wrong_move_that_ends_the_game_as_a_draw_needs_no_reply() -> None:
    # White, to move, covers the last token: the board is full.
    rng = Random(4)
    for seed in range(3000):
        positions = random_game(Layout.shuffled(seed), rng)
        last = outcome(positions[-1])
        if last is not None and last.winner is None:
            found = refute(LateSolver(positions[0].layout), positions[-1])
            assert (found.reply, found.value, found.plies) == (None, DRAW, 0)
            return
    pytest.fail("no game filled the board")


def random_game(layout: Layout, rng: Random) -> list[Position]:
    positions = [Position(layout)]
    while legal := legal_cells(positions[-1]):
        positions.append(positions[-1].after(rng.choice(legal)))
    return positions


def test_a_puzzle_with_nothing_to_choose_is_dull() -> None:
    assert not is_dull(KNOWN.position, KNOWN.solution)
    # From its last turn on there is one move, and it wins.
    assert is_dull(KNOWN.at(len(KNOWN.solution) - 1), KNOWN.solution[-1:])


def test_a_tempting_move_survives_the_next_one() -> None:
    tempting = tempting_moves(KNOWN.position, KNOWN.solution[0])
    assert tempting
    for cell in tempting:
        assert cell != KNOWN.solution[0]
        after = KNOWN.position.after(cell)
        assert not rules.dangers(after).winning
