"""How it feels to play: stones that appear at once, an end that is told, a way to learn from it."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from e2e.conftest import CHAIN, CHAIN_SEED, Guest, Guests, play_out
from e2e.test_pages import COUNT_SOUNDS
from web_server import Client, Server, serving

LINK = ["a3", "b4", "c5", "d5", "e6", "f6", "g6"]

Answer = Callable[[dict[str, Any]], list[dict[str, Any]] | None]


def between(page: Page, answer: Answer) -> None:
    """Stand between a page and its sockets: what gets an answer here does not reach the server."""

    def handle(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            told = answer(json.loads(message))
            if told is None:
                server.send(message)
            for each in told or ():
                socket.send(json.dumps(each))

        socket.on_message(pass_on)

    page.route_web_socket("**/ws", handle)


def resign(guest: Guest) -> None:
    guest.press("Resign")
    guest.press("Yes, resign")


# --- Rhythm ---------------------------------------------------------------------------------


def test_a_stone_is_a_ghost_until_the_server_has_it(guest: Guest) -> None:
    held: list[Callable[[], None]] = []

    def hold(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if json.loads(message)["type"] == "do" and not held:
                held.append(lambda: server.send(message))
            else:
                server.send(message)

        socket.on_message(pass_on)

    guest.page.route_web_socket("**/ws", hold)
    guest.go(guest.set_up("self", seed=str(CHAIN_SEED)))
    guest.click(CHAIN[0])
    ghost = guest.cell(CHAIN[0])
    expect(ghost).to_have_class(re.compile(r"\bghost\b"))
    expect(ghost.locator(".stone.black")).to_be_visible()
    expect(ghost).to_have_accessible_name(re.compile("your move, on its way"))
    expect(guest.status).to_have_text("Your move is on its way…")
    assert guest.stones() == {}
    held[0]()
    guest.sees(CHAIN[:1])
    expect(guest.page.locator(".ghost")).to_have_count(0)
    expect(guest.status).to_have_text("White to play.")


def test_the_computer_takes_a_visible_moment(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--trusted-proxy", "127.0.0.1") as server,
        Client(server) as me,
    ):
        game = me.new(against="computer", side="black", level=1)
        me.move(game)
        limit = time.monotonic() + 20
        while len(events := me.events(game)) < 3:
            assert time.monotonic() < limit
            time.sleep(0.02)
        assert events[2]["at"] - events[1]["at"] >= 600


def test_a_chain_that_has_grown_glows_for_a_moment(pair: tuple[Guest, Guest]) -> None:
    play_out(pair, CHAIN[:8])
    black, white = pair
    black.play(CHAIN[8])
    for each in pair:
        expect(each.page.locator(".cell.glow")).to_have_count(3)
    expect(white.page.locator(".cell.glow")).to_have_count(0)
    white.play(CHAIN[9])
    # A stone that touches no other of its side adds to nothing.
    expect(black.page.locator(".cell.glow")).to_have_count(0)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_winning_chain_is_drawn_stone_by_stone_unless_motion_is_unwelcome(
    guests: Guests, motion: str
) -> None:
    guest = guests.come(reduced_motion=motion)
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    stones = guest.page.locator(".chain-stone")
    expect(stones).to_have_count(len(LINK))
    style = "one => [getComputedStyle(one).animationName, getComputedStyle(one).animationDelay]"
    names, delays = zip(*(each.evaluate(style) for each in stones.all()), strict=True)
    if motion == "reduce":
        assert set(names) == {"none"}
    else:
        assert set(names) == {"set-stone"}
        assert len(set(delays)) == len(LINK)
    guest.set(motion=False)
    assert stones.first.evaluate(style)[0] == "none"


def test_a_new_threat_is_marked_for_a_moment(guest: Guest) -> None:
    def threaten(view: dict[str, Any]) -> dict[str, Any]:
        return {**view, "assistance": {"threats": ["d4"], "losing": [], "winning": []}}

    def handle(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def told(message: str | bytes) -> None:
            data = json.loads(message)
            if data["type"] == "room" and data["view"]["moves"]:
                data["view"] = threaten(data["view"])
            socket.send(json.dumps(data))

        server.on_message(told)

    guest.page.route_web_socket("**/ws", handle)
    guest.go(guest.set_up("computer", level=1, side="white"))
    guest.wait_for_turn()
    warned = guest.page.locator(".cell.warned")
    expect(warned).to_have_attribute("data-cell", "d4")
    expect(warned.locator(".mark-threat")).to_be_visible()
    expect(warned).to_have_count(0)


def test_the_four_sounds_differ_and_follow_the_volume(guests: Guests) -> None:
    guest, other = guests.come(), guests.come()
    for each in (guest, other):
        each.page.add_init_script(COUNT_SOUNDS)
    game = guest.set_up("friend", seed=str(CHAIN_SEED))
    guest.go(game)
    other.go(game)
    other.press("Join the game")
    heard = "() => { const n = window.sounds; window.sounds = 0; return n; }"
    # Somebody sits down.
    guest.wait_for_turn()
    assert guest.page.evaluate(heard) == 2
    guest.play(CHAIN[0])
    assert guest.page.evaluate(heard) == 1
    other.play(CHAIN[1])
    guest.wait_for_turn()
    assert guest.page.evaluate(heard) == 2
    resign(other)
    expect(guest.status).to_have_text("You win!")
    assert guest.page.evaluate(heard) == 4
    dialog = guest.settings()
    dialog.locator("[name=volume]").fill("0")
    expect(dialog.locator("[name=sound]")).not_to_be_checked()
    dialog.locator("[name=volume]").fill("80")
    expect(dialog.locator("[name=sound]")).to_be_checked()
    # The new volume is heard at once.
    assert guest.page.evaluate(heard) == 1


def test_little_time_is_told_once(guests: Guests) -> None:
    guest, other = guests.come(), guests.come()
    guest.page.add_init_script(COUNT_SOUNDS)
    game = guest.set_up("friend", seed=str(CHAIN_SEED), control="21+0")
    other.command(game.rsplit("/", 1)[1], "join")
    guest.go(game)
    guest.play(CHAIN[0])
    other.command(game.rsplit("/", 1)[1], "move", cell=CHAIN[1])
    guest.wait_for_turn()
    before = guest.page.evaluate("() => window.sounds")
    expect(guest.live).to_have_text("You have less than 20 seconds left.")
    guest.page.wait_for_timeout(1200)
    assert guest.page.evaluate("() => window.sounds") == before + 3


# --- The end --------------------------------------------------------------------------------


TURN: dict[str, Any] = {
    "before": "win",
    "after": "loss",
    "estimate": None,
    "best_estimate": None,
    "lost": 2,
    "doubtful": False,
    "quickest": True,
    "leaves": [],
    "ends": None,
    "shortened": None,
}


def review(asked: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Answer a review: White could have won at move 2, and Black erred before."""
    if asked["type"] != "review":
        return None
    moves = asked["line"].split()[1:]
    quiet = {**TURN, "before": None, "after": None, "lost": 0, "better": None, "line": []}
    turns = [{**quiet, "ply": ply, "move": move} for ply, move in enumerate(moves)]
    for ply, better in ((2, "d5"), (3, "b2")):
        turns[ply] |= {**TURN, "better": better, "line": [better, "a1"]}
    base = {"type": "review", "line": asked["line"]}
    story = {"kind": "mistake", "winner": "black", "ply": 3}
    return [
        {**base, "progress": [1, 2]},
        {
            **base,
            "story": story,
            "moments": [2, 3],
            "turns": turns,
            "accuracy": {"black": None, "white": None},
            "done": True,
        },
        {**base, "end": True},
    ]


