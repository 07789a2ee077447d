"""A small balancing proxy for tests and trials. To serve the public, use nginx or another one.

Every connection goes to the next server that is ready, so a page meets a different server whenever
it connects: nothing here is sticky. A request has a connection of its own, because only the first
head of a connection is read; WebSockets are piped in both directions. For fault tests the proxy can
delay, cut and duplicate what passes through it.
"""

import argparse
import asyncio
import contextlib
import itertools
import signal
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

LARGEST_HEAD: Final = 64 * 1024
PIECE: Final = 64 * 1024
# Seconds: for a head, for a connection to a server, for an answer to the check, between checks.
HEAD_TIMEOUT: Final = 10.0
CONNECT_TIMEOUT: Final = 2.0
CHECK_TIMEOUT: Final = 2.0
CHECK_EVERY: Final = 0.5
CHECK: Final = b"GET /api/ready HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n"
REFUSAL: Final = "HTTP/1.1 {}\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
# Seconds that a piece may be held back.
LONGEST_DELAY: Final = 0.3

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True)
class Backend:
    """A server behind the proxy, and what its last check said."""

    host: str
    port: int
    ready: bool = True

    @classmethod
    def parse(cls, text: str) -> "Backend":
        """Read ``HOST:PORT``."""
        host, _, port = text.rpartition(":")
        if not host or not port.isdecimal():
            raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:8041")
        return cls(host.strip("[]"), int(port))

    async def connect(self) -> Streams:
        """Open a connection, or raise an ``OSError``."""
        async with asyncio.timeout(CONNECT_TIMEOUT):
            return await asyncio.open_connection(self.host, self.port)

    async def check(self) -> None:
        """Ask the server whether it is ready."""
        try:
            async with asyncio.timeout(CHECK_TIMEOUT), _closing(await self.connect()) as streams:
                reader, writer = streams
                writer.write(CHECK)
                self.ready = (await reader.readline()).split()[1:2] == [b"200"]
        except OSError:
            self.ready = False


@dataclass(frozen=True, slots=True)
class Faults:
    """How probable each fault is.

    A piece is delayed, or lost together with its connection. If a connection is duplicated, two
    servers receive everything that comes over it, and only the first is heard.
    """

    delay: float = 0.0
    cut: float = 0.0
    duplicate: float = 0.0
    seed: int = 0


class Head:
    """The first lines of a request, up to the empty one."""

    def __init__(self, raw: bytes) -> None:
        first, *lines = raw.removesuffix(b"\r\n\r\n").split(b"\r\n")
        self.request_line = first
        self.headers = [
            (name.strip().lower(), value.strip())
            for name, _, value in (line.partition(b":") for line in lines)
        ]

    def value(self, wanted: bytes) -> bytes:
        """Return a header, or nothing. Several lines of one header are joined."""
        return b", ".join(value for name, value in self.headers if name == wanted)

    @property
    def is_websocket(self) -> bool:
        """Tell whether the connection is to become a WebSocket."""
        return self.value(b"upgrade").lower() == b"websocket"

    def forwarded(self, client: str) -> bytes:
        """Write the head as the server should see it."""
        told = self.value(b"x-forwarded-for")
        changed = {
            b"x-forwarded-for": b", ".join([told, client.encode()] if told else [client.encode()]),
            b"x-forwarded-proto": b"http",
        }
        if not self.is_websocket:
            changed[b"connection"] = b"close"
        kept = [(name, value) for name, value in self.headers if name not in changed]
        lines = [name + b": " + value for name, value in [*kept, *changed.items()]]
        return b"\r\n".join([self.request_line, *lines, b"", b""])


