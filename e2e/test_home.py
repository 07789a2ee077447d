"""The home page and what is around the games: my games, who is here, and no network."""

import re
import shutil
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, Route, expect

import kamon
from e2e.conftest import CHAIN, CHAIN_SEED, PHONE, Guest, Guests, Troubles
from kamon import parse_line, rules
from kamon.i18n import translate
from kamon.web.pages.home import SAMPLE
from web_server import Server, serving

SHIFT_LIMIT: Final = 0.02
COUNT_SHIFTS: Final = """
    window.shift = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# A worker that has taken over, with everything kept.
CONTROLLED: Final = "() => navigator.serviceWorker.controller !== null"
STYLE: Final = "() => document.querySelector('link[href$=\"home.css\"]').getAttribute('href')"


def play_both(one: Guest, other: Guest, moves: int, **wish: str) -> str:
    """Set up a game between two guests, and make some moves. Tell its path."""
    path = one.set_up("friend", seed=str(CHAIN_SEED), **wish)
    game = path.rsplit("/", 1)[1]
    other.command(game, "join", name="Bea")
    for number, cell in enumerate(CHAIN[:moves]):
        (one, other)[number % 2].command(game, "move", cell=cell)
    return path


# --- My games on the home page --------------------------------------------------------------


def test_the_home_page_shows_my_running_games_the_most_urgent_first(guests: Guests) -> None:
    ann, bea = guests.come(), guests.come()
    waiting = ann.set_up("friend")
    theirs = play_both(ann, bea, 5, control="1/259200")
    mine = ann.set_up("computer")
    clocked = play_both(ann, bea, 4, control="180+2")
    ann.set_up("self", CHAIN, seed=str(CHAIN_SEED))
    ann.go("/")
    games = ann.page.locator("#my-games .running-game")
    expect(games).to_have_count(4)
    assert [each.get_attribute("href") for each in games.all()] == [clocked, mine, theirs, waiting]
    expect(games.nth(0)).to_contain_text(re.compile(r"Bea\s*your turn\s*(3:0\d|2:\d\d) left"))
    expect(games.nth(1)).to_contain_text("your turn")
    expect(games.nth(2)).to_contain_text(re.compile(r"your opponent’s turn\s*2 days left"))
    expect(games.nth(3)).to_contain_text("Send the link to your opponent")
    expect(games.locator(".board")).to_have_count(4)
    games.nth(0).click()
    ann.arrive()
    expect(ann.status).to_have_text("Your turn.")


def test_my_clock_runs_on_the_home_page_and_the_opponent_s_move_appears(guests: Guests) -> None:
    ann, bea = guests.come(), guests.come()
    path = play_both(ann, bea, 3, control="180+2")
    ann.go("/")
    game = ann.page.locator("#my-games .running-game")
    expect(game).to_contain_text("your opponent’s turn")
    bea.command(path.rsplit("/", 1)[1], "move", cell=CHAIN[3])
    expect(game).to_contain_text("your turn")
    expect(game).to_have_class(re.compile("mine"))
    before = game.inner_text()
    expect(game).not_to_have_text(before, use_inner_text=True)


def test_newcomers_see_no_games_and_the_way_to_the_tutorial(guest: Guest) -> None:
    guest.go("/")
    expect(guest.page.locator("#my-games")).to_be_hidden()
    guest.press("New here? Learn to play in three minutes")
    guest.page.wait_for_url("**/learn")
    guest.ready()
    count = guest.page.evaluate("async () => (await (await fetch('/api/lessons/1')).json()).count")
    guest.page.evaluate(
        "count => localStorage.setItem('kamon', JSON.stringify({learnt: count}))", count
    )
    for _ in range(2):
        # The second time the page comes without it.
        guest.go("/")
        expect(guest.button("New here? Learn to play in three minutes")).to_be_hidden()
    served = guest.page.context.request.get("/").text()
    assert 'class="newcomer"' not in served


def test_the_board_on_the_home_page_is_from_a_real_game(guest: Guest) -> None:
    game = parse_line(SAMPLE)
    assert game is not None
    assert game.outcome is None
    assert rules.check(game.position) == game.position
    guest.go("/")
    expect(guest.page.locator("#sample .stone")).to_have_count(len(game.moves))
    expect(guest.page.locator("#sample .mark-last")).not_to_have_count(0)


# --- Finding an opponent --------------------------------------------------------------------


@pytest.fixture
def quiet(browser: Browser, troubles: Troubles, tmp_path: Path) -> Iterator[Guests]:
    """A server where nobody else is."""
    with serving(tmp_path) as server:
        company = Guests(browser, server, troubles)
        yield company
        company.leave()


def test_whoever_looks_for_an_opponent_is_told_who_can_see_it(quiet: Guests) -> None:
    ann = quiet.come()
    ann.go("/")
    expect(ann.page.locator(".people")).to_have_text("Nobody else is here right now.")
    bea = quiet.come()
    bea.go("/")
    expect(bea.page.locator(".people")).to_have_text("People here now: 2.")
    ann.press("Find an opponent")
    ann.arrive()
    listed = ann.page.locator("kamon-listed")
    expect(listed).to_have_text(
        "You are listed on the home page of everybody here. People here now: 2."
    )
    # The list of the other one is up to date without a click.
    bea.page.locator("#open-games a").wait_for(timeout=20_000)
    ann.go("/")
    game = ann.page.locator("#my-games .running-game")
    expect(game).to_contain_text("Everybody here can join it")
    bea.page.locator("#open-games a").click()
    bea.arrive()
    bea.press("Join the game")
    expect(game).to_contain_text(re.compile("turn"))
    expect(ann.live).to_have_text("Somebody has joined your game.")


def test_an_invitation_is_not_said_to_be_listed(guest: Guest) -> None:
    guest.go(guest.set_up("friend"))
    expect(guest.page.get_by_text("Send this link to your opponent:")).to_be_visible()
    expect(guest.page.locator("kamon-listed")).to_have_count(0)


# --- My games -------------------------------------------------------------------------------


def test_my_games_are_filtered(guests: Guests) -> None:
    ann, bea = guests.come(), guests.come()
    won = play_both(ann, bea, len(CHAIN))
    lost = play_both(ann, bea, 4)
    ann.command(lost.rsplit("/", 1)[1], "resign")
    running = play_both(ann, bea, 4, control="180+2")
    shared = ann.set_up("self", CHAIN, seed=str(CHAIN_SEED))
    ann.go("/games")
    cards = ann.page.locator(".card")
    for name, paths in {
        "running": [running],
        "finished": [shared, lost, won],
        "won": [won],
        "lost": [lost],
        "all": [shared, running, lost, won],
    }.items():
        ann.choose("filter", name)
        expect(cards).to_have_count(len(paths))
        for card, path in zip(cards.all(), paths, strict=True):
            expect(card.locator("a").first).to_have_attribute("href", path)
    ann.choose("filter", "running")
    expect(cards).to_have_count(1)
    expect(cards.locator(".state")).to_have_text(re.compile(r"^your turn · (3:0\d|2:\d\d) left$"))
    bea.go("/games")
    bea.choose("filter", "won")
    expect(bea.page.locator(".card")).to_have_count(1)


def test_a_filter_without_games_says_so(guest: Guest) -> None:
    guest.set_up("computer")
    guest.go("/games")
    guest.choose("filter", "won")
    expect(guest.page.get_by_text("No games match.")).to_be_visible()
    guest.choose("filter", "all")
    expect(guest.page.locator(".card")).to_have_count(1)


@pytest.mark.parametrize(
    ("locale", "minutes", "days"),
    [("en-GB", "5 minutes ago", "12 Nov 2026"), ("de-DE", "vor 5 Minuten", "12.11.2026")],
)
def test_dates_are_in_the_visitor_s_language(
    guests: Guests, locale: str, minutes: str, days: str
) -> None:
    guest = guests.come(locale=locale)
    guest.go("/games")
    guest.set_up("computer")
    listed = guest.ask("/api/games")
    guest.page.clock.set_fixed_time("2026-11-24T12:00:00Z")

    def answer(route: Route) -> None:
        route.fulfill(json=listed)

    guest.page.route("**/api/games?*", answer)
    for age, words in ((5 * 60_000, minutes), (12 * 24 * 3600_000, days)):
        listed["games"][0]["age"] = age
        guest.go("/games")
        expect(guest.page.locator(".card time")).to_have_text(words)


# --- Sharing and installing -----------------------------------------------------------------


def test_the_home_page_can_be_shared_with_a_picture(server: Server) -> None:
    with httpx.Client(base_url=server.address) as client:
        page = client.get("/", headers={"Accept-Language": "de"}).text
        found = dict(re.findall(r'<meta property="og:(\S+)" content="([^"]*)"', page))
        assert found["title"] == f"Kamon – {translate('de', 'a board game for two')}"
        assert found["description"] != translate("de", "A board game for two players.")
        picture = client.get(found["image"].replace("&amp;", "&"))
        assert Image.open(BytesIO(picture.content)).size == (1200, 630)


def test_the_manifest_has_an_icon_that_may_be_cut_out(server: Server) -> None:
    with httpx.Client(base_url=server.address) as client:
        icons = client.get("/manifest.webmanifest").json()["icons"]
        (icon,) = [each for each in icons if each.get("purpose") == "maskable"]
        drawn = Image.open(BytesIO(client.get(icon["src"]).content))
        assert drawn.size == (512, 512)
        # The whole square is filled, corners included.
        assert drawn.convert("RGBA").getchannel("A").getextrema() == (255, 255)


# --- Small print ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/games"])
def test_without_javascript_a_page_says_that_it_needs_it(server: Server, path: str) -> None:
    # Chromium hides it where only the tests have switched scripts off, so the text is looked at.
    page = httpx.get(server.address + path, headers={"Accept-Language": "fr"}).text
    sentence = translate("fr", "This page needs JavaScript.")
    assert sentence in page.partition("<noscript>")[2].partition("</noscript>")[0]


def test_the_settings_say_when_notices_work(guest: Guest) -> None:
    guest.go("/")
    expect(guest.settings()).to_contain_text(
        "This works only while a Kamon page is open in your browser."
    )


def come_late(route: Route) -> None:
    """Bring the letters only when the page has been drawn with those of the system."""
    time.sleep(0.3)
    route.continue_()


@pytest.mark.parametrize("size", [(1280, 900), PHONE])
def test_nothing_moves_while_a_page_is_filled(guests: Guests, size: tuple[int, int]) -> None:
    guest, other = guests.come(size), guests.come()
    play_both(guest, other, 4, control="180+2")
    other.set_up("anyone")
    guest.page.add_init_script(COUNT_SHIFTS)
    guest.page.route("**/*.woff2", come_late)
    for path in ("/", "/day", "/games", "/learn", "/puzzles", "/rules", guest.set_up("self")):
        guest.page.goto(path)
        guest.page.wait_for_load_state("networkidle")
        assert guest.page.evaluate("window.shift") < SHIFT_LIMIT, path


# --- Without a network ----------------------------------------------------------------------


def settled(guest: Guest) -> None:
    """Open the home page, and wait until its worker has taken over."""
    guest.go("/")
    guest.page.wait_for_function(CONTROLLED)


def test_without_a_network_the_rules_and_the_tutorial_open(
    guests: Guests, troubles: Troubles
) -> None:
    troubles.expect("ERR_INTERNET_DISCONNECTED|ERR_FAILED")
    guest = guests.come(locale="de-DE", service_workers="allow")
    settled(guest)
    guest.page.context.set_offline(True)
    guest.page.goto("/")
    heading = guest.page.locator("h1")
    expect(heading).to_have_text(translate("de", "No connection"))
    assert guest.page.locator(".hero-board img").first.evaluate("each => each.naturalWidth") > 0
    guest.page.locator(".others a").first.click()
    expect(heading).to_have_text(translate("de", "The rules of Kamon"))
    widths = "all => all.map(each => each.naturalWidth)"
    guest.page.wait_for_load_state("networkidle")
    assert all(guest.page.locator("img.by-day").evaluate_all(widths))
    guest.go("/learn")
    expect(guest.page.locator(".lesson h2")).to_be_visible()
    # A game is on the server: the page says so, and comes back by itself.
    guest.page.goto("/games")
    expect(heading).to_have_text(translate("de", "No connection"))
    guest.page.context.set_offline(False)
    expect(heading).to_have_text(translate("de", "My games"))


def test_the_page_without_a_network_follows_the_language(
    guests: Guests, troubles: Troubles
) -> None:
    troubles.expect("ERR_INTERNET_DISCONNECTED|ERR_FAILED")
    guest = guests.come(service_workers="allow")
    settled(guest)
    guest.page.locator("[data-language=fr]").click()
    expect(guest.page.locator("html")).to_have_attribute("lang", "fr")
    language = "async () => (await caches.match('/offline', {ignoreVary: true}))?.headers"
    guest.page.wait_for_function(f"{language}.get('content-language') === 'fr'")
    guest.page.wait_for_load_state("networkidle")
    guest.page.context.set_offline(True)
    guest.page.goto("/")
    expect(guest.page.locator("h1")).to_have_text(translate("fr", "No connection"))
    expect(guest.page.locator("html")).to_have_attribute("lang", "fr")


def test_with_a_network_pages_are_never_old(guests: Guests) -> None:
    guest = guests.come(service_workers="allow")
    settled(guest)
    expect(guest.page.locator("#my-games")).to_be_hidden()
    guest.set_up("computer")
    guest.go("/")
    expect(guest.page.locator("#my-games .running-game")).to_have_count(1)
    kept = guest.page.evaluate(
        "async () => (await (await caches.open((await caches.keys())[0])).keys())"
        ".map((each) => new URL(each.url).pathname)"
    )
    # Nothing that belongs to somebody is kept.
    assert not [path for path in kept if path == "/" or path.startswith("/game")]


def test_a_new_version_is_used_at_once(
    browser: Browser, troubles: Troubles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubles.expect("ERR_CONNECTION_REFUSED|ERR_FAILED|503")
    with serving(tmp_path) as server:
        company = Guests(browser, server, troubles)
        guest = company.come(service_workers="allow")
        settled(guest)
        old = guest.page.evaluate(STYLE)
        guest.page.goto("about:blank")
        server.stop()
        newer = tmp_path / "newer"
        shutil.copytree(
            Path(kamon.__file__).parent,
            newer / "kamon",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        style = newer / "kamon" / "web" / "static" / "css" / "base.css"
        style.write_text(style.read_text(encoding="utf-8") + "/* newer */", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(newer))
        server.start()
        guest.go("/")
        new = guest.page.evaluate(STYLE)
        assert new != old
        folder = new.rsplit("/", 1)[0]
        # The files of the old version are forgotten.
        guest.page.wait_for_function(
            "async (name) => String(await caches.keys()) === name", arg=f"kamon {folder}"
        )
        company.leave()
