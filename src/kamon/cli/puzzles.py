"""``kamon puzzles``: make puzzles and check them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kamon.cli.engine import prepare
from kamon.cli.files import ForceOption, reason, write_whole
from kamon.cli.runs import (
    ClusterOption,
    FinishedFolderArgument,
    FolderArgument,
    TargetArgument,
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
  kamon puzzles make run --one-move 300
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

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="File of puzzles.", dir_okay=False)
]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=EXAMPLES)


@app.callback()
def _puzzles() -> None:
    """Make and check puzzles with exactly one right move per turn."""


@app.command(epilog=MAKE_EXAMPLES)
def make(
    folder: FolderArgument,
    *,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=_MOST_GAMES, help="Number of games to search for puzzles."
        ),
    ] = None,
    one_move: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=_MOST_GAMES, help="Make this many one-move puzzles instead."
        ),
    ] = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Find puzzles in games between levels, and prove each one twice.

    About one game in ten has a puzzle. Games are played in whole batches of 300. After Ctrl-C or a
    crash, run the same command again to continue. To add more later, run it with more games.
    One-move puzzles are made in batches of six: a connection, a loop, a block, and three threats
    to stop. The same folder can hold both.
    """
    check_packages()
    from kamon.census.rows import ONE_MOVE_PUZZLES, PUZZLES, Parts  # noqa: PLC0415 - loads slowly
    from kamon.puzzles import making  # noqa: PLC0415 - as above

    if (games is None) == (one_move is None):
        raise typer.BadParameter("give either --games or --one-move")
    size, what = making.GAMES_IN_A_BATCH, "games to play"
    kind: type[making.PuzzlesJob | making.OneMoveJob] = making.PuzzlesJob
    if one_move is not None:
        size, what = sum(making.ONE_MOVE_BATCH.values()), "one-move puzzles to make"
        kind = making.OneMoveJob
    parts = Parts(folder, PUZZLES if one_move is None else ONE_MOVE_PUZZLES)
    with opened(parts):
        batches = -(-(games or one_move or 0) // size)
        done = parts.numbers()
        jobs = [kind(number) for number in range(1, batches + 1) if number not in done]
        typer.echo(
            f"{len(jobs)} batches of {size} {what}, {batches - len(jobs)} already done", err=True
        )
        run(jobs, parts, cluster, workers, lambda rows: f"{len(rows)} more puzzles")


@app.command(epilog=JOIN_EXAMPLES)
def join(
    folder: FinishedFolderArgument,
    file: TargetArgument,
    *,
    force: ForceOption = False,
) -> None:
    """Combine the puzzles of a run into one file, easiest first.

    Twins and dull puzzles are left out. Twins have boards that are equal by symmetry, or stones and
    moves that are. Dull puzzles may come from an older version of the program, whose rule was less
    strict.
    """
    check_packages()
    from kamon.census.rows import ONE_MOVE_PUZZLES, PUZZLES, Parts  # noqa: PLC0415 - loads slowly
    from kamon.puzzles.files import format_puzzles, from_fields  # noqa: PLC0415 - as above
    from kamon.puzzles.finding import is_dull  # noqa: PLC0415 - as above
    from kamon.puzzles.making import without_twins  # noqa: PLC0415 - as above

    runs = [Parts(folder, kind) for kind in (PUZZLES, ONE_MOVE_PUZZLES)]
    if not any(parts.paths() for parts in runs):
        raise KamonError(f"{folder} does not contain the puzzles of a run")
    found = [from_fields(row) for parts in runs for row in parts.rows()]
    sharp = [
        puzzle
        for puzzle in found
        if puzzle.turns == 1 or not is_dull(puzzle.position, puzzle.solution)
    ]
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
        int | None,
        typer.Option(metavar="N", min=1, help="Check only this many, spread over the file."),
    ] = None,
) -> None:
    """Check a file of puzzles by proving each one again."""
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
        raise KamonError(f"{file} does not contain any puzzles")
    return puzzles


def _check_twins(puzzles: list["Puzzle"]) -> None:
    from kamon.puzzles.making import without_twins  # noqa: PLC0415 - loads slowly

    different = {id(puzzle) for puzzle in without_twins(puzzles)}
    twins = [puzzle.id for puzzle in puzzles if id(puzzle) not in different]
    if twins:
        sys.stderr.write(f"these puzzles are twins of others: {' '.join(twins)}\n")
        raise typer.Exit(1)
