"""The database: its tables, the one process that uses it, and those that earlier versions wrote."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from alembic import command as alembic
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from kamon import Game, Layout, parse_cell, parse_record
from kamon.engine.strengths import from_first_ladder
from kamon.notation import format_line
from kamon.position import Side
from kamon.record import format_record
from kamon.web import database as module
from kamon.web.database import Database, DatabaseError, metadata
from kamon.web.games import store
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import Event, Seat, create, set_up
from kamon.web.games.store import Change, Games
from kamon.web.identity import Secrets, hashed, new_token
from kamon.web.memory import ServerMemory
from kamon.web.studies.store import Studies, Summary
from kamon.web.writer import Writer
from web_server import CHAIN, CHAIN_SEED, PATIENCE

BLACK, WHITE = Side.BLACK, Side.WHITE
ANN, BOB = "a" * 64, "b" * 64
LAYOUT = Layout.shuffled(int(CHAIN_SEED))


def at(path: Path) -> Database:
    return Database(f"sqlite:///{path}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kamon.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    made = at(path)
    made.open()
    yield made
    made.close()


def first(at: int = 1) -> Event:
    seats = {BLACK: Seat("person", "Ann – “é”"), WHITE: Seat("person", "Bob")}
    return set_up(LAYOUT, Control(), seats, at)


def opened(game: str) -> Change:
    return Change(game, [first()], "playing", listed=False, flag=None, holders=[(BLACK, ANN)])


def moved(game: str, number: int) -> Change:
    event = Event(number, 2, "moved", {"cell": "b1"})
    return Change(game, [event], "playing", listed=False, flag=None)


def commit(database: Database, *changes: Change) -> None:
    with database.writing() as connection:
        store.commit(connection, changes)


# --- The tables -----------------------------------------------------------------------------


def assert_complete(database: Database) -> None:
    """See that a database has the tables of the program, and no others."""
    with database.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        names = set(inspect(connection).get_table_names())
    assert names == {*metadata.tables, "alembic_version"}


def test_the_migrations_make_the_tables_of_the_program_from_nothing(database: Database) -> None:
    assert_complete(database)


def test_to_migrate_again_changes_nothing(database: Database) -> None:
    commit(database, opened("one"))
    before = Games(database).load("one")
    database.migrate()
    again = Database(database.url)
    again.migrate()
    assert Games(again).load("one") == before
    again.close()


def test_a_commit_is_synced_and_readers_do_not_wait(database: Database) -> None:
    with database.reading() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 5000,
    }


def test_readers_read_while_somebody_writes(database: Database) -> None:
    commit(database, opened("one"))
    with database.writing() as connection:
        store.commit(connection, [opened("two")])
        assert Games(database).load("one")[0] == [first()]
        assert Games(database).load("two") == ([], [])
    assert Games(database).load("two")[0] == [first()]


def test_connections_that_are_opened_anew_see_what_was_written(database: Database) -> None:
    commit(database, opened("one"))
    database.reopen()
    assert Games(database).load("one")[0] == [first()]


# --- Copying --------------------------------------------------------------------------------


def test_a_copy_made_while_games_go_on_is_whole(database: Database, tmp_path: Path) -> None:
    commit(database, opened("one"), opened("two"))
    done = threading.Event()

    def write() -> int:
        number = 1
        while not done.is_set():
            number += 1
            commit(database, moved("one", number), moved("two", number))
        return number

    sizes = []
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for name in ("first", "second", "third"):
                target = tmp_path / f"{name}.sqlite"
                database.copy_to(target)
                sizes.append(check_copy(target))
        finally:
            done.set()
        assert sizes == sorted(sizes)
        assert writing.result(PATIENCE) >= sizes[-1]


def check_copy(path: Path) -> int:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    copied = at(path)
    one, two = Games(copied).load("one")[0], Games(copied).load("two")[0]
    copied.close()
    # A commit is in the copy whole or not at all.
    assert [event.number for event in one] == list(range(1, len(one) + 1))
    assert len(one) == len(two)
    return len(one)


# --- One process ----------------------------------------------------------------------------

OPEN: Final = """
import sys
from kamon.web.database import Database, DatabaseError
database = Database(sys.argv[1])
try:
    database.open()
except DatabaseError as error:
    print(error, flush=True)
else:
    print("open", flush=True)
    sys.stdin.read()
"""


class OtherProcess:
    """Another server on the same database, that holds it until it is ended."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPEN, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture
def other() -> Iterator[Callable[[str], OtherProcess]]:
    made: list[OtherProcess] = []

    def start(url: str) -> OtherProcess:
        made.append(OtherProcess(url))
        return made[-1]

    yield start
    for each in made:
        each.kill()


