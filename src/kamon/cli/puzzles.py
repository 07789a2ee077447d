"""``kamon puzzles``: makes puzzles, checks them, and shows one."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kamon.cli.engine import prepare
from kamon.cli.files import ForceOption, reason, write_whole
from kamon.cli.runs import (
    ClusterOption,
    FolderArgument,
    WorkersOption,
    check_packages,
    opened,
    run,
)
from kamon.errors import KamonError

if TYPE_CHECKING:
    from kamon.puzzles.puzzle import Puzzle

EXAMPLES: Final = """Examples:

\b
  kamon puzzles make run --games 30000 --workers 2
  kamon puzzles join run puzzles.csv
  kamon puzzles check puzzles.csv
"""
MAKE_EXAMPLES: Final = """Examples:

\b
  kamon puzzles make run --games 30000 --workers 2
  kamon puzzles make run --games 30000 --cluster dask://10.0.0.1:8786
"""
JOIN_EXAMPLES: Final = """Example:

\b
  kamon puzzles join run puzzles.csv
"""
CHECK_EXAMPLES: Final = """Examples:

\b
  kamon puzzles check puzzles.csv
  kamon puzzles check puzzles.csv --sample 100
"""
_MOST_GAMES: Final = 1_000_000_000

FileArgument = Annotated[Path, typer.Argument(help="A file of puzzles.", dir_okay=False)]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=EXAMPLES)


@app.callback()
def _puzzles() -> None:
    """Make puzzles with exactly one right move at each turn, and prove them."""


@app.command(epilog=MAKE_EXAMPLES)
def make(
    folder: FolderArgument,
    *,
    games: Annotated[
        int, typer.Option(min=1, max=_MOST_GAMES, help="How many games to look for puzzles in.")
    ],
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Let levels play games, find the puzzles in them, and prove each one twice.

    About one game in ten has a puzzle. Games come in batches of 300, of which the last is whole
    too. Run the same command again after Ctrl-C or a crash, and it goes on; more games later add
    to what is there.
    """
    check_packages()
    from kamon.census.rows import PUZZLES, Parts  # noqa: PLC0415 - loads slowly
    from kamon.puzzles.making import GAMES_IN_A_BATCH, PuzzlesJob  # noqa: PLC0415 - as above

    parts = Parts(folder, PUZZLES)
    with opened(parts):
        batches = -(-games // GAMES_IN_A_BATCH)
        done = parts.numbers()
        jobs = [PuzzlesJob(number) for number in range(1, batches + 1) if number not in done]
        typer.echo(
            f"{len(jobs)} batches of {GAMES_IN_A_BATCH} games to play, "
            f"{batches - len(jobs)} done before",
            err=True,
        )
        run(jobs, parts, cluster, workers, lambda rows: f"{len(rows)} puzzles more")


@app.command(epilog=JOIN_EXAMPLES)
def join(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.", file_okay=False)],
    file: Annotated[Path, typer.Argument(help="The file to write.", dir_okay=False)],
    *,
    force: ForceOption = False,
) -> None:
    """Join the puzzles of a run in one file, the easiest first, and leave out twins and dull ones.

    Twins are puzzles on boards that are equal by symmetry, and puzzles whose stones and moves are.
    Dull ones may come from an older version of the program, which had a milder rule.
    """
    check_packages()
    from kamon.census.rows import PUZZLES, Parts  # noqa: PLC0415 - loads slowly
    from kamon.puzzles.files import format_puzzles, from_fields  # noqa: PLC0415 - as above
    from kamon.puzzles.finding import is_dull  # noqa: PLC0415 - as above
    from kamon.puzzles.making import without_twins  # noqa: PLC0415 - as above

    parts = Parts(folder, PUZZLES)
    if not parts.paths():
        raise KamonError(f"{folder} has no puzzles of a run")
    found = [from_fields(row) for row in parts.rows()]
    sharp = [puzzle for puzzle in found if not is_dull(puzzle.position, puzzle.solution)]
    kept = sorted(without_twins(sharp), key=lambda puzzle: (puzzle.rating, puzzle.id))
    with write_whole(file, force=force) as stream:
        stream.write(format_puzzles(kept))
    dull, twins = len(found) - len(sharp), len(sharp) - len(kept)
    typer.echo(f"{file}: {len(kept):,} puzzles; left out: {twins:,} twins, {dull:,} dull ones")


@app.command(epilog=CHECK_EXAMPLES)
def check(
    file: FileArgument,
    *,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many, spread over the file.")
    ] = None,
) -> None:
    """Read a file of puzzles, and prove each of them again from nothing."""
    prepare()
    from kamon.puzzles.checking import find_defects  # noqa: PLC0415 - loads slowly

    puzzles = _read(file)
    _check_twins(puzzles)
    chosen = puzzles if sample is None else puzzles[:: max(1, len(puzzles) // sample)][:sample]
    wrong = 0
    for puzzle in chosen:
        defects = find_defects(puzzle)
        if defects:
            wrong += 1
            typer.echo(f"{puzzle.id}: {'; '.join(defects)}", err=True)
    typer.echo(f"{len(chosen):,} of {len(puzzles):,} puzzles checked, {wrong} wrong")
    if wrong:
        raise typer.Exit(1)


def _read(file: Path) -> list["Puzzle"]:
    from kamon.puzzles.files import parse_puzzles  # noqa: PLC0415 - loads slowly

    try:
        # Spreadsheets put a mark before the text.
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {file}: {reason(error)}") from None
    puzzles = list(parse_puzzles(text))
    if not puzzles:
        raise KamonError(f"{file} has no puzzles")
    return puzzles


def _check_twins(puzzles: list["Puzzle"]) -> None:
    from kamon.puzzles.making import without_twins  # noqa: PLC0415 - loads slowly

    different = {id(puzzle) for puzzle in without_twins(puzzles)}
    twins = [puzzle.id for puzzle in puzzles if id(puzzle) not in different]
    if twins:
        sys.stderr.write(f"twins of others: {' '.join(twins)}\n")
        raise typer.Exit(1)
