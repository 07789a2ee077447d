"""Opponents: each repeatable, and none so blind as to miss a win in one."""

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from kamon import Layout, Position, Side, legal_cells, outcome, parse_line
from kamon.engine import levels
from kamon.engine.limits import Limits
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.solver import Solver
from kamon.engine.strengths import STRENGTHS, STRONGEST, from_first_ladder
from kamon.engine.values import WIN

DATA = Path(__file__).parent / "data"


def play(layout: Layout, black: int, white: int, seed: int) -> Side | None:
    position, rng = Position(layout), Random(seed)
    while (result := outcome(position)) is None:
        level = black if position.turn is Side.BLACK else white
        cell = levels.choose(position, level, seed=rng.getrandbits(32), scale=0.05)
        position = position.after(cell)
    return result.winner


def positions_with_a_win_in_one(count: int) -> list[tuple[Position, list[int]]]:
    found: list[tuple[Position, list[int]]] = []
    rng, seed = Random(1), 0
    while len(found) < count:
        seed += 1
        position = Position(Layout.shuffled(seed))
        while legal := legal_cells(position):
            ends = {cell: outcome(position.after(cell)) for cell in legal}
            winning = [cell for cell, end in ends.items() if end and end.winner]
            if winning and len(legal) > len(winning):
                found.append((position, winning))
                break
            position = position.after(rng.choice(legal))
    return found


@pytest.mark.parametrize("level", range(1, STRONGEST + 1))
def test_every_level_takes_a_win_that_is_one_move_away(level: int) -> None:
    for position, winning in positions_with_a_win_in_one(12):
        assert levels.choose(position, level, seed=3, scale=0.02) in winning


@pytest.mark.parametrize("level", range(1, STRONGEST + 1))
def test_the_same_seed_gives_the_same_move(level: int) -> None:
    position = Position(Layout.shuffled(5)).after(4)
    chosen = {levels.choose(position, level, seed=11, scale=0.05) for _ in range(3)}
    assert len(chosen) == 1
    assert chosen <= set(legal_cells(position))


@pytest.mark.parametrize("level", range(4, STRONGEST + 1))
def test_from_level_four_on_no_win_in_one_is_handed_over(level: int) -> None:
    rng = Random(level)
    for seed in range(12):
        position = Position(Layout.shuffled(seed))
        while position.ply < 14 and (legal := legal_cells(position)):
            position = position.after(rng.choice(legal))
        legal = legal_cells(position)
        safe = [cell for cell in legal if not can_win_at_once(position.after(cell))]
        if safe and len(safe) < len(legal):
            assert levels.choose(position, level, seed=seed, scale=0.05) in safe


def can_win_at_once(position: Position) -> bool:
    ends = (outcome(position.after(cell)) for cell in legal_cells(position))
    return any(end is not None and end.winner is not None for end in ends)


@pytest.mark.no_cover
def test_a_level_without_budget_plays_whole_games() -> None:
    for seed in range(2):
        for level in (2, 3, 4, 5):
            assert play(Layout.shuffled(seed), level, 5, seed) in (*Side, None)


def test_a_level_beats_the_one_far_below() -> None:
    score = 0.0
    for seed in range(6):
        for black, white, me in ((10, 3, Side.BLACK), (3, 10, Side.WHITE)):
            winner = play(Layout.shuffled(seed), black, white, seed)
            score += 1.0 if winner is me else 0.5 if winner is None else 0.0
    assert score >= 9


def test_a_limit_in_time_is_kept() -> None:
    position = Position(Layout.shuffled(2))
    levels.choose(position, STRONGEST, seed=1, seconds=0.05)
    started = time.perf_counter()
    levels.choose(position, STRONGEST, seed=1, seconds=0.2)
    assert time.perf_counter() - started < 1.5


def test_more_time_than_its_budget_needs_makes_a_level_no_stronger() -> None:
    for seed in range(3):
        position = Position(Layout.shuffled(seed))
        position = position.after(legal_cells(position)[0])
        assert levels.choose(position, 7, seed=seed, seconds=60) == levels.choose(
            position, 7, seed=seed
        )


def test_with_a_time_what_can_be_proven_is_played() -> None:
    for line in (DATA / "ply20.txt").read_text().splitlines()[:10]:
        game = parse_line(line)
        assert game is not None
        values = Solver(game.layout, Limits(memory=1 << 24)).values(game.position)
        cell = levels.choose(game.position, STRONGEST, seed=1, seconds=2)
        assert values[cell] == max(value for value in values.values() if value is not None)


