"""A run of the census: jobs to workers, and each result to the disk as it comes."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kamon.census.canonical import canonical_layout
from kamon.census.rows import Parts, Row
from kamon.census.solve import BoardJob
from kamon.census.workers import Job, Result, Workers
from kamon.engine.limits import Limits
from kamon.errors import KamonError
from kamon.layout import Layout
from kamon.notation import format_layout

_POLL_SECONDS: Final = 0.5
# A job that took so many workers with it is not given to another.
_MOST_ATTEMPTS: Final = 3


@dataclass(slots=True)
class Progress:
    """How far a run has come. ``worked`` are the seconds of all workers on finished jobs."""

    total: int
    finished: int = 0
    lost: int = 0
    worked: float = 0.0
    running: dict[int, float] = field(default_factory=dict)

    def seconds_left(self, workers: int) -> float | None:
        """Estimate the time that the rest takes; None before anything is finished.

        Hard jobs finish last, so the mean of those that are finished would be too low. The time
        that went into unfinished ones counts too, which makes the estimate right if the durations
        are as those of random decay.
        """
        if not self.finished or not workers:
            return None
        now = time.monotonic()
        under_way = sum(now - started for started in self.running.values())
        mean = (self.worked + under_way) / self.finished
        return (self.total - self.finished) * mean / workers


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder. The lock of a killed run is gone with it."""
    connection = sqlite3.connect(folder / ".lock", timeout=0)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
    except sqlite3.OperationalError:
        raise KamonError(f"another run is using {folder}") from None
    finally:
        connection.close()


def run_jobs(
    jobs: Iterable[Job],
    workers: Workers,
    parts: Parts,
    progress: Progress,
    *,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[Progress, list[Row] | None], None] = lambda _progress, _rows: None,
) -> None:
    """Do jobs until all are done or somebody asks to stop, and write down each result at once."""
    waiting = iter(jobs)
    again: list[Job] = []
    attempts: dict[int, int] = {}
    running: dict[Future[Result], Job] = {}
    while not stopped():
        while len(running) < workers.count():
            job = again.pop() if again else next(waiting, None)
            if job is None:
                break
            running[workers.submit(job)] = job
            progress.running[job.number] = time.monotonic()
        if not running:
            return
        done, _ = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
        for future in done:
            job = running.pop(future)
            began = progress.running.pop(job.number)
            rows = _result(future, workers)
            if rows is None:
                progress.lost += 1
                attempts[job.number] = attempts.get(job.number, 0) + 1
                _check_attempts(job, attempts[job.number])
                again.append(job)
                continue
            _keep(parts, job, rows)
            progress.finished += 1
            progress.worked += time.monotonic() - began
            tell(progress, rows)
        tell(progress, None)


def _result(future: "Future[Result]", workers: Workers) -> list[Row] | None:
    """Return the rows of a finished job; None where its worker was lost."""
    try:
        result = future.result()
    except Exception as error:
        if workers.is_loss(error):
            return None
        raise
    if isinstance(result, KamonError):
        raise result
    return result


def _check_attempts(job: Job, attempts: int) -> None:
    if attempts >= _MOST_ATTEMPTS:
        raise KamonError(
            f"{attempts} workers were lost at job {job.number}: is there enough memory? "
            "Finished work is saved."
        )


def _keep(parts: Parts, job: Job, rows: list[Row]) -> None:
    try:
        parts.write(job.number, rows)
    except OSError as error:
        parts.free_reserve()
        kept = "Finished work is saved"
        try:
            parts.write(job.number, rows)
        except OSError:
            kept = "Work that was finished before is saved"
        raise KamonError(
            f"cannot write to {parts.folder}: {error.strerror or error}. {kept}. "
            "Run the same command again to continue."
        ) from None


# --- Boards ---


@dataclass(frozen=True, slots=True)
class BoardPlan:
    """Which boards to solve, and how far."""

    seeds: tuple[int, ...]
    limits: Limits
    every_move: bool = False
    again: bool = False
    least_chance: float = 0.0


def board_jobs(
    plan: BoardPlan, known: Iterable[Row], say: Callable[[str], None] = lambda _: None
) -> list[BoardJob]:
    """List what is left of a plan. No board is solved twice, nor another one that is like it."""
    rows = {row["seed"]: row for row in known}
    seeds = {row["canonical"]: seed for seed, row in rows.items()}
    jobs = []
    for seed in plan.seeds:
        row = rows.get(seed)
        if row is None:
            canonical = format_layout(canonical_layout(Layout.shuffled(seed)))
            if seeds.setdefault(canonical, seed) != seed:
                say(
                    f"Skipping the board of seed {seed}: "
                    f"it is equal by symmetry to that of seed {seeds[canonical]}."
                )
                continue
        elif not _is_wanted(row, plan):
            continue
        jobs.append(BoardJob(seed, plan.limits, plan.every_move, row, plan.least_chance))
    return jobs


def _is_wanted(row: Row, plan: BoardPlan) -> bool:
    """Tell whether there is more to find out about a board that has a row."""
    if row["reason"] is not None and not plan.again:
        return row["value"] is not None and plan.every_move and not row["complete"]
    if row["value"] is None:
        return True
    return plan.every_move and not row["complete"]
