"""The pages around the game: the settings, boards of one's own, the list of games, the weight."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Response, expect

from e2e.conftest import CHAIN, CHAIN_SEED, Guest, Guests, Troubles
from kamon import Layout, format_layout, parse_record
from kamon.errors import SENTENCES
from kamon.i18n import translate

OWN = "E5B1C3C2/D2A2D6D1A1/E2C5B4C4A4A3/A6F1C1E4D4A5F2/B6C6B3F6E1D5/D3--E3B5F5/B2E6F4F3"
# A page that cannot play sounds still says that it was asked to.
COUNT_SOUNDS = """
    window.sounds = 0;
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...when) {
        window.sounds++;
        start.apply(this, when);
    };
"""
# Reads a page without opening it: what it preloads, and what its module imports at once.
MODULES = """
    async (path) => {
        const text = async (address) => (await fetch(address)).text();
        const page = new DOMParser().parseFromString(await text(path), "text/html");
        const links = [...page.querySelectorAll("link[rel=modulepreload]")];
        const found = new Set();
        const read = async (module) => {
            for (const [, name] of (await text(module)).matchAll(/(?:from|^import) "([^"]+)"/gm)) {
                const imported = new URL(name, module).href;
                if (!found.has(imported)) await read(found.add(imported) && imported);
            }
        };
        await read(page.querySelector("script[type=module]").src);
        return [links.map((link) => link.href), [...found]];
    }
