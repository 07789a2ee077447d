"""Who is looking at a game, and since when a player has been away."""

import asyncio
from collections.abc import Callable, Sequence

from kamon.position import Side
from kamon.web.games.rooms import Event, Room
from kamon.web.games.tables import Table, Watcher


class Presence:
    """Who watches the tables of one server."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        # When the last page of a side left a game.
        self._left: dict[tuple[str, Side], int] = {}

    def watch(self, table: Table, sides: frozenset[Side]) -> Watcher:
        """Begin to watch a game. The caller reads the queue until it says None."""
        watcher = Watcher(sides)
        table.watchers.add(watcher)
        for side in sides:
            self.has_come(table.room.id, side)
        self._tell_everybody(table)
        return watcher

    def leave(self, table: Table, watcher: Watcher) -> None:
        """Stop watching."""
        table.watchers.discard(watcher)
        for side in watcher.sides:
            if not self.present(table, side):
                self._left[table.room.id, side] = self._now()
        self._tell_everybody(table)

    def present(self, table: Table, side: Side) -> bool:
        """Tell whether somebody who plays for a side has the game open."""
        if table.room.seat(side).kind == "computer":
            return True
        return any(side in watcher.sides for watcher in table.watchers)

    def absent_since(self, table: Table, side: Side) -> int | None:
        """Tell since when nobody has been there for a side; since our first look at the latest.

        A seat that nobody has taken yet has not been left by anybody.
        """
        if self.present(table, side) or table.room.seat(side).kind == "open":
            return None
        return self._left.setdefault((table.room.id, side), self._now())

    def has_come(self, game: str, side: Side) -> None:
        """Count a side as present from now on."""
        self._left.pop((game, side), None)

    def forget(self, game: str) -> None:
        """Forget a game that has left the memory."""
        for side in Side:
            self.has_come(game, side)

    def tell(self, table: Table, room: Room, happened: Sequence[Event]) -> None:
        """Tell everybody who watches what has happened."""
        for watcher in list(table.watchers):
            try:
                watcher.queue.put_nowait((room, happened))
            except asyncio.QueueFull:
                self._cut_off(table, watcher)

    def _tell_everybody(self, table: Table) -> None:
        """Tell everybody that somebody has come or gone."""
        self.tell(table, table.room, ())

    @staticmethod
    def _cut_off(table: Table, watcher: Watcher) -> None:
        table.watchers.discard(watcher)
        while not watcher.queue.empty():
            watcher.queue.get_nowait()
        watcher.queue.put_nowait(None)
