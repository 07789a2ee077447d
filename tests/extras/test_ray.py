"""The census on a real Ray cluster: a head and two workers on this machine."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("grpc")

from extras.clusters import LONG, free_port, solve_some, until  # noqa: E402 - needs Ray
from kamon.census.workers import Workers, open_workers  # noqa: E402

# Ray complains about itself: about sockets and processes that it leaves to others.
pytestmark = pytest.mark.filterwarnings("ignore")

RAY = [sys.executable, "-m", "ray.scripts.scripts"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two cores."""
    client_port, head_port = free_port(), free_port()
    options = {
        "--port": head_port,
        "--ray-client-server-port": client_port,
        "--num-cpus": 2,
        "--node-ip-address": "127.0.0.1",
        "--include-dashboard": "false",
        "--object-store-memory": 80_000_000,
    }
    command = [*RAY, "start", "--head", "--block", *(f"{key}={of}" for key, of in options.items())]
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
    head = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        yield f"ray://127.0.0.1:{client_port}"
    finally:
        head.terminate()
        try:
            head.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(head.pid, signal.SIGKILL)
            head.wait()


@pytest.fixture
def workers(address: str) -> Iterator[Workers]:
    found: list[Workers] = []

    def connect() -> bool:
        try:
            found.append(open_workers(address, 1))
        except ValueError:
            return False
        return True

    until(connect)
    yield found[0]
    found[0].close()


def test_boards_are_solved_by_the_cluster(workers: Workers, tmp_path: Path) -> None:
    assert workers.count() == 2
    assert solve_some(workers, tmp_path, range(4)) == Counter(range(4))


def solving() -> list[int]:
    """Find the processes of Ray that solve a board now, by the names that Ray gives them."""
    pgrep = shutil.which("pgrep")
    assert pgrep
    command = [pgrep, "-f", "^ray::do_job"]
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
