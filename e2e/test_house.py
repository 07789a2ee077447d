"""What a review and an attack once found wrong with the server, each with its test."""

import contextlib
import json
import re
import signal
import socket
import sqlite3
import stat
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kamon import Layout, format_layout
from kamon.i18n import LANGUAGES, translate
from kamon.web.errors import ERRORS
from web_server import CHAIN, CHAIN_SEED, KAMON, PATIENCE, TLS, Client, Server, serving, until

LAYOUT = format_layout(Layout.shuffled(int(CHAIN_SEED)))


@pytest.fixture
def browser(server: Server) -> Iterator[httpx.Client]:
    """Somebody with a cookie and our own page's origin."""
    headers = {"Origin": server.address}
    with httpx.Client(base_url=server.address, verify=TLS, headers=headers) as client:
        client.get("/")
        yield client


def study(title: str = "Mine", **rest: object) -> dict[str, object]:
    return {"start": LAYOUT, "title": title, "children": [{"move": CHAIN[0]}], **rest}


# --- Speed ----------------------------------------------------------------------------------


def test_a_small_answer_is_sent_at_once(server: Server) -> None:
    """Small packets once waited for the other side's acknowledgement: about 45 ms each (S1)."""
    times = []
    with httpx.Client(base_url=server.address, verify=TLS) as http:
        for _ in range(20):
            started = time.perf_counter()
            http.get("/api/health")
            times.append(time.perf_counter() - started)
    assert statistics.median(times) < 0.03


# --- One server a database ------------------------------------------------------------------


