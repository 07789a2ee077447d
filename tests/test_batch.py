"""Batches against the plain rules and the solver, which are their judges."""

import copy
import math
import pickle
import signal
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kamon import (
    By,
    IllegalMoveError,
    KamonError,
    Layout,
    Position,
    Side,
    cells,
    check,
    legal_cells,
    legal_mask,
    outcome,
    parse_line,
)
from kamon.engine.limits import MIB, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import VALUE_NAMES
from kamon.env import planes
from kamon.env.batch import (
    BLACK,
    BLOCK,
    CONNECTION,
    DRAW,
    FULL,
    GOES_ON,
    LOOP,
    UNPROVEN,
    WHITE,
    Batch,
    Layouts,
    as_cells,
    as_masks,
    concatenate,
    warm_up,
)
from kamon.geometry import ALL, CELLS

DATA = Path(__file__).parent / "data"
WINNERS = {Side.BLACK: BLACK, Side.WHITE: WHITE, None: DRAW}
FLAGS = {By.CONNECTION: CONNECTION, By.LOOP: LOOP, By.FULL: FULL, By.BLOCK: BLOCK}


def later(seeds: range, plies: int, seed: int = 1) -> Batch:
    """Play random moves on some boards, and keep the games that go on."""
    batch, rng = Batch.shuffled(list(seeds)), np.random.default_rng(seed)
    for _ in range(plies):
        batch = batch.play_random(rng)
    return batch[~batch.over]


def lines(name: str) -> list[tuple[Position, str]]:
    found = []
    for line in (DATA / name).read_text().splitlines():
        game = parse_line(line)
        assert game is not None
        found.append((game.position, line.partition(";")[2].strip()))
    return found


def assert_as_the_rules_say(batch: Batch, number: int) -> None:
    position = batch.position(number)
    end = outcome(position)
    assert batch.legal[number] == legal_mask(position), position
    assert batch.winner[number] == (WINNERS[end.winner] if end else GOES_ON), position
    assert batch.by[number] == sum(FLAGS[by] for by in (end.by if end else ())), position
    assert batch.ply[number] == position.ply
    assert batch.turn[number] == (position.turn is Side.WHITE)


# --- Layouts


def test_layouts_of_seeds_are_those_of_the_library() -> None:
    seeds = [*range(50), 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    layouts = Layouts.shuffled(np.array(seeds, dtype=np.uint64))
    assert [layouts[at] for at in range(len(seeds))] == list(map(Layout.shuffled, seeds))


def test_layouts_are_joined_and_given_back() -> None:
    several = [Layout.shuffled(seed) for seed in (3, 1, 3)]
    assert [Layouts.of(several)[at] for at in range(3)] == several


@pytest.mark.parametrize(
    ("seeds", "said"),
    [([7, -1], "'-1'"), ([1.5], "'1.5'"), (["1"], "'1'"), ([True], "not of the type bool")],
)
def test_a_seed_is_a_whole_number(seeds: list[object], said: str) -> None:
    with pytest.raises(KamonError, match=said):
        Layouts.shuffled(np.array(seeds))


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "x"])
def test_the_seed_of_random_games_is_a_whole_number(seed: int) -> None:
    with pytest.raises(KamonError, match=str(seed)):
        Batch.shuffled([1]).playouts(1, seed=seed)


def test_tokens_that_are_no_layout_are_refused() -> None:
    tokens = Layouts.shuffled([1, 2]).tokens.copy()
    tokens[1, 0] = tokens[1, 1]
    with pytest.raises(KamonError, match="layout 1: expected -1 and each of 0 to 35 once"):
        Layouts(tokens)
    with pytest.raises(ValueError, match="the shape"):
        Layouts(tokens[:, :36])


# --- Rules


@pytest.mark.no_cover
def test_batches_and_rules_part_in_no_game() -> None:
    batch, rng = Batch.shuffled(range(1000)), np.random.default_rng(37)
    while not batch.over.all():
        for number in range(0, 1000, 20):
            assert_as_the_rules_say(batch, number)
        batch = batch.play_random(rng)
    for number in range(0, 1000, 3):
        assert_as_the_rules_say(batch, number)


def test_games_end_as_the_data_say() -> None:
    positions = [position for position, _ in lines("games.txt")]
    batch = Batch.of(positions)
    for number, position in enumerate(positions):
        assert batch.position(number) == position
        assert_as_the_rules_say(batch, number)
    assert set(np.unique(batch.by)) >= {CONNECTION, LOOP, CONNECTION | LOOP, FULL, BLOCK}


