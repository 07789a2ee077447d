"""Who is looking at a game, and since when a player has been away.

Where servers share their games, some of those who look do so through another server. What is known
of them stands in ``elsewhere``, which games/attendance.py keeps up to date.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from kamon.position import Side
from kamon.web.games.rooms import Event, Room
from kamon.web.games.tables import Table, Watcher

# Seconds between two times that the watchers of a game are told who is there.
_PAUSE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who is there for a game through other servers, and when a side's last page left there."""

    present: frozenset[Side] = frozenset()
    left: Mapping[Side, int] = field(default_factory=dict)
    watchers: int = 0


NOBODY: Final = Elsewhere()


class Presence:
    """Who watches the tables of one server."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self.elsewhere: dict[str, Elsewhere] = {}
        # Is told of every table at which somebody has come or gone.
        self.changed: Callable[[Table], None] = lambda _: None
        # When the last page of a side left a game; and when we first saw that nobody was there.
        self._left: dict[tuple[str, Side], int] = {}
        self._missed: dict[tuple[str, Side], int] = {}
        # When the watchers of a game were last told who is there, and who will be told soon.
        self._told_at: dict[str, float] = {}
        self._told_soon: set[str] = set()

    def watch(self, table: Table, sides: frozenset[Side], holder: str | None = None) -> Watcher:
        """Begin to watch a game. The caller reads the queue until it says None."""
        watcher = Watcher(sides, holder)
        table.watchers.add(watcher)
        for side in sides:
            self.has_come(table.room.id, side)
        self.changed(table)
        self._tell_everybody(table)
        return watcher

    def leave(self, table: Table, watcher: Watcher) -> None:
        """Stop watching."""
        table.watchers.discard(watcher)
        self._note_left(table, watcher.sides)
        self.changed(table)
        self._tell_everybody(table)

    def seats_changed(self, table: Table) -> None:
        """Let pages that have lost a seat be mere spectators from now on, and tell everybody."""
        for watcher in table.watchers:
            held = {side for side, holder in table.holders if holder == watcher.holder}
            lost = watcher.sides - held
            watcher.sides = frozenset(held)
            self._note_left(table, lost)
        self.changed(table)
        self._tell_now(table)

    def _note_left(self, table: Table, sides: frozenset[Side]) -> None:
        """Note since when nobody is there for some sides, for which a page was there."""
        for side in sides - self.present_here(table):
            self._left[table.room.id, side] = self._now()

    def present(self, table: Table, side: Side) -> bool:
        """Tell whether somebody who plays for a side has the game open."""
        if table.room.seat(side).kind == "computer":
            return True
        return side in self.present_here(table) or side in self._elsewhere(table).present

    @staticmethod
    def present_here(table: Table) -> frozenset[Side]:
        """Return the sides for which a page of this server has the game open."""
        return frozenset().union(*(watcher.sides for watcher in table.watchers))

    def left_here(self, game: str, side: Side) -> int | None:
        """Tell when the last page of a side left this server."""
        return self._left.get((game, side))

    def spectators(self, table: Table) -> int:
        """Count those who watch and do not play."""
        here = sum(not watcher.sides for watcher in table.watchers)
        return here + self._elsewhere(table).watchers

    def _elsewhere(self, table: Table) -> Elsewhere:
        return self.elsewhere.get(table.room.id, NOBODY)

    def absent_since(self, table: Table, side: Side) -> int | None:
        """Tell since when nobody has been there for a side; since our first look at the latest.

        A seat that nobody has taken yet has not been left by anybody.
        """
        if self.present(table, side) or table.room.seat(side).kind == "open":
            return None
        key = table.room.id, side
        known = [self._left.get(key), self._elsewhere(table).left.get(side)]
        left = max((each for each in known if each is not None), default=None)
        return self._missed.setdefault(key, self._now()) if left is None else left

    def has_come(self, game: str, side: Side) -> None:
        """Count a side as present from now on."""
        self._left.pop((game, side), None)
        self._missed.pop((game, side), None)

    def heard(self, table: Table, elsewhere: Elsewhere) -> None:
        """Take in who is there through other servers, and tell those who are here."""
        if self._elsewhere(table) == elsewhere:
            return
        self.elsewhere[table.room.id] = elsewhere
        for side in elsewhere.present:
            self._missed.pop((table.room.id, side), None)
        self._tell_everybody(table)

    def forget(self, game: str) -> None:
        """Forget a game that has left the memory."""
        for side in Side:
            self.has_come(game, side)
        self._told_at.pop(game, None)
        self.elsewhere.pop(game, None)

    def tell(self, table: Table, room: Room, happened: Sequence[Event]) -> None:
        """Tell everybody who watches what has happened."""
        for watcher in list(table.watchers):
            try:
                watcher.queue.put_nowait((room, happened))
            except asyncio.QueueFull:
                self._cut_off(table, watcher)

    def _tell_everybody(self, table: Table) -> None:
        """Tell everybody that somebody has come or gone; where many do, once in a while."""
        game = table.room.id
        if game in self._told_soon:
            return
        wait = self._told_at.get(game, -_PAUSE) + _PAUSE - monotonic()
        if wait <= 0:
            self._tell_now(table)
            return
        self._told_soon.add(game)
        asyncio.get_running_loop().call_later(wait, self._tell_now, table)

    def _tell_now(self, table: Table) -> None:
        game = table.room.id
        self._told_soon.discard(game)
        if table.watchers:
            self._told_at[game] = monotonic()
        else:
            self._told_at.pop(game, None)
        table.encoded.clear()
        self.tell(table, table.room, ())

    @staticmethod
    def _cut_off(table: Table, watcher: Watcher) -> None:
        table.watchers.discard(watcher)
        while not watcher.queue.empty():
            watcher.queue.get_nowait()
        watcher.queue.put_nowait(None)
