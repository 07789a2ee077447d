"""What the page is told of a board and of a room."""

from itertools import accumulate

from kamon import Layout
from kamon.notation import parse_cell
from kamon.position import Position, Side
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import Score, Seat, create, set_up
from kamon.web.games.views import Company, board_view, room_view
from web_server import CHAIN, CHAIN_SEED


def positions() -> list[Position]:
    start = Position(Layout.shuffled(int(CHAIN_SEED)))
    return list(accumulate(map(parse_cell, CHAIN), Position.after, initial=start))


def test_a_board_tells_the_stones_that_the_last_one_is_connected_with() -> None:
    chains = [board_view(position)["chain"] for position in positions()]
    assert chains[0] == []
    assert chains[1] == ["g6"]
    # f6 lies between e6 and g6.
    assert chains[9] == ["e6", "f6", "g6"]
    # The last stone wins, and its chain holds the connection and whatever else touches it.
    assert set(chains[-1]) >= {"g6", "f6", "e6", "d5", "c5", "b4", "a3"}
    assert not set(chains[-1]) & set(CHAIN[1::2])


def test_a_rematch_tells_the_score_and_a_first_game_none() -> None:
    seats = {side: Seat("person") for side in Side}
    layout = Layout.shuffled(1)
    for score, told in ((None, None), (Score(2, 1), {"black": 2, "white": 1, "draws": 0})):
        room = create("0123456789ab", [set_up(layout, Control(), seats, 0, score=score)])
        assert room_view(room, frozenset(), Company(), 0)["score"] == told
