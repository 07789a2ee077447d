"""Speed of the engine, against yardsticks in the same run: the tables of docs/benchmarks.md.

Run from the folder above with ``python -m bench.engine``; all of it takes about half an hour, most
of that the alpha-beta's. ``--parts``, ``--plies``, ``--positions`` and ``--nodes`` make it shorter.

Times are of the CPU where one thread works, because machines are shared; only the second thread and
the start of the program are timed by the clock on the wall. Every search has a table of the same
size, empty, whose memory is at hand before its time begins.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any, NamedTuple

import numba

from bench import alphabeta
from kamon import Layout, Position, legal_cells, outcome, parse_line
from kamon.engine import kernel
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.solver import Solver
from kamon.engine.values import VALUE_NAMES

DATA = Path(__file__).parent.parent / "tests" / "data"
PLIES = (20, 16, 12, 10, 8)
PARTS = ("solver", "threads", "playouts", "start")
YARDSTICKS = {"plain": False, "ordered": True}
HAVANNAH = "havannah(board_size=4)"
PLAYOUTS_AT_ONCE = 20_000
MILLISECOND = 0.001
ONE_MOVE = """
from kamon import Layout, Position
from kamon.engine.levels import choose
choose(Position(Layout.shuffled(1)), 6, seed=1)
"""


class Run(NamedTuple):
    """One search of one position. ``value`` is None where its nodes did not suffice."""

    value: int | None
    nodes: int
    seconds: float


Search = Callable[[Position], Run]


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    parts: list[str]
    plies: list[int]
    positions: int
    yardsticks: list[str]
    nodes: int
    memory: int
    rounds: int


def say(text: str) -> None:
    """Tell how far the work is."""
    print(text, file=sys.stderr, flush=True)


def table(*rows: Sequence[str]) -> None:
    """Print a table in Markdown, its first row the head."""
    head, *body = rows
    for row in (head, ["---"] * len(head), *body):
        print("|" + "|".join(f" {cell} " for cell in row) + "|")
    print(flush=True)


def duration(seconds: float) -> str:
    """Write a time with the digits that mean something."""
    if seconds < 100 * MILLISECOND:
        return f"{seconds / MILLISECOND:.1f} ms"
    return f"{seconds:.2f} s"


def ratio(number: float) -> str:
    """Write a ratio with the digits that mean something."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"  # noqa: PLR2004


# --- The solver against alpha-beta ----------------------------------------------------------


def solved_positions(ply: int, count: int) -> list[tuple[Position, str]]:
    """Read the first positions of a file, each with the name of its value."""
    found = []
    for line in (DATA / f"ply{ply:02}.txt").read_text().splitlines()[:count]:
        game = parse_line(line)
        if game is not None:
            found.append((game.position, line.partition(";")[2].strip()))
    return found


def run_solver(position: Position, limits: Limits) -> Run:
    """Solve one position, with a new table."""
    solver, budget = Solver(position.layout, limits), Budget(limits)
    solver.prover.table.fill(0)  # so that the memory is there
    start = time.process_time()
    value = solver.value(position, budget)
    return Run(value, budget.nodes, time.process_time() - start)


def run_alphabeta(position: Position, memory: int, nodes: int, *, ordered: bool) -> Run:
    """Ask alpha-beta the same."""
    entries = alphabeta.new_table(memory)
    entries.fill(0)
    start = time.process_time()
    value, spent = alphabeta.solve(position, entries, nodes, ordered=ordered)
    return Run(value, spent, time.process_time() - start)


def searches(options: Options) -> dict[str, Search]:
    """Name the solver, which comes first, and the yardsticks that are asked for."""
    found: dict[str, Search] = {
        "solver": partial(run_solver, limits=Limits(memory=options.memory)),
    }
    for name in options.yardsticks:
        found[f"alpha-beta, {name}"] = partial(
            run_alphabeta, memory=options.memory, nodes=options.nodes, ordered=YARDSTICKS[name]
        )
    return found


def compare_searches(options: Options) -> None:
    """Print what each search needs for each file, all of them on one position after another."""
    contestants = searches(options)
    for search in contestants.values():
        search(solved_positions(20, 1)[0][0])  # compiles
    medians, ratios = ["median nodes", "median CPU time"], ["nodes, ratio", "time, ratio"]
    rows = [["ply", "search", "solved", *medians, *ratios]]
    for ply in options.plies:
        runs: dict[str, list[Run]] = {name: [] for name in contestants}
        for number, (position, expected) in enumerate(solved_positions(ply, options.positions), 1):
            for name, search in contestants.items():
                run = search(position)
                if run.value is not None and VALUE_NAMES[run.value] != expected:
                    raise AssertionError(f"{name} is wrong about position {number} of ply {ply}")
                runs[name].append(run)
            say(f"ply {ply}, position {number}")
        rows += [
            [str(ply), name, *in_figures(its_runs, runs["solver"])]
            for name, its_runs in runs.items()
        ]
    table(*rows)


