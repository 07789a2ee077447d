"""What a server remembers between two runs: its key, and when it was last alive."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from kamon.web import memory as module
from kamon.web.database import Database
from kamon.web.errors import ApiError
from kamon.web.health import Health
from kamon.web.identity import hashed, new_token
from kamon.web.memory import ServerMemory
from kamon.web.writer import Writer
from web_server import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture
def memory(writer: Writer) -> ServerMemory:
    return ServerMemory(writer.database, writer)


def values(writer: Writer) -> dict[str, str]:
    with writer.database.reading() as connection:
        rows = connection.execute(text("SELECT name, value FROM server")).all()
    return {row.name: row.value for row in rows}


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)


# --- The key --------------------------------------------------------------------------------


async def test_the_key_is_made_once_and_kept(memory: ServerMemory, writer: Writer) -> None:
    secrets = await memory.secrets()
    key = values(writer)["key"]
    assert len(bytes.fromhex(key)) == 32
    # In the next life of the server the secrets of this one are good.
    again = await ServerMemory(writer.database, writer).secrets()
    assert again.knows(secrets.new())
    assert secrets.knows(again.new())
    assert values(writer)["key"] == key


async def test_servers_that_start_together_have_the_same_key(postgres_url: str) -> None:
    databases = [Database(postgres_url) for _ in range(4)]
    databases[0].open()
    writers = [Writer(database) for database in databases]
    memories = [
        ServerMemory(database, writer) for database, writer in zip(databases, writers, strict=True)
    ]
    made = await asyncio.gather(*(memory.secrets() for memory in memories))
    await asyncio.gather(*(memory.note_alive(1_000) for memory in memories))
    assert all(one.knows(other.new()) for one in made for other in made)
    assert await memories[0].time_away(5_000) == 4_000
    for writer, database in zip(writers, databases, strict=True):
        writer.close()
        database.close()


async def test_every_database_has_a_key_of_its_own(
    memory: ServerMemory, writer: Writer, tmp_path: Path
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'other.sqlite'}")
    database.open()
    other = Writer(database)
    secret = (await memory.secrets()).new()
    assert not (await ServerMemory(database, other).secrets()).knows(secret)
    assert values(writer) != values(other)
    other.close()
    database.close()


async def test_unsigned_secrets_that_hold_something_are_known(
    memory: ServerMemory, writer: Writer
) -> None:
    old = new_token()
    statement = text("INSERT INTO unsigned_holders (holder) VALUES (:holder)")
    await writer.write(lambda connection: connection.execute(statement, {"holder": hashed(old)}))
    secrets = await memory.secrets()
    assert secrets.knows(old)
    assert not secrets.knows(new_token())


# --- Alive ----------------------------------------------------------------------------------


async def test_a_new_database_has_not_been_left_by_anybody(memory: ServerMemory) -> None:
    assert await memory.time_away(1_000_000) == 0


async def test_the_time_between_two_runs_is_known(memory: ServerMemory) -> None:
    await memory.note_alive(1_000_000)
    assert await memory.time_away(1_060_000) == 60_000
    # The latest note counts.
    await memory.note_alive(1_050_000)
    assert await memory.time_away(1_060_000) == 10_000


@pytest.mark.parametrize("later", [0, 1, 1_999, -1, -60_000])
async def test_an_ordinary_delay_is_no_time_away(memory: ServerMemory, later: int) -> None:
    await memory.note_alive(1_000_000)
    assert await memory.time_away(1_000_000 + later) == 0


async def test_it_is_noted_again_and_again_that_the_server_is_alive(
    memory: ServerMemory, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALIVE_EVERY", 0.01)
    moment = 0

    def now() -> int:
        nonlocal moment
        moment += 1
        return moment

    task = asyncio.create_task(memory.keep_alive(Health(), now))
    await until(lambda: int(values(writer).get("alive", 0)) > 3)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_disk_that_fails_is_noted_until_it_works_again(
    memory: ServerMemory, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALIVE_EVERY", 0.01)
    health = Health()
    with monkeypatch.context() as patched:

        async def fail(*_: object) -> None:
            raise ApiError("storage")

        patched.setattr(writer, "write", fail)
        task = asyncio.create_task(memory.keep_alive(health, lambda: 7))
        await until(lambda: "alive" in health.problems)
        # A server that ends while its disk fails must still come to its end.
        await memory.note_alive(8)
    await until(lambda: not health.problems)
    assert values(writer)["alive"] == "7"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


# --- Leases -----------------------------------------------------------------------------------


async def test_a_lease_belongs_to_one_server_until_it_ends(memory: ServerMemory) -> None:
    assert await memory.take_lease("work", 1_000, 500)
    assert not await memory.take_lease("work", 1_400, 500)
    assert await memory.take_lease("other", 1_400, 500)
    # A server that has died does not keep it for ever.
    assert await memory.take_lease("work", 1_500, 500)
    await memory.end_lease("work")
    assert await memory.take_lease("work", 1_501, 500)


async def test_of_servers_that_want_a_lease_at_once_one_gets_it(postgres_url: str) -> None:
    databases = [Database(postgres_url) for _ in range(3)]
    databases[0].open()
    writers = [Writer(database) for database in databases]
    memories = [ServerMemory(each.database, each) for each in writers]
    taken = await asyncio.gather(*(each.take_lease("work", 1_000, 500) for each in memories))
    assert sorted(taken) == [False, False, True]
    for writer in writers:
        writer.close()
        writer.database.close()
