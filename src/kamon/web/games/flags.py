"""When which game will be lost on time: one alarm a game, and the next one first."""

import asyncio
import heapq
from collections.abc import Callable, Iterable
from typing import Final

# The list of alarms is made anew when it has so many times more entries than there are games.
_SLACK: Final = 2
_FEW: Final = 100


class Flags:
    """The alarms of all games. Only the latest of a game counts."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._due: dict[str, int] = {}
        self._queue: list[tuple[int, str]] = []
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._queue)

    def put_all(self, flags: Iterable[tuple[int, str]]) -> None:
        """Set the alarms of many games."""
        for due, game in flags:
            self.put(game, due)

    def put(self, game: str, due: int | None) -> None:
        """Set the alarm of a game in place of the one before; None for no alarm."""
        if due is None:
            self._due.pop(game, None)
            return
        self._due[game] = due
        heapq.heappush(self._queue, (due, game))
        if len(self._queue) > _SLACK * len(self._due) + _FEW:
            self._queue = [(each, name) for name, each in self._due.items()]
            heapq.heapify(self._queue)
        self._changed.set()

    async def next(self) -> str:
        """Wait until an alarm is due, and return its game."""
        while True:
            self._changed.clear()
            self._drop_outdated()
            delay = (self._queue[0][0] - self._now()) / 1000 if self._queue else None
            if delay is not None and delay <= 0:
                _, game = heapq.heappop(self._queue)
                del self._due[game]
                return game
            # Not wait_for, which on Python 3.11 can swallow the end of the server.
            try:
                async with asyncio.timeout(delay):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _drop_outdated(self) -> None:
        while self._queue and self._due.get(self._queue[0][1]) != self._queue[0][0]:
            heapq.heappop(self._queue)
