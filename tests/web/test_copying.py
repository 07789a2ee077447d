"""Copies from one database to another: whole, verified, and gone on with after an interruption."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Table, delete, event, insert, select, text, update
from sqlalchemy.exc import OperationalError

from filled_database import fill
from kamon.web import copying
from kamon.web.copying import COPIED, Copy, Step, Tally, open_source, open_target
from kamon.web.database import COPY_MARK, Database, DatabaseError, games, server, servers, studies
from postgres import Postgres, running_postgres

Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def source_url(tmp_path: Path) -> str:
    """A SQLite database with a little of everything."""
    url = f"sqlite:///{tmp_path / 'source.sqlite'}"
    with opened(url) as database:
        fill(database)
    return url


@pytest.fixture
def target_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'target.sqlite'}"


@contextmanager
def opened(url: str, *, partial: bool = False) -> Iterator[Database]:
    database = Database(url)
    database.open(partial=partial)
    yield database
    database.close()


@contextmanager
def both(source_url: str, target_url: str) -> Iterator[tuple[Database, Database]]:
    with open_source(source_url) as source, open_target(target_url, source) as target:
        yield source, target


def copy(source_url: str, target_url: str) -> dict[str, Tally]:
    with both(source_url, target_url) as (source, target):
        return Copy(source, target).run()


def rows_of(url: str) -> Rows:
    with opened(url, partial=True) as database, database.reading() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for table in COPIED
        }


def stop_after(steps: int) -> Callable[[Step], None]:
    """Interrupt a copy after so many batches."""
    left = iter(range(steps))

    def tell(_: Step) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return tell


# --- The copy ---------------------------------------------------------------------------------


def test_a_round_trip_through_postgresql_changes_nothing(
    source_url: str, target_url: str, postgres_url: str
) -> None:
    before = rows_of(source_url)
    tallies = copy(source_url, postgres_url)
    assert all(before[table.name] for table in COPIED)
    assert {name: tally.rows for name, tally in tallies.items()} == {
        name: len(rows) for name, rows in before.items()
    }
    assert rows_of(postgres_url) == before
    assert copy(postgres_url, target_url) == tallies
    assert rows_of(target_url) == before
    assert rows_of(source_url) == before


def test_what_only_running_servers_need_is_not_copied(
    source_url: str, target_url: str, postgres_url: str
) -> None:
    copy(source_url, postgres_url)
    with opened(postgres_url) as database, database.writing() as connection:
        connection.execute(insert(servers).values(id="dead", alive=1, people=3, web=True))
    copy(postgres_url, target_url)
    with opened(target_url) as database, database.reading() as connection:
        assert connection.execute(select(servers)).all() == []


def test_characters_that_postgresql_cannot_hold_are_left_out_and_counted(
    source_url: str, postgres_url: str
) -> None:
    with opened(source_url) as database, database.writing() as connection:
        first = studies.c.id == "study0"
        connection.execute(update(studies).where(first).values(record="a\0b", title="\0"))
    with both(source_url, postgres_url) as (source, target):
        made = Copy(source, target)
        made.run()
        assert made.cleaned == 1
        with target.reading() as connection:
            found = connection.execute(select(studies).where(first)).one()
    assert (found.record, found.title) == ("ab", "")


def test_the_same_characters_stay_in_a_sqlite_file(source_url: str, target_url: str) -> None:
    with opened(source_url) as database, database.writing() as connection:
        connection.execute(update(studies).values(record="a\0b"))
    copy(source_url, target_url)
    assert rows_of(target_url) == rows_of(source_url)


# --- Going on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", range(0, 40, 3))
def test_an_interrupted_copy_goes_on_where_it_stopped(
    source_url: str, target_url: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 20)
    with pytest.raises(KeyboardInterrupt), both(source_url, target_url) as (source, target):
        Copy(source, target, stop_after(steps)).run()
    # The mark of the copy is no row of it.
    there = sum(map(len, rows_of(target_url).values())) - 1
    told: list[Step] = []
    with both(source_url, target_url) as (source, target):
        Copy(source, target, told.append).run()
    copied = sum(_copied(told, table) for table in COPIED)
    assert there + copied == sum(map(len, rows_of(source_url).values()))
    assert rows_of(target_url) == rows_of(source_url)


def _copied(told: list[Step], table: Table) -> int:
    """Count the rows of a table that a copy has told to have copied."""
    steps = [step.rows for step in told if (step.doing, step.table) == ("copying", table.name)]
    return steps[-1] - steps[0] if steps else 0


# It copies a little at a time, and is killed some milliseconds after one of its steps.
KILLED = """
import os, signal, sys, threading
from kamon.web import copying

