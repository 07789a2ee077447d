"""Connections: so many for each address, and so many requests on them."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from ipaddress import ip_network

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from kamon.web import connections
from kamon.web.connections import (
    CONNECTIONS_PER_ADDRESS,
    BoundedWebSocket,
    Doorkeeper,
    http_protocol,
)
from kamon.web.limits import BUDGETS
from web_server import PATIENCE

pytestmark = pytest.mark.anyio

ARRIVALS = BUDGETS["arrivals"]
EVE, ANN = "192.0.2.1", "192.0.2.2"


def test_an_address_has_so_many_connections_and_gets_their_places_back() -> None:
    door = Doorkeeper(10_000)
    assert all(door.admit(EVE) for _ in range(CONNECTIONS_PER_ADDRESS))
    assert not door.admit(EVE)
    assert door.admit(ANN)
    door.release(EVE)
    assert door.admit(EVE)


def test_there_is_a_limit_for_all_together() -> None:
    door = Doorkeeper(1)
    assert door.admit(EVE)
    assert not door.admit(ANN)


def test_an_ipv6_network_counts_as_one_address() -> None:
    door = Doorkeeper(10_000)
    for number in range(CONNECTIONS_PER_ADDRESS):
        assert door.admit(f"2001:db8:1:2::{number:x}")
    assert not door.admit("2001:db8:1:2:ffff::1")
    assert door.admit("2001:db8:1:3::1")


def test_who_asks_too_often_is_not_read_for_a_while() -> None:
    door = Doorkeeper(10_000)
    delays = [door.pace(EVE) for _ in range(int(ARRIVALS.burst) + 60)]
    assert not any(delays[: int(ARRIVALS.burst)])
    # Everything beyond the budget makes the next one wait longer, on whichever connection.
    assert 0.5 < delays[-1] <= 60 / ARRIVALS.rate
    assert door.pace(ANN) == 0


def test_who_has_asked_too_often_cannot_open_another_connection() -> None:
    door = Doorkeeper(10_000)
    assert door.may_ask(EVE, ARRIVALS.burst + 60)
    assert not door.may_ask(EVE)
    assert not door.admit(EVE)
    assert door.admit(ANN)


def test_a_trusted_proxy_is_not_paced() -> None:
    door = Doorkeeper(10_000, [ip_network("192.0.2.0/24")])
    assert all(door.admit(EVE) for _ in range(CONNECTIONS_PER_ADDRESS + 1))
    assert not any(door.pace(EVE) for _ in range(int(2 * ARRIVALS.burst)))


# --- On a real server -----------------------------------------------------------------------


async def echo(page: WebSocket) -> None:
    await page.accept()
    async for text in page.iter_text():
        await page.send_text(text)


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@pytest.fixture
async def door() -> Doorkeeper:
    return Doorkeeper(10_000)


@pytest.fixture
async def host(door: Doorkeeper) -> AsyncIterator[str]:
    """A server whose connections are bounded, and that says little."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/ws", echo), Route("/", hello)]),
        http=http_protocol(door),
        ws=BoundedWebSocket,
        log_config=None,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    async with asyncio.timeout(PATIENCE):
        while not server.started:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving


async def test_a_request_whose_head_does_not_end_is_cut_off(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    address, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(address, int(port))
    try:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
        async with asyncio.timeout(PATIENCE):
            # It is reset, or ends.
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read(1) == b""
    finally:
        writer.close()


async def test_requests_beyond_the_budget_are_answered_later(host: str, door: Doorkeeper) -> None:
    async with httpx.AsyncClient(base_url=f"http://{host}", trust_env=False) as client:
        assert (await client.get("/")).text == "hello"
        door.pace("127.0.0.1", ARRIVALS.burst + 0.5 * ARRIVALS.rate)
        # This one makes the server wait, and the next one has to.
        await client.get("/")
        started = time.monotonic()
        assert (await client.get("/")).text == "hello"
        assert time.monotonic() - started > 0.2
    door.pace("127.0.0.1", ARRIVALS.burst)
    async with httpx.AsyncClient(base_url=f"http://{host}", trust_env=False) as other:
        with pytest.raises(httpx.TransportError):
            await other.get("/")
