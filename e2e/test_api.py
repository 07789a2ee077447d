"""The server over HTTP: what it does, and how it says no."""

import asyncio
import contextlib
import json
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy.exc import OperationalError
from starlette.types import Receive, Scope, Send
from websockets.exceptions import ConnectionClosed

from kamon import Layout, __version__, format_layout, parse_record
from kamon.geometry import CELL_NAMES
from kamon.position import Side
from kamon.web import identity
from kamon.web.app import create_app
from kamon.web.database import Database
from kamon.web.errors import ApiError
from kamon.web.games import store
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import CLIENT_COMMANDS, Event, Seat, set_up
from kamon.web.games.store import Change
from kamon.web.pages.assets import stamped
from kamon.web.schemas import ERROR_ANSWERS, ErrorAnswer
from kamon.web.security import BODY_LIMIT, HEADERS
from kamon.web.services import Services
from kamon.web.settings import Settings
from web_server import (
    ADDRESSES,
    CHAIN,
    CHAIN_SEED,
    PATIENCE,
    TLS,
    Client,
    Server,
    living,
    serving,
    until,
)

NO_GAME = "0" * 12
LAYOUT = format_layout(Layout.shuffled(7))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("api")) as running:
        yield running


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """Check an error, and tell its sentence."""
    assert answer.status_code == status, answer.text
    said = answer.json()
    assert set(said) <= set(ErrorAnswer.model_fields)
    assert said["code"] == code
    return str(said["message"])


def table_for_two(ann: Client, bob: Client, **wishes: object) -> str:
    game = ann.new(**{"against": "friend", "side": "black", "seed": CHAIN_SEED, **wishes})
    bob.do(game, "join", name="Bob")
    return game


def mine(client: Client, **query: int | str) -> list[str]:
    answer = client.http.get("/api/games", params=query)
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["games"]]


# --- The server itself ----------------------------------------------------------------------


def test_the_server_is_well(ann: Client) -> None:
    answer = ann.http.get("/api/health").json()
    assert isinstance(answer.pop("compiling"), bool)
    assert answer == {"ok": True, "version": __version__, "thinking": 0, "problems": {}}
    until(lambda: not ann.http.get("/api/health").json()["compiling"], "the engine")


def test_a_program_gets_a_secret_of_256_bits(ann: Client) -> None:
    answer = ann.http.post("/api/identity")
    assert answer.status_code == 201
    assert re.fullmatch(r"[A-Za-z0-9_-]{65}", answer.json()["secret"])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/games", 200),
        ("GET", "/handover", 200),
        ("GET", f"{stamped()}/words/de.js", 200),
        ("GET", f"{stamped()}/artwork.js", 200),
        ("GET", f"{stamped()}/sentences.js", 200),
        ("GET", f"{stamped()}/home.css", 200),
        ("GET", "/manifest.webmanifest", 200),
        ("GET", "/static/js/game.js", 200),
        ("GET", "/offline", 200),
        ("GET", "/service-worker.js", 200),
        ("GET", "/api/lobby", 200),
        ("GET", "/api/health", 200),
        ("GET", "/api/openapi.json", 200),
        ("GET", "/api/games", 200),
        ("POST", "/api/identity", 201),
        ("POST", "/api/games", 422),
        ("GET", "/api/nothing", 404),
        ("GET", "/nothing", 404),
        ("GET", "/static/nothing", 404),
        ("GET", f"/api/games/{NO_GAME}", 404),
        ("GET", f"/game/{NO_GAME}", 404),
        ("PUT", "/api/games", 405),
    ],
)
def test_every_answer_tells_the_browser_what_our_pages_may_do(
    ann: Client, method: str, path: str, status: int
) -> None:
    answer = ann.http.request(method, path)
    assert answer.status_code == status
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in answer.headers


def test_what_a_page_is_made_of_is_kept_for_ever_under_a_name_of_its_own(ann: Client) -> None:
    folder = stamped()
    page = ann.http.get("/").text
    assert f'src="{folder}/js/home.js"' in page
    for path in ("/js/home.js", "/artwork.js", "/words/de.js", "/home.css"):
        assert "immutable" in ann.http.get(folder + path).headers["Cache-Control"]
    for path in ("/static/js/home.js", f"{folder}/nothing.js"):
        assert ann.http.get(path).headers["Cache-Control"] == "no-cache"
    refused(ann.http.get("/static/000000000000/artwork.js"), 404, "not-found")


def test_a_path_that_is_not_there_and_a_method_that_is_not_have_a_code(ann: Client) -> None:
    refused(ann.http.get("/api/nothing"), 404, "not-found")
    refused(ann.http.get("/static/nothing.js"), 404, "not-found")
    answer = ann.http.put("/api/games")
    refused(answer, 405, "bad-method")
    assert set(answer.headers["Allow"].split(", ")) <= {"GET", "HEAD", "POST"}


def test_the_description_names_every_operation(ann: Client) -> None:
    paths = ann.http.get("/api/openapi.json").json()["paths"]
    assert {(method, path) for path, methods in paths.items() for method in methods} == {
        ("get", "/api/health"),
        ("get", "/api/ready"),
        ("get", "/api/lobby"),
        ("post", "/api/identity"),
        ("delete", "/api/identity"),
        ("get", "/api/games"),
        ("post", "/api/games"),
        ("get", "/api/games/{game}"),
        ("post", "/api/games/{game}/commands"),
        ("get", "/api/games/{game}/positions/{ply}"),
        ("get", "/api/games/{game}/record"),
        ("get", "/api/games/{game}/picture.svg"),
        ("get", "/api/games/{game}/invitation.svg"),
        ("post", "/api/games/{game}/handover"),
        ("delete", "/api/games/{game}/handover"),
        ("post", "/api/handover"),
        ("get", "/api/board"),
        ("post", "/api/studies/read"),
        ("post", "/api/studies/record"),
        ("get", "/api/studies"),
        ("post", "/api/studies"),
        ("get", "/api/studies/{name}"),
        ("post", "/api/studies/{name}"),
        ("delete", "/api/studies/{name}"),
        ("get", "/api/studies/{name}/record"),
        ("get", "/api/puzzles/next"),
        ("get", "/api/puzzles/me"),
        ("get", "/api/puzzles/runs"),
        ("post", "/api/puzzles/runs"),
        ("get", "/api/puzzles/days"),
        ("get", "/api/puzzles/days/{name}"),
        ("get", "/api/puzzles/missed"),
        ("post", "/api/puzzles/missed/{game}"),
        ("get", "/api/puzzles/{name}"),
        ("post", "/api/puzzles/{name}/moves"),
        ("post", "/api/puzzles/{name}/hints"),
        ("get", "/api/picture.svg"),
        ("get", "/api/picture.png"),
        ("get", "/api/film.gif"),
        ("get", "/api/film.webp"),
        ("get", "/api/card.png"),
        ("get", "/api/day"),
        ("get", "/api/fair-boards"),
        ("get", "/api/lessons/{number}"),
    }


