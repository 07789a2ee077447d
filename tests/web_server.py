"""``kamon serve`` in a process of its own, and programs that play on it."""

import asyncio
import contextlib
import itertools
import os
import re
import secrets
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx
from coverage import Coverage
from websockets.sync.client import ClientConnection, connect

KAMON: Final = Path(sys.executable).with_name("kamon")
# The machine may be busy with other things; nothing waits that long when all is well.
PATIENCE: Final = 20.0
# Never used, but costly to make for every client.
TLS: Final = ssl.create_default_context()

# A board by its number, and a whole game on it; black moves first, and wins by a connection.
CHAIN_SEED: Final = "2162"
_CHAIN: Final = "g6 d7 b4 g4 e4 f4 e6 c6 f6 b2 d5 f7 c5 d3 a3"
CHAIN: Final = tuple(_CHAIN.split())

ADDRESSES: Final = (
    f"10.{a}.{b}.{c}" for a in range(1, 250) for b in range(250) for c in range(1, 250)
)
_numbers = itertools.count()


def command_id() -> str:
    """Make the id under which a client asks for something."""
    return f"{secrets.token_hex(6)}-{next(_numbers)}"


def until(true: Callable[[], bool], what: str = "it") -> None:
    """Wait for something to become true."""
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit, f"{what} did not come about"
        time.sleep(0.01)


async def eventually(true: Callable[[], bool], what: str = "it") -> None:
    """Wait inside an event loop for something to become true."""
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit, f"{what} did not come about"
        await asyncio.sleep(0.005)


def _measured() -> dict[str, str]:
    """Have a process measure its coverage, if ours is measured.

    Not by ``patch = ["subprocess"]``: that would measure the processes of pytest-xdist twice.
    """
    if Coverage.current() is None:
        return {}
    return {"COVERAGE_PROCESS_START": str(Path(__file__).parents[1] / "pyproject.toml")}


def living(group: int) -> bool:
    """Tell whether a process of a group is still at work; one that nobody has buried is not."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


class Server:
    """A server that can be started, ended and killed; all its lives share one database.

    Unless there is an address of a database, it has a file of its own.
    """

    # We are the proxy: every client has an address, and so budgets, of its own.
    OPTIONS: Final = ("--trusted-proxy", "127.0.0.1", "--moment", "0")

    def __init__(self, folder: Path, *options: str, url: str | None = None) -> None:
        self.folder = folder
        self.url = url or f"sqlite:///{self.database}"
        self.options = options or self.OPTIONS
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> Path:
        return self.folder / "kamon.sqlite"

    @property
    def log(self) -> str:
        """What the server has said on its standard error."""
        return (self.folder / "log").read_text(encoding="utf-8")

    def start(self) -> None:
        """Start, on the same port as before if there was one, and wait until it answers."""
        with (self.folder / "log").open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    *(KAMON, "serve", "--port", str(self.port)),
                    *("--database", self.url),
                    *self.options,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **_measured()},
                # What it starts in turn belongs to its group, so that a test can look for it.
                start_new_session=True,
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"Kamon is at http://\S+?:(\d+)", said)
        assert found, f"the server said {said!r} and {self.log!r}"
        self.port = int(found[1])
        until(self._answers, "an answer of the server")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server has ended: {self.log}"
        with contextlib.suppress(httpx.TransportError):
            answer = httpx.get(f"{self.address}/api/health", timeout=5, verify=TLS)
            # Also a server that says what is wrong with it has started.
            return "ok" in answer.json()
        return False

    def pause(self, seconds: float) -> None:
        """Stop it for a while, as a machine does that is out of memory or being moved."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it as a power cut would, without a word."""
        self.stop(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it by its process id, and wait until it is gone."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@contextlib.contextmanager
def serving(folder: Path, *options: str, url: str | None = None) -> Iterator[Server]:
    """Serve while a block runs. The server may refuse what it likes, but must not stumble."""
    server = Server(folder, *options, url=url)
    server.start()
    try:
        yield server
    finally:
        server.stop()
    assert "Traceback" not in server.log, server.log


@contextlib.contextmanager
def behind_proxy(servers: list[Server], folder: Path, *options: str) -> Iterator[Server]:
    """Run the balancing proxy in front of some servers; it is like a server to others."""
    proxy = Path(__file__).parents[1] / "tools" / "proxy.py"
    backends = [f"127.0.0.1:{server.port}" for server in servers]
    with subprocess.Popen(
        [sys.executable, proxy, *backends, "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = re.search(r":(\d+)$", process.stdout.readline())
        assert found
        front = Server(folder)
        front.port = int(found[1])
        try:
            yield front
        finally:
            process.terminate()


class Client:
    """A program that plays: it has a secret, and an address of its own."""

    def __init__(self, server: Server, secret: str | None = None) -> None:
        self.server = server
        self.forwarded = {"X-Forwarded-For": next(ADDRESSES)}
        self.http = httpx.Client(
            base_url=server.address,
            headers=self.forwarded,
            timeout=PATIENCE,
            verify=TLS,
            trust_env=False,
        )
        self.secret = secret or str(self.http.post("/api/identity").json()["secret"])
        self.http.headers["Authorization"] = f"Bearer {self.secret}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()

    def new(self, **wishes: object) -> str:
        """Set a game up, and tell its id."""
        answer = self.http.post("/api/games", json=wishes)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def view(self, game: str) -> dict[str, Any]:
        """Look at a game."""
        return dict(self.show(game)["view"])

    def events(self, game: str) -> list[dict[str, Any]]:
        """List what has happened in a game."""
        return list(self.show(game)["events"])

    def show(self, game: str) -> dict[str, Any]:
        while (answer := self.http.get(f"/api/games/{game}")).status_code == 429:
            time.sleep(int(answer.headers["Retry-After"]))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def ask(self, game: str, do: str, **rest: Any) -> httpx.Response:  # noqa: ANN401
        """Send a command: ``id`` and ``after`` as they are, the rest as its data."""
        command: dict[str, object] = {"do": do, "id": rest.pop("id", None) or command_id()}
        if "after" in rest:
            command["after"] = rest.pop("after")
        return self.http.post(f"/api/games/{game}/commands", json={**command, "data": rest})

    def do(self, game: str, do: str, **rest: Any) -> dict[str, Any]:  # noqa: ANN401
        """Send a command that must be obeyed."""
        answer = self.ask(game, do, **rest)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def refused(self, game: str, do: str, **rest: Any) -> str:  # noqa: ANN401
        """Send a command that must be refused without a trace, and tell the code."""
        before = self.events(game)
        answer = self.ask(game, do, **rest)
        assert answer.status_code >= 400, answer.text
        assert self.events(game) == before
        return str(answer.json()["code"])

    def move(self, game: str, cell: str | None = None) -> str:
        """Play a cell, or the first that is legal."""
        chosen = cell or str(self.view(game)["board"]["legal"][0])
        self.do(game, "move", cell=chosen)
        return chosen

    def socket(self, **options: Any) -> ClientConnection:  # noqa: ANN401
        """Open a socket with this client's secret."""
        headers = {**self.forwarded, "Authorization": f"Bearer {self.secret}"}
        address = self.server.address.replace("http", "ws", 1) + "/ws"
        opened: ClientConnection = connect(
            address, additional_headers=headers, proxy=None, **options
        )
        return opened
