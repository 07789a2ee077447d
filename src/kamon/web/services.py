"""What routes receive: the parts of one server, and what they share in dealing with a visitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from kamon.position import Side
from kamon.web import identity
from kamon.web.days.store import Days
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.engine.thinkers import Thinkers
from kamon.web.games.commits import Done
from kamon.web.games.desk import Desk
from kamon.web.games.following import Following
from kamon.web.games.messages import GameCommand
from kamon.web.games.people import People
from kamon.web.games.rooms import Command, Room, first_side
from kamon.web.games.tables import Table
from kamon.web.games.views import Company, RoomView, room_view
from kamon.web.health import Health
from kamon.web.identity import Secrets, Visitor
from kamon.web.limits import Budgets, client_of
from kamon.web.metrics import Metrics
from kamon.web.overload import Overload
from kamon.web.pictures.studio import Studio
from kamon.web.puzzles.book import Book
from kamon.web.puzzles.searching import Searching
from kamon.web.puzzles.store import PuzzleStore
from kamon.web.settings import Settings
from kamon.web.studies.store import Studies


@dataclass(frozen=True, slots=True)
class Puzzles:
    """The parts that deal with puzzles."""

    book: Book
    store: PuzzleStore
    searching: Searching


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one server."""

    settings: Settings
    health: Health
    metrics: Metrics
    secrets: Secrets
    budgets: Budgets
    overload: Overload
    desk: Desk
    people: People
    days: Days
    studies: Studies
    thinkers: Thinkers
    analysts: Analysts
    reviews: Reviews
    studio: Studio
    puzzles: Puzzles
    # What other servers do, where some share the database.
    following: Following | None = None

    # --- Who asks ---

    def origins(self, connection: HTTPConnection) -> list[str]:
        """List the origins that are our own page."""
        if self.settings.public_url:
            return [self.settings.public_url]
        host = connection.headers.get("host", "")
        return [f"http://{host}", f"https://{host}"] if host else []

    def visitor(self, connection: HTTPConnection, *, changes: bool) -> Visitor:
        """Find out who asks, and refuse changes that do not come from our own page."""
        secure = self.is_secure(connection)
        found = self.secrets.visitor(connection.headers, connection.cookies, secure=secure)
        if changes:
            identity.require_origin(found, connection.headers, self.origins(connection))
        return found

    def base_url(self, connection: HTTPConnection) -> str:
        """Return the address under which people reach us."""
        return (self.settings.public_url or str(connection.base_url)).rstrip("/")

    def is_secure(self, connection: HTTPConnection) -> bool:
        """Tell whether people reach us over TLS, which may end at a proxy."""
        return self.base_url(connection).startswith("https:")

    def client(self, connection: HTTPConnection) -> str:
        """Name the address of whoever asks by its pseudonym."""
        return self.secrets.pseudonym(client_of(connection))

    def spend(self, connection: HTTPConnection, what: str, cost: float = 1.0) -> None:
        """Take from the budget of whoever asks."""
        self.budgets.spend(self.client(connection), what, cost)

    # --- Games ---

    async def table(self, game: str) -> Table:
        """Return a game's table, with who is there through other servers."""
        table = await self.desk.table(game)
        await self.look_around([table])
        return table

    async def look_around(self, tables: Sequence[Table]) -> None:
        """Find out who is at tables that nobody has watched through this server."""
        await self.look_at([table for table in tables if not table.watchers])

    async def look_at(self, tables: Sequence[Table]) -> None:
        """Find out who is at some tables through other servers."""
        if self.following is not None:
            await self.following.attendance.look(tables)

    def view(self, table: Table, sides: frozenset[Side], room: Room | None = None) -> RoomView:
        """Tell a table to somebody: as it is now, or as a room was when it was new."""
        presence = self.desk.presence
        company = Company(
            present=frozenset(side for side in Side if presence.present(table, side)),
            away_since={side: presence.absent_since(table, side) for side in Side},
            watchers=presence.spectators(table),
        )
        return room_view(room or table.room, sides, company, self.desk.now())

    def is_attended(self, table: Table) -> bool:
        """Tell whether an open game can begin: with a clock, somebody must sit there."""
        people = [side for side in Side if table.room.seat(side).kind == "person"]
        return not table.room.control.clocked or any(
            self.desk.presence.present(table, side) for side in people
        )

    async def obey(self, table: Table, visitor: Visitor, command: GameCommand, client: str) -> Done:
        """Do what a client asks for in a game."""
        sides = visitor.sides(table.holders)
        room = table.newest
        if sides and "computer" in (room.black.kind, room.white.kind):
            if command.do == "move":
                self.thinkers.require_time(client, max(room.black.level, room.white.level))
            self.thinkers.asked_by(room.id, client)
        data = command.data.model_dump(exclude_none=True)
        holders = [(room.open_side(), visitor.require())] if command.do == "join" else []
        absent = None
        if command.do == "claim" and sides:
            await self.look_at([table])
            absent = self.desk.presence.absent_since(table, first_side(sides).other)
        request = Command(command.do, sides, data, command.after, command.id, absent)
        return await self.desk.submit(table.room.id, request, holders, client)


async def services_of(connection: HTTPConnection) -> Services:
    """Return the services of the server that a request or a socket has reached."""
    services: Services = connection.state.services
    return services


ServicesParam = Annotated[Services, Depends(services_of)]
