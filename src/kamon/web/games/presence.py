"""Who is looking at a game, and since when a player has been away."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from kamon.position import Side
from kamon.web.games.rooms import Event, Room
from kamon.web.games.tables import Table, Watcher

# Seconds between two times that the watchers of a game are told who is there.
_PAUSE: Final = 1.0


class Presence:
    """Who watches the tables of one server."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        # When the last page of a side left a game.
        self._left: dict[tuple[str, Side], int] = {}
        # When the watchers of a game were last told who is there, and who will be told soon.
        self._told_at: dict[str, float] = {}
        self._told_soon: set[str] = set()

    def watch(self, table: Table, sides: frozenset[Side], holder: str | None = None) -> Watcher:
        """Begin to watch a game. The caller reads the queue until it says None."""
        watcher = Watcher(sides, holder)
        table.watchers.add(watcher)
        for side in sides:
            self.has_come(table.room.id, side)
        self._tell_everybody(table)
        return watcher

    def leave(self, table: Table, watcher: Watcher) -> None:
        """Stop watching."""
        table.watchers.discard(watcher)
        self._note_left(table, watcher.sides)
        self._tell_everybody(table)

    def seats_changed(self, table: Table) -> None:
        """Let pages that have lost a seat be mere spectators from now on, and tell everybody."""
        for watcher in table.watchers:
            held = {side for side, holder in table.holders if holder == watcher.holder}
            lost = watcher.sides - held
            watcher.sides &= held
            self._note_left(table, lost)
        self._tell_now(table)

    def _note_left(self, table: Table, sides: frozenset[Side]) -> None:
        """Note since when nobody is there for some sides, for which a page was there."""
        for side in sides:
            if not self.present(table, side):
                self._left[table.room.id, side] = self._now()

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
        self._told_at.pop(game, None)

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
