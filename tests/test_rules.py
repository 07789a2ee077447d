"""One test for each fact of the rules, named for it."""

from random import Random

import pytest

from build import LAYOUT, mask, names, position
from kamon import (
    By,
    IllegalMoveError,
    Layout,
    Link,
    Pair,
    Position,
    PositionError,
    Side,
    Token,
    check,
    legal_cells,
    legal_mask,
    outcome,
    parse_cell,
    parse_layout,
    parse_line,
    perft,
    play,
)
from kamon.geometry import OPENING, cells
from kamon.rules import dangers, replies, winning_cells
from kamon.tokens import TOKENS

START = Position(LAYOUT)


def layout_with_neutral_on(name: str) -> Layout:
    """Move the neutral of the common layout to a cell."""
    tokens = list(LAYOUT.tokens)
    there = parse_cell(name)
    tokens[there], tokens[LAYOUT.neutral] = tokens[LAYOUT.neutral], tokens[there]
    return Layout(tuple(tokens))


# --- Play -----------------------------------------------------------------------------------


def test_black_begins() -> None:
    assert START.turn is Side.BLACK
    assert play(START, parse_cell("b1")).turn is Side.WHITE


def test_black_begins_on_one_of_twelve_border_cells_that_are_no_corners() -> None:
    assert legal_mask(START) == OPENING
    assert names(legal_cells(START)) == "b1 c1 a2 e2 a3 f3 b5 g5 c6 g6 e7 f7"


def test_a_neutral_on_the_border_leaves_eleven_first_moves() -> None:
    start = Position(layout_with_neutral_on("a2"))
    assert names(legal_cells(start)) == "b1 c1 e2 a3 f3 b5 g5 c6 g6 e7 f7"


def test_the_neutral_may_not_be_played_on_the_first_move() -> None:
    start = Position(layout_with_neutral_on("a2"))
    with pytest.raises(IllegalMoveError, match="a2 cannot be played: it is the neutral space"):
        play(start, parse_cell("a2"))


def test_the_neutral_may_not_be_played_later_either() -> None:
    after = play(START, parse_cell("b1"))
    with pytest.raises(IllegalMoveError, match="neutral"):
        play(after, LAYOUT.neutral)


@pytest.mark.parametrize("name", ["a1", "d1", "a4", "g4", "d7", "g7"])
def test_black_may_not_begin_on_a_corner(name: str) -> None:
    with pytest.raises(IllegalMoveError, match="Black begins on an edge space"):
        play(START, parse_cell(name))


@pytest.mark.parametrize("name", ["b2", "d4"])
def test_black_may_not_begin_inside(name: str) -> None:
    with pytest.raises(IllegalMoveError, match="Black begins on an edge space, not inside"):
        play(START, parse_cell(name))


def test_a_move_shares_symbol_or_suit_with_the_token_just_played_on() -> None:
    after = play(START, parse_cell("b1"))  # B1
    expected = [
        cell
        for cell, token in enumerate(LAYOUT.tokens)
        if token and token != Token("B", 1) and (token.symbol == "B" or token.suit == 1)
    ]
    assert legal_cells(after) == expected


def test_only_the_last_token_counts_not_the_ones_before() -> None:
    after = play(play(START, parse_cell("b1")), parse_cell("d2"))  # B1, then D1
    assert legal_mask(after) == LAYOUT.matching[parse_cell("d2")] & ~mask("b1 d2")


def test_a_token_that_shares_nothing_is_refused_with_both_tokens_named() -> None:
    after = play(START, parse_cell("b1"))
    with pytest.raises(IllegalMoveError, match=r"E5 has neither .* of B1 on b1"):
        play(after, parse_cell("a1"))


def test_a_covered_cell_is_refused() -> None:
    after = play(START, parse_cell("b1"))
    with pytest.raises(
        IllegalMoveError, match="b1 cannot be played: there is already a stone on it"
    ):
        play(after, parse_cell("b1"))


@pytest.mark.parametrize("cell", [-1, 37, 1 << 80])
def test_a_cell_off_the_board_is_refused(cell: int) -> None:
    with pytest.raises(IllegalMoveError, match="spaces are numbered from 0 to 36"):
        play(START, cell)


def test_corners_may_be_played_after_the_first_move() -> None:
    after = play(START, parse_cell("g5"))  # D5 matches E5 on the corner a1
    assert play(after, parse_cell("a1")).white == mask("a1")


def test_positions_are_never_changed() -> None:
    play(START, parse_cell("b1"))
    assert Position(LAYOUT) == START
    with pytest.raises(AttributeError):
        START.black = 1  # type: ignore[misc]


