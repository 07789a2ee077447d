"""On how many days somebody has played, by month. What is counted is never lost."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final

from sqlalchemy import Connection, Integer, literal, select
from typing_extensions import TypedDict

from kamon.web.database import Database, holders, played_days
from kamon.web.statements import insert_missing, insert_new

_MILLISECONDS: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1).toordinal()


class PlayedDays(TypedDict):
    """How many days of this month somebody has played on, and of their best month."""

    this_month: int
    best_month: int


def note_played(connection: Connection, holder: str, now: int) -> None:
    """Note that somebody plays today."""
    insert_new(connection, played_days, {"holder": holder, "day": now // _MILLISECONDS})


def note_ended_games(connection: Connection, ended: Iterable[tuple[str, int]]) -> None:
    """Note that the players of some games have played, on the days on which the games ended."""
    games: dict[int, list[str]] = {}
    for game, at in ended:
        games.setdefault(at // _MILLISECONDS, []).append(game)
    for day, several in sorted(games.items()):
        # In order, so that two servers never wait for each other.
        seats = (
            select(holders.c.holder, literal(day, Integer))
            .where(holders.c.game.in_(several))
            .distinct()
            .order_by(holders.c.holder)
        )
        columns = [played_days.c.holder, played_days.c.day]
        connection.execute(insert_missing(connection, played_days).from_select(columns, seats))


def days_of(database: Database, holder: str | None, today: date) -> PlayedDays:
    """Count the days of this month and of the best one."""
    query = select(played_days.c.day).where(played_days.c.holder == holder)
    with database.reading() as connection:
        days = [date.fromordinal(_EPOCH + day) for day in connection.execute(query).scalars()]
    months = Counter((day.year, day.month) for day in days)
    return {
        "this_month": months[today.year, today.month],
        "best_month": max(months.values(), default=0),
    }
