"""Everybody can play: by keyboard, by ear, on a phone, in either theme, and without movement."""

import itertools
import re
from collections import deque
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import CHAIN, CHAIN_SEED, PHONE, Guest, Guests, Regular

pytestmark = pytest.mark.thorough

Audit = Callable[[Page], list[str]]

# --- By keyboard ----------------------------------------------------------------------------

ROWS = [4, 5, 6, 7, 6, 5, 4]
CELLS = [
    "abcdefg"[max(0, row - 3) + place] + str(row + 1)
    for row, length in enumerate(ROWS)
    for place in range(length)
]
STEPS = {
    "ArrowLeft": (-1, 0),
    "ArrowRight": (1, 0),
    "ArrowUp": (-1, -1),
    "ArrowDown": (1, 1),
    "Shift+ArrowUp": (0, -1),
    "Shift+ArrowDown": (0, 1),
}


def beside(cell: str, key: str) -> str | None:
    """Name the cell to which a key leads, if there is one."""
    along, down = STEPS[key]
    other = chr(ord(cell[0]) + along) + str(int(cell[1]) + down)
    return other if other in CELLS else None


def way(start: str, goal: str) -> list[str]:
    """Find keys that lead from one cell to another."""
    ways: dict[str, list[str]] = {start: []}
    queue = deque([start])
    while goal not in ways:
        here = queue.popleft()
        for key in STEPS:
            there = beside(here, key)
            if there is not None and there not in ways:
                ways[there] = [*ways[here], key]
                queue.append(there)
    return ways[goal]


def focused_cell(guest: Guest) -> str:
    """Name the cell that has the focus."""
    return str(guest.page.evaluate("() => document.activeElement.dataset?.cell ?? ''"))


def type_cell(guest: Guest, cell: str) -> None:
    """Go to a cell by its name."""
    for key in cell:
        guest.page.keyboard.press(key)


def tab_to(guest: Guest, selector: str) -> None:
    """Press Tab until the focus is there."""
    for _ in range(30):
        guest.page.keyboard.press("Tab")
        if guest.page.evaluate(f"() => document.activeElement.matches({selector!r})"):
            return
    pytest.fail(f"Tab does not reach {selector}")


def test_a_whole_game_is_played_by_keyboard_alone(guest: Guest) -> None:
    guest.go("/")
    tab_to(guest, ".others button")
    guest.page.keyboard.press("Enter")
    guest.arrive()
    tab_to(guest, "[data-cell]")
    for key in STEPS:
        type_cell(guest, "d4")
        guest.page.keyboard.press(key)
        assert focused_cell(guest) == beside("d4", key)
    by_arrows = itertools.cycle((True, False))
    while guest.wait_for_turn():
        ply = len(guest.moves())
        legal = guest.legal()
        goal = legal[ply % len(legal)]
        if next(by_arrows):
            for key in way(focused_cell(guest), goal):
                guest.page.keyboard.press(key)
        else:
            type_cell(guest, goal)
        assert focused_cell(guest) == goal
        guest.page.keyboard.press("Enter")
        expect(guest.page.locator(".ledger .move")).to_have_count(ply + 1)
        assert guest.moves()[-1] == goal
        assert focused_cell(guest) == goal
    # From the board the focus goes on to what can be done now.
    guest.page.keyboard.press("Tab")
    expect(guest.button("Play again")).to_be_focused()


def test_arrows_lead_in_six_directions_and_stop_at_the_edge(guest: Guest) -> None:
    guest.start("Two players on this screen")
    tab_to(guest, "[data-cell]")
    assert focused_cell(guest) == "d4"
    for key in STEPS:
        here = "d4"
        while (there := beside(here, key)) is not None:
            guest.page.keyboard.press(key)
            assert focused_cell(guest) == there
            here = there
        guest.page.keyboard.press(key)
        assert focused_cell(guest) == here
        guest.page.keyboard.press("d")
        guest.page.keyboard.press("4")
    assert focused_cell(guest) == "d4"


