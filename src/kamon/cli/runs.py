"""What the commands share that give jobs to processes or a cluster."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from kamon.cli.engine import INTERRUPTED, is_terminal, prepare, stopped_by_hand
from kamon.errors import KamonError

if TYPE_CHECKING:
    # At run time these load slowly, and come with an extra.
    from kamon.census.rows import Parts, Row
    from kamon.census.run import Progress
    from kamon.census.workers import Job

_MINUTE: Final = 60
_HOUR: Final = 3600

FolderArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", help="Folder of the run; created if it does not exist.", file_okay=False
    ),
]
FinishedFolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of a run.", file_okay=False)
]
TargetArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="File to write.", dir_okay=False)
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=1024, help="Processes on this machine; one per core by default."
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="dask://HOST:PORT or ray://HOST:PORT, instead of local processes."
    ),
]


def check_packages() -> None:
    """Report a missing package of the extra, before anything else fails because of it."""
    try:
        import joblib  # noqa: F401, PLC0415
        import pyarrow  # noqa: ICN001, F401, PLC0415
    except ImportError as error:
        raise KamonError(
            f"this command needs {error.name}, which is not installed: "
            "run pip install 'kamon[census]'"
        ) from None


@contextlib.contextmanager
def opened(parts: "Parts") -> Iterator[None]:
    """Make the folder of a run, and keep other runs out of it."""
    from kamon.census.run import locked  # noqa: PLC0415 - loads slowly

    try:
        parts.create()
    except OSError as error:
        raise typer.BadParameter(f"cannot use {parts.folder}: {error.strerror}") from None
    with locked(parts.folder):
        yield


def run(
    jobs: Sequence["Job"],
    parts: "Parts",
    cluster: str | None,
    workers: int | None,
    describe: Callable[["list[Row]"], str],
) -> None:
    """Do what is left of a run; ``describe`` says in a line what a job has found."""
    from kamon.census.run import Progress, run_jobs  # noqa: PLC0415 - loads slowly
    from kamon.census.workers import open_workers  # noqa: PLC0415 - as above

    if not jobs:
        return
    if cluster is None:
        # Compiled once here, and not by all workers at the same time.
        prepare()
    hired = open_workers(cluster, workers or os.cpu_count() or 1)
    progress = Progress(len(jobs))
    try:
        with stopped_by_hand() as stopped, _shown(hired.count, describe) as tell:
            run_jobs(jobs, hired, parts, progress, stopped=stopped, tell=tell)
    finally:
        hired.close()
    if progress.lost:
        typer.echo(f"{progress.lost} workers were lost; their work was done again", err=True)
    left = progress.total - progress.finished
    if left:
        typer.echo(
            f"Stopped: {progress.finished} saved, {left} left. "
            "Run the same command again to continue.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)


@contextlib.contextmanager
def _shown(
    workers: Callable[[], int], describe: Callable[["list[Row]"], str]
) -> Iterator[Callable[["Progress", "list[Row] | None"], None]]:
    """Print a line for each finished job; on a terminal, also show the progress."""

    def finished(rows: "list[Row] | None", say: Callable[[str], Any]) -> None:
        if rows is not None:
            say(describe(rows))

    if not is_terminal():
        yield lambda _, rows: finished(rows, lambda line: typer.echo(line, err=True))
        return
    from rich.console import Console  # noqa: PLC0415 - only for people who watch

    console = Console(stderr=True, highlight=False)
    with console.status("starting") as status:

        def tell(progress: "Progress", rows: "list[Row] | None") -> None:
            finished(rows, console.print)
            status.update(how_far(progress, progress.seconds_left(workers())))

        yield tell


def how_far(progress: "Progress", seconds_left: float | None) -> str:
    """Say how far a run has come, and what is expected of the rest."""
    text = f"{progress.finished} of {progress.total} done, {len(progress.running)} in progress"
    if seconds_left is not None:
        text += f"; about {_duration(seconds_left)} left, estimated from {progress.finished}"
    return f"{text} (Ctrl-C stops)"


def _duration(seconds: float) -> str:
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.0f} h"