def test_random_cells_are_legal_and_all_of_them_occur() -> None:
    batch = Batch.start(Layout.shuffled(3), 3000)
    chosen = batch.random_cells(np.random.default_rng(2))
    counts = Counter(chosen.tolist())
    assert set(counts) == set(legal_cells(batch.position(0)))
    # Five standard deviations of 3,000 choices among twelve.
    assert all(abs(count - 250) < 76 for count in counts.values())


def test_the_same_generator_gives_the_same_games() -> None:
    one, same, other = (later(range(50), 12, seed) for seed in (5, 5, 6))
    assert (one.black == same.black).all()
    assert len(one) != len(other) or (one.black != other.black).any()


def test_what_is_over_stays_as_it_is() -> None:
    batch, rng = Batch.shuffled(range(20)), np.random.default_rng(1)
    while not batch.over.any():
        batch = batch.play_random(rng)
    done = int(batch.over.argmax())
    moves = batch.random_cells(rng)
    assert moves[done] == -1
    moves[done] = 99
    after = batch.play(moves)
    assert after.position(done) == batch.position(done)
    assert (after.winner[done], after.by[done]) == (batch.winner[done], batch.by[done])
    assert after.legal[done] == 0
    assert not after.legal_mask()[done].any()
    assert (after.ply - batch.ply == ~batch.over).all()


def test_rewards_are_for_black_and_for_white() -> None:
    ends = [position for position, _ in lines("games.txt")]
    batch = Batch.of([*ends, Position(Layout.shuffled(1))])
    expected = {BLACK: [1, -1], WHITE: [-1, 1], DRAW: [0, 0], GOES_ON: [0, 0]}
    assert batch.rewards.tolist() == [expected[int(winner)] for winner in batch.winner]
    assert set(batch.winner) == set(expected)


def test_a_game_that_is_over_begins_again_and_others_go_on() -> None:
    batch, rng = Batch.shuffled(range(30)), np.random.default_rng(1)
    for _ in range(20):
        batch = batch.play_random(rng)
    again = batch.restart()
    for number in range(30):
        start = Position(Layout.shuffled(number))
        assert again.position(number) == (start if batch.over[number] else batch.position(number))
        assert_as_the_rules_say(again, number)


def test_a_batch_never_changes() -> None:
    batch = Batch.shuffled(range(3))
    before = batch.black.copy()
    batch.play_random(np.random.default_rng(1))
    assert (batch.black == before).all()
    for name in ("layout_of", "black", "white", "last", "legal", "winner", "by"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(batch, name)[0] = 0


def test_arrays_that_were_given_stay_free_to_change() -> None:
    layouts, empty = Layouts.shuffled([1]), np.zeros(1, dtype=np.uint64)
    last, layout_of = np.array([-1], dtype=np.int8), np.zeros(1, dtype=np.int32)
    batch = Batch(layouts, layout_of, empty, empty, last)
    empty[0] = 1
    assert batch.black[0] == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])  # noqa: S301 - our own
def test_a_copy_is_as_good_and_as_frozen(copied: Callable[[Batch], Batch]) -> None:
    batch = later(range(20), 12)
    again = copied(batch)
    assert [again.position(at) for at in range(len(again))] == [
        batch.position(at) for at in range(len(batch))
    ]
    assert (again.playouts(5, 1) == batch.playouts(5, 1)).all()
    for array in (again.black, again.legal, again.layouts.tokens, again.layouts.groups):
        assert not array.flags.writeable


def test_batches_can_be_compiled_ahead() -> None:
    warm_up()


# --- Selecting and joining


def test_rows_are_selected_as_numpy_selects_them() -> None:
    batch = later(range(40), 8)
    wanted = [batch.position(number) for number in range(len(batch))]

    def positions(selected: Batch) -> list[Position]:
        return [selected.position(number) for number in range(len(selected))]

    assert positions(batch[2:9:3]) == wanted[2:9:3]
    assert positions(batch[[4, 4, -1]]) == [wanted[4], wanted[4], wanted[-1]]
    assert positions(batch[batch.last > 18]) == [
        each for each in wanted if each.last is not None and each.last > 18
    ]
    assert positions(batch[[]]) == []
    with pytest.raises(ValueError, match="a single one"):
        batch[3]


