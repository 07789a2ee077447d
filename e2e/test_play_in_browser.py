"""Games, played in real browsers on a real server: alone, by twos, by link, and through trouble."""

import random
import re
import signal
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from e2e.conftest import (
    BLOCK,
    BLOCK_SEED,
    CHAIN,
    CHAIN_SEED,
    RING,
    RING_SEED,
    Guest,
    Guests,
    Troubles,
    play_out,
)
from web_server import Server

AWAY = r"WebSocket connection to .* failed|ERR_CONNECTION_REFUSED"
REFUSED = r"the server responded with a status of 4\d\d"


def bottom(guest: Guest, side: str) -> None:
    """Check that a guest sits below, on a side."""
    expect(guest.page.locator(".table .player").last).to_have_class(re.compile(rf"\b{side}\b"))


def sure(guest: Guest, what: str) -> None:
    """Ask for something that must be confirmed, and confirm it."""
    guest.press(what)
    guest.page.locator(".confirm .danger").click()


def begin_against_computer(guest: Guest, side: str = "black") -> None:
    """Begin a game, and wait for one's first turn."""
    guest.start("Play against the computer", side=side)
    expect(guest.status).to_have_text("Your turn.")


def move_and_be_answered(guest: Guest) -> None:
    """Play the first legal cell, and wait for the computer's move."""
    before = guest.moves()
    guest.play(guest.legal()[0])
    expect(guest.page.locator(".ledger .move")).to_have_count(len(before) + 2)
    expect(guest.status).to_have_text("Your turn.")


# --- Against the computer -------------------------------------------------------------------


def test_one_click_leads_to_a_game_against_the_computer_that_can_be_played_to_its_end(
    guest: Guest,
) -> None:
    guest.go("/")
    guest.page.get_by_role("button", name="Play against the computer").click()
    guest.arrive()
    opponent = guest.page.locator(".player .who").first
    expect(opponent).to_have_text(re.compile(r"^Duckling (Black|White) · level 1$"))
    chance = random.Random(1)
    made = 0
    while guest.wait_for_turn():
        moves = guest.moves()
        # The computer has answered what was played last.
        assert len(moves) - made in (0, 1)
        guest.play(chance.choice(guest.legal()))
        made = len(moves) + 1
    expect(guest.page.locator(".ledger .move.here")).to_have_text(guest.moves()[-1])
    words = guest.status.inner_text()
    assert words in ("You win!", "You lose.", "A draw.")
    how = guest.page.locator(".how").inner_text()
    proofs = {
        "edges": r"Connection: \w\d( \w\d)+\.",
        "loop": r"Loop: \w\d( \w\d)+\. Inside:",
        "no move left": r"No free token matches. Needed: any \w+, or anything \w+\.",
        "draw": "every token is covered",
    }
    told = {key: proof for key, proof in proofs.items() if key in how}
    assert told, how
    for proof in told.values():
        expect(guest.live).to_contain_text(words)
        expect(guest.live).to_contain_text(re.compile(proof))
    drawn = {"edges", "loop"} & set(told)
    assert bool(guest.page.locator(".board .chain").count()) == bool(drawn)


def test_the_computer_begins_where_it_is_black(guest: Guest) -> None:
    begin_against_computer(guest, "white")
    bottom(guest, "white")
    assert len(guest.moves()) == 1


def test_a_move_against_the_computer_is_taken_back_at_once(guest: Guest) -> None:
    begin_against_computer(guest)
    move_and_be_answered(guest)
    first = guest.moves()
    move_and_be_answered(guest)
    guest.press("Take back")
    guest.sees(first)
    guest.press("Take back")
    guest.sees([])
    expect(guest.status).to_have_text("Your turn.")
    move_and_be_answered(guest)


def test_a_move_of_the_computer_alone_is_not_offered_to_be_taken_back(guest: Guest) -> None:
    begin_against_computer(guest, "white")
    expect(guest.button("Take back")).to_be_hidden()
    move_and_be_answered(guest)
    expect(guest.button("Take back")).to_be_visible()


def test_a_game_is_aborted_before_the_second_move_and_resigned_after_it(guest: Guest) -> None:
    begin_against_computer(guest)
    guest.press("Cancel the game")
    guest.press("No")
    expect(guest.status).to_have_text("Your turn.")
    sure(guest, "Cancel the game")
    expect(guest.status).to_have_text("The game was cancelled.")
    begin_against_computer(guest)
    move_and_be_answered(guest)
    expect(guest.button("Cancel the game")).to_be_hidden()
    sure(guest, "Resign")
    expect(guest.status).to_have_text("You lose.")
    expect(guest.page.locator(".how")).to_have_text("You resigned.")
    expect(guest.live).to_contain_text("You lose. You resigned.")
    assert guest.legal() == []