"""
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


def layout_of(guest: Guest) -> str:
    """Tell the layout of the game that a guest is looking at."""
    game = guest.page.url.rsplit("/", 1)[1]
    return str(guest.ask(f"/api/games/{game}")["view"]["layout"])


# --- Settings -------------------------------------------------------------------------------


def test_the_edition_of_2007_shows_pawns_and_the_pile_and_2020_shows_stones(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN[:4], seed=str(CHAIN_SEED)))
    expect(guest.page.locator(".table .stone")).to_have_count(4)
    expect(guest.page.locator(".table .pile")).to_have_count(0)
    expect(guest.page.locator(".need strong")).to_contain_text("anything ")
    guest.set(edition="2007")
    for _ in range(2):
        expect(guest.page.locator(".table .pawn")).to_have_count(4)
        expect(guest.page.locator(".table .stone")).to_have_count(0)
        expect(guest.page.locator(".table .pile")).to_be_visible()
        expect(guest.page.locator(".need strong")).to_contain_text("anything printed ")
        # It is remembered.
        guest.reload()
    guest.play(CHAIN[4])
    expect(guest.page.locator(".table .pawn")).to_have_count(5)
    guest.set(edition="2020")
    expect(guest.page.locator(".table .stone")).to_have_count(5)


def test_the_theme_is_chosen_and_remembered_and_else_that_of_the_system(guests: Guests) -> None:
    by_day, by_night = guests.come(color_scheme="light"), guests.come(color_scheme="dark")
    for each in (by_day, by_night):
        each.go("/")
    light, dark = by_day.page.evaluate(BACKGROUND), by_night.page.evaluate(BACKGROUND)
    assert light != dark
    by_day.set(theme="dark")
    for path in ("/", "/games"):
        assert by_day.page.evaluate(BACKGROUND) == dark
        by_day.go(path)
    expect(by_day.settings().locator("[name=theme]")).to_have_value("dark")
    by_night.set(theme="light")
    assert by_night.page.evaluate(BACKGROUND) == light
    by_night.set(theme="auto")
    assert by_night.page.evaluate(BACKGROUND) == dark
    by_night.reload()
    assert by_night.page.evaluate(BACKGROUND) == dark


def test_the_names_of_the_cells_are_shown_on_request(guest: Guest) -> None:
    guest.start("Two players on this screen")
    expect(guest.page.locator(".coordinate")).to_have_count(0)
    guest.set(coordinates=True)
    for _ in range(2):
        expect(guest.page.locator(".coordinate")).to_have_count(37)
        expect(guest.cell("c4").locator(".coordinate")).to_have_text("c4")
        guest.reload()


def test_a_stone_is_heard_until_the_sound_is_off(guest: Guest) -> None:
    guest.page.add_init_script(COUNT_SOUNDS)
    guest.start("Two players on this screen", seed=CHAIN_SEED)
    guest.play(CHAIN[0])
    heard = guest.page.evaluate("() => window.sounds")
    assert heard > 0
    guest.set(sound=False)
    guest.play(CHAIN[1])
    assert guest.page.evaluate("() => window.sounds") == heard
    guest.reload()
    guest.play(CHAIN[2])
    assert guest.page.evaluate("() => window.sounds") == 0


def test_settings_close_by_escape_and_give_the_focus_back(guest: Guest) -> None:
    guest.go("/")
    dialog = guest.settings()
    guest.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(guest.page.locator("#open-settings")).to_be_focused()


def test_the_level_is_remembered(guest: Guest) -> None:
    guest.go("/")
    # A new visitor is offered the easiest.
    easiest = guest.page.get_by_role("radio", name="Level 1: Duckling")
    expect(easiest).to_be_checked()
    easiest.press("ArrowRight")
    second = guest.page.get_by_role("radio", name="Level 2: Sprout")
    expect(second).to_be_checked()
    expect(guest.page.locator(".levels .said")).to_contain_text("2. Sprout")
    guest.reload()
    expect(second).to_be_checked()
    guest.start("Play against the computer", side="black")
    expect(guest.page.locator(".player .who").first).to_have_text("Sprout White · level 2")


def test_a_level_of_the_first_version_is_remembered_as_its_like(guest: Guest) -> None:
    guest.go("/")
    guest.page.evaluate("localStorage.setItem('kamon', JSON.stringify({level: 8, name: 'Ann'}))")
    guest.reload()
    expect(guest.page.get_by_role("radio", name="Level 12: Oracle")).to_be_checked()


# --- Boards of one's own --------------------------------------------------------------------


def test_a_number_always_gives_the_same_board(guest: Guest) -> None:
    # The last one is more than JavaScript can count.
    for seed in (7, 2**64 - 1):
        guest.start("Two players on this screen", seed=seed)
        assert layout_of(guest) == format_layout(Layout.shuffled(seed))


def test_a_board_is_pasted_as_text(guest: Guest) -> None:
    guest.go("/")
    guest.wish()
    guest.choose("board", "own")
    guest.page.locator("textarea").fill(f"  {OWN}\n")
    guest.press("Two players on this screen")
    guest.arrive()
    assert layout_of(guest) == OWN
    expect(guest.cell("a1")).to_have_accessible_name(re.compile("^a1, red mountain"))


def test_text_that_is_no_board_is_refused_in_the_language_of_the_visitor(
    guests: Guests, troubles: Troubles
) -> None:
    troubles.expect(r"the server responded with a status of 422")
    guest = guests.come(locale="de-DE")
    guest.go("/")
    guest.wish()
    guest.choose("board", "own")
    text = guest.page.locator("textarea")
    for bad, defect, values in (
        ("nonsense", "row-count", {"expected": 7, "found": 1}),
        (OWN.replace("E5", "E6"), "missing-tokens", {"tokens": "E5"}),
        (f"{OWN}A1", "row-length", {"expected": 4, "row": 7, "found": 5}),
    ):
        text.fill(bad)
        guest.press(translate("de", "Two players on this screen"))
        expect(guest.alert).to_contain_text(
            translate("de", "These are not the 37 tokens of the game.")
        )
        reason = translate("de", SENTENCES[defect]).format(**values)
        assert reason != SENTENCES[defect].format(**values)
        expect(guest.alert).to_contain_text(reason)
        # What was written is still there to be mended.
        expect(text).to_have_value(bad)
    text.fill(OWN)
    guest.press(translate("de", "Two players on this screen"))
    guest.arrive()
    assert layout_of(guest) == OWN


def test_a_board_is_arranged_by_hand(guest: Guest) -> None:
    guest.go("/")
    guest.wish()
    guest.choose("board", "own")
    text = guest.page.locator("textarea")
    text.fill(OWN)
    board = guest.page.locator("#arrange")
    board.locator("[data-cell=a1]").click()
    board.locator("[data-cell=g7]").click()
    swapped = f"F3{OWN[2:-2]}E5"
    expect(text).to_have_value(swapped)
    # The second of two is free again: the next pair begins anew.
    board.locator("[data-cell=b1]").click()
    board.locator("[data-cell=f7]").click()
    expected = swapped.replace("F3B1C3", "F3F4C3").replace("F4E5", "B1E5")
    expect(text).to_have_value(expected)
    guest.press("Two players on this screen")
    guest.arrive()
    assert layout_of(guest) == expected


# --- The list of games ----------------------------------------------------------------------


def test_my_games_are_listed_with_their_records(guest: Guest) -> None:
    guest.go("/games")
    expect(guest.page.get_by_text("Your games will appear here")).to_be_visible()
    over = guest.set_up("self", CHAIN, seed=str(CHAIN_SEED))
    mine = guest.set_up("computer", level=1)
    waiting = guest.set_up("friend", control="180+2")
    guest.reload()
    cards = guest.page.locator(".card")
    expect(cards).to_have_count(3)
    expected = [
        (waiting, "waiting for an opponent", "waiting", "stones: 0 · 3 min + 2 s"),
        (mine, "Duckling (1)", "your turn", "stones: 0 · no clock"),
        (over, "Two players, one screen", "Black has won", "stones: 15 · no clock"),
    ]
    for place, (path, opponent, state, details) in enumerate(expected):
        card = cards.nth(place)
        expect(card.get_by_role("link").first).to_have_attribute("href", path)
        expect(card.locator("strong")).to_have_text(opponent)
        expect(card.locator(".state")).to_have_text(state)
        expect(card.locator("a span.small")).to_have_text(details)
        expect(card.locator("time")).to_have_text("just now")
    expect(cards.nth(2).locator(".stone")).to_have_count(len(CHAIN))
    with guest.page.expect_download() as begun:
        cards.nth(2).get_by_role("link", name="Save as PGN").click()
    download = begun.value
    assert download.suggested_filename == f"kamon-{over.rsplit('/', 1)[1]}.pgn"
    game = parse_record(Path(download.path()).read_text(encoding="utf-8"))
    assert len(game.moves) == len(CHAIN)
    assert game.result is not None
    assert game.result.termination == "connection"
    cards.nth(2).get_by_role("link").first.click()
    guest.arrive()
    guest.sees(CHAIN)


def test_older_games_are_fetched_on_request(guest: Guest) -> None:
    for _ in range(31):
        guest.set_up("friend")
    guest.go("/games")
    expect(guest.page.locator(".card")).to_have_count(30)
    guest.press("Older games")
    expect(guest.page.locator(".card")).to_have_count(31)
    expect(guest.button("Older games")).to_be_hidden()


# --- Small print ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/game/000000000000", "/nowhere"])
def test_a_page_that_is_not_there_says_so_in_words(
    guests: Guests, troubles: Troubles, path: str
) -> None:
    troubles.expect(r"the server responded with a status of 404")
    guest = guests.come(locale="fr")
    answer = guest.page.goto(guest.address + path)
    assert answer is not None
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
    expect(guest.page.locator("html")).to_have_attribute("lang", "fr")
    expect(guest.page.get_by_role("link", name="Kamon")).to_be_visible()


# In Czech there are words and letters more to fetch: three files.
@pytest.mark.parametrize(
    ("locale", "requests", "weight"), [("en-GB", 20, 115_000), ("cs-CZ", 23, 150_000)]
)
def test_the_first_page_of_a_game_is_light(
    guests: Guests, guest: Guest, locale: str, requests: int, weight: int
) -> None:
    game = guest.set_up("computer")
    newcomer = guests.come(locale=locale)
    responses: list[Response] = []

    def note(response: Response) -> None:
        responses.append(response)

    newcomer.page.on("response", note)
    newcomer.go(game)
    newcomer.page.wait_for_load_state("networkidle")
    weights = {each.url: transferred(each) for each in responses}
    assert len(responses) <= requests, sorted(weights)
    assert sum(weights.values()) <= weight, weights


def transferred(response: Response) -> int:
    """Tell how much a response weighs on its way, headers included."""
    sizes = response.request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


def test_pages_send_nothing_to_others_and_need_no_eval(guest: Guest) -> None:
    answer = guest.page.goto(guest.address + "/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"


# --- Modules ----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "de"])
def test_pages_preload_exactly_the_modules_that_they_import(guests: Guests, language: str) -> None:
    guest = guests.come(locale=language)
    guest.go("/games")
    game = guest.set_up("self")
    for path in (
        "/",
        game,
        "/study",
        "/learn",
        "/day",
        "/puzzles",
        "/games",
        "/rules",
        "/handover",
    ):
        preloaded, imported = guest.page.evaluate(MODULES, path)
        words = [name for name in imported if name.endswith("/js/words.js")]
        if language != "en":
            # This one is imported by a name that is put together.
            imported += [name.replace("/js/words", f"/words/{language}") for name in words]
        assert sorted(preloaded) == sorted(imported), path