def in_figures(runs: Sequence[Run], solver: Sequence[Run]) -> list[str]:
    """Write one row: how many are solved, the medians, and their ratios to the solver's.

    Where no more than half are solved, the limit hides the medians, and they are lower bounds.
    """
    solved = sum(run.value is not None for run in runs)
    over = "" if 2 * solved > len(runs) else "over "
    nodes, seconds = median(run.nodes for run in runs), median(run.seconds for run in runs)
    figures = [f"{solved} of {len(runs)}", f"{over}{nodes:,.0f}", f"{over}{duration(seconds)}"]
    if runs is solver:
        return [*figures, "1", "1"]
    fewer = nodes / median(run.nodes for run in solver)
    faster = seconds / median(run.seconds for run in solver)
    return [*figures, f"{over}{ratio(fewer)}", f"{over}{ratio(faster)}"]


# --- Two threads against one ----------------------------------------------------------------


class Timed(NamedTuple):
    """One search by the clock on the wall."""

    wall: float
    cpu: float
    nodes: int


def timed(position: Position, threads: int, memory: int) -> Timed:
    """Solve with some threads and a new table."""
    limits = Limits(threads=threads, memory=memory)
    solver, budget = Solver(position.layout, limits), Budget(limits)
    solver.prover.table.fill(0)  # so that the memory is there
    wall, cpu = time.perf_counter(), time.process_time()
    solver.value(position, budget)
    return Timed(time.perf_counter() - wall, time.process_time() - cpu, budget.nodes)


def compare_threads(options: Options) -> None:
    """Print what a second thread saves on the positions of ply 8.

    Each position is solved by one thread and by two in turn, some rounds long, and the fastest
    counts, for others use the machine too. How many cores a search had tells whether it was fair.
    """
    positions = [position for position, _ in solved_positions(8, options.positions)]
    best: dict[int, list[Timed]] = {1: [], 2: []}
    for number, position in enumerate(positions, 1):
        rounds = [
            {threads: timed(position, threads, options.memory) for threads in best}
            for _ in range(options.rounds)
        ]
        for threads, found in best.items():
            found.append(min(one[threads] for one in rounds))
        say(f"threads, position {number}")
    rows = []
    for threads, found in best.items():
        wall, cpu = sum(one.wall for one in found), sum(one.cpu for one in found)
        rows.append(
            [
                str(threads),
                duration(median(one.wall for one in found)),
                duration(wall),
                f"{sum(one.nodes for one in found):,}",
                f"{cpu / wall:.2f}",
            ]
        )
    one, two = best[1], best[2]
    gains = {
        "median": median(run.wall for run in one) / median(run.wall for run in two),
        "sum": sum(run.wall for run in one) / sum(run.wall for run in two),
    }
    more = sum(run.nodes for run in two) / sum(run.nodes for run in one)
    table(
        ["threads", f"median wall, {len(one)} positions", "sum", "nodes", "cores it had"],
        *rows,
        ["ratio", f"{gains['median']:.2f}", f"{gains['sum']:.2f}", f"{more:.2f}", ""],
    )


# --- Random games ---------------------------------------------------------------------------


def kamon_playouts() -> Iterator[int]:
    """Play random games in the kernel, and tell how many."""
    positions = [Position(Layout.shuffled(seed)) for seed in range(20)]
    seed = 0
    while True:
        for position in positions:
            seed += 1
            kernel.playouts(position, PLAYOUTS_AT_ONCE, seed)
            yield PLAYOUTS_AT_ONCE


def havannah_playouts(pyspiel: Any) -> Iterator[int]:  # noqa: ANN401 - untyped
    """Play random games in OpenSpiel's own C++.

    Its fastest way from Python: a tree search that may look at its root alone and judges it by
    many playouts, so that no Python runs between them. The board has 37 cells as ours.
    """
    game = pyspiel.load_game(HAVANNAH)
    judge = pyspiel.RandomRolloutEvaluator(PLAYOUTS_AT_ONCE, 1)
    bot = pyspiel.MCTSBot(game, judge, 2.0, 1, 1000, False, 1, False)  # noqa: FBT003 - no names
    state = game.new_initial_state()
    while True:
        bot.mcts_search(state)
        yield PLAYOUTS_AT_ONCE