# --- Setting a game up ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("against", "seats", "status"),
    [
        ("computer", ("person", "computer"), "playing"),
        ("friend", ("person", "open"), "waiting"),
        ("anyone", ("person", "open"), "waiting"),
        ("self", ("person", "person"), "playing"),
    ],
)
def test_a_game_is_set_up_as_wished(
    ann: Client, against: str, seats: tuple[str, str], status: str
) -> None:
    wishes = {"against": against, "side": "black", "level": 1, "name": " Ann ", "control": "300+5"}
    answer = ann.http.post("/api/games", json={**wishes, "seed": "7"})
    assert answer.status_code == 201
    view = answer.json()
    assert (view["seats"]["black"]["kind"], view["seats"]["white"]["kind"]) == seats
    assert view["seats"]["black"]["name"] == "Ann"
    assert view["you"] == (["black", "white"] if against == "self" else ["black"])
    assert (view["status"], view["number"], view["moves"]) == (status, 1, [])
    assert view["shared"] is (against == "self")
    assert view["listed"] is (against == "anyone")
    assert view["layout"] == LAYOUT
    assert view["clock"] == {
        "control": "300+5",
        "black": 300_000,
        "white": 300_000,
        "running": None,
    }
    assert ann.view(view["id"])["layout"] == LAYOUT


def test_without_wishes_there_is_a_game_against_the_computer_on_any_board(ann: Client) -> None:
    games = [ann.view(ann.new()) for _ in range(8)]
    assert {game["seats"][game["you"][0]]["kind"] for game in games} == {"person"}
    assert {tuple(game["you"]) for game in games} <= {("black",), ("white",)}
    assert len({game["layout"] for game in games}) == 8


@pytest.mark.parametrize("seed", [0, 1, 2**53 + 1, 2**64 - 1])
def test_a_seed_sets_up_its_board(ann: Client, seed: int) -> None:
    game = ann.new(against="self", seed=str(seed))
    assert ann.view(game)["layout"] == format_layout(Layout.shuffled(seed))


@pytest.mark.parametrize("seed", [str(2**64), "9" * 20])
def test_a_seed_beyond_the_last_is_refused(ann: Client, seed: str) -> None:
    message = refused(ann.http.post("/api/games", json={"seed": seed}), 422, "bad-seed")
    assert "from 0 to 18446744073709551615" in message


def test_a_board_can_be_pasted(ann: Client) -> None:
    game = ann.new(against="self", layout=f"  {LAYOUT}\n")
    assert ann.view(game)["layout"] == LAYOUT


def test_a_pasted_board_with_defects_is_told_all_of_them(ann: Client) -> None:
    bad = LAYOUT.replace("B4", "B1", 1).replace("--", "Z9").removesuffix("B6")
    message = refused(ann.http.post("/api/games", json={"layout": bad}), 422, "bad-layout")
    for defect in (
        "expected 4 tokens in row 7, found 3",
        "these are not tokens: 'Z9'",
        "missing: B4 B6 --",
        "once: B1",
    ):
        assert defect in message


@pytest.mark.parametrize("layout", ["", "/", "A1", "A1/" * 60, "\x00", "é" * 37])
def test_what_is_no_board_is_refused(ann: Client, layout: str) -> None:
    refused(ann.http.post("/api/games", json={"layout": layout}), 422, "bad-layout")


@pytest.mark.parametrize("control", ["-", "60+0", "0+1", "9999999+999999", "1/1", "1/99999999"])
def test_every_control_that_a_record_can_have_can_be_played(ann: Client, control: str) -> None:
    game = ann.new(against="self", control=control)
    ann.move(game)
    ann.move(game)
    ann.move(game)
    assert ann.view(game)["clock"]["control"] == control
    record = parse_record(ann.http.get(f"/api/games/{game}/record").text)
    assert record.tags["TimeControl"] == control
    assert len(record.moves) == 3
    assert all((node.clock is not None) is (control != "-") for node in record.main_line())


BAD_GAMES: list[object] = [
    {"level": False},
    {"level": True},
    {"level": "1"},
    {"level": 1.5},
    {"level": 0},
    {"level": 13},
    {"level": None},
    {"level": 10**400},
    {"against": "nobody"},
    {"against": 1},
    {"side": "BLACK"},
    {"side": None},
    {"control": "300"},
    {"control": "1/0"},
    {"control": 300},
    {"control": "1" * 21},
    {"seed": 7},
    {"seed": "-1"},
    {"seed": "1e3"},
    {"seed": ""},
    {"seed": "1" * 21},
    {"seed": "7", "layout": LAYOUT},
    {"layout": "A" * 201},
    {"layout": 5},
    {"name": "a" * 41},
    {"name": None},
    {"name": ["Ann"]},
    {"unknown": 1},
    [],
    [{}],
    "game",
    3,
    None,
    False,
]


