"""How much longer others wait while one address asks for everything.

The server is an ordinary one. Every client has an address of its own on the loopback, so budgets
and caps hold as they do for strangers. An attack runs in a process of its own, with a low priority
because it stands for another machine. Quiet times and attacks alternate in one run, and the waits
of somebody else are compared; the machine may be busy with other things, which blurs both alike.
"""

import argparse
import contextlib
import itertools
import json
import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from kamon import Layout, format_layout
from kamon.engine.strengths import STRONGEST
from kamon.notation import format_cell
from kamon.position import Position
from kamon.rules import legal_cells

ROOT: Final = Path(__file__).parents[1]
PATIENCE: Final = 30.0
MILLI: Final = 1000
# An attack hurts as soon as it has begun; this is how long it gets to build up.
BUILD_UP: Final = 1.0
_NICENESS: Final = 15
# So many waits are measured at least, however long they take.
_LEAST: Final = 5
# At one screen a move can be taken back at once, and so often before another game is needed.
_MOVES_PER_GAME: Final = 8
_PAUSE: Final = 0.05
_PERCENT: Final = 100

addresses = (f"127.0.{a}.{b}" for a in range(1, 250) for b in range(1, 250))
_failures = (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, httpx.HTTPError)


# --- A client ---------------------------------------------------------------------------------


class Visitor:
    """A program with an address and a secret of its own."""

    def __init__(self, port: int, address: str | None = None) -> None:
        self.port = port
        self.address = address or next(addresses)
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            transport=httpx.HTTPTransport(local_address=self.address),
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

    def do(self, game: str, what: str, /, **data: object) -> None:
        """Send a command that must be obeyed."""
        command = {"do": what, "id": secrets.token_hex(8), "data": data}
        self.http.post(f"/api/games/{game}/commands", json=command).raise_for_status()

    def socket(self) -> ClientConnection:
        """Open a WebSocket."""
        connected: ClientConnection = connect(
            f"ws://127.0.0.1:{self.port}/ws",
            additional_headers=self.headers,
            source_address=(self.address, 0),
            proxy=None,
        )
        return connected


# --- What others wait for ---------------------------------------------------------------------


@contextlib.contextmanager
def timed(times: list[float]) -> Iterator[None]:
    """Measure how long a block takes."""
    started = time.perf_counter()
    yield
    times.append(time.perf_counter() - started)


def going_on(times: list[float], seconds: float) -> Iterator[None]:
    """Go on for some seconds, and until enough has been measured."""
    until = time.monotonic() + seconds
    while time.monotonic() < until or len(times) < _LEAST:
        yield


def wait_for_moves(port: int, seconds: float) -> list[float]:
    """Make and take back moves at one screen, and measure both."""
    times = list[float]()
    with Visitor(port) as ann:
        for _ in going_on(times, seconds):
            game = ann.new(against="self")
            for cell in itertools.islice(game["board"]["legal"], _MOVES_PER_GAME):
                with timed(times):
                    ann.do(game["id"], "move", cell=cell)
                time.sleep(_PAUSE)
                ann.do(game["id"], "offer", what="takeback")
    return times


def wait_for_pages(port: int, seconds: float) -> list[float]:
    """Open the home page on a new connection, as somebody does who comes for the first time."""
    times = list[float]()
    for _ in going_on(times, seconds):
        transport = httpx.HTTPTransport(local_address=next(addresses))
        with httpx.Client(transport=transport, timeout=PATIENCE) as browser, timed(times):
            browser.get(f"http://127.0.0.1:{port}/").raise_for_status()
        time.sleep(_PAUSE)
    return times


def wait_for_computer(level: int) -> Callable[[int, float], list[float]]:
    """Return how to let the computer begin a game, and wait for its stone."""

    def wait(port: int, seconds: float) -> list[float]:
        times = list[float]()
        with Visitor(port) as ann, ann.socket() as page:
            for _ in going_on(times, seconds):
                with timed(times):
                    game = ann.new(against="computer", level=level, side="white")["id"]
                    page.send(json.dumps({"type": "watch", "game": game}))
                    while not _hear(page).get("view", {}).get("moves"):
                        pass
                ann.do(game, "abort")
        return times

    return wait


