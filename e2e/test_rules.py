"""The rules: in both editions, for everybody, and on one sheet of paper in every language."""

import itertools
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import CHAIN, CHAIN_SEED, LAPTOP, PHONE, Guest, Guests
from e2e.test_languages import fits
from kamon.editions import EDITIONS
from kamon.i18n import LANGUAGES
from kamon.web.learn.rulebook import PICTURES

pytestmark = pytest.mark.thorough

Audit = Callable[[Page], list[str]]

LOOKS = list(itertools.product(EDITIONS, ("light", "dark")))
LOADED = """() => [...document.querySelectorAll(".rules img")]
    .filter((each) => each.checkVisibility())
    .every((each) => each.complete && each.naturalWidth)"""
# The words of every paragraph again, until it is as much longer as German may be.
LENGTHEN = """(share) => {
    const rules = document.querySelector(".rules");
    const walker = document.createTreeWalker(rules, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.push(walker.currentNode);
    for (const text of texts) {
        const words = text.data.trim().split(/\\s+/);
        const goal = words.join(" ").length * (1 + share);
        for (let at = 0; words.join(" ").length < goal; at++) words.push(words[at]);
        text.data = words.join(" ") + " ";
    }
}"""
# Sizes of all texts on paper, in points.
SIZES = """() => [...document.querySelectorAll(".rules *")]
    .filter((each) => each.checkVisibility() && each.textContent.trim())
    .map((each) => parseFloat(getComputedStyle(each).fontSize) * 0.75)"""


def read(guest: Guest, edition: str = "") -> None:
    """Open the rules, and wait for their pictures."""
    query = f"?edition={edition}" if edition else ""
    guest.page.goto(f"{guest.address}/rules{query}", wait_until="load")
    guest.page.evaluate("() => document.fonts.ready")


def sheets(page: Page) -> int:
    """Count the pages on paper."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def test_a_game_of_a_dark_visitor_is_light_on_one_sheet_with_its_moves(guests: Guests) -> None:
    guest = guests.come(color_scheme="dark")
    guest.page.goto(guest.address + guest.set_up("self", CHAIN[:9], seed=str(CHAIN_SEED)))
    expect(guest.page.locator(".ledger .move")).to_have_count(9)
    colours = "() => {const s = getComputedStyle(document.documentElement);"
    colours += "return [s.colorScheme, s.getPropertyValue('--paper')]}"
    assert guest.page.evaluate(colours)[0] == "dark"
    guest.page.emulate_media(media="print")
    assert guest.page.evaluate(colours) == ["light", "#fff"]
    expect(guest.page.locator(".ledger .move").last).to_be_visible()
    expect(guest.page.get_by_role("button", name="Resign")).to_be_hidden()
    assert sheets(guest.page) == 1


@pytest.mark.parametrize(("edition", "theme"), LOOKS)
def test_every_picture_is_seen_in_the_light_of_the_visitor(
    guests: Guests, edition: str, theme: str
) -> None:
    guest = guests.come(color_scheme=theme)
    read(guest, edition)
    shown = guest.page.locator(".rules img").filter(visible=True)
    expect(shown).to_have_count(len(PICTURES))
    for picture in shown.all():
        picture.scroll_into_view_if_needed()
        source = picture.get_attribute("src") or ""
        assert f"edition={edition}&theme={theme}" in source
        assert picture.get_attribute("alt")
    guest.page.wait_for_function(LOADED)


def test_the_other_edition_is_a_click_away_and_the_settings_lead_there_too(guest: Guest) -> None:
    read(guest)
    article = guest.page.locator(".rules")
    now = article.locator("[aria-current]")
    expect(article).to_have_attribute("data-edition", "2020")
    expect(now).to_have_text("Crests (2020)")
    guest.press("Pond (2007)")
    expect(article).to_have_attribute("data-edition", "2007")
    expect(now).to_have_text("Pond (2007)")
    # A look at the other edition is no wish to play with it, and sound has nothing to do with it.
    guest.set(sound=False)
    expect(article).to_have_attribute("data-edition", "2007")
    guest.press("Crests (2020)")
    expect(article).to_have_attribute("data-edition", "2020")
    guest.settings().locator("[name=edition]").select_option("2007")
    guest.page.wait_for_url("**/rules?edition=2007")
    expect(article).to_have_attribute("data-edition", "2007")
    # From now on it is the one that is shown to those who do not say which.
    read(guest)
    guest.page.wait_for_url("**/rules?edition=2007")


def test_the_button_prints(guest: Guest) -> None:
    guest.page.add_init_script("window.print = () => { window.printed = true; }")
    read(guest)
    guest.press("Print")
    assert guest.page.evaluate("() => window.printed")


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_axe_finds_no_violation_in_the_rules(
    guests: Guests, audit: Audit, size: tuple[int, int]
) -> None:
    found = []
    for edition, theme in LOOKS:
        guest = guests.come(size, color_scheme=theme)
        read(guest, edition)
        found += [f"{theme} {each}" for each in audit(guest.page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_fit_a_phone_and_one_sheet_of_paper(guests: Guests, language: str) -> None:
    # The theme of the night must not be printed.
    guest = guests.come(PHONE, locale=language, color_scheme="dark")
    for edition in EDITIONS:
        read(guest, edition)
        expect(guest.page.locator("html")).to_have_attribute("lang", language)
        fits(guest)
        assert sheets(guest.page) == 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_there_is_room_on_the_sheet_for_longer_languages(guest: Guest, edition: str) -> None:
    read(guest, edition)
    guest.page.evaluate(LENGTHEN, 0.4)
    assert sheets(guest.page) == 1
    # What is measured here does tell one sheet from two.
    guest.page.evaluate(LENGTHEN, 1)
    assert sheets(guest.page) > 1


def test_on_paper_there_is_ink_alone_and_nothing_is_tiny(guests: Guests) -> None:
    guest = guests.come(color_scheme="dark")
    read(guest)
    guest.page.emulate_media(media="print")
    shown = guest.page.locator(".rules img").filter(visible=True)
    expect(shown).to_have_count(len(PICTURES))
    for picture in shown.all():
        assert "theme=light" in (picture.get_attribute("src") or "")
    for selector in (".top", ".bottom", ".rules-tools", "#settings"):
        expect(guest.page.locator(selector)).to_be_hidden()
    expect(guest.page.locator(".rules")).to_have_css("color", "rgb(43, 37, 28)")
    assert min(guest.page.evaluate(SIZES)) >= 8.5
