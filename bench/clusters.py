"""Real clusters on this machine, for the benchmark of the census and its tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

PATIENCE: Final = 180.0

Process = subprocess.Popen[bytes]


class Cluster(NamedTuple):
    """Where a cluster is, and the processes of its workers if they are ours."""

    address: str
    workers: list[Process]


@contextmanager
def dask_cluster(workers: int) -> Iterator[Cluster]:
    """Start a scheduler of Dask and some workers of one thread each."""
    port = free_port()
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = f"tcp://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(_dask("dask_scheduler", "--port", str(port), *here))
        wait_for(port)
        yield Cluster(
            f"dask://127.0.0.1:{port}",
            [
                stack.enter_context(
                    _dask("dask_worker", scheduler, "--nthreads", "1", "--no-nanny", *here)
                )
                for _ in range(workers)
            ],
        )


@contextmanager
def _dask(program: str, *options: str) -> Iterator[Process]:
    process = _silent([sys.executable, "-m", f"distributed.cli.{program}", *options])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def ray_cluster(workers: int) -> Iterator[Cluster]:
    """Start a head of Ray that has so many cores."""
    port = free_port()
    options = {
        "port": free_port(),
        "ray-client-server-port": port,
        "num-cpus": workers,
        "node-ip-address": "127.0.0.1",
        "include-dashboard": "false",
        "object-store-memory": 80_000_000,
    }
    texts = [f"--{name}={value}" for name, value in options.items()]
    head = _silent(
        [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *texts]
    )
    try:
        wait_for(port)
        yield Cluster(f"ray://127.0.0.1:{port}", [])
    finally:
        head.terminate()
        try:
            head.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(head.pid, signal.SIGKILL)
            head.wait()


def _silent(command: list[str]) -> Process:
    """Start a program in a group of its own, which tells nobody that it was used."""
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
        start_new_session=True,
    )


def free_port() -> int:
    """Find a port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    """Wait until somebody listens."""

    def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    until(listens)


def until(condition: Callable[[], bool]) -> None:
    """Wait for something to come true."""
    over = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > over:
            raise TimeoutError("it did not come true")
        time.sleep(0.1)