def test_a_second_server_on_one_file_is_refused_until_the_first_has_ended(
    database: Database, path: Path
) -> None:
    second = Database(database.url)
    with pytest.raises(DatabaseError, match="another server is using") as refused:
        second.open()
    assert str(path) in str(refused.value)
    # The first goes on undisturbed.
    commit(database, opened("one"))
    database.close()
    second.open()
    assert Games(second).load("one")[0] == [first()]
    second.close()


def test_a_place_that_cannot_be_written_is_not_taken_for_another_server(tmp_path: Path) -> None:
    (tmp_path / "kamon.sqlite.lock").mkdir()
    with pytest.raises(DatabaseError, match=r"cannot be written .* is the disk full") as refused:
        Database(f"sqlite:///{tmp_path}/kamon.sqlite").open()
    assert "another server" not in str(refused.value)


def test_a_second_server_in_another_process_is_refused(
    database: Database, path: Path, other: Callable[[str], OtherProcess]
) -> None:
    assert other(database.url).said.startswith(f"another server is using {path}:")
    database.close()
    assert other(database.url).said == "open"
    with pytest.raises(DatabaseError, match="another server"):
        Database(database.url).open()


def test_a_server_that_was_killed_holds_nothing(
    path: Path, other: Callable[[str], OtherProcess]
) -> None:
    killed = other(f"sqlite:///{path}")
    assert killed.said == "open"
    database = at(path)
    with pytest.raises(DatabaseError, match="another server"):
        database.open()
    killed.kill()
    database.open()
    assert_complete(database)
    database.close()


def test_a_second_server_that_names_the_file_by_a_link_is_refused(
    database: Database, path: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    second = at(link)
    with pytest.raises(DatabaseError, match="another server"):
        second.open()
    commit(database, opened("one"))


def test_a_database_can_be_copied_and_read_while_a_server_holds_it(
    database: Database, tmp_path: Path
) -> None:
    commit(database, opened("one"), opened("two"))
    visitor = Database(database.url)
    visitor.copy_to(tmp_path / "copy.sqlite")
    visitor.close()
    assert check_copy(tmp_path / "copy.sqlite") == 1


def test_servers_with_databases_of_their_own_do_not_touch_each_other(
    database: Database, tmp_path: Path
) -> None:
    other = at(tmp_path / "other.sqlite")
    other.open()
    commit(other, opened("one"))
    assert Games(database).load("one") == ([], [])
    other.close()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x.sqlite?uri=true"]
)
def test_a_database_without_a_plain_file_is_refused(url: str) -> None:
    with pytest.raises(DatabaseError, match="does not name a file"):
        Database(url)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(DatabaseError) as refused:
        Database("nosuch://me:hunter2@here/kamon")
    assert "hunter2" not in str(refused.value)


# --- What cannot be opened ------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "kamon.sqlite",
        "/home/me/kamon.sqlite",
        "",
        "://",
        "nosuch:///kamon.sqlite",
        "sqlite+nosuch:///kamon.sqlite",
        "oracle+nosuch://me@here/kamon",
    ],
)
def test_what_is_no_address_of_a_database_is_told_with_an_example(url: str) -> None:
    with pytest.raises(DatabaseError, match=r"sqlite:////home/me/kamon\.sqlite") as refused:
        Database(url)
    assert repr(url) in str(refused.value)


def test_a_driver_that_is_not_installed_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules is a module that cannot be found, whatever this machine has.
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseError, match=r"driver that is not installed.*kamon\[postgres\]"):
        Database("postgresql+psycopg2://me@here/kamon")


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(
    database: Database, path: Path
) -> None:
    commit(database, opened("one"))
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(text("ALTER TABLE games ADD COLUMN mood TEXT"))
    database.close()
    before = dump(path)
    newer = at(path)
    with pytest.raises(DatabaseError, match="belongs to a newer version of Kamon") as refused:
        newer.open()
    assert "9999" in str(refused.value)
    assert str(path) in str(refused.value)
    newer.close()
    assert dump(path) == before


def test_a_message_names_no_password() -> None:
    named = Database("postgresql://me:hush@here/kamon").name
    assert "hush" not in named
    assert "here" in named


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    lines = list(connection.iterdump())
    connection.close()
    return lines


def filled(path: Path) -> None:
    """Write enough for many pages."""
    database = at(path)
    database.open()
    commit(database, *(opened(f"game-{number}") for number in range(200)))
    database.close()


