"""Every screen: a whole game is in view, study shows what it talks about, Tab stops are seen."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from e2e.conftest import CHAIN, CHAIN_SEED, LAPTOP, PHONE, Guest, Guests, Regular, Troubles
from kamon import Layout, format_layout
from kamon.i18n import translate

pytestmark = pytest.mark.thorough

SIZES: Final = {
    "phone": PHONE,
    "phone on its side": (740, 360),
    "tablet": (768, 1024),
    "laptop": LAPTOP,
    "large screen": (1920, 1080),
    "laptop at 200 %": (640, 450),
}
# Among the ten languages these have the longest words.
LANGUAGES: Final = ["en", "de", "cs", "pt-BR"]
PAGES: Final = ["/", "/learn", "/puzzles", "/day", "/rules", "/study", "/games"]
BOARD: Final = format_layout(Layout.shuffled(CHAIN_SEED))
DATA: Final = Path(__file__).parents[1] / "tests" / "data"
LONG: Final = 60_000

# What is not in the window as a whole, of what is looked for.
OUTSIDE = """(selectors) => selectors.flatMap((selector) => {
    const found = [...document.querySelectorAll(selector)];
    if (!found.length) return [`${selector}: not there`];
    return found.map((each) => each.getBoundingClientRect()).filter((box) =>
        !box.width || box.left < -1 || box.top < -1
        || box.right > innerWidth + 1 || box.bottom > innerHeight + 1,
    ).map((box) => `${selector}: ${JSON.stringify(box)}`);
})"""
# The tops of what stands in the header: they are in one row if all overlap.
ROWS = """() => {
    const shown = [...document.querySelectorAll(".top a, .top button")]
        .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
    return Math.max(...shown.map((box) => box.top)) < Math.min(...shown.map((box) => box.bottom));
}"""
WIDTH = "() => document.scrollingElement.scrollWidth - innerWidth"
# What Tab comes to, and what of that has no size or is hidden.
STOP = """() => {
    const {activeElement: here} = document;
    const box = here.getBoundingClientRect();
    const seen = box.width > 0 && box.height > 0 && here.checkVisibility({visibilityProperty: true})
        && !here.closest("[aria-hidden=true]");
    window.stops ??= new Map();
    const known = window.stops.has(here);
    window.stops.set(here, seen);
    return here === document.body || known
        ? null
        : `${seen ? "" : "UNSEEN "}${here.tagName}.${here.className?.baseVal ?? here.className}`;
}"""
SHIFTS = """
    window.shift = 0;
    window.shifted = [];
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            if (entry.hadRecentInput) continue;
            window.shift += entry.value;
            for (const {node} of entry.sources)
                window.shifted.push((node?.outerHTML ?? "").slice(0, 80));
        }
    }).observe({type: "layout-shift", buffered: true});
"""


def study(guest: Guest, moves: int = 8) -> None:
    """Open a study in the middle of a game."""
    guest.go(f"/study?line={quote(' '.join([BOARD, *CHAIN[:moves]]))}")


def tab_stops(guest: Guest) -> list[str]:
    """Press Tab until the focus leaves the page or comes back, and tell where it was."""
    guest.page.evaluate("() => { window.stops = new Map(); document.activeElement.blur(); }")
    found: list[str] = []
    while len(found) < 200:
        guest.page.keyboard.press("Tab")
        stop = guest.page.evaluate(STOP)
        if stop is None:
            break
        found.append(stop)
    return found


def grey(colour: str) -> float:
    """Tell the luminance of a colour that a browser has computed."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# --- A game -----------------------------------------------------------------------------------


