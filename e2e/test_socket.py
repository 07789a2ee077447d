"""The server over a WebSocket: news at once, and an answer to every command by its id."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, ConnectionClosedError
from websockets.sync.client import ClientConnection, connect

from kamon.web import identity
from kamon.web.games.socket import FRAME_LIMIT
from kamon.web.limits import BUDGETS, SOCKETS_PER_CLIENT
from web_server import (
    CHAIN,
    CHAIN_SEED,
    PATIENCE,
    TLS,
    Client,
    Server,
    command_id,
    serving,
    until,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("socket")) as running:
        yield running


class Page:
    """One socket, and all that it has heard."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []
        self.view: dict[str, Any] = {}
        self.numbers: list[int] = []

    def say(self, message: object) -> None:
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> dict[str, Any]:
        """Wait for the next message."""
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
        self.heard.append(message)
        if message["type"] == "room":
            self.view = message["view"]
            self.numbers += [event["number"] for event in message["events"]]
        return message

    def hear_until(self, **wanted: object) -> dict[str, Any]:
        """Wait for a message with these values."""
        while True:
            message = self.hear()
            if wanted.items() <= message.items():
                return message

    def see(self, number: int) -> dict[str, Any]:
        """Wait until a game has come to an event."""
        while self.view.get("number", 0) < number:
            self.hear()
        return self.view

    def watch(self, game: str, after: int = 0) -> dict[str, Any]:
        self.say({"type": "watch", "game": game, "after": after})
        return self.hear_until(type="room", game=game)

    def ask(self, game: str, do: str, **data: object) -> dict[str, Any]:
        """Send a command, and wait for its answer."""
        asked = data.pop("id", None) or command_id()
        extra = {"after": data.pop("after")} if "after" in data else {}
        self.say({"type": "do", "game": game, "do": do, "id": asked, "data": data, **extra})
        return self.hear_until(id=asked)

    def do(self, game: str, do: str, **data: object) -> int:
        answer = self.ask(game, do, **data)
        assert answer["type"] == "done", answer
        return int(answer["number"])

    def refused(self, game: str, do: str, **data: object) -> str:
        answer = self.ask(game, do, **data)
        assert answer["type"] == "error", answer
        assert answer["message"]
        return str(answer["code"])


@contextlib.contextmanager
def page(client: Client, **options: Any) -> Iterator[Page]:  # noqa: ANN401
    with client.socket(**options) as socket:
        yield Page(socket)


# --- A game ---------------------------------------------------------------------------------


def test_two_play_a_whole_game_and_a_third_watches(ann: Client, bob: Client, eve: Client) -> None:
    game = ann.new(against="friend", side="black", seed=CHAIN_SEED, name="Ann", control="600+1")
    with page(ann) as black, page(bob) as white, page(eve) as watcher:
        for each in (black, white, watcher):
            assert each.watch(game)["events"][0]["kind"] == "created"
        assert watcher.view["status"] == "waiting"
        white.do(game, "join", name="Bob")
        assert white.see(2)["you"] == ["white"]
        for ply, cell in enumerate(CHAIN):
            player, other = (black, white) if ply % 2 == 0 else (white, black)
            seen = player.see(ply + 2)
            assert seen["board"]["turn"] == seen["you"][0]
            assert cell in seen["board"]["legal"]
            assert watcher.refused(game, "move", cell=cell) == "not-your-seat"
            assert other.refused(game, "move", cell=cell) == "not-your-turn"
            player.do(game, "move", cell=cell, after=seen["number"])
        last = len(CHAIN) + 3
        for each in (black, white, watcher):
            view = each.see(last)
            assert view["status"] == "over"
            assert view["result"] == {"winner": "black", "by": "connection"}
            assert view["moves"] == list(CHAIN)
            assert view["board"]["outcome"]["winner"] == "black"
            # Everything was told once, and in order.
            assert each.numbers == list(range(1, last + 1))
        assert (black.view["you"], watcher.view["you"]) == (["black"], [])


