"""The tables of the census: their columns, their versions, and how their files are written.

A run writes each result as a small Parquet file of its own, a part, which appears under its name
when it is whole. So a run that is killed loses nothing that was finished.
"""

import io
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from kamon.errors import FormatError

Row = dict[str, Any]

_NAME: Final = b"kamon.table"
_VERSION: Final = b"kamon.version"
_RESERVE_BYTES: Final = 1 << 20

# The reason of a board whose search was ended because Black seemed unlikely to win.
PUT_OFF: Final = "chance"


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A kind of table: its name, the version of its format and its columns."""

    name: str
    version: int
    columns: Mapping[str, pa.DataType]

    @property
    def schema(self) -> pa.Schema:
        """The columns as Parquet has them, with the name and the version of the format."""
        marks = {_NAME: self.name.encode(), _VERSION: str(self.version).encode()}
        return pa.schema(list(self.columns.items()), metadata=marks)


_CELLS: Final = pa.list_(pa.string())

# docs/census.md explains the columns.
BOARDS: Final = TableFormat(
    "boards",
    1,
    {
        "seed": pa.uint64(),
        "layout": pa.string(),
        "canonical": pa.string(),
        "value": pa.string(),
        "winning": _CELLS,
        "not_winning": _CELLS,
        "drawing": _CELLS,
        "complete": pa.bool_(),
        "reason": pa.string(),
        "first_moves": _CELLS,
        "estimates": pa.list_(pa.float32()),
        "line": _CELLS,
        "ending": pa.string(),
        "samples": pa.list_(
            pa.struct([("side", pa.string()), ("at_least", pa.string()), ("moves", _CELLS)])
        ),
        "checked": pa.int32(),
        "nodes": pa.int64(),
        "seconds": pa.float64(),
        "cpu_seconds": pa.float64(),
        "threads": pa.int16(),
        "memory": pa.int64(),
        "version": pa.string(),
    },
)

POSITIONS: Final = TableFormat(
    "positions",
    1,
    {
        "layout": pa.string(),
        "moves": pa.string(),
        "ply": pa.int8(),
        "value": pa.int8(),
        "length": pa.int8(),
        "cells": _CELLS,
        "values": pa.list_(pa.int8()),
    },
)

# src/kamon/puzzles/files.py explains the columns, which are the same in files of puzzles.
PUZZLES: Final = TableFormat(
    "puzzles",
    1,
    dict.fromkeys(
        ("id", "line", "solution", "value", "rating", "themes", "refutations"), pa.string()
    ),
)


# As above. They have parts of their own, so that one folder may hold a run of each kind.
ONE_MOVE_PUZZLES: Final = TableFormat("one-move", 1, PUZZLES.columns)


def write_rows(path: Path, rows: Sequence[Row], table_format: TableFormat) -> None:
    """Write rows to a file of their own."""
    write_table(path, pa.Table.from_pylist(list(rows), schema=table_format.schema))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a file that appears under its name when all of it is on the disk."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(buffer.getbuffer())
            stream.flush()
            os.fsync(stream.fileno())
        Path(scratch).chmod(0o644)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def read_table(path: Path, table_format: TableFormat) -> pa.Table:
    """Read a file of this kind, or say in a ``FormatError`` what is wrong with it."""
    check_file(path, table_format)
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError):
        raise _damage(path) from None


def check_file(path: Path, table_format: TableFormat) -> None:
    """Say in a ``FormatError`` what is wrong with a file, without reading its rows.

    What it holds is told at its end, so a file that was cut off is recognised.
    """
    try:
        marks = pq.read_schema(path).metadata or {}
    except pa.ArrowInvalid:
        raise _damage(path) from None
    if marks.get(_NAME, b"").decode() != table_format.name:
        raise FormatError(f"{path} is not a table of {table_format.name}")
    version = marks.get(_VERSION, b"").decode()
    if version != str(table_format.version):
        raise FormatError(
            f"{path} has version {version} of the table of {table_format.name}, "
            f"but this program reads version {table_format.version}"
        )


def _damage(path: Path) -> FormatError:
    return FormatError(f"{path} is damaged: it is not a complete Parquet file")


def read_rows(path: Path, table_format: TableFormat) -> list[Row]:
    """Read the rows of a file as plain values."""
    rows: list[Row] = read_table(path, table_format).to_pylist()
    return rows


@dataclass(frozen=True, slots=True)
class Parts:
    """The folder of a run: one file for each piece of work, named by a number."""

    folder: Path
    table_format: TableFormat

    def create(self) -> None:
        """Make the folder if it is not there, and remove what a killed run left half-written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for scratch in self.folder.glob(".part-*"):
            scratch.unlink(missing_ok=True)
        self._reserve.write_bytes(bytes(_RESERVE_BYTES))

    @property
    def _reserve(self) -> Path:
        """A file that only takes up space, so that a full disk has room for what is at hand."""
        return self.folder / ".reserve"

    def free_reserve(self) -> None:
        """Make room for what is finished when the disk turns out to be full."""
        self._reserve.unlink(missing_ok=True)

    def path(self, number: int) -> Path:
        """Name the file of a piece of work."""
        return self.folder / f"{self.table_format.name}-{number:012d}.parquet"

    def numbers(self) -> set[int]:
        """List the pieces of work that have a file. A damaged one is named, with what to do."""
        for path in self.paths():
            with _saying_what_to_do():
                check_file(path, self.table_format)
        return {_number(path) for path in self.paths()}

    def paths(self) -> list[Path]:
        """List the files, in the order of their numbers."""
        found = self.folder.glob(f"{self.table_format.name}-*.parquet")
        return sorted(found, key=_number)

    def write(self, number: int, rows: Sequence[Row]) -> None:
        """Keep the rows of a piece of work, in place of older ones."""
        write_rows(self.path(number), rows, self.table_format)

    def tables(self) -> Iterator[pa.Table]:
        """Read all files; a damaged one is named, with what to do."""
        for path in self.paths():
            with _saying_what_to_do():
                table = read_table(path, self.table_format)
            yield table

    def rows(self) -> Iterator[Row]:
        """Read the rows of all files."""
        for table in self.tables():
            yield from table.to_pylist()


@contextmanager
def _saying_what_to_do() -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{error}. Delete it, and run the same command again.") from None


def _number(path: Path) -> int:
    try:
        return int(path.stem.rpartition("-")[2])
    except ValueError:
        raise FormatError(f"{path} is not part of a run: there is no number in its name") from None
