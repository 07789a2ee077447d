"""Connections: how many each address may have, how idle they may be, and how much they may send."""

import asyncio
import contextlib
import inspect
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

from kamon.cli.serve import bind
from kamon.web import connections as module
from kamon.web.connections import (
    CONNECTIONS_PER_ADDRESS,
    WEBSOCKET_BURST,
    Connections,
    RequestTracker,
    protocols,
)
from web_server import PATIENCE, eventually

pytestmark = pytest.mark.anyio

EVE, ANN = "192.0.2.1", "192.0.2.2"


class FakeTransport(asyncio.Transport):
    """A connection from an address, for what is only counted."""

    def __init__(self, address: str, port: int = 0) -> None:
        super().__init__({"peername": (address, port)})
        self.aborted = False
        self.unsent = 0

    def abort(self) -> None:
        self.aborted = True

    def get_write_buffer_size(self) -> int:
        return self.unsent


def admit(connections: Connections, address: str, count: int) -> list[FakeTransport]:
    """Connect several times from an address, each time from another port."""
    opened = [FakeTransport(address, port) for port in range(count)]
    for transport in opened:
        connections.admit(transport)
    return opened


# --- Counting ---------------------------------------------------------------------------------


def test_an_address_has_a_limited_number_of_connections_and_gets_them_back() -> None:
    connections = Connections(10_000)
    opened = admit(connections, EVE, CONNECTIONS_PER_ADDRESS + 1)
    assert [each.aborted for each in opened].index(True) == CONNECTIONS_PER_ADDRESS
    (ann,) = admit(connections, ANN, 1)
    assert not ann.aborted
    connections.release(opened[0])
    connections.release(opened[-1])
    again = FakeTransport(EVE, 9_000)
    connections.admit(again)
    assert not again.aborted
    assert len(connections) == CONNECTIONS_PER_ADDRESS + 1


def test_there_is_a_limit_for_all_together() -> None:
    connections = Connections(1)
    (ann,), (eve,) = admit(connections, ANN, 1), admit(connections, EVE, 1)
    assert (ann.aborted, eve.aborted) == (False, True)


def test_an_ipv6_network_counts_as_one_address() -> None:
    connections = Connections(10_000)
    for number in range(CONNECTIONS_PER_ADDRESS):
        admit(connections, f"2001:db8:1:2::{number:x}", 1)
    (same,) = admit(connections, "2001:db8:1:2:ffff::1", 1)
    (other,) = admit(connections, "2001:db8:1:3::1", 1)
    assert (same.aborted, other.aborted) == (True, False)


def test_a_trusted_proxy_may_have_as_many_connections_as_it_needs() -> None:
    connections = Connections(10_000, [ip_network("192.0.2.0/31")])
    assert not any(each.aborted for each in admit(connections, EVE, CONNECTIONS_PER_ADDRESS * 2))


def test_whoever_is_cut_off_is_reported_with_the_reason() -> None:
    connections, reasons = Connections(1), list[str]()
    connections.on_refused = reasons.append
    admit(connections, EVE, 2)
    assert reasons == ["all connections"]


# --- Connections that do nothing --------------------------------------------------------------


def test_a_connection_without_a_request_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Connections(10, [ip_network(ANN)])
    silent, asking, answered = admit(connections, EVE, 3)
    (proxy,) = admit(connections, ANN, 1)
    connections.begin_request((EVE, 1))
    connections.begin_request((EVE, 2))
    connections.end_request((EVE, 2))
    connections.end_useless()
    assert not silent.aborted
    monkeypatch.setattr(module, "IDLE_SECONDS", -1)
    connections.end_useless()
    assert [each.aborted for each in (silent, asking, answered, proxy)] == [
        True,
        False,
        True,
        False,
    ]


def test_an_answer_that_nobody_reads_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Connections(10)
    stalled, slow = admit(connections, EVE, 2)
    for port in range(2):
        connections.begin_request((EVE, port))
    stalled.unsent = slow.unsent = 1_000
    connections.end_useless()
    monkeypatch.setattr(module, "STALLED_SECONDS", 0)
    # Somebody with a slow line has read a little; the clock starts again.
    slow.unsent = 900
    connections.end_useless()
    assert (stalled.aborted, slow.aborted) == (True, False)


# --- Real connections -------------------------------------------------------------------------


async def echo(page: WebSocket) -> None:
    await page.accept()
    async for text in page.iter_text():
        await page.send_text(text)


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def large(_: Request) -> PlainTextResponse:
    return PlainTextResponse("x" * 20_000_000)