def each_size(guest: Guest) -> Iterator[str]:
    """Give the window one size after the other; the page stays, and must adapt."""
    for name, (width, height) in SIZES.items():
        guest.page.set_viewport_size({"width": width, "height": height})
        guest.page.wait_for_timeout(50)
        yield name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_game_is_in_view_as_a_whole(guests: Guests, regular: Regular, language: str) -> None:
    guest = guests.come(storage_state=regular.state, locale=language)
    # The clocks and the longest names, and a game that has just begun.
    for path, clocks in ((regular.playing, [".clock"]), (regular.computer, [])):
        guest.go(path)
        for size in each_size(guest):
            outside = guest.page.evaluate(OUTSIDE, [".board", ".status", ".need", *clocks])
            assert outside == [], size
            assert guest.page.evaluate(WIDTH) <= 0, size
            assert guest.page.evaluate(ROWS), size
    guest.go(regular.over)
    for size in each_size(guest):
        assert guest.page.evaluate(OUTSIDE, [".board", ".status"]) == [], size


def test_the_board_uses_the_room_that_there_is(guests: Guests, regular: Regular) -> None:
    guest = guests.come(storage_state=regular.state)
    guest.go(regular.computer)
    for size in each_size(guest):
        width, height = SIZES[size]
        box = guest.page.locator(".board").bounding_box()
        assert box
        assert box["width"] > 0.9 * width or box["height"] > 0.7 * height, size


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_has_a_header_of_one_row_and_no_need_to_scroll_sideways(
    guests: Guests, language: str
) -> None:
    guest = guests.come(locale=language)
    for path in PAGES:
        guest.page.goto(guest.address + path)
        guest.page.wait_for_load_state("load")
        for size in each_size(guest):
            assert guest.page.evaluate(ROWS), (path, size)
            assert guest.page.evaluate(WIDTH) <= 0, (path, size)


@pytest.mark.parametrize(("path", "menu"), [("/games", "More"), ("/learn", "Menu")])
def test_the_menu_of_a_phone_leads_to_the_other_pages(guests: Guests, path: str, menu: str) -> None:
    """Between games it opens from the bar below. A lesson needs the height: there it is above."""
    guest = guests.come(PHONE, has_touch=True, is_mobile=True)
    guest.go(path)
    link = guest.page.get_by_role("link", name="Study")
    expect(link).to_be_hidden()
    guest.press(menu)
    expect(link).to_be_visible()
    guest.page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(guest.button(menu)).to_be_focused()
    guest.press(menu)
    link.click()
    guest.page.wait_for_url("**/study")


def test_a_lesson_is_in_view_with_its_board(guests: Guests) -> None:
    guest = guests.come(locale="de")
    guest.go("/learn")
    for size in each_size(guest):
        assert guest.page.evaluate(OUTSIDE, [".lesson", ".board", ".need"]) == [], size


# --- Study ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "de"])
def test_study_shows_board_steps_and_verdict_together(guests: Guests, language: str) -> None:
    guest = guests.come(locale=language)
    study(guest)
    expect(guest.page.locator(".verdict")).to_be_visible(timeout=LONG)
    for size in each_size(guest):
        shown = [".board", ".steps", ".moment", ".tabs", ".need"]
        assert guest.page.evaluate(OUTSIDE, shown) == [], size
        assert guest.page.evaluate(WIDTH) <= 0, size


@pytest.mark.parametrize("size", ["phone", "phone on its side", "laptop"])
def test_a_review_stands_beside_the_board_that_it_talks_about(guests: Guests, size: str) -> None:
    touch = size != "laptop"
    guest = guests.come(SIZES[size], has_touch=touch, is_mobile=touch)
    line = (DATA / "games.txt").read_text().splitlines()[3].partition(";")[0]
    layout, *moves = line.split()
    game = guest.set_up("self", moves, layout=layout).rsplit("/", 1)[1]
    guest.go(f"/study?game={game}&review")
    points = guest.page.locator(".turning-points li")
    expect(points.first).to_be_visible(timeout=LONG)
    if size == "laptop":
        # Without scrolling.
        assert guest.page.evaluate(OUTSIDE, [".board", ".story", ".graph"]) == []
        expect(points.first).to_be_in_viewport()
    before = guest.stones()
    points.first.get_by_role("button", name="Show the position").click()
    guest.page.wait_for_function(
        "count => document.querySelectorAll('.table .stone').length !== count", arg=len(before)
    )
    # The board has changed, and is still in view together with what is said.
    expect(guest.page.locator(".board")).to_be_in_viewport(ratio=0.99)
    expect(guest.page.locator(".steps")).to_be_in_viewport(ratio=0.99)
    expect(points.first.get_by_role("button").first).to_be_in_viewport()


