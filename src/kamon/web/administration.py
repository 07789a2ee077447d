"""What a host may see and change from outside of the servers, through the database alone.

Looking is always possible. To change something, the host's command takes the place of a server: on
SQLite only while none is running, because a file belongs to one process; on PostgreSQL at any time,
as one more of those that share the database.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from kamon.errors import KamonError
from kamon.position import Side
from kamon.web.cluster import news
from kamon.web.database import (
    Database,
    DatabaseError,
    events,
    games,
    server,
    servers,
    spending,
    studies,
)
from kamon.web.games import rooms, store
from kamon.web.games.rooms import Command, Event, Room
from kamon.web.games.store import Games
from kamon.web.server_time import wall_time

RUNNING: Final = ("waiting", "playing")
# How often a change is decided again because servers were faster.
_TRIES: Final = 20
# Who tells the servers of a change: no server has this name.
_HOST: Final = "admin"


class AdministrationError(KamonError):
    """Something that a host has asked for and that cannot be done."""


class UnreadableGameError(AdministrationError):
    """A game in the database that makes no sense."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game, with when it was set up and when it has last changed."""

    room: Room
    created: int
    updated: int


@dataclass(frozen=True, slots=True)
class ServerSummary:
    """A server that shares the database, and how many people are there through it."""

    id: str
    alive: int
    people: int
    web: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """What a client, known by a pseudonym, has spent of a budget at all servers."""

    client: str
    what: str
    amount: float


@dataclass(frozen=True, slots=True)
class StudySummary:
    """A study, as a host sees it in a list."""

    id: str
    updated: int
    moves: int
    title: str


@contextmanager
def looking_after(url: str, *, changing: bool = False) -> Iterator["Administration"]:
    """Open a database that servers have made, to look at it or to change something."""
    with closing(Database(url)) as database:
        file = database.file()
        if file is not None and not file.exists():
            raise DatabaseError(f"there is no database at {database.name}")
        if not database.up_to_date():
            raise DatabaseError(
                f"{database.name} has not been used by this version of Kamon yet: "
                "start a server on it first"
            )
        if changing and not database.shared:
            database.open()
        yield Administration(database)


class Administration:
    """A database, seen by the host."""

    def __init__(self, database: Database) -> None:
        self.shared = database.shared
        self._database = database
        self._games = Games(database)
        # What a list has left out.
        self.unreadable: list[UnreadableGameError] = []

    # --- Looking ---

    def games(self, statuses: Sequence[str], limit: int) -> list[GameSummary]:
        """List games of some status, those that have changed last first."""
        query = (
            select(games.c.id)
            .where(games.c.status.in_(statuses))
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            names = list(connection.execute(query).scalars())
        found = []
        for name in names:
            try:
                found.append(self.game(name)[0])
            except UnreadableGameError as error:
                self.unreadable.append(error)
        return found

    def game(self, name: str) -> tuple[GameSummary, list[Event]]:
        """Return a game, and everything that has happened in it."""
        try:
            happened, _ = self._games.load(name)
            room = rooms.create(name, happened) if happened else None
        except (ValueError, LookupError, TypeError) as error:
            raise UnreadableGameError(
                f"the game {name!r} cannot be read ({type(error).__name__}): "
                f"remove it with kamon admin remove-game {name}"
            ) from error
        if room is None:
            raise AdministrationError(f"there is no game {name!r}")
        return GameSummary(room, happened[0].at, happened[-1].at), happened

    def studies(self, limit: int) -> list[StudySummary]:
        """List studies, those that have changed last first."""
        columns = studies.c.id, studies.c.updated, studies.c.moves, studies.c.title
        query = select(*columns).order_by(studies.c.updated.desc(), studies.c.id).limit(limit)
        with self._database.reading() as connection:
            return [StudySummary(*row) for row in connection.execute(query)]

    def servers(self) -> list[ServerSummary]:
        """List the servers that share the database."""
        query = select(servers.c.id, servers.c.alive, servers.c.people, servers.c.web)
        with self._database.reading() as connection:
            return [ServerSummary(*row) for row in connection.execute(query.order_by("id"))]

    def last_alive(self) -> int | None:
        """Tell when a server was last alive on a database that is not shared."""
        query = select(server.c.value).where(server.c.name == "alive")
        with self._database.reading() as connection:
            noted = connection.execute(query).scalar()
        return None if noted is None else int(noted)

    def spent(self, limit: int) -> list[Spent]:
        """List what clients have spent of their budgets, the most first."""
        amount = func.sum(spending.c.amount).label("amount")
        query = (
            select(spending.c.client, spending.c.what, amount)
            .group_by(spending.c.client, spending.c.what)
            .order_by(amount.desc(), spending.c.client, spending.c.what)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [Spent(*row) for row in connection.execute(query)]

    # --- Changing ---

    def close(self, name: str) -> None:
        """End a game that is waiting or being played, without a winner."""
        if not self._obey(name, Command("close")):
            raise AdministrationError(f"the game {name!r} is already over")

    def rename(self, name: str, side: Side, to: str) -> None:
        """Give a player another name, or none; the one before is forgotten."""
        if len(to) > rooms.NAME_LIMIT:
            raise AdministrationError(f"a name has at most {rooms.NAME_LIMIT} characters")
        room = self.game(name)[0].room
        if room.seat(side).kind != "person":
            raise AdministrationError(
                f"{side.value} is not played by a person in the game {name!r}"
            )
        self._obey(name, Command("rename", data={"side": side.value, "name": to}))
        # Should this fail, the same command does it again.
        with self._database.writing() as connection:
            _forget_name(connection, name, side, to)

    def remove_game(self, name: str) -> None:
        """Remove a game with everything that has happened in it."""
        with self._database.writing() as connection:
            gone = connection.execute(delete(games).where(games.c.id == name))
        if not gone.rowcount:
            raise AdministrationError(f"there is no game {name!r}")

    def remove_study(self, name: str) -> None:
        """Remove a study."""
        with self._database.writing() as connection:
            gone = connection.execute(delete(studies).where(studies.c.id == name))
        if not gone.rowcount:
            raise AdministrationError(f"there is no study {name!r}")

    def _obey(self, name: str, command: Command) -> Sequence[Event]:
        """Do something in a game as a server would; tell which events have come of it."""
        for _ in range(_TRIES):
            room = self.game(name)[0].room
            happened = rooms.decide(room, command, wall_time())
            if not happened or self._written(reduce(rooms.evolve, happened, room), happened):
                return happened
        raise AdministrationError(f"the game {name!r} is changing too fast: try again")

    def _written(self, room: Room, happened: Sequence[Event]) -> bool:
        """Write events and tell the servers, unless one of them was faster."""
        change = store.change_of(room, happened)
        with self._database.writing() as connection:
            # A SQLite file is ours alone.
            if self.shared and store.moved_on(connection, [change]):
                return False
            store.commit(connection, [change])
            if self.shared:
                news.tell(connection, _HOST, [news.Hint(room.id, str(room.number))])
        return True


def _forget_name(connection: Connection, game: str, side: Side, to: str) -> None:
    """Put another name into the events that hold the one that a player had."""
    of_game = events.c.game == game
    query = select(events).where(of_game, events.c.kind.in_(("created", "joined", "renamed")))
    for row in connection.execute(query).all():
        data = json.loads(row.data)
        named = data[side.value] if row.kind == "created" else data
        if not named["name"] or named.get("side", side.value) != side.value:
            continue
        named["name"] = to
        changed = json.dumps(data, separators=(",", ":"))
        this = of_game & (events.c.number == row.number)
        connection.execute(update(events).where(this).values(data=changed))
