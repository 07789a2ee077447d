"""Publish a census in this repository: the tables in data/, the plots and the facts in docs/.

The solved boards also come with the program, for the board of the day and for fair boards.

    python -m tools.publish_census --boards FOLDER --positions FOLDER

joins the parts of finished or running runs, checks the boards and a sample of the positions with
``tools/check_census.py``, marks what was checked, and writes the checksums. Without folders it
only draws the plots and writes the facts of docs/census.md and the boards of the program again,
from the tables in data/.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kamon.census.plots import plots
from kamon.census.publish import join_boards, join_positions, write_sums
from kamon.census.report import facts, fairness
from kamon.census.rows import BOARDS, POSITIONS, Parts, Row, read_rows
from kamon.notation import parse_cell
from kamon.web.days.boards import SHIPPED, SolvedBoard, format_boards
from tools.check_census import check_boards, check_positions

ROOT: Final = Path(__file__).parents[1]
BOARDS_FILE: Final = ROOT / "data/census/boards.parquet"
POSITIONS_FILE: Final = ROOT / "data/positions/positions.parquet"
PLOTS: Final = ROOT / "docs/census"
PAGE: Final = ROOT / "docs/census.md"
BEGIN: Final = "<!-- Written by tools/publish_census.py from here -->\n"
END: Final = "<!-- to here -->\n"
_POSITIONS: Final = 20_000
# Each ply before this takes the second program several times as long.
_CHECKED_FROM: Final = 19
_FAIRNESS_DIGITS: Final = 4


def with_facts(page: str, rows: Sequence[Row]) -> str:
    """Replace the facts in the page by those of some boards."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{facts(rows)}\n{END}{after}"


def solved_board(row: Row) -> SolvedBoard:
    """Return what the program needs of a board that is solved."""
    known = fairness(row)
    return SolvedBoard(
        seed=row["seed"],
        value=row["value"],
        winning=_cells(row["winning"]),
        not_winning=_cells(row["not_winning"]),
        drawing=_cells(row["drawing"]),
        complete=row["complete"],
        line=_cells(row["line"]),
        ending=row["ending"] or "",
        fairness=None if known is None else round(known, _FAIRNESS_DIGITS),
    )


def _cells(names: Sequence[str]) -> tuple[int, ...]:
    return tuple(map(parse_cell, names))


def write_results() -> None:
    """Draw the plots, and write the facts and the boards of the program, from the table."""
    rows = read_rows(BOARDS_FILE, BOARDS)
    solved = [solved_board(row) for row in rows if row["value"] is not None]
    SHIPPED.write_text(format_boards(solved), encoding="utf-8")
    PLOTS.mkdir(parents=True, exist_ok=True)
    for name, picture in plots(rows).items():
        (PLOTS / name).write_text(picture, encoding="utf-8")
    PAGE.write_text(with_facts(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def main() -> None:
    """Publish, and fail where a check does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--boards", type=Path, help="the folder of a run of boards")
    parser.add_argument("--positions", type=Path, help="the folder of a run of positions")
    parser.add_argument("--sample", type=int, default=200, help="positions to check")
    options = parser.parse_args()
    faults = 0
    if options.boards:
        BOARDS_FILE.parent.mkdir(parents=True, exist_ok=True)
        join_boards(Parts(options.boards, BOARDS), BOARDS_FILE)
        faults += check_boards(BOARDS_FILE, mark=True)
        write_sums(BOARDS_FILE.parent)
    if options.positions:
        POSITIONS_FILE.parent.mkdir(parents=True, exist_ok=True)
        parts = Parts(options.positions, POSITIONS)
        join_positions(parts, POSITIONS_FILE, _POSITIONS)
        write_sums(POSITIONS_FILE.parent)
        faults += check_positions(parts.paths(), options.sample, _CHECKED_FROM, 1)
    write_results()
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
