"""Puzzles in bulk: repeatable, different from each other, and named by what they teach."""

from dataclasses import replace
from random import Random

import pytest

from kamon import Layout, rules
from kamon.census.canonical import SYMMETRIES
from kamon.geometry import CORNERS
from kamon.puzzles import making
from kamon.puzzles.difficulty import first_rating, likeliest_rating, solves
from kamon.puzzles.files import from_fields
from kamon.puzzles.making import PuzzlesJob, play_game, without_twins
from kamon.puzzles.puzzle import Puzzle, Refutation
from kamon.puzzles.themes import THEMES, themes_of
from kamon.tokens import SYMBOLS, Token
from shipped_puzzles import shipped_fields

SEVERAL_MOVES = [fields for fields in shipped_fields() if " " in fields["solution"]]
PUZZLES = [from_fields(fields) for fields in SEVERAL_MOVES[:60]]


def test_the_same_number_makes_the_same_puzzles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "GAMES_IN_A_BATCH", 20)
    first, again, other = (PuzzlesJob(number).run() for number in (1, 1, 2))
    assert first == again
    assert first
    assert {row["id"] for row in first}.isdisjoint(row["id"] for row in other)


def test_games_are_played_to_the_end() -> None:
    positions, moves = play_game(Layout.shuffled(7), Random(1))
    assert len(positions) == len(moves) + 1
    assert rules.outcome(positions[-1]) is not None


def turned(puzzle: Puzzle, to: tuple[int, ...]) -> Puzzle:
    """Turn a puzzle on the board, with its symbols renamed."""
    after = dict(zip(SYMBOLS, SYMBOLS[1:] + SYMBOLS[:1], strict=True))
    tokens: list[Token | None] = [None] * 37
    for cell, token in enumerate(puzzle.layout.tokens):
        tokens[to[cell]] = token and Token(after[token.symbol], token.suit)
    refutations = tuple(
        {
            to[cell]: Refutation(
                None if found.reply is None else to[found.reply], found.value, found.plies
            )
            for cell, found in turn.items()
        }
        for turn in puzzle.refutations
    )
    return replace(
        puzzle,
        layout=Layout(tuple(tokens)),
        moves=tuple(to[cell] for cell in puzzle.moves),
        solution=tuple(to[cell] for cell in puzzle.solution),
        refutations=refutations,
    )


def test_a_turned_puzzle_is_a_twin() -> None:
    for puzzle in PUZZLES[:5]:
        for to in SYMMETRIES:
            twin = turned(puzzle, to)
            assert twin.pattern == puzzle.pattern
            assert list(without_twins([puzzle, twin])) == [puzzle]


def test_the_same_stones_and_moves_on_another_board_are_a_twin() -> None:
    puzzle = PUZZLES[0]
    twin = replace(puzzle, layout=Layout.shuffled(1))
    assert list(without_twins([puzzle, twin])) == [puzzle]


def test_different_puzzles_are_all_kept() -> None:
    assert list(without_twins(PUZZLES)) == PUZZLES
    assert len({puzzle.id for puzzle in PUZZLES}) == len(PUZZLES)


def test_themes_say_what_happens() -> None:
    for puzzle in PUZZLES:
        position, side = puzzle.position, puzzle.position.turn
        end = rules.outcome(puzzle.at(len(puzzle.solution)))
        assert end is not None
        names = {"connection": "link", "loop": "loop", "block": "block", "full": "draw"}
        assert {names[by.value] for by in end.by} <= set(puzzle.themes)
        assert ("corner" in puzzle.themes) == bool(CORNERS >> puzzle.solution[0] & 1)
        before = len(rules.winning_cells(position, side))
        after = len(rules.winning_cells(puzzle.at(1), side))
        if "double" in puzzle.themes:
            assert after >= 2
        if "quiet" in puzzle.themes:
            assert after <= before
        assert list(puzzle.themes) == [theme for theme in THEMES if theme in puzzle.themes]


def test_a_line_that_does_not_end_has_no_theme() -> None:
    with pytest.raises(ValueError, match="to the end of the game"):
        themes_of(PUZZLES[0].position, PUZZLES[0].solution[:2], PUZZLES[0].value)


def test_longer_puzzles_and_those_that_levels_fail_at_are_harder() -> None:
    ratings = [likeliest_rating(turns, []) for turns in range(1, 7)]
    assert ratings == sorted(set(ratings))
    players = [900, 1200, 1500]
    by_success = [
        likeliest_rating(3, [(player, place < solved) for place, player in enumerate(players)])
        for solved in (3, 2, 1, 0)
    ]
    assert by_success == sorted(set(by_success))


def test_the_first_rating_is_always_the_same() -> None:
    puzzle = min(PUZZLES, key=lambda each: each.turns)
    assert first_rating(puzzle) == puzzle.rating


def test_a_strong_level_solves_what_a_weak_one_does_not() -> None:
    short = [puzzle for puzzle in PUZZLES if puzzle.turns <= 3][:8]
    assert sum(solves(puzzle, 8, 1) for puzzle in short) > sum(
        solves(puzzle, 1, 1) for puzzle in short
    )
