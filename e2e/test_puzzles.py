"""Puzzles in a real browser: solved, missed, with help, by keyboard, on a phone, by the day."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.conftest import PHONE, Guest, Guests
from kamon.notation import format_cell
from kamon.puzzles.puzzle import Puzzle
from kamon.web.puzzles.book import shipped

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
LEGAL = re.compile(r"\blegal\b")
PUZZLES = [listed.read() for listed in list(shipped().values())[:200]]
THREE_TURNS = next(puzzle for puzzle in PUZZLES if puzzle.turns == 3)
TWO_TURNS = next(puzzle for puzzle in PUZZLES if puzzle.turns == 2)


def right_moves(puzzle: Puzzle) -> list[str]:
    return [format_cell(cell) for cell in puzzle.solution[::2]]


def solve(guest: Guest, puzzle: Puzzle) -> None:
    """Click the right moves, each when the reply to the one before is there."""
    for number, cell in enumerate(right_moves(puzzle), 1):
        expect(guest.cell(cell)).to_have_class(LEGAL)
        guest.cell(cell).click()
        expect(guest.page.locator(".dots .learnt")).to_have_count(number)


def experienced(guests: Guests) -> Guest:
    """Let somebody come whose first five puzzles, which are not rated, are behind them."""
    guest = guests.come(**STILL)
    guest.go("/learn")
    for puzzle in PUZZLES[-5:]:
        moves = right_moves(puzzle)
        for count in range(1, len(moves) + 1):
            guest.ask(f"/api/puzzles/{puzzle.id}/moves", {"moves": moves[:count]})
    return guest


def test_the_first_puzzles_are_for_practice(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/puzzles")
    expect(guest.page.get_by_text("1 move to find")).to_be_visible()
    expect(guest.page.get_by_text("For practice, without a rating")).to_be_visible()
    puzzle = shipped()[guest.page.url.rsplit("/", 1)[1]].read()
    solve(guest, puzzle)
    expect(guest.page.get_by_role("heading", name="Solved!")).to_be_visible()
    expect(guest.page.locator(".change")).to_be_hidden()


def test_a_puzzle_is_solved_to_its_end(guests: Guests) -> None:
    guest = experienced(guests)
    guest.go(f"/puzzles/{THREE_TURNS.id}")
    expect(guest.page.get_by_text("3 moves to find")).to_be_visible()
    solve(guest, THREE_TURNS)
    expect(guest.page.get_by_role("heading", name="Solved!")).to_be_visible()
    expect(guest.page.locator(".change")).to_contain_text("+")
    expect(guest.button("Next puzzle")).to_be_focused()
    expect(guest.page.locator(".standing")).to_contain_text("6 / 6")
    # Another one comes, and stays when the page is loaded again.
    guest.press("Next puzzle")
    expect(guest.page.locator(".dots .learnt")).to_have_count(0)
    address = guest.page.url
    assert not address.endswith(THREE_TURNS.id)
    guest.reload()
    assert guest.page.url == address


def test_a_wrong_move_is_refuted_and_can_be_tried_again(guests: Guests) -> None:
    guest = experienced(guests)
    wrong, found = next(
        (cell, found) for cell, found in TWO_TURNS.refutations[0].items() if found.reply is not None
    )
    guest.go(f"/puzzles/{TWO_TURNS.id}")
    guest.cell(format_cell(wrong)).click()
    answer = guest.page.locator(".answer.wrong")
    expect(answer).to_contain_text("Not quite")
    assert found.reply is not None
    expect(answer).to_contain_text(format_cell(found.reply))
    assert format_cell(found.reply) in guest.stones()
    expect(guest.page.locator(".change")).to_contain_text("−")
    guest.press("Try again")
    assert format_cell(wrong) not in guest.stones()
    solve(guest, TWO_TURNS)
    expect(guest.page.get_by_role("heading", name="That’s it.")).to_be_visible()
    expect(guest.page.locator(".standing")).to_contain_text("5 / 6")


def test_hints_come_in_steps(guests: Guests) -> None:
    guest = experienced(guests)
    guest.go(f"/puzzles/{TWO_TURNS.id}")
    guest.press("Hint")
    expect(guest.page.locator(".answer.hint")).to_be_visible()
    expect(
        guest.page.get_by_text("If you take another hint, this puzzle counts as failed.")
    ).to_be_visible()
    guest.press("Another hint")
    expect(guest.page.locator(".answer.hint")).to_contain_text(" or ")
    expect(guest.page.locator(".table .cell.legal")).to_have_count(2)
    expect(guest.page.locator(".change")).to_contain_text("−")
    guest.press("Show the move")
    expect(guest.page.locator(".table .cell.legal")).to_have_count(1)
    assert guest.legal() == right_moves(TWO_TURNS)[:1]
    # The keyboard is led to it.
    guest.page.keyboard.press("Enter")
    expect(guest.page.locator(".dots .learnt")).to_have_count(1)


def test_the_puzzle_of_the_day_is_in_the_calendar(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/puzzles/day")
    today = guest.page.locator(".calendar [aria-current=date]")
    day = guest.page.locator("#puzzles").get_attribute("data-day")
    expect(today).to_have_attribute("href", f"/puzzles/day/{day}")
    puzzle = shipped()[guest.page.locator("#puzzles").get_attribute("data-puzzle") or ""].read()
    solve(guest, puzzle)
    expect(today).to_have_class("day solved")
    guest.press("Month before")
    expect(guest.page.locator(".calendar .day").first).to_be_visible()
    expect(guest.page.locator(".calendar [aria-current=date]")).to_have_count(0)


def test_a_day_can_be_opened_by_its_link_and_shared(guests: Guests) -> None:
    guest = guests.come(**STILL, permissions=["clipboard-read", "clipboard-write"])
    guest.go("/puzzles/day/2026-03-01")
    expect(guest.page.get_by_text("1 March 2026")).to_be_visible()
    puzzle = shipped()[guest.page.locator("#puzzles").get_attribute("data-puzzle") or ""].read()
    card = guest.page.locator("meta[property='og:image']").get_attribute("content") or ""
    assert format_cell(puzzle.solution[0]) not in card.rpartition("line=")[2].split("%20")[1:]
    solve(guest, puzzle)
    guest.press("Share")
    expect(guest.button("Copied.")).to_be_visible()
    copied = guest.page.evaluate("navigator.clipboard.readText()")
    assert "1 March 2026" in copied
    assert copied.endswith("/puzzles/day/2026-03-01")


def test_against_the_clock(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/puzzles")
    guest.press("Timed")
    expect(guest.button("Start")).to_be_visible()
    with guest.page.expect_response(
        lambda answer: answer.url.endswith("/runs") and answer.request.method == "POST"
    ) as response:
        guest.press("Start")
    puzzle = shipped()[response.value.json()["puzzle"]["id"]].read()
    expect(guest.page.get_by_role("timer")).to_be_visible()
    # Whoever loads the page again goes on.
    guest.reload()
    expect(guest.page.get_by_role("timer")).to_be_visible()
    for cell in right_moves(puzzle):
        expect(guest.cell(cell)).to_have_class(LEGAL)
        guest.cell(cell).click()
    expect(guest.page.get_by_text("1 solved", exact=True)).to_be_visible()


def test_what_went_wrong_in_a_run_can_be_looked_at_again(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.page.clock.install()
    guest.go("/puzzles")
    guest.press("Timed")
    with guest.page.expect_response(
        lambda response: response.url.endswith("/runs") and response.request.method == "POST"
    ) as response:
        guest.press("Start")
    puzzle = shipped()[response.value.json()["puzzle"]["id"]].read()
    wrong = next(iter(puzzle.refutations[0]))
    expect(guest.cell(format_cell(wrong))).to_have_class(LEGAL)
    guest.cell(format_cell(wrong)).click()
    expect(guest.page.locator(".answer.wrong")).to_be_visible()
    guest.page.clock.fast_forward(181_000)
    guest.page.get_by_role("link", name="Puzzle 1").click()
    expect(guest.page).to_have_url(re.compile(rf"/puzzles/{puzzle.id}$"))


def test_the_time_runs_out(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.page.clock.install()
    guest.go("/puzzles")
    guest.press("Timed")
    guest.press("Start")
    expect(guest.page.get_by_role("timer")).to_be_visible()
    guest.page.clock.fast_forward(181_000)
    expect(
        guest.page.locator("#puzzles").get_by_text("Time’s up: 0 puzzles solved.")
    ).to_be_visible()
    expect(guest.button("Start again")).to_be_visible()


def test_who_has_lost_nothing_has_missed_nothing(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/puzzles")
    guest.press("Missed")
    expect(guest.page.get_by_text("There are none yet.")).to_be_visible()
    expect(guest.page.locator("kamon-board")).to_be_hidden()


def test_a_theme_is_kept_for_the_next_puzzle(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/puzzles")
    with guest.page.expect_response("**/api/puzzles/next?theme=corner") as response:
        guest.page.locator(".theme select").select_option("corner")
    assert "corner" in shipped()[response.value.json()["id"]].themes


def test_a_puzzle_is_solved_with_the_keyboard_alone(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go(f"/puzzles/{TWO_TURNS.id}")
    for cell in right_moves(TWO_TURNS):
        expect(guest.cell(cell)).to_have_class(LEGAL)
        guest.cell(cell).focus()
        guest.page.keyboard.press("Enter")
    expect(guest.page.get_by_role("heading", name="Solved!")).to_be_visible()
    expect(guest.live).to_have_text("Solved!")


@pytest.mark.parametrize("path", ["/puzzles", "/puzzles/day"])
def test_the_board_and_the_task_are_in_view_on_a_phone(guests: Guests, path: str) -> None:
    guest = guests.come(PHONE, **STILL)
    guest.go(path)
    expect(guest.page.locator(".task h2")).to_be_in_viewport()
    expect(guest.page.locator(".table .board")).to_be_in_viewport()
    assert guest.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
