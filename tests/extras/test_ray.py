"""The census on a real Ray cluster: a head and two workers on this machine."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("grpc")

from bench.census import connect
from bench.clusters import Cluster, ray_cluster, until
from extras.clusters import LONG, solve_some
from kamon.census.workers import Workers, WorkerVersionError

# Ray complains about itself: about sockets and processes that it leaves to others.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_cluster(2) as found:
        yield found


@pytest.fixture
def workers(cluster: Cluster) -> Iterator[Workers]:
    found = connect(cluster, 2)
    yield found
    found.close()


def test_boards_are_solved_by_the_cluster(workers: Workers, tmp_path: Path) -> None:
    assert workers.count() == 2
    assert solve_some(workers, tmp_path, range(4)) == Counter(range(4))


def solving() -> list[int]:
    """Find the processes of Ray that solve a board now, by the names that Ray gives them."""
    pgrep = shutil.which("pgrep")
    assert pgrep
    command = [pgrep, "-f", "^ray::attempt"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def test_a_killed_worker_loses_only_the_board_it_was_at(workers: Workers, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one() -> None:
        until(lambda: len(solving()) > 0)
        time.sleep(3)
        killed.extend(solving()[:1])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    assert solve_some(workers, tmp_path, range(4), LONG) == Counter(range(4))
    killer.join()
    assert killed


def test_a_worker_of_another_version_is_refused(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kamon.census.workers.__version__", "0.0.1")
    with pytest.raises(
        WorkerVersionError, match=r"has kamon .*, and this program is kamon 0\.0\.1"
    ):
        solve_some(workers, tmp_path, range(2))
