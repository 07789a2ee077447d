"""What the commands of the engine share: limits, and a word while it compiles."""

import sys
from typing import Annotated

import typer

TimeOption = Annotated[float | None, typer.Option("--time", help="Seconds for each position.")]
NodesOption = Annotated[int | None, typer.Option("--nodes", help="Nodes for each position.")]
MemoryOption = Annotated[
    int, typer.Option("--memory", min=1, help="MiB for the table of what is known.")
]
ThreadsOption = Annotated[int, typer.Option("--threads", help="Threads that search together.")]


def prepare() -> None:
    """Load the kernel; the first time on a machine it is compiled, and that takes a while."""
    from kamon.engine import kernel, solver  # noqa: PLC0415 - numba takes a second to load

    if kernel.is_fresh():
        kept = "" if kernel.CACHED else "; the cache folder cannot be written, so every time"
        typer.echo(f"Compiling the engine (about 20 seconds, once{kept}) ...", err=True)
    solver.warm_up()


def is_terminal() -> bool:
    """Tell whether somebody watches standard error."""
    return sys.stderr.isatty()
