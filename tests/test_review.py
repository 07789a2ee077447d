"""Reviews: every claim is true, the decisive move comes first, and nothing is taken back."""

from functools import cache
from pathlib import Path

import pytest

from kamon import Game, Layout, Side, format_record, legal_cells, parse_line, parse_record
from kamon.engine.limits import MIB, Limits
from kamon.engine.review import (
    Review,
    Story,
    Turn,
    annotate,
    read_turn,
    review,
    summary,
    tell_story,
)
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, WIN
from kamon.game import OffBoard

DATA = Path(__file__).parent / "data"
LIMITS = Limits(nodes=300_000, memory=16 * MIB)
NOTHING = Limits(nodes=1, memory=MIB)


def finished(number: int) -> Game:
    game = parse_line((DATA / "games.txt").read_text().splitlines()[number])
    assert game is not None
    return game


@cache
def reviewed(number: int) -> Review:
    return review(finished(number), LIMITS)


# --- What a review finds


def test_a_review_finds_the_moves_that_lost_and_better_ones() -> None:
    points = 0
    for number in range(8):
        game, found = finished(number), reviewed(number)
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


def test_the_advice_is_the_quickest_win() -> None:
    advised = 0
    for number in range(8):
        for turn in reviewed(number).turning_points:
            if not turn.quickest:
                continue
            advised += 1
            game = Game(finished(number).layout, finished(number).moves[: turn.ply])
            solver = Solver(game.layout, Limits(memory=32 * MIB))
            whole = solver.solve(game.position, distance=True)
            after = solver.solve(game.position.after(turn.better or 0), distance=True)
            assert whole.distance == (after.distance or 0) + 1
    assert advised > 2


def test_a_move_that_hurries_the_end_of_a_lost_game_is_told() -> None:
    hurried = 0
    for number in range(12):
        game = finished(number)
        solver = Solver(game.layout, Limits(memory=32 * MIB))
        for turn in reviewed(number).turns:
            if turn.shortened is None:
                continue
            before = Game(game.layout, game.moves[: turn.ply]).position
            lengths = [
                solver.solve(each, distance=True).distance
                for each in (before, before.after(turn.cell))
            ]
            assert turn.shortened == (lengths[0] or 0) - (lengths[1] or 0) - 1
            hurried += turn.shortened > 0
    assert hurried > 0


def test_a_better_move_tells_what_it_leaves() -> None:
    for number in range(8):
        for turn in reviewed(number).turning_points:
            assert turn.better is not None
            game = Game(finished(number).layout, finished(number).moves[: turn.ply])
            game.play(turn.better)
            expected = [] if game.outcome else legal_cells(game.position)
            assert list(turn.leaves) == expected
            assert len(turn.data()["leaves"]) == len(expected)
            by = game.outcome.by if game.outcome else ()
            assert turn.ends == ("+".join(how.value for how in by) or None)


def test_what_is_not_proven_is_estimated() -> None:
    found = review(finished(0), Limits(nodes=500, memory=MIB))
    first = found.turns[0]
    assert first.before is None
    assert first.chance is not None
    assert first.best_chance is not None
    assert 0 <= first.chance <= first.best_chance <= 1
    assert not found.done


def test_progress_is_told_and_a_review_can_be_cancelled() -> None:
    seen: list[tuple[int, int]] = []
    game = finished(0)
    review(game, LIMITS, progress=lambda done, whole: seen.append((done, whole)))
    assert seen[0] == (1, len(game.main_line()) + 1)
    assert seen == sorted(seen)
    found = review(game, LIMITS, cancelled=lambda: True)
    assert all(turn.before is None for turn in found.turns)
    assert found.story.kind == "open"


def test_every_step_forward_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kamon.engine.review._TELL_EVERY", 0.0)
    told: list[Review] = []
    last = review(finished(0), LIMITS, tell=told.append)
    assert told[-1] == last
    proven = [sum(turn.before is not None for turn in each.turns) for each in told]
    assert proven == sorted(proven)
    assert proven[0] < proven[-1]


def test_an_empty_game_has_an_empty_review() -> None:
    game = Game(Layout.shuffled(3))
    found = review(game, NOTHING)
    assert (found.turns, found.done, found.story.kind) == ((), True, "empty")
    assert annotate(game, found).root.comment == ""
    with pytest.raises(ValueError, match="zip"):
        annotate(game, Review((Turn(0, 1, None, None),)))


def test_a_game_that_began_late_is_proven_to_its_start() -> None:
    line = (DATA / "ply20.txt").read_text().splitlines()[0]
    late = parse_line(line)
    assert late is not None
    game = Game(late.position)
    while legal := legal_cells(game.position):
        game.play(legal[0])
    found = review(game, LIMITS)
    assert found.done
    assert [turn.ply for turn in found.turns] == list(range(20, 20 + len(found.turns)))
    assert found.story.kind in {"mistake", "flawless"}


