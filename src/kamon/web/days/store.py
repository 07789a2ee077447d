"""Days in the database: which board each one has, and how the games on it have ended.

A day has its board from the moment on at which somebody first asks for it. So a later version with
more boards does not change the past. Days begin at midnight, UTC.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, func, insert, select, update

from kamon.position import Side
from kamon.web.database import board_days, day_games, games, holders
from kamon.web.days.boards import board_on, solved_boards
from kamon.web.errors import ApiError
from kamon.web.statements import Prepared
from kamon.web.writer import Writer

# They are part of the commits of games, which must be quick.
_BEGIN: Final = Prepared(insert(day_games))
_END: Final = Prepared(
    update(day_games)
    .where(day_games.c.game == bindparam("of"))
    .values(won=bindparam("won"), moves=bindparam("moves"))
)


# --- Games on the board of a day ---


@dataclass(frozen=True, slots=True)
class DayGame:
    """A game of a person against the computer on the board of a day.

    ``moves`` is how many stones lay on the board at the end, None until then. ``won`` tells whether
    the person has won; None also for a draw.
    """

    game: str
    date: str
    level: int
    side: Side
    won: bool | None = None
    moves: int | None = None


def note_begun(connection: Connection, begun: Sequence[DayGame]) -> None:
    """Note games that begin."""
    if begun:
        _BEGIN.execute(connection, [_row(each) for each in begun])


def note_ended(connection: Connection, ended: Sequence[DayGame]) -> None:
    """Note how games have ended. To note it again changes nothing."""
    if ended:
        _END.execute(connection, [{"of": each.game, **_row(each)} for each in ended])


def _row(each: DayGame) -> dict[str, Any]:
    return {
        "game": each.game,
        "date": each.date,
        "level": each.level,
        "side": each.side.value,
        "won": each.won,
        "moves": each.moves,
    }


@dataclass(frozen=True, slots=True)
class LevelResult:
    """How people fared against a level: finished games, those that they won, the shortest win."""

    level: int
    games: int
    wins: int
    shortest: int | None


# --- Days ---


class Days:
    """The days of a server and their boards."""

    def __init__(self, writer: Writer, now: Callable[[], int]) -> None:
        self._writer = writer
        self._now = now
        # The boards that we have asked the database for: they never change.
        self._seeds: dict[date, int] = {}

    def today(self) -> date:
        """Return the day that it is now."""
        return datetime.fromtimestamp(self._now() / 1000, UTC).date()

    async def first(self) -> date:
        """Return the first day of which there is a board."""
        found = await asyncio.to_thread(self._first)
        return self.today() if found is None else date.fromisoformat(found)

    def _first(self) -> str | None:
        with self._writer.database.reading() as connection:
            return connection.execute(select(func.min(board_days.c.date))).scalar()

    async def seed_of(self, day: date) -> int:
        """Return the seed of a day's board, or refuse a day that has none."""
        if day not in self._seeds:
            today = self.today()
            if day > today or (day < today and day < await self.first()):
                raise ApiError("no-such-day")
            self._seeds[day] = await self._find_or_choose(day)
        return self._seeds[day]

    async def _find_or_choose(self, day: date) -> int:
        found = await asyncio.to_thread(self._find, day)
        if found is not None:
            return found
        row = {"date": day.isoformat(), "seed": board_on(day.toordinal(), solved_boards())}
        await self._writer.insert(board_days, row)
        chosen = await asyncio.to_thread(self._find, day)
        assert chosen is not None  # noqa: S101 - boards of days are never removed
        return chosen

    def _find(self, day: date) -> int | None:
        query = select(board_days.c.seed).where(board_days.c.date == day.isoformat())
        with self._writer.database.reading() as connection:
            return connection.execute(query).scalar()

    # --- What is known of a day. Not to be called on the event loop. ---

    def results(self, day: date) -> list[LevelResult]:
        """Tell how people fared on a day's board, against each level that somebody has played."""
        won = day_games.c.won.is_(True)
        query = (
            select(
                day_games.c.level,
                func.count(),
                func.count(case((won, 1))),
                func.min(case((won, day_games.c.moves))),
            )
            .where(day_games.c.date == day.isoformat(), day_games.c.moves.is_not(None))
            .group_by(day_games.c.level)
            .order_by(day_games.c.level)
        )
        with self._writer.database.reading() as connection:
            return [LevelResult(*row) for row in connection.execute(query)]

    def best_of(self, day: date, holder: str | None) -> DayGame | None:
        """Return a holder's best finished game on a day's board: a win with the fewest stones."""
        if holder is None:
            return None
        of = day_games.c
        query = (
            select(of.game, of.date, of.level, of.side, of.won, of.moves)
            .join(holders, holders.c.game == of.game)
            .where(of.date == day.isoformat(), holders.c.holder == holder, of.moves.is_not(None))
            .order_by(case((of.won.is_(True), 0), else_=1), of.moves, of.game)
            .limit(1)
        )
        with self._writer.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else DayGame(*row[:3], Side(row.side), row.won, row.moves)

    def games_of(self, day: date, holder: str, limit: int) -> list[str]:
        """List a holder's games on a day's board, the latest first."""
        query = (
            select(games.c.id)
            .join(day_games, day_games.c.game == games.c.id)
            .join(holders, holders.c.game == games.c.id)
            .where(day_games.c.date == day.isoformat(), holders.c.holder == holder)
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        with self._writer.database.reading() as connection:
            return list(connection.execute(query).scalars())