def test_the_focus_can_be_seen(guest: Guest) -> None:
    guest.start("Two players on this screen")
    tab_to(guest, "[data-cell]")
    stroke = "cell => getComputedStyle(cell.querySelector('.focus')).stroke"
    assert guest.cell("d4").evaluate(stroke) != "none"
    assert guest.cell("d5").evaluate(stroke) == "none"


def test_the_first_tab_skips_to_the_game(guest: Guest) -> None:
    guest.start("Two players on this screen")
    guest.page.keyboard.press("Tab")
    skip = guest.page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    guest.page.keyboard.press("Enter")
    guest.page.keyboard.press("Tab")
    assert focused_cell(guest) == "d4"


# --- By ear ---------------------------------------------------------------------------------


def test_what_the_opponent_did_and_what_may_be_played_is_told(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    black.play(CHAIN[0])
    told = re.compile(
        r"^Black has played g6: \w+ \w+\. Your turn\. To match: any \w+, or anything \w+\. "
        r"You may play on these spaces: (\w\d ?)+\.$"
    )
    expect(white.live).to_have_text(told)
    assert " ".join(white.legal()) in white.live.inner_text()
    expect(white.cell("g6")).to_have_accessible_name(
        re.compile(r"^g6, black stone, \w+ \w+, last move$")
    )
    expect(white.cell(CHAIN[1])).to_have_accessible_name(
        re.compile(
            rf"^{CHAIN[1]}, \w+ \w+, you may play here, "
            r"then your opponent may play on these spaces: (\w\d ?)+$"
        )
    )


def test_offers_and_what_becomes_of_them_are_told(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    black.play(CHAIN[0])
    black.press("Take back")
    expect(white.page.get_by_role("alert")).to_contain_text("would like to take a move back")
    white.press("Accept")
    expect(black.live).to_have_text(re.compile(r"Your turn\. Begin on an edge space"))


def test_an_opponent_who_sits_down_is_told(guests: Guests) -> None:
    host, friend = guests.come(), guests.come()
    address = host.start("Invite a friend", side="black")
    expect(host.live).to_contain_text("Waiting for an opponent.")
    friend.go(address)
    friend.press("Join the game")
    expect(host.live).to_contain_text("Your turn.")


# --- What axe finds -------------------------------------------------------------------------

LOOKS = list(itertools.product(("light", "dark"), ("2020", "2007")))
SCENES = [
    *("home", "settings", "playing", "computer", "over", "waiting"),
    *("games", "handover", "learn", "rules", "study"),
]
PATHS = {"home": "/", "settings": "/"}
# The settings change as they do by a click, but quicker.
CHOOSE = """(choices) => Object.entries(choices).forEach(([name, value]) => {
    const field = document.querySelector(`#settings [name=${name}]`);
    field.value = value;
    field.dispatchEvent(new Event("change", {bubbles: true}));
})"""


@pytest.mark.parametrize("scene", SCENES)
def test_axe_finds_no_violation_in_either_theme_and_edition(
    guests: Guests, regular: Regular, audit: Audit, scene: str
) -> None:
    guest = guests.come(storage_state=regular.state, reduced_motion="reduce")
    show(guest, regular, scene)
    found = []
    for theme, edition in LOOKS:
        if scene == "rules":
            # Each edition of the rules has an address of its own.
            guest.page.goto(f"{guest.address}/rules?edition={edition}")
            guest.page.evaluate(
                "theme => { document.documentElement.dataset.theme = theme }", theme
            )
        else:
            guest.page.evaluate(CHOOSE, {"theme": theme, "edition": edition})
        found += [f"{theme} {edition} {each}" for each in audit(guest.page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_forced_colours(
    guests: Guests, regular: Regular, audit: Audit, scheme: str
) -> None:
    guest = guests.come(
        storage_state=regular.state,
        reduced_motion="reduce",
        forced_colors="active",
        color_scheme=scheme,
    )
    found = []
    for scene in SCENES:
        show(guest, regular, scene)
        found += [f"{scene} {each}" for each in audit(guest.page)]
    assert not found, "\n".join(found)


def show(guest: Guest, regular: Regular, scene: str) -> None:
    """Open a page, and what can be opened on it."""
    path = str(PATHS.get(scene) or getattr(regular, scene, f"/{scene}"))
    if scene == "rules":
        # This page has nothing that is filled later.
        guest.page.goto(guest.address + path)
        return
    guest.go(path)
    if scene == "home":
        guest.wish()
        guest.choose("board", "own")
    elif scene == "settings":
        guest.settings()
    elif scene == "computer":
        guest.page.get_by_label("Show dangers").check()


def test_axe_finds_no_violation_on_a_phone(guests: Guests, regular: Regular, audit: Audit) -> None:
    guest = guests.come(PHONE, storage_state=regular.state, has_touch=True, is_mobile=True)
    found = []
    for path in ("/", regular.playing, "/games", "/learn", "/study", "/puzzles/day", "/day"):
        guest.go(path)
        found += audit(guest.page)
    guest.press("More")
    found += audit(guest.page)
    assert not found, "\n".join(found)


# --- On a phone -----------------------------------------------------------------------------


def test_the_whole_board_is_seen_on_a_phone_without_scrolling(
    guests: Guests, regular: Regular
) -> None:
    guest = guests.come(PHONE, storage_state=regular.state, has_touch=True, is_mobile=True)
    for path in (regular.playing, regular.computer, regular.over, regular.waiting):
        guest.go(path)
        expect(guest.page.locator(".board")).to_be_in_viewport(ratio=1)
        assert guest.page.evaluate("() => scrollY") == 0


def test_a_game_is_played_by_touch(guests: Guests) -> None:
    guest = guests.come(PHONE, has_touch=True, is_mobile=True)
    guest.go(guest.set_up("self", seed=str(CHAIN_SEED)))
    for cell in CHAIN[:3]:
        guest.cell(cell).tap()
        expect(guest.cell(cell).locator(".stone")).to_be_attached()
    guest.sees(CHAIN[:3])


def test_a_finger_that_rests_on_a_cell_looks_and_does_not_play(guests: Guests) -> None:
    guest = guests.come(PHONE, has_touch=True, is_mobile=True)
    guest.go(guest.set_up("self", CHAIN[:1], seed=str(CHAIN_SEED)))
    cell = guest.cell(CHAIN[1])
    for event in ("pointerover", "pointerdown"):
        cell.dispatch_event(event, {"pointerType": "touch", "bubbles": True})
    expect(guest.page.locator(".mark-reply").first).to_be_visible()
    guest.page.wait_for_timeout(600)
    cell.dispatch_event("click")
    expect(cell.locator(".stone")).to_have_count(0)
    cell.tap()
    expect(cell.locator(".stone")).to_be_attached()


# --- Without movement -----------------------------------------------------------------------

MOVEMENT = "() => document.getAnimations().map(each => each.animationName)"
LANDING = "stone => getComputedStyle(stone).animationName"


def test_stones_land_unless_movement_is_not_wanted(guests: Guests) -> None:
    lively = guests.come(reduced_motion="no-preference")
    calm = guests.come(reduced_motion="reduce")
    for each in (lively, calm):
        each.start("Two players on this screen", seed=CHAIN_SEED)
        each.play(CHAIN[0])
    stone = ".cell.landed .stone"
    assert lively.page.locator(stone).evaluate(LANDING) == "land"
    assert calm.page.locator(stone).evaluate(LANDING) == "none"
    lively.set(motion=False)
    lively.play(CHAIN[1])
    assert lively.page.locator(stone).evaluate(LANDING) == "none"


def test_the_winning_chain_is_drawn_at_once_where_movement_is_not_wanted(
    guests: Guests, regular: Regular
) -> None:
    calm = guests.come(storage_state=regular.state, reduced_motion="reduce")
    calm.go(regular.over)
    assert calm.page.evaluate(MOVEMENT) == []
    chain = calm.page.locator(".chain:not(.under)")
    assert chain.evaluate("chain => getComputedStyle(chain).strokeDasharray") == "none"
