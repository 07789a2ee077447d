"""Whether this machine's clock can be right.

The time of a server never goes back (server_time.py). So one start with a clock that is a year
ahead would set the date of every later start.
"""

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import delete, func, select, update

from kamon.errors import KamonError
from kamon.web.database import Database, games, servers
from kamon.web.memory import latest_alive, write_alive

_DAY: Final = 24 * 3600 * 1000
# By how much the clock may be behind the last change, and how long a server may have been off.
BEHIND_LIMIT: Final = _DAY
OFF_LIMIT: Final = 180 * _DAY


class ClockError(KamonError):
    """A clock by which nobody should play."""


def check_clock(database: Database, now: int) -> None:
    """Refuse a clock that contradicts what the database has seen."""
    with database.reading() as connection:
        changed = connection.execute(select(func.max(games.c.updated))).scalar()
    alive = latest_alive(database)
    known = [each for each in (changed, alive) if each is not None]
    if not known:
        return
    last = max(known)
    if last - now > BEHIND_LIMIT or now - last > OFF_LIMIT:
        raise ClockError(
            f"this machine's clock says {_date(now)}, but this server last ran on {_date(last)}: "
            "set the clock, or start once with --clock-is-right"
        )


def believe_clock(database: Database, now: int) -> None:
    """Forget that anything has happened after this moment: another clock was wrong."""
    with database.writing() as connection:
        connection.execute(update(games).where(games.c.updated > now).values(updated=now))
        connection.execute(delete(servers).where(servers.c.alive > now))
        write_alive(connection, now)


def _date(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).date().isoformat()