# --- Going on with a review


def test_a_review_goes_on_from_what_is_known_and_never_changes_its_mind() -> None:
    game = finished(0)
    part = review(game, Limits(nodes=2_000, memory=16 * MIB))
    kept = [read_turn(turn.data()) for turn in part.turns]
    more = review(game, LIMITS, known=kept)
    for before, after in zip(part.turns, more.turns, strict=True):
        assert before.before in (None, after.before)
        assert before.after in (None, after.after)
        assert before.better in (None, after.better)
    # With everything known there is nothing left to search.
    again = review(game, NOTHING, known=more.turns)
    assert again == more


def test_the_review_of_another_game_is_not_believed() -> None:
    with pytest.raises(ValueError, match="another game"):
        review(finished(1), NOTHING, known=reviewed(0).turns)
    with pytest.raises(ValueError, match="another game"):
        review(finished(1), NOTHING, known=[Turn(99, 1, WIN, WIN)])


def test_a_turn_is_written_and_read_back() -> None:
    for number in range(8):
        for turn in reviewed(number).turns:
            read = read_turn(turn.data())
            assert read.data() == turn.data()


# --- Stories


def turns(*values: tuple[int | None, int | None]) -> tuple[Turn, ...]:
    return tuple(Turn(ply, ply, *each, better=9) for ply, each in enumerate(values))


W, D, L = WIN, DRAW, LOSS
# Black throws a win away at ply 2, in a game that White goes on to win.
THROWN_AWAY = turns((W, W), (L, L), (W, L), (W, W))
FLAWLESS = turns((W, W), (L, L), (W, W))
LATE_PROOF = turns((None, None), (None, L), (W, W))
DRAWN = turns((D, D), (D, D))


@pytest.mark.parametrize(
    ("of", "story"),
    [
        (THROWN_AWAY, Story("mistake", Side.WHITE, 2)),
        (FLAWLESS, Story("flawless", Side.BLACK)),
        (LATE_PROOF, Story("proven", Side.BLACK, 2)),
        (DRAWN, Story("flawless", None)),
        (turns((None, D)), Story("proven", None, 0)),
        (turns((None, None)), Story("open")),
        (turns((W, D), (D, D)), Story("mistake", None, 0)),
        (turns((None, None), (D, L), (W, W)), Story("mistake", Side.BLACK, 1)),
        ((), Story("empty")),
    ],
)
def test_the_story_is_told_by_what_is_proven(of: tuple[Turn, ...], story: Story) -> None:
    assert tell_story(Game(Layout.shuffled(1)), of) == story
    assert set(story.data()) == {"kind", "winner", "ply"}


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (
            THROWN_AWAY,
            (
                "Black was winning, but move 2, c1, gave the game to White. "
                "Black would have won with a3."
            ),
        ),
        (FLAWLESS, "Nobody made a mistake: Black was winning from the first move to the last."),
        (DRAWN, "Nobody made a mistake: with best play this game is a draw."),
        (
            LATE_PROOF,
            (
                "From move 2 on Black was winning, and nobody made a mistake. "
                "What happened before is not proven."
            ),
        ),
        (
            turns((None, D)),
            (
                "From move 1 on the game was a draw, and nobody made a mistake. "
                "What happened before is not proven."
            ),
        ),
        (turns((None, None)), "Nothing is proven."),
        ((), "No move was played."),
        (
            turns((None, None), (None, W), (L, L), (W, W)),
            (
                "From move 2 on White was winning, and nobody made a mistake. "
                "What happened before is not proven."
            ),
        ),
        (
            turns((W, D)),
            "Black was winning, but move 1, a1, made it a draw. Black would have won with a3.",
        ),
        (
            (Turn(0, 1, DRAW, LOSS),),
            "Black could have drawn, but move 1, b1, gave the game to White.",
        ),
        (
            turns((D, L)),
            (
                "Black could have drawn, but move 1, a1, gave the game to White. "
                "Black would have drawn with a3."
            ),
        ),
    ],
)
def test_the_story_is_told_in_a_sentence(of: tuple[Turn, ...], sentence: str) -> None:
    game = Game(Layout.shuffled(1))
    assert summary(game, Review(of, tell_story(game, of))) == sentence


@pytest.mark.parametrize(
    ("winner", "by", "sentence"),
    [
        (
            Side.WHITE,
            OffBoard.TIME,
            "White won because the clock ran out, but was not winning on the board.",
        ),
        (
            Side.WHITE,
            OffBoard.RESIGNATION,
            "White won because the other side resigned, but was not winning on the board.",
        ),
        (
            None,
            OffBoard.AGREEMENT,
            "The players agreed on a draw, but Black was winning on the board.",
        ),
    ],
)
def test_an_end_off_the_board_that_the_board_does_not_bear_out_is_told(
    winner: Side | None, by: OffBoard, sentence: str
) -> None:
    game = Game(Layout.shuffled(1))
    game.play(legal_cells(game.position)[0])
    game.end_off_board(winner, by)
    of = turns((W, W))
    assert tell_story(game, of) == Story("off-board", winner)
    assert summary(game, Review(of, tell_story(game, of))) == sentence


