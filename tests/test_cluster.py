"""The supervisor of ``make cluster``: what dies is started again, and nothing is left behind."""

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import cluster
from tools.cluster import Service, Supervisor

pytestmark = pytest.mark.anyio

SLEEP = "print('here', flush=True); import time; time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "RESTART_AFTER", 0.01)


def python(name: str, code: str) -> Service:
    return Service(name, [sys.executable, "-c", code])


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)


async def test_a_program_that_dies_is_reported_and_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    async with Supervisor(tmp_path, said.append) as supervisor:
        supervisor.keep(python("sleeper", SLEEP))
        await until(lambda: "sleeper" in supervisor.processes)
        first = supervisor.processes["sleeper"]
        first.kill()
        await until(lambda: supervisor.processes["sleeper"] is not first)
        second = supervisor.processes["sleeper"]
        await until(lambda: len(said) == 3)
        assert "sleeper was ended by SIGKILL" in said[1]
        assert str(tmp_path / "sleeper.log") in said[1]
        assert said[2] == f"sleeper runs as process {second.pid}"
    assert second.returncode == -signal.SIGTERM


async def test_what_a_program_says_is_kept(tmp_path: Path) -> None:
    said: list[str] = []
    async with Supervisor(tmp_path, said.append) as supervisor:
        supervisor.keep(python("bad", "import sys; sys.exit('no such database')"))
        await until(lambda: len(said) >= 4)
    assert "bad ended with code 1" in said[1]
    # Twice at least: the second run does not wipe out what the first has said.
    assert supervisor.log_of("bad").read_text(encoding="utf-8").count("no such database") > 1


async def test_the_last_program_ends_first(tmp_path: Path) -> None:
    order: list[str] = []

    async def note(name: str) -> None:
        await supervisor.processes[name].wait()
        order.append(name)

    async with Supervisor(tmp_path, lambda _: None) as supervisor:
        for name in ("database", "server"):
            supervisor.keep(python(name, SLEEP))
        await until(lambda: len(supervisor.processes) == 2)
        notes = [asyncio.create_task(note(name)) for name in ("database", "server")]
    await asyncio.gather(*notes)
    assert order == ["server", "database"]


async def test_a_program_that_will_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "END_WITHIN", 0.1)
    async with Supervisor(tmp_path, lambda _: None) as supervisor:
        supervisor.keep(python("stubborn", STUBBORN))
        await until(lambda: "stubborn" in supervisor.processes)
        log = supervisor.log_of("stubborn")
        await until(lambda: "here" in log.read_text(encoding="utf-8"))
    assert supervisor.processes["stubborn"].returncode == -signal.SIGKILL


async def test_what_does_not_come_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "START_WITHIN", 0.05)
    with pytest.raises(cluster.ClusterError, match="the database is not there after 0 seconds"):
        await cluster.until(lambda: False, "the database")


def test_every_server_has_a_port_of_its_own_and_the_proxy_knows_them() -> None:
    first, second = cluster.servers(8037, 2, "postgresql://me@localhost/kamon")
    assert [first.name, second.name] == ["server-1", "server-2"]
    ports = [each.command[each.command.index("--port") + 1] for each in (first, second)]
    assert ports == ["8038", "8039"]
    assert {f"127.0.0.1:{port}" for port in ports} <= set(cluster.proxy(8037, 2).command)
