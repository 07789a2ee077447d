"""Puzzles from games that were played here: found at night, and moves that visitors missed."""

import asyncio
import logging
import random
from collections import OrderedDict
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any, Final

from kamon.notation import format_cell, format_layout
from kamon.position import Side
from kamon.puzzles.files import parse_row
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.errors import ApiError
from kamon.web.games.desk import Desk
from kamon.web.games.rooms import Room
from kamon.web.memory import ServerMemory
from kamon.web.puzzles.book import Book
from kamon.web.puzzles.store import PuzzleStore

# Most games take far less than this.
_SECONDS: Final = 20.0
# Shorter games have no position that is late enough.
_LEAST_MOVES: Final = 16
_GAMES_AT_ONCE: Final = 20
_MARK: Final = "puzzles"
# Longer than the search in all those games can take.
_LEASE: Final = "puzzles lease"
_LEASE_MILLISECONDS: Final = 600_000
_ONE_GAME: Final = frozenset({"engine-failed", "no-such-game"})
# Of a visitor's games the latest are looked at, and what was found in so many is remembered.
MISSED_GAMES: Final = 40
# How many games the engine is asked about for one request.
_MISSED_AT_ONCE: Final = 8
_REMEMBERED: Final = 1_000

Told = dict[str, Any]
# A game, a side, and the ply of the mistake that a review has found.
_Key = tuple[str, Side, int | None]
_log = logging.getLogger(__name__)


def is_night(hours: tuple[int, int], now: datetime) -> bool:
    """Tell whether a moment is between two hours; the first may be later than the second."""
    begin, end = hours
    if begin <= end:
        return begin <= now.hour < end
    return now.hour >= begin or now.hour < end


class Searching:
    """Looks for puzzles in the games of one server."""

    def __init__(
        self,
        store: PuzzleStore,
        book: Book,
        desk: Desk,
        analysts: Analysts,
        reviews: Reviews,
        memory: ServerMemory,
    ) -> None:
        self._store = store
        self._book = book
        self._desk = desk
        self._analysts = analysts
        self._reviews = reviews
        self._memory = memory
        self._missed: OrderedDict[_Key, Told | None] = OrderedDict()

    # --- At night ---

    async def at_night(
        self, hours: tuple[int, int] | None, clock: Callable[[], datetime] = datetime.now
    ) -> None:
        """Look for puzzles in games that have ended, as long as it is night and nobody studies."""
        while hours is not None and is_night(hours, clock()) and not self._analysts.waiting:
            if not await self._search_alone():
                return

    async def _search_alone(self) -> int:
        """Search, unless another server that shares the games does so at the moment."""
        if not await self._memory.take_lease(_LEASE, self._desk.now(), _LEASE_MILLISECONDS):
            return 0
        try:
            return await self.search()
        finally:
            await self._memory.end_lease(_LEASE)

    async def search(self) -> int:
        """Look at some games that have ended since the last time; return how many."""
        since = int(await self._memory.read(_MARK) or 0)
        ended = await asyncio.to_thread(self._store.finished_games, since, _GAMES_AT_ONCE)
        for game, updated in ended:
            try:
                await self._search_in(game)
            except ApiError as error:
                # One game that the engine cannot read, or that is gone, must not keep the others
                # waiting. Without an engine, or with one that is busy, all of them wait.
                if error.code not in _ONE_GAME:
                    return 0
                _log.warning("no puzzle was looked for in a game: %s", error.code)
            await self._memory.keep(_MARK, str(updated))
        return len(ended)

    async def _search_in(self, game: str) -> None:
        room = (await self._desk.table(game)).room
        if len(room.moves) < _LEAST_MOVES:
            return
        answer = await self._ask(room, {"kind": "puzzle"}, "")
        if answer["puzzle"] is not None and await self._store.add(parse_row(answer["puzzle"])):
            self._book.forget()
            _log.info("a puzzle was found")

    # --- What somebody missed ---

    # A review that is kept has proven mistakes from the first move on. A game without one is
    # searched from its end, as far as that is quick.

    async def find_missed(
        self, rooms: list[tuple[Room, Side]], client: str
    ) -> tuple[Room, Side, Told] | None:
        """Find a move that a visitor missed in one of several games, in any order."""
        asked = 0
        for room, side in random.sample(rooms, len(rooms)):
            mistake = await self._last_mistake(room, side)
            asked += _key(room, side, mistake) not in self._missed
            if asked > _MISSED_AT_ONCE:
                break
            missed = await self._missed_at(room, side, mistake, client)
            if missed is not None:
                return room, side, missed
        return None

    async def missed(self, room: Room, side: Side, client: str) -> Told | None:
        """Return the move that a side missed in a game; the engine is asked once."""
        mistake = await self._last_mistake(room, side)
        return await self._missed_at(room, side, mistake, client)

    async def _last_mistake(self, room: Room, side: Side) -> Told | None:
        """Return a side's last mistake that the game's review has proven, with a better move."""
        review = await self._reviews.stored(_line(room))
        return None if review is None else last_mistake(review, side)

    async def _missed_at(
        self, room: Room, side: Side, mistake: Told | None, client: str
    ) -> Told | None:
        # A review may come, or prove more, after the first answer: then the engine is asked again.
        key = _key(room, side, mistake)
        if key not in self._missed:
            question = {"kind": "missed", "side": side.value, "mistake": mistake}
            self._missed[key] = (await self._ask(room, question, client))["missed"]
            while len(self._missed) > _REMEMBERED:
                self._missed.popitem(last=False)
        return self._missed[key]

    async def _ask(self, room: Room, question: Told, client: str) -> Told:
        asked = {**question, "line": _line(room), "seconds": _SECONDS}
        async with aclosing(self._analysts.work(asked, client)) as told:
            async for each in told:
                if question["kind"] in each:
                    return each
        raise ApiError("engine-failed")


def last_mistake(review: Told, side: Side) -> Told | None:
    """Return a side's last turn that threw something away and has a better move; None if none."""
    parity = 0 if side is Side.BLACK else 1
    for turn in reversed(review["turns"]):
        if turn["ply"] % 2 == parity and turn["lost"] > 0 and turn["better"] is not None:
            return dict(turn)
    return None


def _key(room: Room, side: Side, mistake: Told | None) -> _Key:
    return room.id, side, None if mistake is None else mistake["ply"]


def _line(room: Room) -> str:
    return " ".join([format_layout(room.layout), *map(format_cell, room.moves)])
