"""The tutorial: every position shows what its lesson says, by the rules and by nothing else."""

import re
from collections.abc import Iterator

import pytest

from kamon import rules
from kamon.geometry import BORDER, CELLS, CORNERS, NEIGHBOURS, PAIR_MASKS, cells, spread
from kamon.i18n import LANGUAGES
from kamon.notation import format_cell, parse_cell
from kamon.position import Position, Side
from kamon.rules import By, Outcome
from kamon.web.learn import lessons
from kamon.web.learn.lessons import LESSONS, Goal, Lesson, Try, judge

MATCH, FIRST, NEUTRAL, LINK, CORNER, LOOP, OWN_RING, BLOCK, STUCK, GAP, COUNT = LESSONS
ALL = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.title)


def tries(lesson: Lesson) -> dict[int, Try]:
    return {cell: judge(lesson, cell) for cell in CELLS}


def good(lesson: Lesson) -> list[int]:
    return [cell for cell, result in tries(lesson).items() if result.good]


def legal(lesson: Lesson) -> list[int]:
    return rules.legal_cells(lesson.position)


def ending(position: Position, cell: int) -> tuple[By, ...]:
    end = rules.outcome(rules.play(position, cell))
    return end.by if end else ()


# --- All of them ----------------------------------------------------------------------------


@ALL
def test_a_lesson_has_words_and_the_learner_has_black(lesson: Lesson) -> None:
    assert all((lesson.title, lesson.text, lesson.done))
    assert lesson.position.turn is Side.BLACK
    assert rules.outcome(lesson.position) is None


@ALL
def test_a_lesson_can_be_done_and_can_be_missed(lesson: Lesson) -> None:
    results = tries(lesson)
    assert set(good(lesson)) < set(CELLS)
    assert good(lesson)
    assert {result.why for result in results.values() if result.good} == {lesson.done}
    assert {result.why for result in results.values() if not result.good} <= set(lessons.REASONS)


@ALL
def test_a_right_try_is_legal_and_only_lessons_about_safety_have_replies(lesson: Lesson) -> None:
    assert set(good(lesson)) <= set(legal(lesson))
    for result in tries(lesson).values():
        assert result.reply is None or (lesson.goal is Goal.SAFE and not result.good)


@ALL
def test_what_is_not_legal_is_wrong_for_the_reason_that_is_seen(lesson: Lesson) -> None:
    position = lesson.position
    for cell in set(CELLS) - set(legal(lesson)):
        why = judge(lesson, cell).why
        if position.owner(cell) is not None:
            assert why == lessons.TAKEN
        elif cell == position.layout.neutral:
            assert why == lessons.NEUTRAL
        elif position.last is not None:
            assert why == lessons.NO_MATCH
        elif CORNERS >> cell & 1:
            assert why == lessons.CORNER
        else:
            assert not BORDER >> cell & 1
            assert why == lessons.INSIDE


def test_gaps_in_sentences_are_those_that_the_page_fills() -> None:
    texts = [*lessons.REASONS]
    texts += [text for each in LESSONS for text in (each.title, each.text, each.done)]
    assert {gap for text in texts for gap in re.findall(r"{(\w*)}", text)} == {"need", "cells"}
    assert len(set(texts)) == len(texts)


# --- One by one -----------------------------------------------------------------------------


def test_matching_is_shown_with_many_right_cells_of_both_kinds() -> None:
    position = MATCH.position
    assert good(MATCH) == legal(MATCH)
    assert position.last is not None
    last = position.layout.tokens[position.last]
    tokens = [position.layout.tokens[cell] for cell in good(MATCH)]
    assert last is not None
    assert any(token and token.symbol == last.symbol for token in tokens)
    assert any(token and token.suit == last.suit for token in tokens)


def test_the_first_stone_goes_on_the_empty_board() -> None:
    assert FIRST.position.ply == 0
    assert len(good(FIRST)) == 12
    assert {judge(FIRST, cell).why for cell in CELLS} == {
        *(FIRST.done, lessons.CORNER, lessons.INSIDE, lessons.NEUTRAL)
    }


def test_the_neutral_lies_between_two_stones_that_join_on_one_other_cell() -> None:
    position = NEUTRAL.position
    one, other = cells(position.black)
    between = NEIGHBOURS[one] & NEIGHBOURS[other]
    (right,) = good(NEUTRAL)
    assert between == 1 << right | 1 << position.layout.neutral
    assert judge(NEUTRAL, position.layout.neutral).why == lessons.NEUTRAL
    assert set(legal(NEUTRAL)) > {right}


@pytest.mark.parametrize(
    ("lesson", "by"),
    [
        (LINK, By.CONNECTION),
        (CORNER, By.CONNECTION),
        (LOOP, By.LOOP),
        (OWN_RING, By.LOOP),
        (BLOCK, By.BLOCK),
    ],
    ids=lambda value: getattr(value, "title", getattr(value, "name", "")),
)
def test_one_cell_wins_as_the_lesson_says_and_no_other_wins_at_all(lesson: Lesson, by: By) -> None:
    (right,) = good(lesson)
    assert {cell: ending(lesson.position, cell) for cell in legal(lesson)} == {
        cell: (by,) if cell == right else () for cell in legal(lesson)
    }
    assert len(legal(lesson)) >= 4


@pytest.mark.parametrize(
    "lesson", [LINK, CORNER, LOOP, OWN_RING, BLOCK], ids=lambda each: each.title
)
def test_where_black_is_to_win_white_threatens_nothing(lesson: Lesson) -> None:
    assert rules.dangers(lesson.position).losing == ()


