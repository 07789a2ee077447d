"""The compiled kernel against the plain rules, which are its judge."""

import math
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kamon import By, Layout, Position, format_cell, format_layout, legal_cells, outcome, parse_line
from kamon.engine import kernel
from kamon.engine.kernel import compile as compile_module
from kamon.engine.kernel import guess
from kamon.engine.limits import MIB, Limits
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.solver import Solver
from kamon.geometry import ALL, CELLS, cells

GAMES = 8_000
DATA = Path(__file__).parent / "data"


def is_win(position: Position) -> bool:
    result = outcome(position)
    return result is not None and result.by[0] in (By.CONNECTION, By.LOOP)


def test_masks_widen_and_narrow() -> None:
    for cell in CELLS:
        assert kernel.narrow(kernel.widen(1 << cell)) == 1 << cell
    assert kernel.narrow(kernel.widen(ALL)) == ALL


@pytest.mark.no_cover
def test_kernel_and_rules_part_in_no_game() -> None:
    rng = Random(37)
    layouts = [Layout.shuffled(seed) for seed in range(500)]
    tables = [kernel.match_table(layout) for layout in layouts]
    for number in range(GAMES):
        layout, match = layouts[number % 500], tables[number % 500]
        position, moves = Position(layout), []
        while legal := legal_cells(position):
            cell = rng.choice(legal)
            position = position.after(cell)
            moves.append(cell)
            last = kernel.BITS[cell]
            record = f"{format_layout(layout)} {' '.join(map(format_cell, moves))}"
            won = kernel.is_won(kernel.widen(position.just_moved), last)
            assert won == is_win(position), record
            if not won:
                following = int(match[last]) & int(kernel.widen(position.free))
                expected = sum(1 << each for each in legal_cells(position))
                assert kernel.narrow(following) == expected, record


@pytest.mark.no_cover
def test_winning_cells_are_those_where_a_stone_would_win() -> None:
    rng = Random(7)
    for seed in range(400):
        position = Position(Layout.shuffled(seed))
        while legal := legal_cells(position):
            mine = position.stones(position.turn)
            winning = kernel.winning_board(kernel.widen(mine), kernel.widen(position.free))
            for cell in cells(position.free):
                # Whether it may be played there does not matter for what a stone would do.
                assert kernel.narrow(winning) >> cell & 1 == is_win(position.after(cell))
            position = position.after(rng.choice(legal))


def test_the_kernel_counts_what_the_rules_count() -> None:
    for line in (DATA / "perft.txt").read_text().splitlines():
        game = parse_line(line)
        assert game is not None
        counts = [kernel.perft(game.position, depth) for depth in range(6)]
        assert counts == [1, *map(int, line.partition(";")[2].split())]


def test_playouts_end_as_random_games_end() -> None:
    layout = Layout.shuffled(3)
    tally = kernel.playouts(Position(layout), 40_000, 5)
    assert tally.sum() == 40_000
    rng, plain = Random(5), Counter[object]()
    for _ in range(4_000):
        position = Position(layout)
        while legal := legal_cells(position):
            position = position.after(rng.choice(legal))
        result = outcome(position)
        plain[result.winner.value if result and result.winner else "draw"] += 1
    # Four standard deviations of a share of 4,000 games are about 3.2 per cent.
    for share, name in zip(tally / 40_000, ("black", "white", "draw"), strict=True):
        assert share == pytest.approx(plain[name] / 4_000, abs=0.035)


def test_equal_seeds_give_equal_playouts() -> None:
    opening = Position(Layout.shuffled(1))
    tallies = [kernel.playouts(opening, 1000, seed).tolist() for seed in (1, 1, 2)]
    assert tallies[0] == tallies[1] != tallies[2]


@pytest.mark.no_cover
def test_tables_of_winning_cells_agree_with_the_boards() -> None:
    rng = Random(11)
    for seed in range(300):
        layout = Layout.shuffled(seed)
        solver = Solver(layout, Limits(memory=MIB))
        stack = solver.prover.stacks[0]
        position = Position(layout)
        while legal := legal_cells(position):
            solver.prover.set_root(stack, position)
            lanes = stack.space[0]["lane"]
            for row, side in ((0, position.turn), (1, position.turn.other)):
                mine = position.stones(side)
                for cell in cells(position.free):
                    found = stack.path[row]["after"][lanes[kernel.BITS[cell]]]
                    stones, free = mine | 1 << cell, position.free & ~(1 << cell)
                    expected = kernel.winning_board(kernel.widen(stones), kernel.widen(free))
                    assert found == expected, (format_layout(layout), position)
            position = position.after(rng.choice(legal))


def test_the_compiled_search_counts_no_references() -> None:
    game = parse_line((DATA / "ply20.txt").read_text().splitlines()[0])
    assert game is not None
    Solver(game.layout, Limits(memory=MIB)).solve(game.position, distance=True)
    PlayoutTree(game.position, 1, 1000).grow(10)
    # The functions that count are named in the compiled code that calls them.
    for name in ("proof.search", "lengths.forced", "tree.uct"):
        files = list(compile_module.CACHE_FOLDER.rglob(f"{name}-*.nbc"))
        assert files
        assert not any(b"NRT_" in file.read_bytes() for file in files)


def test_numbers_of_the_network_are_close_to_the_real_functions() -> None:
    for tenth in range(-300, 300):
        x = np.float32(tenth / 10)
        assert guess._exp(x) == pytest.approx(math.exp(x), rel=1e-4)
    for hundredth in range(1, 1200):
        x = np.float32(hundredth / 100)
        assert guess._log(x) == pytest.approx(math.log(x), rel=1e-3, abs=1e-4)