@pytest.mark.parametrize("body", BAD_GAMES, ids=lambda body: json.dumps(body)[:40])
def test_a_game_that_is_not_described_right_is_refused(ann: Client, body: object) -> None:
    content = json.dumps(body)
    headers = {"Content-Type": "application/json"}
    answer = ann.http.post("/api/games", content=content, headers=headers)
    refused(answer, 422, "bad-message")
    assert mine(ann) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"{'level': 1}",
        b'{"level": 1}}',
        b'{"level": NaN}',
        b'{"name": "\\ud800"}',
        b'{"name": "\xff"}',
        b"\xef\xbb\xbf{",
        b"\x00",
        b"[" * 8_000,
        b'{"level":' * 1_000,
        b"9" * 8_000,
    ],
    ids=lambda content: repr(content[:20]),
)
def test_what_is_no_json_is_refused(ann: Client, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = ann.http.post("/api/games", content=content, headers=headers)
    refused(answer, 422, "bad-message")


def test_a_body_of_another_type_is_refused(ann: Client) -> None:
    refused(ann.http.post("/api/games", data={"level": "1"}), 422, "bad-message")
    refused(ann.http.post("/api/games", files={"level": b"1"}), 422, "bad-message")


@pytest.mark.parametrize("path", ["/api/games", f"/api/games/{NO_GAME}/commands", "/api/handover"])
def test_a_body_that_is_too_large_is_refused(ann: Client, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    for content in (b" " * (BODY_LIMIT + 1), iter([b"{}"])):
        refused(ann.http.post(path, content=content, headers=headers), 413, "too-large")
    fits = ann.http.post(path, content=b"{}".ljust(BODY_LIMIT), headers=headers)
    assert fits.status_code != 413


# --- Who asks -------------------------------------------------------------------------------


@contextlib.contextmanager
def browser(server: Server) -> Iterator[httpx.Client]:
    """Come as a browser does: with a cookie, after the first page."""
    with httpx.Client(base_url=server.address, verify=TLS) as client:
        assert client.get("/").status_code == 200
        assert client.cookies[identity.COOKIE]
        yield client


def test_the_first_page_gives_a_secret_that_no_script_can_read(server: Server) -> None:
    answer = httpx.get(server.address)
    found = answer.headers["Set-Cookie"]
    assert re.match(r"kamon=[A-Za-z0-9_-]{65};", found)
    assert "HttpOnly" in found
    assert "SameSite=lax" in found
    assert "Secure" not in found
    assert answer.headers["Cache-Control"] == "no-store"
    secret = found.partition("=")[2].partition(";")[0]
    # The same again on every visit: so it lasts as long as somebody comes back.
    again = httpx.get(server.address, cookies={"kamon": secret}).headers["Set-Cookie"]
    assert again.startswith(f"kamon={secret};")
    assert "Max-Age=34560000" in again


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(server: Server) -> None:
    answer = httpx.get(server.address, headers={"X-Forwarded-Proto": "https"})
    assert answer.headers["Set-Cookie"].startswith("__Host-kamon=")
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "Path=/" in answer.headers["Set-Cookie"]


def test_a_cookie_plays_from_our_own_page_alone(server: Server) -> None:
    with browser(server) as client:
        for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
            answer = client.post("/api/games", json={}, headers=origin)
            refused(answer, 403, "bad-origin")
        ours = {"Origin": server.address}
        game = client.post("/api/games", json={"against": "self"}, headers=ours).json()
        command = {"do": "move", "id": "a-command", "data": {"cell": game["board"]["legal"][0]}}
        path = f"/api/games/{game['id']}"
        refused(client.post(f"{path}/commands", json=command), 403, "bad-origin")
        refused(client.post(f"{path}/handover"), 403, "bad-origin")
        refused(client.post("/api/handover", json={"token": "a" * 43}), 403, "bad-origin")
        assert client.post(f"{path}/commands", json=command, headers=ours).status_code == 200
        # To look needs no origin, and the seat is known by the cookie.
        assert client.get(path).json()["view"]["you"] == ["black", "white"]
        assert [each["id"] for each in client.get("/api/games").json()["games"]] == [game["id"]]


@pytest.mark.parametrize("header", ["Bearer x", "Bearer " + "a" * 44])
def test_a_malformed_secret_is_refused(server: Server, header: str) -> None:
    for path in ("/api/games", f"/api/games/{NO_GAME}"):
        answer = httpx.get(server.address + path, headers={"Authorization": header})
        refused(answer, 401, "bad-secret")


def test_without_a_secret_one_may_look_and_nothing_else(server: Server, ann: Client) -> None:
    game = ann.new(against="anyone")
    with httpx.Client(
        base_url=server.address, headers={"Origin": server.address}, verify=TLS
    ) as nobody:
        assert nobody.get(f"/api/games/{game}").json()["view"]["you"] == []
        assert nobody.get("/api/games").json() == {"games": []}
        refused(nobody.post("/api/games", json={}), 401, "no-secret")
        join = {"do": "join", "id": "a-command"}
        refused(nobody.post(f"/api/games/{game}/commands", json=join), 401, "no-secret")
        refused(nobody.post(f"/api/games/{game}/handover"), 403, "not-your-seat")
        refused(nobody.post("/api/handover", json={"token": "a" * 43}), 401, "no-secret")


def test_a_stranger_cannot_do_anything_in_a_game(ann: Client, bob: Client, eve: Client) -> None:
    game = table_for_two(ann, bob)
    ann.move(game)
    for do in sorted(CLIENT_COMMANDS - {"join"}):
        assert eve.refused(game, do, cell=CHAIN[1], what="draw") == "not-your-seat"
    assert eve.refused(game, "join") == "seat-taken"
    refused(eve.http.post(f"/api/games/{game}/handover"), 403, "not-your-seat")
    assert eve.view(game)["you"] == []


def test_no_secret_is_written_down(server: Server, ann: Client) -> None:
    game = ann.new(against="friend")
    link = ann.http.post(f"/api/games/{game}/handover").json()["address"]
    token = link.partition("#")[2]
    files = b"".join(path.read_bytes() for path in server.folder.iterdir())
    assert identity.hashed(ann.secret).encode() in files
    assert identity.hashed(token).encode() in files
    assert ann.secret.encode() not in files
    assert token.encode() not in files
    assert ann.secret not in ann.http.get(f"/api/games/{game}").text


# --- Playing --------------------------------------------------------------------------------


def test_two_programs_play_a_whole_game(ann: Client, bob: Client, eve: Client) -> None:
    game = table_for_two(ann, bob, name="Ann")
    assert [each["kind"] for each in eve.events(game)] == ["created", "joined"]
    for ply, cell in enumerate(CHAIN):
        player, other = (ann, bob) if ply % 2 == 0 else (bob, ann)
        assert cell in player.view(game)["board"]["legal"]
        assert other.refused(game, "move", cell=cell) == "not-your-turn"
        player.move(game, cell)
    view = eve.view(game)
    assert view["status"] == "over"
    assert view["result"] == {"winner": "black", "by": "connection"}
    assert view["moves"] == list(CHAIN)
    assert view["board"]["legal"] == []
    assert view["board"]["outcome"]["links"]
    assert bob.refused(game, "move", cell="a1") == "game-over"


def test_a_move_sent_twice_is_one_move(ann: Client, bob: Client) -> None:
    game = table_for_two(ann, bob)
    first = ann.do(game, "move", cell=CHAIN[0], id="my-first-move")
    assert [each["kind"] for each in first["events"]] == ["moved"]
    again = ann.do(game, "move", cell=CHAIN[0], id="my-first-move")
    assert again == {"number": first["number"], "events": []}
    assert ann.view(game)["moves"] == [CHAIN[0]]


def test_a_move_sent_many_times_at_once_is_one_move(server: Server, ann: Client) -> None:
    game = ann.new(against="self")
    cell = ann.view(game)["board"]["legal"][0]
    with ThreadPoolExecutor(6) as pool, contextlib.ExitStack() as stack:
        twins = [stack.enter_context(Client(server, ann.secret)) for _ in range(6)]
        answers = list(
            pool.map(lambda twin: twin.do(game, "move", cell=cell, id="one-for-all"), twins)
        )
    assert sum(len(answer["events"]) for answer in answers) == 1
    assert len(ann.events(game)) == 2


def test_a_move_for_an_older_board_is_refused(ann: Client, bob: Client) -> None:
    game = table_for_two(ann, bob)
    ann.move(game, CHAIN[0])
    seen = bob.view(game)["number"]
    bob.move(game, CHAIN[1])
    assert ann.refused(game, "move", cell=CHAIN[2], after=seen) == "stale"
    assert ann.refused(game, "move", cell=CHAIN[0]) == "illegal-move"
    ann.do(game, "move", cell=CHAIN[2], after=seen + 1)


BAD_COMMANDS: list[dict[str, object]] = [
    {},
    {"do": "move"},
    {"do": "move", "id": None},
    {"do": "move", "id": "short"},
    {"do": "move", "id": "a" * 65},
    {"do": "move", "id": "with space"},
    {"do": "move", "id": "computer:1"},
    {"do": "move", "id": 12345678},
    {"do": "move", "id": "a-command", "after": False},
    {"do": "move", "id": "a-command", "after": "1"},
    {"do": "move", "id": "a-command", "after": -1},
    {"do": "move", "id": "a-command", "after": 1.5},
    {"do": "move", "id": "a-command", "after": 10**20},
    {"do": "move", "id": "a-command", "data": []},
    {"do": "move", "id": "a-command", "data": {"cell": 3}},
    {"do": "move", "id": "a-command", "data": {"cell": "a11"}},
    {"do": "move", "id": "a-command", "data": {"cell": "z9"}},
    {"do": "move", "id": "a-command", "data": {}},
    {"do": "move", "id": "a-command", "data": {"cell": "b1", "next_id": "x"}},
    {"do": "flag", "id": "a-command"},
    {"do": "cheat", "id": "a-command"},
    {"do": "offer", "id": "a-command"},
    {"do": "offer", "id": "a-command", "data": {"what": "peace"}},
    {"do": "offer", "id": "a-command", "data": {"what": "rematch", "board": "other"}},
    {"do": "resign", "id": "a-command", "extra": 1},
]


@pytest.mark.parametrize("body", BAD_COMMANDS, ids=lambda body: json.dumps(body)[:60])
def test_a_command_that_is_not_described_right_changes_nothing(
    ann: Client, body: dict[str, object]
) -> None:
    game = ann.new(against="self", seed="7")
    answer = ann.http.post(f"/api/games/{game}/commands", json=body)
    refused(answer, 422, "bad-message")
    assert len(ann.events(game)) == 1


def test_a_game_that_is_not_there_and_a_name_that_is_none(ann: Client) -> None:
    command = {"do": "resign", "id": "a-command"}
    for rest in ("", "/positions/0", "/record", "/picture.svg", "/invitation.svg"):
        refused(ann.http.get(f"/api/games/{NO_GAME}{rest}"), 404, "no-such-game")
        for bad in ("short", "o" * 12, "A" * 12, "0" * 13, "0" * 12 + "%0A", "%00" * 12):
            refused(ann.http.get(f"/api/games/{bad}{rest}"), 422, "bad-message")
    refused(ann.http.post(f"/api/games/{NO_GAME}/commands", json=command), 404, "no-such-game")
    refused(ann.http.post(f"/api/games/{NO_GAME}/handover"), 404, "no-such-game")


def test_the_easiest_computer_answers_and_begins_where_it_is_black(ann: Client) -> None:
    first, second = ann.new(level=1, side="black"), ann.new(level=1, side="white")
    ann.move(first)
    until(lambda: len(ann.view(first)["moves"]) == 2, "the answer of the computer")
    until(lambda: len(ann.view(second)["moves"]) == 1, "the first move of the computer")
    assert ann.view(first)["board"]["turn"] == "black"
    assert set(ann.view(first)["assistance"]) == {"threats", "losing", "winning"}


def test_no_command_of_a_client_can_silence_the_computer(ann: Client) -> None:
    game = ann.new(level=1, side="black")
    # The number of the board that the computer will have to answer is known beforehand.
    ann.ask(game, "offer", what="takeback", id="computer-2")
    ann.do(game, "move", cell=ann.view(game)["board"]["legal"][0], id="computer-2")
    until(lambda: len(ann.view(game)["moves"]) == 2, "the answer of the computer")


def test_offers_are_made_and_answered(ann: Client, bob: Client) -> None:
    game = table_for_two(ann, bob)
    ann.move(game, CHAIN[0])
    ann.do(game, "offer", what="takeback")
    assert bob.view(game)["offers"] == {"takeback": "black"}
    bob.do(game, "accept", what="takeback")
    assert bob.view(game)["moves"] == []
    bob.do(game, "offer", what="draw")
    ann.do(game, "decline", what="draw")
    assert ann.refused(game, "accept", what="draw") == "no-offer"
    bob.do(game, "offer", what="draw")
    ann.do(game, "accept", what="draw")
    assert ann.view(game)["result"] == {"winner": None, "by": "agreement"}


def test_a_game_cannot_be_claimed_from_somebody_who_has_just_gone(ann: Client, bob: Client) -> None:
    game = table_for_two(ann, bob, control="600+0")
    assert ann.refused(game, "claim") == "cannot-claim"
    assert ann.view(game)["absent"]["white"] >= 0


def test_a_clock_runs_on_the_server_and_the_flag_ends_the_game(ann: Client, bob: Client) -> None:
    game = table_for_two(ann, bob, control="1+0")
    ann.move(game, CHAIN[0])
    bob.move(game, CHAIN[1])
    clock = ann.view(game)["clock"]
    assert clock["running"] == "black"
    assert 0 < clock["black"] < 1000 == clock["white"]
    until(lambda: ann.view(game)["status"] == "over", "the flag")
    assert ann.view(game)["result"] == {"winner": "white", "by": "time"}
    assert ann.view(game)["clock"] == {
        "control": "1+0",
        "black": 0,
        "white": 1000,
        "running": None,
    }


# --- Again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("board", ["same", "new"])
def test_a_rematch_swaps_the_sides(ann: Client, bob: Client, board: str) -> None:
    game = table_for_two(ann, bob, name="Ann", control="60+1")
    ann.do(game, "resign")
    ann.do(game, "offer", what="rematch", board=board)
    assert ann.view(game)["next"] is None
    bob.do(game, "accept", what="rematch")
    after = ann.view(game)["next"]
    view = ann.view(after)
    assert view["you"] == ["white"]
    assert bob.view(after)["you"] == ["black"]
    assert (view["seats"]["black"]["name"], view["seats"]["white"]["name"]) == ("Bob", "Ann")
    assert view["clock"]["control"] == "60+1"
    assert (view["layout"] == ann.view(game)["layout"]) is (board == "same")
    assert mine(ann)[:2] == mine(bob)[:2]
    bob.move(after)
    assert ann.refused(game, "offer", what="rematch") == "rematched"


def test_the_computer_and_one_screen_play_again_at_once(ann: Client) -> None:
    for wishes in ({"against": "self"}, {"level": 1, "side": "black"}):
        game = ann.new(**wishes)
        ann.do(game, "abort")
        ann.do(game, "offer", what="rematch")
        after = ann.view(ann.view(game)["next"])
        assert after["shared"] is ("against" in wishes)
        assert after["you"] == (["black", "white"] if "against" in wishes else ["white"])


def test_a_refused_rematch_sets_up_no_game(ann: Client, bob: Client) -> None:
    alone = ann.new(level=1, side="black")
    shared = ann.new(against="self")
    together = table_for_two(ann, bob)
    ann.do(alone, "resign")
    ann.do(shared, "abort")
    ann.do(together, "resign")
    before = sorted(mine(ann))
    assert ann.refused(alone, "accept", what="rematch") == "no-offer"
    assert ann.refused(shared, "accept", what="rematch") == "no-offer"
    ann.do(together, "offer", what="rematch")
    assert ann.refused(together, "accept", what="rematch") == "no-offer"
    assert sorted(mine(ann)) == before


def test_a_rematch_that_is_agreed_many_times_at_once_is_one_game(
    server: Server, ann: Client, bob: Client
) -> None:
    game = table_for_two(ann, bob)
    ann.do(game, "resign")
    ann.do(game, "offer", what="rematch")
    with ThreadPoolExecutor(4) as pool, contextlib.ExitStack() as stack:
        twins = [stack.enter_context(Client(server, bob.secret)) for _ in range(4)]
        answers = list(pool.map(lambda twin: twin.ask(game, "accept", what="rematch"), twins))
    assert min(answer.status_code for answer in answers) == 200
    assert sorted(mine(bob)) == sorted([game, bob.view(game)["next"]])


# --- Looking --------------------------------------------------------------------------------


def test_ones_own_games_are_listed_latest_first_and_page_by_page(ann: Client) -> None:
    games = []
    for _ in range(5):
        games.append(ann.new(against="self"))
        time.sleep(0.002)
    ann.move(games[0])
    expected = [games[0], *reversed(games[1:])]
    assert mine(ann) == expected
    assert mine(ann, limit=2) == expected[:2]
    listed = ann.http.get("/api/games", params={"limit": 2}).json()["games"]
    assert mine(ann, limit=2, before=listed[-1]["updated"]) == expected[2:4]
    assert listed[0]["moves"] == 1
    assert listed[0]["you"] == ["black", "white"]
    assert set(listed[0]["board"]) == {"tokens", "stones", "last"}


def test_open_games_are_listed_until_somebody_comes(ann: Client, bob: Client, eve: Client) -> None:
    game, private = ann.new(against="anyone"), ann.new(against="friend")
    assert game in mine(eve, which="open", limit=100)
    assert private not in mine(eve, which="open", limit=100)
    bob.do(game, "join", name="Bob")
    assert game not in mine(eve, which="open", limit=100)
    assert eve.refused(game, "join") == "seat-taken"
    assert ann.refused(private, "join") == "own-game"


def test_running_and_finished_games_are_listed_apart(ann: Client) -> None:
    running, over = ann.new(against="friend"), ann.new(against="self")
    ann.do(over, "resign")
    assert mine(ann, state="running") == [running]
    assert mine(ann, state="finished") == [over]
    assert set(mine(ann)) == {running, over}


def test_the_lobby_tells_my_running_games_and_what_i_can_join(
    ann: Client, bob: Client, eve: Client
) -> None:
    game, waiting = table_for_two(ann, bob, control="60+0"), bob.new(against="anyone")
    for client in (ann, bob) * 2:
        client.move(game)
    ann.do(ann.new(against="self"), "resign")
    lobby = ann.http.get("/api/lobby").json()
    assert [each["id"] for each in lobby["mine"]] == [game]
    assert waiting in [each["id"] for each in lobby["open"]]
    left = lobby["mine"][0]["left"]
    assert left["running"] == "black"
    assert 0 < left["black"] <= 60_000
    theirs = bob.http.get("/api/lobby").json()
    assert {each["id"] for each in theirs["mine"]} == {game, waiting}
    assert waiting not in [each["id"] for each in theirs["open"]]
    before = theirs["here"]
    # Somebody new is one more.
    assert eve.http.get("/api/lobby").json()["here"] == before + 1
    assert set(theirs) == {"here", "mine", "open"}


@pytest.mark.parametrize(
    "query",
    [
        "which=all",
        "state=over",
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=1.5",
        "before=-1",
        "before=1e99",
    ],
)
def test_a_list_that_is_not_asked_for_right_is_refused(ann: Client, query: str) -> None:
    refused(ann.http.get(f"/api/games?{query}"), 422, "bad-message")


def test_the_board_is_told_as_it_was(ann: Client) -> None:
    game = ann.new(against="self", seed=CHAIN_SEED)
    for cell in CHAIN[:4]:
        ann.move(game, cell)
    for ply in range(5):
        board = ann.http.get(f"/api/games/{game}/positions/{ply}").json()
        stones = {CELL_NAMES[at]: sign for at, sign in enumerate(board["stones"]) if sign != "."}
        assert stones == dict(zip(CHAIN[:ply], "xoxo", strict=False))
        assert board["last"] == (CHAIN[ply - 1] if ply else None)
        assert set(board["replies"]) == set(board["legal"])
    refused(ann.http.get(f"/api/games/{game}/positions/5"), 404, "not-found")
    for bad in ("37", "-1", "x", "1.5"):
        refused(ann.http.get(f"/api/games/{game}/positions/{bad}"), 422, "bad-message")


def test_a_record_is_downloaded_and_can_be_read(ann: Client, bob: Client) -> None:
    name = '<b>"Ann" \\'
    game = table_for_two(ann, bob, name=name, control="300+5")
    for ply, cell in enumerate(CHAIN):
        (bob if ply % 2 else ann).move(game, cell)
    answer = ann.http.get(f"/api/games/{game}/record")
    assert answer.headers["Content-Type"] == "application/vnd.chess-pgn; charset=utf-8"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="kamon-{game}.pgn"'
    record = parse_record(answer.text)
    assert [CELL_NAMES[cell] for cell in record.moves] == list(CHAIN)
    assert record.result is not None
    assert (record.result.winner, record.result.termination) == (Side.BLACK, "connection")
    assert (record.tags["Black"], record.tags["White"]) == (name, "Bob")
    assert all(node.clock is not None for node in record.main_line())


def test_names_are_only_ever_text(ann: Client) -> None:
    name = "</script><script>alert(1)</script>"
    game = ann.new(against="self", name=name)
    assert ann.view(game)["seats"]["black"]["name"] == name
    assert "<script>alert" not in ann.http.get(f"/game/{game}").text
    for path in ("", "/record"):
        answer = ann.http.get(f"/api/games/{game}{path}")
        assert "html" not in answer.headers["Content-Type"]


@pytest.mark.parametrize("query", ["", "?edition=2007", "?theme=dark", "?edition=2020&theme=light"])
def test_a_game_is_drawn(ann: Client, query: str) -> None:
    game = ann.new(against="self")
    answer = ann.http.get(f"/api/games/{game}/picture.svg{query}")
    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    assert answer.text.lstrip().startswith("<svg")
    for bad in ("edition=1999", "theme=pink"):
        path = f"/api/games/{game}/picture.svg?{bad}"
        refused(ann.http.get(path), 422, "bad-message")


def test_a_game_can_be_reached_by_a_qr_code(ann: Client) -> None:
    game = ann.new(against="friend")
    answer = ann.http.get(f"/api/games/{game}/invitation.svg")
    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    assert answer.text.startswith("<svg")


@pytest.mark.parametrize("host", ["a" * 4000, "[", "a b", "é".encode().decode("latin-1"), ":x"])
def test_no_name_that_a_client_gives_the_server_breaks_it(ann: Client, host: str) -> None:
    game = ann.new(against="friend")
    headers = {b"Host": host.encode("latin-1")}
    for path in (f"/api/games/{game}/invitation.svg", "/", f"/game/{game}"):
        raw = httpx.Request("GET", ann.server.address + path, headers=headers)
        assert ann.http.send(raw).status_code < 500


# --- Carrying a seat ------------------------------------------------------------------------


def test_a_seat_is_carried_to_another_device_once(ann: Client, bob: Client, eve: Client) -> None:
    game = table_for_two(ann, bob)
    answer = ann.http.post(f"/api/games/{game}/handover").json()
    assert answer["minutes"] == 15
    assert answer["picture"].startswith("<svg")
    address, _, token = answer["address"].partition("#")
    assert address == f"{ann.server.address}/handover"
    taken = eve.http.post("/api/handover", json={"token": token})
    assert taken.json() == {"game": game}
    assert eve.view(game)["you"] == ["black"]
    assert ann.view(game)["you"] == ["black"]
    eve.move(game, CHAIN[0])
    assert game in mine(eve)
    again = bob.http.post("/api/handover", json={"token": token})
    refused(again, 409, "bad-handover")
    assert bob.view(game)["you"] == ["white"]


@pytest.mark.parametrize("token", ["", "a" * 42, "a" * 44, 7, None, False, "é" * 43])
def test_a_malformed_link_is_refused(ann: Client, token: object) -> None:
    refused(ann.http.post("/api/handover", json={"token": token}), 422, "bad-message")


def test_an_unknown_link_is_refused(ann: Client) -> None:
    refused(ann.http.post("/api/handover", json={"token": "a" * 43}), 409, "bad-handover")


def test_a_game_at_one_screen_stays_there(ann: Client) -> None:
    game = ann.new(against="self")
    refused(ann.http.post(f"/api/games/{game}/handover"), 409, "no-handover")


# --- Budgets --------------------------------------------------------------------------------


def too_many(answer: httpx.Response) -> None:
    refused(answer, 429, "too-many")
    assert int(answer.headers["Retry-After"]) == answer.json()["retry"] >= 1


# --- Inside the same process, where a disk can be made to fail ------------------------------


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@contextlib.asynccontextmanager
async def inside(
    folder: Path, public_url: str | None = None
) -> AsyncIterator[tuple[httpx.AsyncClient, Services]]:
    app = create_app(Settings(f"sqlite:///{folder / 'kamon.sqlite'}", public_url))
    async with app.router.lifespan_context(app) as state:
        assert state is not None
        services: Services = state["services"]

        async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": dict(state)}, receive, send)

        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(
                with_state, raise_app_exceptions=False, client=("10.0.0.1", 1)
            ),
            base_url="http://127.0.0.1:8037",
            headers={"Authorization": f"Bearer {services.secrets.new()}"},
        ) as client:
            yield client, services


@pytest.mark.anyio
async def test_the_home_page_opens_even_if_the_database_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("disk I/O error"))

    async with inside(tmp_path) as (client, services):
        monkeypatch.setattr(services.desk.games, "open_games", fail)
        answer = await client.get("/")
        assert answer.status_code == 200
        assert "Play against the computer" in answer.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("failing", "method", "path", "body"),
    [
        ("commit", "POST", "/api/games", {}),
        ("load", "GET", "/api/games/{other}", None),
        ("load", "GET", "/game/{other}", None),
        ("games_of", "GET", "/api/games", None),
        ("games_of", "GET", "/api/lobby", None),
        ("open_games", "GET", "/api/games?which=open", None),
        ("hand_over", "POST", "/api/games/{game}/handover", None),
        ("take_over", "POST", "/api/handover", {"token": "a" * 43}),
        ("commit", "POST", "/api/games/{game}/commands", {"do": "resign", "id": "a-command"}),
    ],
)
async def test_a_database_that_fails_is_an_answer_and_not_a_crash(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
    method: str,
    path: str,
    body: dict[str, str] | None,
) -> None:
    async with inside(tmp_path) as (client, services):
        wishes = {"level": 1, "side": "black"}
        game = (await client.post("/api/games", json=wishes)).json()["id"]

        def fail(*_: object) -> None:
            raise OperationalError("SELECT", {}, Exception("disk I/O error"))

        if failing == "commit":
            monkeypatch.setattr(services.desk.commits, "commit", fail)
        else:
            owner = services.desk.games if hasattr(services.desk.games, failing) else store
            monkeypatch.setattr(owner, failing, fail)
        where = path.format(game=game, other=NO_GAME)
        answer = await client.request(method, where, json=body)
        if where.startswith("/api"):
            refused(answer, 503, "storage")
        else:
            assert answer.status_code == 503
            assert "The server cannot save anything at the moment." in answer.text
        assert answer.headers["X-Frame-Options"] == "DENY"
        monkeypatch.undo()
        if "POST" in method:
            assert (await client.get("/api/health")).json()["problems"] == {
                "database": "OperationalError"
            }
            await client.post("/api/games", json=wishes)
        assert (await client.get("/api/health")).json()["ok"] is True
        # What the disk refused has left no trace, and may be sent again.
        assert (await client.get(f"/api/games/{game}")).json()["view"]["number"] == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("what", "method", "path"),
    [
        ("games", "POST", "/api/identity"),
        ("games", "POST", "/api/games"),
        ("games", "POST", "/api/games/{game}/handover"),
        ("games", "POST", "/api/handover"),
        ("messages", "POST", "/api/games/{game}/commands"),
        ("thinking", "POST", "/api/games"),
        ("thinking", "POST", "/api/games/{game}/commands"),
        ("requests", "GET", "/api/games"),
        ("requests", "GET", "/api/games/{game}"),
        ("requests", "GET", "/api/games/{game}/positions/0"),
        ("pictures", "GET", "/api/games/{game}/picture.svg"),
        ("pictures", "GET", "/api/games/{game}/invitation.svg"),
    ],
)
async def test_a_spent_budget_is_a_clear_answer_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, method: str, path: str
) -> None:
    async with inside(tmp_path) as (client, services):
        monkeypatch.setattr(services.budgets, "_now", lambda: 1.0)
        view = (await client.post("/api/games", json={"level": 1, "side": "black"})).json()
        bodies: dict[str, dict[str, object]] = {
            "commands": {
                "do": "move",
                "id": "a-command",
                "data": {"cell": view["board"]["legal"][0]},
            },
            "games": {"against": "computer" if what == "thinking" else "self"},
            "handover": {"token": "a" * 43},
        }
        where = path.format(game=view["id"])
        body = bodies.get(path.rpartition("/")[2]) if method == "POST" else None
        with contextlib.suppress(ApiError):
            while True:
                services.budgets.spend(services.secrets.pseudonym("10.0.0.1"), what)
        too_many(await client.request(method, where, json=body))
        table = await services.desk.table(view["id"])
        assert table.room.number == 1
        assert len(services.desk.tables) == 1
        # Others may.
        services.budgets.spend(services.secrets.pseudonym("10.0.0.2"), what)