@contextlib.asynccontextmanager
async def served(connections: Connections) -> AsyncIterator[int]:
    """Serve the functions above with our protocols, and tell the port."""
    routes: list[Any] = [
        WebSocketRoute("/echo", echo),
        Route("/hello", hello),
        Route("/large", large),
    ]
    http, websocket = protocols(connections)
    config = uvicorn.Config(
        RequestTracker(Starlette(routes=routes), connections),
        http=http,
        ws=websocket,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    listener = bind("127.0.0.1", 0)
    listener.listen()
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    watching = asyncio.create_task(connections.watch())
    try:
        yield listener.getsockname()[1]
    finally:
        watching.cancel()
        server.should_exit = True
        await serving


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lose patience soon."""
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(module, "STALLED_SECONDS", 0.3)
    monkeypatch.setattr(module, "SWEEP_SECONDS", 0.05)


async def ends(connection: socket.socket) -> bool:
    """Wait until the other end has closed a connection; whatever it has sent is thrown away."""

    def read_all() -> bool:
        connection.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(1 << 20):
                pass
        return True

    return await asyncio.to_thread(read_all)


@pytest.mark.usefixtures("fast")
async def test_half_a_request_ends_the_connection() -> None:
    async with served(Connections(10)) as port:
        with socket.create_connection(("127.0.0.1", port)) as half:
            half.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n")
            assert await ends(half)


@pytest.mark.usefixtures("fast")
async def test_half_a_second_request_ends_the_connection() -> None:
    async with served(Connections(10)) as port:
        with socket.create_connection(("127.0.0.1", port)) as half:
            half.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /hello HTTP/1.1\r\n")
            assert await ends(half)


@pytest.mark.usefixtures("fast")
async def test_a_large_answer_that_nobody_reads_is_given_up() -> None:
    connections = Connections(10)
    async with served(connections) as port:
        with socket.create_connection(("127.0.0.1", port)) as deaf:
            deaf.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            await eventually(lambda: len(connections) == 1)
            await eventually(lambda: not len(connections))


@pytest.mark.usefixtures("fast")
async def test_a_websocket_may_be_silent_for_as_long_as_it_likes() -> None:
    connections = Connections(10)
    async with served(connections) as port:
        async with connect(f"ws://127.0.0.1:{port}/echo", proxy=None) as page:
            await asyncio.sleep(0.7)
            await page.send("still here")
            assert await page.recv() == "still here"
            assert len(connections) == 1
        await eventually(lambda: not len(connections))


@pytest.mark.parametrize("kind", [Opcode.PONG, Opcode.PING, Opcode.TEXT])
async def test_a_websocket_that_sends_more_than_a_page_would_is_cut_off(kind: Opcode) -> None:
    connections, reasons = Connections(10), list[str]()
    connections.on_refused = reasons.append
    frame = Frame(kind, b"").serialize(mask=True)
    async with (
        served(connections) as port,
        connect(f"ws://127.0.0.1:{port}/echo", proxy=None, compression=None) as page,
    ):
        page.transport.write(frame * (WEBSOCKET_BURST // len(frame) + 1_000))
        await asyncio.wait_for(page.wait_closed(), PATIENCE)
    assert reasons == ["bytes on a WebSocket"]


async def test_a_websocket_may_send_as_much_as_a_page_does() -> None:
    async with (
        served(Connections(10)) as port,
        connect(f"ws://127.0.0.1:{port}/echo", proxy=None, compression=None) as page,
    ):
        for _ in range(60):
            await page.send("x" * 150)
        for _ in range(60):
            assert await page.recv() == "x" * 150


async def test_the_head_of_the_request_for_a_websocket_does_not_count() -> None:
    cookies = [(f"X-{number}", "x" * 6_000) for number in range(WEBSOCKET_BURST // 6_000 + 1)]
    async with (
        served(Connections(10)) as port,
        connect(
            f"ws://127.0.0.1:{port}/echo", proxy=None, compression=None, additional_headers=cookies
        ) as page,
    ):
        await page.send("x" * 1_000)
        assert await page.recv() == "x" * 1_000


async def test_one_address_may_not_take_all_connections() -> None:
    connections = Connections(10_000)

    def connect_often(port: int) -> list[socket.socket]:
        count = CONNECTIONS_PER_ADDRESS + 20
        return [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(count)]

    async with served(connections) as port:
        held = await asyncio.to_thread(connect_often, port)
        assert await ends(held[-1])
        for each in held:
            each.close()
        # When they are gone there is room again.
        await eventually(lambda: not len(connections))
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/hello")).text == "hello"


# --- uvicorn ----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [H11Protocol, WebSocketsSansIOProtocol])
def test_uvicorns_classes_are_protocols_that_are_made_with_what_it_gives_them(base: type) -> None:
    """Their paths are all that we use of uvicorn beside its documented options."""
    assert issubclass(base, asyncio.Protocol)
    assert {"config", "server_state", "app_state"} <= set(inspect.signature(base).parameters)
    for ours in protocols(Connections(1)):
        overridden = {name for name in vars(ours) if callable(vars(ours)[name])}
        assert overridden <= set(dir(asyncio.Protocol))
