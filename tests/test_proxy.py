"""The proxy of the trials: every server in its turn, nothing invented, faults only on request."""

import argparse
import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from tools import proxy
from tools.proxy import Backend, Faults, Proxy

pytestmark = pytest.mark.anyio

REQUEST = b"GET / HTTP/1.1\r\nHost: kamon.example\r\n\r\n"
UPGRADE = b"GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Fake:
    """A server that says its name, remembers what it was asked, and echoes on WebSockets."""

    name: str
    ready: bool = True
    port: int = 0
    heads: list[bytes] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Fake"]:
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        yield self
        server.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            await self.answer_head(await reader.readuntil(b"\r\n\r\n"), reader, writer)
        writer.close()

    async def answer_head(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if b"/api/ready" in head:
            status = b"200 OK" if self.ready else b"503 Service Unavailable"
            writer.write(b"HTTP/1.1 " + status + b"\r\n\r\n")
        else:
            self.heads.append(head)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + self.name.encode())
            if b"websocket" in head:
                while piece := await reader.read(100):
                    writer.write(piece)
            elif found := re.search(rb"content-length: (\d+)", head):
                writer.write(await reader.readexactly(int(found[1])))


@asynccontextmanager
async def behind(*fakes: Fake, faults: Faults | None = None) -> AsyncIterator[int]:
    """Run a proxy in front of some servers."""
    async with AsyncExitStack() as stack:
        for fake in fakes:
            await stack.enter_async_context(fake.running())
        backends = [Backend("127.0.0.1", fake.port) for fake in fakes]
        made = Proxy(backends, faults)
        port = await stack.enter_async_context(made.serving("127.0.0.1", 0))
        # Until every server was checked.
        async with asyncio.timeout(10):
            while any(a.ready != b.ready for a, b in zip(backends, fakes, strict=True)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield port


async def ask(port: int, request: bytes = REQUEST) -> bytes:
    """Send a request; return all of the answer."""
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
    return answer


async def served_by(port: int) -> str:
    return (await ask(port)).rpartition(b"\r\n\r\n")[2].decode()


async def test_every_server_has_its_turn() -> None:
    async with behind(Fake("a"), Fake("b"), Fake("c")) as port:
        assert [await served_by(port) for _ in range(6)] == [*"abcabc"]


async def test_websockets_are_spread_evenly_whatever_else_is_asked() -> None:
    async with behind(first := Fake("a"), second := Fake("b")) as port:
        for _ in range(4):
            await ask(port)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(UPGRADE)
            await reader.readuntil(b"\r\n\r\n")
            writer.close()
    for server in (first, second):
        assert sum(b"websocket" in head for head in server.heads) == 2


async def test_a_server_that_is_not_ready_gets_nothing() -> None:
    async with behind(Fake("a"), Fake("b", ready=False)) as port:
        assert [await served_by(port) for _ in range(4)] == [*"aaaa"]


async def test_a_server_that_is_not_ready_is_better_than_none() -> None:
    async with behind(Fake("a", ready=False)) as port:
        assert await served_by(port) == "a"


async def test_another_server_is_tried_where_one_cannot_be_reached() -> None:
    async with Fake("a").running() as living:
        backends = [Backend("127.0.0.1", 1), Backend("127.0.0.1", living.port)]
        async with Proxy(backends).serving("127.0.0.1", 0) as port:
            assert await served_by(port) == "a"
            assert await served_by(port) == "a"


async def test_without_any_server_the_client_is_told_to_come_back() -> None:
    async with Proxy([Backend("127.0.0.1", 1)]).serving("127.0.0.1", 0) as port:
        answer = await ask(port)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1" in answer


async def test_the_server_learns_who_asks() -> None:
    async with behind(server := Fake("a")) as port:
        await ask(port)
        await ask(port, REQUEST.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 10.0.0.7\r\n\r\n"))
    first, second = server.heads
    assert b"\r\nx-forwarded-for: 127.0.0.1\r\n" in first
    assert b"\r\nx-forwarded-proto: http\r\n" in first
    # The one before us is named first; the server takes the last that is no trusted proxy.
    assert b"\r\nx-forwarded-for: 10.0.0.7, 127.0.0.1\r\n" in second


async def test_a_connection_is_good_for_one_request() -> None:
    async with behind(server := Fake("a")) as port:
        await ask(port, REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: keep-alive\r\n\r\n"))
    (head,) = server.heads
    assert b"\r\nhost: kamon.example\r\n" in head
    assert re.findall(rb"connection: (.*)\r", head) == [b"close"]


async def test_a_body_passes_whole() -> None:
    body = bytes(range(256)) * 2000
    request = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with behind(Fake("a")) as port:
        assert (await ask(port, request + body)).endswith(b"\r\n\r\na" + body)


async def test_a_websocket_is_piped_both_ways() -> None:
    async with behind(server := Fake("a")) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(UPGRADE)
        await reader.readuntil(b"\r\n\r\na")
        for said in (b"one", b"two"):
            writer.write(said)
            assert await reader.readexactly(3) == said
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    assert b"\r\nconnection: Upgrade\r\n" in server.heads[0]


async def test_an_endless_head_is_refused() -> None:
    async with behind(server := Fake("a")) as port:
        answer = await ask(port, b"GET / HTTP/1.1\r\nX: " + b"x" * proxy.LARGEST_HEAD + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert server.heads == []


async def test_a_connection_is_cut() -> None:
    async with behind(server := Fake("a"), faults=Faults(cut=1)) as port:
        with suppress(ConnectionResetError):
            assert await ask(port) == b""
    assert server.heads == []


async def test_a_connection_is_duplicated_and_one_answer_is_heard() -> None:
    async with behind(first := Fake("a"), second := Fake("b"), faults=Faults(duplicate=1)) as port:
        assert await served_by(port) == "a"
        async with asyncio.timeout(10):
            while not second.heads:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.01)
    assert first.heads == second.heads


async def test_a_piece_is_delayed() -> None:
    async with behind(Fake("a"), faults=Faults(delay=1, seed=3)) as port:
        started = time.monotonic()
        assert await served_by(port) == "a"
        assert time.monotonic() - started > 0.05


def test_the_same_seed_makes_the_same_faults() -> None:
    made = [Proxy([], Faults(cut=0.5, seed=7)) for _ in range(2)]
    first, second = ([each._happens(0.5) for _ in range(64)] for each in made)
    assert first == second
    assert len(set(first)) == 2


def test_a_server_is_named_by_its_host_and_port() -> None:
    assert Backend.parse("127.0.0.1:8041") == Backend("127.0.0.1", 8041)
    assert Backend.parse("[::1]:8041") == Backend("::1", 8041)
    for bad in ("8041", ":8041", "localhost", "localhost:http"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not HOST:PORT"):
            Backend.parse(bad)
