"""``kamon convert``: between position lines and PGN records."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from kamon.cli.files import ForceOption, SourceFile, open_source, read_games, write_whole
from kamon.errors import KamonError
from kamon.game import Game
from kamon.notation import format_line
from kamon.record import format_record, parse_record, split_records

EXAMPLES = """Examples:

\b
  kamon convert games.txt --output games.pgn
  kamon convert games.pgn > games.txt"""


def run(
    file: SourceFile = None,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file to write, instead of output.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Turn position lines into PGN, and PGN into lines.

    Which it is shows in the first character: a record begins with a tag, in brackets. A line
    holds the moves of the main line, and says how the game ended in its comment. What cannot be
    read is left out and told on standard error, with exit status 1; the rest goes on.
    """
    failed = False
    with open_source(file) as source, contextlib.ExitStack() as closing:
        target = closing.enter_context(write_whole(output, force=force)) if output else None
        buffered = io.BufferedReader(source) if isinstance(source, io.RawIOBase) else source
        from_records = _begins_with_tag(buffered)
        for number, game in _read_records(buffered) if from_records else read_games(buffered):
            if isinstance(game, KamonError):
                failed = True
                typer.echo(f"kamon: {game.at(line=number)}", err=True)
                continue
            text = _as_line(game) if from_records else format_record(game)
            typer.echo(text, file=target)
    if failed:
        raise typer.Exit(1)


def _begins_with_tag(stream: BinaryIO) -> bool:
    """Look at the first character that says something, without taking it."""
    ahead = stream.peek(4096) if isinstance(stream, io.BufferedReader) else b""
    return ahead.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _read_records(stream: BinaryIO) -> Iterator[tuple[int, Game | KamonError]]:
    # Bytes that are no UTF-8 become marks in a comment or a name, and an error anywhere else.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
    for number, record in split_records(text):
        try:
            yield number, parse_record(record, first_line=number)
        except KamonError as error:
            yield number, error
    text.detach()


def _as_line(game: Game) -> str:
    result = game.result
    if result is None:
        return format_line(game)
    winner = result.winner.value if result.winner else "draw"
    return f"{format_line(game)} ; {winner} {result.termination}"
