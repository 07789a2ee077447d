"""Tables are read as they were written, and nothing else is taken for one."""

import errno
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kamon.census.rows import BOARDS, POSITIONS, Parts, TableFormat, read_rows, write_rows
from kamon.errors import FormatError

POSITION = {
    "layout": "a layout",
    "moves": "g6 d2",
    "ply": 2,
    "value": 1,
    "length": 7,
    "cells": ["c4", "d4"],
    "values": [1, -1],
}


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_rows(path, [POSITION, POSITION | {"ply": 3}], POSITIONS)
    assert read_rows(path, POSITIONS) == [POSITION, POSITION | {"ply": 3}]


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    parts = Parts(tmp_path, POSITIONS)
    parts.write(3, [POSITION])
    path = parts.path(3)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError, match=r"000000000003.parquet is damaged.*Delete it"):
        list(parts.rows())
    with pytest.raises(FormatError, match=r"000000000003.parquet is damaged.*Delete it"):
        parts.numbers()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (BOARDS, "is not a table of positions"),
        (TableFormat("positions", 2, POSITIONS.columns), "has version 2 of the table"),
    ],
)
def test_another_table_is_refused(tmp_path: Path, other: TableFormat, said: str) -> None:
    path = tmp_path / "rows.parquet"
    write_rows(path, [], other)
    with pytest.raises(FormatError, match=said):
        read_rows(path, POSITIONS)


def test_a_parquet_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(FormatError, match="is not a table of positions"):
        read_rows(path, POSITIONS)


def test_parts_are_found_by_their_numbers(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "new" / "folder", POSITIONS)
    parts.create()
    for number in (12, 3):
        parts.write(number, [POSITION | {"ply": number}])
    assert parts.numbers() == {3, 12}
    assert [row["ply"] for row in parts.rows()] == [3, 12]


def test_a_file_without_a_number_is_no_part(tmp_path: Path) -> None:
    (tmp_path / "positions-copy.parquet").touch()
    with pytest.raises(FormatError, match="there is no number in its name"):
        Parts(tmp_path, POSITIONS).numbers()


def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts(tmp_path, POSITIONS)
    parts.write(1, [POSITION])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("kamon.census.rows.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        parts.write(1, [POSITION | {"ply": 9}])
    assert [row["ply"] for row in parts.rows()] == [2]
    assert list(tmp_path.iterdir()) == [parts.path(1)]


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".part-abc").write_text("half")
    Parts(tmp_path, POSITIONS).create()
    assert [path.name for path in tmp_path.iterdir()] == [".reserve"]