def test_the_moments_are_few_and_the_decisive_one_is_the_first() -> None:
    doubtful = Turn(7, 3, None, None, chance=0.1, best_chance=0.9)
    found = Review((*turns((W, L), (W, D), (D, L), (W, L), (W, L)), doubtful))
    assert [turn.ply for turn in found.moments] == [4, 3, 0]
    assert [turn.ply for turn in Review((*turns((W, L)), doubtful)).moments] == [0, 7]
    assert Review(FLAWLESS).moments == ()


def test_only_a_sharp_fall_that_is_not_proven_is_doubtful() -> None:
    assert Turn(0, 1, None, None, chance=0.1, best_chance=0.9).is_doubtful
    assert Turn(0, 1, None, LOSS, chance=0.1, best_chance=0.9).is_doubtful
    assert not Turn(0, 1, None, None, chance=0.5, best_chance=0.6).is_doubtful
    assert not Turn(0, 1, LOSS, LOSS, chance=0.1, best_chance=0.9).is_doubtful
    assert not Turn(0, 1, None, WIN, chance=0.1, best_chance=0.9).is_doubtful
    assert not Turn(0, 1, None, None).is_doubtful


def test_accuracy_counts_proven_moves_that_kept_their_value() -> None:
    of = (
        Turn(0, 1, WIN, WIN),
        Turn(1, 2, LOSS, LOSS),
        Turn(2, 3, WIN, LOSS, better=4),
        Turn(3, 5, None, None, chance=0.5),
    )
    found = Review(of)
    assert (found.accuracy(0), found.accuracy(1)) == (0.5, 1.0)
    assert Review(()).accuracy(0) is None
    assert [turn.lost_by for turn in of] == [0, 0, 2, 0]
    data = found.data()
    assert data["accuracy"] == {"black": 0.5, "white": 1.0}
    assert data["turns"][2]["better"] == "a2"


# --- In a record


def test_an_annotated_record_reads_back_and_shows_the_better_line() -> None:
    number = next(n for n in range(8) if reviewed(n).turning_points)
    game, found = finished(number), reviewed(number)
    before = [node.cell for node in game.main_line()]
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
    assert again.root.comment == summary(game, found)


def test_a_second_review_replaces_what_the_first_one_wrote() -> None:
    number = next(n for n in range(8) if reviewed(n).turning_points)
    game = finished(number)
    game.main_line()[0].comment = "A quiet start."
    little = review(game, Limits(nodes=2_000, memory=16 * MIB))
    much = reviewed(number)
    twice = format_record(annotate(annotate(finished(number), little), much))
    assert "not proven, estimated" in format_record(annotate(finished(number), little))
    once = annotate(finished(number), much)
    assert parse_record(twice).root.comment == once.root.comment
    # What people wrote stays.
    annotate(annotate(game, little), much)
    assert game.main_line()[0].comment.startswith("A quiet start. ")
    comments = [node.comment for node in game.main_line()[1:]]
    assert comments == [node.comment for node in once.main_line()[1:]]


def test_doubt_and_haste_are_written_into_the_record() -> None:
    game = Game(Layout.shuffled(1))
    cells = []
    for _ in range(4):
        cells.append(legal_cells(game.position)[0])
        game.play(cells[-1])
    of = (
        Turn(0, cells[0], None, None, chance=0.1, best_chance=0.9),
        Turn(1, cells[1], None, None),
        Turn(2, cells[2], LOSS, LOSS, shortened=4),
        Turn(3, cells[3], None, LOSS, chance=0.0, best_chance=1.0),
    )
    annotate(game, Review(of, Story("open")))
    comments = [node.comment for node in game.main_line()]
    assert comments == [
        "doubtful; not proven, estimated 10%",
        "",
        "loses with best play; shortens the game by 4 plies",
        "loses with best play; doubtful, before it estimated 99%",
    ]
    assert [node.glyphs for node in game.main_line()] == [(6,), (), (), (6,)]


def test_a_turning_point_whose_better_move_is_not_found_is_still_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Solver, "known_best", lambda *_: ())
    monkeypatch.setattr(Solver, "values", lambda *_: {})
    number = next(n for n in range(8) if reviewed(n).turning_points)
    found = review(finished(number), LIMITS)
    assert found.turning_points
    assert {turn.better for turn in found.turning_points} == {None}
    assert not found.done
    # It is marked all the same.
    record = annotate(finished(number), found)
    marked = [node for node in record.main_line() if set(node.glyphs) & {2, 4}]
    assert len(marked) == len(found.turning_points)