def test_after_the_end_the_page_says_what_decided_it_and_lets_one_try_again(
    pair: tuple[Guest, Guest],
) -> None:
    black, white = pair
    for each in pair:
        between(each.page, review)
        each.reload()
    play_out(pair, CHAIN)
    expect(black.status).to_have_text("You win!")
    expect(white.status).to_have_text("You lose.")
    how = white.page.locator(".how")
    expect(how).to_have_text("Your opponent connected the two yellow edges.")
    decided = white.page.locator(".decided")
    expect(decided.locator("h2")).to_have_text("This move decided it.")
    expect(decided.locator(".story")).to_have_text(
        "You were winning, but your move 2 gave the win away."
    )
    expect(decided).to_contain_text("Some earlier moves could not be checked.")
    # The move that was played, and the one that wins.
    expect(decided.locator(".slip").first).to_have_text("played · g4")
    expect(decided.locator(".better").first).to_have_text("wins · b2")
    # To the winner the same move is told the other way round, and there is nothing to try again.
    told = black.page.locator(".decided")
    expect(told.locator("h2")).to_have_text("You took your chance.")
    expect(told.locator(".contrast").first.get_by_role("button")).to_have_text(["See it"])
    moments = white.page.locator(".contrast")
    expect(moments).to_have_count(2)
    # A sentence that names spaces needs a board that does.
    expect(white.page.locator(".coordinate")).to_have_count(37)
    moments.first.get_by_role("button", name="See it").click()
    expect(white.page.locator(".table .stone")).to_have_count(3)
    expect(white.cell("g4")).to_have_accessible_name(re.compile("was played"))
    expect(white.cell("b2")).to_have_accessible_name(re.compile("was better"))
    moments.first.get_by_role("button", name="Try it again").click()
    white.page.wait_for_url(lambda url: url != black.page.url)
    white.ready()
    white.sees(CHAIN[:3])
    expect(white.page.locator(".goal")).to_have_text("You can win here. Find the move.")
    expect(white.page.locator(".table .player").last).to_have_class(re.compile(r"\bwhite\b"))
    expect(white.status).to_have_text("Your turn.")


