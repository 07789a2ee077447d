"""Limits on connections, for what no proxy does and for servers that have none.

Public servers stand behind nginx (deploy/nginx.conf), which deals with slow and greedy visitors.
nginx does not look inside a WebSocket, and a server on a local network has no proxy. So this module
counts the connections of each address, ends those on which no request arrives, and weighs what a
WebSocket receives.

The two protocol classes override nothing but methods of ``asyncio.Protocol``. The paths of their
base classes are the only names of uvicorn that are not documented (tests/web/test_connections.py).
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from kamon.web.limits import network_of

Network = IPv4Network | IPv6Network
Peer = tuple[str, int]

# Connections of one address; a trusted proxy may have as many as it needs.
CONNECTIONS_PER_ADDRESS: Final = 120
# Seconds that a connection may be open without a request under way. A request whose head has not
# arrived in full is not under way. uvicorn itself closes idle connections after 5 seconds.
IDLE_SECONDS: Final = 12.0
# Seconds in which somebody must read at least a part of what is sent to them.
STALLED_SECONDS: Final = 20.0
SWEEP_SECONDS: Final = 2.0
# Bytes that a page may send at once, and in each second after that. A move has about 150. Every
# frame has at least 6, so this bounds pings, pongs and empty frames as well. uvicorn keeps all
# messages that arrive at once: 40 sockets with the smallest ones take 12 MiB.
WEBSOCKET_BURST: Final = 12 * 1024
WEBSOCKET_RATE: Final = 8 * 1024

_log = logging.getLogger("kamon.security")


class _Connection:
    """One open connection. ``idle_since`` is None while a request is under way."""

    __slots__ = ("idle_since", "moved_at", "network", "transport", "trusted", "unsent")

    def __init__(self, transport: asyncio.Transport, network: str, *, trusted: bool) -> None:
        self.transport = transport
        self.network = network
        self.trusted = trusted
        self.idle_since: float | None = time.monotonic()
        # Bytes that wait to be read at the other end, and when any of them last were.
        self.unsent = 0
        self.moved_at = time.monotonic()

    def problem(self, now: float) -> str | None:
        """Say why the connection should be ended, if it should."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent != self.unsent:
            self.unsent, self.moved_at = unsent, now
        if unsent:
            return "answers not read" if now - self.moved_at > STALLED_SECONDS else None
        idle = self.idle_since is not None and now - self.idle_since > IDLE_SECONDS
        return "no request" if idle and not self.trusted else None


class Connections:
    """The open connections of one server."""

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        # Is called with the reason whenever a connection is cut off.
        self.on_refused: Callable[[str], None] = lambda _: None
        self._most = most
        self._trusted = trusted
        self._open: dict[Peer, _Connection] = {}
        self._by_network: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, transport: asyncio.Transport) -> None:
        """Count a new connection, or end it if its address has too many."""
        peer = _peer(transport)
        network, trusted = network_of(peer[0]), self._is_trusted(peer[0])
        if len(self._open) >= self._most:
            self.refuse(transport, "all connections")
        elif self._by_network[network] >= CONNECTIONS_PER_ADDRESS and not trusted:
            self.refuse(transport, "connections of one address")
        else:
            self._open[peer] = _Connection(transport, network, trusted=trusted)
            self._by_network[network] += 1

    def release(self, transport: asyncio.Transport) -> None:
        """Forget a connection that has ended."""
        connection = self._open.get(_peer(transport))
        if connection is None or connection.transport is not transport:
            return
        del self._open[_peer(transport)]
        self._by_network[connection.network] -= 1
        if not self._by_network[connection.network]:
            del self._by_network[connection.network]

    def refuse(self, transport: asyncio.Transport, reason: str) -> None:
        """End a connection at once: what it would still be sent is lost."""
        self.on_refused(reason)
        _log.info("a connection was cut off: %s", reason)
        transport.abort()

    def begin_request(self, peer: Peer) -> None:
        """Note that a whole request has arrived, which may take as long as it needs."""
        if peer in self._open:
            self._open[peer].idle_since = None

    def end_request(self, peer: Peer) -> None:
        """Note that a request has been answered."""
        if peer in self._open:
            self._open[peer].idle_since = time.monotonic()

    def end_useless(self) -> None:
        """End the connections on which no request arrives, or whose answers nobody reads."""
        now = time.monotonic()
        for connection in list(self._open.values()):
            problem = connection.problem(now)
            if problem is not None:
                self.refuse(connection.transport, problem)

    async def watch(self) -> None:
        """End useless connections, for as long as the server runs."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.end_useless()

    def _is_trusted(self, address: str) -> bool:
        with suppress(ValueError):
            return any(ip_address(address) in each for each in self._trusted)
        return False


def _peer(transport: asyncio.Transport) -> Peer:
    """Return the address and port at the other end; nothing for a connection that is gone."""
    found = transport.get_extra_info("peername")
    return cast(Peer, tuple(found[:2])) if found else ("", 0)


class RequestTracker:
    """Tells the connections when a request begins and when it has been answered."""

    def __init__(self, app: ASGIApp, connections: Connections) -> None:
        self._app = app
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        peer = scope.get("client")
        if peer is None:
            await self._app(scope, receive, send)
            return
        self._connections.begin_request(tuple(peer))
        try:
            await self._app(scope, receive, send)
        finally:
            self._connections.end_request(tuple(peer))


def protocols(
    connections: Connections,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """Return the HTTP and the WebSocket protocol of a server, for ``uvicorn.Config``."""

    class CountedHttp(H11Protocol):
        """HTTP on a connection that is counted."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.__transport = transport
            connections.admit(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.release(self.__transport)
            super().connection_lost(exc)

    class PacedWebSocket(WebSocketsSansIOProtocol):
        """A WebSocket on a connection that was counted as HTTP. What it receives is weighed.

        Weighed before anything is parsed, and cut off rather than paused: uvicorn has its own
        reasons to pause and resume reading.
        """

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.__transport = cast(asyncio.Transport, transport)
            self.__left, self.__since = float(WEBSOCKET_BURST), time.monotonic()
            self.__has_begun = False

        def data_received(self, data: bytes) -> None:
            if not self.__has_begun:
                # The head of the request, which has been read as HTTP. It may have large cookies.
                self.__has_begun = True
                super().data_received(data)
                return
            now = time.monotonic()
            earned = WEBSOCKET_RATE * (now - self.__since)
            self.__left = min(WEBSOCKET_BURST, self.__left + earned) - len(data)
            self.__since = now
            if self.__left < 0:
                connections.refuse(self.__transport, "bytes on a WebSocket")
            else:
                super().data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            connections.release(self.__transport)
            super().connection_lost(exc)

    return CountedHttp, PacedWebSocket