def wait_for_studies(port: int, seconds: float) -> list[float]:
    """Ask what an empty board is worth, and wait for the first answer."""
    times = list[float]()
    with Visitor(port) as ann, ann.socket() as page:
        for _ in going_on(times, seconds):
            line = _new_board()
            with timed(times):
                page.send(json.dumps({"type": "study", "line": line}))
                while True:
                    told = _hear(page)
                    if told.get("line") == line and "moves" in told:
                        break
            page.send('{"type":"stop"}')
            time.sleep(_PAUSE)
    return times


def wait_for_cards(port: int, seconds: float) -> list[float]:
    """Ask for the card of a new board."""
    times = list[float]()
    with Visitor(port) as ann:
        for _ in going_on(times, seconds):
            with timed(times):
                ann.http.get("/api/card.png", params={"line": _new_board()}).raise_for_status()
            time.sleep(_PAUSE)
    return times


def _hear(page: ClientConnection) -> dict[str, Any]:
    told = dict(json.loads(page.recv(timeout=PATIENCE)))
    if told["type"] == "error":
        raise SystemExit(f"somebody else was refused: {told}")
    return told


def _new_board() -> str:
    return format_layout(Layout.shuffled(secrets.randbelow(10**9)))


# --- Attacks ----------------------------------------------------------------------------------


def _again_and_again(attack: Callable[[], None], threads: int = 4) -> None:
    """Attack for ever; whoever is cut off comes back at once."""

    def work() -> None:
        while True:
            with contextlib.suppress(*_failures):
                attack()

    for _ in range(threads):
        threading.Thread(target=work, daemon=True).start()
    threading.Event().wait()


def half_requests(port: int, address: str) -> None:
    """Hold as many connections as one gets, on which a request never ends."""
    held: list[socket.socket] = []

    def attack() -> None:
        half = socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(address, 0))
        half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        held.append(half)
        del held[:-1000]

    _again_and_again(attack, 2)


def many_requests(port: int, address: str) -> None:
    """Ask for the home page as often as one can, on connections that are kept and on new ones."""
    eve = Visitor(port, address)

    def attack() -> None:
        eve.http.get("/")
        with Visitor(port, address) as again:
            again.http.get("/")

    _again_and_again(attack, 16)


def large_studies(port: int, address: str) -> None:
    """Have long texts read, kept and listed."""
    eve = Visitor(port, address)
    layout = Layout.shuffled(1)
    first, *others = (format_cell(cell) for cell in legal_cells(Position(layout)))
    # Variations are the most work to read: as many of them as a study may have.
    variations = "".join(f"({cell}) " for cell in others) * 55
    text = f'[Layout "{format_layout(layout)}"]\n\n1. {first} {variations}*'

    def attack() -> None:
        answer = eve.http.post("/api/studies/read", json={"text": text})
        if answer.status_code not in {httpx.codes.OK, httpx.codes.TOO_MANY_REQUESTS}:
            raise SystemExit(f"the text cannot be read: {answer.text}")
        eve.http.get("/api/studies")

    _again_and_again(attack)


def unread_pings(port: int, address: str) -> None:
    """Send pings, and read no answer."""
    eve = Visitor(port, address)
    pings = Frame(Opcode.PING, b"x" * 100).serialize(mask=True) * 40

    def attack() -> None:
        with eve.socket() as flood:
            while True:
                flood.socket.sendall(pings)
                time.sleep(0.8)

    _again_and_again(attack, 20)


def empty_fragments(port: int, address: str) -> None:
    """Send messages that consist of nothing, in as many pieces as one may."""
    eve = Visitor(port, address)
    pieces = Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True)
    pieces += Frame(Opcode.CONT, b"", fin=False).serialize(mask=True) * 1000

    def attack() -> None:
        with eve.socket() as flood:
            flood.socket.sendall(pieces)

    _again_and_again(attack)


