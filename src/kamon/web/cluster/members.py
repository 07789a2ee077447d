"""The servers that share a database: each notes once a second that it is alive.

One that has not done so for some seconds is buried by the others: whoever was there through it has
left, and what it was thinking about is free for others. Should it only have been stopped for a
while, it finds that it was buried, and tells anew who is there.
"""

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, delete, select, text, update
from sqlalchemy.dialects.postgresql import insert

from kamon.web.database import presence, servers, spending, thoughts
from kamon.web.ids import new_id
from kamon.web.writer import Writer

# Seconds between two notes.
BEAT: Final = 1.0
# Milliseconds without a note after which a server counts as dead.
DEAD_AFTER: Final = 5_000


class Members:
    """This server among the others, as it was at the last note."""

    def __init__(self, writer: Writer, now: Callable[[], int], *, web: bool = True) -> None:
        self.id = new_id()
        self.people_elsewhere = 0
        self.others_on_the_web = 0
        self._writer = writer
        self._now = now
        self._web = web
        self._known = False
        self._others: frozenset[str] = frozenset()

    @property
    def on_the_web(self) -> int:
        """How many servers have a page; an engine worker is none of them."""
        return self.others_on_the_web + self._web

    async def beat(self, people: int) -> tuple[bool, bool]:
        """Note that this server is alive.

        Tell whether it had been buried, and whether another one is missing since the last time.
        """
        before = self._others
        anew = await self._writer.write(lambda connection: self._beat(connection, people))
        was_known, self._known = self._known, True
        return anew and was_known, not before <= self._others

    def _beat(self, connection: Connection, people: int) -> bool:
        relax(connection)
        now = self._now()
        others = connection.execute(select(servers).where(servers.c.id != self.id)).all()
        for each in others:
            if each.alive < now - DEAD_AFTER:
                bury(connection, each.id, each.alive)
        alive = [each for each in others if each.alive >= now - DEAD_AFTER]
        self._others = frozenset(each.id for each in alive)
        self.people_elsewhere = sum(each.people for each in alive)
        self.others_on_the_web = sum(each.web for each in alive)
        row = {"alive": now, "people": people, "web": self._web}
        # A row that was there has a transaction that has changed it; a new one has none.
        noted = (
            insert(servers)
            .values(id=self.id, **row)
            .on_conflict_do_update(index_elements=["id"], set_=row)
            .returning(text("(xmax = 0) AS anew"))
        )
        return bool(connection.execute(noted).scalar_one())

    async def leave(self) -> None:
        """Leave the others, as a server does that ends."""
        now = self._now()
        await self._writer.write(lambda connection: bury(connection, self.id, now))


def bury(connection: Connection, server: str, alive: int) -> None:
    """Forget a server: whoever was there through it left when it was last alive."""
    connection.execute(delete(servers).where(servers.c.id == server))
    of_server = presence.c.server == server
    for here, left in (
        (presence.c.black, presence.c.black_left),
        (presence.c.white, presence.c.white_left),
    ):
        gone = {here: False, left: alive, presence.c.changed: alive}
        connection.execute(update(presence).where(of_server, here).values(gone))
    nobody = {"watchers": 0, "changed": alive}
    connection.execute(update(presence).where(of_server, presence.c.watchers > 0).values(nobody))
    free = {"server": None, "leased_until": 0}
    connection.execute(update(thoughts).where(thoughts.c.server == server).values(free))
    connection.execute(delete(spending).where(spending.c.server == server))


def relax(connection: Connection) -> None:
    """Let a transaction be lost in a power cut: what it holds is about this moment only."""
    connection.execute(text("SET LOCAL synchronous_commit = off"))


def forget_presence(connection: Connection, before: int) -> None:
    """Remove what is known about who was where, if nobody is there and has not been for long."""
    nobody = (presence.c.watchers == 0) & ~presence.c.black & ~presence.c.white
    connection.execute(delete(presence).where(nobody, presence.c.changed < before))
