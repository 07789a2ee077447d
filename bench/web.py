"""The web server under load, as ratios and bounds within one run.

The yardstick is a bare Starlette WebSocket that echoes, served by uvicorn with the same options,
under the same requests at the same moments. The machine may be busy with other things, so each
round looks at all kinds of load. Waiting can only be made longer: of the times, the best round
counts. Of the work it is the middle one, because a server that is kept waiting writes more moves in
one go, and has less to do. What is told of a process comes from ``/proc``, so this runs on Linux
alone; the disk is that of ``$TMPDIR``.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from random import Random
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.servers import PATIENCE, Server, several
from bench.visitors import allow_files
from kamon import Layout, Position, format_cell, legal_cells, outcome, play

STRONGEST: Final = 12
REQUESTS: Final = 1000
OPENED_AT_ONCE: Final = 50
SYNCS: Final = 200
PAGE_BYTES: Final = 4096
PLIES: Final = 28  # nearly every board has a game of that length
IN_TIME: Final = 100.0  # milliseconds
RATE_STEP: Final = 100  # commands a second
ATTEMPTS: Final = 3
WATCHED_ELSEWHERE: Final = 20
MOVES_ELSEWHERE: Final = 20
NANO: Final = 1e9
MICRO: Final = 1e6
MILLI: Final = 1e3


@dataclass(frozen=True)
class Load:
    """How much is asked of the servers."""

    games: int
    rate: float
    seconds: float
    rounds: int
    sockets: int
    workers: int

    @property
    def moves(self) -> int:
        """How many moves there are in one look."""
        return max(1, round(self.rate * self.seconds))

    @property
    def plies(self) -> int:
        """How many moves of each game are needed for all looks and for one that warms up."""
        return 1 - (-3 * self.rounds * self.moves // self.games)

    @property
    def thoughts(self) -> int:
        """How many thoughts of the strongest level keep the workers busy for one look."""
        return self.workers * (4 + round(4 * self.seconds))


# --- Games ----------------------------------------------------------------------------------


@dataclass
class Planned:
    """A game that one program plays for both sides, and the moves that it will make."""

    id: str
    cells: Iterator[str]
    number: int = 1

    def request(self) -> tuple[str, str]:
        """Return the next command's id and text, as the page sends it."""
        name = f"{self.id}-{self.number}"
        command = {"type": "do", "game": self.id, "id": name, "do": "move", "after": self.number}
        self.number += 1
        return name, json.dumps({**command, "data": {"cell": next(self.cells)}})


class ToAndFro(Planned):
    """A game in which one move is made and taken back, as often as somebody likes."""

    def __init__(self, game: str, cell: str) -> None:
        super().__init__(game, itertools.repeat(cell))
        self._to = True

    def request(self) -> tuple[str, str]:
        """Make the move, or take it back."""
        self._to = not self._to
        if not self._to:
            return super().request()
        name = f"{self.id}-{self.number}"
        self.number += 1
        command = {"type": "do", "game": self.id, "id": name, "do": "offer"}
        return name, json.dumps({**command, "data": {"what": "takeback"}})


def plan(seed: int, plies: int) -> list[str] | None:
    """Play at random without ending the game; None where that cannot be kept up."""
    rng = Random(seed)
    position, moves = Position(Layout.shuffled(seed)), list[str]()
    for _ in range(plies):
        quiet = [cell for cell in legal_cells(position) if outcome(play(position, cell)) is None]
        if not quiet:
            return None
        cell = rng.choice(quiet)
        position = play(position, cell)
        moves.append(format_cell(cell))
    return moves


def plans(count: int, plies: int) -> list[tuple[int, list[str]]]:
    """Find boards by number, with games on them that are long enough."""
    found, seed = list[tuple[int, list[str]]](), 0
    while len(found) < count:
        moves = plan(seed, plies)
        if moves is not None:
            found.append((seed, moves))
        seed += 1
    return found


