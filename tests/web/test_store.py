"""The store: what was committed is there, and nothing else is."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, inspect, select, text
from sqlalchemy.exc import IntegrityError

from kamon import Layout
from kamon.position import Side
from kamon.web.clocks import Control
from kamon.web.rooms import Event, Seat, create, set_up
from kamon.web.store import Change, Store, events, games, handovers, holders, metadata

BLACK, WHITE = Side.BLACK, Side.WHITE
ANN, BOB, EVE = "a" * 64, "b" * 64, "e" * 64


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    made.migrate()
    yield made
    made.close()


def first(at: int = 1) -> Event:
    seats = {BLACK: Seat("person", "Ann – “é”"), WHITE: Seat("person", "Bob")}
    return set_up(Layout.shuffled(1), Control(), seats, at)


def opened(
    game: str,
    at: int = 1,
    status: str = "playing",
    *,
    listed: bool = False,
    flag: int | None = None,
) -> Change:
    return Change(game, [first(at)], status, listed, flag, [(BLACK, ANN), (WHITE, BOB)])


def moved(game: str, number: int, at: int = 2, command: str | None = None) -> Change:
    event = Event(number, at, "moved", {"cell": "b1"}, command)
    return Change(game, [event], "playing", listed=False, flag=None)


def count(store: Store) -> dict[str, int]:
    with store.engine.connect() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (games, events, holders, handovers)
        }


# --- The tables -----------------------------------------------------------------------------


def test_the_migrations_make_the_tables_of_the_program_from_nothing(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        names = set(inspect(connection).get_table_names())
    assert names == {*metadata.tables, "alembic_version"}


def test_to_migrate_again_changes_nothing(store: Store) -> None:
    store.commit([opened("one")])
    store.migrate()
    again = Store(store.url)
    again.migrate()
    assert again.load("one") == store.load("one")
    again.close()


def test_a_commit_is_synced_and_readers_do_not_wait(store: Store) -> None:
    with store.engine.connect() as connection:
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


def test_a_database_answers_when_it_is_well(store: Store) -> None:
    assert store.healthy()


# --- Games ----------------------------------------------------------------------------------


def test_what_was_written_is_read_back_even_by_another_program(store: Store) -> None:
    store.commit([opened("one"), moved("one", 2, command="my-command")])
    again = Store(store.url)
    found, held = again.load("one")
    again.close()
    assert found == [first(), Event(2, 2, "moved", {"cell": "b1"}, "my-command")]
    assert sorted(held, key=str) == [(BLACK, ANN), (WHITE, BOB)]
    assert create("one", found).black.name == "Ann – “é”"


def test_a_game_that_is_not_there_is_empty(store: Store) -> None:
    assert store.load("none") == ([], [])


def test_the_changes_of_many_games_are_one_transaction(store: Store) -> None:
    store.commit([opened("one"), opened("two"), moved("one", 2), moved("two", 2)])
    with pytest.raises(IntegrityError):
        store.commit([moved("one", 3), opened("three"), moved("two", 2)])
    assert len(store.load("one")[0]) == 2
    assert store.load("three") == ([], [])


def test_a_game_has_each_number_once(store: Store) -> None:
    store.commit([opened("one"), opened("two"), moved("one", 2)])
    store.commit([moved("two", 2)])
    with pytest.raises(IntegrityError):
        store.commit([moved("one", 2, at=9)])
    assert store.load("one")[0][1].at == 2


def test_a_game_has_each_command_once(store: Store) -> None:
    store.commit([opened("one"), opened("two")])
    store.commit(
        [moved("one", 2, command="again-and-again"), moved("two", 2, command="again-and-again")]
    )
    with pytest.raises(IntegrityError):
        store.commit([moved("one", 3, command="again-and-again")])
    store.commit([moved("one", 3), moved("one", 4)])
    assert len(store.load("one")[0]) == 4


def test_nothing_is_written_for_a_game_that_is_not_there(store: Store) -> None:
    with pytest.raises(IntegrityError):
        store.commit([moved("none", 2)])
    assert count(store)["events"] == 0


def test_the_games_of_a_holder_are_listed_latest_first(store: Store) -> None:
    store.commit([opened(name, at) for name, at in (("old", 10), ("new", 30), ("mid", 20))])
    store.commit(
        [Change("far", [first(40)], "playing", listed=False, flag=None, holders=[(BLACK, EVE)])]
    )
    assert store.games_of(ANN, 10, None) == ["new", "mid", "old"]
    store.commit([moved("old", 2, at=50)])
    assert store.games_of(BOB, 10, None) == ["old", "new", "mid"]
    assert store.games_of(EVE, 10, None) == ["far"]
    assert store.games_of("f" * 64, 10, None) == []


def test_the_games_of_a_holder_are_listed_page_by_page(store: Store) -> None:
    store.commit([opened(f"game-{at}", at) for at in range(7)])
    seen: list[str] = []
    before = None
    while page := store.games_of(ANN, 3, before):
        seen += page
        before = int(page[-1].removeprefix("game-"))
    assert seen == [f"game-{at}" for at in reversed(range(7))]


def test_a_holder_of_both_sides_sees_a_game_once(store: Store) -> None:
    both = [(BLACK, ANN), (WHITE, ANN)]
    store.commit([Change("one", [first()], "playing", listed=False, flag=None, holders=both)])
    assert store.games_of(ANN, 10, None) == ["one"]


def test_only_listed_games_that_wait_are_open(store: Store) -> None:
    store.commit(
        [
            opened("friend", 1, "waiting"),
            opened("old", 2, "waiting", listed=True),
            opened("new", 3, "waiting", listed=True),
            opened("taken", 4, "playing", listed=True),
        ]
    )
    assert store.open_games(10) == ["new", "old"]
    assert store.open_games(1) == ["new"]


def test_only_games_in_play_have_a_flag_to_watch(store: Store) -> None:
    store.commit(
        [
            opened("on", flag=500),
            opened("off"),
            opened("over", status="over", flag=400),
        ]
    )
    assert store.flags() == [(500, "on")]


# --- Carrying a seat ------------------------------------------------------------------------


def test_a_token_seats_whoever_spends_it_once(store: Store) -> None:
    store.commit([opened("one")])
    store.hand_over("t" * 64, "one", BLACK, expires=100)
    assert store.take_over("t" * 64, EVE, now=99) == ("one", BLACK)
    assert (BLACK, EVE) in store.load("one")[1]
    assert store.take_over("t" * 64, "f" * 64, now=99) is None
    assert len(store.load("one")[1]) == 3
    assert count(store)["handovers"] == 0


def test_a_token_expires(store: Store) -> None:
    store.commit([opened("one")])
    store.hand_over("t" * 64, "one", BLACK, expires=100)
    assert store.take_over("t" * 64, EVE, now=100) is None
    assert (BLACK, EVE) not in store.load("one")[1]


def test_old_tokens_are_swept_away_by_the_next_one(store: Store) -> None:
    store.commit([opened("one")])
    for token, expires in (("s", 50), ("t", 100), ("u", 200)):
        store.hand_over(token * 64, "one", BLACK, expires)
    store.take_over("t" * 64, EVE, now=60)
    assert count(store)["handovers"] == 1


def test_an_unknown_token_is_worth_nothing(store: Store) -> None:
    assert store.take_over("t" * 64, EVE, now=1) is None


def test_who_sits_there_already_may_spend_the_token_too(store: Store) -> None:
    store.commit([opened("one")])
    store.hand_over("t" * 64, "one", BLACK, expires=100)
    assert store.take_over("t" * 64, ANN, now=1) == ("one", BLACK)
    assert len(store.load("one")[1]) == 2


def test_of_many_who_spend_a_token_at_once_one_is_seated(store: Store) -> None:
    store.commit([opened("one")])
    crowd = 8
    with ThreadPoolExecutor(crowd) as pool:
        for each in range(10):
            token = f"{each:064}"
            store.hand_over(token, "one", BLACK, expires=100)
            ready = threading.Barrier(crowd)

            def take(holder: int, token: str = token, ready: threading.Barrier = ready) -> bool:
                ready.wait(20)
                return store.take_over(token, f"{token[-1]}{holder:063}", now=1) is not None

            assert sum(pool.map(take, range(crowd))) == 1


# --- Clearing and copying -------------------------------------------------------------------


def test_old_games_are_cleared_with_all_that_belongs_to_them(store: Store) -> None:
    store.commit(
        [
            opened("old", 10, "aborted"),
            opened("new", 90, "aborted"),
            opened("won", 10, "over"),
        ]
    )
    store.hand_over("t" * 64, "old", BLACK, expires=10**9)
    assert store.unchanged_since(50, ["waiting", "aborted"]) == ["old"]
    store.remove(["old"])
    assert store.load("old") == ([], [])
    assert count(store) == {"games": 2, "events": 2, "holders": 4, "handovers": 0}
    assert store.unchanged_since(50, ["waiting", "aborted"]) == []


def test_a_long_list_of_games_is_cleared(store: Store) -> None:
    names = [f"game-{each}" for each in range(1200)]
    store.commit([Change(name, [first()], "over", listed=False, flag=None) for name in names])
    store.remove(names[:-1])
    assert count(store)["games"] == 1


def test_links_that_have_expired_are_cleared_too(store: Store) -> None:
    store.commit([opened("one")])
    store.hand_over("s" * 64, "one", BLACK, expires=1)
    store.hand_over("t" * 64, "one", BLACK, expires=10**15)
    store.remove([])
    assert count(store)["handovers"] == 1


def test_a_copy_made_while_games_go_on_is_whole(store: Store, tmp_path: Path) -> None:
    store.commit([opened("one"), opened("two")])
    done = threading.Event()

    def write() -> int:
        number = 1
        while not done.is_set():
            number += 1
            store.commit([moved("one", number), moved("two", number)])
        return number

    sizes = []
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for name in ("first", "second", "third"):
                target = tmp_path / f"{name}.sqlite"
                store.copy_to(target)
                sizes.append(check_copy(target))
        finally:
            done.set()
        assert sizes == sorted(sizes)
        assert writing.result(20) >= sizes[-1]


def check_copy(path: Path) -> int:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    copied = Store(f"sqlite:///{path}")
    one, two = copied.load("one")[0], copied.load("two")[0]
    copied.close()
    # A commit is in the copy whole or not at all.
    assert [event.number for event in one] == list(range(1, len(one) + 1))
    assert len(one) == len(two)
    return len(one)
