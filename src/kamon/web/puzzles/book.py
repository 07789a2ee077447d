"""All puzzles of a server: those that come with the program, and those that it has made itself.

They are listed in memory. What people's tries have made of their ratings is in the database, and
so is what the server has made; both are read again from time to time, because other servers may
share the database.
"""

import hashlib
import heapq
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from random import Random
from typing import Final

from sqlalchemy import select

from kamon.puzzles.files import parse_row, shipped_rows, split_row
from kamon.puzzles.puzzle import Puzzle
from kamon.puzzles.themes import KEEP_THE_DRAW
from kamon.web.database import Database, puzzles
from kamon.web.puzzles.glicko import Rating

# How sure the first guess of a puzzle's rating is.
FIRST_DEVIATION: Final = 200.0
# Of so many puzzles that fit best, any is taken.
_CHOICE: Final = 24
# Until this day a daily puzzle only had to be neither too easy nor too hard. Servers that are asked
# for an earlier day must still choose the same one.
_SHORT_ON_WEEKDAYS_SINCE: Final = date(2026, 11, 19)
_DAILY_RATINGS: Final = (1000, 1500)
# Since then it is short from Monday to Friday, and hard on Saturday and Sunday.
_MOST_WEEKDAY_TURNS: Final = 3
_LEAST_WEEKEND_RATING: Final = 1500
_SATURDAY: Final = 5
_REFRESH_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Listed:
    """What is known of a puzzle without reading it: ``text`` is its line of the file."""

    id: str
    rating: Rating
    themes: tuple[str, ...]
    text: str
    turns: int
    tries: int = 0

    @property
    def line(self) -> str:
        """The game up to where the puzzle begins."""
        return split_row(self.text)["line"]

    def read(self) -> Puzzle:
        """Read the puzzle itself."""
        return parse_row(self.text)


@lru_cache(maxsize=1)
def shipped() -> dict[str, Listed]:
    """List the puzzles that come with the program."""
    return {listed.id: listed for listed in map(_listed, shipped_rows())}


def _listed(text: str) -> Listed:
    fields = split_row(text)
    rating = Rating(float(fields["rating"]), FIRST_DEVIATION)
    turns = (len(fields["solution"].split()) + 1) // 2
    return Listed(fields["id"], rating, tuple(fields["themes"].split()), text, turns)


class Book:
    """The puzzles of one server.

    Its methods read the database and are not for the event loop, but for ``renew`` and ``forget``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listed: dict[str, Listed] = {}
        self._read_at = -_REFRESH_SECONDS
        # One thread at a time reads the database. The event loop never waits for that: the second
        # lock is held for moments only.
        self._reading = threading.Lock()
        self._lock = threading.Lock()

    def puzzles(self) -> dict[str, Listed]:
        """List all puzzles by their ids, with ratings that are at most a minute old."""
        with self._reading:
            if time.monotonic() - self._read_at >= _REFRESH_SECONDS:
                began = time.monotonic()
                listed = shipped() | self._changed()
                with self._lock:
                    self._listed, self._read_at = listed, began
            return self._listed

    def forget(self) -> None:
        """Read the database again when somebody asks next."""
        self._read_at = -_REFRESH_SECONDS

    def renew(self, puzzle: str, rating: Rating) -> None:
        """Note a rating that has just changed, by one more try."""
        with self._lock:
            known = self._listed.get(puzzle)
            if known is not None:
                changed = replace(known, rating=rating, tries=known.tries + 1)
                self._listed = {**self._listed, puzzle: changed}

    def _changed(self) -> dict[str, Listed]:
        """Read the puzzles that somebody has tried here, or that were made here."""
        found, known = {}, shipped()
        with self._database.reading() as connection:
            for row in connection.execute(select(puzzles)):
                text = row.text or (known[row.id].text if row.id in known else None)
                if text is None:
                    # It came with another version of the program.
                    continue
                rating = Rating(row.rating, row.deviation, row.volatility)
                found[row.id] = replace(_listed(text), rating=rating, tries=row.tries)
        return found

    def find(self, puzzle: str) -> Listed | None:
        """Return a puzzle."""
        return self.puzzles().get(puzzle)

    def choose(
        self,
        near: float,
        rng: Random,
        *,
        fits: Callable[[Listed], bool] = lambda _: True,
        without: frozenset[str],
    ) -> Listed | None:
        """Choose a puzzle of about some rating that is not among those already tried."""
        fitting = (
            each for each in self.puzzles().values() if each.id not in without and fits(each)
        )
        closest = heapq.nsmallest(_CHOICE, fitting, key=lambda each: abs(each.rating.value - near))
        return rng.choice(closest) if closest else None


def puzzle_for(day: date, used: frozenset[str]) -> str:
    """Choose the puzzle of a day: the same on every server that has the same puzzles.

    Each puzzle has a random number for the day, and the lowest is taken. None comes twice while
    others are left. Only first ratings count: they are the same everywhere.
    """
    fitting = [each.id for each in shipped().values() if _fits(each, day)]
    fresh = [each for each in fitting if each not in used]

    def number(puzzle: str) -> str:
        return hashlib.sha256(f"{day.isoformat()} {puzzle}".encode()).hexdigest()

    return min(fresh or fitting or list(shipped()), key=number)


def _fits(listed: Listed, day: date) -> bool:
    if day < _SHORT_ON_WEEKDAYS_SINCE:
        low, high = _DAILY_RATINGS
        return low <= listed.rating.value <= high
    if day.weekday() >= _SATURDAY:
        return listed.rating.value >= _LEAST_WEEKEND_RATING
    return listed.turns <= _MOST_WEEKDAY_TURNS and KEEP_THE_DRAW not in listed.themes


def pattern_text(puzzle: Puzzle) -> str:
    """Name a pattern, so that the database can tell twins."""
    return hashlib.sha256(json.dumps(puzzle.pattern).encode()).hexdigest()