class Program:
    """Somebody who sets games up."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._client = httpx.Client(
            base_url=f"http://{server.host}", timeout=PATIENCE, trust_env=False
        )
        self.secret: str = self._post("/api/identity")["secret"]
        self._client.headers["authorization"] = f"Bearer {self.secret}"

    def _post(self, path: str, **content: Any) -> Any:  # noqa: ANN401 - as JSON has it
        return self._client.post(path, json=content).raise_for_status().json()

    def set_up(self, planned: Sequence[tuple[int, list[str]]]) -> list[Planned]:
        """Open games against oneself."""
        return [
            Planned(self._post("/api/games", against="self", seed=str(seed))["id"], iter(moves))
            for seed, moves in planned
        ]

    def to_and_fro(self, count: int) -> list[Planned]:
        """Open games in which a move is made and taken back again and again."""
        return [ToAndFro(game.id, next(game.cells)) for game in self.set_up(plans(count, 1))]

    def challenge(self) -> str:
        """Let the computer begin a game at its strongest."""
        wish = {"against": "computer", "level": STRONGEST, "side": "white"}
        return str(self._post("/api/games", **wish)["id"])

    def abort(self, game: str) -> None:
        """Let the computer off."""
        self._post(f"/api/games/{game}/commands", do="abort", id=f"{game}-abort")

    def thinking(self) -> int:
        """Tell how many workers think."""
        return int(self._client.get("/api/health").raise_for_status().json()["thinking"])

    def wait_for(self, thinking: int) -> None:
        """Wait until so many workers think."""
        limit = time.monotonic() + PATIENCE
        while self.thinking() != thinking:
            if time.monotonic() > limit:
                raise SystemExit(f"there never were {thinking} workers thinking")
            time.sleep(0.05)


# --- Sockets --------------------------------------------------------------------------------


@dataclass
class Answers:
    """What has come back."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def quantile(self, percent: int) -> float:
        """Return a quantile of the times, in milliseconds."""
        return statistics.quantiles(self.seconds, n=100)[percent - 1] * MILLI


class Page:
    """A game that is open somewhere: a socket and who listens to it."""

    def __init__(self, game: Planned, connection: ClientConnection, answers: Answers) -> None:
        self.game = game
        self._connection = connection
        self._answers = answers
        self._sent: dict[str, float] = {}
        self.listener = asyncio.create_task(self._listen())

    async def move(self) -> None:
        """Ask for the next move."""
        name, text = self.game.request()
        self._sent[name] = time.perf_counter()
        await self._connection.send(text)

    async def _listen(self) -> None:
        async for text in self._connection:
            now = time.perf_counter()
            assert isinstance(text, str)  # noqa: S101 - the servers send no bytes
            if text.startswith('{"type":"room"'):
                continue
            answer = json.loads(text)
            if answer["type"] == "error":
                self._answers.errors.append(text)
            else:
                self._answers.seconds.append(now - self._sent.pop(answer["id"]))


@contextlib.asynccontextmanager
async def sockets(
    servers: Sequence[Server], secret: str, count: int
) -> AsyncIterator[list[ClientConnection]]:
    """Open sockets, to one server after the other in turn, and close them in the end."""
    addresses = itertools.cycle(f"ws://{server.host}/ws" for server in servers)
    opened: list[ClientConnection] = []

    async def one() -> ClientConnection:
        return await connect(
            next(addresses),
            additional_headers={"authorization": f"Bearer {secret}"},
            compression=None,
            proxy=None,
            ping_interval=None,
            open_timeout=PATIENCE,
            close_timeout=1,
        )

    try:
        for start in range(0, count, OPENED_AT_ONCE):
            some = min(OPENED_AT_ONCE, count - start)
            opened += await asyncio.gather(*(one() for _ in range(some)))
        yield opened
    finally:
        for start in range(0, count, OPENED_AT_ONCE):
            some_opened = opened[start : start + OPENED_AT_ONCE]
            await asyncio.gather(*(each.close() for each in some_opened))


async def watch(opened: Sequence[ClientConnection], games: Sequence[Planned]) -> None:
    """Let every socket watch a game, and wait until it has seen it."""
    for at, each in enumerate(opened):
        await each.send(json.dumps({"type": "watch", "game": games[at % len(games)].id}))
        await asyncio.wait_for(each.recv(), PATIENCE)


@dataclass
class Look:
    """What one look at a server has seen."""

    middle: float  # milliseconds
    slow: float  # milliseconds, the 99th of a hundred
    cpu: float  # microseconds a request
    asking: float  # how much of a core the asking has taken