@pytest.mark.anyio
async def test_whoever_looks_at_a_game_reminds_the_computer_that_it_is_its_turn(
    tmp_path: Path,
) -> None:
    # As a server leaves it that is killed while the computer thinks.
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.migrate()
    seats = {Side.BLACK: Seat("person"), Side.WHITE: Seat("computer", "", 1)}
    events = [
        set_up(Layout.shuffled(int(CHAIN_SEED)), Control(), seats, 1),
        Event(2, 2, "moved", {"cell": CHAIN[0]}),
    ]
    game = "0123456789ab"
    held = [(Side.BLACK, "a" * 64)]
    change = Change(game, events, "playing", listed=False, flag=None, holders=held)
    with database.writing() as connection:
        store.commit(connection, [change])
    database.close()
    async with inside(tmp_path) as (client, _), asyncio.timeout(PATIENCE):
        seen = 2
        while seen == 2:
            await asyncio.sleep(0.02)
            seen = len((await client.get(f"/api/games/{game}")).json()["events"])


@pytest.mark.anyio
@pytest.mark.parametrize("length", ["x", "-1", "1.5", "²", "999999999999999999999"])
async def test_a_length_that_is_none_is_refused(tmp_path: Path, length: str) -> None:
    async with inside(tmp_path) as (client, _):
        headers = {b"Content-Length": length.encode("latin-1")}
        request = httpx.Request("GET", f"{client.base_url}/api/health", headers=headers)
        refused(await client.send(request), 413, "too-large")


