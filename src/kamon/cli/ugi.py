"""``kamon ugi``: the engine, for other programs."""

import sys

import typer

EXAMPLES = """Examples:

\b
  kamon ugi          for match runners and other programs
  printf 'isready\\nposition startpos\\ngo movetime 500\\n' | kamon ugi"""


def run() -> None:
    """Run the engine for other programs (Universal Game Interface).

    Reads commands from standard input and answers on standard output, until quit or the end of
    the input.
    """
    # The other commands must not pay for the engine.
    from kamon.engine.ugi import Session  # noqa: PLC0415

    if sys.stdin is None:
        raise typer.BadParameter("standard input is closed: commands are read from there")
    Session(_write).serve(sys.stdin.buffer)


def _write(line: str) -> None:
    # Bytes, because a quoted word may hold characters that the terminal's encoding lacks.
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()
