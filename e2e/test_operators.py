"""What the host of a server sees of it."""

import json
import re
import socket
from pathlib import Path

import httpx

from web_server import TLS, Client, Server, serving, until


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_server_is_ready_when_the_database_and_the_engine_answer(ann: Client) -> None:
    until(lambda: ann.http.get("/api/ready").status_code == 200, "the engine")
    assert ann.http.get("/api/ready").json() == {"ready": True, "database": True, "engine": True}


def test_prometheus_finds_the_numbers_on_a_port_of_their_own(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, "--metrics-port", str(port)) as server, Client(server) as ann:
        game = ann.new(against="self")
        # A second time on the same cell, which is illegal on every board.
        ann.ask(game, "move", cell=ann.move(game))
        with ann.socket():
            shown = httpx.get(f"http://127.0.0.1:{port}/metrics", verify=TLS).text
        assert 'kamon_events_total{kind="moved"} 1.0' in shown
        assert 'kamon_refused_total{code="illegal-move"} 1.0' in shown
        assert "kamon_sockets 1.0" in shown
        assert "kamon_rooms_in_memory 1.0" in shown
        assert "kamon_command_seconds_count 2.0" in shown
        assert "kamon_event_loop_lag_seconds" in shown
        assert game not in shown
        # Not on the port of the page.
        assert ann.http.get("/metrics").status_code == 404


def refusals(server: Server) -> list[dict[str, str]]:
    lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
    return [line for line in lines if line["logger"] == "kamon.security"]


def test_a_line_of_the_log_says_in_which_zone_its_time_is(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-level", "info") as server:
        httpx.get(f"{server.address}/api/games", headers={"Authorization": "Bearer x"}, verify=TLS)
        until(lambda: "bad-secret" in server.log, "the line in the log")
        (line,) = [each for each in server.log.splitlines() if "bad-secret" in each]
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d INFO ", line)


def test_a_server_for_the_network_says_what_it_is_for(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as server:  # noqa: S104 - that is the point
        assert "put nginx in front of it" in server.log
    (tmp_path / "log").unlink()
    with serving(tmp_path, "--moment", "0") as server:
        assert "nginx" not in server.log


def test_attempts_that_are_refused_are_logged_without_names(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-format", "json", "--log-level", "info") as server:
        secret = "b" * 65
        answer = httpx.post(
            f"{server.address}/api/games",
            json={"name": "Mallory"},
            headers={"Authorization": f"Bearer {secret}"},
            verify=TLS,
        )
        assert answer.status_code == 401
        until(lambda: bool(refusals(server)), "the line in the log")
        (line,) = refusals(server)
        assert line["message"] == "refused bad-secret at /api/games"
        assert line["request"] == answer.headers["X-Request-Id"]
        assert secret not in server.log
        assert "Mallory" not in server.log
        assert "127.0.0.1" not in server.log