def test_a_rematch_against_the_computer_begins_at_once_with_sides_swapped(guest: Guest) -> None:
    begin_against_computer(guest)
    move_and_be_answered(guest)
    sure(guest, "Resign")
    old = guest.page.url
    guest.press("Play again")
    guest.page.wait_for_url(lambda url: "/game/" in url and url != old)
    guest.ready()
    bottom(guest, "white")
    expect(guest.status).to_have_text("Your turn.")


# --- Two players, one screen ----------------------------------------------------------------------


class Ending(NamedTuple):
    """A game on a board by its number, and how the page tells its end."""

    seed: int
    moves: list[str]
    edition: str
    how: str
    proof: str
    drawn: str
    joined: int
    enclosed: list[str]


ENDINGS = {
    "chain": Ending(
        *(CHAIN_SEED, CHAIN, "2020"),
        how="Black wins by connecting the two yellow edges.",
        proof="Connection: g6 f6 e6 d5 c5 b4 a3.",
        drawn=r"^M(\S+L){6}[^LZ]+$",
        joined=2,
        enclosed=[],
    ),
    "ring": Ending(
        *(RING_SEED, RING, "2007"),
        how="Black wins by closing a loop.",
        proof="Loop: c4 b3 a3 a4 b5 c5. Inside: b4.",
        drawn=r"^M(\S+L){5}[^LZ]+Z$",
        joined=0,
        enclosed=["b4"],
    ),
    "block": Ending(
        *(BLOCK_SEED, BLOCK, "2020"),
        how="Black wins: White cannot play.",
        proof="No free token matches. Needed: any fish, or anything ",
        drawn="",
        joined=0,
        enclosed=[],
    ),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_the_board_shows_how_a_game_ended(guest: Guest, ending: Ending) -> None:
    guest.go(guest.set_up("self", ending.moves[:-3], seed=str(ending.seed)))
    guest.set(edition=ending.edition)
    play_out([guest], ending.moves[-3:])
    expect(guest.status).to_have_text("Black wins.")
    expect(guest.page.locator(".how")).to_have_text(ending.how)
    expect(guest.live).to_contain_text(ending.how)
    expect(guest.live).to_contain_text(ending.proof)
    expect(guest.page.locator(".proof").last).to_contain_text(ending.proof)
    expect(guest.page.locator(".player.black .crown")).to_have_text("winner")
    guest.sees(ending.moves)
    chains = guest.page.locator(".board .chain:not(.under)")
    expect(chains).to_have_count(1 if ending.drawn else 0)
    if ending.drawn:
        expect(chains).to_have_attribute("d", re.compile(ending.drawn))
    expect(guest.page.locator(".edge.joined")).to_have_count(ending.joined)
    enclosed = guest.page.locator(".cell.enclosed").evaluate_all(
        "cells => cells.map(cell => cell.dataset.cell)"
    )
    assert enclosed == ending.enclosed
    expect(guest.cell(ending.moves[-1])).to_have_accessible_name(re.compile("last move"))


def test_two_play_a_whole_game_at_one_screen(guest: Guest) -> None:
    guest.start("Two players on this screen", seed=CHAIN_SEED)
    for ply, cell in enumerate(CHAIN):
        expect(guest.status).to_have_text("White to play." if ply % 2 else "Black to play.")
        guest.play(cell)
    expect(guest.status).to_have_text("Black wins.")


def test_a_cell_that_cannot_be_played_says_why(guest: Guest) -> None:
    guest.start("Two players on this screen", seed=CHAIN_SEED)
    guest.click("a1")
    expect(guest.alert).to_have_text("Begin on an edge space, but not on a corner.")
    expect(guest.live).to_have_text("a1: Begin on an edge space, but not on a corner.")
    guest.play(CHAIN[0])
    expect(guest.alert).to_be_hidden()
    guest.click(CHAIN[0])
    expect(guest.alert).to_have_text("There is a stone here already.")
    expect(guest.live).to_have_text("g6: There is a stone here already.")
    wrong = next(cell for cell in ("d4", "c4", "e4", "c3") if cell not in guest.legal())
    guest.click(wrong)
    # Tokens are named as they look; where they are is told to who does not see the board.
    refused = r"This token \(\w+ \w+\) does not match\. Choose any \w+, or anything \w+\."
    expect(guest.alert).to_have_text(re.compile(refused))
    expect(guest.live).to_have_text(re.compile(rf"{wrong}: This "))
    guest.sees(CHAIN[:1])


def test_earlier_positions_can_be_looked_at(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    guest.page.get_by_role("button", name="One move back").click()
    expect(guest.status).to_have_text("Stones placed: 14")
    expect(guest.page.locator(".board .chain")).to_have_count(0)
    guest.page.get_by_role("button", name="First position").click()
    expect(guest.status).to_have_text("Before the first move")
    assert guest.stones() == {}
    guest.page.get_by_role("button", name=CHAIN[3], exact=True).click()
    expect(guest.page.locator(".table .stone")).to_have_count(4)
    guest.page.get_by_role("button", name="Now", exact=True).click()
    guest.sees(CHAIN)


def test_a_late_answer_does_not_replace_a_newer_position(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    with guest.late("**/positions/14"):
        guest.press("One move back")
        guest.press("First position")
        expect(guest.status).to_have_text("Before the first move")
    expect(guest.status).to_have_text("Before the first move")
    assert guest.stones() == {}


def test_the_present_stays_when_an_earlier_position_comes_late(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    guest.press("One move back")
    expect(guest.status).to_have_text("Stones placed: 14")
    with guest.late("**/positions/0"):
        guest.press("First position")
        guest.press("Now")
        guest.sees(CHAIN)
    guest.sees(CHAIN)


def test_an_earlier_position_that_cannot_be_fetched_is_an_error_in_words(
    guest: Guest, troubles: Troubles
) -> None:
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    troubles.expect("ERR_FAILED")
    guest.page.route("**/positions/14", lambda route: route.abort())
    guest.press("One move back")
    expect(guest.alert).to_have_text("No connection to the server.")
    guest.sees(CHAIN)


# --- Two browsers ---------------------------------------------------------------------------


def test_two_play_by_link_while_a_third_watches_and_all_see_the_same(guests: Guests) -> None:
    black, white, watcher = guests.come(), guests.come(), guests.come()
    address = black.start("Invite a friend", side="black", seed=CHAIN_SEED)
    white.go(address)
    expect(white.status).to_have_text("This game is waiting for an opponent.")
    white.press("Join the game")
    expect(black.status).to_have_text("Your turn.")
    watcher.go(address)
    expect(watcher.page.locator(".panel .note")).to_have_text("You are watching.")
    expect(black.page.get_by_text("Watching: 1")).to_be_visible()
    bottom(black, "black")
    bottom(white, "white")
    for ply, cell in enumerate(CHAIN, 1):
        mover, other = (black, white) if ply % 2 else (white, black)
        expect(mover.status).to_have_text("Your turn.")
        assert other.legal() == watcher.legal() == []
        mover.play(cell)
        for each in (other, watcher):
            expect(each.cell(cell)).to_have_accessible_name(re.compile("last move"))
    for each in (black, white, watcher):
        each.sees(CHAIN)
        expect(each.live).to_contain_text("the two yellow edges.")
        expect(each.live).to_contain_text("Connection: g6 f6 e6 d5 c5 b4 a3.")
        expect(each.page.locator(".board .chain:not(.under)")).to_have_count(1)
    expect(black.status).to_have_text("You win!")
    expect(white.status).to_have_text("You lose.")
    expect(watcher.status).to_have_text("Black wins.")
    how = watcher.page.locator(".how")
    expect(how).to_have_text("Black wins by connecting the two yellow edges.")


def test_while_waiting_the_address_is_shown_and_drawn_as_a_qr_code(guests: Guests) -> None:
    guest = guests.come(permissions=["clipboard-read", "clipboard-write"])
    address = guest.start("Invite a friend")
    expect(guest.status).to_have_text("Waiting for an opponent.")
    expect(guest.page.get_by_label("Link to the game")).to_have_value(address)
    picture = guest.page.get_by_role("img", name="QR code of the link")
    expect(picture).to_be_visible()
    assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }")
    guest.press("Copy")
    expect(guest.page.get_by_role("button", name="Copied.")).to_be_visible()
    assert guest.page.evaluate("() => navigator.clipboard.readText()") == address


def test_a_game_that_waits_for_anyone_is_listed_and_joined_from_the_list(guests: Guests) -> None:
    host, visitor = guests.come(), guests.come()
    host.go("/")
    host.wish(side="black")
    host.page.get_by_label("Your name").fill("Berenike")
    host.press("Find an opponent")
    address = host.arrive()
    host_again = Guest(host.page.context.new_page(), host.address)
    host_again.go("/")
    visitor.go("/")
    listed = visitor.page.get_by_role("link", name="Berenike · plays Black · no clock")
    listed.click()
    assert visitor.arrive() == address
    visitor.press("Join the game")
    expect(host.status).to_have_text("Your turn.")
    bottom(visitor, "white")
    expect(visitor.page.locator(".player.black .who strong")).to_have_text("Berenike")
    # One's own games are not listed, and neither are those with two players.
    expect(host_again.page.locator("#open-games", has_text="Berenike")).to_have_count(0)
    visitor.go("/")
    expect(visitor.page.locator("#open-games", has_text="Berenike")).to_have_count(0)


def test_an_opponent_who_left_is_shown_as_away(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    expect(black.page.locator(".player.white .who")).not_to_contain_text("away")
    white.page.close()
    expect(black.page.locator(".player.white .who")).to_contain_text("away")


def test_a_move_is_taken_back_by_consent(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    black.play(CHAIN[0])
    for answer in ("Decline", "Accept"):
        black.press("Take back")
        expect(black.page.get_by_text("You have asked to take a move back.")).to_be_visible()
        offer = white.page.locator(".offer")
        expect(offer).to_contain_text("Your opponent would like to take a move back.")
        black.sees(CHAIN[:1])
        white.press(answer)
        expect(offer).to_be_hidden()
        expect(black.page.get_by_text("You have asked to take a move back.")).to_be_hidden()
    black.sees([])
    white.sees([])
    expect(black.status).to_have_text("Your turn.")


def test_an_offer_can_be_withdrawn(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    sure(black, "Offer a draw")
    expect(white.page.locator(".offer")).to_be_visible()
    black.press("Withdraw")
    expect(white.page.locator(".offer")).to_be_hidden()


def test_a_draw_is_offered_declined_offered_again_and_accepted(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    play_out(pair, CHAIN[:2])
    sure(black, "Offer a draw")
    expect(black.page.get_by_text("You have offered a draw.")).to_be_visible()
    expect(white.page.locator(".offer")).to_contain_text("Your opponent offers a draw.")
    white.press("Decline")
    expect(black.page.get_by_text("You have offered a draw.")).to_be_hidden()
    sure(white, "Offer a draw")
    black.press("Accept")
    for each in pair:
        expect(each.status).to_have_text("A draw.")
        expect(each.live).to_contain_text("A draw by agreement.")


def test_a_rematch_leads_both_to_the_next_game_with_sides_swapped(
    pair: tuple[Guest, Guest],
) -> None:
    black, white = pair
    play_out(pair, CHAIN[:2])
    sure(white, "Resign")
    for each, status in zip(pair, ("You win!", "You lose."), strict=True):
        expect(each.status).to_have_text(status)
    old = black.page.url
    black.press("Same board, other side")
    expect(white.page.locator(".offer")).to_contain_text("Your opponent would like a rematch.")
    white.press("Accept")
    for each in pair:
        each.page.wait_for_url(lambda url: "/game/" in url and url != old)
        each.ready()
    assert black.page.url == white.page.url
    bottom(black, "white")
    bottom(white, "black")
    expect(white.status).to_have_text("Your turn.")
    white.play(CHAIN[0])
    expect(black.status).to_have_text("Your turn.")
    # The game before can still be looked at.
    black.go(old)
    expect(black.status).to_have_text("You win!")
    expect(black.page.get_by_role("link", name="To the next game")).to_be_visible()
    assert black.page.url == old


def test_a_seat_is_carried_to_another_device_by_a_link_that_works_once(
    guests: Guests, pair: tuple[Guest, Guest], troubles: Troubles
) -> None:
    black, white = pair
    black.page.get_by_text("Continue on another device").click()
    field = black.page.get_by_label("Link for the other device")
    expect(field).to_have_value(re.compile(r"/handover#[\w-]{43}$"))
    expect(black.page.locator(".device img.qr")).to_be_visible()
    device, thief = guests.come(), guests.come()
    for each in (device, thief):
        each.go(field.input_value())
        # The secret does not stay in the address bar, nor in the history.
        assert each.page.url.endswith("/handover")
    device.press("Continue here")
    assert device.arrive() == white.page.url
    bottom(device, "black")
    device.play(CHAIN[0])
    expect(white.status).to_have_text("Your turn.")
    troubles.expect(REFUSED)
    thief.press("Continue here")
    expect(thief.alert).to_have_text("This link has already been used, or it has expired.")
    # The old device keeps the seat.
    white.play(CHAIN[1])
    black.play(CHAIN[2])
    device.sees(CHAIN[:3])


def test_a_stranger_changes_nothing(
    guests: Guests, pair: tuple[Guest, Guest], troubles: Troubles
) -> None:
    black, _ = pair
    stranger = guests.come()
    stranger.go(black.page.url)
    black.play(CHAIN[0])
    expect(stranger.page.locator(".ledger .move")).to_have_count(1)
    for cell in (CHAIN[1], "d4"):
        stranger.click(cell)
    expect(stranger.alert).to_be_hidden()
    troubles.expect(REFUSED)
    game = black.page.url.rsplit("/", 1)[1]
    for do in ("move", "resign", "abort"):
        assert stranger.command(game, do, cell=CHAIN[1])["code"] == "not-your-seat"
    assert stranger.command(game, "join")["code"] == "seat-taken"
    stranger.reload()
    stranger.sees(CHAIN[:1])
    black.sees(CHAIN[:1])


def test_two_tabs_share_one_seat(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    tab = Guest(black.page.context.new_page(), black.address)
    tab.go(black.page.url)
    bottom(tab, "black")
    tab.play(CHAIN[0])
    expect(black.status).to_have_text("Your opponent’s turn.")
    white.play(CHAIN[1])
    expect(tab.status).to_have_text("Your turn.")
    black.play(CHAIN[2])
    tab.sees(CHAIN[:3])
    # One tab fewer is not away.
    tab.page.close()
    white.play(CHAIN[3])
    expect(white.page.locator(".player.black .who")).not_to_contain_text("away")


def test_the_title_tells_whose_turn_it_is(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    expect(black.page).to_have_title("● Your turn – Kamon – game")
    expect(white.page).to_have_title("Kamon – game")
    black.play(CHAIN[0])
    expect(black.page).to_have_title("Kamon – game")
    expect(white.page).to_have_title("● Your turn – Kamon – game")


# --- Trouble --------------------------------------------------------------------------------


def test_a_page_that_is_loaded_again_plays_on(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    play_out(pair, CHAIN[:4])
    for each in pair:
        each.reload()
        each.sees(CHAIN[:4])
    play_out(pair, CHAIN[4:6])
    white.sees(CHAIN[:6])
    black.sees(CHAIN[:6])


def runs(process: int) -> bool:
    """Tell whether a process is there and more than a name in a table."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def children(server: Server) -> list[int]:
    """List the processes that a server has started."""
    assert server.process is not None
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    return [int(child) for each in threads for child in (each / "children").read_text().split()]


def test_the_page_comes_back_by_itself_after_the_server_was_killed(
    browser: Browser, own_server: Server, troubles: Troubles
) -> None:
    guests = Guests(browser, own_server, troubles)
    guest = guests.come()
    begin_against_computer(guest)
    move_and_be_answered(guest)
    before = guest.moves()
    thinkers = children(own_server)
    assert thinkers
    troubles.expect(AWAY)
    own_server.stop(signal.SIGKILL)
    expect(guest.alert).to_have_text("The connection is lost. Trying again…")
    # What is clicked meanwhile is not lost, and not done twice.
    cell = guest.legal()[0]
    guest.click(cell)
    expect(guest.page.locator(".cell.ghost .stone.black")).to_be_visible()
    expect(guest.page.locator(".waits")).to_have_text(
        "Your move will be sent when the connection is back."
    )
    own_server.start()
    expect(guest.page.locator(".ledger .move")).to_have_count(len(before) + 2)
    expect(guest.alert).to_be_hidden()
    assert guest.moves()[: len(before) + 1] == [*before, cell]
    expect(guest.status).to_have_text("Your turn.")
    move_and_be_answered(guest)
    guest.sees(guest.moves())
    guests.leave()
    # Those who thought for the old server are gone.
    limit = time.monotonic() + 10
    while left := [each for each in thinkers if runs(each)]:
        assert time.monotonic() < limit, left
        time.sleep(0.1)
