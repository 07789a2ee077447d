"""Queues in which nobody can push in front of others by asking often."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from kamon.web.errors import too_many

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """One queue for each client; they are served in turn, one item each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._queues: OrderedDict[str, deque[Item]] = OrderedDict()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return self._size

    def put(self, client: str, item: Item) -> None:
        """Add an item behind those of the same client; ``asyncio.QueueFull`` at the limit."""
        if self._size >= self._limit:
            raise asyncio.QueueFull
        self._queues.setdefault(client, deque()).append(item)
        self._size += 1
        self._filled.set()

    async def get(self) -> Item:
        """Wait for the next item, of the client whose turn it is."""
        while not self._size:
            self._filled.clear()
            await self._filled.wait()
        client, queue = self._queues.popitem(last=False)
        item = queue.popleft()
        self._size -= 1
        if queue:
            # To the end of the line.
            self._queues[client] = queue
        return item


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
