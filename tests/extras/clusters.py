"""What the tests of both kinds of clusters share: boards that take some seconds."""

from collections import Counter
from pathlib import Path
from typing import Final

from kamon.census.rows import BOARDS, Parts
from kamon.census.run import Progress, run_jobs
from kamon.census.solve import BoardJob
from kamon.census.workers import Workers
from kamon.engine.limits import MIB, Limits

SHORT: Final = Limits(nodes=1000, memory=MIB)
# Long enough that a worker can be killed in the midst of it.
LONG: Final = Limits(seconds=8, memory=16 * MIB)


def solve_some(
    workers: Workers, folder: Path, seeds: range, limits: Limits = SHORT
) -> Counter[int]:
    """Run boards on a cluster, and count the rows of each seed."""
    parts = Parts(folder, BOARDS)
    parts.create()
    run_jobs([BoardJob(seed, limits) for seed in seeds], workers, parts, Progress(len(seeds)))
    return Counter(row["seed"] for row in parts.rows())
