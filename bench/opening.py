"""The opening: whole boards, the choice of moves before anything is proven, and speed by version.

Run from the folder above with ``python -m bench.opening``; all of it takes about an hour.
``--parts`` and the other options make it shorter. ``--yardstick`` names a checkout of an older
version, whose solver then runs in turn with this one on the same positions.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.engine import duration, say, table
from kamon import Layout, Position, format_cell, parse_line
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.oracle import Effort, Oracle
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.solver import Solver, warm_up
from kamon.engine.values import VALUES

HERE = Path(__file__).parent
PARTS = ("speed", "critical", "boards", "threads")
CRITICAL = (HERE.parent / "tests" / "data" / "critical06.txt", HERE / "critical06.txt")
ONE_THREAD, TWO_THREADS = 1, 2


# --- Speed against an older version ---------------------------------------------------------

# Runs in the other checkout as well, so it imports what both have.
SPEED = """
import sys, time
from kamon import parse_line
from kamon.engine.solver import Solver
try:
    from kamon.engine.limits import Budget, Limits
except ImportError:
    from kamon.engine.solver import Budget, Limits
limits = Limits(memory=128 << 20)
for line in sys.stdin:
    position = parse_line(line).position
    solver = Solver(position.layout, limits)
    getattr(solver, "prover", solver).table.fill(0)
    budget, start = Budget(limits), time.process_time()
    solver.value(position, budget)
    print(budget.nodes, time.process_time() - start, flush=True)
