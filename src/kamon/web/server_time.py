"""The time by which games are played: it never goes back and never jumps.

Moments are milliseconds since the epoch. The system's clock is read once, at the start; from then
on the monotonic clock counts. So a correction of the system's time changes nobody's clock.
"""

import time


def wall_time() -> int:
    """Read the system's clock."""
    return time.time_ns() // 1_000_000


class ServerTime:
    """Tells the time from a start on. No moment is before ``latest``, which was told earlier."""

    def __init__(self, latest: int = 0) -> None:
        self._start = max(wall_time(), latest)
        self._counted_from = time.monotonic_ns()

    def __call__(self) -> int:
        """Tell the time now."""
        return self._start + (time.monotonic_ns() - self._counted_from) // 1_000_000
