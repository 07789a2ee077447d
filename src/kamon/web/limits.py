"""How much of the server one client may use, so that nobody can take it all."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import HTTPConnection

from kamon.web.errors import too_many

CLIENTS_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Budget:
    """So many at once, and so many a second from then on."""

    burst: float
    rate: float


BUDGETS: Final = {
    "games": Budget(60, 60 / 600),
    "messages": Budget(60, 20),
    "requests": Budget(240, 60),
    "thoughts": Budget(120, 2),
    "pictures": Budget(120, 10),
    # Kilobytes of studies: what an address may have kept for it, about 24 MB a day.
    "kilobytes": Budget(2_000, 1_000 / 3600),
}
SOCKETS_PER_CLIENT: Final = 40
IPV6_NETWORK: Final = 64


def client_of(connection: HTTPConnection) -> str:
    """Name whom a budget belongs to. Behind a trusted proxy uvicorn has set the address."""
    return "unknown" if connection.client is None else network_of(connection.client.host)


def network_of(text: str) -> str:
    """Return the address by which a client is known.

    One customer of a provider has a whole network of IPv6 addresses, so they count as one.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, IPV6_NETWORK), strict=False))


class Budgets:
    """What each client has left of each budget: buckets that fill again with time."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, scale: float = 1.0) -> None:
        self._now = now
        self._scale = scale
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._sockets: dict[str, int] = {}

    def spend(self, client: str, what: str, cost: float = 1.0) -> None:
        """Take from a client's budget, or raise an ``ApiError``."""
        budget = BUDGETS[what]
        burst, rate = budget.burst * self._scale, budget.rate * self._scale
        now = self._now()
        left, then = self._left.pop((client, what), (burst, now))
        left = min(burst, left + (now - then) * rate)
        if left < cost:
            self._left[client, what] = (left, now)
            raise too_many(f"{what} of this address", (cost - left) / rate)
        self._left[client, what] = (left - cost, now)
        while len(self._left) > CLIENTS_REMEMBERED:
            self._left.popitem(last=False)

    @property
    def sockets(self) -> int:
        """How many sockets are open in all."""
        return sum(self._sockets.values())

    def open_socket(self, client: str) -> None:
        """Count a connection, or raise an ``ApiError``."""
        if self._sockets.get(client, 0) >= SOCKETS_PER_CLIENT * self._scale:
            raise too_many("connections of this address", 5)
        self._sockets[client] = self._sockets.get(client, 0) + 1

    def close_socket(self, client: str) -> None:
        """Give a connection back."""
        left = self._sockets.get(client, 0) - 1
        if left > 0:
            self._sockets[client] = left
        else:
            self._sockets.pop(client, None)
