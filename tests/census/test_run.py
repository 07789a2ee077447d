"""A run: each job once, results on the disk as they come, lost workers replaced."""

import errno
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from kamon import Layout, __version__, format_layout
from kamon.census.canonical import canonical_layout
from kamon.census.rows import BOARDS, POSITIONS, Parts, Row
from kamon.census.run import BoardPlan, Progress, board_jobs, locked, run_jobs
from kamon.census.solve import BoardJob
from kamon.census.workers import (
    Job,
    LocalWorkers,
    Result,
    WorkerVersionError,
    attempt,
    do_job,
    open_workers,
)
from kamon.engine.limits import MIB, Limits
from kamon.errors import FormatError, KamonError

SHORT = Limits(nodes=100, memory=MIB)


class Quick(NamedTuple):
    number: int

    def run(self) -> list[Row]:
        return [
            {
                "layout": "",
                "moves": "",
                "ply": self.number,
                "value": 0,
                "length": 0,
                "cells": [],
                "values": [],
            }
        ]


class Threads:
    """Workers that lose the jobs that they are told to, so many times."""

    def __init__(self, losing: dict[int, int] | None = None) -> None:
        self.pool = ThreadPoolExecutor(2)
        self.losing = losing or {}
        self.begun: list[int] = []

    def count(self) -> int:
        return 2

    def submit(self, job: Job) -> "Future[Result]":
        self.begun.append(job.number)
        return self.pool.submit(self._do, job)

    def _do(self, job: Job) -> Result:
        if self.losing.get(job.number, 0):
            self.losing[job.number] -= 1
            raise BrokenExecutor
        return attempt(job, __version__)

    def is_loss(self, error: BaseException) -> bool:
        return isinstance(error, BrokenExecutor)

    def close(self) -> None:
        self.pool.shutdown()


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path, POSITIONS)


def test_each_job_leaves_a_part(parts: Parts) -> None:
    told: list[int] = []
    progress = Progress(5)
    workers = Threads()
    run_jobs(
        map(Quick, range(5)),
        workers,
        parts,
        progress,
        tell=lambda _, rows: told.extend(row["ply"] for row in rows or ()),
    )
    assert parts.numbers() == set(range(5))
    assert sorted(told) == list(range(5))
    assert (progress.finished, progress.lost, progress.running) == (5, 0, {})


def test_a_lost_worker_loses_only_the_job_it_was_at(parts: Parts) -> None:
    progress = Progress(4)
    workers = Threads({2: 2})
    run_jobs(map(Quick, range(4)), workers, parts, progress)
    assert parts.numbers() == set(range(4))
    assert progress.lost == 2
    assert sorted(workers.begun) == [0, 1, 2, 2, 2, 3]


def test_a_job_that_takes_its_workers_with_it_is_given_up(parts: Parts) -> None:
    with pytest.raises(KamonError, match="3 workers were lost at job 2"):
        run_jobs(map(Quick, range(2, 4)), Threads({2: 9}), parts, Progress(2))


def test_who_asks_to_stop_keeps_what_is_finished(parts: Parts) -> None:
    run_jobs(
        map(Quick, range(100)),
        Threads(),
        parts,
        progress := Progress(100),
        stopped=lambda: progress.finished >= 3,
    )
    assert 3 <= len(parts.numbers()) == progress.finished < 100


