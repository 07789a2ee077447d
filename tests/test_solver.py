"""Exact values: against an independent solver (tests/data) and against brute force."""

import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from kamon import Layout, Position, format_cell, legal_cells, outcome, parse_line
from kamon.engine.distances import measure
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver, solve
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, WIN

DATA = Path(__file__).parent / "data"
SMALL = Limits(memory=16 * MIB)


def solved(ply: int) -> list[tuple[Position, str]]:
    found = []
    for line in (DATA / f"ply{ply:02}.txt").read_text().splitlines():
        game = parse_line(line)
        assert game is not None
        found.append((game.position, line.partition(";")[2].strip()))
    return found


def value_name(value: int | None) -> str:
    assert value is not None
    return VALUE_NAMES[value]


@pytest.mark.parametrize("ply", [20, 16, 12, 10, 8])
def test_values_agree_with_an_independent_solver(ply: int) -> None:
    limits = Limits(memory=128 * MIB)
    for position, expected in solved(ply):
        assert value_name(Solver(position.layout, limits).value(position)) == expected


def test_every_move_of_critical_positions_has_the_value_that_an_independent_solver_found() -> None:
    for line in (DATA / "critical06.txt").read_text().splitlines()[:3]:
        game = parse_line(line)
        assert game is not None
        values = Solver(game.layout, Limits(memory=128 * MIB)).values(game.position)
        told = [f"{format_cell(cell)}={value_name(value)}" for cell, value in values.items()]
        assert sorted(told) == sorted(line.partition(";")[2].split())


@cache
def brute_force(position: Position) -> tuple[int, int]:
    """Return value and distance: the winner hurries, the loser delays."""
    result = outcome(position)
    if result is not None:
        return (DRAW if result.winner is None else LOSS), 0
    answers = [brute_force(position.after(cell)) for cell in legal_cells(position)]
    options = [(-value, distance + 1) for value, distance in answers]
    return max(options, key=lambda option: (option[0], -option[0] * option[1]))


@cache
def brute_value(position: Position) -> int:
    """Return the value alone, which a first winning move settles."""
    result = outcome(position)
    if result is not None:
        return DRAW if result.winner is None else LOSS
    best = LOSS
    for cell in legal_cells(position):
        best = max(best, -brute_value(position.after(cell)))
        if best == WIN:
            break
    return best


def test_brute_force_agrees_from_ply_twenty_on() -> None:
    for position, expected in solved(20)[:12]:
        brute_value.cache_clear()
        assert value_name(brute_value(position)) == expected
        assert Solver(position.layout, SMALL).value(position) == brute_value(position)


def late_positions(ply: int, count: int) -> Iterator[Position]:
    """Random positions of a ply that go on."""
    rng, seed = Random(ply), 0
    while count:
        seed += 1
        position = Position(Layout.shuffled(seed))
        while position.ply < ply and (legal := legal_cells(position)):
            position = position.after(rng.choice(legal))
        if position.ply == ply and outcome(position) is None:
            count -= 1
            yield position


@pytest.mark.parametrize(("ply", "count"), [(25, 25), (27, 80), (30, 150)])
def test_brute_force_agrees_on_value_moves_and_distance(ply: int, count: int) -> None:
    seen = set()
    for position in late_positions(ply, count):
        brute_force.cache_clear()
        value, distance = brute_force(position)
        solution = solve(position, SMALL, distance=True)
        assert (solution.value, solution.distance) == (value, distance)
        keeping = [
            cell for cell in legal_cells(position) if -brute_force(position.after(cell))[0] == value
        ]
        assert list(solution.best) == keeping
        assert solution.complete
        seen.add(value)
    assert seen >= {WIN, LOSS}


def test_draws_are_found() -> None:
    # Draws are rare; these lead to the full boards among the finished games.
    found = 0
    for line in (DATA / "games.txt").read_text().splitlines():
        if "draw" not in line:
            continue
        game = parse_line(line)
        assert game is not None
        for _ in range(8):
            game.undo()
        value = brute_value(game.position)
        assert Solver(game.layout, SMALL).value(game.position) == value
        found += value == DRAW
    assert found >= 3


@pytest.mark.parametrize("ply", [12, 16, 20])
def test_the_move_that_proves_a_value_is_known_and_keeps_it(ply: int) -> None:
    drawn = [each for each in solved(ply) if each[1] == "draw"]
    for position, _ in (*solved(ply)[:10], *drawn):
        solver = Solver(position.layout, SMALL)
        value = solver.value(position)
        assert value is not None
        best = solver.known_best(position, value)
        assert best
        for cell in best:
            assert Solver(position.layout, SMALL).value(position.after(cell)) == -value