@pytest.mark.parametrize("kept", [1, 2, 5, 10, 20])
def test_a_damaged_database_is_refused(path: Path, kept: int) -> None:
    filled(path)
    contents = bytearray(path.read_bytes())
    page = 4096
    assert len(contents) > 40 * page
    contents[kept * page : (kept + 12) * page] = random.Random(kept).randbytes(12 * page)
    path.write_bytes(contents)
    database = at(path)
    with pytest.raises(DatabaseError, match="is damaged") as refused:
        database.open()
    assert str(path) in str(refused.value)
    database.close()
    assert path.read_bytes() == contents


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_text('[Event "A record"]\n' * 500)
    database = at(path)
    with pytest.raises(DatabaseError) as refused:
        database.open()
    assert str(path) in str(refused.value)
    database.close()


def test_a_database_that_was_refused_holds_nothing(path: Path) -> None:
    filled(path)
    good = path.read_bytes()
    path.write_bytes(good[:8192] + random.Random(1).randbytes(40_000) + good[48_192:])
    refused = at(path)
    with pytest.raises(DatabaseError):
        refused.open()
    # Whoever restores a copy can open it, although the first attempt has not been closed.
    path.write_bytes(good)
    again = at(path)
    again.open()
    again.close()
    refused.close()


# --- The file -------------------------------------------------------------------------------


def test_a_file_is_made_in_a_new_folder_for_nobody_else_to_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "kamon.sqlite"
    usual = os.umask(0o000)
    try:
        database = at(path)
        database.open()
        commit(database, opened("one"))
        modes = {
            each.name: stat.S_IMODE(each.stat().st_mode)
            for each in path.parent.glob("kamon.sqlite*")
            if ".lock" not in each.name
        }
        database.close()
    finally:
        os.umask(usual)
    assert modes == dict.fromkeys(("kamon.sqlite", "kamon.sqlite-wal", "kamon.sqlite-shm"), 0o600)


def test_the_rights_on_a_file_that_is_there_are_the_hosts(path: Path) -> None:
    path.touch(0o640)
    path.chmod(0o640)
    database = at(path)
    database.open()
    database.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


# --- What earlier versions have written -----------------------------------------------------

# Secrets from before they were signed: of somebody who plays, and of somebody who studies.
PLAYER, STUDENT = new_token(), new_token()
STUDIED = Game(LAYOUT, map(parse_cell, CHAIN[:5]))
STUDIED.tags = {"Event": "My “study”"}
# A variation, which comes last in the record.
STUDIED.go_to(STUDIED.root)
STUDIED.play(parse_cell("b1"))
STUDIED.go_to(STUDIED.main_line()[-1])


def migrated(path: Path, revision: str) -> Database:
    """Make a database as an earlier version has left it."""
    config = Config()
    folder = Path(module.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder))
    database = at(path)
    with database.writing() as connection:
        config.attributes["connection"] = connection
        alembic.upgrade(config, revision)
    return database


def insert(database: Database, table: str, *rows: dict[str, Any]) -> None:
    """Write rows as they were written then, whatever the tables are now."""
    columns, values = ", ".join(rows[0]), ", ".join(f":{name}" for name in rows[0])
    with database.writing() as connection:
        connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), rows)  # noqa: S608


def old_games(path: Path, revision: str = "0003") -> Database:
    """Make a database of an earlier version with a game, and with what else it can hold."""
    database = migrated(path, revision)
    created = dict(set_up(LAYOUT, Control.parse("300+5"), _OLD_SEATS, 1000).data)
    del created["ladder"]
    moments = {"created": 1000, "updated": 3000}
    insert(
        database, "games", {"id": "old", **moments, "status": "playing", "listed": 0, "flag": None}
    )
    rows = [("created", created), *(("moved", {"cell": cell}) for cell in CHAIN[:2])]
    insert(
        database,
        "events",
        *(
            {
                "game": "old",
                "number": number,
                "at": 1000 * number,
                "kind": kind,
                "data": json.dumps(data),
                "command": None,
            }
            for number, (kind, data) in enumerate(rows, 1)
        ),
    )
    insert(database, "holders", {"game": "old", "side": "black", "holder": hashed(PLAYER)})
    insert(
        database, "handovers", {"token": "t" * 64, "game": "old", "side": "black", "expires": 9000}
    )
    if revision >= "0002":
        record = format_record(STUDIED)
        row = {"holder": hashed(STUDENT), "record": record}
        insert(
            database,
            "studies",
            {"id": "study", "updated": 50, **row},
            # What this version cannot read any more.
            {"id": "broken", "updated": 40, **row, "record": "[Layout"},
        )
    if revision >= "0003":
        insert(database, "reviews", {"id": "r" * 64, "updated": 7, "data": '{"version": 0}'})
    return database


_OLD_SEATS: Final = {BLACK: Seat("person", "Ann"), WHITE: Seat("computer", "", 3)}


