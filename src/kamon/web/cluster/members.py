"""The servers that share a database: each notes once a second that it is alive.

One that has not done so for some seconds is buried by the others: whoever was there through it has
left, and what it was thinking about is free for others. Should it only have been stopped for a
while, it finds that it was buried, and tells anew who is there.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, text, update

from kamon.web.database import presence, servers, spending, thoughts
from kamon.web.ids import new_id
from kamon.web.writer import Writer

# Seconds between two notes.
BEAT: Final = 1.0
# Milliseconds without a note after which a server counts as dead.
DEAD_AFTER: Final = 5_000


# One statement a second is all that an idle server sends. It writes that the server is alive, and
# reads what there may be to do, so that nobody need look for that in vain.
_BEAT: Final = text(
    """
    WITH clock AS (
        SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now
    ), beat AS (
        INSERT INTO servers (id, alive, people, web) SELECT :id, now, :people, :web FROM clock
        ON CONFLICT (id) DO UPDATE
        SET alive = excluded.alive, people = excluded.people, web = excluded.web
        -- A row that was there has a transaction that has changed it; a new one has none.
        RETURNING xmax = 0 AS anew
    )
    SELECT
        clock.now,
        beat.anew,
        (
            SELECT coalesce(json_agg(json_build_array(id, alive, people, web)), '[]')
            FROM servers WHERE id <> :id
        ) AS others,
        (SELECT max(round) FROM spending WHERE server <> :id) AS spent_at,
        (SELECT min(flag) FROM games WHERE status = 'playing') AS next_flag,
        EXISTS (SELECT FROM thoughts WHERE leased_until < clock.now) AS has_work
    FROM clock, beat
    """
)


@dataclass(frozen=True, slots=True)
class Beat:
    """What a server learns when it notes that it is alive.

    ``now`` is the time of the database, and ``took`` how many seconds it took to ask. ``anew`` says
    that the others had given this server up, and ``missing`` that one of them is gone since the
    last time. ``spent_at`` is when another server last told what its visitors have spent,
    ``next_flag`` when the next clock runs out, and ``has_work`` whether a game waits for the
    computer and nobody thinks about it.
    """

    now: int
    took: float
    anew: bool
    missing: bool
    spent_at: int | None
    next_flag: int | None
    has_work: bool


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
        """How many servers have a page; an engine worker has none."""
        return self.others_on_the_web + self._web

    async def beat(self, people: int) -> Beat:
        """Note that this server is alive, and learn what there is to do."""
        values = {"id": self.id, "people": people, "web": self._web}

        def note(connection: Connection) -> tuple[Row[Any], float]:
            asked = time.monotonic()
            return connection.execute(_BEAT, values).one(), time.monotonic() - asked

        row, took = await self._writer.write(note, "single")
        dead = [(name, alive) for name, alive, *_ in row.others if alive < row.now - DEAD_AFTER]
        if dead:
            await self._writer.write(lambda connection: _bury_all(connection, dead))
        living = [each for each in row.others if each[1] >= row.now - DEAD_AFTER]
        before, self._others = self._others, frozenset(each[0] for each in living)
        self.people_elsewhere = sum(each[2] for each in living)
        self.others_on_the_web = sum(each[3] for each in living)
        was_known, self._known = self._known, True
        return Beat(
            row.now,
            took,
            row.anew and was_known,
            not before <= self._others,
            row.spent_at,
            row.next_flag,
            row.has_work,
        )

    async def leave(self) -> None:
        """Leave the others, as a server does that ends."""
        now = self._now()
        await self._writer.write(lambda connection: bury(connection, self.id, now))


def _bury_all(connection: Connection, dead: Sequence[tuple[str, int]]) -> None:
    for server, alive in dead:
        bury(connection, server, alive)


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


def forget_old(connection: Connection, before: int) -> None:
    """Remove what is known about who was where, if nobody is there and has not been for long.

    And what was spent: every budget that matters has filled again.
    """
    nobody = (presence.c.watchers == 0) & ~presence.c.black & ~presence.c.white
    connection.execute(delete(presence).where(nobody, presence.c.changed < before))
    connection.execute(delete(spending).where(spending.c.round < before))
