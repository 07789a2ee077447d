"""What works without numba, and without any network but the machine's own."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kamon import Layout, format_layout
from kamon.web.errors import ERRORS
from kamon.web.pages.assets import STATIC, stamped
from web_server import KAMON, PATIENCE, Client, Server, serving, until

BOARD = format_layout(Layout.shuffled(1))

# Python imports a module of this name at every start, also in the processes that a server starts.
WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
sys.modules["llvmlite"] = None
"""
OFFLINE = """
import ipaddress, socket, sys

def refuse(address):
    sys.stderr.write(f"asked for the foreign address {address!r}\\n")
    raise OSError(f"no way to {address!r}")

def check(address):
    if isinstance(address, tuple) and not ipaddress.ip_address(address[0]).is_loopback:
        refuse(address)

class Socket(socket.socket):
    def connect(self, address):
        check(address)
        return super().connect(address)

    def connect_ex(self, address):
        check(address)
        return super().connect_ex(address)

    def sendto(self, data, *rest):
        check(rest[-1])
        return super().sendto(data, *rest)

def getaddrinfo(host, *rest, **options):
    if host not in (None, "localhost", "127.0.0.1", "::1"):
        refuse(host)
    return find(host, *rest, **options)

socket.socket = Socket
find, socket.getaddrinfo = socket.getaddrinfo, getaddrinfo
"""
ADDRESS = re.compile(r"""(?:https?:|["'(])//[\w.-]+""")
# Names of languages, which no browser fetches.
NAMESPACE = "http://www.w3.org"


@pytest.fixture
def customised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(request.param, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")


@pytest.fixture
def server(customised: None, tmp_path: Path) -> Iterator[Server]:  # noqa: ARG001 - comes first
    with serving(tmp_path) as started:
        yield started


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [KAMON, *arguments], input=given, capture_output=True, text=True, check=False
    )


without_numba = pytest.mark.parametrize("customised", [WITHOUT_NUMBA], indirect=True, ids=[""])
offline = pytest.mark.parametrize("customised", [OFFLINE], indirect=True, ids=[""])


@without_numba
@pytest.mark.usefixtures("customised")
def test_without_numba_the_game_its_texts_and_its_pictures_work() -> None:
    assert json.loads(run("status", given=BOARD).stdout)["turn"] == "black"
    assert run("convert", given=f"{BOARD} b1").stdout.rstrip().endswith("1. b1 *")
    assert "symbols:" in run("show", given=BOARD).stdout
    assert run("show", "--svg", "-", given=BOARD).stdout.startswith("<svg")
    solving = run("solve", given=BOARD)
    assert solving.returncode != 0
    assert "the engine needs numba" in solving.stderr
    assert "Traceback" not in solving.stderr


@without_numba
@pytest.mark.usefixtures("customised")
def test_without_numba_the_easy_levels_play_a_match() -> None:
    played = run("match", "level:5", "level:1", "--games", "2", "--seed", "1")
    assert played.returncode == 0, played.stderr


@without_numba
def test_without_numba_the_server_plays_and_says_what_a_study_lacks(server: Server) -> None:
    with Client(server) as ann:
        game = ann.new(against="computer", level=1, side="black", seed="1")
        ann.move(game)
        until(lambda: len(ann.view(game)["moves"]) == 2, "the move of level 1")
        with ann.socket() as socket:
            socket.send(json.dumps({"type": "study", "line": BOARD}))
            told = json.loads(socket.recv(PATIENCE))
    assert (told["type"], told["code"]) == ("error", "no-engine")
    assert told["message"] == ERRORS["no-engine"].sentence


@offline
def test_offline_the_server_asks_nobody_and_its_pages_name_nobody(server: Server) -> None:
    with Client(server) as ann:
        game = ann.new(against="computer", level=1, side="black", seed="1")
        ann.move(game)
        until(lambda: len(ann.view(game)["moves"]) == 2, "the move of level 1")
        pages = [
            "/",
            "/learn",
            "/rules",
            "/study",
            "/puzzles",
            "/games",
            f"/game/{game}",
            "/handover",
            "/none",
        ]
        made = [
            f"{stamped()}/{name}"
            for name in ("artwork.js", "sentences.js", "home.css", "words/fr.js")
        ]
        files = [
            f"{stamped()}/{path.relative_to(STATIC).as_posix()}"
            for path in STATIC.rglob("*")
            if path.suffix in {".css", ".js", ".svg"}
        ]
        for path in [*pages, *made, *files, "/manifest.webmanifest"]:
            text = ann.http.get(path).text
            named = set(ADDRESS.findall(text)) - {NAMESPACE, "http://127.0.0.1"}
            assert not named, f"{path} names {named}"
    assert "foreign address" not in server.log


@offline
@pytest.mark.usefixtures("customised")
def test_offline_means_offline() -> None:
    ask = "import urllib.request as r; r.urlopen('http://192.0.2.1')"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert "foreign address" in done.stderr
