"""Pages that watch a game: what is made for one of them serves all who may see the same."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kamon import Layout, format_cell, legal_cells
from kamon.position import Side
from kamon.web.games import socket as module
from kamon.web.games.clocks import Control
from kamon.web.games.desk import Desk
from kamon.web.games.messages import Watch
from kamon.web.games.rooms import Command, Room, Seat, set_up
from kamon.web.games.store import Games
from kamon.web.games.tables import QUEUE_LIMIT, Table
from kamon.web.games.views import Company, RoomView, room_view
from kamon.web.identity import Visitor
from kamon.web.writer import Writer

pytestmark = pytest.mark.anyio
BOTH = frozenset(Side)
PATIENCE = 10.0
NOW = 1_000_000


class Page:
    """Stands for a WebSocket: keeps what it is sent, unless it does not read."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.closed: int | None = None
        self.reads = asyncio.Event()
        self.reads.set()

    async def send_text(self, text: str) -> None:
        await self.reads.wait()
        self.texts.append(text)

    async def close(self, code: int) -> None:
        self.closed = code


class Parts:
    """The parts of a server that a watching page needs; counts the views of each room."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.table = desk.table
        self.thinkers = SimpleNamespace(consider=lambda _: None)
        self.looked_at: list[str] = []
        self.made: Counter[int] = Counter()

    async def look_at(self, tables: list[Table]) -> None:
        # Somebody who only looks must not lose the table meanwhile.
        assert all(table.watchers for table in tables)
        self.looked_at += [table.room.id for table in tables]

    def view(self, _: Table, sides: frozenset[Side], room: Room) -> RoomView:
        self.made[room.number] += 1
        return room_view(room, sides, Company(), NOW)

    async def watch(self, game: str, holder: str | None = None) -> Page:
        page: Any = Page()
        parts: Any = self
        connection = module._Connection(page, parts, Visitor(holder, by_cookie=False), "address")
        await connection._watch(Watch(type="watch", game=game))
        return page  # type: ignore[no-any-return]

    async def move(self, game: str) -> Room:
        room = (await self.desk.table(game)).room
        cell = format_cell(legal_cells(room.position)[0])
        return (await self.desk.submit(game, Command("move", BOTH, {"cell": cell})))[0]


@pytest.fixture
async def parts(writer: Writer) -> AsyncIterator[Parts]:
    # Time stands still, so that nothing that was made is too old.
    async with Desk(Games(writer.database), writer, lambda: NOW).running() as desk:
        yield Parts(desk)


async def new(parts: Parts) -> str:
    seats = {side: Seat("person") for side in Side}
    first = set_up(Layout.shuffled(1), Control(), seats, NOW)
    holders = [(Side.BLACK, "ann"), (Side.WHITE, "bob")]
    return (await parts.desk.create(first, holders)).id


async def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        await asyncio.sleep(0.01)


async def told(pages: list[Page], number: int) -> None:
    """Wait until every page has been told of a room."""
    seen = f'"number":{number},"status"'
    await until(lambda: all(any(seen in text for text in page.texts) for page in pages))


@pytest.mark.parametrize("watchers", [10, 1000])
async def test_a_move_is_made_into_a_view_once_for_all_who_watch(
    parts: Parts, watchers: int
) -> None:
    game = await new(parts)
    players = [await parts.watch(game, "ann"), await parts.watch(game, "bob")]
    pages = players + [await parts.watch(game) for _ in range(watchers)]
    await parts.move(game)
    await told(pages, 2)
    # One for each player, and one for everybody else; the news of who is there may make another.
    assert 3 <= parts.made[2] <= 6
    assert '"you":["black"]' in players[0].texts[-1]
    assert '"you":[]' in pages[-1].texts[-1]


async def test_a_page_is_told_everything_in_order_by_one_task(parts: Parts) -> None:
    game = await new(parts)
    page = await parts.watch(game)
    page.reads.clear()
    for _ in range(5):
        await parts.move(game)
    page.reads.set()
    await told([page], 6)
    numbers = [text.split('"number":')[1].split(",")[0] for text in page.texts]
    assert numbers == sorted(numbers)


async def test_a_page_that_does_not_read_is_cut_off(parts: Parts) -> None:
    game = await new(parts)
    page = await parts.watch(game)
    page.reads.clear()
    await asyncio.sleep(0.01)
    table = await parts.desk.table(game)
    for _ in range(QUEUE_LIMIT + 1):
        parts.desk.presence.tell(table, table.room, ())
    page.reads.set()
    await until(lambda: page.closed == 1013)
