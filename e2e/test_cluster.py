"""Several servers on one PostgreSQL database, behind one address that is not sticky."""

import contextlib
import itertools
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, expect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection

from e2e.conftest import Guests, Troubles
from web_server import CHAIN, CHAIN_SEED, PATIENCE, Client, Server, behind_proxy, command_id, until

CLUSTER: Final = Path(__file__).parents[1] / "tools" / "cluster.py"
GONE: Final = (httpx.TransportError, ConnectionClosed, InvalidHandshake, OSError)
# Seconds within which a player whose server was killed plays on through another.
PLAYS_ON_WITHIN: Final = 3.0


@dataclass
class Cluster:
    """Servers on one database, and the proxy in front of them, which is like a server to others."""

    servers: list[Server]
    front: Server

    def client(self) -> Client:
        """Let somebody come through the proxy."""
        return Client(self.front)


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str) -> Iterator[Cluster]:
    """Three servers, which have started at the same moment on an empty database."""
    servers = []
    for number in range(3):
        (folder := tmp_path / f"server-{number}").mkdir()
        # The last of two options counts.
        servers.append(Server(folder, *Server.OPTIONS, "--database", postgres_url))
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
        starts = [threading.Thread(target=server.start) for server in servers]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
        yield Cluster(servers, stack.enter_context(behind_proxy(servers, tmp_path)))
    for server in servers:
        assert "Traceback" not in server.log, server.log


@contextlib.contextmanager
def watch(client: Client, game: str) -> Iterator[ClientConnection]:
    with client.socket() as socket:
        socket.send(json.dumps({"type": "watch", "game": game, "after": 0}))
        yield socket


def number_seen(socket: ClientConnection) -> int:
    """Wait for the next news; tell at which event the game stands then."""
    while True:
        said = json.loads(socket.recv(timeout=PATIENCE))
        if said["type"] == "room":
            return int(said["view"]["number"])


def agree(clients: list[Client], game: str) -> list[dict[str, Any]]:
    """Wait until everybody is told the same events, without a gap; return them."""
    until(lambda: len({json.dumps(each.events(game)) for each in clients}) == 1, "one story")
    events = clients[0].events(game)
    assert [each["number"] for each in events] == list(range(1, len(events) + 1))
    return events


def may_play(client: Client, game: str, cell: str) -> bool:
    return cell in client.view(game)["board"]["legal"]


def sees_everybody(client: Client, game: str) -> bool:
    view = client.view(game)
    return sorted(view["present"]) == ["black", "white"] and view["watchers"] == 1


def test_two_players_and_a_spectator_each_have_a_server_of_their_own(cluster: Cluster) -> None:
    one, two, three = cluster.servers
    with Client(one) as ann, Client(two) as bob, Client(three) as eve:
        game = ann.new(against="friend", side="black", seed=CHAIN_SEED)
        bob.do(game, "join", name="Bob")
        with watch(eve, game) as socket:
            number_seen(socket)
            for mover, cell in zip(itertools.cycle((ann, bob)), CHAIN, strict=False):
                # The mover's server may not have heard of the last move yet.
                until(partial(may_play, mover, game, cell), "the turn")
                number = mover.do(game, "move", cell=cell)["number"]
                while number_seen(socket) < number:
                    pass
        cells = [each["cell"] for each in agree([ann, bob, eve], game) if each["kind"] == "moved"]
        assert cells == list(CHAIN)
        for each in (ann, bob, eve):
            assert each.view(game)["status"] == "over"
        assert len({each.view(game)["seats"]["white"]["name"] for each in (ann, bob, eve)}) == 1


def test_who_is_here_is_known_on_every_server(cluster: Cluster) -> None:
    one, two, three = cluster.servers
    with Client(one) as ann, Client(two) as bob, Client(three) as eve:
        game = ann.new(against="friend", side="black")
        bob.do(game, "join")
        with watch(ann, game), watch(bob, game), watch(eve, game):
            for each in (ann, bob, eve):
                until(partial(sees_everybody, each, game), "everybody")