def test_once_the_moment_is_found_the_check_of_earlier_moves_ends_by_itself(
    pair: tuple[Guest, Guest],
) -> None:
    black, white = pair
    stopped: list[dict[str, Any]] = []

    def search_on(asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        if asked["type"] == "stop":
            stopped.append(asked)
            return []
        answers = review(asked)
        return answers and answers[:-1]

    white.page.clock.install()
    between(white.page, search_on)
    white.reload()
    play_out(pair, CHAIN[:-1])
    black.play(CHAIN[-1])
    checking = white.page.get_by_text("Checking the earlier moves…")
    expect(checking).to_be_visible()
    white.page.clock.run_for(19_000)
    expect(checking).to_be_visible()
    assert not stopped
    white.page.clock.run_for(2_000)
    expect(checking).to_be_hidden()
    assert len(stopped) == 1
    expect(white.page.locator(".story")).to_be_visible()


def test_spectators_see_the_end_the_review_and_the_way_to_the_rematch(
    guests: Guests, pair: tuple[Guest, Guest]
) -> None:
    black, white = pair
    play_out(pair, CHAIN[:-1])
    watcher = guests.come()
    between(watcher.page, review)
    watcher.go(black.page.url)
    black.play(CHAIN[-1])
    expect(watcher.status).to_have_text("Black wins.")
    how = watcher.page.locator(".how")
    expect(how).to_have_text("Black wins by connecting the two yellow edges.")
    expect(watcher.page.locator(".story")).to_be_visible()
    expect(watcher.button("Review this game")).to_be_visible()
    expect(watcher.button("Rematch")).to_be_hidden()
    white.press("Rematch")
    black.press("Accept")
    watcher.press("To the next game")
    watcher.page.wait_for_url(lambda url: url == black.page.url)


def test_who_comes_later_may_ask_what_decided_a_game(guest: Guest) -> None:
    between(guest.page, review)
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    expect(guest.page.locator(".story")).to_be_hidden()
    guest.press("What decided the game?")
    expect(guest.page.locator(".story")).to_be_visible()


def test_the_game_page_loads_the_review_only_when_it_is_needed(guest: Guest) -> None:
    loaded: list[str] = []
    guest.page.on("request", lambda request: loaded.append(request.url))
    guest.go(guest.set_up("self", CHAIN[:-1], seed=str(CHAIN_SEED)))
    guest.page.wait_for_load_state("networkidle")
    assert not [url for url in loaded if "/study/" in url or "/after." in url or "/hint." in url]


def test_a_finished_game_is_shared_by_link_as_a_picture_and_as_a_film(guests: Guests) -> None:
    guest = guests.come(permissions=["clipboard-read", "clipboard-write"])
    guest.go(guest.set_up("self", CHAIN, seed=str(CHAIN_SEED)))
    guest.page.get_by_text("Share", exact=True).click()
    guest.press("Copy")
    expect(guest.button("Copied.")).to_be_visible()
    assert guest.page.evaluate("() => navigator.clipboard.readText()") == guest.page.url
    for name, kind in (("Picture", "image/png"), ("Animation (GIF)", "image/gif")):
        path = guest.button(name).get_attribute("href")
        answer = guest.page.context.request.get(str(path))
        assert answer.headers["content-type"] == kind


def test_a_series_has_a_score(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    play_out(pair, CHAIN[:2])
    expect(black.page.locator(".score")).to_be_hidden()
    resign(white)
    old = black.page.url
    black.press("Rematch")
    white.press("Accept")
    for each in pair:
        each.page.wait_for_url(lambda url: url != old)
        each.ready()
    expect(black.page.locator(".score strong")).to_have_text("1 – 0")
    expect(white.page.locator(".score strong")).to_have_text("0 – 1")
    # Who was White is Black now, and wins.
    white.play(white.legal()[0])
    black.wait_for_turn()
    black.play(black.legal()[0])
    resign(black)
    expect(black.page.locator(".score strong")).to_have_text("1 – 1")


# --- What the other one does ------------------------------------------------------------------


def test_who_offers_is_told_of_a_refusal(pair: tuple[Guest, Guest]) -> None:
    black, white = pair
    black.play(CHAIN[0])
    black.press("Take back")
    white.press("Decline")
    told = "Your opponent does not want you to take the move back."
    expect(black.page.locator(".notice")).to_have_text(told)
    expect(black.live).to_have_text(told)
    expect(white.page.locator(".notice")).to_be_hidden()
    white.play(CHAIN[1])
    expect(black.page.locator(".notice")).to_be_hidden()
    resign(black)
    black.press("Rematch")
    white.press("Decline")
    expect(black.page.locator(".notice")).to_have_text("Your opponent does not want a rematch.")


def test_a_guest_gives_a_name_and_the_host_is_told_who_has_come(guests: Guests) -> None:
    host, visitor = guests.come(), guests.come()
    game = host.set_up("friend", side="white")
    host.go(game)
    visitor.go(game)
    visitor.page.get_by_label("Your name").fill("Berenike")
    visitor.press("Join the game")
    expect(host.page.locator(".notice")).to_have_text("Berenike has joined the game.")
    expect(host.live).to_contain_text("Berenike has joined the game.")
    expect(host.page).to_have_title("● Berenike has joined the game. – Kamon – game")
    expect(host.page.locator(".player.black .who strong")).to_have_text("Berenike")


def test_the_focus_stays_on_the_page_when_its_button_is_gone(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN[:2], seed=str(CHAIN_SEED)))
    guest.button("Resign").focus()
    guest.page.keyboard.press("Enter")
    expect(guest.button("Yes, resign")).to_be_focused()
    guest.page.keyboard.press("Enter")
    expect(guest.status).to_have_text("White wins.")
    expect(guest.status).to_be_focused()


def test_an_old_error_vanishes_when_one_looks_at_another_move(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN[:4], seed=str(CHAIN_SEED)))
    guest.click(CHAIN[0])
    expect(guest.alert).to_be_visible()
    guest.press("One move back")
    expect(guest.alert).to_be_hidden()


