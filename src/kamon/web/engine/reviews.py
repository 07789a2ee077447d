"""Reviews that are kept: a later one goes on from where an earlier one stopped.

A review belongs to a board and its moves, whoever played them. However many pages look on, the
engine reviews a game once. What is proven is written down as it comes, so neither a page that is
closed nor an engine that dies loses more than some seconds.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from sqlalchemy import Connection, select, text

from kamon.notation import format_cell, format_layout, parse_line
from kamon.web.database import Database, reviews
from kamon.web.engine.analysts import Analysts
from kamon.web.errors import ApiError
from kamon.web.server_time import wall_time
from kamon.web.writer import Writer

# Reviews of another version are made anew.
VERSION: Final = 1
# Seconds for one review. One that is not complete then can be asked for again.
REVIEW_SECONDS: Final = 120.0
_SAVE_EVERY: Final = 5.0
# Both databases understand this.
_KEEP: Final = text(
    "INSERT INTO reviews (id, updated, data) VALUES (:id, :updated, :data)"
    " ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, data = excluded.data"
)

_log = logging.getLogger(__name__)
Told = dict[str, Any]


class _RunningReview:
    """A review that is being made, and the pages that look on."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self._pages: set[asyncio.Queue[Told | None]] = set()
        # What a page that comes later must hear first: what was found, and how far it is.
        self._found: Told | None = None
        self._progress: Told | None = None
        self._error: Exception | None = None

    def send(self, message: Told) -> None:
        """Send something to every page."""
        if "turns" in message:
            self._found = message
        else:
            self._progress = message
        for page in self._pages:
            page.put_nowait(message)

    def end(self, error: Exception | None = None) -> None:
        """Let every page know that this is all, or why there is no more."""
        self._error = error
        for page in self._pages:
            page.put_nowait(None)

    async def follow(self) -> AsyncGenerator[Told, None]:
        """Return what is sent, from the beginning; the last page that leaves ends the work."""
        page: asyncio.Queue[Told | None] = asyncio.Queue()
        for message in (self._found, self._progress):
            if message is not None:
                page.put_nowait(message)
        self._pages.add(page)
        try:
            while (message := await page.get()) is not None:
                yield message
        finally:
            self._pages.discard(page)
            if not self._pages and self.task is not None:
                self.task.cancel()
                # Until what was found is kept.
                await asyncio.wait({self.task})
        if self._error is not None:
            raise self._error


class Reviews:
    """The reviews of one server."""

    def __init__(self, writer: Writer, analysts: Analysts) -> None:
        self._writer = writer
        self._analysts = analysts
        self._running: dict[str, _RunningReview] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def stored(self, line: str) -> Told | None:
        """Return what is known of a game, if anything."""
        known = await asyncio.to_thread(_stored, self._writer.database, _id(line))
        return known if known is not None and known["version"] == VERSION else None

    async def work(self, line: str, client: str = "") -> AsyncGenerator[Told, None]:
        """Tell what is known of a game, and then whatever more is found out."""
        known = await self.stored(line)
        if known is not None:
            yield {name: value for name, value in known.items() if name != "version"}
            if known["done"]:
                return
        name = _id(line)
        running = self._running.get(name)
        if running is None:
            running = self._running[name] = _RunningReview()
            turns = [] if known is None else known["turns"]
            running.task = asyncio.create_task(self._run(running, line, turns, client))
            self._tasks.add(running.task)
            running.task.add_done_callback(self._tasks.discard)
        async with aclosing(running.follow()) as messages:
            async for message in messages:
                yield message

    async def _run(
        self, running: _RunningReview, line: str, turns: list[Told], client: str
    ) -> None:
        """Make a review for all who look on."""
        error: Exception | None = None
        try:
            async with aclosing(self._find(line, turns, client)) as found:
                async for message in found:
                    running.send(message)
        except Exception as failed:  # noqa: BLE001 - it is raised for every page that looks on
            error = failed
        finally:
            # A page that comes from now on begins another one, with what was kept of this.
            self._running.pop(_id(line), None)
            running.end(error)

    async def _find(self, line: str, turns: list[Told], client: str) -> AsyncGenerator[Told, None]:
        """Let the engine go on from what is known, and keep what it finds."""
        question = {"kind": "review", "line": line, "seconds": REVIEW_SECONDS, "known": turns}
        found, saved = None, time.monotonic()
        try:
            async with aclosing(self._analysts.work(question, client)) as messages:
                async for message in messages:
                    if "turns" in message:
                        found = message
                    yield message
                    if found is not None and time.monotonic() - saved > _SAVE_EVERY:
                        saved = time.monotonic()
                        await self._save(line, found)
        finally:
            if found is not None:
                # Also where the last page has gone away, which ends this generator.
                await asyncio.shield(self._save(line, found))

    async def _save(self, line: str, found: Told) -> None:
        data = {name: value for name, value in found.items() if name != "spent"}
        name, now = _id(line), wall_time()
        try:
            await self._writer.write(
                lambda connection: _keep(connection, name, now, {"version": VERSION, **data})
            )
        except ApiError:
            # The page has it all the same; only the next review has to begin anew.
            _log.warning("a review could not be kept")

    async def close(self) -> None:
        """End the reviews that are being made, and keep what they have found."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def clear(self, before: int) -> None:
        """Remove the reviews that nobody has added to since a moment."""
        await self._writer.clear(reviews, reviews.c.updated < before)


def _stored(database: Database, review: str) -> Told | None:
    with database.reading() as connection:
        return _read(connection, review)


def _read(connection: Connection, review: str) -> Told | None:
    query = select(reviews.c.data).where(reviews.c.id == review)
    text_of = connection.execute(query).scalar_one_or_none()
    known: Told | None = None if text_of is None else json.loads(text_of)
    return known


def _keep(connection: Connection, review: str, now: int, data: Told) -> None:
    """Write what is known of a game, unless more is known already, perhaps at another server."""
    known = _read(connection, review)
    if known is not None and known["version"] == VERSION and _proven(known) > _proven(data):
        return
    connection.execute(_KEEP, {"id": review, "updated": now, "data": json.dumps(data)})


def _proven(data: Told) -> int:
    """Count what a review has proven: a value before and after each move, and what was better."""
    return sum(
        turn[name] is not None for turn in data["turns"] for name in ("before", "after", "better")
    )


def _id(line: str) -> str:
    """Name a board and its moves, however the line was written."""
    game = parse_line(line)
    assert game is not None  # noqa: S101 - it has been checked
    moves = " ".join(format_cell(cell) for cell in game.moves)
    return hashlib.sha256(f"{format_layout(game.layout)} {moves}".encode()).hexdigest()
