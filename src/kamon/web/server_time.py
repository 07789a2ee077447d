"""The time by which games are played: it never goes back and never jumps.

Moments are milliseconds since the epoch. The system's clock is read once, at the start; from then
on the monotonic clock counts. So a correction of the system's time changes nobody's clock. Servers
that share a database all follow its clock instead of their own, so that their games agree.
"""

import time
from typing import Final

# Milliseconds by which a corrected time may differ from the right one, and by which one correction
# changes it at most.
_TOLERANCE: Final = 20
_STEP: Final = 100


def wall_time() -> int:
    """Read the system's clock."""
    return time.time_ns() // 1_000_000


class ServerTime:
    """Tells the time from a start on. No moment is before ``latest``, which was told earlier."""

    def __init__(self, latest: int = 0) -> None:
        self._start = max(wall_time(), latest)
        self._counted_from = time.monotonic_ns()
        self._told = 0

    def __call__(self) -> int:
        """Tell the time now."""
        self._told = max(self._told, self._reckoned())
        return self._told

    def set(self, now: int) -> None:
        """Begin with another clock's time, before anybody was told ours."""
        self._start += now - self._reckoned()

    def correct(self, now: int) -> None:
        """Come nearer to another clock, a little at a time."""
        late = now - self._reckoned()
        if abs(late) > _TOLERANCE:
            self._start += max(-_STEP, min(_STEP, late))

    def _reckoned(self) -> int:
        return self._start + (time.monotonic_ns() - self._counted_from) // 1_000_000