def assert_nothing_lost(database: Database, revision: str) -> None:
    """See that a database that was brought up to date has all that it had."""
    assert_complete(database)
    found, held = Games(database).load("old")
    room = create("old", found)
    assert [event.number for event in found] == [1, 2, 3]
    assert room.moves == tuple(parse_cell(cell) for cell in CHAIN[:2])
    assert room.white.level == from_first_ladder(3)
    assert held == [(BLACK, hashed(PLAYER))]
    with database.writing() as connection:
        assert store.take_over(connection, "t" * 64, BOB, 8000) == ("old", BLACK)
    unsigned = {hashed(PLAYER)}
    if revision >= "0002":
        unsigned.add(hashed(STUDENT))
        assert Studies(database, Writer(database)).list_of(hashed(STUDENT), 9) == [
            Summary("study", 50, "My “study”", 5, format_line(STUDIED)),
            Summary("broken", 40, "", 0, ""),
        ]
    with database.reading() as connection:
        kept = set(connection.execute(text("SELECT holder FROM unsigned_holders")).scalars())
        reviews = connection.execute(text("SELECT count(*) FROM reviews")).scalar_one()
    assert kept == unsigned
    assert reviews == (revision >= "0003")


@pytest.mark.parametrize("revision", ["0001", "0002", "0003"])
def test_a_database_of_any_earlier_version_is_brought_up_to_date(path: Path, revision: str) -> None:
    old_games(path, revision).close()
    database = at(path)
    database.open()
    assert_nothing_lost(database, revision)
    database.close()


@pytest.mark.anyio
async def test_what_the_version_before_has_written_is_all_there(path: Path) -> None:
    old_games(path).close()
    database = at(path)
    database.open()
    writer = Writer(database)
    secrets = await ServerMemory(database, writer).secrets()
    # Secrets that hold something are good as they were, and others are not.
    assert secrets.knows(PLAYER)
    assert secrets.knows(STUDENT)
    assert not secrets.knows(new_token())
    visitor = secrets.visitor({"authorization": f"Bearer {PLAYER}"}, {})
    assert visitor.sides(Games(database).load("old")[1]) == {BLACK}
    # A study can be read and kept again.
    studies = Studies(database, writer)
    kept = studies.find("study")
    assert kept is not None
    game = parse_record(kept.record)
    assert game.moves == STUDIED.moves
    game.play(parse_cell(CHAIN[5]))
    await studies.keep_again("study", hashed(STUDENT), 50, 60, format_record(game), game)
    assert studies.list_of(hashed(STUDENT), 1)[0].moves == 6
    # One that cannot be read can still be found, and removed.
    broken = studies.find("broken")
    assert broken is not None
    assert broken.record == "[Layout"
    await studies.remove("broken", hashed(STUDENT))
    assert [each.id for each in studies.list_of(hashed(STUDENT), 9)] == ["study"]
    writer.close()
    database.close()


def test_in_a_new_database_no_unsigned_secret_is_good(database: Database) -> None:
    with database.reading() as connection:
        kept = connection.execute(text("SELECT count(*) FROM unsigned_holders")).scalar_one()
    assert kept == 0
    assert not Secrets(b"key").knows(PLAYER)


# --- A migration that is killed -------------------------------------------------------------

# Opens copies of a database, and is killed at the first statement of the first one, at the second
# statement of the second one, and so on until one is opened to the end.
DIE: Final = """
import os, shutil, signal, sys
from sqlalchemy import event
from kamon.web.database import Database

def open_and_die(path, last):
    database = Database(f"sqlite:///{path}")
    done = 0

    def trace(statement):
        nonlocal done
        done += 1
        if done == last:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(
        database.engine, "connect", lambda made, _: made.set_trace_callback(trace), insert=True
    )
    database.open()
    os._exit(0)

start, folder = sys.argv[1:]
for last in range(1, 1000):
    path = f"{folder}/{last}.sqlite"
    if os.path.exists(start):
        shutil.copy(start, path)
    child = os.fork()
    if child == 0:
        open_and_die(path, last)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
sys.exit("it never ends")
"""


@pytest.mark.parametrize("revision", ["", "0001", "0003"])
def test_a_migration_that_is_killed_at_any_statement_is_done_by_the_next_start(
    tmp_path: Path, revision: str
) -> None:
    start, folder = tmp_path / "start.sqlite", tmp_path / "copies"
    folder.mkdir()
    if revision:
        old_games(start, revision).close()
    subprocess.run([sys.executable, "-c", DIE, start, folder], check=True, timeout=10 * PATIENCE)
    copies = list(folder.glob("*.sqlite"))
    # Four settings of the connection, the check, and at least so many statements of a migration.
    assert len(copies) > 15
    for copy in copies:
        database = at(copy)
        database.open()
        if revision:
            assert_nothing_lost(database, revision)
        else:
            assert_complete(database)
            commit(database, opened("one"))
        database.close()
