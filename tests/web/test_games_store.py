"""Games in the database: what was committed is there, and nothing else is."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from kamon import Layout
from kamon.position import Side
from kamon.web.database import Database, events, games, handovers, holders
from kamon.web.games import store
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import Event, Seat, create, set_up
from kamon.web.games.store import Change, Games

BLACK, WHITE = Side.BLACK, Side.WHITE
ANN, BOB, EVE = "a" * 64, "b" * 64, "e" * 64


class Disk(Games):
    """Games that can also be written, each time in a transaction of its own."""

    def commit(self, changes: Sequence[Change]) -> None:
        with self.database.writing() as connection:
            store.commit(connection, changes)

    def hand_over(self, token: str, game: str, side: Side, expires: int) -> None:
        with self.database.writing() as connection:
            store.hand_over(connection, token, game, side, expires)

    def take_over(self, token: str, holder: str, now: int) -> tuple[str, Side] | None:
        with self.database.writing() as connection:
            return store.take_over(connection, token, holder, now)

    def remove(self, several: Sequence[str], now: int = 0) -> None:
        with self.database.writing() as connection:
            store.remove(connection, several, now)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    yield Disk(database)
    database.close()


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


def count(disk: Disk) -> dict[str, int]:
    with disk.database.reading() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (games, events, holders, handovers)
        }


# --- Games ----------------------------------------------------------------------------------


def test_what_was_written_is_read_back_even_by_another_program(disk: Disk) -> None:
    disk.commit([opened("one"), moved("one", 2, command="my-command")])
    again = Database(disk.database.url)
    found, held = Games(again).load("one")
    again.close()
    assert found == [first(), Event(2, 2, "moved", {"cell": "b1"}, "my-command")]
    assert sorted(held, key=str) == [(BLACK, ANN), (WHITE, BOB)]
    assert create("one", found).black.name == "Ann – “é”"


def test_a_game_that_is_not_there_is_empty(disk: Disk) -> None:
    assert disk.load("none") == ([], [])


def test_the_changes_of_many_games_are_one_transaction(disk: Disk) -> None:
    disk.commit([opened("one"), opened("two"), moved("one", 2), moved("two", 2)])
    with pytest.raises(IntegrityError):
        disk.commit([moved("one", 3), opened("three"), moved("two", 2)])
    assert len(disk.load("one")[0]) == 2
    assert disk.load("three") == ([], [])


def test_a_game_has_each_number_once(disk: Disk) -> None:
    disk.commit([opened("one"), opened("two"), moved("one", 2)])
    disk.commit([moved("two", 2)])
    with pytest.raises(IntegrityError):
        disk.commit([moved("one", 2, at=9)])
    assert disk.load("one")[0][1].at == 2


def test_a_game_has_each_command_once(disk: Disk) -> None:
    disk.commit([opened("one"), opened("two")])
    disk.commit(
        [moved("one", 2, command="again-and-again"), moved("two", 2, command="again-and-again")]
    )
    with pytest.raises(IntegrityError):
        disk.commit([moved("one", 3, command="again-and-again")])
    disk.commit([moved("one", 3), moved("one", 4)])
    assert len(disk.load("one")[0]) == 4


def test_nothing_is_written_for_a_game_that_is_not_there(disk: Disk) -> None:
    with pytest.raises(IntegrityError):
        disk.commit([moved("none", 2)])
    assert count(disk)["events"] == 0


def test_the_games_of_a_holder_are_listed_latest_first(disk: Disk) -> None:
    disk.commit([opened(name, at) for name, at in (("old", 10), ("new", 30), ("mid", 20))])
    disk.commit(
        [Change("far", [first(40)], "playing", listed=False, flag=None, holders=[(BLACK, EVE)])]
    )
    assert disk.games_of(ANN, 10, None) == ["new", "mid", "old"]
    disk.commit([moved("old", 2, at=50)])
    assert disk.games_of(BOB, 10, None) == ["old", "new", "mid"]
    assert disk.games_of(EVE, 10, None) == ["far"]
    assert disk.games_of("f" * 64, 10, None) == []


def test_the_games_of_a_holder_are_listed_page_by_page(disk: Disk) -> None:
    disk.commit([opened(f"game-{at}", at) for at in range(7)])
    seen: list[str] = []
    before = None
    while page := disk.games_of(ANN, 3, before):
        seen += page
        before = int(page[-1].removeprefix("game-"))
    assert seen == [f"game-{at}" for at in reversed(range(7))]


def test_a_holder_of_both_sides_sees_a_game_once(disk: Disk) -> None:
    both = [(BLACK, ANN), (WHITE, ANN)]
    disk.commit([Change("one", [first()], "playing", listed=False, flag=None, holders=both)])
    assert disk.games_of(ANN, 10, None) == ["one"]


def test_only_listed_games_that_wait_are_open(disk: Disk) -> None:
    disk.commit(
        [
            opened("friend", 1, "waiting"),
            opened("old", 2, "waiting", listed=True),
            opened("new", 3, "waiting", listed=True),
            opened("taken", 4, "playing", listed=True),
        ]
    )
    assert disk.open_games(10) == [("new", ""), ("old", "")]
    assert disk.open_games(1) == [("new", "")]


def test_only_games_in_play_have_a_flag_to_watch(disk: Disk) -> None:
    disk.commit(
        [
            opened("on", flag=500),
            opened("off"),
            opened("over", status="over", flag=400),
        ]
    )
    assert disk.flags() == [(500, "on")]


# --- Carrying a seat ------------------------------------------------------------------------


def test_a_token_seats_whoever_spends_it_once(disk: Disk) -> None:
    disk.commit([opened("one")])
    disk.hand_over("t" * 64, "one", BLACK, expires=100)
    assert disk.take_over("t" * 64, EVE, now=99) == ("one", BLACK)
    assert (BLACK, EVE) in disk.load("one")[1]
    assert disk.take_over("t" * 64, "f" * 64, now=99) is None
    assert len(disk.load("one")[1]) == 3
    assert count(disk)["handovers"] == 0


def test_a_token_expires(disk: Disk) -> None:
    disk.commit([opened("one")])
    disk.hand_over("t" * 64, "one", BLACK, expires=100)
    assert disk.take_over("t" * 64, EVE, now=100) is None
    assert (BLACK, EVE) not in disk.load("one")[1]


def test_old_tokens_are_swept_away_by_the_next_one(disk: Disk) -> None:
    disk.commit([opened("one")])
    for token, expires in (("s", 50), ("t", 100), ("u", 200)):
        disk.hand_over(token * 64, "one", BLACK, expires)
    disk.take_over("t" * 64, EVE, now=60)
    assert count(disk)["handovers"] == 1


def test_an_unknown_token_is_worth_nothing(disk: Disk) -> None:
    assert disk.take_over("t" * 64, EVE, now=1) is None


def test_who_sits_there_already_may_spend_the_token_too(disk: Disk) -> None:
    disk.commit([opened("one")])
    disk.hand_over("t" * 64, "one", BLACK, expires=100)
    assert disk.take_over("t" * 64, ANN, now=1) == ("one", BLACK)
    assert len(disk.load("one")[1]) == 2


def test_of_many_who_spend_a_token_at_once_one_is_seated(disk: Disk) -> None:
    disk.commit([opened("one")])
    crowd = 8
    with ThreadPoolExecutor(crowd) as pool:
        for each in range(10):
            token = f"{each:064}"
            disk.hand_over(token, "one", BLACK, expires=100)
            ready = threading.Barrier(crowd)

            def take(holder: int, token: str = token, ready: threading.Barrier = ready) -> bool:
                ready.wait(20)
                return disk.take_over(token, f"{token[-1]}{holder:063}", now=1) is not None

            assert sum(pool.map(take, range(crowd))) == 1


# --- Clearing and copying -------------------------------------------------------------------


def test_old_games_are_cleared_with_all_that_belongs_to_them(disk: Disk) -> None:
    disk.commit(
        [
            opened("old", 10, "aborted"),
            opened("new", 90, "aborted"),
            opened("won", 10, "over"),
        ]
    )
    disk.hand_over("t" * 64, "old", BLACK, expires=10**9)
    assert disk.unchanged_since(50, ["waiting", "aborted"]) == ["old"]
    disk.remove(["old"])
    assert disk.load("old") == ([], [])
    assert count(disk) == {"games": 2, "events": 2, "holders": 4, "handovers": 0}
    assert disk.unchanged_since(50, ["waiting", "aborted"]) == []


def test_a_long_list_of_games_is_cleared(disk: Disk) -> None:
    names = [f"game-{each}" for each in range(1200)]
    disk.commit([Change(name, [first()], "over", listed=False, flag=None) for name in names])
    disk.remove(names[:-1])
    assert count(disk)["games"] == 1


def test_links_that_have_expired_are_cleared_too(disk: Disk) -> None:
    disk.commit([opened("one")])
    disk.hand_over("s" * 64, "one", BLACK, expires=1)
    disk.hand_over("t" * 64, "one", BLACK, expires=10**15)
    disk.remove([], now=100)
    assert count(disk)["handovers"] == 1


# --- Giving a seat up -----------------------------------------------------------------------


def test_whoever_wants_to_be_forgotten_loses_every_seat_and_nobody_else_does(disk: Disk) -> None:
    disk.commit([opened("one"), opened("two")])
    with disk.database.writing() as connection:
        gone = store.let_go(connection, ANN)
    assert sorted(gone) == ["one", "two"]
    assert disk.load("one")[1] == disk.load("two")[1] == [(WHITE, BOB)]
    assert disk.games_of(ANN, 10, None) == []
    with disk.database.writing() as connection:
        assert store.let_go(connection, ANN) == []


def test_a_seat_is_kept_by_one_device_and_its_links_end(disk: Disk) -> None:
    disk.commit([opened("one"), opened("two")])
    for game, token in (("one", "s" * 64), ("one", "t" * 64), ("two", "u" * 64)):
        disk.hand_over(token, game, BLACK, expires=100)
    disk.hand_over("w" * 64, "one", WHITE, expires=100)
    disk.take_over("t" * 64, EVE, now=1)
    disk.take_over("u" * 64, EVE, now=1)
    with disk.database.writing() as connection:
        store.keep_only(connection, "one", BLACK, ANN)
    assert sorted(disk.load("one")[1], key=str) == [(BLACK, ANN), (WHITE, BOB)]
    assert disk.take_over("s" * 64, EVE, now=1) is None
    # Other games, and the other seat, have what they had.
    assert (BLACK, EVE) in disk.load("two")[1]
    assert disk.take_over("w" * 64, EVE, now=1) == ("one", WHITE)


# --- Time -----------------------------------------------------------------------------------


def test_the_latest_change_of_any_game_is_known(disk: Disk) -> None:
    assert disk.latest_change() == 0
    disk.commit([opened("one", 10), opened("two", 30), opened("three", 20)])
    assert disk.latest_change() == 30
    disk.commit([moved("one", 2, at=50)])
    assert disk.latest_change() == 50


def test_only_the_events_after_a_number_are_read(disk: Disk) -> None:
    disk.commit([opened("one"), moved("one", 2), moved("one", 3)])
    found, held = disk.load("one", 2)
    assert [event.number for event in found] == [3]
    assert len(held) == 2
