"""Whatever fails in a server is answered, over HTTP and over a socket, and nothing else stops."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection

from postgres import running_postgres
from web_server import CHAIN, CHAIN_SEED, KAMON, PATIENCE, Client, Server, serving, until

LAYOUT = "B4B1D6E6/F6F5F3D3F2/B3A4C3E3D4E4/A1C5B2E1D1C2A5/E2D2B5F4E5C1/F1C4A2--C6/A3D5A6B6"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server whose tables go missing."""
    folder = tmp_path_factory.mktemp("failures")
    with contextlib.ExitStack() as stack:
        url = None
        if request.param == "postgresql":
            url = stack.enter_context(running_postgres()).new_database()
        yield stack.enter_context(serving(folder, url=url))


@contextlib.contextmanager
def without(server: Server, table: str) -> Iterator[None]:
    """Let a table be missing for a while: whoever needs it meets a database error."""

    def rename(old: str, new: str) -> None:
        statement = f"ALTER TABLE {old} RENAME TO {new}"
        if server.url.startswith("sqlite"):
            with contextlib.closing(sqlite3.connect(server.database, timeout=PATIENCE)) as file:
                file.execute(statement)
        else:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(statement)

    rename(table, f"{table}_away")
    try:
        yield
    finally:
        rename(f"{table}_away", table)


def ask(page: ClientConnection, **message: object) -> dict[str, object]:
    """Send a message, and return the first answer."""
    page.send(json.dumps(message))
    return dict(json.loads(page.recv(timeout=PATIENCE)))


def test_a_review_that_cannot_be_read_is_answered(server: Server) -> None:
    line = f"{LAYOUT} e7 f5"
    with Client(server) as ann, ann.socket() as page:
        with without(server, "reviews"):
            answer = ask(page, type="review", line=line)
            assert (answer["type"], answer["code"]) == ("error", "storage")
        # The same socket goes on.
        assert ask(page, type="ping") == {"type": "pong"}


def test_a_game_that_cannot_be_read_is_answered_alike_over_http_and_socket(server: Server) -> None:
    with Client(server) as ann, ann.socket() as page:
        # One that is not in memory.
        unknown = "0000000000a0"
        with without(server, "events"):
            over_http = ann.http.get(f"/api/games/{unknown}")
            assert (over_http.status_code, over_http.json()["code"]) == (503, "storage")
            answer = ask(page, type="watch", game=unknown)
            assert (answer["type"], answer["code"]) == ("error", "storage")
        assert ask(page, type="watch", game=unknown)["code"] == "no-such-game"


def test_a_move_that_cannot_be_written_is_answered_and_can_be_made_again(server: Server) -> None:
    with Client(server) as ann, ann.socket() as page:
        game = ann.new(against="self", seed=CHAIN_SEED)
        move = {"game": game, "do": "move", "id": "the-same-command", "data": {"cell": CHAIN[0]}}
        with without(server, "events"):
            answer = ask(page, type="do", **move)
            assert (answer["type"], answer["code"]) == ("error", "storage")
            assert answer["id"] == "the-same-command"
        until(lambda: ask(page, type="do", **move)["type"] == "done", "the move")
        assert ann.view(game)["moves"] == [CHAIN[0]]
        until(lambda: ann.http.get("/api/health").json()["ok"], "a healthy server")


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_database_that_does_not_know_who_is_there_does_not_tear_a_socket(
    server: Server,
) -> None:
    with Client(server) as ann, ann.socket() as page:
        game = ann.new(against="self")
        with without(server, "presence"):
            answer = ask(page, type="watch", game=game)
            assert (answer["type"], answer["code"]) == ("error", "storage")
        assert ask(page, type="watch", game=game)["type"] == "room"


def test_a_game_that_makes_no_sense_is_answered_and_logged_once(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        with Client(server) as ann:
            game = ann.new(against="self")
        server.stop()
        with contextlib.closing(sqlite3.connect(server.database)) as file:
            file.execute("UPDATE events SET data = '{}' WHERE game = ?", (game,))
            file.commit()
        server.start()
        with Client(server) as ann, ann.socket() as page:
            answer = ask(page, type="watch", game=game)
            assert (answer["type"], answer["code"]) == ("error", "failed")
            assert ask(page, type="ping") == {"type": "pong"}
        assert server.log.count("Traceback") == 1
        assert "/ws failed" in server.log
    finally:
        server.stop()


def test_a_game_that_makes_no_sense_is_missing_in_lists_and_can_be_removed(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        with Client(server) as ann:
            good, bad = (ann.new(against="anyone", side="black") for _ in range(2))
            secret = ann.secret
        server.stop()
        with contextlib.closing(sqlite3.connect(server.database)) as file:
            file.execute("UPDATE events SET data = '{' WHERE game = ?", (bad,))
            file.commit()
        server.start()
        with Client(server) as eve, Client(server, secret) as ann:
            for _ in range(3):
                assert eve.http.get("/").status_code == 200
                assert eve.http.get("/api/games?which=open").status_code == 200
                assert eve.http.get("/api/lobby").status_code == 200
            mine = ann.http.get("/api/games").json()["games"]
            assert [game["id"] for game in mine] == [good]
            assert f"game {bad}" in eve.http.get("/api/health").json()["problems"]
        assert server.log.count("Traceback") == 1
    finally:
        server.stop()
    database = f"sqlite:///{server.database}"

    def admin(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(KAMON), "admin", "--database", database, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    listed = admin("games")
    assert good in listed.stdout
    assert f"remove it with kamon admin remove-game {bad}" in listed.stderr
    assert "Traceback" not in admin("close", bad).stderr
    assert admin("remove-game", bad).returncode == 0
    assert bad not in admin("games").stderr
    assert admin("remove-game", bad).returncode != 0


def test_a_text_that_is_not_utf8_closes_the_socket_without_a_traceback(server: Server) -> None:
    with Client(server) as ann:
        page = ann.socket()
        page.socket.sendall(Frame(Opcode.TEXT, b"\xff\xfe").serialize(mask=True))
        with contextlib.suppress(Exception):
            page.recv(timeout=PATIENCE)
        until(lambda: page.close_code is not None, "the end of the socket")
        page.close()
    assert "Traceback" not in server.log


def test_after_a_crash_the_computer_goes_on_by_itself(tmp_path: Path) -> None:
    """Nobody opens the page: the computer must not lose on time."""
    server = Server(tmp_path, "--trusted-proxy", "127.0.0.1", "--moment", "3")
    server.start()
    try:
        with Client(server) as ann:
            game = ann.new(level=1, side="black", control="600+0")
            ann.move(game)
            # It is the computer's turn for three seconds more.
            assert len(ann.view(game)["moves"]) == 1
        server.stop(signal.SIGKILL)
        server.start()

        def moves() -> int:
            with contextlib.closing(sqlite3.connect(server.database)) as file:
                query = "SELECT count(*) FROM events WHERE game = ? AND kind = 'moved'"
                return int(file.execute(query, (game,)).fetchone()[0])

        until(lambda: moves() == 2, "a move of the computer")
    finally:
        server.stop()


def test_a_server_stops_in_time_although_somebody_listens(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    with Client(server) as ann, ann.socket() as page:
        game = ann.new(against="self")
        assert ask(page, type="watch", game=game)["type"] == "room"
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < PATIENCE / 2