def tell(step):
    global left
    left -= 1
    if left == 0:
        threading.Timer(float(wait), os.kill, [os.getpid(), signal.SIGKILL]).start()

source_url, target_url, left, wait = sys.argv[1:]
left = int(left)
copying.BATCH = 20
with (
    copying.open_source(source_url) as source,
    copying.open_target(target_url, source) as target,
):
    copying.Copy(source, target, tell).run()
"""


@pytest.mark.parametrize(("to", "kills"), [("sqlite", 3), ("postgresql", 10)])
def test_a_copy_that_is_killed_again_and_again_ends_whole(
    tmp_path: Path, target_url: str, postgres_url: str, to: str, kills: int
) -> None:
    source_url = f"sqlite:///{tmp_path / 'large.sqlite'}"
    with opened(source_url) as database:
        fill(database, 500)
    url = postgres_url if to == "postgresql" else target_url
    chance = random.Random(1)
    for _ in range(kills):
        when = (str(chance.randint(1, 40)), str(chance.uniform(0, 0.02)))
        arguments = [sys.executable, "-c", KILLED, source_url, url, *when]
        ended = subprocess.run(arguments, check=False, capture_output=True, text=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    copy(source_url, url)
    assert rows_of(url) == rows_of(source_url)


def test_a_target_whose_disk_is_full_can_be_gone_on_with(
    source_url: str, target_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 20)
    with both(source_url, target_url) as (source, target):
        # SQLite says that the disk is full when a file may have no more pages.
        with target.reading() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        limit = f"PRAGMA max_page_count={pages + 2}"
        event.listen(target.engine, "begin", lambda each: each.exec_driver_sql(limit))
        with pytest.raises(DatabaseError, match=r"full.*same command again"):
            Copy(source, target).run()
    assert 0 < len(rows_of(target_url)["events"]) < len(rows_of(source_url)["events"])
    copy(source_url, target_url)
    assert rows_of(target_url) == rows_of(source_url)


def test_a_database_server_that_goes_away_can_be_gone_on_with(
    source_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 20)
    with running_postgres() as postgres:
        url = postgres.new_database()
        left = iter(range(10))

        def tell(_: Step) -> None:
            if next(left, None) == 9:
                postgres.crash()

        with (
            both(source_url, url) as (source, target),
            pytest.raises(DatabaseError, match="run the same command again to continue the copy"),
        ):
            Copy(source, target, tell).run()
        postgres.start()
        copy(source_url, url)
        assert rows_of(url) == rows_of(source_url)


def test_no_server_starts_on_an_unfinished_copy(source_url: str, target_url: str) -> None:
    with pytest.raises(KeyboardInterrupt), both(source_url, target_url) as (source, target):
        Copy(source, target, stop_after(3)).run()
    database = Database(target_url)
    with pytest.raises(DatabaseError, match="finish it with kamon copy, or drop it"):
        database.open()
    with pytest.raises(DatabaseError, match="finish it with kamon copy, or drop it"):
        copy(target_url, f"{target_url}.new")
    copy(source_url, target_url)
    database.open()
    database.close()


# --- What is refused --------------------------------------------------------------------------


def test_a_target_that_holds_games_is_refused_and_left_as_it_is(
    source_url: str, postgres_url: str, target_url: str
) -> None:
    for url in (postgres_url, target_url):
        copy(source_url, url)
        with pytest.raises(DatabaseError, match=r"not empty \(see .*events, games.*new database"):
            copy(source_url, url)
        assert rows_of(url) == rows_of(source_url)


def test_a_target_of_another_program_is_refused(source_url: str, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE theirs (id integer)")
    with pytest.raises(DatabaseError, match="theirs"):
        copy(source_url, postgres_url)
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert found.fetchall() == [("theirs",)]


@pytest.mark.parametrize("name", ["target.sqlite", "deeper/../target.sqlite"])
def test_a_database_is_not_copied_to_itself(tmp_path: Path, name: str) -> None:
    (tmp_path / "deeper").mkdir()
    url = f"sqlite:///{tmp_path / 'target.sqlite'}"
    with opened(url) as database:
        fill(database)
    with pytest.raises(DatabaseError, match="cannot be copied to itself"):
        copy(url, f"sqlite:///{tmp_path}/{name}")


def test_a_postgresql_database_is_not_copied_to_itself(source_url: str, postgres_url: str) -> None:
    copy(source_url, postgres_url)
    for same in (postgres_url, postgres_url.replace("postgresql:", "postgresql+psycopg:")):
        with pytest.raises(DatabaseError, match="cannot be copied to itself"):
            copy(postgres_url, same)
    with pytest.raises(DatabaseError, match="is not empty"):
        copy(postgres_url, f"{postgres_url}&application_name=other")


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path, target_url: str) -> None:
    with pytest.raises(DatabaseError, match="there is no database at"):
        copy(f"sqlite:///{tmp_path / 'nowhere.sqlite'}", target_url)
    assert list(tmp_path.iterdir()) == []


def test_a_source_without_our_tables_is_refused(postgres_url: str, target_url: str) -> None:
    with pytest.raises(DatabaseError, match="is not a Kamon database"):
        copy(postgres_url, target_url)


def test_a_source_that_a_server_uses_is_refused(
    source_url: str, postgres_url: str, target_url: str
) -> None:
    with opened(source_url), pytest.raises(DatabaseError, match="another server is using"):
        copy(source_url, postgres_url)
    copy(source_url, postgres_url)
    with opened(postgres_url) as database:
        now = int(time.time() * 1000)
        with database.writing() as connection:
            row = {"id": "here", "alive": now - 5_000, "people": 1, "web": True}
            connection.execute(insert(servers).values(**row))
        with pytest.raises(DatabaseError, match=r"servers are using .*: stop them first"):
            copy(postgres_url, target_url)
        with database.writing() as connection:
            connection.execute(update(servers).values(alive=now - 15_000))
        copy(postgres_url, target_url)


def test_a_newer_database_is_neither_copied_nor_copied_to(
    source_url: str, target_url: str, postgres_url: str
) -> None:
    for url in (target_url, postgres_url):
        copy(source_url, url)
        with opened(url) as database, database.writing() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
            connection.execute(text("ALTER TABLE reviews RENAME TO verdicts"))
        with pytest.raises(DatabaseError, match="belongs to a newer version"):
            copy(source_url, url)
        with pytest.raises(DatabaseError, match="belongs to a newer version"):
            copy(url, f"{target_url}.new")


def test_a_copy_of_another_source_is_not_gone_on_with(
    source_url: str, target_url: str, postgres_url: str
) -> None:
    with pytest.raises(KeyboardInterrupt), both(source_url, postgres_url) as (source, target):
        Copy(source, target, stop_after(5)).run()
    with opened(target_url) as database:
        fill(database, 3)
    before = rows_of(postgres_url)
    with pytest.raises(DatabaseError, match="part of a copy of another database"):
        copy(target_url, postgres_url)
    assert rows_of(postgres_url) == before


def test_a_source_that_a_server_has_changed_meanwhile_is_noticed(
    source_url: str, postgres_url: str, target_url: str
) -> None:
    copy(source_url, postgres_url)
    with both(postgres_url, target_url) as (source, target):

        def tell(step: Step) -> None:
            if step == Step("checking", "games", step.total, step.total):
                with source.writing() as connection:
                    connection.execute(update(games).values(updated=games.c.updated + 1))

        with pytest.raises(DatabaseError, match=r"games has|changed while it was copied"):
            Copy(source, target, tell).run()
        assert target.copy_mark() is not None


def test_a_copy_that_is_not_the_same_is_told_and_not_used(source_url: str, target_url: str) -> None:
    with both(source_url, target_url) as (source, target):

        def tell(step: Step) -> None:
            if step == Step("copying", COPIED[-1].name, step.total, step.total):
                with target.writing() as connection:
                    connection.execute(delete(games).where(games.c.id == "game3"))

        with pytest.raises(DatabaseError, match=r"games has 20 rows in .* and 19 in"):
            Copy(source, target, tell).run()
        assert target.copy_mark() is not None


def test_two_copies_into_one_database_at_once_are_refused(
    source_url: str, postgres_url: str
) -> None:
    with both(source_url, postgres_url) as (source, target):

        def tell(_: Step) -> None:
            second = Database(postgres_url)
            second.open(partial=True)
            with pytest.raises(DatabaseError, match=r"another copy into .* is running"):
                Copy(source, second).run()
            second.close()

        Copy(source, target, tell).run()


@pytest.mark.parametrize(
    "url", ["postgresql://me@127.0.0.1:1/kamon", "postgresql://me@/kamon?host=/nowhere"]
)
def test_a_server_that_does_not_answer_is_an_error_at_once(source_url: str, url: str) -> None:
    with pytest.raises(OperationalError):
        copy(source_url, url)


def test_a_missing_database_is_an_error_at_once(source_url: str, postgres: Postgres) -> None:
    with pytest.raises(OperationalError, match="does not exist"):
        copy(source_url, postgres.url("nowhere"))


def test_a_mark_is_found_only_while_a_copy_is_unfinished(source_url: str, target_url: str) -> None:
    copy(source_url, target_url)
    with opened(target_url) as database, database.reading() as connection:
        names = connection.execute(select(server.c.name)).scalars().all()
    assert COPY_MARK not in names
