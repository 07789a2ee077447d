"""Presence: who has a game open, and since when a player has been away."""

import asyncio

import pytest

from kamon import Layout
from kamon.position import Side
from kamon.web.games import presence as module
from kamon.web.games.clocks import Control
from kamon.web.games.presence import Presence
from kamon.web.games.rooms import Seat, create, set_up
from kamon.web.games.tables import QUEUE_LIMIT, Table

BLACK, WHITE = Side.BLACK, Side.WHITE
pytestmark = pytest.mark.anyio
PERSON, COMPUTER, OPEN = Seat("person"), Seat("computer", "", 1), Seat("open")


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def presence(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> Presence:
    # Everybody is told at once here; that many are told once in a while has a test of its own.
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    return Presence(hands)


def table_of(black: Seat = PERSON, white: Seat = PERSON, game: str = "game") -> Table:
    first = set_up(Layout.shuffled(1), Control(), {BLACK: black, WHITE: white}, 1)
    return Table(create(game, [first]), [], [first])


def test_a_side_is_present_while_one_of_its_pages_is_open(presence: Presence) -> None:
    table = table_of()
    assert not presence.present(table, BLACK)
    phone = presence.watch(table, frozenset({BLACK}))
    laptop = presence.watch(table, frozenset({BLACK}))
    presence.leave(table, phone)
    assert presence.present(table, BLACK)
    assert not presence.present(table, WHITE)
    presence.leave(table, laptop)
    assert not presence.present(table, BLACK)


def test_who_only_watches_stands_for_no_side(presence: Presence) -> None:
    table = table_of()
    presence.watch(table, frozenset())
    assert not any(presence.present(table, side) for side in Side)


def test_at_one_screen_both_sides_come_and_go_together(presence: Presence, hands: Hands) -> None:
    table = table_of()
    watcher = presence.watch(table, frozenset(Side))
    assert all(presence.present(table, side) for side in Side)
    hands.now = 5000
    presence.leave(table, watcher)
    assert [presence.absent_since(table, side) for side in Side] == [5000, 5000]


def test_whoever_has_never_come_is_away_since_somebody_first_looked(
    presence: Presence, hands: Hands
) -> None:
    table = table_of()
    assert presence.absent_since(table, WHITE) == 1000
    hands.now = 9000
    assert presence.absent_since(table, WHITE) == 1000
    # Whoever comes and goes is away since they went.
    presence.leave(table, presence.watch(table, frozenset({WHITE})))
    assert presence.absent_since(table, WHITE) == 9000


def test_the_computer_and_a_free_seat_are_never_away(presence: Presence) -> None:
    table = table_of(COMPUTER, OPEN)
    assert [presence.absent_since(table, side) for side in Side] == [None, None]
    assert presence.present(table, BLACK)
    assert not presence.present(table, WHITE)


def test_the_games_are_not_mixed_up(presence: Presence, hands: Hands) -> None:
    one, two = table_of(game="one"), table_of(game="two")
    assert presence.absent_since(one, BLACK) == 1000
    hands.now = 2000
    assert presence.absent_since(two, BLACK) == 2000
    presence.forget("one")
    hands.now = 3000
    assert presence.absent_since(one, BLACK) == 3000
    assert presence.absent_since(two, BLACK) == 2000


@pytest.mark.anyio
async def test_a_watcher_whose_queue_is_full_is_told_once_that_it_is_cut_off(
    presence: Presence,
) -> None:
    table = table_of()
    deaf = presence.watch(table, frozenset({BLACK}))
    keen = presence.watch(table, frozenset())
    for _ in range(2 * QUEUE_LIMIT):
        presence.tell(table, table.room, ())
        while not keen.queue.empty():
            assert keen.queue.get_nowait() is not None
    assert table.watchers == {keen}
    assert [deaf.queue.get_nowait() for _ in range(deaf.queue.qsize())] == [None]
    # Its page says goodbye too, when it notices.
    presence.leave(table, deaf)
    assert presence.absent_since(table, BLACK) == 1000


async def test_where_many_come_and_go_everybody_is_told_once_in_a_while(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.2)
    presence, table = Presence(hands), table_of()
    watcher = presence.watch(table, frozenset())
    for _ in range(50):
        presence.leave(table, presence.watch(table, frozenset()))
    assert watcher.queue.qsize() == 1
    await asyncio.sleep(0.4)
    assert watcher.queue.qsize() == 2
