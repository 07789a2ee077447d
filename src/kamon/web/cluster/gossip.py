"""What clients have spent of their budgets at other servers counts here too.

Each server writes down how much a client has spent there in all, once it is worth mentioning, and
the others charge what has been added since they looked last.
"""

from typing import Final, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from kamon.web.cluster.members import Beat, Members
from kamon.web.database import spending
from kamon.web.limits import BUDGETS, Budgets
from kamon.web.writer import Writer

# Milliseconds after which nothing is left to tell: every budget that matters has filled again.
_FORGOTTEN_AFTER: Final = 3_600_000
# Milliseconds after which everybody has heard what was told.
_HEARD_AFTER: Final = 5_000
Key = tuple[str, str]
_Name = TypeVar("_Name")


class Gossip:
    """Budgets that several servers hold together."""

    def __init__(self, writer: Writer, members: Members, budgets: Budgets) -> None:
        self._writer = writer
        self._members = members
        self._budgets = budgets
        # All that was spent here, as it was told to the others, and when.
        self._told: dict[Key, tuple[float, int]] = {}
        # What each server has told and when, and the last moment at which one has.
        self._heard: dict[tuple[str, Key], tuple[float, int]] = {}
        self._heard_until = 0
        # What others had spent before we came is over.
        self._is_new = True
        self._untold: set[Key] = set()

    async def exchange(self, beat: Beat) -> None:
        """Tell the others what was spent here, and hear what was spent there, if anything was."""
        now = beat.now
        self._budgets.servers = 1 + self._members.others_on_the_web
        for key, amount in self._budgets.take_report().items():
            before, _ = self._told.get(key, (0.0, 0))
            self._told[key] = before + amount, now
            self._untold.add(key)
        self._told = _newer(self._told, now - _FORGOTTEN_AFTER)
        self._heard = _newer(self._heard, now - _FORGOTTEN_AFTER)
        news = {key: self._told[key][0] for key in self._untold if key in self._told}
        is_heard = beat.spent_at is None or beat.spent_at < now - _HEARD_AFTER
        if not news and is_heard and not self._is_new:
            return
        found = await self._writer.write(lambda connection: self._swap(connection, news, now))
        self._untold.clear()
        for server, client, what, amount, told in found:
            self._heard_until = max(self._heard_until, told)
            source = server, (client, what)
            added = amount - self._heard.get(source, (0.0, 0))[0]
            self._heard[source] = amount, told
            if what in BUDGETS and not self._is_new:
                self._budgets.hear(client, what, added)
        self._is_new = False

    def _swap(
        self, connection: Connection, news: dict[Key, float], now: int
    ) -> list[tuple[str, str, str, float, int]]:
        me = self._members.id
        rows = [
            {"server": me, "client": client, "what": what, "round": now, "amount": total}
            for (client, what), total in news.items()
        ]
        if rows:
            statement = insert(spending)
            new = {name: statement.excluded[name] for name in ("round", "amount")}
            keys = ["server", "client", "what"]
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), rows)
        # A transaction that began a moment earlier may become visible a moment later.
        since = self._heard_until - 2_000
        query = select(
            spending.c.server,
            spending.c.client,
            spending.c.what,
            spending.c.amount,
            spending.c.round,
        ).where(spending.c.server != me, spending.c.round >= since)
        return [tuple(row) for row in connection.execute(query)]


def _newer(amounts: dict[_Name, tuple[float, int]], since: int) -> dict[_Name, tuple[float, int]]:
    """Keep the amounts that were told after a moment."""
    return {name: told for name, told in amounts.items() if told[1] > since}