# --- Connection -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "pair"),
    [
        ("b1 b2 b3 b4 c5 d6 e7", Pair.GREEN),
        ("e2 d2 c2 b2 b3 b4 b5", Pair.BLUE),
        ("g5 f5 e5 d5 c5 b4 a3", Pair.YELLOW),
    ],
)
def test_a_chain_between_opposite_edges_wins(chain: str, pair: Pair) -> None:
    layout = layout_with_neutral_on("g4")
    for last in chain.split():
        result = outcome(position(chain, last=last, layout=layout))
        assert result is not None
        assert (result.winner, result.by) == (Side.BLACK, (By.CONNECTION,))
        assert [link.pair for link in result.links] == [pair]


def test_white_may_use_any_pair_too() -> None:
    chain = "b1 b2 b3 b4 c5 c6 d7"
    layout = layout_with_neutral_on("g4")
    result = outcome(position("", chain, last="b4", layout=layout))
    assert result is not None
    assert result.winner is Side.WHITE


def test_a_corner_counts_for_both_of_its_edges() -> None:
    # From the corner d7, which is on the bottom and on the lower left edge, to the top: b1 is on
    # one edge only, so this joins green; and the same corner joins blue from e2.
    layout = layout_with_neutral_on("g4")
    green = outcome(position("b1 b2 b3 b4 c5 c6 d7", last="b4", layout=layout))
    blue = outcome(position("e2 d2 d3 d4 d5 d6 d7", last="d4", layout=layout))
    assert green is not None
    assert blue is not None
    assert [link.pair for link in green.links] == [Pair.GREEN]
    assert [link.pair for link in blue.links] == [Pair.BLUE]


def test_neighbouring_edges_are_no_connection() -> None:
    assert outcome(position("a2 b2 b1", last="b2")) is None


def test_a_chain_with_a_gap_is_no_connection() -> None:
    layout = layout_with_neutral_on("g4")
    assert outcome(position("b1 b2 b3 c5 d6 e7", last="b3", layout=layout)) is None


def test_the_other_sides_stones_do_not_join_a_chain() -> None:
    layout = layout_with_neutral_on("g4")
    assert outcome(position("b1 b2 b3 c5 d6 e7", "b4", last="b3", layout=layout)) is None


def test_a_connection_of_several_pairs_reports_them_all() -> None:
    # The row of d4 joins a4 (lower left, upper left) and g4 (upper right, lower right).
    layout = layout_with_neutral_on("d7")
    result = outcome(position("a4 b4 c4 d4 e4 f4 g4", last="d4", layout=layout))
    assert result is not None
    chain = tuple(map(parse_cell, ["g4", "f4", "e4", "d4", "c4", "b4", "a4"]))
    assert result.links == (Link(Pair.BLUE, chain), Link(Pair.YELLOW, chain))


def test_a_shortest_chain_is_shown_and_ties_go_to_the_lowest_cells() -> None:
    layout = layout_with_neutral_on("g4")
    # Two ways around from b3 to c5, one by b4 and one by c4, equally long: b4 comes earlier.
    result = outcome(position("b1 b2 b3 b4 c4 c5 d6 e7 f5 f6", last="b3", layout=layout))
    assert result is not None
    assert names(result.links[0].chain) == "b1 b2 b3 b4 c5 d6 e7"


# --- Loop -----------------------------------------------------------------------------------

RING = "d3 e4 e5 d5 c4 c3"  # around d4


@pytest.mark.parametrize("last", RING.split())
def test_a_ring_around_a_free_cell_wins(last: str) -> None:
    result = outcome(position(RING, last=last))
    assert result is not None
    assert (result.winner, result.by) == (Side.BLACK, (By.LOOP,))
    assert set(result.ring) == {parse_cell(name) for name in RING.split()}
    assert result.ring[0] == parse_cell(last)
    assert names(result.enclosed) == "d4"


def test_a_ring_around_an_opponents_stone_wins() -> None:
    result = outcome(position(RING, "d4", last="d3"))
    assert result is not None
    assert result.by == (By.LOOP,)


def test_a_ring_around_the_neutral_alone_wins() -> None:
    result = outcome(position(RING, last="d3", layout=layout_with_neutral_on("d4")))
    assert result is not None
    assert result.by == (By.LOOP,)


def test_a_filled_ring_is_no_loop() -> None:
    assert outcome(position(f"{RING} d4", last="d3")) is None


def test_an_open_ring_is_no_loop() -> None:
    assert outcome(position("d3 e4 e5 d5 c4", last="d3")) is None


def test_the_border_is_no_part_of_a_loop() -> None:
    # b1 c2 d2 d1 wall c1 off against the top edge.
    assert outcome(position("b1 c2 d2 d1", last="d2")) is None


