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
    # Every request, by what it costs: about a millisecond of the server each.
    "requests": Budget(300, 80),
    "pictures": Budget(120, 10),
    # Seconds of the engine: for the computer's moves, and for studies and reviews.
    "thinking": Budget(120, 1),
    "analysis": Budget(600, 0.5),
    # Seconds of the processes that draw pixels.
    "drawing": Budget(60, 0.5),
    # Kilobytes of studies: what an address may have kept for it, about 24 MB a day.
    "kilobytes": Budget(2_000, 1_000 / 3600),
}
SOCKETS_PER_CLIENT: Final = 40
# Seconds after which a request beyond the budget is refused. A refusal costs nearly as much as an
# answer, and a connection has one request under way, so this bounds what refusals can cost.
REFUSAL_SECONDS: Final = 1.0
# What servers that share their games tell each other: nothing below this part of a budget.
_WORTH_TELLING: Final = 0.2
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
    """What each client has left of each budget: buckets that fill again with time.

    Where ``servers`` share their games, they tell each other what was spent. Until they have, a
    client could spend everything at each of them, so each gives only a part at once.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, *, scale: float = 1.0) -> None:
        self._now = now
        self._scale = scale
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._sockets: dict[str, int] = {}
        self.servers = 1
        # What was spent here and the other servers do not know yet.
        self._untold: OrderedDict[tuple[str, str], float] = OrderedDict()

    def delay(self, client: str, what: str, cost: float = 1.0) -> float:
        """Return after how many seconds a client has so much left."""
        rate = BUDGETS[what].rate * self._scale
        return max(0.0, (cost - self._left_of(client, what)) / rate)

    def require(self, client: str, what: str, cost: float = 1.0) -> None:
        """Raise an ``ApiError`` unless a client has so much left; nothing is taken."""
        delay = self.delay(client, what, cost)
        if delay:
            raise too_many(f"{what} of this address", delay)

    def charge(self, client: str, what: str, cost: float) -> None:
        """Take from a client's budget what has been used; a negative cost is given back.

        The budget may fall below zero, and is paid back with time before anything else is given.
        """
        self.hear(client, what, cost)
        if self.servers > 1:
            self._untold[client, what] = self._untold.get((client, what), 0.0) + cost
            while len(self._untold) > CLIENTS_REMEMBERED:
                self._untold.popitem(last=False)

    def take_report(self) -> dict[tuple[str, str], float]:
        """Return what the other servers should know was spent here, and has not been told."""
        report = {
            (client, what): amount
            for (client, what), amount in self._untold.items()
            if abs(amount) >= _WORTH_TELLING * self._burst(what)
        }
        for key in report:
            del self._untold[key]
        return report

    def hear(self, client: str, what: str, cost: float) -> None:
        """Take from a client's budget what was used, here or at another server."""
        burst = self._burst(what)
        left = self._left_of(client, what) - cost
        self._left[client, what] = (max(-burst, min(burst, left)), self._now())
        self._left.move_to_end((client, what))
        while len(self._left) > CLIENTS_REMEMBERED:
            self._left.popitem(last=False)

    def spend(self, client: str, what: str, cost: float = 1.0) -> None:
        """Take from a client's budget, or raise an ``ApiError``."""
        self.require(client, what, cost)
        self.charge(client, what, cost)

    def _left_of(self, client: str, what: str) -> float:
        """Return what a client has left now."""
        now, burst, rate = self._now(), self._burst(what), BUDGETS[what].rate * self._scale
        left, then = self._left.get((client, what), (burst, now))
        return min(burst, left + (now - then) * rate)

    def _burst(self, what: str) -> float:
        """Return how much a client may use here at once: less, the more servers there are."""
        share = max(0.5, 2 / (self.servers + 1))
        return BUDGETS[what].burst * self._scale * share

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