def strongest_games(port: int, address: str) -> None:
    """Let the computer begin as many games of the strongest level as one may, and again."""
    eve = Visitor(port, address)

    def attack() -> None:
        answer = eve.http.post(
            "/api/games", json={"against": "computer", "level": STRONGEST, "side": "white"}
        )
        if answer.status_code != httpx.codes.CREATED:
            time.sleep(0.05)

    _again_and_again(attack)


def endless_studies(port: int, address: str) -> None:
    """Have as many positions studied as deeply as one may."""
    eve = Visitor(port, address)

    def attack() -> None:
        with eve.socket() as page:
            while True:
                page.send(json.dumps({"type": "study", "line": _new_board(), "deep": 1}))
                while json.loads(page.recv(timeout=PATIENCE)).get("type") != "error":
                    pass
                time.sleep(0.2)

    _again_and_again(attack, 38)


def endless_films(port: int, address: str) -> None:
    """Have as many films drawn as one may."""
    eve = Visitor(port, address)
    moves = "g6 d7 b4 g4 e4 f4 e6 c6 f6 b2 d5 f7 c5 d3 a3"
    line = f"{format_layout(Layout.shuffled(2162))} {moves}"
    widths = itertools.cycle(range(240, 481))

    def attack() -> None:
        theme = secrets.choice(["light", "dark"])
        wish = httpx.QueryParams(line=line, width=next(widths), theme=theme)
        if eve.http.get("/api/film.webp", params=wish).status_code != httpx.codes.OK:
            time.sleep(0.02)

    _again_and_again(attack, 8)


def bad_messages(port: int, address: str) -> None:
    """Send what cannot be understood, on as many sockets as one may have."""
    eve = Visitor(port, address)

    def attack() -> None:
        with eve.socket() as flood:
            while True:
                flood.socket.sendall(Frame(Opcode.TEXT, b"nonsense").serialize(mask=True) * 20)
                flood.recv(timeout=PATIENCE)

    _again_and_again(attack, 38)


def coming_and_going(port: int, address: str) -> None:
    """Come to one game and leave it, on as many sockets as one may have."""
    eve = Visitor(port, address)
    game = eve.new(against="friend")["id"]
    watch = json.dumps({"type": "watch", "game": game})

    def attack() -> None:
        with eve.socket() as page:
            for _ in range(5):
                page.send(watch)
                page.recv(timeout=PATIENCE)

    _again_and_again(attack, 38)


# --- Together ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """What somebody does, and what somebody else waits for meanwhile."""

    finding: str
    what: str
    run: Callable[[int, str], None]
    waits: Mapping[str, Callable[[int, float], list[float]]]


_PLAYING: Final = {"a move": wait_for_moves}
ATTACKS: Final = {
    attack.run.__name__: attack
    for attack in (
        Attack(
            "A1",
            "requests that never end",
            half_requests,
            {**_PLAYING, "the home page": wait_for_pages},
        ),
        Attack(
            "A1",
            "requests in floods",
            many_requests,
            {**_PLAYING, "the home page": wait_for_pages},
        ),
        Attack("A2", "long texts to read", large_studies, _PLAYING),
        Attack("A3", "pings that are not read", unread_pings, _PLAYING),
        Attack("A3", "empty pieces of messages", empty_fragments, _PLAYING),
        Attack(
            "A4",
            "many games of level 12",
            strongest_games,
            {
                **_PLAYING,
                "an answer of level 8": wait_for_computer(8),
                "an answer of level 12": wait_for_computer(STRONGEST),
            },
        ),
        Attack(
            "A5",
            "studies on 38 sockets",
            endless_studies,
            {**_PLAYING, "a study": wait_for_studies},
        ),
        Attack("A5", "films", endless_films, {**_PLAYING, "a card": wait_for_cards}),
        Attack("A6", "messages that are refused", bad_messages, _PLAYING),
        Attack("A7", "coming to a game and leaving it", coming_and_going, _PLAYING),
    )
}