@pytest.mark.anyio
async def test_where_the_server_has_a_public_address_only_that_is_our_own_page(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, "https://kamon.example/") as (client, services):
        secret = services.secrets.new()
        client.headers = httpx.Headers({"Cookie": f"{identity.SECURE_COOKIE}={secret}"})
        codes = {}
        for origin in ("https://kamon.example", "http://127.0.0.1:8037", "http://kamon.example"):
            answer = await client.post("/api/games", json={}, headers={"Origin": origin})
            codes[origin] = answer.status_code
        assert list(codes.values()) == [201, 403, 403]
        wishes = {"against": "friend"}
        ours = {"Origin": "https://kamon.example"}
        game = (await client.post("/api/games", json=wishes, headers=ours)).json()["id"]
        link = (await client.post(f"/api/games/{game}/handover", headers=ours)).json()["address"]
        assert link.startswith("https://kamon.example/handover#")


# --- Servers of other kinds -----------------------------------------------------------------


def test_without_a_trusted_proxy_nobody_is_believed_to_be_somebody_else(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--workers", "1") as server,
        httpx.Client(base_url=server.address, verify=TLS) as http,
    ):
        answer = http.get("/", headers={"X-Forwarded-Proto": "https"})
        assert "Secure" not in answer.headers["Set-Cookie"]
        forged = [{"X-Forwarded-For": f"10.9.9.{each}"} for each in range(70)]
        answers = [http.post("/api/identity", headers=headers) for headers in forged]
        assert {answer.status_code for answer in answers} == {201, 429}


