"""Games in the database: their events, who holds which seat, and links that carry a seat elsewhere.

Functions that take a connection write, in a transaction of the writer's. The methods of ``Games``
read, on a thread of their own.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, null, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from kamon.position import Side
from kamon.web.database import (
    Database,
    events,
    games,
    handovers,
    holders,
    thoughts,
    unsigned_holders,
)
from kamon.web.days.played import note_ended_games
from kamon.web.days.store import DayGame, note_begun, note_ended
from kamon.web.games.rooms import Event, Room
from kamon.web.statements import Prepared

# A side, and the hashed secret of somebody who may play for it.
Holder = tuple[Side, str]

# Built once and given the rows of a whole batch: that is half the work of a commit.
_OPEN: Final = Prepared(insert(games))
_TOUCH: Final = Prepared(
    update(games)
    .where(games.c.id == bindparam("of"))
    .values({name: bindparam(name) for name in ("updated", "status", "listed", "flag")})
    # It does not wait for anyone any more, so nobody need know who has set it up.
    .values(client=null())
)
_HAPPEN: Final = Prepared(insert(events))
_SEAT: Final = Prepared(insert(holders))
_THINK: Final = insert(thoughts).values(server=None, leased_until=0)
_WAITING: Final = (games.c.status == "waiting") & games.c.listed
# Asked of PostgreSQL alone, which takes a list as one value. SQLAlchemy would write the statement
# anew for every length of a list.
_LAST: Final = (
    "SELECT id, (SELECT max(number) FROM events WHERE game = id) AS number "
    "FROM unnest(CAST(%(games)s AS text[])) AS asked(id)"
)
_LOCK: Final = (
    "SELECT id FROM games WHERE id = ANY(CAST(%(games)s AS text[])) ORDER BY id FOR NO KEY UPDATE"
)
_HELD: Final = text("SELECT * FROM holders WHERE game = ANY(CAST(:games AS text[]))")
_NEWER: Final = text(
    "SELECT events.* FROM unnest(CAST(:games AS text[]), CAST(:numbers AS integer[])) "
    "AS seen(game, number) JOIN events ON events.game = seen.game "
    "AND events.number > seen.number ORDER BY events.game, events.number"
)


@dataclass(frozen=True, slots=True)
class Change:
    """What one command adds to a game."""

    game: str
    events: Sequence[Event]
    status: str
    listed: bool
    flag: int | None
    holders: Sequence[Holder] = field(default=())
    # Who has asked for it: a pseudonym of their address.
    client: str = ""
    # Whether the computer plays, and the number of the last move if it is to answer that.
    against_computer: bool = False
    thought: int | None = None
    # What to note of a game on the board of a day.
    day: DayGame | None = None

    @property
    def base(self) -> int:
        """The number of the last event before it."""
        return self.events[0].number - 1


def change_of(
    room: Room, happened: Sequence[Event], held: Sequence[Holder] = (), client: str = ""
) -> Change:
    """Return what to write after some events, which have left a room as it is now."""
    return Change(
        room.id,
        happened,
        room.status,
        room.listed,
        room.clock.flag(room.turn) if room.turn is not None else None,
        held,
        client,
        "computer" in (room.black.kind, room.white.kind),
        room.board_number if room.computer_to_move() else None,
        _day_game(room),
    )


def _day_game(room: Room) -> DayGame | None:
    """Return what to note of a game, if it is played on the board of a day."""
    if room.day is None:
        return None
    side = Side.WHITE if room.black.kind == "computer" else Side.BLACK
    noted = DayGame(room.id, room.day, room.seat(side.other).level, side)
    if room.result is None:
        return noted
    winner = room.result.winner
    won = None if winner is None else winner is side
    return replace(noted, won=won, moves=len(room.moves))


# --- Writing --------------------------------------------------------------------------------


def moved_on(connection: Connection, changes: Iterable[Change]) -> set[str]:
    """Find the games that another server has changed; no other can change the rest until we have.

    They are locked in the order of their names, so that two servers never wait for each other.
    """
    based_on: dict[str, int] = {}
    for change in changes:
        based_on.setdefault(change.game, change.base)
    names = [game for game, base in based_on.items() if base]
    if not names:
        return set()
    # By the driver's own methods, because this is a pipeline: both are sent at once. The second
    # statement sees what another server has written while the first one waited.
    driver: Any = connection.connection.driver_connection
    driver.execute(_LOCK, {"games": names})
    newest = dict(driver.execute(_LAST, {"games": names}).fetchall())
    return {game for game in names if newest[game] != based_on[game]}


def commit(connection: Connection, changes: Sequence[Change]) -> None:
    """Write the changes of many games."""
    opened, touched, happened, seated = [], [], [], []
    for change in changes:
        state = {
            "of": change.game,
            "updated": change.events[-1].at,
            "status": change.status,
            "listed": change.listed,
            "flag": change.flag,
        }
        if not change.base:
            client = change.client if change.listed else None
            created = change.events[0].at
            opened.append({"id": change.game, "created": created, "client": client, **state})
        else:
            touched.append(state)
        happened += [_row(change.game, each) for each in change.events]
        seated += [
            {"game": change.game, "side": side.value, "holder": holder}
            for side, holder in change.holders
        ]
    for statement, rows in (
        (_OPEN, opened),
        (_TOUCH, touched),
        (_HAPPEN, happened),
        (_SEAT, seated),
    ):
        if rows:
            statement.execute(connection, rows)
    _want_thoughts(connection, changes)
    _note_days(connection, changes)


def _note_days(connection: Connection, changes: Sequence[Change]) -> None:
    """Note the games on the board of a day that begin, and how others have ended."""
    of_days = [(change.base, change.day) for change in changes if change.day is not None]
    note_begun(connection, [day for base, day in of_days if not base])
    note_ended(connection, [day for base, day in of_days if base and day.moves is not None])
    ends = (
        (change.game, each.at)
        for change in changes
        for each in change.events
        if each.kind == "ended"
    )
    note_ended_games(connection, ends)


def _want_thoughts(connection: Connection, changes: Iterable[Change]) -> None:
    """Write down in which games the computer is to move now.

    Any server that shares the database may think about them, and so may this one after a crash.
    """
    last = {
        change.game: change
        for change in changes
        if change.against_computer or change.status != "playing"
    }
    if not last:
        return
    connection.execute(delete(thoughts).where(thoughts.c.game.in_(last)))
    rows = [
        {
            "game": change.game,
            "number": change.thought,
            "client": change.client,
            "since": change.events[-1].at,
        }
        for change in last.values()
        if change.thought is not None
    ]
    if rows:
        connection.execute(_THINK, rows)


def hand_over(connection: Connection, token: str, game: str, side: Side, expires: int) -> None:
    """Keep a one-time token, hashed, with which another device may take a seat as well."""
    row = {"token": token, "game": game, "side": side.value, "expires": expires}
    connection.execute(insert(handovers).values(**row))


def take_over(connection: Connection, token: str, holder: str, now: int) -> tuple[str, Side] | None:
    """Spend a one-time token: seat the holder, and say where; None where it is no good."""
    # Taken and gone in one statement, so that of many who come at once one is seated.
    good = (handovers.c.token == token) & (handovers.c.expires > now)
    spent = delete(handovers).where(good).returning(handovers.c.game, handovers.c.side)
    found = connection.execute(spent).first()
    connection.execute(delete(handovers).where(handovers.c.expires <= now))
    if found is None:
        return None
    seat = {"game": found.game, "side": found.side, "holder": holder}
    already = select(holders.c.side).filter_by(**seat)
    if connection.execute(already).first() is None:
        connection.execute(insert(holders).values(**seat))
    return found.game, Side(found.side)


def let_go(connection: Connection, holder: str) -> list[str]:
    """Take all seats away from a holder, and the links to them; return the games."""
    gone = (
        delete(holders).where(holders.c.holder == holder).returning(holders.c.game, holders.c.side)
    )
    seats = connection.execute(gone).all()
    for game, side in seats:
        links = (handovers.c.game == game) & (handovers.c.side == side)
        connection.execute(delete(handovers).where(links))
    connection.execute(delete(unsigned_holders).where(unsigned_holders.c.holder == holder))
    return [game for game, _ in seats]


def keep_only(connection: Connection, game: str, side: Side, holder: str) -> None:
    """Take a seat away from every device but one, and end the links to it."""
    of_seat = (holders.c.game == game) & (holders.c.side == side.value)
    connection.execute(delete(holders).where(of_seat & (holders.c.holder != holder)))
    links = (handovers.c.game == game) & (handovers.c.side == side.value)
    connection.execute(delete(handovers).where(links))


def remove(
    connection: Connection, several: Sequence[str], now: int, before: int | None = None
) -> None:
    """Remove a few games that nobody has changed since a moment, and links that have expired."""
    some = games.c.id.in_(several)
    old = some if before is None else some & (games.c.updated < before)
    connection.execute(delete(games).where(old))
    connection.execute(delete(handovers).where(handovers.c.expires <= now))


def _row(game: str, each: Event) -> dict[str, Any]:
    return {
        "game": game,
        "number": each.number,
        "at": each.at,
        "kind": each.kind,
        "data": json.dumps(each.data, separators=(",", ":")),
        "command": each.command,
    }


def _event(row: Row[Any]) -> Event:
    return Event(row.number, row.at, row.kind, json.loads(row.data), row.command)


# --- Reading --------------------------------------------------------------------------------


class Games:
    """What can be asked about the games in a database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def load(self, game: str, after: int = 0) -> tuple[list[Event], list[Holder]]:
        """Return a game's events after a number and who holds its seats; empty if there is none."""
        with self.database.reading() as connection:
            rows = connection.execute(
                select(events)
                .where(events.c.game == game, events.c.number > after)
                .order_by(events.c.number)
            ).all()
            held = connection.execute(select(holders).where(holders.c.game == game)).all()
        return [_event(row) for row in rows], [(Side(row.side), row.holder) for row in held]

    def load_newer(self, after: Mapping[str, int]) -> dict[str, list[Event]]:
        """Return the events of several games after a number for each."""
        found: dict[str, list[Event]] = {game: [] for game in after}
        wanted = {"games": list(after), "numbers": list(after.values())}
        with self.database.reading() as connection:
            for row in connection.execute(_NEWER, wanted):
                found[row.game].append(_event(row))
        return found

    def load_holders(self, several: Collection[str]) -> dict[str, list[Holder]]:
        """Return who holds the seats of several games."""
        found: dict[str, list[Holder]] = {game: [] for game in several}
        with self.database.reading() as connection:
            for row in connection.execute(_HELD, {"games": list(several)}):
                found[row.game].append((Side(row.side), row.holder))
        return found

    def numbers(self, several: Sequence[str]) -> dict[str, int]:
        """Return the number of the last event of each of several games."""
        with self.database.reading() as connection:
            found = connection.exec_driver_sql(_LAST, {"games": list(several)})
            return {row.id: row.number for row in found if row.number is not None}

    def overdue(self, before: int, limit: int) -> list[str]:
        """List games whose clock ran out before a moment, the longest overdue first."""
        query = (
            select(games.c.id)
            .where(games.c.status == "playing", games.c.flag < before)
            .order_by(games.c.flag)
            .limit(limit)
        )
        with self.database.reading() as connection:
            return list(connection.execute(query).scalars())

    def time(self) -> int:
        """Read the clock of a database that servers share."""
        query = select(func.extract("epoch", func.clock_timestamp()))
        with self.database.reading() as connection:
            return int(connection.execute(query).scalar_one() * 1000)

    def games_of(
        self, holder: str, limit: int, before: int | None, statuses: Sequence[str] = ()
    ) -> list[str]:
        """List the games in which a holder has a seat, of some status or any, latest first."""
        query = (
            select(games.c.id, games.c.updated)
            .where(games.c.id.in_(select(holders.c.game).where(holders.c.holder == holder)))
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        if before is not None:
            query = query.where(games.c.updated < before)
        if statuses:
            query = query.where(games.c.status.in_(statuses))
        with self.database.reading() as connection:
            return [row.id for row in connection.execute(query)]

    def open_games(self, limit: int) -> list[tuple[str, str | None]]:
        """List the games that wait for an opponent from anywhere, with who has set them up."""
        query = (
            select(games.c.id, games.c.client)
            .where(_WAITING)
            .order_by(games.c.updated.desc())
            .limit(limit)
        )
        with self.database.reading() as connection:
            return [(row.id, row.client) for row in connection.execute(query)]

    def count_open_of(self, client: str) -> int:
        """Count the games of a client that wait for an opponent from anywhere."""
        query = select(func.count()).where(_WAITING, games.c.client == client)
        with self.database.reading() as connection:
            return connection.execute(query).scalar_one()

    def unchanged_since(self, before: int, statuses: Sequence[str]) -> list[str]:
        """List games of some status that nobody has touched since a moment."""
        query = select(games.c.id).where(games.c.updated < before, games.c.status.in_(statuses))
        with self.database.reading() as connection:
            return list(connection.execute(query).scalars())

    def flags(self) -> list[tuple[int, str]]:
        """List when which game will be lost on time."""
        query = select(games.c.flag, games.c.id).where(
            games.c.status == "playing", games.c.flag.is_not(None)
        )
        with self.database.reading() as connection:
            return [(row.flag, row.id) for row in connection.execute(query)]

    def waiting_for_computer(self) -> list[str]:
        """List the games in which the computer was to move when a server stopped."""
        with self.database.reading() as connection:
            return list(connection.execute(select(thoughts.c.game)).scalars())

    def answers(self) -> bool:
        """Tell whether the database can be read."""
        try:
            with self.database.reading() as connection:
                connection.execute(select(1))
        except SQLAlchemyError:
            return False
        return True

    def latest_change(self) -> int:
        """Return the last moment at which any game has changed."""
        with self.database.reading() as connection:
            return connection.execute(select(func.max(games.c.updated))).scalar() or 0
