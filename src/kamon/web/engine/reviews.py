"""Reviews that are kept: a later one goes on from where an earlier one stopped.

A review belongs to a board and its moves, whoever played them. What is proven is written down as
it comes, so neither a page that is closed nor an engine that dies loses more than some seconds.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select

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

_log = logging.getLogger(__name__)
Told = dict[str, Any]


class Reviews:
    """The reviews of one server."""

    def __init__(self, writer: Writer, analysts: Analysts) -> None:
        self._writer = writer
        self._analysts = analysts

    async def stored(self, line: str) -> Told | None:
        """Return what is known of a game, if anything."""
        text = await asyncio.to_thread(_stored, self._writer.database, _id(line))
        known = None if text is None else json.loads(text)
        return known if known is not None and known["version"] == VERSION else None

    async def work(self, line: str, client: str = "") -> AsyncGenerator[Told, None]:
        """Tell what is known of a game, and then whatever more is found out."""
        known = await self.stored(line)
        if known is not None:
            yield {name: value for name, value in known.items() if name != "version"}
            if known["done"]:
                return
        question = {
            "kind": "review",
            "line": line,
            "seconds": REVIEW_SECONDS,
            "known": [] if known is None else known["turns"],
        }
        found, saved = None, time.monotonic()
        try:
            async with aclosing(self._analysts.work(question, client)) as told:
                async for each in told:
                    if "turns" in each:
                        found = each
                    yield each
                    if found is not None and time.monotonic() - saved > _SAVE_EVERY:
                        saved = time.monotonic()
                        await self._save(line, found)
        finally:
            if found is not None:
                # Also where the page has gone away, which ends this generator.
                await asyncio.shield(self._save(line, found))

    async def _save(self, line: str, found: Told) -> None:
        data = {name: value for name, value in found.items() if name != "spent"}
        text = json.dumps({"version": VERSION, **data})
        name, now = _id(line), wall_time()
        try:
            await self._writer.write(lambda connection: _keep(connection, name, now, text))
        except ApiError:
            # The page has it all the same; only the next review has to begin anew.
            _log.warning("a review could not be kept")

    async def clear(self, before: int) -> None:
        """Remove the reviews that nobody has added to since a moment."""
        await self._writer.clear(reviews, reviews.c.updated < before)


def _stored(database: Database, review: str) -> str | None:
    with database.reading() as connection:
        query = select(reviews.c.data).where(reviews.c.id == review)
        return connection.execute(query).scalar_one_or_none()


def _keep(connection: Connection, review: str, now: int, data: str) -> None:
    """Write what is known of a game, in place of what was known before."""
    connection.execute(delete(reviews).where(reviews.c.id == review))
    connection.execute(insert(reviews).values(id=review, updated=now, data=data))


def _id(line: str) -> str:
    """Name a board and its moves, however the line was written."""
    game = parse_line(line)
    assert game is not None  # noqa: S101 - it has been checked
    moves = " ".join(format_cell(cell) for cell in game.moves)
    return hashlib.sha256(f"{format_layout(game.layout)} {moves}".encode()).hexdigest()
