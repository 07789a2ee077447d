"""Deadlines end connections that ask for nothing, and no others."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from kamon.cli.serve import bind
from kamon.web import connections
from kamon.web.connections import BoundedWebSocket, Doorkeeper, http_protocol
from web_server import PATIENCE, until

DEADLINE = 0.3
ASK = b"GET / HTTP/1.1\r\nHost: kamon.example\r\n\r\n"


async def _answer(_: object) -> PlainTextResponse:
    return PlainTextResponse("here")


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    async for said in socket.iter_text():
        await socket.send_text(said)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Serve in a thread, with a short deadline."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", DEADLINE)
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        Starlette(routes=[Route("/", _answer), WebSocketRoute("/ws", _echo)]),
        http=http_protocol(Doorkeeper(10)),
        ws=BoundedWebSocket,
        log_config=None,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    until(lambda: server.started, "the server")
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)


def test_a_head_that_does_not_come_ends_the_connection(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.sendall(ASK[:-2])
        assert client.recv(100) == b""


def test_a_kept_connection_may_ask_again_but_not_half(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        for _ in range(2):
            client.sendall(ASK)
            answer = b""
            while not answer.endswith(b"here"):
                answer += client.recv(1000)
        client.sendall(ASK[:-2])
        assert client.recv(1000) == b""