def test_whoever_sits_down_hears_of_it_once(ann: Client, bob: Client) -> None:
    for _ in range(5):
        game = ann.new(against="friend")
        with page(bob) as late:
            late.watch(game)
            late.do(game, "join", name="Bob")
            late.say({"type": "ping"})
            late.hear_until(type="pong")
            assert late.numbers == [1, 2]
            assert late.view["present"][late.view["you"][0]] is True


def test_the_computer_answers_over_the_socket(ann: Client) -> None:
    game = ann.new(level=1, side="black")
    with page(ann) as mine:
        mine.watch(game)
        mine.do(game, "move", cell=mine.view["board"]["legal"][0])
        assert len(mine.see(3)["moves"]) == 2
        assert mine.view["board"]["turn"] == "black"
        assert "assistance" in mine.view


def test_two_tabs_hold_one_seat(ann: Client, bob: Client) -> None:
    game = ann.new(against="friend", side="black", seed=CHAIN_SEED)
    bob.do(game, "join")
    with page(ann) as first, page(ann) as second:
        for tab in (first, second):
            tab.watch(game)
            assert tab.view["you"] == ["black"]
        first.do(game, "move", cell=CHAIN[0], id="from-both-tabs")
        assert second.see(3)["moves"] == [CHAIN[0]]
        assert second.do(game, "move", cell=CHAIN[0], id="from-both-tabs") == 3
        assert second.refused(game, "move", cell=CHAIN[1]) == "not-your-turn"


def test_a_command_needs_no_watching_and_other_games_are_not_heard_of(ann: Client) -> None:
    game, other = ann.new(against="self", seed="7"), ann.new(against="self", seed="7")
    with page(ann) as mine:
        mine.watch(game)
        cell = mine.view["board"]["legal"][0]
        assert mine.do(other, "move", cell=cell) == 2
        assert mine.do(game, "move", cell=cell) == 2
        assert mine.see(2)["id"] == game
        assert {each["game"] for each in mine.heard if each["type"] == "room"} == {game}


# --- What was missed ------------------------------------------------------------------------


def test_whoever_was_away_gets_exactly_what_they_missed(ann: Client) -> None:
    game = ann.new(against="self", seed=CHAIN_SEED)
    with page(ann) as mine:
        mine.watch(game)
        mine.do(game, "move", cell=CHAIN[0])
        mine.see(2)
    for cell in CHAIN[1:5]:
        ann.move(game, cell)
    ann.do(game, "offer", what="takeback")
    for after, expected in ((2, [3, 4, 5, 6, 7]), (6, [7]), (7, []), (0, [1, 2, 3, 4, 5, 6, 7])):
        with page(ann) as again:
            news = again.watch(game, after=after)
            assert [event["number"] for event in news["events"]] == expected
            assert news["view"]["number"] == 7
    assert news["events"][-1] | {"at": 0} == {
        "number": 7,
        "at": 0,
        "kind": "takenback",
        "ply": 4,
    }


def test_an_unanswered_command_sent_again_after_a_reconnection_is_one_move(ann: Client) -> None:
    game = ann.new(against="self", seed=CHAIN_SEED)
    message = {"type": "do", "game": game, "do": "move", "id": "sent-twice", "after": 1}
    with page(ann) as mine:
        mine.say({**message, "data": {"cell": CHAIN[0]}})
        # The line breaks before the answer is read.
    with page(ann) as mine:
        mine.watch(game, after=1)
        assert mine.do(game, "move", cell=CHAIN[0], id="sent-twice", after=1) == 2
        assert mine.see(2)["moves"] == [CHAIN[0]]


def test_a_socket_watches_one_game_at_a_time(ann: Client) -> None:
    first, second = ann.new(against="self"), ann.new(against="self")
    with page(ann) as mine:
        mine.watch(first)
        mine.watch(second)
        ann.move(first)
        ann.move(second)
        mine.hear_until(game=second, events=ann.events(second)[1:])
        heard = [each["game"] for each in mine.heard if each["type"] == "room"]
        assert first not in heard[heard.index(second) :]
        assert ann.view(first)["present"] == {"black": False, "white": False}


