"""What the home page shows of games: your own that are running, and others' that wait."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

from kamon.position import Side
from kamon.web.errors import too_many
from kamon.web.games import views
from kamon.web.games.messages import LobbyView
from kamon.web.games.rooms import Room
from kamon.web.games.tables import Table
from kamon.web.identity import Visitor
from kamon.web.services import Services

RUNNING: Final = ("waiting", "playing")
FINISHED: Final = ("over", "aborted")
MINE_SHOWN: Final = 4
# The most urgent games are found among so many of the latest.
MINE_READ: Final = 24
OPEN_SHOWN: Final = 20
# More than are shown, because those of one address are not all shown.
OPEN_READ: Final = 200
# Games that one address may have waiting at a time.
GAMES_PER_CLIENT: Final = 3


async def lobby(services: Services, visitor: Visitor) -> LobbyView:
    """Tell somebody what is going on."""
    desk = services.desk
    services.people.see(visitor.holder)
    mine: list[str] = []
    if visitor.holder is not None:
        mine = await asyncio.to_thread(
            desk.games.games_of, visitor.holder, MINE_READ, None, RUNNING
        )
    own = await desk.several(mine)
    others = [each for each in await open_tables(services) if not visitor.sides(each.holders)]
    now = desk.now()

    def told(table: Table) -> views.SummaryView:
        return views.summary(table.room, visitor.sides(table.holders), now)

    own.sort(key=lambda table: _urgency(table.room, visitor.sides(table.holders), now))
    return {
        "here": services.people.count(),
        "mine": [told(table) for table in own[:MINE_SHOWN]],
        "open": [told(table) for table in others[:OPEN_SHOWN]],
    }


async def open_tables(services: Services) -> list[Table]:
    """Find the games that wait for anyone and could begin, a few of each address."""
    waiting = await asyncio.to_thread(services.desk.games.open_games, OPEN_READ)
    tables = await services.desk.several(fair_share(waiting))
    await services.look_around(tables)
    return [table for table in tables if services.is_attended(table)]


def fair_share(waiting: Sequence[tuple[str, str | None]]) -> list[str]:
    """Choose the games that are listed: of each client a few, of unknown ones all."""
    seen: Counter[str] = Counter()
    chosen = []
    for game, client in waiting:
        if client:
            seen[client] += 1
        if not client or seen[client] <= GAMES_PER_CLIENT:
            chosen.append(game)
    return chosen


async def require_place(services: Services, client: str) -> None:
    """Refuse one more game of a client who has enough of them waiting."""
    if await asyncio.to_thread(services.desk.games.count_open_of, client) >= GAMES_PER_CLIENT:
        raise too_many("games of this address that wait for an opponent", 60)


def _urgency(room: Room, sides: frozenset[Side], now: int) -> tuple[int, int]:
    """Sort games: where my clock runs, where it is my turn, others, those that wait."""
    turn = room.turn
    if turn is None:
        return 3, -room.updated
    if turn not in sides:
        return 2, -room.updated
    if room.clock.since is None:
        return 1, -room.updated
    return 0, room.clock.left(turn, turn, now)