def test_a_forced_move_needs_no_thought() -> None:
    for seed in range(200):
        position, rng = Position(Layout.shuffled(seed)), Random(seed)
        while len(legal := legal_cells(position)) > 1:
            position = position.after(rng.choice(legal))
        if len(legal) == 1:
            assert levels.choose(position, STRONGEST, seed=0) == legal[0]
            return
    raise AssertionError("no forced move in 200 games")


def test_there_is_nothing_to_choose_when_the_game_is_over() -> None:
    position, rng = Position(Layout.shuffled(1)), Random(1)
    while legal := legal_cells(position):
        position = position.after(rng.choice(legal))
    with pytest.raises(ValueError, match="the game is over"):
        levels.choose(position, 1, seed=0)


def test_the_levels_are_named_and_measured_in_order() -> None:
    assert [strength.level for strength in STRENGTHS] == list(range(1, STRONGEST + 1))
    assert len({strength.name for strength in STRENGTHS}) == STRONGEST
    kernel_levels = [strength for strength in STRENGTHS if strength.needs_kernel]
    assert [strength.level for strength in kernel_levels] == list(range(6, STRONGEST + 1))
    nodes = [strength.nodes for strength in kernel_levels]
    assert nodes == sorted(nodes)


def test_the_levels_of_the_first_version_have_their_like() -> None:
    old = [from_first_ladder(level) for level in range(1, 9)]
    assert old == sorted(set(old))
    assert (old[0], old[-1]) == (1, STRONGEST)


def test_what_is_far_is_overlooked_before_what_is_near() -> None:
    seen = {"near": 0, "far": 0}
    shown = {"near": 0, "far": 0}
    rng = Random(5)
    for seed in range(150):
        position = Position(Layout.shuffled(seed))
        while legal := legal_cells(position):
            for cell in legal:
                after = position.after(cell)
                replies = [] if outcome(after) else legal_cells(after)
                winning = [reply for reply in replies if levels._wins(after, reply)]
                if len(winning) == 1:
                    where = "near" if levels._steps(cell, winning[0]) <= 2 else "far"
                    shown[where] += 1
                    seen[where] += levels._sees_a_threat(after, cell, 0.4, rng)
            position = position.after(rng.choice(legal))
    assert min(shown.values()) > 50
    assert seen["near"] / shown["near"] > 2 * seen["far"] / shown["far"]


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from kamon import Layout, Position
from kamon.engine import levels
position = Position(Layout.shuffled(1))
print([levels.choose(position, level, seed=1) in range(37) for level in range(1, 6)])
try:
    levels.choose(position, 6, seed=1)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_the_easy_levels_need_no_numba_and_the_others_say_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "[True, True, True, True, True]",
        (
            "EngineMissingError the engine needs numba, which is not installed: "
            "run pip install numba; levels 1 to 5 play without it"
        ),
    ]


def test_a_draw_that_is_proven_is_kept() -> None:
    for ply in (16, 20):
        for line in (DATA / f"ply{ply}.txt").read_text().splitlines():
            if not line.endswith("draw"):
                continue
            game = parse_line(line)
            assert game is not None
            after = game.position.after(levels.choose(game.position, STRONGEST, seed=1))
            assert Solver(game.layout, Limits(memory=1 << 24)).value(after) == 0


def test_a_tree_that_proves_is_sure_of_a_win_that_is_near() -> None:
    for line in (DATA / "ply20.txt").read_text().splitlines()[:20]:
        game = parse_line(line)
        assert game is not None
        values = Solver(game.layout, Limits(memory=1 << 24)).values(game.position)
        tree = PlayoutTree(game.position, 1)
        tree.grow(20_000)
        chances, visits = tree.chances(), tree.visits()
        tried = max(visits, key=lambda cell: visits[cell])
        if WIN in values.values():
            assert values[tried] == WIN
            assert chances[tried] > 0.9


def test_a_plain_tree_and_one_that_proves_differ_only_where_something_is_proven() -> None:
    opening = Position(Layout.shuffled(1))
    plain, proving = (PlayoutTree(opening, 1, prove=prove) for prove in (False, True))
    plain.grow(300)
    proving.grow(300)
    assert plain.visits() == proving.visits()
