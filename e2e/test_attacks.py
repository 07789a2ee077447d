"""One address that asks for everything: others are still served.

How much longer they wait is asserted in ``test_front_door.py``.
"""

import contextlib
import itertools
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode

from bench.attacks import until_ready
from bench.clusters import free_port
from kamon.web.games.socket import HANDSHAKE_COST
from kamon.web.limits import BUDGETS
from web_server import CHAIN_SEED, PATIENCE, TLS, Client, Server, serving, until

# The address of a proxy that all tests share would stand for all visitors.
OPTIONS = ("--moment", "0")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Server]:
    """A server that believes nobody who claims another address."""
    with serving(tmp_path, *OPTIONS) as running:
        yield running


def test_many_who_come_to_one_game_are_told_once_a_second(alone: Server) -> None:
    with Client(alone) as ann:
        game = ann.new(against="friend", seed=CHAIN_SEED)
        with ann.socket() as first:
            first.send(json.dumps({"type": "watch", "game": game}))
            first.recv(timeout=PATIENCE)
            for _ in range(30):
                with ann.socket() as other:
                    other.send(json.dumps({"type": "watch", "game": game}))
                    other.recv(timeout=PATIENCE)
            heard, until = 0, time.monotonic() + 1.5
            with contextlib.suppress(TimeoutError):
                while time.monotonic() < until:
                    message = json.loads(first.recv(timeout=0.5))
                    heard += message["type"] == "room"
        assert heard <= 6


def test_what_a_page_has_sent_before_it_went_away_is_not_read(tmp_path: Path) -> None:
    metrics = f"http://127.0.0.1:{(port := free_port())}/metrics"
    with serving(tmp_path, *OPTIONS, "--metrics-port", str(port)) as server, Client(server) as eve:
        with eve.socket() as page:
            page.socket.sendall(Frame(Opcode.TEXT, b"x").serialize(mask=True) * 400)
            page.recv(timeout=PATIENCE)
            page.socket.shutdown(socket.SHUT_RDWR)
        # To refuse all of it would take ten seconds.
        started = time.monotonic()
        until(lambda: "kamon_sockets 0.0" in httpx.get(metrics, verify=TLS).text, "the end")
        assert time.monotonic() - started < 5


def test_opening_sockets_spends_from_the_budget(server: Server) -> None:
    def opens(client: Client) -> bool:
        with contextlib.suppress(InvalidStatus), client.socket():
            return True
        return False

    with Client(server) as eve, Client(server) as ann:
        opened = sum(1 for _ in itertools.takewhile(lambda _: opens(eve), range(200)))
        least = BUDGETS["requests"].burst / HANDSHAKE_COST
        assert least - 1 <= opened < 2 * least
        assert opens(ann)


def test_the_strongest_level_for_many_games_does_not_hold_up_an_easy_game(
    server: Server,
) -> None:
    """Here clients have addresses of their own, as behind a proxy."""
    with Client(server) as eve, Client(server) as ann:
        games = [eve.new(level=12, side="white") for _ in range(40)]
        started = time.monotonic()
        mine = ann.new(level=1, side="white")
        while not ann.view(mine)["moves"]:
            assert time.monotonic() - started < 3 * PATIENCE
            time.sleep(0.05)
        waited = time.monotonic() - started
        for game in games:
            eve.do(game, "abort")
        # One thought of the other's may be under way, and one more in turn; all take a minute.
        assert waited < 30


def test_one_address_does_not_fill_the_list_of_open_games(server: Server) -> None:
    with Client(server) as eve, Client(server) as ann:
        answers = [
            eve.http.post("/api/games", json={"against": "anyone", "name": "EVE"}).status_code
            for _ in range(6)
        ]
        assert answers == [201, 201, 201, 429, 429, 429]
        ann.new(against="anyone", name="Ann")
        listed = ann.http.get("/api/games?which=open").json()["games"]
        names = [each["seats"][side]["name"] for each in listed for side in ("black", "white")]
        assert names.count("EVE") <= 3
        assert "Ann" in names


def test_the_addresses_of_one_network_have_one_budget(server: Server) -> None:
    """Here clients say themselves which address they have, as a proxy does."""
    with Client(server) as eve, Client(server) as ann:
        answers = []
        for number in range(int(BUDGETS["games"].burst) + 20):
            address = {"X-Forwarded-For": f"2001:db8:5:6::{number:x}"}
            answers.append(eve.http.post("/api/identity", headers=address).status_code)
        assert set(answers[: int(BUDGETS["games"].burst)]) == {201}
        assert 429 in answers
        assert ann.http.post("/api/identity").status_code == 201


def test_a_thought_that_nobody_needs_any_more_makes_room_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, *OPTIONS, "--workers", "1") as server, Client(server) as ann:
        until_ready(server.port)
        waits = []
        for _ in range(4):
            game = ann.new(level=12, side="white")
            until(lambda: ann.http.get("/api/health").json()["thinking"] == 1, "a thought")
            started = time.monotonic()
            ann.do(game, "abort")
            until(lambda: ann.http.get("/api/health").json()["thinking"] == 0, "the end of it")
            waits.append(time.monotonic() - started)
        # By itself it would have ended after a second and a half.
        assert min(waits) < 0.5
