"""Connections from outside, bounded: how many there are, how slow, and how much waits for them.

uvicorn speaks HTTP and WebSocket for us. It waits for ever for the rest of a request, answers as
many of them as come, and keeps every pong that a client does not read; the two classes here set
limits to that. They use uvicorn's own classes, which are not a public interface: pyproject.toml
bounds its version.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, ClassVar, Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from kamon.web.limits import Budgets, network_of

Network = IPv4Network | IPv6Network

# Seconds in which the head of a request must have come.
HEAD_SECONDS: Final = 10.0
# Connections of one address; those of a trusted proxy stand for many visitors.
CONNECTIONS_PER_ADDRESS: Final = 120
# Bytes that may wait for a client that does not read.
WRITE_LIMIT: Final = 512 * 1024
# Pings and empty pieces of messages that a client may send in a second.
CONTROL_FRAMES_PER_SECOND: Final = 50
FRAGMENTS_LIMIT: Final = 64
# A handshake costs as much as so many requests.
HANDSHAKE_COST: Final = 10


class Doorkeeper:
    """Counts the connections of every address, and of all together, and paces what they ask.

    What refuses a request in a proper way costs almost as much as answering it, so whoever asks too
    often is not read for a while.
    """

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        self._most = most
        self._trusted = trusted
        self._all = 0
        self._by_address: Counter[str] = Counter()
        self._budgets = Budgets()

    def admit(self, address: str) -> bool:
        """Count a connection, if there is room for it."""
        network = network_of(address)
        full = self._by_address[network] >= CONNECTIONS_PER_ADDRESS and not self._is_trusted(
            address
        )
        if self._all >= self._most or full or not self.may_ask(address):
            return False
        self._all += 1
        self._by_address[network] += 1
        return True

    def may_ask(self, address: str, cost: float = 1.0) -> bool:
        """Count something that can be refused, unless the address has asked too often."""
        if self._budgets.delay(network_of(address), "arrivals", 0.0):
            return False
        self.pace(address, cost)
        return True

    def pace(self, address: str, cost: float = 1.0) -> float:
        """Count a request, and return for how many seconds no other one may follow.

        A proxy stands for many visitors, and has its own means to pace them.
        """
        if self._is_trusted(address):
            return 0.0
        network = network_of(address)
        self._budgets.charge(network, "arrivals", cost)
        return self._budgets.delay(network, "arrivals", 0.0)

    def _is_trusted(self, address: str) -> bool:
        return bool(address) and any(ip_address(address) in each for each in self._trusted)

    def release(self, address: str) -> None:
        """Forget a connection."""
        network = network_of(address)
        self._all -= 1
        self._by_address[network] -= 1
        if not self._by_address[network]:
            del self._by_address[network]


class BoundedHttp(H11Protocol):
    """HTTP on a connection that was admitted, and whose requests must come in time."""

    doorkeeper: ClassVar[Doorkeeper]
    _deadline: asyncio.TimerHandle | None = None
    _admitted: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit a connection, or end it."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self.doorkeeper.admit(address):
            transport.abort()
            return
        self._admitted = address
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Take what comes; the head of a request must be whole before the deadline."""
        before = self.cycle
        super().data_received(data)
        if self.transport.get_protocol() is not self:
            # It is a WebSocket from now on, which may be silent for as long as it likes.
            return
        if self.cycle is not before or self.transport.is_closing():
            self._stop_waiting()
            self._pace()
        elif self._deadline is None and self._is_idle():
            # The first bytes of another request on a connection that was kept alive.
            self._expect_head()

    def handle_websocket_upgrade(self, event: Any) -> None:  # noqa: ANN401 - as in uvicorn
        """Hand the connection, and its place, over to a WebSocket."""
        self._stop_waiting()
        if self._admitted and not self.doorkeeper.may_ask(self._admitted, HANDSHAKE_COST):
            self.transport.abort()
            return
        super().handle_websocket_upgrade(event)
        protocol = self.transport.get_protocol()
        if isinstance(protocol, BoundedWebSocket) and self._admitted is not None:
            protocol.takes_place(self.doorkeeper, self._admitted)
            self._admitted = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place of the connection back."""
        self._stop_waiting()
        if self._admitted is not None:
            self.doorkeeper.release(self._admitted)
            self._admitted = None
        super().connection_lost(exc)

    def _pace(self) -> None:
        """Read nothing more for a while from an address that asks too often."""
        delay = self.doorkeeper.pace(self._admitted) if self._admitted is not None else 0.0
        if delay:
            self.transport.pause_reading()
            self.loop.call_later(delay, self._read_again)

    def _read_again(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _is_idle(self) -> bool:
        """Tell whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _expect_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        """End a connection on which the head of a request does not come to an end."""
        if self._is_idle():
            self.transport.abort()


def http_protocol(doorkeeper: Doorkeeper) -> type[BoundedHttp]:
    """Return the HTTP protocol of a server whose connections are counted by a doorkeeper."""
    return type("BoundedHttp", (BoundedHttp,), {"doorkeeper": doorkeeper})


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket whose client must read, and may not talk without saying anything."""

    _place: tuple[Doorkeeper, str] | None = None
    _control_frames = 0
    _counted_since = 0.0
    _to_be_sent = False

    def takes_place(self, doorkeeper: Doorkeeper, address: str) -> None:
        """Take over the place of the HTTP connection that this one was."""
        self._place = doorkeeper, address

    def handle_ping(self) -> None:
        """Answer a ping, unless there are too many or nobody reads the answers."""
        if self._is_flooding() or self.transport.get_write_buffer_size() > WRITE_LIMIT:
            self.transport.abort()
            return
        super().handle_ping()

    def handle_cont(self, event: Any) -> None:  # noqa: ANN401 - as in uvicorn
        """Take a piece of a message, of which there may not be too many."""
        if len(self.frames) >= FRAGMENTS_LIMIT:
            self.transport.abort()
            return
        super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Hand a message on, and stop reading where another one still waits.

        Stopping after every single one, as uvicorn does, takes two calls of the system for each.
        """
        if self.read_paused or not self.queue.empty():
            super().send_receive_event_to_app()
            return
        self.read_paused = True
        super().send_receive_event_to_app()
        self.read_paused = False

    def start_keepalive(self) -> None:
        """Begin to look whether the client is there; what the handshake said is not needed."""
        del self.request, self.response
        super().start_keepalive()

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message, together with others that are sent at the same moment."""
        text = message.get("text")
        if not isinstance(text, str) or self.close_sent or not self.handshake_complete:
            await super().send(message)
            return
        await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.conn.send_text(text.encode())
        if not self._to_be_sent:
            self._to_be_sent = True
            self.loop.call_soon(self._send_now)

    def _send_now(self) -> None:
        self._to_be_sent = False
        if not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()))

    def _is_flooding(self) -> bool:
        now = self.loop.time()
        if now - self._counted_since > 1.0:
            self._counted_since, self._control_frames = now, 0
        self._control_frames += 1
        return self._control_frames > CONTROL_FRAMES_PER_SECOND

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place of the connection back."""
        if self._place is not None:
            doorkeeper, address = self._place
            doorkeeper.release(address)
            self._place = None
        super().connection_lost(exc)