"""


def compare_versions(options: argparse.Namespace) -> None:
    """Print nodes and CPU time of this version and another, position by position in turn."""
    if options.yardstick is None:
        print("No older version is named (--yardstick FOLDER): no ratio of speeds.\n")
        return
    rows = [["ply", "version", "nodes", "CPU time per node", "median CPU time", "ratio"]]
    for ply in (10, 8):
        lines = _lines(f"ply{ply:02}.txt", options.positions)
        names = {"older": options.yardstick / "src", "this": HERE.parent / "src"}
        runs = _run_in_turn(names, lines)
        per_node = {
            name: sum(run[1] for run in its_runs) / sum(run[0] for run in its_runs)
            for name, its_runs in runs.items()
        }
        for name, its_runs in runs.items():
            rows.append(
                [
                    str(ply),
                    name,
                    f"{sum(run[0] for run in its_runs):,.0f}",
                    f"{1e9 * per_node[name]:,.0f} ns",
                    duration(median(run[1] for run in its_runs)),
                    f"{per_node['older'] / per_node[name]:.1f}",
                ]
            )
    table(*rows)


def _lines(name: str, count: int) -> list[str]:
    return (HERE.parent / "tests" / "data" / name).read_text().splitlines()[:count]


def _run_in_turn(
    sources: dict[str, Path], lines: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """Give one line after another to a process of each version."""
    processes = {
        name: subprocess.Popen(
            [sys.executable, "-c", SPEED],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, source in sources.items()
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
    # The first line is for compiling, and does not count.
    for number, line in enumerate([lines[0], *lines]):
        for name, process in processes.items():
            assert process.stdin is not None  # noqa: S101 - asked for above
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            nodes, seconds = map(float, process.stdout.readline().split())
            if number:
                runs[name].append((nodes, seconds))
        say(f"speed, position {number}")
    for process in processes.values():
        process.communicate()
    return runs


# --- Choices that matter --------------------------------------------------------------------


class Critical(NamedTuple):
    """A position, and what each move is worth to who plays it: some keep the value, some do not."""

    position: Position
    values: dict[str, int]


def critical_positions(count: int) -> list[Critical]:
    """Read positions in which every move is valued."""
    found = []
    for path in CRITICAL:
        for line in path.read_text().splitlines() if path.exists() else ():
            game = parse_line(line)
            if game is not None:
                pairs = (each.split("=") for each in line.partition(";")[2].split())
                values = {cell: VALUES[name] for cell, name in pairs}
                found.append(Critical(game.position, values))
    return found[:count]


def by_oracle(position: Position, seconds: float) -> int:
    """Ask the Oracle, on one thread and with nothing known before."""
    return Oracle(position.layout).think(position, Effort(seconds)).cell


def by_uct(position: Position, seconds: float) -> int:
    """Ask plain UCT."""
    tree = PlayoutTree(position, 1, prove=False)
    tree.grow_until(time.perf_counter() + seconds)
    visits = tree.visits()
    return max(visits, key=lambda cell: visits[cell])


def compare_choices(options: argparse.Namespace) -> None:
    """Print how often each player errs in critical positions."""
    positions = critical_positions(options.critical)
    players: dict[str, Callable[[Position, float], int]] = {
        "Oracle": by_oracle,
        "plain UCT": by_uct,
    }
    errors = dict.fromkeys(players, 0)
    for number, (position, values) in enumerate(positions, 1):
        for name, choose in players.items():
            chosen = format_cell(choose(position, options.movetime))
            errors[name] += values[chosen] < max(values.values())
        say(f"critical, position {number}: {errors}")
    seconds = f"{options.movetime:g} s a move, one thread"
    table(
        ["player", f"errors in {len(positions)} critical positions at ply 6, {seconds}", "share"],
        *([name, str(count), f"{count / len(positions):.1%}"] for name, count in errors.items()),
    )


# --- Whole boards ---------------------------------------------------------------------------


class Solved(NamedTuple):
    """What became of a whole board."""

    value: int | None
    winning: list[str]
    nodes: int
    seconds: float
    cpu: float


def solve_board(seed: int, threads: int, options: argparse.Namespace) -> Solved:
    """Solve the board of a seed from the empty position."""
    opening = Position(Layout.shuffled(seed))
    limits = Limits(seconds=options.limit, memory=options.memory * MIB, threads=threads)
    solver, budget = Solver(opening.layout, limits), Budget(limits)
    start, cpu = time.perf_counter(), time.process_time()
    value = solver.value(opening, budget)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    standing = solver.standing(opening)
    settled = {} if standing is None else standing.settled
    winning = [format_cell(cell) for cell, reached in settled.items() if reached == value]
    return Solved(value, winning, budget.nodes, seconds, cpu)


WINNERS = {1: "Black wins", 0: "a draw", -1: "White wins", None: "not proven"}


def solve_boards(options: argparse.Namespace) -> None:
    """Print who wins whole boards, and what the proof takes."""
    rows = [["seed", "value", "first moves found", "nodes", "time", "cores it had"]]
    times = []
    for seed in options.seeds:
        found = solve_board(seed, TWO_THREADS, options)
        times.append(found.seconds if found.value is not None else math.inf)
        rows.append(
            [
                str(seed),
                WINNERS[found.value],
                " ".join(found.winning),
                f"{found.nodes / 1e6:,.0f} M",
                f"{found.seconds:.0f} s",
                f"{found.cpu / found.seconds:.2f}",
            ]
        )
        say(f"board {seed}: {json.dumps(found)}")
    rows.append(["median", "", "", "", f"{median(times):.0f} s", ""])
    table(*rows)


def compare_threads(options: argparse.Namespace) -> None:
    """Print what a second thread saves on whole boards."""
    rows = [["seed", "one thread", "two threads", "ratio", "nodes, ratio"]]
    for seed in options.seeds[: options.boards_by_one]:
        one, two = (solve_board(seed, threads, options) for threads in (ONE_THREAD, TWO_THREADS))
        rows.append(
            [
                str(seed),
                f"{one.seconds:.0f} s",
                f"{two.seconds:.0f} s",
                f"{one.seconds / two.seconds:.2f}",
                f"{two.nodes / one.nodes:.2f}",
            ]
        )
        say(f"threads, board {seed}")
    table(*rows)


# --- The command line -----------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.opening")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--yardstick", type=Path, help="a checkout of an older version")
    parser.add_argument("--positions", type=int, default=30, help="at each ply, for speed")
    parser.add_argument("--critical", type=int, default=240, help="critical positions")
    parser.add_argument("--movetime", type=float, default=1.0, help="seconds, for those")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(1, 11)))
    parser.add_argument("--boards-by-one", type=int, default=3, help="also by one thread")
    parser.add_argument("--memory", type=int, default=4096, help="MiB, for whole boards")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for each board")
    options = parser.parse_args(arguments)
    warm_up()
    parts = {
        "speed": compare_versions,
        "critical": compare_choices,
        "boards": solve_boards,
        "threads": compare_threads,
    }
    for part in options.parts:
        parts[part](options)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, load {load}")


if __name__ == "__main__":
    main()