def per_second(games: Iterator[int], seconds: float = 2.0) -> float:
    """Count games per second of this process's CPU time."""
    next(games)
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        count += next(games)
    return count / spent


def kamon_length(rng: Random) -> int:
    """Play a random game by the plain rules and count its moves."""
    position = Position(Layout.shuffled(rng.randrange(1 << 30)))
    while outcome(position) is None:
        position = position.after(rng.choice(legal_cells(position)))
    return position.ply


def havannah_length(pyspiel: Any, rng: Random) -> int:  # noqa: ANN401 - untyped
    """Play a random game of Havannah and count its moves."""
    state = pyspiel.load_game(HAVANNAH).new_initial_state()
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
    return state.move_number()  # type: ignore[no-any-return]


def compare_playouts(options: Options) -> None:
    """Print how many random games a second of CPU time plays, the best of some rounds in turn."""
    try:
        import pyspiel  # noqa: PLC0415 - installed for this alone
    except ImportError:
        print("OpenSpiel is not installed (pip install open_spiel): no yardstick for playouts.\n")
        return
    contestants = {
        "Kamon, kernel": kamon_playouts(),
        "Havannah, OpenSpiel": havannah_playouts(pyspiel),
    }
    speeds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(1, options.rounds + 1):
        for name, games in contestants.items():
            speeds[name].append(per_second(games))
        say(f"playouts, round {number}")
    rng = Random(1)
    lengths = {
        "Kamon, kernel": fmean(kamon_length(rng) for _ in range(300)),
        "Havannah, OpenSpiel": fmean(havannah_length(pyspiel, rng) for _ in range(300)),
    }
    ours, theirs = (max(speeds[name]) for name in speeds)
    our_moves, their_moves = (max(speeds[name]) * lengths[name] for name in speeds)
    table(
        ["random games", "games per CPU second", "moves in a game", "moves per CPU second"],
        *(
            [
                name,
                f"{max(speeds[name]):,.0f}",
                f"{lengths[name]:.1f}",
                f"{max(speeds[name]) * lengths[name]:,.0f}",
            ]
            for name in speeds
        ),
        ["ratio", f"{ours / theirs:.1f}", "", f"{our_moves / their_moves:.1f}"],
    )


# --- The start of the program ---------------------------------------------------------------


def one_start(cache: str) -> tuple[float, float]:
    """Start Python, choose one move of level 6, end; return the time on the wall and of the CPU."""
    # The kernel has named its cache to this process: the child must find its own.
    environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = cache
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", ONE_MOVE], env=environment, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_start(options: Options) -> None:
    """Print how long the first answer takes on a new machine and later on."""
    firsts, laters = [], []
    for number in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory() as cache:
            firsts.append(one_start(cache))
            if not any(Path(cache).rglob("*.nbc")):
                raise AssertionError("compiled code was cached elsewhere")
            laters += [one_start(cache) for _ in range(3)]
        say(f"start, round {number}")
    rows = [
        [name, *(duration(median(times)) for times in zip(*starts, strict=True))]
        for name, starts in (
            ("first use on a machine, compilation included", firsts),
            ("later", laters),
        )
    ]
    table(["from the start of Python to a move of level 6", "wall", "CPU"], *rows)


# --- The command line -----------------------------------------------------------------------


def read_options(arguments: Sequence[str] | None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--plies", nargs="+", type=int, choices=PLIES, default=list(PLIES))
    parser.add_argument("--positions", type=int, default=60, help="of each file, at most")
    parser.add_argument("--yardsticks", nargs="*", choices=YARDSTICKS, default=list(YARDSTICKS))
    parser.add_argument("--nodes", type=int, default=20_000_000, help="where alpha-beta gives up")
    parser.add_argument("--memory", type=int, default=128, help="MiB for each table")
    parser.add_argument("--rounds", type=int, default=3, help="of all but the solver")
    read = vars(parser.parse_args(arguments))
    return Options(**(read | {"memory": read["memory"] * MIB}))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = read_options(arguments)
    work = {
        "solver": compare_searches,
        "threads": compare_threads,
        "playouts": compare_playouts,
        "start": measure_start,
    }
    for part in options.parts:
        work[part](options)
    versions = f"Python {platform.python_version()}, numba {numba.__version__}"
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, {versions}, {os.cpu_count()} cores, load {load}")


if __name__ == "__main__":
    main()
