"""No acknowledged move is ever lost: the server is killed again and again while people play."""

import contextlib
import json
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection

from web_server import PATIENCE, Client, Server, command_id, living, until

# Several servers at once, each with a database of its own, because a start takes a while.
WORLDS: Final = 3
# In all worlds together; `make soak` asks for more.
KILLS_IN_ALL: Final = int(os.environ.get("KAMON_KILLS", "21"))
KILLS: Final = KILLS_IN_ALL // WORLDS
GAMES: Final = 3
GONE: Final = (httpx.TransportError, ConnectionClosed, InvalidHandshake, OSError)


@dataclass
class Player:
    """Plays one side in all games of a world, and remembers what the server has promised."""

    client: Client
    side: str
    rng: Random
    # For each game the cells that were acknowledged, and at which number the game stood then.
    promised: dict[str, dict[str, int]] = field(default_factory=dict)
    # What was sent, but not answered, when the server died: it is sent again, under the same id.
    pending: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    def play(self, games: list[str], died: threading.Event) -> None:
        """Play wherever it is our turn, until the server dies."""
        with contextlib.suppress(*GONE), contextlib.ExitStack() as stack:
            # Black plays over HTTP and White over a WebSocket.
            socket = stack.enter_context(self.client.socket()) if self.side == "white" else None
            while not died.is_set():
                for game in games:
                    self.turn(game, socket)

    def turn(self, game: str, socket: ClientConnection | None) -> None:
        if game not in self.pending:
            view = self.client.view(game)
            if view["status"] != "playing" or view["board"]["turn"] != self.side:
                return
            cell = self.rng.choice(view["board"]["legal"])
            self.pending[game] = (command_id(), cell, view["number"])
        asked, cell, after = self.pending[game]
        command = {"do": "move", "id": asked, "after": after, "data": {"cell": cell}}
        answer = (
            self.over_socket(socket, {"type": "do", "game": game, **command})
            if socket
            else self.over_http(game, command)
        )
        if answer.get("code") == "too-many":
            time.sleep(0.05)
            return
        del self.pending[game]
        self.promised.setdefault(game, {})[cell] = answer["number"]

    def over_http(self, game: str, command: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.http.post(f"/api/games/{game}/commands", json=command)
        assert answer.status_code in (200, 429), answer.text
        return dict(answer.json())

    @staticmethod
    def over_socket(socket: ClientConnection, command: dict[str, Any]) -> dict[str, Any]:
        socket.send(json.dumps(command))
        answer: dict[str, Any] = json.loads(socket.recv(timeout=PATIENCE))
        assert answer["id"] == command["id"]
        assert answer["type"] == "done" or answer["code"] == "too-many", answer
        return answer


def live_and_die(folder: Path, seed: int) -> int:
    """Kill a server again and again; tell how many moves it had acknowledged in all."""
    rng = Random(seed)
    server = Server(folder)
    server.start()
    with Client(server) as ann, Client(server) as bob:
        players = [Player(ann, "black", Random(seed)), Player(bob, "white", Random(seed + 1))]
        games: list[str] = []
        try:
            for _ in range(KILLS):
                games = refill(games, ann, bob)
                play_until_killed(server, players, games, rng.uniform(0.02, 0.5))
                server.start()
                check(players)
        finally:
            server.stop()
    check_database(server.database)
    assert "Traceback" not in server.log, server.log
    return acknowledged(players)


def refill(games: list[str], ann: Client, bob: Client) -> list[str]:
    """Keep so many games going."""
    going = [game for game in games if ann.view(game)["status"] == "playing"]
    while len(going) < GAMES:
        game = ann.new(against="friend", side="black", control="3000+5")
        bob.do(game, "join")
        going.append(game)
    return going


def play_until_killed(
    server: Server, players: list[Player], games: list[str], moment: float
) -> None:
    died = threading.Event()
    with ThreadPoolExecutor(len(players)) as pool:
        before = acknowledged(players)
        playing = [pool.submit(player.play, games, died) for player in players]
        # On a busy machine the first answer may take a while, and a kill before it shows little.
        limit = time.monotonic() + PATIENCE
        while acknowledged(players) == before and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(moment)
        server.kill()
        died.set()
        for each in playing:
            each.result(PATIENCE)


def acknowledged(players: list[Player]) -> int:
    """Count the moves that were acknowledged in all."""
    return sum(len(cells) for each in players for cells in each.promised.copy().values())


def check(players: list[Player]) -> None:
    """Look for every move that was ever acknowledged, and for any that is there twice."""
    for player in players:
        for game, promised in player.promised.items():
            events = player.client.events(game)
            assert [each["number"] for each in events] == list(range(1, len(events) + 1))
            cells = [each["cell"] for each in events if each["kind"] == "moved"]
            assert len(cells) == len(set(cells))
            numbers = {each["cell"]: each["number"] for each in events if each["kind"] == "moved"}
            for cell, number in promised.items():
                assert numbers[cell] <= number


def check_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    with contextlib.closing(connection):
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for first, last, count in connection.execute(
            "SELECT min(number), max(number), count(*) FROM events GROUP BY game"
        ):
            assert (first, last) == (1, count)


def test_no_acknowledged_move_is_lost_in_many_crashes(tmp_path: Path) -> None:
    folders = [tmp_path / f"world-{number}" for number in range(WORLDS)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(WORLDS) as pool:
        counts = list(pool.map(live_and_die, folders, range(WORLDS)))
    assert WORLDS * KILLS >= 20
    assert min(counts) >= KILLS, counts


def test_a_killed_server_leaves_no_thinker_behind_and_its_successor_goes_on(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        with Client(server) as ann:
            game = ann.new(level=1, side="black")
            ann.move(game)
            until(lambda: len(ann.view(game)["moves"]) == 2, "the answer of the computer")
            assert server.process is not None
            group = server.process.pid
            ann.move(game)
            server.kill()
            until(lambda: not living(group), "the end of the thinker")
            server.start()
            # Whether the answer was written before the kill or not, there is one now.
            until(lambda: len(ann.view(game)["moves"]) == 4, "the next answer")
    finally:
        server.stop()


def test_a_page_that_was_open_hears_exactly_what_it_missed_after_a_crash(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        with Client(server) as ann:
            game = ann.new(against="self", control="600+0")
            with ann.socket() as socket:
                socket.send(json.dumps({"type": "watch", "game": game}))
                socket.recv(timeout=PATIENCE)
                for _ in range(3):
                    ann.move(game)
                server.kill()
                # It reads what was on its way, and then the end of the line.
                with contextlib.suppress(ConnectionClosed):
                    assert all(json.loads(each)["type"] == "room" for each in socket)
            server.start()
            with ann.socket() as socket:
                socket.send(json.dumps({"type": "watch", "game": game, "after": 2}))
                news = json.loads(socket.recv(timeout=PATIENCE))
                # The clock may have been put right already for the time that nobody was there.
                assert [each["number"] for each in news["events"]][:2] == [3, 4]
                assert {each["kind"] for each in news["events"][2:]} <= {"resumed"}
                assert news["view"]["clock"]["running"] == "white"
    finally:
        server.stop()
