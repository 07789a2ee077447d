"""The board of the day in a real browser: to play it, to see how people fared, and the proof."""

import contextlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from e2e.conftest import PHONE, THOROUGH, Guests
from kamon.notation import format_cell
from kamon.web.days.boards import solved_boards
from web_server import Client, Server, serving

# A board that comes with the program, and its first move that is proven to win.
SEED = min(seed for seed, board in solved_boards().items() if board.line)
BOARD = solved_boards()[SEED]
LINE = [format_cell(cell) for cell in BOARD.line]
WON_BY_WHITE = next(seed for seed, board in solved_boards().items() if board.value == "loss")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has been there for two days, and on which somebody has played today."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        with contextlib.closing(sqlite3.connect(running.database)) as database, database:
            rows = [(days_ago(1).isoformat(), SEED), (days_ago(2).isoformat(), WON_BY_WHITE)]
            database.executemany("INSERT INTO board_days (date, seed) VALUES (?, ?)", rows)
        with Client(running) as client:
            game = client.new(day=True, level=3, side="black")
            client.do(game, "resign")
        yield running


def days_ago(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days)


def test_the_home_page_leads_to_the_board_of_the_day_and_it_can_be_played(guests: Guests) -> None:
    guest = guests.come()
    guest.go("/")
    guest.page.get_by_role("link", name=re.compile("Board of the day")).click()
    guest.ready()
    page = guest.page
    expect(page.get_by_role("row", name=re.compile("^3 "))).to_contain_text("0%")
    expect(page.get_by_label("What the computer found out")).to_be_hidden()
    tokens = guest.ask("/api/day")["board"]["tokens"]
    page.get_by_role("radio", name="Level 2: Sprout").check(force=True)
    page.get_by_label("Black (goes first)").check(force=True)
    guest.press("Play this board")
    game = guest.arrive().rsplit("/", 1)[1]
    told = guest.ask(f"/api/games/{game}")["view"]
    assert told["board"]["tokens"] == tokens
    assert told["seats"]["white"]["level"] == 2
    assert told["you"] == ["black"]
    guest.command(game, "resign")
    guest.press("Board of the day")
    page.wait_for_url("**/day?date=*")
    guest.ready()
    expect(page.get_by_role("radio", name="Level 2: Sprout")).to_be_checked()
    expect(page.get_by_role("link", name=re.compile(r"Sprout \(2\) · lost"))).to_be_visible()


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"size": PHONE}, marks=THOROUGH),
        pytest.param({"forced_colors": "active"}, marks=THOROUGH),
    ],
)
def test_a_day_later_the_proof_is_told_and_the_line_can_be_stepped_through(
    guests: Guests, audit: Callable[[Page], list[str]], options: dict[str, object]
) -> None:
    guest = guests.come(**options)  # type: ignore[arg-type]
    page = guest.page
    guest.go("/day")
    guest.press("‹ The day before")
    page.wait_for_url(f"**/day?date={days_ago(1).isoformat()}")
    guest.ready()
    proven = page.get_by_label("What the computer found out")
    expect(proven).to_contain_text("wins if both play perfectly.")
    expect(proven).to_contain_text(LINE[0])
    expect(guest.cell(LINE[0])).to_have_attribute("aria-label", re.compile(r"\bwins\b"))
    assert audit(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    page.get_by_role("button", name="One move forward").press("Enter")
    expect(guest.live).to_contain_text(f"Stone 1 of {len(LINE)}: the ")
    assert guest.stones() == {LINE[0]: "black"}
    guest.press("Last position")
    expect(page.locator(".board.ended")).to_be_visible()
    assert len(guest.stones()) == len(LINE)
    guest.press("Open in a study")
    page.wait_for_url("**/study?line=*")
    guest.ready()
    expect(page.locator(".tree .move")).to_have_count(len(LINE))


def test_where_white_wins_every_first_move_is_told_to_lose(guests: Guests) -> None:
    guest = guests.come()
    guest.go(f"/day?date={days_ago(2).isoformat()}")
    proven = guest.page.get_by_label("What the computer found out")
    expect(proven).to_contain_text("White wins if both play perfectly.")
    expect(proven).to_contain_text("Losing first moves: ")
    first = format_cell(solved_boards()[WON_BY_WHITE].not_winning[0])
    expect(guest.cell(first)).to_have_attribute("aria-label", re.compile(r"\bloses\b"))


def test_a_fair_board_is_offered_with_what_is_proven_about_it(guests: Guests) -> None:
    guest = guests.come()
    fair = [{"seed": "17", "winner": "black", "winning": 2, "first_moves": 12}]

    def offer(route: Route) -> None:
        """Let the page come with a fair board, whether one comes with the program or not."""
        answer = route.fetch()
        told = re.search(r'<script type="application/json" id="told">(.*?)</script>', answer.text())
        assert told
        changed = json.dumps({**json.loads(told[1]), "fair": fair})
        route.fulfill(response=answer, body=answer.text().replace(told[1], changed))

    guest.page.route(guest.address + "/", offer)
    guest.go("/")
    guest.wish()
    guest.choose("board", "fair")
    words = "Black can win, but only 2 of the 12 possible first moves win."
    expect(guest.page.get_by_text(words)).to_be_visible()
    guest.press("Play against the computer")
    game = guest.arrive().rsplit("/", 1)[1]
    by_number = guest.ask("/api/games", {"against": "self", "seed": "17"})
    assert guest.ask(f"/api/games/{game}")["view"]["layout"] == by_number["layout"]


def test_a_day_without_a_board_is_a_page_that_says_so(guests: Guests) -> None:
    guest = guests.come()
    guests.troubles.expect("404")
    answer = guest.page.goto("/day?date=2020-01-01")
    assert answer is not None
    assert answer.status == 404
    expect(guest.page.locator("main")).to_contain_text("There is nothing here")
