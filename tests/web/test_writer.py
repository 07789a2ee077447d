"""The writer: one thread of its own, so that nothing else can hold a move up."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from kamon.web import writer as module
from kamon.web.database import Database, reviews
from kamon.web.errors import ApiError
from kamon.web.health import Health
from kamon.web.writer import Writer
from web_server import PATIENCE

DISK_FULL = OperationalError("INSERT", {}, Exception("database or disk is full"))

pytestmark = pytest.mark.anyio


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
async def writer(tmp_path: Path, health: Health) -> AsyncIterator[Writer]:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    made = Writer(database, health)
    yield made
    made.close()
    database.close()


def keeping(name: str) -> Callable[[Connection], str]:
    def write(connection: Connection) -> str:
        row = {"name": name, "value": "-"}
        connection.execute(text("INSERT INTO server (name, value) VALUES (:name, :value)"), row)
        return threading.current_thread().name

    return write


def failing(error: Exception) -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        keeping("half")(connection)
        raise error

    return write


def kept(writer: Writer) -> list[str]:
    with writer.database.reading() as connection:
        return sorted(connection.execute(text("SELECT name FROM server")).scalars())


# --- The thread -----------------------------------------------------------------------------


async def test_everything_is_written_on_one_thread_of_its_own(writer: Writer) -> None:
    threads = await asyncio.gather(*(writer.write(keeping(f"{each}")) for each in range(20)))
    assert len(set(threads)) == 1
    assert threads[0].startswith("writer")
    assert len(kept(writer)) == 20


async def test_one_transaction_is_written_after_the_other(writer: Writer) -> None:
    at_work, most = 0, 0

    def work(_: Connection) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        time.sleep(0.005)
        at_work -= 1

    await asyncio.gather(*(writer.write(work) for _ in range(10)))
    assert (at_work, most) == (0, 1)


async def test_a_write_does_not_wait_for_threads_that_others_block(writer: Writer) -> None:
    free = threading.Event()
    blocked = [asyncio.create_task(asyncio.to_thread(free.wait, PATIENCE)) for _ in range(100)]
    try:
        # All threads of asyncio's own are taken: what else is given to them does not begin.
        await asyncio.sleep(0.2)
        starving = asyncio.create_task(asyncio.to_thread(int))
        await asyncio.sleep(0.1)
        assert not starving.done()
        started = time.monotonic()
        await writer.write(keeping("move"))
        assert time.monotonic() - started < 2
        assert not starving.done()
    finally:
        free.set()
        await asyncio.gather(*blocked, starving)


async def test_what_was_given_to_the_writer_is_written_before_it_closes(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    writer = Writer(database)
    begun = [asyncio.create_task(writer.write(keeping(f"{each}"))) for each in range(5)]
    await asyncio.sleep(0)
    await asyncio.to_thread(writer.close)
    await asyncio.gather(*begun)
    assert len(kept(writer)) == 5
    database.close()


async def test_whoever_goes_away_does_not_stop_a_write(writer: Writer) -> None:
    begun, free = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        begun.set()
        assert free.wait(PATIENCE)
        keeping("move")(connection)

    leaving = asyncio.create_task(writer.write(work))
    await asyncio.to_thread(begun.wait, PATIENCE)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    free.set()
    await writer.write(keeping("later"))
    assert kept(writer) == ["later", "move"]


# --- Failures -------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [DISK_FULL, OSError("no space left")])
async def test_a_failed_write_is_told_noted_and_forgotten_after_the_next_success(
    writer: Writer, health: Health, error: Exception
) -> None:
    with pytest.raises(ApiError) as caught:
        await writer.write(failing(error))
    assert caught.value.code == "storage"
    assert health.problems == {"database": type(error).__name__}
    assert kept(writer) == []
    await writer.write(keeping("move"))
    assert health.problems == {}
    assert kept(writer) == ["move"]


async def test_a_failed_write_tells_nothing_of_what_was_to_be_written(writer: Writer) -> None:
    with pytest.raises(ApiError) as caught:
        await writer.write(failing(OSError("the hash of a secret")))
    assert "secret" not in str(caught.value.answer())


async def test_a_defect_in_the_work_is_not_taken_for_a_failing_database(
    writer: Writer, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer.database, "reopen", lambda: pytest.fail("nothing is wrong with it"))
    with pytest.raises(TypeError, match="a defect"):
        await writer.write(failing(TypeError("a defect")))
    assert health.problems == {}
    await writer.write(keeping("move"))
    assert kept(writer) == ["move"]


async def test_a_database_that_is_away_is_logged_once(
    writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        with pytest.raises(ApiError):
            await writer.write(failing(DISK_FULL))
    assert len(caplog.records) == 1
    await writer.write(keeping("move"))
    with pytest.raises(ApiError):
        await writer.write(failing(DISK_FULL))
    assert len(caplog.records) == 2


async def test_old_rows_are_deleted_in_pieces_with_other_writes_in_between(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLEARED_AT_ONCE", 10)
    monkeypatch.setattr(module, "CLEARING_PAUSE", 0.01)
    rows = [{"id": f"{number:02}", "updated": number, "data": ""} for number in range(95)]
    await writer.write(lambda connection: connection.execute(insert(reviews), rows))
    clearing = asyncio.create_task(writer.clear(reviews, reviews.c.updated < 90))
    written = 0
    while not clearing.done():
        await writer.write(keeping(f"move {written}"))
        written += 1
    assert written >= 9
    with writer.database.reading() as connection:
        left = connection.execute(select(reviews.c.updated)).scalars()
        assert sorted(left) == [90, 91, 92, 93, 94]


async def test_after_a_failure_the_connections_are_opened_anew(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    monkeypatch.setattr(writer.database, "reopen", lambda: opened.append(1))
    with pytest.raises(ApiError):
        await writer.write(failing(DISK_FULL))
    assert opened == [1]


async def test_a_contradiction_passes_through_and_is_no_failure_of_the_database(
    writer: Writer, health: Health
) -> None:
    await writer.write(keeping("move"))
    with pytest.raises(IntegrityError):
        await writer.write(keeping("move"))
    assert health.problems == {}


async def test_a_refusal_passes_through_and_nothing_of_it_is_written(
    writer: Writer, health: Health
) -> None:
    with pytest.raises(ApiError) as caught:
        await writer.write(failing(ApiError("study-changed")))
    assert caught.value.code == "study-changed"
    assert health.problems == {}
    assert kept(writer) == []
