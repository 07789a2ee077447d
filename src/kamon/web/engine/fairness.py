"""Queues in which nobody can push in front of others by asking often."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

from kamon.web.errors import too_many

Item = TypeVar("Item")
# How much the newest measurement counts in an average.
_NEWEST_SHARE: Final = 0.2


def share_of(workers: int) -> int:
    """Return how many of some workers one client may keep busy: one is left for others."""
    return max(1, workers - 1)


class FairQueue(Generic[Item]):
    """One queue for each client; they are served in turn, one item each.

    At most ``at_once`` items of a client are served at the same time: who takes an item out says
    when it is ``done``.
    """

    def __init__(self, limit: int, at_once: int) -> None:
        self._limit = limit
        self._at_once = at_once
        self._size = 0
        self._queues: OrderedDict[str, deque[Item]] = OrderedDict()
        self._served: Counter[str] = Counter()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return self._size

    def put(self, client: str, item: Item) -> None:
        """Add an item behind those of the same client; ``asyncio.QueueFull`` at the limit."""
        if self._size >= self._limit:
            raise asyncio.QueueFull
        self._queues.setdefault(client, deque()).append(item)
        self._size += 1
        self._changed.set()

    def take(self) -> Item | None:
        """Take the next item, of the first client in line who may be served now."""
        for client, queue in self._queues.items():
            if self._served[client] < self._at_once:
                item = queue.popleft()
                self._size -= 1
                self._served[client] += 1
                # To the end of the line.
                self._queues.move_to_end(client)
                self._drop_if_empty(client)
                return item
        return None

    async def get(self) -> Item:
        """Wait for the next item."""
        while (item := self.take()) is None:
            self._changed.clear()
            await self._changed.wait()
        return item

    def done(self, client: str) -> None:
        """Note that an item of a client is served."""
        self._served[client] -= 1
        if not self._served[client]:
            del self._served[client]
        self._changed.set()

    def remove(self, client: str, item: Item) -> None:
        """Take an item out that is not to be served any more."""
        self._queues[client].remove(item)
        self._size -= 1
        self._drop_if_empty(client)

    def place(self, client: str, item: Item) -> int:
        """Count in which turn an item comes, if nobody else comes; 1 is the next."""
        mine = self._queues[client].index(item)
        place, before = 1 + mine, 1
        for other, queue in self._queues.items():
            if other == client:
                # Those behind us in line have had one turn less when ours comes.
                before = 0
            else:
                place += min(len(queue), mine + before)
        return place

    def _drop_if_empty(self, client: str) -> None:
        if not self._queues[client]:
            del self._queues[client]


class Turns(Generic[Item]):
    """A few workers that clients use in turn, each for one piece of work."""

    def __init__(self, workers: Iterable[Item], limit: int) -> None:
        self._free = deque(workers)
        self._count = len(self._free)
        self._waiting: FairQueue[asyncio.Future[Item]] = FairQueue(limit, share_of(self._count))

    @property
    def waiting(self) -> int:
        """How many pieces of work wait."""
        return len(self._waiting)

    def ask(self, client: str) -> "asyncio.Future[Item]":
        """Ask for a worker; ``asyncio.QueueFull`` where too many wait already.

        Whoever gets the worker gives it back, and whoever does not want it any more leaves.
        """
        asked: asyncio.Future[Item] = asyncio.get_running_loop().create_future()
        self._waiting.put(client, asked)
        self._serve()
        return asked

    def leave(self, client: str, asked: "asyncio.Future[Item]") -> None:
        """Leave the queue, or give back the worker that has come at the same moment."""
        if asked.done():
            self.give_back(client, asked.result())
        else:
            self._waiting.remove(client, asked)

    def give_back(self, client: str, worker: Item) -> None:
        """Let the next one have a worker."""
        # The one that was used last comes first: its process runs, and its memory is warm.
        self._free.appendleft(worker)
        self._waiting.done(client)
        self._serve()

    def place(self, client: str, asked: "asyncio.Future[Item]") -> int:
        """Count in which turn somebody comes who waits; 1 is the next."""
        return self._waiting.place(client, asked)

    def rounds(self, place: int) -> float:
        """Return how many pieces of work, one after the other, are done before a place's turn."""
        return place / self._count

    def _serve(self) -> None:
        while self._free and (asked := self._waiting.take()) is not None:
            asked.set_result(self._free.popleft())


class Places:
    """How many places of a queue each client may take."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken: Counter[str] = Counter()

    def take(self, client: str) -> None:
        """Take a place, or raise an ``ApiError``."""
        if self._taken[client] >= self._most:
            raise too_many(f"{self._what} of this address at the same time", 2)
        self._taken[client] += 1

    def give_back(self, client: str) -> None:
        """Give a place back."""
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Take a place while something waits or is worked on."""
        self.take(client)
        try:
            yield
        finally:
            self.give_back(client)


class Average:
    """How long something takes, of late."""

    def __init__(self, first: float) -> None:
        self.seconds = first

    def note(self, seconds: float) -> None:
        """Take a measurement into account."""
        self.seconds += _NEWEST_SHARE * (seconds - self.seconds)
