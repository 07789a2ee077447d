"""The census on a real Dask cluster: a scheduler and two workers on this machine."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")

from bench.census import connect
from bench.clusters import Cluster, dask_cluster
from extras.clusters import LONG, solve_some
from kamon.census.workers import Workers, WorkerVersionError, open_workers
from kamon.errors import KamonError

# Dask complains about itself: about sockets and files that it closes late.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with dask_cluster(2) as found:
        yield found


@pytest.fixture
def workers(cluster: Cluster) -> Iterator[Workers]:
    found = connect(cluster, 2)
    yield found
    found.close()


def test_a_cluster_without_workers_is_refused() -> None:
    with dask_cluster(0) as cluster, pytest.raises(KamonError, match="has no workers"):
        open_workers(cluster.address, 1)


def test_boards_are_solved_by_the_cluster(workers: Workers, tmp_path: Path) -> None:
    assert workers.count() == 2
    assert solve_some(workers, tmp_path, range(4)) == Counter(range(4))


def test_a_killed_worker_loses_only_the_board_it_was_at(
    workers: Workers, cluster: Cluster, tmp_path: Path
) -> None:
    def kill_one() -> None:
        time.sleep(LONG.seconds or 0)
        cluster.workers[0].kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    assert solve_some(workers, tmp_path, range(4), LONG) == Counter(range(4))
    killer.join()
    assert workers.count() == 1


def test_a_worker_of_another_version_is_refused(
    cluster: Cluster, workers: Workers, tmp_path: Path
) -> None:
    def grow_old() -> None:
        from kamon.census import workers  # noqa: PLC0415 - runs in the worker

        workers.__dict__["__version__"] = "0.0.1"

    scheduler = cluster.address.replace("dask://", "tcp://")
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.run(grow_old)
    with pytest.raises(WorkerVersionError, match=r"has kamon 0\.0\.1, and this program is"):
        solve_some(workers, tmp_path, range(2))
