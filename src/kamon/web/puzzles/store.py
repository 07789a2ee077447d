"""Who has tried which puzzle, and what became of the ratings."""

import asyncio
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from sqlalchemy import Connection, Select, delete, func, select, update

from kamon.census.canonical import canonical_layout
from kamon.notation import format_layout
from kamon.puzzles.files import format_row
from kamon.puzzles.puzzle import Puzzle
from kamon.web.database import (
    Database,
    games,
    played_days,
    puzzle_days,
    puzzle_players,
    puzzle_tries,
    puzzles,
)
from kamon.web.days.played import note_played
from kamon.web.errors import ApiError
from kamon.web.puzzles.book import FIRST_DEVIATION, Listed, pattern_text, puzzle_for
from kamon.web.puzzles.glicko import Rating, bounded, rated
from kamon.web.puzzles.newcomers import UNRATED_TRIES
from kamon.web.statements import insert_new
from kamon.web.writer import Writer

# Where everybody begins: most puzzles are a little harder.
FIRST_RATING: Final = 1100.0
# Less than for a player of whom nothing at all is known, so that the first mistake is no fall.
FIRST_PLAYER_DEVIATION: Final = 160.0
# Milliseconds of a run against the clock, what a mistake costs, and how late the last may come.
RUN_LENGTH: Final = 180_000
RUN_PENALTY: Final = 10_000
_RUN_GRACE: Final = 3_000


@dataclass(frozen=True, slots=True)
class Player:
    """How somebody does at puzzles. Streaks count puzzles that were solved at the first try."""

    rating: Rating
    streak: int = 0
    best_streak: int = 0
    run_started: int | None = None
    run_score: int = 0
    run_misses: int = 0
    run_puzzle: str | None = None
    best_run: int = 0

    def run_left(self, now: int) -> int:
        """Return how many milliseconds are left of the run against the clock; 0 without one."""
        if self.run_started is None:
            return 0
        end = self.run_started + RUN_LENGTH - RUN_PENALTY * self.run_misses
        return max(0, end - now)


NEW_PLAYER: Final = Player(Rating(FIRST_RATING, FIRST_PLAYER_DEVIATION))


@dataclass(frozen=True, slots=True)
class Noted:
    """What a try has done: the player now, and by how much the rating has changed.

    ``change`` is None if the puzzle had been tried before, because only the first try counts, and
    ``solved`` tells how that ended. It is also None for a newcomer, whose first tries are not
    rated. ``rating`` is the puzzle's, if it has changed.
    """

    player: Player
    change: float | None
    solved: bool
    rating: Rating | None = None


