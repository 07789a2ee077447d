"""Ten languages: chosen by the browser or by a click, complete, and never too long for a phone."""

import pytest
from playwright.sync_api import expect

from e2e.conftest import CHAIN, CHAIN_SEED, PHONE, Guest, Guests, Regular
from kamon import Layout, parse_cell
from kamon.editions import EDITIONS
from kamon.engine.strengths import STRONGEST
from kamon.i18n import LANGUAGES, catalogue, translate
from kamon.notation import format_token

pytestmark = pytest.mark.thorough

# What reaches over the edge of the window, but for what is only there for screen readers. A phone
# makes the window wider where a page is, so its own word for the width is not asked for.
# The strip of running games on a phone is there to be swiped.
OVERFLOWING = """(width) => {
    const wide = [...document.querySelectorAll("body *")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width && (box.right > width + 1 || box.left < -1)
            && !each.closest(".hidden, .skip, svg, #my-games .running-games > *");
    }).map((each) => `${each.tagName}.${each.getAttribute("class")}: ${each.textContent.trim()}`);
    const root = document.scrollingElement;
    return root.scrollWidth > width ? [...wide, `the page: ${root.scrollWidth}`] : wide;
}"""
# Texts that are cut off at the edge of their own box.
CUT = """() => [
        ...document.querySelectorAll("button, .button, summary, .pill span, .status, .clock")
    ].filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .filter((each) => getComputedStyle(each).display !== "inline")
    .map((each) => each.textContent.trim())"""


EDITION = EDITIONS["2020"]
WORDIEST = sorted(LANGUAGES, key=lambda language: sum(map(len, catalogue(language).values())))[-3:]
# The token that the last stone of the regular's game lies on.
NEED = format_token(Layout.shuffled(CHAIN_SEED).tokens[parse_cell(CHAIN[3])])


def fits(guest: Guest) -> None:
    """Check that nothing on a page needs scrolling to the side, and nothing is cut off."""
    assert guest.page.evaluate(OVERFLOWING, PHONE[0]) == []
    assert guest.page.evaluate(CUT) == []


def fits_with_the_board(guest: Guest) -> None:
    """Check the same, and that the whole board is seen at once."""
    fits(guest)
    expect(guest.page.locator(".board")).to_be_in_viewport(ratio=1)


def test_the_browser_chooses_the_language(guests: Guests) -> None:
    for locale, language in (("de-AT", "de"), ("pt-BR", "pt-BR"), ("pt-PT", "pt-PT"), ("ja", "en")):
        guest = guests.come(locale=locale)
        guest.go("/")
        expect(guest.page.locator("html")).to_have_attribute("lang", language)


def test_a_click_changes_the_language_and_it_is_remembered(guest: Guest) -> None:
    guest.go("/")
    for language, name in LANGUAGES.items():
        if language == "en":
            continue
        with guest.page.expect_navigation():
            # At the foot of the page, or among the settings.
            if language in WORDIEST:
                guest.page.get_by_role("button", name=name, exact=True).click()
            else:
                guest.settings().locator("[name=language]").select_option(label=name)
        guest.ready()
        expect(guest.page.locator("html")).to_have_attribute("lang", language)
        expect(guest.button(translate(language, "Play against the computer"))).to_be_visible()
    # Čeština was the last.
    guest.go("/games")
    expect(guest.page.get_by_role("heading", level=1)).to_have_text(translate("cs", "My games"))
    later = Guest(guest.page.context.new_page(), guest.address)
    later.go("/")
    expect(later.page.locator("html")).to_have_attribute("lang", "cs")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_phone_shows_all_in_the_language_and_nothing_is_too_long(
    guests: Guests, regular: Regular, language: str
) -> None:
    def words(text: str, **values: str) -> str:
        return translate(language, text).format(**values)

    guest = guests.come(
        PHONE, storage_state=regular.state, locale=language, has_touch=True, is_mobile=True
    )
    guest.go("/")
    for text in ("Two players on this screen", "Invite a friend", "Find an opponent"):
        expect(guest.button(words(text))).to_be_visible()
    guest.page.locator(".dock button").click()
    expect(guest.page.locator("#menu").get_by_text(words("My games"))).to_be_visible()
    fits(guest)
    guest.page.keyboard.press("Escape")
    guest.wish()
    for level in range(1, STRONGEST + 1):
        guest.page.locator(".levels input").nth(level - 1).check(force=True)
        fits(guest)
    for board in ("seed", "own"):
        guest.choose("board", board)
        fits(guest)
    guest.settings()
    fits(guest)

    guest.go(regular.playing)
    expect(guest.status).to_have_text(words("Your turn."))
    any_symbol = words(EDITION.any_with_symbol(NEED[0]))
    any_suit = words(EDITION.any_with_suit(int(NEED[1])))
    need = words("{any_symbol}, or {any_suit}", any_symbol=any_symbol, any_suit=any_suit)
    expect(guest.page.locator(".need strong")).to_have_text(need)
    fits_with_the_board(guest)
    # Ask to confirm, and show the way to another device.
    guest.page.locator(".seldom .row button.quiet").last.click()
    expect(guest.page.locator(".confirm .danger")).to_have_text(words("Yes, resign"))
    guest.page.locator(".device summary").click()
    expect(guest.page.locator(".device img")).to_be_visible()
    fits(guest)

    guest.go("/games")
    expect(guest.page.get_by_role("heading", level=1)).to_have_text(words("My games"))
    fits(guest)


@pytest.mark.parametrize("language", WORDIEST)
def test_other_games_fit_a_phone_in_the_wordiest_languages(
    guests: Guests, regular: Regular, language: str
) -> None:
    guest = guests.come(
        PHONE, storage_state=regular.state, locale=language, has_touch=True, is_mobile=True
    )
    guest.go(regular.over)
    edges = translate(language, "the two yellow edges")
    winner = translate(language, "Black")
    ended = translate(language, "{winner} wins by connecting {edges}.").format(
        winner=winner, edges=edges
    )
    expect(guest.page.locator(".how")).to_have_text(ended)
    expect(guest.live).to_contain_text(winner)
    fits_with_the_board(guest)
    for path in (regular.computer, regular.waiting):
        guest.go(path)
        fits_with_the_board(guest)


def test_a_name_of_forty_wide_letters_fits_a_phone(guests: Guests) -> None:
    name = "W" * 40
    host = guests.come()
    friend = guests.come(PHONE, has_touch=True, is_mobile=True)
    path = host.set_up("anyone", name=name, control="1/604800")
    friend.go("/")
    expect(friend.page.get_by_role("link", name=name)).to_be_visible()
    fits(friend)
    friend.command(path.rsplit("/", 1)[1], "join", name=name)
    for each in (path, "/games"):
        friend.go(each)
        expect(friend.page.get_by_text(name).first).to_be_visible()
        fits(friend)
