"""Tables to publish: the parts of a run in one file, and the checksums of files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kamon.census.rows import Parts, TableFormat, write_table
from kamon.errors import KamonError

SUMS: Final = "SHA256SUMS"


def join_boards(parts: Parts, path: Path) -> int:
    """Write all boards of a run to one file, by their seeds; return how many there are.

    No board comes twice, neither by its seed nor by what it is like.
    """
    table = _joined(parts).sort_by("seed")
    for column in ("seed", "canonical"):
        if pc.count_distinct(table[column]).as_py() != len(table):
            raise KamonError(
                f"a board appears twice in {parts.folder}, according to its column {column!r}"
            )
    write_table(path, table)
    return len(table)


def join_positions(parts: Parts, path: Path, count: int | None) -> int:
    """Write positions of a run to one file, all or a random sample with as many of each ply."""
    table = _joined(parts)
    if count is not None:
        chosen = _even_sample(table["ply"].to_pylist(), count)
        table = table.take(pa.array(chosen, type=pa.int64()))
    write_table(path, table)
    return len(table)


def _joined(parts: Parts) -> pa.Table:
    tables = list(parts.tables())
    if not tables:
        raise KamonError(
            f"{parts.folder} does not contain any results for {parts.table_format.name}"
        )
    return pa.concat_tables(tables)


def _even_sample(plies: Iterable[int], count: int) -> list[int]:
    """Choose so many rows: as many of each ply as there are, as far as there are so many."""
    by_ply: dict[int, list[int]] = {}
    for row, ply in enumerate(plies):
        by_ply.setdefault(ply, []).append(row)
    rng = Random(0)  # noqa: S311 - a sample is no secret
    chosen: list[int] = []
    # Those of which there are few first, so that the others can make up for them.
    ranked = sorted(by_ply.values(), key=len)
    for number, rows in enumerate(ranked):
        share = -(-(count - len(chosen)) // (len(ranked) - number))
        chosen += rng.sample(rows, min(len(rows), share))
    return sorted(chosen)


def kind_of(folder: Path, *kinds: TableFormat) -> TableFormat:
    """Tell what a run in a folder has made."""
    for kind in kinds:
        if Parts(folder, kind).paths():
            return kind
    raise KamonError(f"{folder} does not contain the results of a census")


def write_sums(folder: Path) -> None:
    """Write the checksums of all tables in a folder, as sha256sum does."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.glob("*.parquet"))
    ]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")