class Proxy:
    """Passes connections on to servers, in turn."""

    def __init__(self, backends: Sequence[Backend], faults: Faults | None = None) -> None:
        self.backends = backends
        self._faults = faults or Faults()
        self._random = Random(self._faults.seed)  # noqa: S311 - chooses faults, no secret
        # Counted apart, or pages that ask an even number of times would all meet on one server.
        self._turns = {True: itertools.count(), False: itertools.count()}
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def serving(self, host: str, port: int) -> AsyncIterator[int]:
        """Listen while a block runs; yield the port."""
        server = await asyncio.start_server(self._accept, host, port, limit=LARGEST_HEAD)
        checks = asyncio.create_task(self._check_for_ever())
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            checks.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(checks, *self._tasks, return_exceptions=True)

    async def _check_for_ever(self) -> None:
        while True:
            await asyncio.gather(*(backend.check() for backend in self.backends))
            await asyncio.sleep(CHECK_EVERY)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle each connection in a task of ours, which ends when the proxy does."""
        task = asyncio.create_task(self._handle(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A connection that breaks is nothing to report: the page or the server notices as well.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with _closing((reader, writer)):
                try:
                    async with asyncio.timeout(HEAD_TIMEOUT):
                        head = Head(await reader.readuntil(b"\r\n\r\n"))
                except asyncio.LimitOverrunError:
                    return await _refuse(writer, "431 Request Header Fields Too Large")
                wanted = 2 if self._happens(self._faults.duplicate) else 1
                servers = await self._connect(wanted, self._turns[head.is_websocket])
                if not servers:
                    return await _refuse(writer, "503 Service Unavailable")
                async with contextlib.AsyncExitStack() as stack:
                    for streams in servers:
                        await stack.enter_async_context(_closing(streams))
                    client = str(writer.get_extra_info("peername")[0])
                    await self._exchange((reader, writer), servers, head.forwarded(client))
        return None

    async def _connect(self, wanted: int, turns: Iterator[int]) -> list[Streams]:
        """Connect to the next servers in turn; first to those that are ready."""
        turn = next(turns) % len(self.backends)
        in_turn = [*self.backends[turn:], *self.backends[:turn]]
        found: list[Streams] = []
        # The last check may be out of date, so a server that was not ready is better than none.
        for backend in sorted(in_turn, key=lambda backend: not backend.ready):
            try:
                found.append(await backend.connect())
            except OSError:
                backend.ready = False
            if len(found) == wanted:
                break
        return found

    async def _exchange(self, client: Streams, servers: list[Streams], head: bytes) -> None:
        """Pass on what both ends say, until the server has said everything."""
        (reader, writer), (answers, server), *copies = client, *servers
        try:
            async with asyncio.TaskGroup() as group:
                asking = self._pipe(reader, server, head, [copy for _, copy in copies])
                tasks = [group.create_task(asking)]
                tasks += [group.create_task(_discard(unread)) for unread, _ in copies]
                await self._pipe(answers, writer)
                for task in tasks:
                    task.cancel()
        except* OSError:
            for _, each in (client, *servers):
                each.transport.abort()

    async def _pipe(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        first: bytes = b"",
        copies: Iterable[asyncio.StreamWriter] = (),
    ) -> None:
        """Pass pieces on, each with its faults; the end of one side is the end of the other."""
        piece = first or await reader.read(PIECE)
        while piece:
            if self._happens(self._faults.delay):
                await asyncio.sleep(self._random.uniform(0, LONGEST_DELAY))
            if self._happens(self._faults.cut):
                raise ConnectionAbortedError
            for copy in copies:
                if not copy.is_closing():
                    copy.write(piece)
            writer.write(piece)
            await writer.drain()
            piece = await reader.read(PIECE)
        writer.write_eof()

    def _happens(self, probability: float) -> bool:
        return self._random.random() < probability


@contextlib.asynccontextmanager
async def _closing(streams: Streams) -> AsyncIterator[Streams]:
    try:
        yield streams
    finally:
        streams[1].close()


async def _discard(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(PIECE):
            pass


async def _refuse(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(REFUSAL.format(status).encode())
    await writer.drain()


async def run(options: argparse.Namespace) -> None:
    """Serve until somebody ends the process."""
    faults = Faults(options.delay, options.cut, options.duplicate, options.seed)
    async with Proxy(options.backends, faults).serving(options.host, options.port) as port:
        print(f"The proxy is at http://{options.host}:{port}", flush=True)
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await ended.wait()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("backends", nargs="+", type=Backend.parse, metavar="HOST:PORT")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8037)
    for name in ("delay", "cut", "duplicate"):
        parser.add_argument(f"--{name}", type=float, default=0.0, help="a probability, 0 to 1")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