def test_a_game_that_is_not_there_cannot_be_watched(ann: Client) -> None:
    with page(ann) as mine:
        mine.say({"type": "watch", "game": "0" * 12})
        assert mine.hear()["code"] == "no-such-game"
        mine.say({"type": "ping"})
        assert mine.hear() == {"type": "pong"}


# --- Who is there ---------------------------------------------------------------------------


def test_those_who_watch_are_told_who_comes_and_goes(ann: Client, bob: Client, eve: Client) -> None:
    game = ann.new(against="friend", side="black", control="600+0")
    bob.do(game, "join")
    with page(ann) as mine:
        mine.watch(game)
        assert mine.view["present"] == {"black": True, "white": False}
        with page(bob) as theirs, page(eve) as stranger:
            theirs.watch(game)
            stranger.watch(game)
            while mine.view["watchers"] != 1 or not mine.view["present"]["white"]:
                mine.hear()
            assert mine.view["absent"] == {"black": None, "white": None}
        while mine.view["watchers"] or mine.view["present"]["white"]:
            mine.hear()
        assert mine.view["absent"]["white"] >= 0
        assert mine.refused(game, "claim") == "cannot-claim"
        assert mine.numbers == [1, 2]


# --- Bad messages ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "answered"),
    [
        ("", None),
        ("{", None),
        ("[]", None),
        ("3", None),
        ("null", None),
        ('"ping"', None),
        ("{}", None),
        ("[" * 2000, None),
        ('{"id":' * 300, None),
        ('{"type":"shout"}', None),
        ('{"type":"ping","extra":1}', None),
        ('{"type":"watch"}', None),
        ('{"type":"watch","game":"short"}', None),
        ('{"type":"watch","game":"000000000000","after":false}', None),
        ('{"type":"watch","game":"000000000000","after":-1}', None),
        ('{"type":"do","id":"my-command"}', "my-command"),
        ('{"type":"do","game":"000000000000","do":"flag","id":"my-command"}', "my-command"),
        ('{"type":"do","game":"000000000000","do":"move","id":7}', None),
        ('{"type":"do","game":"000000000000","do":"move","id":"a"}', "a"),
        ('{"type":"do","game":"000000000000","do":"move","id":"' + "a" * 65 + '"}', None),
        ('{"type":"do","game":"000000000000","do":"move","id":"\\ud800"}', None),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_bad_message_is_answered_and_the_line_stays_open(
    ann: Client, message: str, answered: str | None
) -> None:
    with page(ann) as mine:
        mine.say(message)
        answer = mine.hear()
        assert (answer["type"], answer["code"]) == ("error", "bad-message")
        assert answer["message"]
        if "\\ud800" not in message:
            assert answer["id"] == answered
        mine.say({"type": "ping"})
        assert mine.hear() == {"type": "pong"}


def test_an_illegal_command_is_answered_under_its_id_and_changes_nothing(ann: Client) -> None:
    game = ann.new(against="self", seed=CHAIN_SEED)
    with page(ann) as mine:
        mine.watch(game)
        assert mine.refused(game, "move", cell="d4") == "illegal-move"
        assert mine.refused(game, "move", cell="z9") == "bad-message"
        assert mine.refused(game, "move") == "bad-message"
        assert mine.refused(game, "accept", what="draw") == "no-offer"
        mine.do(game, "move", cell=CHAIN[0])
        assert mine.refused(game, "move", cell=CHAIN[1], after=1) == "stale"
        assert mine.refused("0" * 12, "resign") == "no-such-game"
    assert len(ann.events(game)) == 2


def test_a_long_message_and_one_that_is_no_text_are_refused(ann: Client) -> None:
    with page(ann) as mine:
        fits = '{"type":"ping"}'.ljust(FRAME_LIMIT)
        mine.say(fits)
        assert mine.hear() == {"type": "pong"}
        mine.say(fits + " ")
        assert mine.hear()["code"] == "too-large"
        mine.socket.send(b'{"type":"ping"}')
        assert mine.hear()["code"] == "bad-message"
        mine.say({"type": "ping"})
        assert mine.hear() == {"type": "pong"}


def test_a_frame_beyond_all_measure_ends_the_connection(ann: Client) -> None:
    with page(ann) as mine:
        mine.say(" " * 5000)
        with pytest.raises(ConnectionClosedError) as caught:
            mine.hear()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


def test_a_message_in_pieces_is_bounded_too(ann: Client) -> None:
    with page(ann) as mine:
        with contextlib.suppress(ConnectionClosed):
            mine.socket.send(" " * 1000 for _ in range(50))
        with pytest.raises(ConnectionClosed):
            mine.hear()


# --- Budgets --------------------------------------------------------------------------------


def test_a_flood_of_messages_is_stemmed_and_each_command_has_its_answer(ann: Client) -> None:
    game = ann.new(against="self")
    flood = int(BUDGETS["messages"].burst) * 3
    with page(ann) as mine:
        ids = [command_id() for _ in range(flood)]
        for number, each in enumerate(ids):
            mine.say({"type": "do", "game": game, "do": "claim", "id": each})
            if number % (flood // 3) == 0:
                # All of them at once would be more bytes than a socket may send.
                time.sleep(0.5)
        answers = [mine.hear() for _ in ids]
        assert [answer["id"] for answer in answers] == ids
        codes = [answer["code"] for answer in answers]
        assert set(codes) == {"no-clock", "too-many"}
        refused = next(answer for answer in answers if answer["code"] == "too-many")
        assert refused["retry"] >= 1
        time.sleep(0.3)
        mine.say({"type": "ping"})
        assert mine.hear() == {"type": "pong"}


def test_a_client_has_so_many_sockets_and_no_more(ann: Client, bob: Client) -> None:
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(page(ann)) for _ in range(SOCKETS_PER_CLIENT)]
        with page(ann) as beyond:
            answer = beyond.hear()
            assert (answer["type"], answer["code"]) == ("error", "too-many")
            with pytest.raises(ConnectionClosed):
                beyond.hear()
        with page(bob) as other:
            other.say({"type": "ping"})
            assert other.hear() == {"type": "pong"}
        pages[0].socket.close()
        until(lambda: welcome(ann), "a place that was given back")


def welcome(client: Client) -> bool:
    with page(client) as guest:
        guest.say({"type": "ping"})
        return guest.hear() == {"type": "pong"}


# --- Who may come in ------------------------------------------------------------------------


def by_cookie(server: Server, **headers: str) -> ClientConnection:
    secret = httpx.get(server.address, verify=TLS).cookies[identity.COOKIE]
    opened: ClientConnection = connect(
        server.address.replace("http", "ws", 1) + "/ws",
        additional_headers={"Cookie": f"{identity.COOKIE}={secret}", **headers},
        proxy=None,
    )
    return opened


def test_a_cookie_from_our_own_page_is_let_in(server: Server) -> None:
    with by_cookie(server, Origin=server.address) as socket:
        socket.send('{"type":"ping"}')
        assert socket.recv(timeout=PATIENCE) == '{"type":"pong"}'


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://["])
def test_a_cookie_from_anywhere_else_is_turned_away(server: Server, origin: str | None) -> None:
    with by_cookie(server, **({"Origin": origin} if origin else {})) as socket:
        answer = json.loads(socket.recv(timeout=PATIENCE))
        assert (answer["type"], answer["code"]) == ("error", "bad-origin")
        with pytest.raises(ConnectionClosed) as caught:
            socket.recv(timeout=PATIENCE)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1008


def test_a_malformed_secret_is_turned_away(server: Server) -> None:
    address = server.address.replace("http", "ws", 1) + "/ws"
    headers = {"Authorization": "Bearer nonsense", "Origin": server.address}
    with connect(address, additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv(timeout=PATIENCE))["code"] == "bad-secret"


def test_nobody_in_particular_may_watch_and_do_nothing_else(server: Server, ann: Client) -> None:
    game = ann.new(against="friend")
    address = server.address.replace("http", "ws", 1) + "/ws"
    with connect(address, additional_headers={"Origin": server.address}, proxy=None) as socket:
        nobody = Page(socket)
        assert nobody.watch(game)["view"]["you"] == []
        assert nobody.refused(game, "join", name="Nobody") == "no-secret"
        assert nobody.refused(game, "abort") == "not-your-seat"