def test_the_lengths_of_all_moves_agree_with_brute_force() -> None:
    for position in late_positions(25, 12):
        # One solver for all of them, and so one memory of what is known.
        solver = Solver(position.layout, SMALL)
        for cell in legal_cells(position):
            value, length = brute_force(position.after(cell))
            assert measure(solver.prover, position.after(cell), value, Budget(SMALL)) == length


def test_a_line_is_played_to_the_end_that_the_value_promises() -> None:
    for position, expected in solved(16)[:12]:
        line = solve(position, SMALL).line
        end = position
        for cell in line:
            assert cell in legal_cells(end)
            end = end.after(cell)
        result = outcome(end)
        assert result is not None
        winner = {"win": position.turn, "loss": position.turn.other, "draw": None}[expected]
        assert result.winner is winner


def test_two_threads_find_what_one_finds() -> None:
    limits = Limits(memory=64 * MIB, threads=2)
    for position, expected in solved(10)[:12]:
        assert value_name(Solver(position.layout, limits).value(position)) == expected


def test_a_table_that_is_far_too_small_still_tells_the_truth() -> None:
    for position, expected in solved(12)[:10]:
        assert value_name(Solver(position.layout, Limits(memory=MIB)).value(position)) == expected


def test_a_finished_game_has_a_value_and_no_best_move() -> None:
    line = (DATA / "games.txt").read_text().splitlines()[0]
    game = parse_line(line)
    assert game is not None
    solution = solve(game.position)
    assert (solution.value, solution.best, solution.line, solution.distance) == (LOSS, (), (), 0)


def test_a_limit_in_nodes_ends_the_work_and_says_so() -> None:
    position, _ = solved(8)[0]
    solution = solve(position, Limits(nodes=500, memory=MIB))
    assert (solution.value, solution.reason) == (None, "nodes")
    assert 500 <= solution.nodes < 800


def test_a_limit_in_time_ends_the_work_and_says_so() -> None:
    position = Position(Layout.shuffled(0))
    started = time.perf_counter()
    solution = solve(position, Limits(seconds=0.2, memory=MIB))
    assert (solution.value, solution.reason) == (None, "time")
    assert time.perf_counter() - started < 2


def test_it_can_be_cancelled_at_any_moment() -> None:
    position = Position(Layout.shuffled(0))
    cancel = threading.Event()
    asked: list[float] = []
    seen: list[int] = []

    def ask() -> None:
        cancel.set()
        asked.append(time.perf_counter())

    threading.Timer(0.3, ask).start()
    solution = solve(
        position,
        Limits(memory=MIB, threads=2),
        progress=lambda nodes, _: seen.append(nodes),
        cancelled=cancel.is_set,
    )
    # 50 ms are promised on a machine of its own; this one may be busy.
    assert time.perf_counter() - asked[0] < 0.5
    assert (solution.value, solution.reason) == (None, "cancelled")
    assert seen == sorted(seen)
    assert len(seen) > 3


def test_what_a_limit_has_left_open_is_not_claimed() -> None:
    # Enough for the value, not for all the other moves.
    position, expected = solved(10)[0]
    whole = Solver(position.layout, SMALL).solve(position)
    part = Solver(position.layout, Limits(nodes=whole.nodes + 50, memory=16 * MIB)).solve(position)
    assert value_name(part.value) == expected
    assert not part.complete
    assert set(part.best) <= set(whole.best)
    assert part.line == ()


def test_a_distance_that_a_limit_cuts_off_is_none() -> None:
    position, _ = solved(12)[1]
    whole = Solver(position.layout, SMALL).solve(position)
    limits = Limits(nodes=whole.total_nodes + 1000, memory=16 * MIB)
    part = Solver(position.layout, limits).solve(position, distance=True)
    assert part.distance is None
    assert part.reason == "nodes"


def test_a_line_that_a_limit_cuts_off_is_short() -> None:
    position, _ = solved(10)[0]
    solver = Solver(position.layout, SMALL)
    assert solver.line(position, Budget(Limits(nodes=10, memory=MIB))) == ()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"seconds": 0.0}, "more than 0 seconds"),
        ({"seconds": float("nan")}, "more than 0 seconds"),
        ({"nodes": 0}, "the node limit must be 1 to"),
        ({"nodes": 10**30}, "the node limit must be 1 to"),
        ({"memory": 1 << 60}, "at most 16,777,216 MiB"),
        ({"memory": 5}, "the memory must be at least"),
        ({"threads": 0}, "the number of threads must be 1 to 64"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**limits)  # type: ignore[arg-type]


def test_a_table_that_does_not_fit_in_memory_is_told() -> None:
    with pytest.raises(ValueError, match="8,388,608 MiB does not fit into the memory"):
        Solver(Layout.shuffled(0), Limits(memory=1 << 43))
