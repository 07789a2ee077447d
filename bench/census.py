"""The census on two workers against one: boards per hour by processes, Dask and Ray.

The boards have a limit in nodes, so that each takes the same work wherever it is done. Both runs
of a kind follow each other directly. Run it on a machine that has nothing else to do.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from bench.clusters import Cluster, dask_cluster, ray_cluster, until
from kamon.census.rows import BOARDS, Parts
from kamon.census.run import Progress, run_jobs
from kamon.census.solve import BoardJob
from kamon.census.workers import Workers, open_workers
from kamon.engine.limits import MIB, Limits
from kamon.engine.solver import warm_up
from kamon.errors import KamonError

Start = Callable[[int], AbstractContextManager[Cluster | None]]

_KINDS: Final[dict[str, Start]] = {
    "processes": lambda _: nullcontext(),
    "dask": dask_cluster,
    "ray": ray_cluster,
}
_AT_LEAST: Final = 1.7


def connect(cluster: Cluster | None, workers: int) -> Workers:
    """Wait until all workers are there."""
    found: list[Workers] = []

    def is_ready() -> bool:
        try:
            found.append(open_workers(cluster.address if cluster else None, workers))
        except KamonError:
            return False
        if found[0].count() == workers:
            return True
        found.pop().close()
        return False

    until(is_ready)
    return found[0]


def boards_per_hour(start: Start, workers: int, boards: int, limits: Limits) -> float:
    """Solve so many boards; the workers have loaded the engine before the clock starts."""
    with start(workers) as cluster, tempfile.TemporaryDirectory() as folder:
        hired = connect(cluster, workers)
        try:
            parts = Parts(Path(folder), BOARDS)
            # So long that no worker does the first board of another.
            first = [BoardJob(seed, Limits(seconds=10, memory=MIB)) for seed in range(workers)]
            run_jobs(first, hired, parts, Progress(workers))
            started = time.perf_counter()
            jobs = [BoardJob(seed, limits) for seed in range(workers, workers + boards)]
            run_jobs(jobs, hired, parts, Progress(boards))
            return 3600 * boards / (time.perf_counter() - started)
        finally:
            hired.close()


def main() -> None:
    """Print a row for each kind of workers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--boards", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=6_000_000)
    parser.add_argument("--kinds", nargs="+", choices=list(_KINDS), default=list(_KINDS))
    options = parser.parse_args()
    warm_up()
    limits = Limits(nodes=options.nodes, memory=64 * MIB)
    print(f"{options.boards} boards of {options.nodes:,} nodes each, boards per hour")
    for kind in options.kinds:
        one, two = (
            boards_per_hour(_KINDS[kind], workers, options.boards, limits) for workers in (1, 2)
        )
        print(
            f"{kind}: one worker {one:.0f}, two {two:.0f}: {two / one:.2f} times "
            f"(at least {_AT_LEAST})"
        )


if __name__ == "__main__":
    main()
