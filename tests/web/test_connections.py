"""Connections: what is bounded, and what is sent in one go, over real sockets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect

from kamon.cli.serve import bind
from kamon.web import connections
from kamon.web.connections import BoundedWebSocket, Doorkeeper, http_protocol

pytestmark = pytest.mark.anyio


async def echo(page: WebSocket) -> None:
    await page.accept()
    async for text in page.iter_text():
        await page.send_text(text)


async def talk(page: WebSocket) -> None:
    """Send three messages at once, and a last one just before the end."""
    await page.accept()
    for text in ("one", "two", "three"):
        await page.send_text(text)
    await asyncio.sleep(0.05)
    await page.send_text("farewell")
    await page.close()


async def listen_once(page: WebSocket) -> None:
    """Take one message, and no more until the client goes away."""
    await page.accept()
    await page.receive_text()
    await asyncio.sleep(1)


class Noted(BoundedWebSocket):
    """Notes what there is to see for a test: the connections, and how much is sent in one go."""

    opened: ClassVar[list["Noted"]] = []
    sent: ClassVar[list[int]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.opened.append(self)

    def _send_now(self) -> None:
        self.sent.append(len(self.conn.writes))
        super()._send_now()


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    Noted.opened.clear()
    Noted.sent.clear()


@contextlib.asynccontextmanager
async def connected(path: str) -> AsyncIterator[ClientConnection]:
    """Serve the functions above with our protocols, and connect to one of them."""
    routes = [
        WebSocketRoute("/echo", echo),
        WebSocketRoute("/talk", talk),
        WebSocketRoute("/listen-once", listen_once),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes),
        http=http_protocol(Doorkeeper(10)),
        ws=Noted,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    listener = bind("127.0.0.1", 0)
    listener.listen()
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    address = f"ws://127.0.0.1:{listener.getsockname()[1]}{path}"
    try:
        async with connect(address, compression=None, proxy=None) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


async def test_a_websocket_lives_longer_than_a_request_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    async with connected("/echo") as client:
        await asyncio.sleep(0.3)
        await client.send("still here")
        assert await client.recv() == "still here"


async def test_messages_of_one_moment_are_sent_together_and_in_order() -> None:
    async with connected("/talk") as client:
        assert [text async for text in client] == ["one", "two", "three", "farewell"]
    assert Noted.sent[0] == 3


async def test_messages_of_different_moments_are_sent_one_by_one() -> None:
    async with connected("/echo") as client:
        for text in ("one", "two"):
            await client.send(text)
            assert await client.recv() == text
    assert Noted.sent == [1, 1]


async def test_the_server_stops_reading_where_nobody_takes_the_messages() -> None:
    async with connected("/listen-once") as client:
        for _ in range(10):
            await client.send("x")
            await asyncio.sleep(0.02)
        (connection,) = Noted.opened
        assert connection.read_paused
        # One that waits, and one that has made the server stop.
        assert connection.queue.qsize() == 2
