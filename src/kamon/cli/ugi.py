"""``kamon ugi``: the engine, for other programs."""

import sys

import typer

EXAMPLES = """Examples:

\b
  kamon ugi          what match runners start
  printf 'isready\\nposition startpos\\ngo movetime 500\\n' | kamon ugi"""


def run() -> None:
    """Speak the Universal Game Interface, as match runners do.

    Reads commands from standard input and answers on standard output, until quit or the end.
    """
    # The other commands must not pay for the engine.
    from kamon.engine.ugi import Session  # noqa: PLC0415

    if sys.stdin is None:
        raise typer.BadParameter("standard input is closed, and commands come from there")
    Session(_write).serve(sys.stdin.buffer)


def _write(line: str) -> None:
    # Bytes, because a quoted word may hold characters that the terminal's encoding lacks.
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()
