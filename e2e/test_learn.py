"""The tutorial in a real browser: played through, missed, left and taken up again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.conftest import LAPTOP, PHONE, THOROUGH, Guest, Guests, Troubles
from kamon import rules
from kamon.geometry import CELLS
from kamon.notation import format_cell
from kamon.web.learn.lessons import LESSONS, Lesson, judge

COUNT = len(LESSONS)
STILL = {"reduced_motion": "reduce"}


def right(lesson: Lesson) -> str:
    """Name a cell that does what the lesson asks for."""
    return next(format_cell(cell) for cell in CELLS if judge(lesson, cell).good)


def wrong(lesson: Lesson) -> list[str]:
    """Name the legal cells that do not."""
    legal = rules.legal_cells(lesson.position)
    return [format_cell(cell) for cell in legal if not judge(lesson, cell).good]


def answer(guest: Guest) -> Locator:
    """Find what is said about the last try."""
    return guest.page.locator(".answer")


def solve(guest: Guest, number: int) -> None:
    """Do one step, and see that it is done."""
    lesson = LESSONS[number - 1]
    expect(guest.page.get_by_role("heading", name=lesson.title)).to_be_visible()
    expect(guest.page.get_by_text(f"Step {number} of {COUNT}")).to_be_visible()
    guest.cell(right(lesson)).click()
    expect(answer(guest)).to_have_text(lesson.done)
    expect(guest.live).to_have_text(lesson.done)


def go_to(guest: Guest, number: int) -> None:
    """Open the tutorial at a step, as somebody who has done those before it."""
    kept = f"JSON.stringify({{lesson: {number}, learnt: {number - 1}}})"
    guest.page.add_init_script(f"localStorage.kamon ||= {kept}")
    guest.go("/learn")


def test_the_whole_tutorial_leads_to_a_game_at_level_1(guest: Guest) -> None:
    guest.go("/learn")
    for number in range(1, COUNT):
        solve(guest, number)
        expect(guest.button("Next")).to_be_focused()
        guest.press("Next")
    solve(guest, COUNT)
    expect(guest.button("Play your first game")).to_be_focused()
    guest.press("Play your first game")
    guest.arrive()
    expect(guest.status).to_have_text("Your turn.")
    names = guest.page.locator(".player .who")
    expect(names.first).to_have_text("Duckling White · level 1")


def test_progress_is_remembered_and_one_may_go_back(guest: Guest) -> None:
    guest.go("/learn")
    expect(guest.button("Back")).to_be_hidden()
    for number in (1, 2):
        solve(guest, number)
        guest.press("Next")
    guest.reload()
    expect(guest.page.get_by_text(f"Step 3 of {COUNT}")).to_be_visible()
    expect(guest.page.locator(".dots .learnt")).to_have_count(2)
    expect(guest.button("Next")).to_be_hidden()
    guest.press("Back")
    heading = guest.page.get_by_role("heading", name=LESSONS[1].title)
    expect(heading).to_be_focused()
    # What was done once need not be done again.
    guest.press("Next")
    expect(guest.page.get_by_text(f"Step 3 of {COUNT}")).to_be_visible()


def test_who_has_done_everything_may_play_or_start_again(guest: Guest) -> None:
    go_to(guest, COUNT)
    solve(guest, COUNT)
    guest.reload()
    expect(guest.page.get_by_text(f"Step {COUNT} of {COUNT}")).to_be_visible()
    expect(guest.button("Play your first game")).to_be_visible()
    guest.press("Start again")
    solve(guest, 1)


def test_a_step_that_there_is_no_more_leads_to_the_first(guest: Guest, troubles: Troubles) -> None:
    troubles.expect(r"the server responded with a status of 422")
    go_to(guest, COUNT + 1)
    solve(guest, 1)


# --- What is wrong, and why -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "tries"),
    [
        (
            1,
            {
                "a2": "There is a stone here already.",
                "e6": "Nobody may play on the neutral space.",
                "a3": "This token does not match. Choose any butterfly, or anything pink.",
            },
        ),
        (
            2,
            {
                "a1": "The first stone may not go on a corner.",
                "d4": "The first stone goes on an edge space of the board.",
            },
        ),
        (
            3,
            {
                "f4": "Nobody may play on the neutral space.",
                "e3": "That does not join your two stones.",
            },
        ),
        (4, {"a2": "That does not connect two opposite edges yet."}),
        (7, {"d5": "This ring has only your own stones inside, so it does not count."}),
        (8, {"a1": "White can still play on these spaces: d1 e2 a3 b5 c6 d6 d7 e7."}),
    ],
)
def test_a_wrong_try_is_explained_and_taken_back(
    guest: Guest, number: int, tries: dict[str, str]
) -> None:
    go_to(guest, number)
    stones = guest.page.locator(".table .stone")
    before = stones.count()
    for cell, why in tries.items():
        guest.cell(cell).click()
        expect(answer(guest)).to_have_text(why)
        expect(guest.live).to_have_text(why)
        expect(guest.button("Next")).to_be_hidden()
        expect(stones).to_have_count(before)
    # The step can still be done.
    solve(guest, number)


@pytest.mark.parametrize("options", [{}, STILL], ids=["moving", "still"])
@pytest.mark.parametrize("number", [9, pytest.param(10, marks=THOROUGH)])
def test_the_reply_that_wins_is_shown_and_taken_back(
    guests: Guests, number: int, options: dict[str, str]
) -> None:
    guest = guests.come(LAPTOP, **options)
    go_to(guest, number)
    lesson = LESSONS[number - 1]
    expect(guest.page.locator(".mark-threat")).to_have_count(1)
    marked = guest.page.locator(".cell.threat").get_attribute("data-cell")
    assert marked is not None
    stones = guest.page.locator(".table .stone")
    before = stones.count()
    guest.cell(wrong(lesson)[0]).click()
    expect(guest.cell(marked).locator(".stone.white")).to_be_visible()
    expect(stones).to_have_count(before + 2)
    expect(guest.live).to_contain_text(f"White has played {marked}: ")
    expect(stones).to_have_count(before)
    expect(guest.page.locator(".mark-threat")).to_have_count(1)
    solve(guest, number)


def test_a_try_does_not_wait_until_the_last_one_is_taken_back(guest: Guest) -> None:
    go_to(guest, 4)
    first, second = wrong(LESSONS[3])[:2]
    stones = guest.page.locator(".table .stone.black")
    before = stones.count()
    for cell in (first, second):
        guest.cell(cell).click()
        expect(guest.cell(cell).locator(".stone")).to_be_visible()
        expect(stones).to_have_count(before + 1)
    solve(guest, 4)


def test_after_two_wrong_tries_a_right_cell_is_shown(guest: Guest) -> None:
    go_to(guest, 3)
    cells = wrong(LESSONS[2])[:2]
    guest.cell(cells[0]).click()
    expect(guest.button("Show me")).to_be_hidden()
    guest.cell(cells[1]).click()
    guest.press("Show me")
    cell = right(LESSONS[2])
    marked = guest.page.locator(".cell.legal")
    expect(marked).to_have_count(1)
    expect(marked).to_have_attribute("data-cell", cell)
    expect(guest.cell(cell)).to_be_focused()
    expect(guest.live).to_have_text(f"Try {cell}: pink fish.")
    guest.page.keyboard.press("Enter")
    expect(answer(guest)).to_have_text(LESSONS[2].done)


# --- For everybody --------------------------------------------------------------------------


def test_a_step_is_done_by_the_keyboard_alone(guest: Guest) -> None:
    go_to(guest, 4)
    keyboard = guest.page.keyboard
    heading = guest.page.get_by_role("heading", name=LESSONS[3].title)
    heading.focus()
    keyboard.press("Tab")
    expect(guest.cell("d4")).to_be_focused()
    keyboard.press("Enter")
    expect(guest.live).to_have_text("There is a stone here already.")
    cell = right(LESSONS[3])
    for key in cell:
        keyboard.press(key)
    expect(guest.cell(cell)).to_be_focused()
    keyboard.press("Enter")
    expect(guest.button("Next")).to_be_focused()
    keyboard.press("Enter")
    expect(guest.page.get_by_role("heading", name=LESSONS[4].title)).to_be_focused()
    expect(guest.live).to_have_text(LESSONS[4].text)


def test_both_editions_have_their_own_words(guest: Guest) -> None:
    go_to(guest, 1)
    expect(guest.page.locator(".need strong")).to_have_text("any butterfly, or anything pink")
    guest.set(edition="2007")
    expect(guest.page.locator(".need strong")).to_have_text("any leaf, or anything printed once")
    expect(guest.page.locator(".table .pawn")).to_have_count(2)
    guest.cell("a3").click()
    expect(answer(guest)).to_contain_text("any leaf, or anything printed once")
    # What was said is said anew.
    guest.set(edition="2020")
    expect(answer(guest)).to_contain_text("any butterfly, or anything pink")


@THOROUGH
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_axe_finds_nothing(
    guests: Guests, audit: Callable[[Page], list[str]], size: tuple[int, int], theme: str
) -> None:
    guest = guests.come(size, color_scheme=theme, **STILL)
    go_to(guest, 8)
    assert audit(guest.page) == []
    for cell in wrong(LESSONS[7])[:2]:
        guest.cell(cell).click()
    expect(guest.button("Show me")).to_be_visible()
    assert audit(guest.page) == []
    solve(guest, 8)
    assert audit(guest.page) == []


@pytest.mark.parametrize("locale", [pytest.param("en-GB", marks=THOROUGH), "de-DE"])
def test_a_phone_shows_text_board_and_answer_without_scrolling(guests: Guests, locale: str) -> None:
    guest = guests.come(PHONE, locale=locale, **STILL)
    for number, lesson in enumerate(LESSONS, 1):
        guest.page.goto(guest.address + "/learn")
        guest.page.evaluate(
            "number => { localStorage.kamon = JSON.stringify({lesson: number}) }", number
        )
        guest.reload()
        guest.cell(wrong(lesson)[0] if wrong(lesson) else "d4").click()
        expect(answer(guest)).to_be_visible()
        for part in (".lesson h2", ".lesson > p:last-child", ".board", ".answer"):
            box = guest.page.locator(part).first.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= PHONE[0], (number, part)
            assert box["y"] + box["height"] <= PHONE[1], (number, part)
        assert guest.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_step_that_comes_late_does_not_replace_a_newer_one(guest: Guest) -> None:
    guest.page.add_init_script("localStorage.kamon ||= JSON.stringify({lesson: 3, learnt: 3})")
    guest.go("/learn")
    step = guest.page.get_by_text(f"Step 4 of {COUNT}")
    with guest.late("**/api/lessons/2"):
        guest.press("Back")
        guest.press("Next")
        expect(step).to_be_visible()
    expect(step).to_be_visible()
