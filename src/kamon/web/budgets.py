"""How much of the server one client may use, so that nobody can take it all."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.requests import HTTPConnection

from kamon.web.rooms import RoomError

CLIENTS_REMEMBERED: Final = 20_000


class BudgetError(RoomError):
    """A budget is spent; ``retry`` seconds later there is some again."""

    def __init__(self, what: str, retry: float) -> None:
        self.retry = max(1, round(retry))
        super().__init__("too-many", f"too many {what}: try again in {self.retry} s")


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
}
SOCKETS_PER_CLIENT: Final = 40


def client_of(connection: HTTPConnection) -> str:
    """Name whom a budget belongs to. Behind a trusted proxy uvicorn has set the address."""
    return connection.client.host if connection.client else "unknown"


class Budgets:
    """What each client has left of each budget: buckets that fill again with time."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, scale: float = 1.0) -> None:
        self._now = now
        self._scale = scale
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._sockets: dict[str, int] = {}

    def spend(self, client: str, what: str, cost: float = 1.0) -> None:
        """Take from a client's budget, or raise a ``BudgetError``."""
        budget = BUDGETS[what]
        burst, rate = budget.burst * self._scale, budget.rate * self._scale
        now = self._now()
        left, then = self._left.pop((client, what), (burst, now))
        left = min(burst, left + (now - then) * rate)
        if left < cost:
            self._left[client, what] = (left, now)
            raise BudgetError(what, (cost - left) / rate)
        self._left[client, what] = (left - cost, now)
        while len(self._left) > CLIENTS_REMEMBERED:
            self._left.popitem(last=False)

    def open_socket(self, client: str) -> None:
        """Count a connection, or raise a ``BudgetError``."""
        if self._sockets.get(client, 0) >= SOCKETS_PER_CLIENT * self._scale:
            raise BudgetError("connections", 5)
        self._sockets[client] = self._sockets.get(client, 0) + 1

    def close_socket(self, client: str) -> None:
        """Give a connection back."""
        left = self._sockets.get(client, 0) - 1
        if left > 0:
            self._sockets[client] = left
        else:
            self._sockets.pop(client, None)