async def look(
    servers: Sequence[Server], secret: str, games: Sequence[Planned], load: Load, *, watched: bool
) -> Look:
    """Make moves at random moments, which are the same in every look, and time the answers."""
    rng, answers = Random(1), Answers()
    async with sockets(servers, secret, len(games)) as opened:
        if watched:
            await watch(opened, games)
        pages = [Page(game, each, answers) for game, each in zip(games, opened, strict=True)]
        pages.sort(key=lambda page: page.game.number)
        await asyncio.sleep(0.5)
        before, asking_before = sum(each.cpu() for each in servers), time.process_time()
        started = due = time.perf_counter()
        for at in range(load.moves):
            due += rng.expovariate(load.rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await pages[at % len(pages)].move()
        limit = time.perf_counter() + PATIENCE
        while len(answers.seconds) + len(answers.errors) < load.moves:
            if time.perf_counter() > limit:
                raise SystemExit("some moves were never answered")
            await asyncio.sleep(0.01)
        # Those who watch are told after the one who moves.
        await asyncio.sleep(0.1)
        spent = sum(each.cpu() for each in servers) - before
        asking = (time.process_time() - asking_before) / (time.perf_counter() - started)
    await asyncio.gather(*(page.listener for page in pages))
    if answers.errors:
        raise SystemExit(f"{len(answers.errors)} moves were refused: {answers.errors[0]}")
    cpu = spent / load.moves * MICRO
    return Look(answers.quantile(50), answers.quantile(99), cpu, asking)


async def idle_memory(server: Server, secret: str, games: Sequence[Planned], load: Load) -> float:
    """Tell what an idle socket costs the server in KiB; where there are games, it watches one."""
    for count in (OPENED_AT_ONCE, load.sockets):  # the first warms up
        before = server.memory()
        async with sockets([server], secret, count) as opened:
            if games:
                await watch(opened, games)
            await asyncio.sleep(1)
            spent = server.memory() - before
    return spent / load.sockets


# --- The table ------------------------------------------------------------------------------


@dataclass
class Round:
    """One look at each kind of load."""

    echo: Look
    plain: Look
    watched: Look
    thinking: Look


def one_round(
    bare: Server, program: Program, games: Sequence[Planned], load: Load, at: int
) -> Round:
    """Look at each kind of load; the order changes, because later moves cost other than early."""
    server = program.server
    repeated = [Planned(each.id, itertools.repeat("d4")) for each in games]

    def run(on: Server, played: Sequence[Planned], *, watched: bool) -> Look:
        return asyncio.run(look([on], program.secret, played, load, watched=watched))

    def under_thought() -> Look:
        challenges = [program.challenge() for _ in range(load.thoughts)]
        program.wait_for(load.workers)
        seen = run(server, games, watched=True)
        if program.thinking() < load.workers:
            raise SystemExit("the workers have run out of thoughts")
        for each in challenges:
            program.abort(each)
        program.wait_for(0)
        return seen

    kinds: dict[str, Callable[[], Look]] = {
        "echo": lambda: run(bare, repeated, watched=False),
        "plain": lambda: run(server, games, watched=False),
        "watched": lambda: run(server, games, watched=True),
        "thinking": under_thought,
    }
    looks: dict[str, Look] = {}
    names = list(kinds)
    for name in names[at % len(names) :] + names[: at % len(names)]:
        seen = looks[name] = kinds[name]()
        told = f"p50 {seen.middle:.1f} ms, p99 {seen.slow:.1f} ms, CPU {seen.cpu:.0f} µs"
        print(f"round {at + 1}, {name}: {told}", file=sys.stderr)
    return Round(**looks)


def synced_writes() -> Answers:
    """Time plain writes of one page, each synced to the disk: what no durable server can beat."""
    answers = Answers()
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(SYNCS):
            start = time.perf_counter()
            file.write(bytes(PAGE_BYTES))
            os.fdatasync(file.fileno())
            answers.seconds.append(time.perf_counter() - start)
    return answers


def main() -> None:
    """Print the table of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=500, help="games that are open")
    parser.add_argument("--rate", type=float, default=200, help="moves a second in all of them")
    parser.add_argument("--seconds", type=float, default=5, help="the length of one look")
    parser.add_argument("--rounds", type=int, default=4, help="how often everything is looked at")
    parser.add_argument("--sockets", type=int, default=2000, help="idle sockets; 0 for none")
    parser.add_argument("--workers", type=int, default=6, help="processes that think")
    parser.add_argument("--database", help="of our servers; a new SQLite file unless it is given")
    parser.add_argument(
        "--processes", type=int, default=1, help="of our server that share the database"
    )
    given = parser.parse_args()
    if given.processes > 1 and given.database is None:
        parser.error("several processes need a --database that they can share")
    load = Load(given.games, given.rate, given.seconds, given.rounds, given.sockets, given.workers)
    if load.plies > PLIES:
        parser.error("the games would end: ask for more games, or for fewer moves")
    allow_files()
    print("| what | measured | target |")
    print("|---|---|---|")
    http()
    busy(load, given.database)
    with several(1, given.database) as servers:
        one = held(servers, load)
        if given.database is not None:
            beside_sqlite(servers, load)
    if given.processes > 1:
        with several(given.processes, given.database) as servers:
            rate = held(servers, load)
            print(f"| {given.processes} processes against one | {rate / one:.2f} times | |")
            seen_elsewhere(servers)
    if load.sockets:
        idle(load)


def http() -> None:
    """Print how long a small answer takes over HTTP, beside that of a bare route."""
    answers: dict[str, Answers] = {"echo": Answers(), "kamon": Answers()}
    with Server("echo") as bare, Server("kamon") as server:
        connections = {
            "echo": HTTPConnection(bare.host, timeout=PATIENCE),
            "kamon": HTTPConnection(server.host, timeout=PATIENCE),
        }
        for _ in range(REQUESTS):
            for name, connection in connections.items():
                start = time.perf_counter()
                connection.request("GET", "/api/health")
                connection.getresponse().read()
                answers[name].seconds.append(time.perf_counter() - start)
    middle = {name: each.quantile(50) for name, each in answers.items()}
    print(f"| bare Starlette route over HTTP, kept alive, p50 | {middle['echo']:.2f} ms | |")
    print(f"| `/api/health` over HTTP, kept alive, p50 | {middle['kamon']:.2f} ms | |")
    print(f"| ratio | {middle['kamon'] / middle['echo']:.1f} | at most 3 |")


def held(servers: Sequence[Server], load: Load) -> float:
    """Print and return how many commands a second are made durable in time, in watched games."""
    program = Program(servers[0])
    games = program.to_and_fro(load.games)
    best, asking = 0.0, 0.0
    for rate in itertools.count(RATE_STEP, RATE_STEP):
        asked = Load(load.games, rate, load.seconds, 1, 0, load.workers)
        # Others who use the machine can only make it slower.
        looks = (
            asyncio.run(look(servers, program.secret, games, asked, watched=True))
            for _ in range(ATTEMPTS)
        )
        found = next((each for each in looks if each.slow <= IN_TIME), None)
        if found is None:
            break
        best, asking = float(rate), found.asking
        told = f"p99 {found.slow:.1f} ms, CPU {found.cpu:.0f} µs, asking {asking:.2f} cores"
        print(f"{rate} commands/s: {told}", file=sys.stderr)
    name = f"{load.games} watched games, {len(servers)} process(es), commands/s with p99 100 ms"
    print(f"| {name} | {best:.0f}, asking took {asking:.2f} cores | |")
    return best


def beside_sqlite(servers: Sequence[Server], load: Load) -> None:
    """Print how long a durable move takes in the database that was named, and in SQLite."""
    with Server("kamon") as plain:
        slow = []
        for several_servers in (servers, [plain]):
            program = Program(several_servers[0])
            games = program.to_and_fro(load.games)
            looks = [
                asyncio.run(look(several_servers, program.secret, games, load, watched=True))
                for _ in range(load.rounds)
            ]
            slow.append(min(each.slow for each in looks))
    named, sqlite = slow
    rate = f"{load.games} games, {load.rate:g} durable moves/s"
    print(f"| {rate}, named database and SQLite, p99 | {named:.1f} ms, {sqlite:.1f} ms | |")
    print(f"| ratio | {named / sqlite:.2f} | at most 1.5 |")


def seen_elsewhere(servers: Sequence[Server]) -> None:
    """Print how long a move on the first server takes until a page of the last one shows it."""
    program = Program(servers[0])
    answers = asyncio.run(_seen(servers, program.secret, program.to_and_fro(WATCHED_ELSEWHERE)))
    fast, slow = answers.quantile(50), answers.quantile(99)
    name = "a move on one process, seen on a page of another, p50 and p99"
    print(f"| {name} | {fast:.1f} ms, {slow:.1f} ms | at most 100 ms |")


async def _seen(servers: Sequence[Server], secret: str, games: Sequence[Planned]) -> Answers:
    answers = Answers()
    async with (
        sockets(servers[:1], secret, 1) as (player,),
        sockets(servers[-1:], secret, 1) as (page,),
    ):
        for game in games:
            await page.send(json.dumps({"type": "watch", "game": game.id}))
            for _ in range(MOVES_ELSEWHERE):
                _, text = game.request()
                start = time.perf_counter()
                await player.send(text)
                await _shown(page, game.number)
                answers.seconds.append(time.perf_counter() - start)
    return answers


async def _shown(page: ClientConnection, number: int) -> None:
    """Wait until a page is told of an event."""
    while True:
        message = json.loads(await asyncio.wait_for(page.recv(), PATIENCE))
        if message["type"] == "room" and message["view"]["number"] >= number:
            return


def busy(load: Load, database: str | None) -> None:
    """Print how fast moves are made durable, and what they cost."""
    planned = plans(load.games, load.plies)
    with Server("echo") as bare, Server("kamon", load.workers, database) as server:
        program = Program(server)
        games = program.set_up(planned)
        # The first thought loads the engine, and the first moves the rest.
        program.abort(program.challenge())
        program.wait_for(0)
        first = Load(load.games, load.rate, load.games / load.rate, 1, 0, load.workers)
        asyncio.run(look([server], program.secret, games, first, watched=True))
        rounds = [one_round(bare, program, games, load, at) for at in range(load.rounds)]
    disk = synced_writes()
    others = f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    print(f"| how busy the machine was (load over five minutes, ours included) | {others} | |")

    def best(value: Callable[[Round], float]) -> float:
        return min(map(value, rounds))

    def times(name: str, which: Callable[[Round], Look]) -> float:
        fast, slow = best(lambda each: which(each).middle), best(lambda each: which(each).slow)
        print(f"| {name}, p50 and p99 | {fast:.1f} ms, {slow:.1f} ms | |")
        return slow

    def work(name: str, which: Callable[[Round], Look]) -> float:
        cpu = statistics.median(which(each).cpu for each in rounds)
        print(f"| CPU per {name} | {cpu:.0f} µs | |")
        return statistics.median(which(each).cpu / each.echo.cpu for each in rounds)

    times("bare Starlette echo", lambda each: each.echo)
    fast, slow = disk.quantile(50), disk.quantile(99)
    print(f"| one page written and synced, p50 and p99 | {fast:.1f} ms, {slow:.1f} ms | |")
    rate = f"{load.games} games, {load.rate:g} durable moves/s"
    times(f"{rate}, nobody watches", lambda each: each.plain)
    quiet = times(f"{rate}, each open on one page", lambda each: each.watched)
    while_thinking = times(f"the same while {load.workers} worker(s) think", lambda r: r.thinking)
    print(f"| p99 while the workers think, ratio | {while_thinking / quiet:.2f} | at most 1.5 |")
    work("echo", lambda each: each.echo)
    ratio = work("durable move, nobody watches", lambda each: each.plain)
    print(f"| ratio to an echo | {ratio:.1f} | at most 4 |")
    ratio = work("durable move, one page is told of it", lambda each: each.watched)
    print(f"| ratio to an echo | {ratio:.1f} | at most 4 |")


def idle(load: Load) -> None:
    """Print what sockets cost on which nothing happens."""
    with Server("echo") as bare:
        bare_size = asyncio.run(idle_memory(bare, "", (), load))
    with Server("kamon", load.workers) as server:
        program = Program(server)
        games = program.set_up(plans(load.sockets, 0))
        size = asyncio.run(idle_memory(server, program.secret, games, load))
    print(f"| {load.sockets:,} idle sockets, bare Starlette, each | {bare_size:.1f} KiB | |")
    print(
        f"| {load.sockets:,} idle sockets that watch a game of their own, each | {size:.1f} KiB "
        "| at most 35 |"
    )


if __name__ == "__main__":
    main()
