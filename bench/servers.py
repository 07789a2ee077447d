"""The servers that the other benchmarks ask, each in a process of its own on the loopback."""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from bench.visitors import allow_files
from kamon.cli.serve import MOST_CONNECTIONS, bind
from kamon.web.app import create_app
from kamon.web.connections import Connections, RequestTracker, protocols
from kamon.web.settings import Settings

# As in src/kamon/cli/serve.py, which adds protocols of its own.
UVICORN: Final[dict[str, Any]] = {
    "log_level": "warning",
    "ws": "websockets-sansio",
    "ws_per_message_deflate": False,
    "ws_max_size": 4096,
    "proxy_headers": False,
    "server_header": False,
}
BUDGET_SCALE: Final = 1000
PATIENCE: Final = 30.0
NANO: Final = 1e9

What = Literal["kamon", "echo"]


class Server:
    """Ours with hardly any budgets, or a bare WebSocket that echoes.

    Ours has a new SQLite file unless another database is named.
    """

    def __init__(self, what: What = "kamon", workers: int = 1, database: str | None = None) -> None:
        self._what = what
        self._workers = workers
        self._database = database

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        database = self._database or f"sqlite:///{self._folder.name}/kamon.sqlite"
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.servers", self._what),
                *("--database", database),
                *("--workers", str(self._workers)),
            ],
            cwd=Path(__file__).parents[1],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        self.host = f"127.0.0.1:{int(self._process.stdout.readline())}"
        self.address = f"http://{self.host}"
        self._threads = Path(f"/proc/{self._process.pid}/task")
        limit = time.monotonic() + PATIENCE
        while not self._answers():
            if time.monotonic() > limit or self._process.poll() is not None:
                self.__exit__()
                raise SystemExit("the server does not start")
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        try:
            httpx.get(f"{self.address}/api/health", timeout=PATIENCE, trust_env=False)
        except httpx.TransportError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None  # noqa: S101 - it is a pipe
            self._process.stdout.close()
            self._folder.cleanup()

    def cpu(self) -> float:
        """Tell how many seconds all threads have run; the engine has processes of its own."""
        # Finer than /proc/PID/stat, which counts hundredths of a second.
        spent = [(each / "schedstat").read_text().split()[0] for each in self._threads.iterdir()]
        return sum(map(int, spent)) / NANO

    def memory(self) -> int:
        """Tell how much memory is resident, in KiB."""
        status = (self._threads.parent / "status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)


@contextmanager
def several(count: int, database: str | None, workers: int = 1) -> Iterator[list[Server]]:
    """Start so many of our servers on one database."""
    with ExitStack() as stack:
        yield [stack.enter_context(Server("kamon", workers, database)) for _ in range(count)]


# --- In that process ------------------------------------------------------------------------


async def echo(page: WebSocket) -> None:
    """Say everything again."""
    await page.accept()
    async for text in page.iter_text():
        await page.send_text(text)


async def well(_: Request) -> JSONResponse:
    """Say what our health check says, without looking at anything."""
    return JSONResponse(
        {"ok": True, "version": "0", "thinking": 0, "compiling": False, "problems": {}}
    )


def serve(what: What, database: str, workers: int) -> None:
    """Tell the port, and serve until somebody ends it."""
    allow_files()
    listener = bind("127.0.0.1", 0)
    print(listener.getsockname()[1], flush=True)
    app: ASGIApp = Starlette(routes=[WebSocketRoute("/ws", echo), Route("/api/health", well)])
    options = UVICORN
    if what == "kamon":
        connections = Connections(MOST_CONNECTIONS, [ip_network("127.0.0.0/8")])
        settings = Settings(database, workers=workers, budget_scale=BUDGET_SCALE)
        app = RequestTracker(create_app(settings, None, connections), connections)
        http, websocket = protocols(connections)
        options = {**UVICORN, "http": http, "ws": websocket}
    uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listener])


def main() -> None:
    """Be a server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=get_args(What))
    parser.add_argument("--database", required=True)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    serve(given.what, given.database, given.workers)


if __name__ == "__main__":
    main()