def test_a_second_server_on_one_file_is_refused_and_told_why(own_server: Server) -> None:
    database = f"sqlite:///{own_server.database}"
    second = subprocess.run(
        [KAMON, "serve", "--port", "0", "--database", database],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert second.returncode == 2
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", second.stderr).split())
    assert "another server is using" in said
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize("url", ["kamon.sqlite", "nonsense://x", "sqlite:////no/such/place/x"])
def test_a_database_that_cannot_be_opened_is_a_sentence(url: str, tmp_path: Path) -> None:
    if "no/such" in url:
        (tmp_path / "file").write_text("")
        url = f"sqlite:///{tmp_path / 'file' / 'kamon.sqlite'}"
    failed = subprocess.run(
        [KAMON, "serve", "--port", "0", "--database", url],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert failed.returncode == 2
    assert "Traceback" not in failed.stderr
    assert "--database" in failed.stderr


def test_nobody_else_on_the_machine_may_read_the_database(own_server: Server) -> None:
    assert stat.S_IMODE(own_server.database.stat().st_mode) == 0o600


# --- Ending ---------------------------------------------------------------------------------


def test_one_slow_request_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        slow = socket.create_connection(("127.0.0.1", server.port))
        slow.sendall(b"POST /api/games HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(0.2)
        started = time.monotonic()
        server.stop(signal.SIGTERM)
        assert time.monotonic() - started < 5
        slow.close()


# --- Health ---------------------------------------------------------------------------------


def test_health_says_when_a_game_cannot_be_read_and_other_clocks_go_on(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    with contextlib.ExitStack() as stack:
        ann, bob = (stack.enter_context(Client(server)) for _ in range(2))
        games = []
        for _ in range(2):
            game = ann.new(against="friend", side="black", seed=CHAIN_SEED, control="2+0")
            bob.do(game, "join", name="Bob")
            ann.move(game, CHAIN[0])
            bob.move(game, CHAIN[1])
            games.append(game)
        broken, other = games
        server.kill()
        with contextlib.closing(sqlite3.connect(server.database)) as connection, connection:
            connection.execute("UPDATE events SET data = '{' WHERE game = ?", (broken,))
        server.start()
        until(lambda: ann.view(other)["status"] == "over", "the end of the other game")
        answer = ann.http.get("/api/health")
        assert answer.status_code == 503
        assert answer.json()["ok"] is False
        assert f"game {broken}" in answer.json()["problems"]
    server.stop()


# --- Clocks ---------------------------------------------------------------------------------


def test_the_time_that_the_server_was_down_runs_on_nobodys_clock(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    with Client(server) as ann, Client(server) as bob:
        game = ann.new(against="friend", side="black", seed=CHAIN_SEED, control="20+0")
        bob.do(game, "join", name="Bob")
        ann.move(game, CHAIN[0])
        bob.move(game, CHAIN[1])
        server.stop()
        # As if it had been down for an hour.
        with contextlib.closing(sqlite3.connect(server.database)) as connection, connection:
            hour = 3_600_000
            connection.execute("UPDATE events SET at = at - ?", (hour,))
            connection.execute(
                "UPDATE games SET updated = updated - ?, flag = flag - ?", (hour, hour)
            )
            connection.execute("UPDATE server SET value = value - ? WHERE name = 'alive'", (hour,))
        server.start()
        until(lambda: ann.events(game)[-1]["kind"] == "resumed", "the correction")
        view = ann.view(game)
        assert view["status"] == "playing"
        assert view["clock"]["black"] > 10_000
    server.stop()


# --- Secrets --------------------------------------------------------------------------------


def test_a_secret_that_somebody_else_made_up_is_not_taken(server: Server) -> None:
    """Whoever can set a cookie must not be able to choose the secret (fixation)."""
    made_up = "a" * 43
    answer = httpx.get(server.address, cookies={"kamon": made_up}, verify=TLS)
    assert made_up not in answer.headers["Set-Cookie"]
    headers = {"Authorization": f"Bearer {made_up}"}
    assert httpx.post(f"{server.address}/api/games", json={}, headers=headers).status_code == 401


def test_whoever_wants_to_be_forgotten_has_no_seats_any_more(browser: httpx.Client) -> None:
    game = browser.post("/api/games", json={"against": "friend", "side": "black"}).json()["id"]
    kept = browser.post("/api/studies", json=study()).json()["id"]
    old = dict(browser.cookies)
    assert browser.delete("/api/identity").status_code == 204
    assert browser.cookies["kamon"] != old["kamon"]
    for cookies in (dict(browser.cookies), old):
        browser.cookies.clear()
        browser.cookies.update(cookies)
        assert browser.get(f"/api/games/{game}").json()["view"]["you"] == []
        assert browser.get(f"/api/studies/{kept}").json()["mine"] is False
        assert browser.get("/api/games").json()["games"] == []


def test_a_seat_can_be_taken_back_from_other_devices(ann: Client, bob: Client) -> None:
    game = ann.new(against="friend", side="black")
    token = ann.http.post(f"/api/games/{game}/handover").json()["address"].partition("#")[2]
    assert bob.http.post("/api/handover", json={"token": token}).status_code == 200
    assert bob.view(game)["you"] == ["black"]
    unused = ann.http.post(f"/api/games/{game}/handover").json()["address"].partition("#")[2]
    assert ann.http.delete(f"/api/games/{game}/handover").status_code == 204
    assert bob.view(game)["you"] == []
    assert ann.view(game)["you"] == ["black"]
    assert bob.http.post("/api/handover", json={"token": unused}).status_code == 409


def test_nothing_secret_is_kept_by_caches(ann: Client, server: Server) -> None:
    game = ann.new(against="friend")
    for method, path in (
        ("POST", "/api/identity"),
        ("POST", f"/api/games/{game}/handover"),
        ("GET", f"/api/games/{game}"),
        ("GET", "/api/games"),
        ("GET", f"/game/{game}"),
    ):
        assert ann.http.request(method, path).headers["Cache-Control"] == "no-store"
    assert server.address


def test_another_sites_page_cannot_spend_a_visitors_budget(server: Server) -> None:
    evil = {"Origin": "https://evil.example"}
    answer = httpx.post(f"{server.address}/api/identity", headers=evil, verify=TLS)
    assert answer.status_code == 403


def test_no_answer_repeats_a_forged_host(server: Server) -> None:
    for path in ("/games/", "/api/games/", "/learn/", "//evil.example/", "/static"):
        answer = httpx.get(server.address + path, headers={"Host": "evil.example"}, verify=TLS)
        assert "evil.example" not in answer.headers.get("Location", "")


def test_what_is_no_http_costs_one_line_of_log(own_server: Server) -> None:
    before = len(own_server.log)
    with socket.create_connection(("127.0.0.1", own_server.port)) as stranger:
        stranger.sendall(b"\xff\r\n\r\n")
        stranger.recv(1000)
    time.sleep(0.1)
    assert len(own_server.log) - before < 200


# --- Studies --------------------------------------------------------------------------------


def test_a_study_can_be_deleted_by_its_owner_alone(ann: Client, bob: Client) -> None:
    name = ann.http.post("/api/studies", json=study()).json()["id"]
    assert bob.http.delete(f"/api/studies/{name}").json()["code"] == "not-your-study"
    assert ann.http.delete(f"/api/studies/{name}").status_code == 204
    assert ann.http.get(f"/api/studies/{name}").status_code == 404
    assert ann.http.delete(f"/api/studies/{name}").json()["code"] == "no-such-study"


def test_of_two_windows_the_second_is_told_that_the_study_has_changed(ann: Client) -> None:
    made = ann.http.post("/api/studies", json=study()).json()
    path = f"/api/studies/{made['id']}"
    first = ann.http.post(path, json=study("First", seen=made["updated"])).json()
    late = ann.http.post(path, json=study("Second", seen=made["updated"]))
    assert (late.status_code, late.json()["code"]) == (409, "study-changed")
    assert ann.http.get(path).json()["title"] == "First"
    assert ann.http.post(path, json=study("Again", seen=first["updated"])).status_code == 200


def test_one_address_cannot_fill_the_disk_with_studies(own_server: Server) -> None:
    heavy = study(comment="x" * 59_000)
    with Client(own_server) as ann:
        codes = [ann.http.post("/api/studies", json=heavy).status_code for _ in range(50)]
    assert codes[0] == 201
    assert 429 in codes
    assert codes.count(201) * 59_000 < 3_000_000


def test_a_long_text_costs_more_of_the_budget_than_a_short_one(own_server: Server) -> None:
    text = f'[Layout "{LAYOUT}"]\n\n{{' + "x" * 58_000 + "} *"
    with Client(own_server) as ann:
        codes = [
            ann.http.post("/api/studies/read", json={"text": text}).status_code for _ in range(20)
        ]
    assert codes[0] == 200
    assert 429 in codes


# --- Errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_page_that_fails_says_so_in_the_visitors_language(
    own_server: Server, language: str
) -> None:
    with contextlib.closing(sqlite3.connect(own_server.database)) as connection, connection:
        connection.execute("ALTER TABLE studies RENAME TO lost")
    headers = {"Accept-Language": f"{language}; q=0.9"}
    for path, code in (("/study/000000000000", "storage"), ("/nothing", "not-found")):
        answer = httpx.get(own_server.address + path, headers=headers, verify=TLS)
        assert answer.status_code == ERRORS[code].status
        assert answer.headers["Content-Type"].startswith("text/html")
        assert f'<html lang="{language}"' in answer.text
        assert translate(language, ERRORS[code].sentence) in answer.text
    assert httpx.post(own_server.address + "/", verify=TLS).status_code == 405


def test_what_is_wrong_with_a_board_is_told_by_codes_and_values(ann: Client) -> None:
    layout = LAYOUT.replace("A1", "A2")
    answer = ann.http.post("/api/games", json={"layout": layout}).json()
    assert answer["code"] == "bad-layout"
    assert {(defect["code"], *defect["values"].values()) for defect in answer["defects"]} == {
        ("missing-tokens", "A1"),
        ("doubled-tokens", "A2"),
    }
    read = ann.http.post("/api/studies/read", json={"text": f"{LAYOUT} d4"}).json()
    assert read["code"] == "illegal-move"
    assert read["defects"][0]["values"]["cell"] == "d4"
    assert read["column"] == len(LAYOUT) + 2


def test_a_record_that_is_read_up_to_an_error_tells_it_by_its_code(ann: Client) -> None:
    text = f'[Layout "{LAYOUT}"]\n\n1. {CHAIN[0]} {CHAIN[0]} *'
    read = ann.http.post("/api/studies/read", json={"text": text}).json()
    assert len(read["children"]) == 1
    assert read["problem"]["line"] == 3
    assert read["problem"]["defects"][0]["code"] == "occupied"


# --- Views ----------------------------------------------------------------------------------


def test_a_view_is_never_ahead_of_the_events_sent_with_it(ann: Client, bob: Client) -> None:
    game = ann.new(against="friend", side="black", seed=CHAIN_SEED)
    bob.do(game, "join", name="Bob")
    with ann.socket() as watcher:
        watcher.send(json.dumps({"type": "watch", "game": game, "after": 0}))
        seen = 0
        for at, cell in enumerate(CHAIN[:-1]):
            (ann if at % 2 == 0 else bob).move(game, cell)
        while seen < len(CHAIN) + 1:
            message = json.loads(watcher.recv(timeout=PATIENCE))
            if message["type"] == "room":
                numbers = [event["number"] for event in message["events"]]
                assert numbers == list(range(seen + 1, message["view"]["number"] + 1))
                seen = message["view"]["number"]


def test_the_view_says_what_a_visitor_may_do(ann: Client, bob: Client, eve: Client) -> None:
    game = ann.new(against="friend", side="black", seed=CHAIN_SEED, control="300+5")
    assert ann.view(game)["can"] == ["abort"]
    assert eve.view(game)["can"] == ["join"]
    bob.do(game, "join", name="Bob")
    assert ann.view(game)["can"] == ["move", "resign", "abort", "draw"]
    assert bob.view(game)["can"] == ["resign", "abort", "draw"]
    assert eve.view(game)["can"] == []
    ann.move(game, CHAIN[0])
    bob.move(game, CHAIN[1])
    assert ann.view(game)["can"] == ["move", "resign", "draw", "takeback"]
    # Bob is not connected: in two minutes Ann may claim the game.
    assert 110_000 < ann.view(game)["claim"] <= 120_000
    ann.do(game, "resign")
    assert ann.view(game)["can"] == ["rematch"]