def test_a_full_disk_ends_the_run_with_a_word(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    parts.write(0, Quick(0).run())
    monkeypatch.setattr("kamon.census.rows.os.fsync", full)
    with pytest.raises(
        KamonError, match=r"No space left on device\. Work that was finished before"
    ):
        run_jobs([Quick(1)], Threads(), parts, Progress(1))
    assert parts.numbers() == {0}


def test_a_full_disk_still_has_room_for_what_is_finished(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_until_freed(_: int) -> None:
        if (parts.folder / ".reserve").exists():
            raise OSError(errno.ENOSPC, "No space left on device")

    parts.create()
    monkeypatch.setattr("kamon.census.rows.os.fsync", full_until_freed)
    with pytest.raises(KamonError, match=r"No space left on device\. Finished work is saved"):
        run_jobs([Quick(1)], Threads(), parts, Progress(1))
    assert parts.numbers() == {1}


def test_a_job_that_fails_by_itself_says_why(parts: Parts) -> None:
    class Failing(Quick):
        def run(self) -> list[Row]:
            raise KamonError("the reason")

    with pytest.raises(KamonError, match="the reason"):
        run_jobs([Failing(1)], Threads(), parts, Progress(1))


def test_one_run_at_a_time_works_in_a_folder(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(KamonError, match="another run is using"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


# --- The estimate ---


def test_the_estimate_counts_the_time_of_unfinished_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kamon.census.run.time.monotonic", lambda: 1000.0)
    progress = Progress(12)
    assert progress.seconds_left(2) is None
    progress.finished, progress.worked = 2, 60.0
    progress.running = {3: 980.0, 4: 980.0}
    # Two jobs took 100 seconds of work so far: 50 each, for ten more, by two workers.
    assert progress.seconds_left(2) == pytest.approx(250)
    assert progress.seconds_left(0) is None


# --- Which boards ---


def board(seed: int, **known: object) -> Row:
    canonical = format_layout(canonical_layout(Layout.shuffled(seed)))
    row = {"seed": seed, "canonical": canonical, "value": "win", "complete": False, "reason": None}
    return row | known


def seeds(*known: Row, every_move: bool = False, again: bool = False) -> list[int]:
    plan = BoardPlan((1, 2, 3), SHORT, every_move, again)
    return [job.seed for job in board_jobs(plan, known)]


def test_boards_that_are_done_are_not_solved_again() -> None:
    assert seeds() == [1, 2, 3]
    assert seeds(board(2)) == [1, 3]
    assert seeds(board(1), board(2), board(3), board(4)) == []


def test_every_move_completes_what_is_not_complete() -> None:
    known = board(1), board(2, complete=True), board(3)
    assert seeds(*known, every_move=True) == [1, 3]


def test_what_a_limit_ended_is_tried_again_only_if_asked() -> None:
    known = board(1, value=None, reason="time"), board(2), board(3, value=None, reason="nodes")
    assert seeds(*known) == []
    assert seeds(*known, again=True) == [1, 3]


def test_what_was_put_off_is_tried_again_only_if_asked() -> None:
    known = board(1), board(2, value=None, reason="chance"), board(3)
    assert seeds(*known) == []
    assert seeds(*known, again=True) == [2]


def test_a_job_knows_what_is_proven_already() -> None:
    plan = BoardPlan((1,), SHORT, every_move=True)
    (job,) = board_jobs(plan, [board(1)])
    assert job == BoardJob(1, SHORT, every_move=True, known=board(1))


def test_a_job_knows_from_which_chance_on_it_is_worth_the_work() -> None:
    (job,) = board_jobs(BoardPlan((1,), SHORT, least_chance=0.4), [])
    assert job.least_chance == 0.4


def test_a_board_like_another_is_left_out() -> None:
    told: list[str] = []
    like = board(1) | {"seed": 99}
    jobs = board_jobs(BoardPlan((1, 2), SHORT), [like], told.append)
    assert [job.seed for job in jobs] == [2]
    assert told == ["Skipping the board of seed 1: it is equal by symmetry to that of seed 99."]


# --- Workers ---


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(WorkerVersionError, match=rf"has kamon {__version__}.*is kamon 9\.9"):
        do_job(Quick(1), "9.9")


@pytest.mark.parametrize(
    "cluster", ["", "dask", "http://a:1", "dask://:8786", "ray://host", "dask://host:port"]
)
def test_a_cluster_has_a_scheme_a_host_and_a_port(cluster: str) -> None:
    with pytest.raises(FormatError, match="is not a cluster: expected dask://HOST:PORT or ray://"):
        open_workers(cluster, 1)


@pytest.mark.parametrize("scheme", ["dask", "ray"])
def test_a_cluster_that_is_not_there_is_told_within_seconds(scheme: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(KamonError, match=f"there is no cluster at {address}"):
            open_workers(address, 1)
        assert time.monotonic() - started < 6


@pytest.mark.parametrize(("scheme", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_without_its_package_names_the_extra(
    scheme: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(KamonError, match=rf"pip install 'kamon\[census,{scheme}\]'"):
            open_workers(address, 1)


@pytest.fixture
def local() -> "LocalWorkers":
    return LocalWorkers(2)


def until(condition: Callable[[], bool]) -> None:
    over = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < over
        time.sleep(0.05)


def test_a_killed_process_loses_its_board_and_no_other(local: LocalWorkers, tmp_path: Path) -> None:
    parts = Parts(tmp_path, BOARDS)
    progress = Progress(2)
    killed: list[int] = []

    def kill_one() -> None:
        until(lambda: any(pool._processes for pool in local._all))
        (pid,) = local._all[0]._processes
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        run_jobs([BoardJob(seed, SHORT) for seed in (1, 2)], local, parts, progress)
    finally:
        killer.join()
        local.close()
    assert len(killed) == progress.lost == 1
    assert sorted(row["seed"] for row in parts.rows()) == [1, 2]


def test_closing_ends_work_that_is_under_way(local: LocalWorkers) -> None:
    future = local.submit(BoardJob(1, Limits(memory=MIB)))
    until(lambda: bool(local._all[0]._processes))
    (process,) = local._all[0]._processes.values()
    local.close()
    assert future.exception(30) is not None
    assert not process.is_alive()