def test_batches_are_joined_in_order() -> None:
    parts = [later(range(at, at + 10), at) for at in (0, 6, 12)]
    joined = concatenate(parts)
    expected = [part.position(at) for part in parts for at in range(len(part))]
    assert [joined.position(at) for at in range(len(joined))] == expected
    assert (joined.legal == np.concatenate([part.legal for part in parts])).all()
    with pytest.raises(ValueError, match="one batch or more"):
        concatenate([])


def test_games_share_layouts_evenly() -> None:
    batch = Batch.start(Layouts.shuffled([1, 2, 3]), 8)
    assert batch.layout_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert len(Batch.start(Layout.shuffled(1))) == 1
    with pytest.raises(ValueError, match="no 4 games on 0 layouts"):
        Batch.start(Layouts.shuffled([]), 4)


def test_an_empty_batch_is_a_batch() -> None:
    for empty in (Batch.of([]), Batch.shuffled([]), Batch.shuffled([1])[[]]):
        rng = np.random.default_rng(1)
        assert len(empty) == len(empty.play_random(rng).restart()) == 0
        assert len(empty.play([])) == 0
        assert empty.legal_mask().shape == (0, 37)
        assert empty.observations().shape == (0, 7, 7, 17)
        assert empty.playouts(3, 1).shape == (0, 3)
        assert empty.values().shape == (0,)
        assert empty.move_values().shape == (0, 37)
        assert empty.rewards.shape == (0, 2)


def test_masks_become_rows_of_cells_and_masks_again() -> None:
    masks = np.array([0, 1, ALL, 0b1011], dtype=np.uint64)
    rows = as_cells(masks)
    assert rows.dtype == np.bool_
    assert [np.flatnonzero(row).tolist() for row in rows] == [list(cells(int(m))) for m in masks]
    assert (as_masks(rows) == masks).all()
    for wrong in (np.zeros(37), np.zeros((2, 36))):
        with pytest.raises(ValueError, match="expected rows of 37"):
            as_masks(wrong)


# --- What is refused


def test_an_illegal_move_is_refused_with_its_place_and_plays_nowhere() -> None:
    batch = Batch.start(Layout.shuffled(7), 3)
    legal = legal_cells(batch.position(0))[0]
    with pytest.raises(IllegalMoveError, match="position 1: d4 cannot be played"):
        batch.play([legal, CELLS.index(18), 18])
    with pytest.raises(IllegalMoveError, match=r"position 2: .*37"):
        batch.play([legal, legal, 37])
    with pytest.raises(IllegalMoveError, match=r"position 0: .*-1"):
        batch.play([-1, legal, legal])


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ([1, 2], "expected 3 cells"),
        ([[1, 2, 3]], "expected 3 cells"),
        (1, "expected 3 cells"),
        ([1.0, 2.0, 3.0], "expected whole numbers, not float64"),
        ([True, False, True], "expected whole numbers, not bool"),
        (np.array([2**63] * 3, dtype=np.uint64), "do not fit into int64"),
    ],
)
def test_cells_of_another_shape_or_kind_are_refused(chosen: object, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        Batch.start(Layout.shuffled(7), 3).play(chosen)  # type: ignore[arg-type]


def test_any_kind_of_whole_numbers_will_do() -> None:
    batch = Batch.start(Layout.shuffled(7), 2)
    cell = legal_cells(batch.position(0))[0]
    for kind in (np.int8, np.uint8, np.int32, np.uint64):
        assert batch.play(np.array([cell, cell], dtype=kind)).last.tolist() == [cell, cell]
    strided = np.array([cell, 0, cell, 0])[::2]
    assert batch.play(strided).last.tolist() == [cell, cell]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"black": [0, 1, 0]}, "position 1: .*the last move is not given"),
        ({"last": [-1, 3, -1]}, "position 1: not a position"),
        ({"last": [-1, -1, 37]}, "position 2"),
        ({"last": [-1, -1, -2]}, "position 2"),
        ({"black": [0, 0, 1 << 40], "last": [-1, -1, 3]}, "position 2"),
        ({"white": [1, 0, 0], "last": [0, -1, -1]}, "position 0: not a position"),
        ({"black": [3, 0, 0], "white": [1, 0, 0], "last": [1, -1, -1]}, "position 0"),
        ({"layout_of": [0, 1, 0]}, "layout_of names a layout"),
        ({"layout_of": [0, 0]}, "has the shape"),
        ({"black": [[0, 0, 0]]}, "has the shape"),
        ({"black": [0.5, 0, 0]}, "whole numbers"),
        ({"last": [-1, -1, 300]}, "do not fit into int8"),
    ],
)
def test_arrays_that_no_game_can_show_are_refused(changed: dict[str, list[int]], said: str) -> None:
    arrays = {"layout_of": [0] * 3, "black": [0] * 3, "white": [0] * 3, "last": [-1] * 3} | changed
    given = {name: np.array(array) for name, array in arrays.items()}
    with pytest.raises((ValueError, TypeError), match=said):
        Batch(Layouts.shuffled([7]), **given)