def test_the_arrow_keys_step_through_the_moves_but_not_on_the_board(guest: Guest) -> None:
    guest.go(guest.set_up("self", CHAIN[:4], seed=str(CHAIN_SEED)))
    for key, status in (
        ("ArrowLeft", "Stones placed: 3"),
        ("ArrowLeft", "Stones placed: 2"),
        ("ArrowRight", "Stones placed: 3"),
        ("ArrowRight", "Black to play."),
    ):
        guest.page.keyboard.press(key)
        expect(guest.status).to_have_text(status)
    guest.cell("d4").focus()
    guest.page.keyboard.press("ArrowLeft")
    expect(guest.cell("c4")).to_be_focused()
    expect(guest.status).to_have_text("Black to play.")


def test_a_long_press_leaves_no_circles_behind(guests: Guests) -> None:
    guest = guests.come((360, 740), has_touch=True)
    guest.go(guest.set_up("self", CHAIN[:2], seed=str(CHAIN_SEED)))
    box = guest.cell(CHAIN[2]).bounding_box()
    assert box
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    devtools = guest.page.context.new_cdp_session(guest.page)

    def touch(kind: str, points: list[dict[str, float]]) -> None:
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", [point])
    expect(guest.page.locator(".table .mark-reply").first).to_be_visible()
    guest.page.wait_for_timeout(700)
    touch("touchEnd", [])
    expect(guest.page.locator(".table .mark-reply")).to_have_count(0)
    guest.page.wait_for_timeout(300)
    expect(guest.page.locator(".table .mark-reply")).to_have_count(0)
    assert guest.stones().keys() == set(CHAIN[:2])


# --- For beginners ----------------------------------------------------------------------------