class PuzzleStore:
    """Puzzles in the database of one server."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        # The days that we have asked the database for: they never change.
        self._days: dict[date, str] = {}

    # --- Reading, on a thread of its own ---

    def player(self, holder: str | None) -> Player:
        """Return how somebody does."""
        with self._database.reading() as connection:
            return _read_player(connection, _of(holder))

    def counts(self, holder: str | None) -> tuple[int, int]:
        """Count the puzzles that somebody has solved and missed."""
        query = (
            select(puzzle_tries.c.solved, func.count())
            .where(puzzle_tries.c.holder == holder)
            .group_by(puzzle_tries.c.solved)
        )
        with self._database.reading() as connection:
            found = {bool(solved): count for solved, count in connection.execute(query).all()}
        return found.get(True, 0), found.get(False, 0)

    def tried(self, holder: str | None) -> dict[str, bool]:
        """List the puzzles that somebody has tried, and whether they were solved."""
        query = select(puzzle_tries.c.puzzle, puzzle_tries.c.solved)
        with self._database.reading() as connection:
            rows = connection.execute(query.where(puzzle_tries.c.holder == holder)).all()
            return {row.puzzle: row.solved for row in rows}

    def solved(self, holder: str | None, puzzle: str) -> bool | None:
        """Return whether somebody's first try of a puzzle solved it; None if there was no try."""
        of = puzzle_tries.c
        query = select(of.solved).where(of.holder == holder, of.puzzle == puzzle)
        with self._database.reading() as connection:
            return connection.execute(query).scalar()

    def days(self) -> dict[str, str]:
        """List the puzzles of all days that have one."""
        with self._database.reading() as connection:
            return {row.date: row.puzzle for row in connection.execute(select(puzzle_days))}

    def finished_games(self, since: int, limit: int) -> list[tuple[str, int]]:
        """List games that ended after a moment, the earliest first."""
        query = (
            select(games.c.id, games.c.updated)
            .where((games.c.status == "over") & (games.c.updated > since))
            .order_by(games.c.updated)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [(row.id, row.updated) for row in connection.execute(query)]

    # --- Writing ---

    async def note(self, holder: str, puzzle: Listed, now: int, *, solved: bool) -> Noted:
        """Note how the first try of a puzzle ended, and rate both; later tries change nothing.

        The first tries of a newcomer are noted, but not rated.
        """

        def write(connection: Connection) -> Noted:
            player = _locked_player(connection, holder)
            mine = (puzzle_tries.c.holder == holder) & (puzzle_tries.c.puzzle == puzzle.id)
            before = connection.execute(select(puzzle_tries.c.solved).where(mine)).first()
            if before is not None:
                return Noted(player, None, before.solved)
            streak = player.streak + 1 if solved else 0
            after = replace(player, streak=streak, best_streak=max(streak, player.best_streak))
            # Counted behind the lock, so that two servers do not both take a try for the fifth.
            is_newcomer = _count_tries(connection, holder) < UNRATED_TRIES
            _keep_try(connection, holder, puzzle.id, now, solved=solved)
            note_played(connection, holder, now)
            if is_newcomer:
                _keep_player(connection, holder, after)
                return Noted(after, None, solved)
            current, score = _locked_rating(connection, puzzle), float(solved)
            after = replace(after, rating=bounded(rated(player.rating, [(current, score)])))
            _keep_player(connection, holder, after)
            changed = bounded(rated(current, [(player.rating, 1 - score)]))
            _keep_puzzle(connection, puzzle, changed)
            return Noted(after, after.rating.value - player.rating.value, solved, changed)

        return await self._writer.write(write)

    async def begin_run(self, holder: str, first: str, now: int) -> Player:
        """Begin a run against the clock with a puzzle."""

        def write(connection: Connection) -> Player:
            player = replace(
                _locked_player(connection, holder),
                run_started=now,
                run_score=0,
                run_misses=0,
                run_puzzle=first,
            )
            _keep_player(connection, holder, player)
            return player

        return await self._writer.write(write)

    async def note_run(
        self, holder: str, puzzle: str, following: str, now: int, *, solved: bool
    ) -> Player:
        """Note the puzzle of a run, one more or a mistake that costs time, and set the next one.

        It is noted as tried too, so that nobody looks here for the answer of one that counts. What
        comes too late, or is not the puzzle of the run, is refused.
        """

        def write(connection: Connection) -> Player:
            player = _locked_player(connection, holder)
            if player.run_puzzle != puzzle or player.run_left(now - _RUN_GRACE) == 0:
                raise ApiError("no-run")
            score = player.run_score + solved
            player = replace(
                player,
                run_score=score,
                run_misses=player.run_misses + (not solved),
                run_puzzle=following,
                best_run=max(score, player.best_run),
            )
            _keep_player(connection, holder, player)
            _keep_try(connection, holder, puzzle, now, solved=solved)
            return player

        return await self._writer.write(write)

    async def puzzle_of(self, day: date) -> str:
        """Return the puzzle of a day, which is fixed when somebody asks for it first."""
        if day not in self._days:
            self._days[day] = await self._puzzle_of(day)
        return self._days[day]

    async def _puzzle_of(self, day: date) -> str:
        name = day.isoformat()
        known = await asyncio.to_thread(self.days)
        if name in known:
            return known[name]
        chosen = await asyncio.to_thread(puzzle_for, day, frozenset(known.values()))
        if await self._writer.insert(puzzle_days, {"date": name, "puzzle": chosen}):
            return chosen
        # Somebody else has asked at the same moment, and that is the puzzle of the day.
        return (await asyncio.to_thread(self.days))[name]

    async def add(self, puzzle: Puzzle) -> bool:
        """Add a puzzle that was made here, unless there is one like it."""
        row: dict[str, object] = {
            "id": puzzle.id,
            "text": format_row(puzzle),
            "canonical": format_layout(canonical_layout(puzzle.layout)),
            "pattern": pattern_text(puzzle),
            "rating": float(puzzle.rating),
            "deviation": FIRST_DEVIATION,
            "volatility": Rating(0).volatility,
            "tries": 0,
        }
        return await self._writer.insert(puzzles, row)

    async def let_go(self, holder: str) -> None:
        """Forget everything about somebody; what their tries have done to ratings stays."""

        def write(connection: Connection) -> None:
            for table in (puzzle_tries, puzzle_players, played_days):
                connection.execute(delete(table).where(table.c.holder == holder))

        await self._writer.write(write)


def _locked_player(connection: Connection, holder: str) -> Player:
    """Return how somebody does, and let nobody else change it until this is written.

    Only a row can be locked, so a newcomer has one from now on.
    """
    insert_new(connection, puzzle_players, {"holder": holder, **_player_columns(NEW_PLAYER)})
    return _read_player(connection, _of(holder).with_for_update())


def _of(holder: str | None) -> Select[Any]:
    return select(puzzle_players).where(puzzle_players.c.holder == holder)


def _read_player(connection: Connection, query: Select[Any]) -> Player:
    row = connection.execute(query).first()
    if row is None:
        return NEW_PLAYER
    return Player(
        Rating(row.rating, row.deviation, row.volatility),
        row.streak,
        row.best_streak,
        row.run_started,
        row.run_score,
        row.run_misses,
        row.run_puzzle,
        row.best_run,
    )


def _keep_player(connection: Connection, holder: str, player: Player) -> None:
    mine = update(puzzle_players).where(puzzle_players.c.holder == holder)
    connection.execute(mine.values(_player_columns(player)))


def _player_columns(player: Player) -> dict[str, Any]:
    return {
        **_rating_columns(player.rating),
        "streak": player.streak,
        "best_streak": player.best_streak,
        "run_started": player.run_started,
        "run_score": player.run_score,
        "run_misses": player.run_misses,
        "run_puzzle": player.run_puzzle,
        "best_run": player.best_run,
    }


def _count_tries(connection: Connection, holder: str) -> int:
    query = select(func.count()).where(puzzle_tries.c.holder == holder)
    return connection.execute(query).scalar_one()


def _keep_try(connection: Connection, holder: str, puzzle: str, now: int, *, solved: bool) -> None:
    """Note how the first try of a puzzle ended."""
    row = {"holder": holder, "puzzle": puzzle, "at": now, "solved": solved}
    insert_new(connection, puzzle_tries, row)


def _locked_rating(connection: Connection, puzzle: Listed) -> Rating:
    """Return the rating of a puzzle, and let nobody else change it until this is written."""
    first = {"id": puzzle.id, **_rating_columns(puzzle.rating), "tries": 0}
    insert_new(connection, puzzles, first)
    query = select(puzzles).where(puzzles.c.id == puzzle.id).with_for_update()
    row = connection.execute(query).one()
    return Rating(row.rating, row.deviation, row.volatility)


def _keep_puzzle(connection: Connection, puzzle: Listed, rating: Rating) -> None:
    tried = {**_rating_columns(rating), "tries": puzzles.c.tries + 1}
    connection.execute(update(puzzles).where(puzzles.c.id == puzzle.id).values(tried))


def _rating_columns(rating: Rating) -> dict[str, float]:
    return {
        "rating": rating.value,
        "deviation": rating.deviation,
        "volatility": rating.volatility,
    }
