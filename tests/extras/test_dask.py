"""The census on a real Dask cluster: a scheduler and two workers on this machine."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")

from extras.clusters import LONG, free_port, solve_some, until  # noqa: E402 - needs Dask
from kamon.census.workers import Workers, WorkerVersionError, open_workers  # noqa: E402
from kamon.errors import KamonError  # noqa: E402

# Dask complains about itself: about sockets and files that it closes late.
pytestmark = pytest.mark.filterwarnings("ignore")

Process = subprocess.Popen[bytes]


@contextmanager
def started(program: str, *options: str) -> Iterator[Process]:
    command = [sys.executable, "-m", f"distributed.cli.{program}", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def scheduler() -> Iterator[int]:
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with started("dask_scheduler", *options):
        until(lambda: answers(port))
        yield port


def answers(port: int) -> bool:
    try:
        distributed.Client(f"tcp://127.0.0.1:{port}", timeout=2, set_as_default=False).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with scheduler() as found:
        yield found


@pytest.fixture
def processes(port: int) -> Iterator[list[Process]]:
    """Two workers of one thread each."""
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    with ExitStack() as stack:
        yield [
            stack.enter_context(started("dask_worker", f"tcp://127.0.0.1:{port}", *options))
            for _ in range(2)
        ]


@pytest.fixture
def workers(port: int, processes: list[Process]) -> Iterator[Workers]:
    with distributed.Client(f"tcp://127.0.0.1:{port}", set_as_default=False) as client:
        until(lambda: len(client.nthreads()) == len(processes))
    found = open_workers(f"dask://127.0.0.1:{port}", 1)
    yield found
    found.close()


def test_a_cluster_without_workers_is_refused(port: int) -> None:
    with pytest.raises(KamonError, match="has no workers"):
        open_workers(f"dask://127.0.0.1:{port}", 1)


def test_boards_are_solved_by_the_cluster(workers: Workers, tmp_path: Path) -> None:
    assert workers.count() == 2
    assert solve_some(workers, tmp_path, range(4)) == Counter(range(4))


def test_a_killed_worker_loses_only_the_board_it_was_at(
    workers: Workers, processes: list[Process], tmp_path: Path
) -> None:
    def kill_one() -> None:
        time.sleep(LONG.seconds or 0)
        processes[0].kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    assert solve_some(workers, tmp_path, range(4), LONG) == Counter(range(4))
    killer.join()
    assert workers.count() == 1


def test_a_worker_of_another_version_is_refused(
    port: int, workers: Workers, tmp_path: Path
) -> None:
    def grow_old() -> None:
        from kamon.census import workers  # noqa: PLC0415 - runs in the worker

        workers.__dict__["__version__"] = "0.0.1"

    with distributed.Client(f"tcp://127.0.0.1:{port}", set_as_default=False) as client:
        client.run(grow_old)
    with pytest.raises(WorkerVersionError, match=r"has kamon 0\.0\.1, and this program is"):
        solve_some(workers, tmp_path, range(2))