def test_a_ring_may_lean_on_the_border() -> None:
    # b2 is inside; a1 b1 a2 lie on the border and are stones of the ring.
    result = outcome(position("a1 b1 c2 c3 b3 a2", last="c3"))
    assert result is not None
    assert result.by == (By.LOOP,)
    assert names(result.enclosed) == "b2"


def test_a_loop_may_hold_own_stones_beside_a_cell_that_is_not_own() -> None:
    # Twelve stones around seven cells, the middle one Black's too.
    ring = "c2 d2 e3 f4 f5 f6 e6 d6 c5 b4 b3 b2"
    layout = layout_with_neutral_on("g7")
    result = outcome(position(f"{ring} d4", last="c2", layout=layout))
    assert result is not None
    assert By.LOOP in result.by
    assert names(result.enclosed) == "c3 d3 c4 d4 e4 d5 e5"


def test_the_smallest_ring_is_shown() -> None:
    # d3 closes a ring of six around d4, and with e3 f4 f5 a longer one around e4 as well.
    result = outcome(position("d3 c3 c4 d5 e5 e4 e3 f4 f5", last="d3"))
    assert result is not None
    assert len(result.ring) == 6
    assert names(result.enclosed) == "d4"


def test_two_regions_closed_at_once_show_one_ring() -> None:
    # d4 closes a ring around c3 and one around e5, both of six stones.
    stones = "b2 c2 d3 d4 c4 b3 e4 f5 f6 e6 d5"
    result = outcome(position(stones, last="d4", layout=layout_with_neutral_on("g7")))
    assert result is not None
    assert (len(result.ring), names(result.enclosed)) == (6, "c3")


def test_a_ring_around_two_cells_has_eight_stones() -> None:
    wide = outcome(position("c3 d3 e3 f4 f5 e5 d5 c4", last="d3"))
    assert wide is not None
    assert (len(wide.ring), names(wide.enclosed)) == (8, "d4 e4")


def test_connection_and_loop_at_once_are_both_reported_connection_first() -> None:
    layout = layout_with_neutral_on("g4")
    chain = "b1 b2 b3 b4 c5 d6 e7"
    # b4 joins the chain and closes a ring around c4 with b3 c3 d4 d5 c5.
    result = outcome(position(f"{chain} c3 d4 d5", last="b4", layout=layout))
    assert result is not None
    assert result.by == (By.CONNECTION, By.LOOP)
    assert names(result.enclosed) == "c4"


# --- Full board and block -------------------------------------------------------------------


def test_a_full_board_without_a_win_is_a_draw() -> None:
    game = parse_line(
        "D5D4A2E6/B1D6F1B5D1/E4A1A4B6--F5/F3F6B4C3E2F4A3/D2E5F2B2C4C2/E3B3E1C5D3/A5A6C6C1 "
        "e2 a1 b5 g6 g4 d6 e5 d2 f6 f3 b4 a4 d4 g7 f7 g5 f5 c3 e7 c1 d5 f4 c4 d3 d1 b2 b1 a3 "
        "e6 c6 e4 c5 d7 b3 c2 a2"
    )
    assert game is not None
    assert game.position.free == 0
    result = game.outcome
    assert result is not None
    assert (result.winner, result.by) == (None, (By.FULL,))
    assert legal_mask(game.position) == 0


def test_a_side_with_nothing_to_play_has_lost() -> None:
    # Black has played B1 on b1; every other token with B or 1 is covered, and White is stuck.
    tokens = [cell for cell, token in enumerate(LAYOUT.tokens) if token]
    covered = [cell for cell in tokens if LAYOUT.matching[parse_cell("b1")] >> cell & 1]
    black = mask("b1") | sum(1 << cell for cell in covered[:5])
    white = sum(1 << cell for cell in covered[5:])
    blocked = Position(LAYOUT, black, white, parse_cell("b1"))
    result = outcome(blocked)
    assert result is not None
    assert (result.winner, result.by) == (Side.BLACK, (By.BLOCK,))
    assert result.needed == Token("B", 1)
    with pytest.raises(IllegalMoveError, match="the game is over"):
        play(blocked, next(cells(blocked.free)))


def test_a_win_that_also_blocks_is_no_block() -> None:
    chain = "b1 b2 b3 b4 c5 d6 e7"
    layout = layout_with_neutral_on("g4")
    result = outcome(position(chain, last="b1", layout=layout))
    assert result is not None
    assert By.BLOCK not in result.by
    assert result.needed is None


def test_nothing_is_legal_after_a_win() -> None:
    won = position(RING, last="d3")
    assert legal_mask(won) == 0
    with pytest.raises(IllegalMoveError, match="the game is over"):
        play(won, next(cells(won.free)))