def test_nothing_moves_while_a_study_comes(guests: Guests) -> None:
    for size in (LAPTOP, PHONE):
        guest = guests.come(size)
        guest.page.add_init_script(SHIFTS)
        study(guest)
        expect(guest.page.locator(".verdict")).to_be_visible(timeout=LONG)
        guest.page.wait_for_timeout(1500)
        shift, shifted = guest.page.evaluate("() => [window.shift, window.shifted]")
        assert shift < 0.02, shifted


def test_arrow_keys_step_through_the_moves_but_not_while_typing(guest: Guest) -> None:
    study(guest)
    here = guest.page.locator(".tree .here")
    expect(here).to_contain_text(CHAIN[7])
    guest.page.keyboard.press("ArrowLeft")
    expect(here).to_contain_text(CHAIN[6])
    guest.page.keyboard.press("Home")
    expect(here).to_have_count(0)
    guest.page.keyboard.press("ArrowRight")
    expect(here).to_contain_text(CHAIN[0])
    guest.page.keyboard.press("End")
    expect(here).to_contain_text(CHAIN[7])
    guest.page.get_by_role("tab", name="Moves").click()
    guest.page.get_by_label("Comment").fill("ab")
    guest.page.keyboard.press("ArrowLeft")
    guest.page.keyboard.press("Home")
    expect(here).to_contain_text(CHAIN[7])
    # On the board the arrows lead from cell to cell, but a click does not change what they do.
    guest.cell("d4").focus()
    guest.page.keyboard.press("ArrowLeft")
    expect(here).to_contain_text(CHAIN[7])
    expect(guest.cell("c4")).to_be_focused()
    guest.cell("e4").click()
    guest.page.keyboard.press("ArrowLeft")
    expect(here).to_contain_text(CHAIN[6])


def test_the_focus_is_never_lost_in_a_study(guest: Guest) -> None:
    study(guest)
    lost = "() => document.activeElement === document.body"
    step = guest.button("One move back")
    step.focus()
    for _ in range(9):
        guest.page.keyboard.press("Enter")
        guest.page.wait_for_timeout(100)
    expect(step).to_be_focused()
    guest.page.get_by_role("tab", name="Moves").click()
    guest.press("One move forward")
    for tab, name in (("Moves", "Delete from here"), ("Analysis", "Stop")):
        guest.page.get_by_role("tab", name=tab).click()
        button = guest.button(name)
        button.click(timeout=LONG)
        expect(button).to_be_hidden()
        assert not guest.page.evaluate(lost), name
    guest.page.get_by_role("tab", name="More").click()
    guest.press("Arrange by hand")
    guest.press("Cancel")
    assert not guest.page.evaluate(lost)


def test_tabs_are_reached_by_arrow_keys(guest: Guest) -> None:
    study(guest)
    guest.page.get_by_role("tab", name="Analysis").focus()
    guest.page.keyboard.press("ArrowRight")
    tab = guest.page.get_by_role("tab", name="Review")
    expect(tab).to_be_focused()
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(guest.button("Review this game")).to_be_visible()


def test_a_bad_paste_is_explained_beside_it_with_the_bad_part_marked(
    guests: Guests, troubles: Troubles
) -> None:
    troubles.expect("422")
    guest = guests.come(PHONE, has_touch=True, is_mobile=True)
    guest.go("/study")
    guest.page.get_by_role("tab", name="More").click()
    pasted = guest.page.locator("#pasted")
    pasted.fill(f'[Layout "{BOARD}"]\n\n1. {CHAIN[0]} z9 *')
    guest.press("Open")
    expect(guest.page.locator(".misread mark")).to_have_text("z9")
    expect(guest.page.locator(".misread")).to_be_in_viewport()
    pasted.fill("rubbish")
    guest.press("Open")
    error = guest.page.locator(".misread .error")
    expect(error).to_be_in_viewport(ratio=1)
    assert len(guest.page.locator(".misread").inner_text()) < 300


