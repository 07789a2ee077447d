"""How much longer others wait, and how much memory is taken, while somebody attacks the server.

The server is an ordinary one. Every client has an address of its own on the loopback, so budgets
and limits hold as they do for strangers. The server is attacked directly and through nginx with the
shipped site (``bench.nginx``). An attack runs in a process of its own, with a low priority because
it stands for another machine; what is cut off comes back at once. Quiet times and attacks alternate
in one run, and the waits of others are compared. The machine may be busy with other things, which
blurs both alike.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import re
import secrets
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import httpx
from websockets.frames import Frame, Opcode

from bench.nginx import running_nginx
from bench.visitors import (
    FAILURES,
    PATIENCE,
    Errand,
    Visitor,
    addresses,
    allow_files,
    answers_of,
    cards,
    home_pages,
    moves,
    new_board,
    studies,
    wait_for,
)
from kamon import Layout, format_layout
from kamon.engine.strengths import STRONGEST
from kamon.notation import format_cell
from kamon.position import Position
from kamon.rules import legal_cells
from kamon.web.connections import WEBSOCKET_BURST

ROOT: Final = Path(__file__).parents[1]
MILLI: Final = 1000
KIBI: Final = 1024
NANO: Final = 1e9
# Seconds that an attack gets to build up, in which what is allowed in a burst is spent.
BUILD_UP: Final = 0.8
# Seconds for the connections of an attack to be closed before the next one begins.
AFTERWARDS: Final = 0.3
# Seconds. A shorter wait counts as this: what is below is decided by who gets a core first.
FLOOR: Final = 0.010
# Seconds that somebody waits at most while nobody attacks.
CALM: Final = 0.25
DEAF_ADDRESSES: Final = 8
_NICENESS: Final = 15
_SOCKETS: Final = 38
_BEGUN: Final = "begun"
_SAMPLE: Final = 0.1
# Seconds after which an attacker tries to connect anew. The system would try again after a second,
# then two, then four: a full queue of connections would hold up the attack itself.
_STALLED: Final = 0.1
# What a usual shell allows. A server that wants more must ask for it.
_FILES: Final = 1024


# --- How one attacks --------------------------------------------------------------------------


def _again_and_again(*attacks: Callable[[], None], threads: int = 4) -> None:
    """Attack for ever, with several threads for each attack; who is cut off comes back at once."""

    def work(attack: Callable[[], None]) -> None:
        while True:
            with contextlib.suppress(*FAILURES):
                attack()

    print(_BEGUN, flush=True)
    for attack in attacks * threads:
        threading.Thread(target=work, args=(attack,), daemon=True).start()
    threading.Event().wait()


def _on_many_connections(
    attack: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    port: int,
    address: str,
    connections: int,
) -> None:
    """Attack for ever on many connections, each of which is opened again when it is cut off."""

    async def work() -> None:
        while True:
            with contextlib.suppress(*FAILURES):
                async with asyncio.timeout(_STALLED):
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", port, local_addr=(address, 0)
                    )
                try:
                    await attack(reader, writer)
                finally:
                    writer.close()

    async def all_of_them() -> None:
        print(_BEGUN, flush=True)
        await asyncio.gather(*(work() for _ in range(connections)))

    asyncio.run(all_of_them())


def _connected(port: int, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(address, 0))


@contextlib.contextmanager
def _bare_socket(eve: Visitor) -> Iterator[socket.socket]:
    """Open a WebSocket on which nothing is read but the answer to the handshake."""
    head = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{eve.port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Authorization: {eve.headers['Authorization']}\r\n\r\n"
    )
    with _connected(eve.port, eve.address) as bare:
        bare.sendall(head.encode())
        if not bare.recv(4096).startswith(b"HTTP/1.1 101"):
            raise ConnectionRefusedError
        yield bare


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


# --- Attacks ----------------------------------------------------------------------------------


def half_requests(port: int, address: str) -> None:
    """Hold 5,000 connections, or as many as one gets, on which a request never ends."""

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
        await reader.read()

    _on_many_connections(attack, port, address, 5_000)


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
        with _bare_socket(eve) as flood:
            while True:
                flood.sendall(pings)
                time.sleep(0.8)

    _again_and_again(attack, threads=20)


def empty_fragments(port: int, address: str) -> None:
    """Send messages that consist of nothing, in as many pieces as one may."""
    eve = Visitor(port, address)
    pieces = Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True)
    pieces += Frame(Opcode.CONT, b"", fin=False).serialize(mask=True) * 1000

    def attack() -> None:
        with _bare_socket(eve) as flood:
            flood.sendall(pieces)

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
                page.send(json.dumps({"type": "study", "line": new_board(), "deep": 1}))
                while json.loads(page.recv(timeout=PATIENCE)).get("type") != "error":
                    pass
                time.sleep(0.2)

    _again_and_again(attack, threads=_SOCKETS)


def endless_films(port: int, address: str) -> None:
    """Have as many films drawn as one may."""
    eve = Visitor(port, address)
    played = "g6 d7 b4 g4 e4 f4 e6 c6 f6 b2 d5 f7 c5 d3 a3"
    line = f"{format_layout(Layout.shuffled(2162))} {played}"
    widths = itertools.cycle(range(240, 481))

    def attack() -> None:
        theme = secrets.choice(["light", "dark"])
        wish = httpx.QueryParams(line=line, width=next(widths), theme=theme)
        if eve.http.get("/api/film.webp", params=wish).status_code != httpx.codes.OK:
            time.sleep(0.02)

    _again_and_again(attack, threads=8)


def bad_messages(port: int, address: str) -> None:
    """Send what cannot be understood, on as many sockets as one may have."""
    eve = Visitor(port, address)
    nonsense = Frame(Opcode.TEXT, b"nonsense").serialize(mask=True) * 20

    def attack() -> None:
        with _bare_socket(eve) as flood:
            while True:
                flood.sendall(nonsense)
                if not flood.recv(4096):
                    break

    _again_and_again(attack, threads=_SOCKETS)


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

    _again_and_again(attack, threads=_SOCKETS)


def unread_documents(port: int, address: str) -> None:
    """Send as many requests as one can on few connections, and read no answer.

    Others use up what the address is allowed, so that the server may pause and resume reading.
    """
    requests = _request("/api/openapi.json") * 20

    def use_up() -> None:
        with _connected(port, address) as quick:
            for _ in range(50):
                quick.sendall(_request("/api/health"))
                if not quick.recv(4096):
                    break

    def send() -> None:
        with _connected(port, address) as deaf:
            deaf.sendall(requests)
            time.sleep(0.5)
            while True:
                deaf.sendall(requests * 100)

    _again_and_again(use_up, send)


def _pongs(port: int, address: str, sockets: int) -> None:
    eve = Visitor(port, address)
    pongs = Frame(Opcode.PONG, b"").serialize(mask=True) * 40_000

    def attack() -> None:
        with _bare_socket(eve) as flood:
            while True:
                flood.sendall(pongs)

    _again_and_again(attack, threads=sockets)


def pongs(port: int, address: str) -> None:
    """Send pongs that nobody has asked for, on one socket."""
    _pongs(port, address, 1)


def many_pongs(port: int, address: str) -> None:
    """Send pongs that nobody has asked for, on as many sockets as one may have."""
    _pongs(port, address, _SOCKETS)


def tiny_texts(port: int, address: str) -> None:
    """Send the smallest messages on each new socket: as many as one may send at once, or more."""
    eve = Visitor(port, address)
    text = Frame(Opcode.TEXT, b"").serialize(mask=True)
    allowed, more = text * (WEBSOCKET_BURST // len(text)), text * 40_000

    def attack() -> None:
        with _bare_socket(eve) as flood:
            flood.sendall(secrets.choice([allowed, more]))
            # Those that stay take memory, and those that come back take time.
            time.sleep(secrets.choice([0.1, 0.5]))

    _again_and_again(attack, threads=_SOCKETS)


def pipelined_pages(port: int, address: str) -> None:
    """Send thousands of requests for the home page in one go, on a hundred connections."""
    requests = _request("/") * 2_000

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(requests)
        while await reader.read(1 << 16):
            pass

    _on_many_connections(attack, port, address, 100)


def page_flood(port: int, address: str) -> None:
    """Ask for the home page as often as one can, on a hundred connections."""
    request = _request("/")

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(request)
        while await reader.read(1 << 16):
            writer.write(request)

    _on_many_connections(attack, port, address, 100)


def abandoned_pages(port: int, address: str) -> None:
    """Ask for the home page on new connections as often as one can, and wait for no answer."""
    request = _request("/")

    async def attack(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(request)
        await writer.drain()

    _on_many_connections(attack, port, address, 100)


def connect_storm(port: int, address: str) -> None:
    """Connect 1,800 times at the same moment, and again every second."""
    print(_BEGUN, flush=True)
    while True:
        until = time.monotonic() + 1
        with contextlib.ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(1_800)]
            for each in sockets:
                each.settimeout(0)
                each.bind((address, 0))
            for each in sockets:
                with contextlib.suppress(OSError):
                    each.connect(("127.0.0.1", port))
            time.sleep(max(0.0, until - time.monotonic()))


def deaf_readers(port: int, address: str) -> None:
    """Read no answer, on as many connections as one gets from each of eight addresses."""
    sources = [address.replace("127.0.", f"127.{number}.") for number in range(DEAF_ADDRESSES)]
    requests = _request("/api/openapi.json") * 20
    chooser = selectors.DefaultSelector()

    def come(source: str) -> None:
        deaf = socket.socket()
        # The least that the system takes: what is not read soon waits at the server.
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.settimeout(0)
        deaf.bind((source, 0))
        with contextlib.suppress(BlockingIOError):
            deaf.connect(("127.0.0.1", port))
        chooser.register(deaf, selectors.EVENT_WRITE, source)

    for source in sources * 119:
        come(source)
    print(_BEGUN, flush=True)
    while True:
        for key, events in chooser.select():
            deaf = key.fileobj
            assert isinstance(deaf, socket.socket)  # noqa: S101 - nothing else is registered
            try:
                if events & selectors.EVENT_WRITE:
                    deaf.send(requests)
                    # Only the end of the connection is of interest from now on.
                    chooser.modify(deaf, 0x2000, key.data)
                else:
                    raise ConnectionResetError
            except OSError:
                chooser.unregister(deaf)
                deaf.close()
                come(key.data)


# --- Together ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """What somebody does, and what others wait for meanwhile.

    ``lasting``: the server is busy with it even after it has ended.
    """

    finding: str
    what: str
    run: Callable[[int, str], None]
    more: Mapping[str, Errand] = field(default_factory=dict)
    lasting: bool = False

    @property
    def errands(self) -> Mapping[str, Errand]:
        """Everything that others wait for."""
        return {**PLAYING, **self.more}


PLAYING: Final[Mapping[str, Errand]] = {"a move": moves, "the home page": home_pages}
ATTACKS: Final = {
    attack.run.__name__: attack
    for attack in (
        Attack("A1", "5,000 requests that never end", half_requests),
        Attack("A2", "long texts to read", large_studies),
        Attack("A3", "pings that are not read", unread_pings),
        Attack("A3", "empty pieces of messages", empty_fragments),
        Attack("A6", "messages that are refused", bad_messages),
        Attack("A7", "coming to a game and leaving it", coming_and_going),
        Attack("N1", "unread answers to pipelined requests", unread_documents),
        Attack("N2", "pongs on one socket", pongs),
        Attack("N2", "pongs on 38 sockets", many_pongs),
        Attack("N2", "tiny texts on each new socket", tiny_texts),
        Attack("N3", "pipelined home pages on 100 connections", pipelined_pages),
        Attack("N3", "a flood of home pages on 100 connections", page_flood),
        Attack("N3", "home pages that nobody waits for, on new connections", abandoned_pages),
        Attack("N4", "1,800 connections a second", connect_storm),
        Attack("N4", "unread answers, from eight addresses", deaf_readers),
        Attack("A5", "films", endless_films, {"a card": cards}, lasting=True),
        Attack("A5", "studies on 38 sockets", endless_studies, {"a study": studies}, lasting=True),
        Attack(
            "A4",
            "many games of level 12",
            strongest_games,
            {
                "an answer of level 8": answers_of(8),
                "an answer of level 12": answers_of(STRONGEST),
            },
            lasting=True,
        ),
    )
}


@dataclass
class Waits:
    """How long somebody waited, in quiet times and under an attack."""

    quiet: list[float] = field(default_factory=list)
    attacked: list[float] = field(default_factory=list)

    def factor(self) -> float:
        """Return how many times longer the median is under the attack."""
        quiet, attacked = (statistics.median(each) for each in (self.quiet, self.attacked))
        return max(FLOOR, attacked) / max(FLOOR, quiet)


@dataclass(frozen=True)
class Measured:
    """What an attack has done to others, and to the memory of each program, in MiB.

    ``strength`` is the share of the time for which the attacker had a core when it wanted one. An
    attacker that the machine has no time for says nothing about the server.
    """

    waits: dict[str, Waits]
    memory: dict[str, float]
    strength: float


Processes = Mapping[str, Callable[[], list[int]]]


class Memory:
    """By how much the memory of some programs grows at most while a block runs."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._before = self._now()
        self._most = dict(self._before)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def growth(self) -> dict[str, float]:
        """For each program, in MiB."""
        return {name: most - self._before[name] for name, most in self._most.items()}

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE):
            for name, now in self._now().items():
                self._most[name] = max(self._most[name], now)

    def _now(self) -> dict[str, float]:
        return {name: sum(map(_resident, pids())) for name, pids in self._processes.items()}


