"""Visitors of a server, each from an address of its own, and how long they wait for what they want.

An errand is a generator that does something again and again, and yields how long it has waited.
"""

import contextlib
import itertools
import json
import resource
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, Self

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from kamon import Layout, format_layout

# Whoever waits longer than this is not served.
PATIENCE: Final = 10.0
# At one screen a move can be taken back at once, and this often before another game is needed.
_MOVES_PER_GAME: Final = 8
_PAUSE: Final = 0.05
# This many waits are measured at least, however long they take.
_LEAST: Final = 3

# Never used, but costly to make for every client.
_TLS: Final = ssl.create_default_context()

FAILURES: Final = (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, httpx.HTTPError)
Waits = Generator[float, None, None]
Errand = Callable[[int], Waits]

addresses = (f"127.0.{a}.{b}" for a in range(1, 250) for b in range(1, 250))


class Visitor:
    """A program with an address and a secret of its own."""

    def __init__(self, port: int, address: str | None = None) -> None:
        self.port = port
        self.address = address or next(addresses)
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            transport=httpx.HTTPTransport(local_address=self.address, verify=_TLS),
            timeout=PATIENCE,
        )
        secret = self.http.post("/api/identity").raise_for_status().json()["secret"]
        self.headers = {"Authorization": f"Bearer {secret}"}
        self.http.headers.update(self.headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def new(self, **wishes: object) -> dict[str, Any]:
        """Set a game up."""
        return dict(self.http.post("/api/games", json=wishes).raise_for_status().json())

    def do(self, page: ClientConnection, game: str, what: str, /, **data: object) -> None:
        """Send a command that must be obeyed, and wait until it is on the disk."""
        name = secrets.token_hex(8)
        page.send(json.dumps({"type": "do", "game": game, "do": what, "id": name, "data": data}))
        while (answer := hear(page)).get("id") != name or answer["type"] != "done":
            pass

    def socket(self) -> ClientConnection:
        """Open a WebSocket."""
        connected: ClientConnection = connect(
            f"ws://127.0.0.1:{self.port}/ws",
            additional_headers=self.headers,
            source_address=(self.address, 0),
            open_timeout=PATIENCE,
            close_timeout=1,
            proxy=None,
        )
        return connected


def hear(page: ClientConnection) -> dict[str, Any]:
    """Wait for the next message; somebody who does nothing wrong must not be refused."""
    told = dict(json.loads(page.recv(timeout=PATIENCE)))
    if told["type"] == "error":
        raise OSError(f"somebody else was refused: {told}")
    return told


# --- Errands ----------------------------------------------------------------------------------


class Watch:
    """Measures how long a block takes."""

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._started


def moves(port: int) -> Waits:
    """Make moves at one screen over a WebSocket, and take them back."""
    with Visitor(port) as ann, ann.socket() as page:
        while True:
            game = ann.new(against="self")
            for cell in itertools.islice(game["board"]["legal"], _MOVES_PER_GAME):
                with Watch() as watch:
                    ann.do(page, game["id"], "move", cell=cell)
                # Now, as a commit waits for 16 ms after the one before.
                ann.do(page, game["id"], "offer", what="takeback")
                yield watch.seconds


def home_pages(port: int) -> Waits:
    """Open the home page on a new connection, as somebody does who comes for the first time."""
    while True:
        transport = httpx.HTTPTransport(local_address=next(addresses), verify=_TLS)
        with httpx.Client(transport=transport, timeout=PATIENCE) as browser:
            with Watch() as watch:
                browser.get(f"http://127.0.0.1:{port}/").raise_for_status()
            yield watch.seconds


def answers_of(level: int) -> Errand:
    """Return how to let the computer begin a game, and wait for its stone."""

    def answers(port: int) -> Waits:
        with Visitor(port) as ann, ann.socket() as page:
            while True:
                with Watch() as watch:
                    game = ann.new(against="computer", level=level, side="white")["id"]
                    page.send(json.dumps({"type": "watch", "game": game}))
                    while not hear(page).get("view", {}).get("moves"):
                        pass
                yield watch.seconds
                ann.do(page, game, "abort")

    return answers


def studies(port: int) -> Waits:
    """Ask what an empty board is worth, and wait for the first answer."""
    with Visitor(port) as ann, ann.socket() as page:
        while True:
            line = new_board()
            with Watch() as watch:
                page.send(json.dumps({"type": "study", "line": line}))
                while True:
                    told = hear(page)
                    if told.get("line") == line and "moves" in told:
                        break
            yield watch.seconds
            page.send('{"type":"stop"}')


def cards(port: int) -> Waits:
    """Ask for the card of a new board."""
    with Visitor(port) as ann:
        while True:
            with Watch() as watch:
                ann.http.get("/api/card.png", params={"line": new_board()}).raise_for_status()
            yield watch.seconds


def new_board() -> str:
    """Make a board that nobody has seen."""
    return format_layout(Layout.shuffled(secrets.randbelow(10**9)))


def allow_files() -> None:
    """Let this process, which stands for many visitors, have as many open files as it may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


# --- Several at the same time -----------------------------------------------------------------


def wait_for(errands: Mapping[str, Errand], port: int, seconds: float) -> dict[str, list[float]]:
    """Let one visitor for each errand wait for some seconds, all at the same time."""
    waited: dict[str, list[float]] = {name: [] for name in errands}
    threads = [
        threading.Thread(target=_repeat, args=(errand, port, seconds, waited[name]))
        for name, errand in errands.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return waited


def _repeat(errand: Errand, port: int, seconds: float, times: list[float]) -> None:
    """Run an errand. A failure counts as the longest wait, and the visitor begins anew."""
    until = time.monotonic() + seconds

    def is_over() -> bool:
        return time.monotonic() > until and len(times) >= _LEAST

    while not is_over():
        try:
            with contextlib.closing(errand(port)) as running:
                for waited in running:
                    times.append(waited)
                    if is_over():
                        break
                    time.sleep(_PAUSE)
        except FAILURES:
            times.append(PATIENCE)
            time.sleep(_PAUSE)
