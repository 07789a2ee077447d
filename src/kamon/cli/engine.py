"""What the commands of the engine share: limits, and a word while it compiles."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Final

import typer

TimeOption = Annotated[float | None, typer.Option("--time", help="Seconds for each position.")]
NodesOption = Annotated[int | None, typer.Option("--nodes", help="Nodes for each position.")]
MemoryOption = Annotated[
    int, typer.Option("--memory", min=1, help="MiB for the table of what is known.")
]
ThreadsOption = Annotated[int, typer.Option("--threads", help="Threads that search together.")]


# As a shell tells it.
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
        often = "once" if kernel.CACHED else "every time: the cache folder cannot be written"
        typer.echo(f"Compiling the engine (about 15 seconds, {often}) ...", err=True)
    solver.warm_up()


def is_terminal() -> bool:
    """Tell whether somebody watches standard error."""
    return sys.stderr.isatty()
