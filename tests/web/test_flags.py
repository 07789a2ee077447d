"""Flags: the next one first, one for each game, and none that was put off."""

import asyncio

import pytest

from kamon.web.games.flags import Flags
from kamon.web.server_time import ServerTime
from web_server import PATIENCE

pytestmark = pytest.mark.anyio


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


async def next_of(flags: Flags) -> str:
    async with asyncio.timeout(PATIENCE):
        return await flags.next()


async def test_flags_that_are_due_fall_in_their_order() -> None:
    flags = Flags(Hands())
    flags.put_all([(900, "third"), (100, "first"), (500, "second"), (1000, "now")])
    assert [await next_of(flags) for _ in range(4)] == ["first", "second", "third", "now"]
    assert len(flags) == 0


async def test_a_flag_falls_when_it_is_due_and_not_before() -> None:
    now = ServerTime()
    flags = Flags(now)
    due = now() + 100
    flags.put("game", due)
    assert await next_of(flags) == "game"
    assert due <= now() < due + 5000


async def test_an_earlier_flag_is_not_kept_waiting_by_a_later_one() -> None:
    now = ServerTime()
    flags = Flags(now)
    flags.put("late", now() + 3_600_000)
    waiting = asyncio.create_task(next_of(flags))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    flags.put("early", now() + 10)
    assert await waiting == "early"


@pytest.mark.parametrize("put_off", [2000, None])
async def test_a_flag_that_was_put_off_or_taken_away_does_not_fall(put_off: int | None) -> None:
    hands = Hands()
    flags = Flags(hands)
    flags.put("game", 900)
    flags.put("other", 950)
    flags.put("game", put_off)
    assert await next_of(flags) == "other"
    waiting = asyncio.create_task(next_of(flags))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    hands.now = 2000
    flags.put("third", 1999)
    assert await waiting == "third"
    if put_off is not None:
        assert await next_of(flags) == "game"
    assert len(flags) == 0


async def test_a_flag_can_be_put_where_it_was() -> None:
    flags = Flags(Hands())
    for due in (900, 950, 900):
        flags.put("game", due)
    assert await next_of(flags) == "game"
    # Its old entries are worth nothing.
    flags.put("other", 990)
    assert await next_of(flags) == "other"
    assert len(flags) == 0


async def test_a_game_without_a_flag_may_be_put_without_one() -> None:
    flags = Flags(Hands())
    flags.put("game", None)
    assert len(flags) == 0


async def test_old_entries_are_thrown_away_and_no_flag_is_lost() -> None:
    flags = Flags(Hands())
    games = [f"game {number}" for number in range(50)]
    for turn in range(100):
        for at, game in enumerate(games):
            flags.put(game, 100 + at if turn == 99 else 5000 + turn)
    assert len(flags) <= 200
    assert [await next_of(flags) for _ in games] == games
