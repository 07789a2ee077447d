"""Reading lines and writing files, so that no command does either in its own way."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, TextIO

import typer

from kamon.errors import FormatError, KamonError
from kamon.game import Game
from kamon.notation import LINE_LIMIT, parse_line

SourceFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]", help="A file to read; standard input where none is named.", dir_okay=False
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]


@contextlib.contextmanager
def open_source(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file or standard input for reading, as bytes."""
    if path is None:
        yield sys.stdin.buffer
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {path}: {error.strerror}") from None
    with stream:
        yield stream


def read_games(stream: BinaryIO) -> Iterator[tuple[int, Game | KamonError]]:
    """Read position lines: for each that says something its number and the game, or the error."""
    for number, line in _bounded_lines(stream):
        try:
            game = parse_line(_decode(line))
        except KamonError as error:
            yield number, error
        else:
            if game is not None:
                yield number, game


def _bounded_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Read lines, of an endless one no more than shows that it is too long."""
    limit = 4 * LINE_LIMIT + 2  # a character has up to four bytes
    number = 0
    while line := stream.readline(limit):
        number += 1
        yield number, line
        while len(line) == limit and not line.endswith(b"\n"):
            line = stream.readline(limit)


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"byte {line[error.start]:#04x} is not UTF-8 text",
        ).at(column=error.start + 1) from None


@contextlib.contextmanager
def write_whole(path: Path, *, force: bool) -> Iterator[TextIO]:
    """Open a file that appears under its name when all is written, and not before."""
    if not force and path.exists():
        raise typer.BadParameter(f"{path} is there already; --force overwrites it")
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            yield stream
        Path(scratch).chmod(0o666 & ~_umask())
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
