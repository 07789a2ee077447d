"""Speed of the plain rules, as ratios within one run.

The yardstick is PettingZoo's connect_four: a well-known plain-Python board game environment. Run
with ``make bench``.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from pettingzoo.classic.connect_four.connect_four import raw_env

from kamon import Layout, Position, format_layout, legal_cells, outcome, play

SECONDS = 3.0
ROUNDS = 3


def kamon_steps() -> Iterator[None]:
    """Play random games, each step checked, judged and yielded."""
    rng = Random(1)
    layouts = [Layout.shuffled(seed) for seed in range(200)]
    while True:
        for layout in layouts:
            position = Position(layout)
            while outcome(position) is None:
                position = play(position, rng.choice(legal_cells(position)))
                yield


def connect_four_steps() -> Iterator[None]:
    """Play random games in the raw environment, each step yielded."""
    rng = Random(1)
    environment = raw_env()
    while True:
        environment.reset(seed=rng.randrange(1 << 30))
        while environment.agents and not any(environment.terminations.values()):
            observation = environment.observe(environment.agent_selection)
            legal = [at for at, free in enumerate(observation["action_mask"]) if free]
            environment.step(rng.choice(legal))
            yield


def speed(steps: Callable[[], Iterator[None]]) -> float:
    """Count steps per second of this process's CPU time."""
    walk, count = steps(), 0
    for _ in range(100):
        next(walk)  # tables and caches
    start = time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        for _ in range(100):
            next(walk)
        count += 100
    return count / spent


def perft_seconds() -> float:
    """Time ``kamon perft --depth 5`` from an opening, start of the program included."""
    line = format_layout(Layout.shuffled(0)).encode()
    program = str(Path(sys.executable).with_name("kamon"))
    command = [program, "perft", "--depth", "5"]
    start = time.perf_counter()
    subprocess.run(command, input=line, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the table of docs/benchmarks.md."""
    pairs = [(speed(kamon_steps), speed(connect_four_steps)) for _ in range(ROUNDS)]
    ours, theirs = max(one for one, _ in pairs), max(other for _, other in pairs)
    print("| what | measured | target |")
    print("|---|---|---|")
    print(f"| random games, plain rules, steps per CPU second | {ours:,.0f} | |")
    print(f"| PettingZoo connect_four, raw environment | {theirs:,.0f} | |")
    print(f"| ratio | {ours / theirs:.1f} | at least 4 |")
    print(f"| `kamon perft --depth 5` from an opening | {perft_seconds():.2f} s | under 5 s |")


if __name__ == "__main__":
    main()