def test_what_the_rules_refuse_is_refused_and_nothing_else() -> None:
    batch, rng = later(range(900), 24), Random(3)
    refused = 0
    for number in range(len(batch)):
        position = batch.position(number)
        # Move a stone to anywhere, so that some have won long ago, and some are fine.
        stones = list(cells(position.white))
        taken = rng.choice([cell for cell in stones if cell != position.last])
        put = rng.choice(list(cells(position.free)))
        white = position.white & ~(1 << taken) | 1 << put
        changed = Position(position.layout, position.black, white, position.last)
        accepted = [is_accepted(check, changed), is_accepted(Batch.of, [changed])]
        assert accepted[0] == accepted[1], changed
        refused += not accepted[0]
    assert 0 < refused < len(batch)


def is_accepted(judge: Callable[[Any], object], given: object) -> bool:
    try:
        judge(given)
    except KamonError:
        return False
    return True


# --- Observations


def test_a_batch_sees_what_a_single_position_shows() -> None:
    batch = concatenate([later(range(20), plies) for plies in (0, 1, 9, 14)])
    seen = batch.observations()
    assert seen.dtype == np.int8
    for number in range(len(batch)):
        assert (seen[number] == planes.observe(batch.position(number))).all()


def test_planes_show_stones_tokens_and_the_last_cell() -> None:
    position = Position(Layout.shuffled(7)).after(34).after(26)
    shown = dict(zip(planes.PLANES, np.moveaxis(planes.observe(position), -1, 0), strict=True))
    assert shown["stones of the side to move"].nonzero() == ([6], [4])
    assert shown["stones of the other side"].nonzero() == ([4], [5])
    assert shown["last cell"].nonzero() == ([4], [5])
    assert shown["Black is to move"].sum() == shown["cells"].sum() == 37
    # e7 is D5 on this board.
    assert shown["symbol D"][6, 4] == shown["suit 5"][6, 4] == 1
    for kind in ("symbol", "suit"):
        named = sum(plane for name, plane in shown.items() if name.startswith(kind))
        assert isinstance(named, np.ndarray)
        assert named.sum() == 36
        assert named.max() == 1
    other = planes.observe(position, Side.WHITE)
    assert (other[..., 0] == shown["stones of the other side"]).all()
    assert (other[..., 3:] == planes.observe(position)[..., 3:]).all()


# --- Random games


@cache
def chances(position: Position) -> tuple[float, float, float]:
    """Work out how often random games end in each way, by following all of them."""
    end = outcome(position)
    if end is not None:
        won = WINNERS[end.winner]
        return (float(won == 0), float(won == 1), float(won == 2))
    legal = legal_cells(position)
    parts = [chances(position.after(cell)) for cell in legal]
    black, white, draw = (sum(column) / len(legal) for column in zip(*parts, strict=True))
    return black, white, draw


@pytest.mark.no_cover
def test_playouts_end_as_often_as_all_random_games_together() -> None:
    batch = concatenate([later(range(1200), plies)[:40] for plies in (26, 28, 30)])
    games = 20_000
    tally = batch.playouts(games, 11)
    assert (tally.sum(axis=1) == games).all()
    for number in range(len(batch)):
        for share, chance in zip(
            tally[number] / games, chances(batch.position(number)), strict=True
        ):
            # Five standard deviations of games that are independent.
            assert abs(share - chance) <= 5 * math.sqrt(chance * (1 - chance) / games) + 1e-9


def test_playouts_from_the_start_end_as_random_games_do() -> None:
    batch, rng = Batch.start(Layout.shuffled(3), 40_000), np.random.default_rng(5)
    tally = Batch.start(Layout.shuffled(3)).playouts(40_000, 5)[0] / 40_000
    while not batch.over.all():
        batch = batch.play_random(rng)
    for winner in (BLACK, WHITE, DRAW):
        assert tally[winner] == pytest.approx((batch.winner == winner).mean(), abs=0.02)


