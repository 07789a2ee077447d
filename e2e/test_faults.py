"""Three servers on one PostgreSQL, people who play through all of them, and whatever can go wrong.

Nothing that was acknowledged may be lost, no event may be missing, and everybody sees the same.
``make soak`` does the same for longer: KAMON_FAULTS says how many kills there are.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx
import psycopg
import pytest
from psycopg import sql
from websockets.exceptions import ConnectionClosed

from postgres import Postgres, running_postgres
from web_server import PATIENCE, Client, Server, behind_proxy, command_id, until

pytestmark = pytest.mark.thorough

KILLS: Final = int(os.environ.get("KAMON_FAULTS", "20"))
# A soak takes faults as long as they are in life.
LONG: Final = "KAMON_FAULTS" in os.environ
SERVERS: Final = 3
GAMES: Final = 6


@dataclass
class Roamer:
    """Plays one side in some games, through any server that answers."""

    servers: list[Server]
    clients: list[Client]
    side: str
    rng: Random
    # For each game the cells that were acknowledged, and the number at which each was.
    promised: dict[str, dict[str, int]] = field(default_factory=dict)
    # What was sent and not answered: it is sent again, under the same id, through any server.
    pending: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    def play(self, games: list[str], ended: threading.Event) -> None:
        while not ended.is_set():
            for game in games:
                with contextlib.suppress(httpx.TransportError):
                    self.turn(game, self.rng.choice(self.clients))
            time.sleep(0.01)

    def turn(self, game: str, client: Client) -> None:
        if game not in self.pending:
            answer = client.http.get(f"/api/games/{game}", timeout=3)
            if answer.status_code != 200:
                return
            view = answer.json()["view"]
            if view["status"] != "playing" or view["board"]["turn"] != self.side:
                return
            cell = self.rng.choice(view["board"]["legal"])
            self.pending[game] = (command_id(), cell, view["number"])
        asked, cell, after = self.pending[game]
        command = {"do": "move", "id": asked, "after": after, "data": {"cell": cell}}
        answer = client.http.post(f"/api/games/{game}/commands", json=command, timeout=3)
        if answer.status_code == 200:
            self.promised.setdefault(game, {})[cell] = answer.json()["number"]
            del self.pending[game]
        else:
            # Nothing else may be refused: it was this side's turn, and only this side moves.
            assert answer.json()["code"] in ("storage", "too-many", "busy"), answer.text

    def acknowledged(self) -> int:
        return sum(len(cells) for cells in self.promised.copy().values())


@dataclass
class Club:
    """Servers, players and their games."""

    postgres: Postgres
    url: str
    servers: list[Server]
    ann: Roamer
    bob: Roamer
    games: list[str] = field(default_factory=list)

    def refill(self) -> None:
        """Keep so many games going."""
        here = self.ann.clients[0]
        self.games[:] = [game for game in self.games if here.view(game)["status"] == "playing"]
        while len(self.games) < GAMES:
            game = here.new(against="friend", side="black", control="3000+5")
            self.bob.clients[1].do(game, "join")
            self.games.append(game)

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """Let both sides play while a block runs, and look at everything afterwards."""
        self.refill()
        before, ended = self.acknowledged(), threading.Event()
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(each.play, self.games, ended) for each in (self.ann, self.bob)]
            try:
                until(lambda: self.acknowledged() > before, "a move")
                yield
                self.expect_progress()
            finally:
                ended.set()
                for each in both:
                    each.result(PATIENCE)
        self.check()

    def expect_progress(self) -> None:
        """Wait until somebody has moved again, or everything has been played out."""
        before = self.acknowledged()
        limit = time.monotonic() + 2 * PATIENCE
        while self.acknowledged() == before and not self.all_over():
            assert time.monotonic() < limit, "nobody can move any more"
            time.sleep(0.02)

    def all_over(self) -> bool:
        with contextlib.suppress(httpx.TransportError, AssertionError):
            here = self.ann.clients
            return all(
                any(client.view(game)["status"] == "over" for client in here) for game in self.games
            )
        return False

    def recover(self) -> None:
        """Wait until all servers are well: they take a second or two after a fault."""

        def are_well() -> bool:
            answers = [client.http.get("/api/health") for client in self.ann.clients]
            return all(answer.status_code == 200 for answer in answers)

        until(are_well, "health")

    def acknowledged(self) -> int:
        return self.ann.acknowledged() + self.bob.acknowledged()

    def check(self) -> None:
        """Look for every promise in the database, and whether all servers tell the same."""
        events = self.stored()
        for player in (self.ann, self.bob):
            for game, promised in player.promised.items():
                numbers = {cell: number for number, kind, cell in events[game] if kind == "moved"}
                for cell, number in promised.items():
                    assert numbers[cell] <= number
        for game in self.games:
            told = [client.events(game) for client in self.ann.clients]
            assert all(each == told[0] for each in told[1:])
            assert [each["number"] for each in told[0]] == [each[0] for each in events[game]]

    def stored(self) -> dict[str, list[tuple[int, str, str | None]]]:
        """Read all events from the database itself; none may be missing, and none there twice."""
        found: dict[str, list[tuple[int, str, str | None]]] = {}
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "SELECT game, number, kind, data::json ->> 'cell' FROM events ORDER BY game, number"
            )
            for game, number, kind, cell in rows:
                found.setdefault(game, []).append((number, kind, cell))
        for events in found.values():
            assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
            cells = [cell for _, kind, cell in events if kind == "moved"]
            assert len(cells) == len(set(cells))
        return found


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    with running_postgres(durable=True) as postgres, contextlib.ExitStack() as stack:
        url = postgres.new_database()
        servers = []
        for number in range(SERVERS):
            server = Server(tmp_path_factory.mktemp(f"server-{number}"), url=url)
            stack.callback(server.stop)
            servers.append(server)
        with ThreadPoolExecutor(SERVERS) as pool:
            list(pool.map(Server.start, servers))
        ann, bob = (roamer(servers, side, stack) for side in ("black", "white"))
        yield Club(postgres, url, servers, ann, bob)


def roamer(servers: list[Server], side: str, stack: contextlib.ExitStack) -> Roamer:
    first = stack.enter_context(Client(servers[0]))
    others = [stack.enter_context(Client(each, first.secret)) for each in servers[1:]]
    return Roamer(servers, [first, *others], side, Random(side))


def assert_quiet(servers: list[Server]) -> None:
    for server in servers:
        assert "Traceback" not in server.log, server.log


def test_servers_that_are_killed_lose_nothing_that_they_acknowledged(club: Club) -> None:
    rng = Random(1)
    left = KILLS
    while left:
        round_of = min(left, 5)
        with club.playing():
            for _ in range(round_of):
                victim = rng.choice(club.servers)
                victim.kill()
                time.sleep(rng.uniform(0.05, 0.5))
                victim.start()
                time.sleep(rng.uniform(0.05, 0.3))
        left -= round_of
    assert_quiet(club.servers)


@pytest.mark.parametrize("how", ["stop", "crash"])
def test_a_database_that_restarts_costs_time_and_nothing_else(club: Club, how: str) -> None:
    for _ in range(5 if LONG else 1):
        with club.playing():
            getattr(club.postgres, how)()
            time.sleep(1)
            club.postgres.start()


def test_a_database_that_is_away_for_long_costs_time_and_nothing_else(club: Club) -> None:
    with club.playing():
        club.postgres.stop()
        time.sleep(60 if LONG else 6)
        for client in club.ann.clients:
            answer = client.http.get("/api/ready")
            assert answer.status_code == 503
            assert not answer.json()["database"]
        club.postgres.start()
    for client in club.ann.clients:
        until(lambda client=client: client.http.get("/api/ready").status_code == 200)  # type: ignore[misc]


def test_listeners_that_are_cut_off_cost_no_move(club: Club) -> None:
    with club.playing(), psycopg.connect(club.url, autocommit=True) as connection:
        for _ in range(20 if LONG else 5):
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query = 'LISTEN kamon'"
            )
            time.sleep(0.3)


def test_a_server_that_was_stopped_for_a_while_never_overwrites(club: Club) -> None:
    with club.playing():
        club.servers[1].pause(10 if LONG else 6)


def test_a_database_that_refuses_to_write_is_told_as_it_is(club: Club) -> None:
    # As a full disk does: it can be read, and nothing can be stored.
    def writable(switch: str) -> None:
        name = sql.Identifier(club.url.partition("?")[0].rpartition("/")[2])
        setting = sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}")
        club.postgres.administer(setting.format(name, sql.SQL(switch)))
        with psycopg.connect(club.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    with club.playing():
        writable("on")
        time.sleep(2)
        here = club.ann.clients[0]
        until(lambda: here.http.get("/api/health").status_code == 503, "an honest answer")
        assert here.http.post("/api/games", json={"against": "friend"}).json()["code"] == "storage"
        writable("off")
    club.recover()


def test_a_player_whose_server_is_killed_plays_on_through_another(club: Club) -> None:
    waits = []
    for number in range(KILLS // 4):
        victim, other = club.servers[number % SERVERS], (number + 1) % SERVERS
        here, there = club.ann.clients[number % SERVERS], club.ann.clients[other]
        game = here.new(against="self", control="600+0")
        here.move(game)
        victim.kill()
        started = time.monotonic()
        there.move(game)
        waits.append(time.monotonic() - started)
        victim.start()
    assert max(waits) < 3, waits


def test_a_page_that_changes_server_sees_no_older_view_and_its_move_is_not_refused(
    club: Club,
) -> None:
    """Somebody watches at every server, so that no server reads a game again for those who come."""
    club.recover()
    changes, done, older = 500 if LONG else 60, 0, 0
    while done < changes:
        game = club.ann.clients[0].new(against="self")
        with contextlib.ExitStack() as stack:
            for client in club.ann.clients:
                watcher = stack.enter_context(client.socket())
                watcher.send(json.dumps({"type": "watch", "game": game}))
                watcher.recv(timeout=PATIENCE)
            view = club.ann.clients[0].view(game)
            while view["status"] == "playing" and done < changes:
                there = club.ann.clients[(done + 1) % SERVERS]
                seen = club.ann.clients[done % SERVERS].do(
                    game, "move", cell=view["board"]["legal"][0], after=view["number"]
                )["number"]
                with there.socket() as page:
                    page.send(json.dumps({"type": "watch", "game": game, "after": seen}))
                    view = json.loads(page.recv(timeout=PATIENCE))["view"]
                older += view["number"] < seen
                done += 1
                # A page that did this any faster would be refused.
                time.sleep(0.06)
    assert older == 0


def test_the_computer_answers_though_the_server_that_thinks_is_killed(club: Club) -> None:
    """Wherever the thought was, another server takes it over within seconds."""
    here = club.ann.clients[2]
    for victim in club.servers[:2]:
        game = here.new(level=7, side="black")
        here.move(game)
        time.sleep(0.2)
        victim.kill()
        until(lambda game=game: len(here.view(game)["moves"]) == 2, "the answer")  # type: ignore[misc]
        victim.start()


def test_two_players_and_a_spectator_on_three_servers_agree(club: Club) -> None:
    ann, bob, eve = club.ann.clients[0], club.bob.clients[1], club.ann.clients[2]
    game = ann.new(against="friend", side="black", control="300+5")
    bob.do(game, "join", name="Bob")
    for _ in range(6):
        ann.move(game)
        bob.move(game)
    views = [client.view(game) for client in (ann, bob, eve)]
    assert len({str(view["moves"]) for view in views}) == 1
    assert {view["number"] for view in views} == {14}


def test_a_server_that_is_told_to_end_hands_over_within_five_seconds(club: Club) -> None:
    victim, here, there = club.servers[0], club.ann.clients[0], club.ann.clients[1]
    game = here.new(level=8, side="white")
    with here.socket() as page:
        page.send(json.dumps({"type": "watch", "game": game}))
        page.recv(timeout=PATIENCE)
        started = time.monotonic()
        victim.stop()
        assert time.monotonic() - started < 5
        with contextlib.suppress(ConnectionClosed):
            while True:
                page.recv(timeout=PATIENCE)
        # "Service restart": pages come back at once, and find another server.
        assert page.close_code == 1012
    until(lambda: len(there.view(game)["moves"]) >= 1, "the move of the computer elsewhere")
    victim.start()


def test_games_over_a_bad_network_are_the_same_for_everybody(club: Club) -> None:
    """Connections are delayed, cut and sent twice on the way to the servers."""
    faults = ("--delay", "0.1", "--cut", "0.05", "--duplicate", "0.05", "--seed", "7")
    games = 1000 if LONG else 30
    with behind_proxy(club.servers, club.servers[0].folder, *faults) as front:
        ann = Roamer(club.servers, [Client(front, club.ann.clients[0].secret)], "black", Random(5))
        bob = Roamer(club.servers, [Client(front, club.bob.clients[0].secret)], "white", Random(6))
        here, there = club.ann.clients[0], club.bob.clients[1]
        for start in range(0, games, 10):
            some = []
            # With an address of its own each time: one could not set up so many games.
            with Client(club.servers[0], here.secret) as host:
                for _ in range(min(10, games - start)):
                    some.append(host.new(against="friend", side="black"))
                    there.do(some[-1], "join")
            play_out(some, ann, bob, here)
            club.games.extend(some)
        for client in (*ann.clients, *bob.clients):
            client.http.close()
    for player in (ann, bob):
        known = club.ann if player is ann else club.bob
        known.promised.update(player.promised)
    club.check()


def play_out(games: list[str], ann: Roamer, bob: Roamer, here: Client) -> None:
    """Play some games to their end."""
    ended = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(each.play, games, ended) for each in (ann, bob)]
        try:
            limit = time.monotonic() + 20 * PATIENCE
            while any(here.view(game)["status"] == "playing" for game in games):
                assert time.monotonic() < limit, "the games do not end"
                time.sleep(0.2)
        finally:
            ended.set()
            for each in both:
                each.result(PATIENCE)
