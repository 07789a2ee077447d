"""A reason to come back: what was done today, days that are counted, levels that are beaten."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.conftest import CHAIN, CHAIN_SEED, Guest, Guests
from e2e.test_puzzles import right_moves
from kamon import Layout, format_layout
from kamon.puzzles.puzzle import Puzzle
from kamon.web.puzzles.book import shipped
from web_server import Server

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
DONE = re.compile(r"\bdone\b")


def todays(guest: Guest) -> Puzzle:
    """Return the puzzle of the day."""
    today = guest.page.evaluate("new Date().toISOString().slice(0, 10)")
    return shipped()[guest.ask(f"/api/puzzles/days/{today}")["id"]].read()


def solve_today(guest: Guest) -> None:
    """Solve the puzzle of the day."""
    puzzle = todays(guest)
    moves = right_moves(puzzle)
    for count in range(1, len(moves) + 1):
        guest.ask(f"/api/puzzles/{puzzle.id}/moves", {"moves": moves[:count]})


def test_the_home_page_knows_that_the_puzzle_of_the_day_is_solved(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    card = guest.page.locator(".daily-card").first
    turns = todays(guest).turns
    expect(card.locator(".task")).to_have_text(re.compile(rf"to play: {turns} moves? to find$"))
    expect(card).not_to_have_class(DONE)
    solve_today(guest)
    guest.reload()
    expect(card.locator(".task")).to_have_text("Solved!")
    expect(card).to_have_class(DONE)


def test_days_are_counted_and_the_count_can_be_hidden(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    expect(guest.page.get_by_text("this month")).to_have_count(0)
    solve_today(guest)
    guest.reload()
    expect(guest.page.get_by_text("You have played on 1 day this month")).to_be_visible()
    guest.set(days=False)
    expect(guest.page.get_by_text("this month")).to_have_count(0)
    guest.reload()
    expect(guest.page.get_by_text("this month")).to_have_count(0)


def test_the_cards_of_today_stay_when_something_else_is_chosen(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    expect(guest.page.locator(".daily-card")).to_have_count(2)
    guest.page.get_by_role("radio", name="Level 3: Seedling").check(force=True)
    guest.set(edition="2007")
    expect(guest.page.locator(".daily-card h2")).to_have_count(2)


def test_what_somebody_has_broken_in_the_storage_does_not_break_the_page(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    broken = {"beaten": 5, "level": 99, "streaks": None, "ladder": 2}
    keep = "broken => localStorage.setItem('kamon', JSON.stringify(broken))"
    guest.page.evaluate(keep, broken)
    guest.reload()
    expect(guest.page.get_by_role("radio", name="Level 1: Duckling")).to_be_checked()
    expect(guest.button("Play against the computer")).to_be_enabled()


def test_the_home_page_knows_how_the_board_of_the_day_went(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    path = guest.set_up("computer", level=2, day=True, side="black")
    guest.command(path.rsplit("/", 1)[1], "resign")
    guest.reload()
    card = guest.page.locator(".daily-card").nth(1)
    expect(card.locator(".task")).to_have_text("You have played Sprout. Try again?")
    expect(card).not_to_have_class(DONE)


def test_a_puzzle_is_shared_without_its_solution(guests: Guests) -> None:
    guest = guests.come(**STILL, permissions=["clipboard-read", "clipboard-write"])
    guest.go("/puzzles/day")
    guest.page.evaluate("() => delete Navigator.prototype.share")
    puzzle = todays(guest)
    for number, cell in enumerate(right_moves(puzzle), 1):
        guest.cell(cell).click()
        expect(guest.page.locator(".dots .learnt")).to_have_count(number)
    guest.press("Share")
    text = guest.page.evaluate("() => navigator.clipboard.readText()")
    assert text.splitlines()[0].endswith(" " + puzzle.turns * "⬢")
    assert not any(cell in text.splitlines()[0].split() for cell in right_moves(puzzle))


def test_the_address_of_a_puzzle_says_what_there_is_to_do(server: Server, guests: Guests) -> None:
    guest = guests.come()
    guest.go("/puzzles/day")
    said = guest.page.locator("meta[property='og:description']").get_attribute("content")
    assert said is not None
    puzzle = todays(guest)
    assert said == f"{puzzle.position.turn.value.title()} to play. Moves to find: {puzzle.turns}."
    card = guest.page.locator("meta[property='og:image']").get_attribute("content")
    assert card is not None
    assert f"moves={puzzle.turns}" in card
    assert "day=20" in card
    assert guest.page.request.get(server.address + card[card.index("/api/") :]).ok


def test_a_level_that_was_beaten_is_marked(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/")
    expect(guest.page.locator(".levels .beaten")).to_have_count(0)
    guest.page.evaluate(
        "() => localStorage.setItem('kamon', JSON.stringify({ladder: 2, beaten: [1, 2]}))"
    )
    guest.reload()
    expect(guest.page.locator(".levels .beaten")).to_have_count(2)
    expect(guest.page.get_by_role("radio", name="Level 2: Sprout (beaten)")).to_be_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_board_beside_the_title_plays_by_itself_unless_nothing_may_move(
    guests: Guests, motion: str
) -> None:
    guest = guests.come(reduced_motion=motion)
    guest.page.clock.install()
    guest.go("/")
    stones = guest.page.locator("#sample .stone")
    before = stones.count()
    assert before
    guest.page.clock.run_for(20_000)
    if motion == "reduce":
        expect(stones).to_have_count(before)
    else:
        expect(stones).not_to_have_count(before)


def test_the_move_that_was_better_is_praised_when_it_is_found(guests: Guests) -> None:
    guest = guests.come(**STILL)
    guest.go("/learn")
    layout = format_layout(Layout.shuffled(CHAIN_SEED))
    wish = {"against": "computer", "level": 1, "side": "white", "layout": layout}
    game = guest.ask("/api/games", {**wish, "moves": CHAIN[:3]})["id"]
    guest.go(f"/game/{game}")
    better = guest.legal()[0]
    goal = {"game": game, "ply": 3, "value": "win", "better": better}
    guest.page.evaluate("goal => sessionStorage.setItem('kamon-goal', JSON.stringify(goal))", goal)
    guest.reload()
    said = guest.page.locator(".goal")
    expect(said).to_have_text("You can win here. Find the move.")
    guest.play(better)
    expect(said).to_have_text("That’s it! Now you are winning.")
    # A move that is taken back is looked for again.
    guest.wait_for_turn()
    guest.press("Take back")
    expect(said).to_have_text("You can win here. Find the move.")
