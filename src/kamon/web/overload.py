"""What a server gives up when it has more to do than it can, so that running games go on.

Two signs tell that it has too much to do: the event loop comes late to what is due, and commands
queue up for the disk. The more of that, the more is refused: first studies and reviews, then new
pictures, then new games. Moves in games that are being played are never refused.
"""

import asyncio
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from kamon.web.errors import ApiError
from kamon.web.metrics import Metrics

Luxury = Literal["studies", "pictures", "games"]

# Refused from the first, second and third level on.
SHED: Final[tuple[Luxury, ...]] = ("studies", "pictures", "games")


@dataclass(frozen=True, slots=True)
class Threshold:
    """From when on a level holds: the loop is late by so much, or so many commands wait."""

    lag: float
    commands: int


THRESHOLDS: Final = (Threshold(0.15, 500), Threshold(0.3, 1_000), Threshold(0.6, 2_000))
# A level ends only below this part of its threshold, so that it does not come and go.
CALM: Final = 0.5
# Seconds between two looks, and how many of them count: one slow moment is no overload.
EVERY: Final = 0.2
LOOKS: Final = 9
# When whoever is refused may try again: long enough for a level to end.
RETRY_SECONDS: Final = 5


class Overload:
    """How much too much a server has to do, from 0 to 3; ``commands`` counts those that wait."""

    def __init__(self, commands: Callable[[], int], metrics: Metrics | None = None) -> None:
        self.level = 0
        self._commands = commands
        self._metrics = metrics or Metrics()
        self._lags: deque[float] = deque(maxlen=LOOKS)
        self._queues: deque[int] = deque(maxlen=LOOKS)

    def require(self, what: Luxury) -> None:
        """Raise an ``ApiError`` if the server has no time for this now."""
        if SHED.index(what) < self.level:
            raise ApiError("busy", detail=f"no {what} at the moment", seconds=RETRY_SECONDS)

    def note(self, lag: float) -> None:
        """Take a measurement into account. The middle one of the last looks counts."""
        self._lags.append(lag)
        self._queues.append(self._commands())
        if len(self._lags) < LOOKS:
            return
        late, queue = statistics.median(self._lags), statistics.median(self._queues)

        def holds(threshold: Threshold, part: float) -> bool:
            return late >= part * threshold.lag or queue >= part * threshold.commands

        reached = sum(holds(threshold, 1.0) for threshold in THRESHOLDS)
        kept = sum(holds(threshold, CALM) for threshold in THRESHOLDS)
        self.level = max(reached, min(self.level, kept))

    async def watch(self) -> None:
        """Measure again and again how late the event loop is."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            lag = max(0.0, loop.time() - due)
            self._metrics.loop_lag.set(lag)
            self.note(lag)