# --- Tab stops --------------------------------------------------------------------------------


def test_boards_that_are_only_looked_at_have_no_tab_stops(guest: Guest) -> None:
    for _ in range(3):
        guest.set_up("self", CHAIN[:4], seed=str(CHAIN_SEED))
    guest.go("/games")
    expect(guest.page.locator(".card .board")).to_have_count(3)
    stops = tab_stops(guest)
    assert [stop for stop in stops if "UNSEEN" in stop or "cell" in stop] == []
    # Two or three links of each card, and what every page has.
    assert len(stops) < 40


@pytest.mark.parametrize("page", [*PAGES, "playing", "over"])
def test_every_tab_stop_is_seen_and_a_board_is_one_of_them(
    guests: Guests, regular: Regular, page: str
) -> None:
    guest = guests.come(storage_state=regular.state)
    path = getattr(regular, page, page)
    guest.page.goto(guest.address + path)
    guest.page.wait_for_load_state("networkidle")
    stops = tab_stops(guest)
    assert len(stops) > 10
    assert [stop for stop in stops if "UNSEEN" in stop] == []
    assert len([stop for stop in stops if "cell" in stop]) <= 1


# --- Without colours --------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_white_stone_is_clear_of_a_free_cell_in_greyscale(guests: Guests, scheme: str) -> None:
    guest = guests.come(color_scheme=scheme)
    guest.go(guest.set_up("self", CHAIN[:4], seed=str(CHAIN_SEED)))

    def luminance(selector: str, part: str) -> float:
        style = f"each => getComputedStyle(each).{part}"
        return grey(guest.page.locator(selector).first.evaluate(style))

    def contrast(one: float, other: float) -> float:
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)

    free = luminance(".grounds:not(.lit, .enclosed)", "fill")
    stone = ".body.white .upper .outline"
    assert contrast(luminance(stone, "fill"), free) >= 1.35
    rim = luminance(stone, "stroke")
    assert max(contrast(rim, free), contrast(luminance(stone, "fill"), free)) >= 3


def test_forced_colours_show_chips_the_turn_and_what_is_chosen(
    guests: Guests, regular: Regular
) -> None:
    guest = guests.come(storage_state=regular.state, forced_colors="active")

    def styles(selector: str, part: str) -> list[str]:
        found = guest.page.locator(selector).evaluate_all(
            f"all => all.map(each => getComputedStyle(each).{part})"
        )
        return [str(each) for each in found]

    guest.go(regular.playing)
    # Stones have their own colours, and the name of whose turn it is has a line.
    black, white = (styles(f".player .crest.{side} .field", "fill") for side in ("black", "white"))
    assert black != white
    turn, rest = (
        styles(f".player{each} .who strong", "borderBottomColor")
        for each in (".turn", ":not(.turn)")
    )
    assert turn != rest
    guest.go("/")
    guest.wish()
    chosen = styles("input[name=side]:checked + span", "backgroundColor")
    others = styles("input[name=side]:not(:checked) + span", "backgroundColor")
    assert chosen[0] not in others
    study(guest)
    selected = styles("[role=tab][aria-selected=true]", "borderBottomColor")
    assert selected[0] not in styles("[role=tab][aria-selected=false]", "borderBottomColor")


def test_the_words_of_the_menu_are_the_visitors(guests: Guests) -> None:
    guest = guests.come(PHONE, locale="de")
    guest.go("/learn")
    expect(guest.page.locator("#open-menu")).to_have_accessible_name(translate("de", "Menu"))
    guest.go("/games")
    expect(guest.page.locator(".dock button")).to_have_accessible_name(translate("de", "More"))
