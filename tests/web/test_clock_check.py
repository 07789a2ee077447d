"""A clock that contradicts the database is refused before anybody plays by it."""

import asyncio

import pytest
from sqlalchemy import insert, select

from kamon.web.clock_check import BEHIND_LIMIT, OFF_LIMIT, ClockError, believe_clock, check_clock
from kamon.web.database import games
from kamon.web.memory import ServerMemory, latest_alive
from kamon.web.server_time import wall_time
from kamon.web.writer import Writer

pytestmark = pytest.mark.anyio

NOW = wall_time()


async def changed(writer: Writer, at: int) -> None:
    """Have a game that was changed at a moment."""
    row = {"id": "one", "created": at, "updated": at, "status": "over", "listed": False}
    await writer.write(lambda connection: connection.execute(insert(games).values(**row)))


async def check(writer: Writer, now: int = NOW) -> None:
    await asyncio.to_thread(check_clock, writer.database, now)


async def test_a_new_database_has_seen_no_other_time(writer: Writer) -> None:
    await check(writer)


@pytest.mark.parametrize("ago", [-BEHIND_LIMIT + 1, 0, OFF_LIMIT - 1])
async def test_a_clock_may_be_a_little_wrong_and_a_server_off_for_months(
    writer: Writer, ago: int
) -> None:
    await changed(writer, NOW - ago)
    await check(writer)


@pytest.mark.parametrize("ago", [-400 * 24 * 3600 * 1000, 400 * 24 * 3600 * 1000])
async def test_a_clock_that_is_a_year_wrong_is_refused_with_both_dates(
    writer: Writer, ago: int
) -> None:
    await changed(writer, NOW - ago)
    with pytest.raises(ClockError, match=r"clock says \d{4}-.* last ran on \d{4}-"):
        await check(writer)


async def test_a_server_that_ran_yesterday_knows_the_date_without_any_game(writer: Writer) -> None:
    await ServerMemory(writer.database, writer).note_alive(NOW)
    with pytest.raises(ClockError):
        await check(writer, NOW + OFF_LIMIT + 1)


@pytest.mark.parametrize("ago", [-400 * 24 * 3600 * 1000, 400 * 24 * 3600 * 1000])
async def test_a_clock_that_the_host_vouches_for_is_believed_from_then_on(
    writer: Writer, ago: int
) -> None:
    await changed(writer, NOW - ago)
    await asyncio.to_thread(believe_clock, writer.database, NOW)
    await check(writer)
    assert latest_alive(writer.database) == NOW
    with writer.database.reading() as connection:
        assert connection.execute(select(games.c.updated)).scalar() == min(NOW, NOW - ago)