def test_a_hint_marks_a_move_and_says_what_is_known_of_it(guest: Guest) -> None:
    def advise(asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        if asked["type"] != "study":
            return None
        won = {"move": "b1", "value": "win", "distance": 5, "estimate": None}
        lost = {"move": "c1", "value": "loss", "distance": 2, "estimate": None}
        told = {"value": "win", "moves": [won, lost], "pv": [], "nodes": 1, "done": True}
        return [{"type": "study", "line": asked["line"], "spent": False, **told}]

    between(guest.page, advise)
    guest.go(guest.set_up("computer", level=1, seed=str(CHAIN_SEED)))
    expect(guest.page.locator(".coordinate")).to_have_count(0)
    guest.press("Hint")
    expect(guest.page.locator(".hint")).to_have_text(
        "Play the blue butterfly on b1: that wins in 3 moves. Every other move loses."
    )
    expect(guest.cell("b1")).to_have_accessible_name(re.compile("the hint"))
    # The mark can be read, and lets taps through.
    mark = guest.page.locator(".board .value")
    expect(mark).to_have_css("pointer-events", "none")
    ground, sign = (
        mark.locator(part).evaluate("each => getComputedStyle(each).fill")
        for part in ("rect", "text")
    )
    assert ground != sign
    expect(guest.page.locator(".coordinate")).to_have_count(37)
    guest.play("b1")
    expect(guest.page.locator(".hint")).to_be_hidden()
    expect(guest.page.locator(".board .value")).to_have_count(0)


def test_a_game_between_people_has_no_hints(pair: tuple[Guest, Guest]) -> None:
    for each in pair:
        expect(each.button("Hint")).to_be_hidden()


@pytest.mark.parametrize(
    ("streaks", "side", "label"),
    [({"3": 1}, "white", "Play level 4 (Student)"), ({"3": -2}, "black", "Play level 2 (")],
)
def test_another_level_is_offered_after_some_wins_or_losses(
    guest: Guest, server: Server, streaks: dict[str, int], side: str, label: str
) -> None:
    del server
    guest.go("/games")
    kept = json.dumps({"streaks": streaks, "ladder": 2})
    guest.page.evaluate("kept => localStorage.setItem('kamon', kept)", kept)
    # The computer plays White, and Black wins with the last move; or we resign.
    if side == "white":
        opening = CHAIN[:-1]
        layout = guest.ask("/api/games", {"against": "self", "seed": str(CHAIN_SEED)})["layout"]
        wish = {"against": "computer", "side": "black", "level": 3, "layout": layout}
        game = guest.ask("/api/games", {**wish, "moves": opening})["id"]
        guest.go(f"/game/{game}")
        guest.play(CHAIN[-1])
        expect(guest.status).to_have_text("You win!")
    else:
        guest.go(guest.set_up("computer", level=3))
        guest.play(guest.legal()[0])
        guest.wait_for_turn()
        resign(guest)
        expect(guest.status).to_have_text("You lose.")
    old = guest.page.url
    offer = guest.page.locator(".level-offer button")
    expect(offer).to_contain_text(label.partition(" (")[0])
    offer.click()
    guest.page.wait_for_url(lambda url: "/game/" in url and url != old)
    guest.ready()
    level = label.split()[2]
    computer = re.compile(rf"level {level}\b")
    expect(guest.page.locator(".who").filter(has_text=computer)).to_have_count(1)


def test_the_marks_on_the_board_are_explained(guest: Guest) -> None:
    guest.go(guest.set_up("computer", level=1))
    guest.page.get_by_text("What do the marks mean?").click()
    legend = guest.page.locator(".legend")
    for words in ("You may play here.", "after the move you point at", "looking one move ahead"):
        expect(legend.get_by_text(words)).to_be_visible()


def test_a_move_is_confirmed_by_a_second_tap_if_one_wishes(guests: Guests) -> None:
    guest = guests.come((360, 740))
    guest.go(guest.set_up("self", seed=str(CHAIN_SEED)))
    guest.set(confirm=True)
    first, second = guest.legal()[:2]
    guest.click(first)
    expect(guest.cell(first).locator(".mark-chosen")).to_be_visible()
    expect(guest.page.locator(".notice")).to_have_text("Tap it again to play there.")
    guest.click(second)
    expect(guest.page.locator(".mark-chosen")).to_have_count(1)
    assert guest.stones() == {}
    guest.click(second)
    guest.sees([second])