def test_equal_seeds_give_equal_playouts() -> None:
    batch = later(range(60), 10)
    one, same, other = (batch.playouts(50, seed).tolist() for seed in (1, 1, 2))
    assert one == same != other
    assert batch.playouts(0, 1).sum() == 0
    with pytest.raises(ValueError, match="0 or more"):
        batch.playouts(-1, 1)


def test_playouts_of_what_is_over_count_as_it_ended() -> None:
    ends = [position for position, _ in lines("games.txt")][:30]
    batch = Batch.of([*ends, Position(Layout.shuffled(1)), *ends])
    tally = batch.playouts(7, 1)
    assert (tally.sum(axis=1) == 7).all()
    assert (tally[np.arange(len(batch)), batch.winner][batch.over] == 7).all()


# --- Exact values


@pytest.mark.parametrize("name", ["ply20.txt", "ply16.txt"])
def test_values_are_those_of_an_independent_solver(name: str) -> None:
    solved = lines(name)
    values = Batch.of([position for position, _ in solved]).values(memory=8 * MIB)
    assert [VALUE_NAMES[int(value)] for value in values] == [value for _, value in solved]


@pytest.mark.no_cover
def test_values_of_moves_are_those_of_the_solver() -> None:
    batch = later(range(100), 17)[:25]
    values = batch.move_values(memory=8 * MIB)
    for number in range(len(batch)):
        position = batch.position(number)
        expected = Solver(position.layout, Limits(memory=MIB)).values(position)
        for cell in CELLS:
            assert values[number, cell] == expected.get(cell, UNPROVEN)
    best = np.where(values == UNPROVEN, -2, values).max(axis=1)
    assert (best == batch.values(memory=8 * MIB)).all()


def test_values_at_the_end_are_for_the_side_to_move() -> None:
    batch = Batch.of([position for position, _ in lines("games.txt")])
    assert (batch.values() == np.where(batch.winner == DRAW, 0, -1)).all()


def test_draws_are_found() -> None:
    batch = later(range(4000), 30)
    values = batch.values(memory=MIB)
    drawn = np.flatnonzero(values == 0)
    assert len(drawn) > 3
    for number in drawn[:20]:
        position = batch.position(number)
        assert Solver(position.layout, Limits(memory=MIB)).value(position) == 0


def test_a_limit_leaves_values_unproven_and_never_wrong() -> None:
    batch = later(range(60), 15)
    few, all_of_them = batch.values(nodes=100, memory=MIB), batch.values(memory=8 * MIB)
    assert (few == UNPROVEN).any()
    proven = few != UNPROVEN
    assert proven.any()
    assert (few[proven] == all_of_them[proven]).all()
    with pytest.raises(ValueError, match="node limit"):
        batch.values(nodes=0)


def test_a_table_that_grows_loses_nothing() -> None:
    """The smallest table holds 4,096 entries, which ply 11 needs many times over."""
    batch = later(range(20), 11)[:4]
    expected = [
        Solver(batch.position(number).layout, Limits(memory=8 * MIB)).value(batch.position(number))
        for number in range(len(batch))
    ]
    assert batch.values(memory=8 * MIB).tolist() == expected


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt: whoever starts the tests in the background may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_search() -> None:
    batch = Batch.shuffled(range(3))
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        batch.values(memory=8 * MIB)
    assert time.monotonic() - began < 30


def test_threads_do_not_disturb_each_other() -> None:
    batch = later(range(300), 18)
    expected = batch.values(memory=MIB), batch.playouts(20, 3)
    found: list[bool] = []

    def work() -> None:
        values, tally = batch.values(memory=MIB), batch.playouts(20, 3)
        found.append(bool((values == expected[0]).all() and (tally == expected[1]).all()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_a_hundred_thousand_positions_need_little_memory() -> None:
    tracemalloc.start()
    try:
        batch = Batch.shuffled(range(100_000))
        held, _ = tracemalloc.get_traced_memory()
        rng = np.random.default_rng(1)
        for _ in range(5):
            batch = batch.play_random(rng)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 37 + 96 bytes for each layout, 31 for each position.
    assert held < 20e6
    assert most < 40e6