def _resident(pid: int) -> float:
    """Return how many MiB of a process are in memory."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
        return int(found[1]) / KIBI if found else 0.0
    return 0.0


@contextlib.contextmanager
def under(attack: Attack, port: int) -> Iterator[int]:
    """Attack while a block runs, in a process with this number."""
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "bench.attacks", "--attack", attack.run.__name__),
            *("--port", str(port), "--address", next(addresses)),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            if process.stdout.readline().strip() != _BEGUN:
                raise SystemExit(f"the attack does not begin: {attack.what}")
            time.sleep(BUILD_UP)
            yield process.pid
            if process.poll() is not None:
                raise SystemExit(f"the attack has ended: {attack.what}")
        finally:
            process.kill()


def measure(
    attack: Attack,
    port: int,
    processes: Processes,
    seconds: float,
    errands: Mapping[str, Errand] | None = None,
) -> Measured:
    """Let others wait in a quiet time, and then under an attack."""
    wanted = errands or attack.errands
    quiet = wait_for(wanted, port, seconds)
    started = time.monotonic()
    with Memory(processes) as memory, under(attack, port) as attacker:
        attacked = wait_for(wanted, port, seconds)
        strength = _strength(attacker, time.monotonic() - started)
    time.sleep(AFTERWARDS)
    waits = {name: Waits(quiet[name], attacked[name]) for name in wanted}
    return Measured(waits, memory.growth, strength)


def _strength(pid: int, seconds: float) -> float:
    """Return for which share of the time a process had a core when it wanted one.

    Its threads wait for one another as well, so together they cannot want more than one core.
    """
    running = waiting = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        # Threads may end meanwhile.
        with contextlib.suppress(OSError):
            ran, waited, _ = (thread / "schedstat").read_text(encoding="ascii").split()
            running, waiting = running + int(ran), waiting + int(waited)
    return running / min(running + waiting, seconds * NANO)


# --- The servers that are attacked ------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A server, and nginx in front of it: their ports and processes."""

    ports: Mapping[str, int]
    processes: Processes