@dataclass
class Waits:
    """How long somebody waited, in quiet times and under an attack."""

    quiet: list[float] = field(default_factory=list)
    attacked: list[float] = field(default_factory=list)

    def add(self, more: "Waits") -> None:
        """Take the waits of another round into account."""
        self.quiet += more.quiet
        self.attacked += more.attacked

    def factor(self, percent: int) -> float:
        """Return how many times longer a share of the waits is under the attack."""
        return quantile(self.attacked, percent) / quantile(self.quiet, percent)


def quantile(times: list[float], percent: int) -> float:
    """Return the time within which a share of the waits ends."""
    return statistics.quantiles(times, n=_PERCENT, method="inclusive")[percent - 1]


@contextlib.contextmanager
def under(attack: Attack, port: int) -> Iterator[None]:
    """Attack while a block runs."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bench.attacks", "--attack", attack.run.__name__),
            *("--port", str(port), "--address", next(addresses)),
        ],
        cwd=ROOT,
    )
    try:
        time.sleep(BUILD_UP)
        yield
        if process.poll() is not None:
            raise SystemExit(f"the attack has ended: {attack.what}")
    finally:
        process.kill()
        process.wait()


def measure(attack: Attack, what: str, port: int, seconds: float) -> Waits:
    """Let somebody wait in a quiet time, and then under an attack."""
    wait = attack.waits[what]
    quiet = wait(port, seconds)
    with under(attack, port):
        return Waits(quiet, wait(port, seconds))


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """Run an ordinary server with a new database, and tell its port."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "kamon", "serve", "--port", "0", "--moment", "0"),
                *("--database", f"sqlite:///{folder}/kamon.sqlite"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            found = re.search(r":(\d+) ", process.stdout.readline())
            if found is None:
                raise SystemExit("the server does not start")
            until_ready(int(found[1]))
            yield int(found[1])
        finally:
            process.terminate()
            process.wait(PATIENCE)
            process.stdout.close()


def until_ready(port: int) -> None:
    """Wait until a server can be sent visitors."""
    limit = time.monotonic() + 10 * PATIENCE
    while time.monotonic() < limit:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/api/ready", timeout=PATIENCE).is_success:
                return
        time.sleep(0.1)
    raise SystemExit("the server does not get ready")


def main(arguments: list[str] | None = None) -> None:
    """Print how much longer others wait under each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each quiet time and attack")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=sorted({a.finding for a in ATTACKS.values()}))
    parser.add_argument("--attack", choices=sorted(ATTACKS), help="attack a server for ever")
    parser.add_argument("--port", type=int, help="of the server that is attacked")
    parser.add_argument("--address", help="of the attacker, on the loopback")
    given = parser.parse_args(arguments)
    if given.attack:
        os.nice(_NICENESS)
        ATTACKS[given.attack].run(given.port, given.address)
    print("| one address | another visitor waits for | p50 quiet, attacked | times | p95 | times |")
    print("|---|---|---|---|---|---|")
    for attack in ATTACKS.values():
        if given.only and attack.finding not in given.only:
            continue
        for what in attack.waits:
            waits = Waits()
            for _ in range(given.rounds):
                # With a server of its own: what an attack has left behind would slow the next.
                with serving() as port:
                    waits.add(measure(attack, what, port, given.seconds))
            print(f"| {attack.finding}: {attack.what} | {what} | {_cells(waits)} |", flush=True)


def _cells(waits: Waits) -> str:
    def pair(percent: int) -> str:
        quiet, attacked = (
            quantile(times, percent) * MILLI for times in (waits.quiet, waits.attacked)
        )
        return f"{quiet:.1f}, {attacked:.1f} ms | {waits.factor(percent):.2f}"

    return f"{pair(50)} | {pair(95)}"


if __name__ == "__main__":
    main()
