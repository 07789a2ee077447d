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
    typer.Argument(metavar="FILE", help="File to read; standard input by default.", dir_okay=False),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]

# A character has up to four bytes, and a line of the longest kind may end in two more.
_BYTE_LIMIT = 4 * LINE_LIMIT + 2


class Lines:
    """The lines of a stream of bytes, which can be looked at before they are taken."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # What has been looked at: the number of blank lines, and the line after them.
        self._blank = 0
        self._ahead = b""

    def first(self) -> bytes:
        """Look at the first line that is not blank, without taking it."""
        while line := self._stream.readline(_BYTE_LIMIT):
            if line.removeprefix(b"\xef\xbb\xbf").strip():
                self._ahead = line
                break
            self._blank += 1
        return self._ahead

    def read(self, limit: int = _BYTE_LIMIT) -> bytes:
        """Take the next line, or as much of it as the limit allows; nothing at the end."""
        if self._blank:
            self._blank -= 1
            return b"\n"
        if self._ahead:
            line, self._ahead = self._ahead, b""
            return line
        return self._stream.readline(limit)

    def readline(self, limit: int) -> str:
        """Take the next line as text. Bytes that are not text become replacement characters."""
        return self.read(limit).decode("utf-8", errors="replace")


@contextlib.contextmanager
def open_source(path: Path | None) -> Iterator[Lines]:
    """Open a file or standard input for reading."""
    if path is None:
        if sys.stdin is None:
            raise typer.BadParameter("standard input is closed: name a file to read")
        yield Lines(sys.stdin.buffer)
        return
    try:
        stream = path.open("rb")
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"cannot read {path}: {reason(error)}") from None
    with stream:
        yield Lines(stream)


def read_games(lines: Lines) -> Iterator[tuple[int, Game | KamonError]]:
    """Read position lines: the number of each that is not empty, and its game or error."""
    for number, line in _bounded_lines(lines):
        try:
            game = parse_line(_decode(line))
        except KamonError as error:
            yield number, error
        else:
            if game is not None:
                yield number, game


def _bounded_lines(lines: Lines) -> Iterator[tuple[int, bytes]]:
    """Give each line a number, and no more of an endless one than shows that it is too long."""
    number = 0
    while line := lines.read():
        number += 1
        rest = line
        while len(rest) == _BYTE_LIMIT and not rest.endswith(b"\n"):
            rest = lines.read()
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def _decode(line: bytes) -> str:
    # A line cut at the limit may end in the midst of a character, and is too long anyway.
    errors = "replace" if len(line) >= _BYTE_LIMIT else "strict"
    try:
        return line.decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        found = FormatError(f"byte {line[error.start]:#04x} is not UTF-8 text")
        before = line[: error.start].decode("utf-8-sig")
        raise found.at(column=len(before) + 1) from None


def check_overwrite(path: Path, *, force: bool) -> None:
    """Refuse to overwrite a file without --force."""
    if not force and path.exists():
        raise typer.BadParameter(f"{path} already exists; use --force to overwrite it")


@contextlib.contextmanager
def write_whole(path: Path, *, force: bool) -> Iterator[TextIO]:
    """Open a file that appears under its name when all is written, and not before."""
    if "\0" in str(path):
        raise typer.BadParameter(f"{str(path)!r} is not a valid file name")
    try:
        if path.is_dir():
            raise typer.BadParameter(f"cannot write {path}: it is a folder")
        check_overwrite(path, force=force)
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".kamon-")
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {reason(error)}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            yield stream
        Path(scratch).chmod(0o666 & ~_umask())
        Path(scratch).replace(path)
    except OSError as error:
        Path(scratch).unlink(missing_ok=True)
        raise typer.BadParameter(f"cannot write {path}: {reason(error)}") from None
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def reason(error: Exception) -> str:
    """Say what the system says, without its numbers."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