def test_the_corner_is_the_only_touch_of_a_side_that_is_linked() -> None:
    (right,) = good(CORNER)
    assert CORNERS >> right & 1
    after = rules.play(CORNER.position, right)
    chain = spread(1 << right, after.black)
    joined = [(one, other) for _, one, other in PAIR_MASKS if chain & one and chain & other]
    assert joined
    for one, other in joined:
        assert 1 << right in (chain & one, chain & other)
    # In the lesson before, corners are no part of it.
    (plain,) = good(LINK)
    assert not spread(1 << plain, rules.play(LINK.position, plain).black) & CORNERS


def test_a_ring_around_an_own_stone_is_offered_beside_a_true_loop() -> None:
    own = [cell for cell in legal(OWN_RING) if judge(OWN_RING, cell).why == lessons.OWN_RING]
    assert own
    for cell in own:
        black = rules.play(OWN_RING.position, cell).black
        inside = list(cells(black & NEIGHBOURS[cell] & ~BORDER))
        assert any(not NEIGHBOURS[each] & ~black for each in inside)
    # Nowhere else is it said.
    for lesson in (LOOP, LINK, CORNER):
        assert all(result.why != lessons.OWN_RING for result in tries(lesson).values())


@pytest.mark.parametrize(("lesson", "by"), [(STUCK, By.BLOCK), (GAP, By.CONNECTION)])
def test_a_wrong_try_lets_white_win_on_the_marked_cell_and_a_right_one_does_not(
    lesson: Lesson, by: By
) -> None:
    position = lesson.position
    (marked,) = rules.dangers(position).threats
    wrong = set(legal(lesson)) - set(good(lesson))
    assert wrong
    for cell in wrong:
        result = judge(lesson, cell)
        assert (result.why, result.reply) == (lessons.LOSES[by], marked)
        assert ending(rules.play(position, cell), marked) == (by,)
    for cell in good(lesson):
        after = rules.play(position, cell)
        assert rules.outcome(after) is None
        assert marked not in rules.legal_cells(after)
        assert all(ending(after, reply) == () for reply in rules.legal_cells(after))
    # It is a matter of tokens: Black cannot simply take the cell.
    assert marked not in legal(lesson)


def groups(position: Position) -> list[frozenset[int]]:
    """Divide the free tokens into those that lead to each other, each matching the next."""
    found: list[frozenset[int]] = []
    for cell in cells(position.free):
        near = set(cells(position.layout.matching[cell] & position.free))
        linked = [group for group in found if group & near]
        found = [group for group in found if group not in linked]
        found.append(frozenset({cell}).union(*linked))
    return found


def ends(position: Position) -> Iterator[Outcome]:
    """List every end that play from here can come to."""
    for cell in rules.legal_cells(position):
        after = rules.play(position, cell)
        outcome = rules.outcome(after)
        if outcome is None:
            yield from ends(after)
        else:
            yield outcome


def wins(position: Position) -> bool:
    """Return whether the side to move can win, by plain search."""
    for cell in rules.legal_cells(position):
        after = rules.play(position, cell)
        outcome = rules.outcome(after)
        if outcome.winner is position.turn if outcome else not wins(after):
            return True
    return False


def test_only_a_block_can_end_the_game_that_is_counted() -> None:
    found = list(ends(COUNT.position))
    assert {end.by for end in found} == {(By.BLOCK,)}
    assert {end.winner for end in found} == {Side.BLACK, Side.WHITE}


def test_the_right_tokens_are_those_of_the_group_with_an_odd_number() -> None:
    position = COUNT.position
    odd, even = (next(group for group in groups(position) if len(group) == size) for size in (3, 4))
    assert set(legal(COUNT)) & odd == set(good(COUNT))
    assert set(legal(COUNT)) & even == set(legal(COUNT)) - set(good(COUNT))
    assert len(good(COUNT)) >= 2
    assert len(legal(COUNT)) - len(good(COUNT)) >= 2
    # Whatever is played leaves one group, so that the learner need not add.
    for cell in legal(COUNT):
        after = rules.play(position, cell)
        (left,) = (group for group in groups(after) if group & set(rules.legal_cells(after)))
        assert left == (odd if cell in odd else even) - {cell}


def test_leaving_an_even_number_wins_and_leaving_an_odd_one_loses() -> None:
    for cell in legal(COUNT):
        after = rules.play(COUNT.position, cell)
        assert rules.outcome(after) is None
        assert wins(after) is not judge(COUNT, cell).good


# --- What the page is told ------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_told_a_board_for_each_legal_try(lesson: Lesson, language: str) -> None:
    number = LESSONS.index(lesson) + 1
    told = lessons._told(number, language)
    assert (told["number"], told["count"]) == (number, len(LESSONS))
    assert list(told["tries"]) == [format_cell(cell) for cell in CELLS]
    for name, each in told["tries"].items():
        result = judge(lesson, parse_cell(name))
        assert each["good"] is result.good
        assert each["why"]
        assert (each["board"] is not None) == (name in told["board"]["legal"])
        assert (each["reply"] is None) == (each["after"] is None) == (result.reply is None)
        if each["after"]:
            outcome = each["after"]["outcome"]
            assert outcome is not None
            assert outcome["winner"] == "white"
            assert each["after"]["last"] == each["reply"]


def test_marks_and_threats_are_told_only_where_they_are_not_the_answer() -> None:
    told = [lessons._told(number, "en") for number in range(1, len(LESSONS) + 1)]
    assert [each["marked"] for each in told] == [False] * 3 + [True] * 8
    assert [bool(each["threats"]) for each in told] == [False] * 8 + [True] * 2 + [False]