def test_a_server_that_is_ended_takes_its_thinkers_along_at_once(tmp_path: Path) -> None:
    with serving(tmp_path) as server, Client(server) as ann:
        ann.new(level=12, side="white")
        until(lambda: ann.http.get("/api/health").json()["thinking"] == 1, "a thought")
        assert server.process is not None
        group, started = server.process.pid, time.monotonic()
        with ann.socket() as socket:
            server.stop(signal.SIGTERM)
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=PATIENCE)
        assert time.monotonic() - started < 10
        until(lambda: not living(group), "the end of the thinker")


# --- Whatever the description allows, and what it does not ----------------------------------

OPERATIONS = [
    (path, method)
    for path, methods in create_app(Settings("sqlite://")).openapi()["paths"].items()
    for method in methods
]
NOTHING_TO_GET_WRONG = [
    ("/api/health", "get"),
    ("/api/ready", "get"),
    ("/api/lobby", "get"),
    ("/api/fair-boards", "get"),
    ("/api/identity", "post"),
    ("/api/identity", "delete"),
    ("/api/studies", "get"),
    ("/api/puzzles/me", "get"),
    ("/api/puzzles/runs", "get"),
    ("/api/puzzles/runs", "post"),
    ("/api/puzzles/missed", "get"),
]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described(server: Server) -> Any:  # noqa: ANN401 - Schemathesis's own
    # Schemathesis does not count 413 as a "no", which a text far beyond its limit is answered with.
    refusals = [str(status) for status in ERROR_ANSWERS]
    config = SchemathesisConfig.from_dict(
        {"checks": {"negative_data_rejection": {"expected-statuses": refusals}}}
    )
    # Until the engine has started, a server rightly says that it is not ready.
    until(lambda: httpx.get(f"{server.address}/api/ready").is_success, "the server is ready")
    return schemathesis.openapi.from_url(f"{server.address}/api/openapi.json", config=config)


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as opened:
        opened.trust_env = False
        yield opened


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.parametrize("mode", GenerationMode)
def test_the_server_keeps_to_its_description(
    described: Any,  # noqa: ANN401
    session: requests.Session,
    ann: Client,
    path: str,
    method: str,
    mode: GenerationMode,
) -> None:
    if mode is GenerationMode.NEGATIVE and (path, method) in NOTHING_TO_GET_WRONG:
        return
    checks, fixed = CHECKS, {}
    if mode is GenerationMode.POSITIVE and "{game}" in path:
        fixed = {"game": ann.new(level=1, side="black")}
    if mode is GenerationMode.NEGATIVE:
        checks = [*CHECKS, negative_data_rejection]
    cases = described[path][method].as_strategy(mode, path_parameters=fixed)

    @settings(max_examples=13, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def try_out(case: schemathesis.Case[Any]) -> None:
        headers = {"Authorization": f"Bearer {ann.secret}", "X-Forwarded-For": next(ADDRESSES)}
        case.call_and_validate(session=session, headers=headers, checks=checks)

    try_out()
