"""What the commands that use the engine share: limits, Ctrl-C, and a message while compiling."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Final

import typer

TimeOption = Annotated[
    float | None,
    typer.Option("--time", metavar="SECONDS", help="Time limit for each position."),
]
NodesOption = Annotated[
    int | None, typer.Option("--nodes", metavar="N", help="Node limit for each position.")
]
MemoryOption = Annotated[
    int, typer.Option("--memory", metavar="MIB", min=1, help="Memory for the search table, in MiB.")
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", metavar="N", help="Number of search threads.")
]


# The exit status that shells report for a program that was interrupted.
INTERRUPTED: Final = 128 + signal.SIGINT


@contextlib.contextmanager
def stopped_by_hand() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C ask the engine to stop, and a second one end the program.

    So does the signal by which batch systems and service managers end a program.
    """
    asked = False
    signals = (signal.SIGINT, signal.SIGTERM)

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask(_: int, __: Any) -> None:  # noqa: ANN401 - a frame, which nobody looks at
        nonlocal asked
        asked = True
        restore()

    # Noted before any is replaced, because a signal may come as soon as the first one is.
    before = {number: signal.getsignal(number) for number in signals}
    try:
        for number in signals:
            signal.signal(number, ask)
        yield lambda: asked
    finally:
        restore()


@lru_cache(maxsize=1)
def prepare() -> None:
    """Load the kernel; the first time on a machine it is compiled, and that takes a while."""
    from kamon.engine import kernel, solver  # noqa: PLC0415 - numba takes a second to load

    if kernel.needs_compiling():
        often = "once" if kernel.CACHED else "every time, because the cache folder is not writable"
        typer.echo(f"Compiling the engine (about 15 seconds, {often}) ...", err=True)
    solver.warm_up()


def is_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr.isatty()