@contextlib.contextmanager
def serving(python: str) -> Iterator[Target]:
    """Run an ordinary server with a new database, and nginx in front of it."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = stack.enter_context(
            subprocess.Popen(
                [
                    *("/bin/sh", "-c", f'ulimit -Sn {_FILES}; exec "$@"', "sh"),
                    *(python, "-m", "kamon", "serve", "--port", "0", "--moment", "0"),
                    *("--database", f"sqlite:///{folder}/kamon.sqlite"),
                    *("--trusted-proxy", "127.0.0.1"),
                ],
                stdout=subprocess.PIPE,
                stderr=stack.enter_context((folder / "log").open("w", encoding="utf-8")),
                text=True,
            )
        )
        stack.callback(process.terminate)
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        found = re.search(r":(\d+) ", process.stdout.readline())
        if found is None:
            raise SystemExit("the server does not start")
        port = int(found[1])
        until_ready(port)
        (nginx_folder := folder / "nginx").mkdir()
        nginx = stack.enter_context(running_nginx(nginx_folder, [port]))
        target = Target(
            {"direct": port, "nginx": nginx.port},
            {"server": lambda: [process.pid], "nginx": lambda: nginx.pids},
        )
        warm_up(target.ports)
        yield target


def until_ready(port: int) -> None:
    """Wait until a server can be sent visitors."""
    limit = time.monotonic() + 10 * PATIENCE
    while time.monotonic() < limit:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/api/ready", timeout=PATIENCE).is_success:
                return
        time.sleep(0.1)
    raise SystemExit("the server does not get ready")


def warm_up(ports: Mapping[str, int]) -> None:
    """Have everything loaded that is loaded once, so that it is not counted as an attack's."""
    for port in ports.values():
        wait_for(PLAYING, port, 0.5)
        httpx.get(f"http://127.0.0.1:{port}/api/openapi.json", timeout=PATIENCE)


