"""Who does the work: processes of this machine, or a Dask or Ray cluster.

Each gives a future for each job. What a lost worker was at is lost; the other workers go on. That
is why the processes here are pools of one each: a pool of several ends as a whole when one of its
processes dies.
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from importlib import import_module
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from joblib.externals.loky import ProcessPoolExecutor

from kamon import __version__
from kamon.census.rows import Row
from kamon.errors import FormatError, KamonError

_CONNECT_SECONDS: Final = 5.0
_WATCH_SECONDS: Final = 1.0
_DASK, _RAY = "dask", "ray"


# What a worker sends back. An error of ours is sent as it is, because what is raised in a cluster
# arrives wrapped, with the trace of the worker as its text.
Result = list[Row] | KamonError


class Job(Protocol):
    """A piece of work that gives the rows of one part."""

    @property
    def number(self) -> int:
        """The number of its part."""

    def run(self) -> list[Row]:
        """Do the work."""


class Workers(Protocol):
    """Somebody who does jobs."""

    def count(self) -> int:
        """Tell how many jobs can be done at the same time."""

    def submit(self, job: Job) -> "Future[Result]":
        """Begin a job."""

    def is_loss(self, error: BaseException) -> bool:
        """Tell whether a job failed because its worker was lost, and not by itself."""

    def close(self) -> None:
        """End all work at once."""


class WorkerVersionError(KamonError):
    """A worker of a cluster has another version of this package."""


def do_job(job: Job, version: str) -> list[Row]:
    """Do a job in a worker, if the worker has the version of who asks."""
    if version != __version__:
        raise WorkerVersionError(
            f"the worker on {socket.gethostname()} has kamon {__version__}, but this program is "
            f"kamon {version}: install the same version everywhere"
        )
    return job.run()


def attempt(job: Job, version: str) -> Result:
    """Do a job in a worker, and send back our own errors in place of the rows."""
    try:
        return do_job(job, version)
    except KamonError as error:
        return error


def open_workers(cluster: str | None, count: int) -> Workers:
    """Find the workers: those of a cluster, or so many processes of this machine."""
    if cluster is None:
        return LocalWorkers(count)
    scheme, address = _parse_cluster(cluster)
    _knock(cluster, address)
    return DaskWorkers(cluster, address) if scheme == _DASK else RayWorkers(cluster)


def _parse_cluster(cluster: str) -> tuple[str, tuple[str, int]]:
    try:
        parts = urlsplit(cluster)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in {_DASK, _RAY} or not host or port is None:
        raise FormatError(
            f"{cluster!r} is not a cluster: expected dask://HOST:PORT or ray://HOST:PORT"
        )
    return scheme, (host, port)


def _knock(cluster: str, address: tuple[str, int]) -> None:
    """Say soon that nobody is there, which the clusters' own libraries take minutes to tell."""
    try:
        socket.create_connection(address, _CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise KamonError(f"there is no cluster at {cluster}: {reason}") from None


# --- This machine ---


class LocalWorkers:
    """Processes of this machine."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._idle: list[ProcessPoolExecutor] = []
        self._all: list[ProcessPoolExecutor] = []

    def count(self) -> int:
        """Tell how many processes there are."""
        return self._count

    def submit(self, job: Job) -> "Future[Result]":
        """Begin a job in a process that has nothing to do."""
        pool = self._idle.pop() if self._idle else self._new_pool()
        future: Future[Result] = pool.submit(attempt, job, __version__)
        future.add_done_callback(lambda done: self._release(pool, done))
        return future

    def _new_pool(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(
            max_workers=1, timeout=None, initializer=_prepare, initargs=(os.getpid(),)
        )
        self._all.append(pool)
        return pool

    def _release(self, pool: ProcessPoolExecutor, done: "Future[Result]") -> None:
        if done.cancelled() or isinstance(done.exception(), BrokenExecutor):
            self._all.remove(pool)
        else:
            self._idle.append(pool)

    def is_loss(self, error: BaseException) -> bool:
        """Tell whether the process was killed."""
        return isinstance(error, BrokenExecutor)

    def close(self) -> None:
        """End all processes."""
        for pool in list(self._all):
            pool.shutdown(wait=True, kill_workers=True)


def _prepare(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end with it: it may be killed without a word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


# --- Clusters ---


class DaskWorkers:
    """The threads of a Dask cluster, which gives the work of a lost worker to another."""

    def __init__(self, cluster: str, address: tuple[str, int]) -> None:
        distributed = _imported(_DASK, "distributed")
        try:
            self._client = distributed.Client(
                f"tcp://{address[0]}:{address[1]}",
                timeout=_CONNECT_SECONDS,
                set_as_default=False,
            )
        except (OSError, ValueError) as error:
            raise KamonError(f"there is no Dask cluster at {cluster}: {error}") from None
        self._executor = self._client.get_executor(pure=False)
        self._killed: type[BaseException] = distributed.KilledWorker
        if not self.count():
            self.close()
            raise KamonError(f"the Dask cluster at {cluster} has no workers")

    def count(self) -> int:
        """Tell how many threads the cluster has now."""
        return sum(self._client.nthreads().values())

    def submit(self, job: Job) -> "Future[Result]":
        """Begin a job."""
        future: Future[Result] = self._executor.submit(attempt, job, __version__)
        return future

    def is_loss(self, error: BaseException) -> bool:
        """Tell whether the cluster lost workers with this job, time and again."""
        return isinstance(error, self._killed)

    def close(self) -> None:
        """Cancel all work, and leave the cluster."""
        self._executor.shutdown(wait=False)
        self._client.close()


class RayWorkers:
    """The cores of a Ray cluster, which gives the work of a lost worker to another."""

    def __init__(self, cluster: str) -> None:
        self._ray = _imported(_RAY, "ray")
        try:
            self._ray.init(address=cluster, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise KamonError(f"there is no Ray cluster at {cluster}: {error}") from None
        self._submit: Callable[..., Any] = self._ray.remote(num_cpus=1, max_retries=2)(
            attempt
        ).remote

    def count(self) -> int:
        """Tell how many cores the cluster has now."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def submit(self, job: Job) -> "Future[Result]":
        """Begin a job."""
        future: Future[Result] = self._submit(job, __version__).future()
        return future

    def is_loss(self, error: BaseException) -> bool:
        """Tell whether the cluster lost workers with this job, time and again."""
        return isinstance(error, self._ray.exceptions.RayError) and not isinstance(
            error, self._ray.exceptions.RayTaskError
        )

    def close(self) -> None:
        """Cancel all work, and leave the cluster."""
        self._ray.shutdown()


def _imported(extra: str, module: str) -> Any:  # noqa: ANN401 - a module that may not be there
    try:
        return import_module(module)
    except ImportError:
        raise KamonError(
            f"a {extra.title()} cluster needs another package: pip install 'kamon[census,{extra}]'"
        ) from None
