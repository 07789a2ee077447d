"""Games that wait for the computer, on a database that servers share.

Such a game is a row that any server with a free worker leases for a few seconds and renews while it
thinks. Where a server dies in the middle of a thought, the lease ends and another takes it. Should
two ever think about one game, nothing is lost: the number of the move's event is unique.
"""

from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from kamon.web.cluster import news
from kamon.web.cluster.news import Hint
from kamon.web.database import games, thoughts
from kamon.web.writer import Writer

# Milliseconds for which a game is leased, and after which one is tried again that nobody could
# think about.
LEASE: Final = 5_000
RETRY: Final = 10_000
# Seconds between two looks for games that no notification has told of; leases are renewed then.
LOOK_EVERY: Final = 1.0


class Leases:
    """The games that one server thinks about. ``held`` is kept up to date by every call."""

    def __init__(self, writer: Writer, server: str, now: Callable[[], int]) -> None:
        self._writer = writer
        self._server = server
        self._now = now
        self.held: set[str] = set()
        self._missing: dict[str, int] = {}

    @property
    def idle(self) -> bool:
        """Whether there is nothing to renew, and nothing that somebody should think about."""
        return not self.held and not self._missing

    def ensure(self, game: str, number: int) -> None:
        """See to it that somebody thinks about a game, which may have come from elsewhere."""
        self._missing[game] = number

    async def take(self, most: int, busy: Collection[str]) -> list[tuple[str, str]]:
        """Renew the leases of games that we are busy with, and take at most so many others.

        Whatever we hold and are not busy with is free for anybody when its lease ends. Clients take
        turns: whoever has one game being thought about comes after those with none. Return the
        games that were taken, with who asked.
        """
        missing, self._missing = self._missing, {}
        try:
            kept, taken = await self._writer.write(
                lambda connection: self._take(connection, most, list(busy), missing)
            )
        except BaseException:
            self._missing = missing | self._missing
            raise
        self.held = {*kept, *(game for game, _ in taken)}
        return taken

    def _take(
        self, connection: Connection, most: int, busy: list[str], missing: dict[str, int]
    ) -> tuple[list[str], list[tuple[str, str]]]:
        now = self._now()
        if missing:
            _insert_missing(connection, missing, now)
        until = now + LEASE
        kept = self._renew(connection, busy, until) if busy else []
        if most <= 0:
            return kept, []
        ranked = select(
            thoughts.c.game,
            func.row_number()
            .over(partition_by=thoughts.c.client, order_by=thoughts.c.since)
            .label("turn"),
        ).subquery()
        free = (
            select(thoughts.c.game)
            .join(ranked, ranked.c.game == thoughts.c.game)
            .where(thoughts.c.leased_until < now)
            .order_by(ranked.c.turn, thoughts.c.since)
            .limit(most)
            .with_for_update(of=thoughts, skip_locked=True)
        )
        lease = (
            update(thoughts)
            .where(thoughts.c.game.in_(free.scalar_subquery()))
            .values(server=self._server, leased_until=until)
            .returning(thoughts.c.game, thoughts.c.client)
        )
        taken = [(row.game, row.client) for row in connection.execute(lease)]
        return kept, taken

    def _renew(self, connection: Connection, busy: list[str], until: int) -> list[str]:
        """Keep our leases of some games; one that a commit is about to end is passed over."""
        ours = (
            select(thoughts.c.game)
            .where(thoughts.c.server == self._server, thoughts.c.game.in_(busy))
            .with_for_update(skip_locked=True)
        )
        renewed = (
            update(thoughts)
            .where(thoughts.c.game.in_(ours.scalar_subquery()))
            .values(leased_until=until)
            .returning(thoughts.c.game)
        )
        return list(connection.execute(renewed).scalars())

    async def give_back(self, game: str, *, after: int = 0) -> None:
        """Let any server think about a game, at once or so many milliseconds later."""
        until = self._now() + after if after else 0
        ours = (thoughts.c.game == game) & (thoughts.c.server == self._server)
        free = update(thoughts).where(ours).values(server=None, leased_until=until)

        def write(connection: Connection) -> None:
            connection.execute(free)
            news.tell(connection, self._server, [Hint(game, news.THOUGHT)])

        self.held.discard(game)
        await self._writer.write(write)

    async def drop(self, game: str, number: int) -> None:
        """Forget a game in which the computer is not to move after all, as of an event."""
        ours = (
            (thoughts.c.game == game)
            & (thoughts.c.server == self._server)
            & (thoughts.c.number <= number)
        )
        self.held.discard(game)
        await self._writer.write(
            lambda connection: connection.execute(delete(thoughts).where(ours))
        )


def _insert_missing(connection: Connection, missing: dict[str, int], now: int) -> None:
    """Write down games that should be thought about, unless that is known or they have gone on."""
    same = select(games.c.id).where(games.c.id.in_(missing), games.c.status == "playing")
    rows = [
        {
            "game": game,
            "number": missing[game],
            "client": "",
            "since": now,
            "server": None,
            "leased_until": 0,
        }
        for game in connection.execute(same).scalars()
    ]
    if rows:
        connection.execute(insert(thoughts).on_conflict_do_nothing(), rows)