def main(arguments: list[str] | None = None) -> None:
    """Print how much longer others wait under each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each quiet time and attack")
    parser.add_argument("--only", nargs="*", choices=sorted(ATTACKS))
    parser.add_argument("--through", choices=["nginx", "direct", "both"], default="both")
    parser.add_argument("--kamon", default=sys.executable, help="a Python that has another version")
    parser.add_argument("--attack", choices=sorted(ATTACKS), help="attack a server for ever")
    parser.add_argument("--port", type=int, help="of the server that is attacked")
    parser.add_argument("--address", help="of the attacker, on the loopback")
    given = parser.parse_args(arguments)
    if given.attack:
        os.nice(_NICENESS)
        allow_files()
        ATTACKS[given.attack].run(given.port, given.address)
    ways = ["direct", "nginx"] if given.through == "both" else [given.through]
    print(
        "| attack | through | others wait for | p50 quiet, attacked | times "
        "| server | nginx | strength |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(serving(given.kamon))
        for name, way in itertools.product(given.only or ATTACKS, ways):
            attack = ATTACKS[name]
            measured = measure(attack, target.ports[way], target.processes, given.seconds)
            for what, waits in measured.waits.items():
                print(_row(attack, way, what, waits, measured), flush=True)
            if attack.lasting or not _is_calm(target):
                stack.close()
                target = stack.enter_context(serving(given.kamon))


def _is_calm(target: Target) -> bool:
    """Return whether the server has recovered from an attack."""
    waited = wait_for({"page": home_pages}, target.ports["direct"], 0)
    return statistics.median(waited["page"]) < CALM


def _row(attack: Attack, way: str, what: str, waits: Waits, measured: Measured) -> str:
    quiet, attacked = (statistics.median(each) for each in (waits.quiet, waits.attacked))
    served = attacked < PATIENCE
    shown = f"{attacked * MILLI:.1f} ms" if served else f"over {PATIENCE:.0f} s"
    cells = [
        f"{attack.finding}: {attack.what}",
        way,
        what,
        f"{quiet * MILLI:.1f}, {shown}",
        f"{waits.factor():.1f}" if served else "not served",
        *(f"{measured.memory[name]:+.0f} MiB" for name in ("server", "nginx")),
        f"{measured.strength:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