@dataclass
class Player:
    """Sends a command again, under the same id, until some server has acknowledged it."""

    client: Client
    promised: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0

    def play(self, game: str, cell: str, after: int) -> int:
        command = {"do": "move", "id": command_id(), "after": after, "data": {"cell": cell}}
        started = time.monotonic()
        while True:
            with contextlib.suppress(*GONE):
                answer = self.client.http.post(f"/api/games/{game}/commands", json=command)
                if answer.status_code == 200:
                    break
                assert answer.status_code in (409, 502, 503), answer.text
            assert time.monotonic() - started < PATIENCE
            time.sleep(0.02)
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.promised[cell] = answer.json()["number"]
        return self.promised[cell]


def test_the_game_goes_on_when_a_server_is_killed(cluster: Cluster) -> None:
    with cluster.client() as ann, cluster.client() as bob:
        game = ann.new(against="friend", side="black", seed=CHAIN_SEED)
        bob.do(game, "join")
        players = [Player(ann), Player(bob)]
        number = ann.view(game)["number"]
        for turn, cell in enumerate(CHAIN):
            server = cluster.servers[turn % 2]
            if turn in (3, 4, 9):
                server.kill()
            number = players[turn % 2].play(game, cell, number)
            if server.process is None and turn in (6, 11):
                server.start()
        events = agree([ann, bob], game)
        moved = {each["cell"]: each["number"] for each in events if each["kind"] == "moved"}
        assert list(moved) == list(CHAIN)
        for player in players:
            assert all(moved[cell] <= number for cell, number in player.promised.items())
            assert player.slowest < PLAYS_ON_WITHIN


def test_another_server_takes_over_the_thought_of_one_that_was_killed(cluster: Cluster) -> None:
    with Client(cluster.servers[2]) as ann:
        game = ann.new(level=12, side="black")
        ann.move(game)
        time.sleep(0.3)
        # Whoever was thinking, it was one of these; or nobody yet.
        for server in cluster.servers[:2]:
            server.kill()
        until(lambda: len(ann.view(game)["moves"]) == 2, "the answer of the computer")


def free_ports() -> int:
    """Find a port that is free together with the two after it."""
    while True:
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError, OverflowError):
            taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            first = int(taken.getsockname()[1])
            for offset in (1, 2, 1001, 1002):
                stack.enter_context(socket.create_server(("127.0.0.1", first + offset)))
            return first


def test_make_cluster_leads_to_an_address_and_leaves_nothing_behind() -> None:
    port = free_ports()
    with subprocess.Popen(
        [sys.executable, CLUSTER, "--port", str(port)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said: list[str] = []
        try:
            for line in process.stdout:
                said.append(line)
                if line.startswith("Kamon is at"):
                    break
            front = Server(Path())
            front.port = port
            with Client(front) as ann:
                game = ann.new(level=1, side="black")
                ann.move(game)
                until(lambda: len(ann.view(game)["moves"]) == 2, "the answer of the computer")
        finally:
            process.send_signal(signal.SIGINT)
            said += process.stdout.readlines()
    assert process.returncode == 0
    started = [int(found) for found in re.findall(r"runs as process (\d+)", "".join(said))]
    assert len(started) == 5, said
    assert not any(Path(f"/proc/{each}").exists() for each in started)
    (folder,) = re.findall(r"Logs are in (.*)", "".join(said))
    shutil.rmtree(folder)


def test_two_browsers_play_on_while_their_servers_are_killed_in_turn(
    cluster: Cluster, browser: Browser, troubles: Troubles
) -> None:
    # What a browser says when its connection breaks.
    troubles.expect(r"WebSocket connection to .* failed")
    troubles.expect(r"Failed to load resource: net::ERR_|status of 50[23]")
    guests = Guests(browser, cluster.front, troubles)
    black, white, watcher = (guests.come() for _ in range(3))
    path = black.set_up("friend", seed=CHAIN_SEED)
    for each in (black, white, watcher):
        each.go(path)
    white.press("Join the game")
    first, second, third = cluster.servers
    # Every server is killed once, so every page loses its connection at least once.
    happens = {2: first.kill, 5: first.start, 6: second.kill, 9: second.start, 10: third.kill}
    for turn, cell in enumerate(CHAIN):
        happens.get(turn, lambda: None)()
        (black, white)[turn % 2].play(cell)
    for each in (black, white, watcher):
        each.sees(list(CHAIN))
        expect(each.status).to_have_class(re.compile("over"))
    guests.leave()
