"""How many people are here now. Only their number is ever told."""

from collections import Counter
from collections.abc import Callable
from typing import Final

# The home page asks at least this often while somebody looks at it, and may be late once.
SEEN_FOR: Final = 40_000
PEOPLE_REMEMBERED: Final = 20_000


class People:
    """Who has a page open, by the hash of their secret: with a socket, or seen a moment ago."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._connected: Counter[str] = Counter()
        # Those seen longest ago come first.
        self._seen: dict[str, int] = {}
        # How many are here through other servers.
        self.elsewhere = 0

    def see(self, holder: str | None) -> None:
        """Note that somebody looks at the home page."""
        if holder is not None:
            self._seen.pop(holder, None)
            self._seen[holder] = self._now()
            self._forget()

    def connect(self, holder: str | None) -> None:
        """Note that somebody has opened a socket."""
        if holder is not None:
            self._connected[holder] += 1

    def disconnect(self, holder: str | None) -> None:
        """Note that a socket is closed."""
        if holder is not None:
            self._connected[holder] -= 1
            if self._connected[holder] <= 0:
                del self._connected[holder]

    def count(self) -> int:
        """Tell how many are here, through this server and others."""
        return self.count_here() + self.elsewhere

    def count_here(self) -> int:
        """Tell how many are here through this server; whoever has two pages open counts once."""
        self._forget()
        return len(self._connected.keys() | self._seen.keys())

    def _forget(self) -> None:
        long_ago = self._now() - SEEN_FOR
        while self._seen:
            holder, seen = next(iter(self._seen.items()))
            if seen > long_ago and len(self._seen) <= PEOPLE_REMEMBERED:
                break
            del self._seen[holder]