def test_the_empty_board_has_no_outcome() -> None:
    assert outcome(START) is None


def test_a_finished_game_has_no_sequences_but_the_empty_one() -> None:
    won = position(RING, last="d3")
    assert [perft(won, depth) for depth in range(3)] == [1, 0, 0]


# --- Positions from outside -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("black", "white", "last", "defect"),
    [
        ("b1 c1", "", "b1", "2 black and 0 white stones"),
        ("", "b1", "b1", "0 black and 1 white stones"),
        ("d6", "", "d6", "there is a stone on d6, the neutral space"),
        ("b1", "", "c1", "the last move is c1, but black, who moved last, has no stone there"),
        ("b1", "d2", "b1", "the last move is b1, but white, who moved last, has no stone there"),
        ("b1", "", None, "there are stones on the board, but the last move is not given"),
        ("", "", "b1", "white, who moved last, has no stone there"),
        ("b1 c1", "b1", "c1", "a black and a white stone are on the same space"),
        (RING, "a1 d1 a4 g4 d7 g7", "a1", "black has already won, but did not move last"),
        (f"{RING} a1", "d1 a4 g4 d7 g7 b5", "a1", "already won before the last stone, a1"),
        (
            "a4 b4 c4 d4 e4 f4 g4 a3",
            "a1 c1 e2 g6 c6 g7 d7",
            "a3",
            "already won before the last stone, a3",
        ),
    ],
)
def test_impossible_positions_are_refused(
    black: str, white: str, last: str | None, defect: str
) -> None:
    wrong = Position(LAYOUT, mask(black), mask(white), parse_cell(last) if last else None)
    with pytest.raises(PositionError, match=defect):
        check(wrong)


def test_stones_and_last_cells_off_the_board_are_refused() -> None:
    with pytest.raises(PositionError, match="a stone is off the board"):
        check(Position(LAYOUT, 1 << 37, 0, 37))
    for last in (-1, 99):
        with pytest.raises(PositionError, match=f"the last move is {last}, which is not a space"):
            check(Position(LAYOUT, 1, 0, last))


def test_possible_positions_pass() -> None:
    for fine in (START, position(RING, last="d3"), position(f"{RING} d4", last="d4")):
        assert check(fine) is fine


def test_a_win_of_the_last_stone_passes() -> None:
    layout = layout_with_neutral_on("g4")
    won = position("b1 b2 b3 b4 c5 d6 e7", last="b4", layout=layout)
    assert check(won) is won


# --- Counting -------------------------------------------------------------------------------


def test_the_number_of_openings_follows_from_the_layout_alone() -> None:
    # 12 first moves, then 10 matching tokens, and one fewer for each that is covered.
    layout = parse_layout(
        "D5B5E5C4/F2A4C5E3C1/E1E4D4E2D1D2/F3B6B4A6D3A2B2/F5C2F6A3A1D6/F4E6B1C6--/F1C3B3A5"
    )
    assert [perft(Position(layout), depth) for depth in range(4)] == [1, 11, 110, 990]
    assert len(TOKENS) == 36


# --- What a move allows, and what it risks --------------------------------------------------


@pytest.mark.no_cover
def test_replies_and_dangers_are_what_playing_shows() -> None:
    rng = Random(4)
    seen = {"winning": 0, "losing": 0}
    for seed in range(250):
        current = Position(Layout.shuffled(seed))
        while legal := legal_cells(current):
            allowed = replies(current)
            assert list(allowed) == legal
            found = dangers(current)
            threats = set()
            for cell in legal:
                after = current.after(cell)
                assert allowed[cell] == legal_mask(after)
                fatal = {reply for reply in legal_cells(after) if has_won(after.after(reply))}
                threats |= fatal
                assert (cell in found.losing) == bool(fatal)
                assert (cell in found.winning) == has_won(after)
            assert set(found.threats) == threats
            seen["winning"] += bool(found.winning)
            seen["losing"] += bool(found.losing)
            current = current.after(rng.choice(legal))
    assert all(seen.values())


def has_won(current: Position) -> bool:
    result = outcome(current)
    return result is not None and result.winner is not None


def test_winning_cells_are_where_a_stone_would_win_whether_or_not_it_is_allowed() -> None:
    there = position("d3 e4 e5 d5 c4", last="d3")
    assert names(winning_cells(there, Side.BLACK)) == "c3"
    assert winning_cells(there, Side.WHITE) == []


def test_the_name_of_a_cell_is_told_apart_from_its_number() -> None:
    with pytest.raises(TypeError, match=r"a cell is a number, not 'e7': use parse_cell\('e7'\)"):
        play(Position(Layout.shuffled(7)), "e7")  # type: ignore[arg-type]
