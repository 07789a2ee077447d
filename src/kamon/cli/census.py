"""``kamon census``: boards and positions solved in bulk."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kamon.cli.files import ForceOption, check_overwrite
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
from kamon.errors import FormatError
from kamon.layout import SEED_LIMIT

if TYPE_CHECKING:
    # At run time these load slowly, and come with an extra.
    from kamon.census.rows import Row
    from kamon.census.run import BoardPlan

EXAMPLES: Final = """Examples:

\b
  kamon census boards census --seeds 1-300 --workers 2 --memory 2048
  kamon census boards census --seeds 1-20 --every-move
  kamon census boards census --seeds 1-9999 --cluster dask://10.0.0.1:8786
"""
POSITION_EXAMPLES: Final = """Example:

\b
  kamon census positions positions --count 1000000 --workers 2
"""
PUBLISH_EXAMPLES: Final = """Examples:

\b
  kamon census publish census boards.parquet
  kamon census publish positions positions.parquet --sample 20000
"""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, epilog=EXAMPLES)

_MOST_SEEDS: Final = 10_000_000
_MOST_POSITIONS: Final = 1_000_000_000


@app.callback()
def _census() -> None:
    """Solve boards and positions in bulk, saved as Parquet tables."""


@app.command(epilog=EXAMPLES)
def boards(  # noqa: PLR0913 - each is an option that people type
    folder: FolderArgument,
    *,
    seeds: Annotated[
        str, typer.Option(metavar="SEEDS", help="Boards to solve: 1-300, or 7, or 1-10,20.")
    ],
    every_move: Annotated[
        bool, typer.Option("--every-move", help="Also prove whether each first move wins.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Retry the boards that an earlier run left unsolved."),
    ] = False,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time limit for each board.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", help="Node limit for each board.")
    ] = None,
    least_chance: Annotated[
        float,
        typer.Option(
            metavar="CHANCE",
            min=0.0,
            max=1.0,
            help="Put a board off if Black's estimated chance of winning is below this.",
        ),
    ] = 0.0,
    memory: Annotated[
        int, typer.Option(metavar="MIB", min=1, help="Memory for each worker, in MiB.")
    ] = 1024,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Solve the boards of the given seeds.

    Each result is saved immediately. After Ctrl-C, a crash or a power cut, run the same command
    again to continue. Unsolved boards are saved too, without a value: either a limit was reached,
    or --least-chance put them off. Proving that Black does not win takes several times as much work
    as proving a win, so --least-chance 0.35 leaves such boards for later, and --again retries them.
    """
    check_packages()
    from kamon.census.rows import BOARDS, Parts  # noqa: PLC0415 - loads slowly
    from kamon.census.run import BoardPlan, board_jobs  # noqa: PLC0415 - as above
    from kamon.engine.limits import MIB, Limits  # noqa: PLC0415 - as above

    try:
        limits = Limits(time, nodes, memory * MIB)
        plan = BoardPlan(parse_seeds(seeds), limits, every_move, again, least_chance)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    parts = Parts(folder, BOARDS)
    with opened(parts):
        known = list(parts.rows())
        jobs = board_jobs(plan, known, lambda line: typer.echo(line, err=True))
        typer.echo(_how_many(plan, len(jobs), known), err=True)
        run(jobs, parts, cluster, workers, _describe_board)


@app.command(epilog=POSITION_EXAMPLES)
def positions(
    folder: FolderArgument,
    *,
    count: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=_MOST_POSITIONS, help="Number of positions to make."),
    ],
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Make random positions with the exact value of every move.

    The positions are at ply 12 to 24. They are made in whole batches of 5,000, which are the same
    on every machine. To add more later, run the command again with a larger count.
    """
    check_packages()
    from kamon.census.positions import BATCH, PositionsJob  # noqa: PLC0415 - loads slowly
    from kamon.census.rows import POSITIONS, Parts  # noqa: PLC0415 - as above

    parts = Parts(folder, POSITIONS)
    with opened(parts):
        batches = -(-count // BATCH)
        done = parts.numbers()
        jobs = [PositionsJob(number) for number in range(1, batches + 1) if number not in done]
        typer.echo(
            f"{len(jobs)} batches of {BATCH:,} to make, {batches - len(jobs)} already done",
            err=True,
        )
        run(jobs, parts, cluster, workers, lambda rows: f"{len(rows):,} more positions")


@app.command(epilog=PUBLISH_EXAMPLES)
def publish(
    folder: FinishedFolderArgument,
    file: TargetArgument,
    *,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Keep this many positions, the same number for each ply; all by default.",
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Combine the results of a run into one file.

    Also writes the checksums of all tables in the file's folder to SHA256SUMS.
    """
    check_packages()
    from kamon.census import publish as publishing  # noqa: PLC0415 - loads slowly
    from kamon.census.rows import BOARDS, POSITIONS, Parts  # noqa: PLC0415 - as above

    kind = publishing.kind_of(folder, BOARDS, POSITIONS)
    if kind is BOARDS and sample is not None:
        raise typer.BadParameter(
            "--sample is only for positions; boards are always published in full"
        )
    check_overwrite(file, force=force)
    parts = Parts(folder, kind)
    try:
        if kind is BOARDS:
            count = publishing.join_boards(parts, file)
        else:
            count = publishing.join_positions(parts, file, sample)
        publishing.write_sums(file.parent)
    except OSError as error:
        raise typer.BadParameter(f"cannot write {file}: {error.strerror or error}") from None
    typer.echo(f"{file}: {count:,} {kind.name}")


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read seeds such as ``1-10,20``; each comes once."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            low, high = int(first), int(last if dash else first)
        except ValueError:
            raise FormatError(
                f"{part!r} is not a range of seeds: use 1-300, or 7, or 1-10,20"
            ) from None
        if not 0 <= low <= high < SEED_LIMIT or high - low >= _MOST_SEEDS:
            raise FormatError(
                f"{part!r} is not a range of seeds: write the lower seed first, such as 1-9, with "
                f"at most {_MOST_SEEDS:,} seeds from 0 to {SEED_LIMIT - 1}"
            )
        seeds |= dict.fromkeys(range(low, high + 1))
    return tuple(seeds)


def _how_many(plan: "BoardPlan", left: int, known: Iterable["Row"]) -> str:
    """Say how many boards are left, and how the others have ended."""
    text = f"{left} boards to solve, {len(plan.seeds) - left} already done"
    wanted = frozenset(plan.seeds)
    ended = sum(row["seed"] in wanted and row["value"] is None for row in known)
    if ended and not plan.again:
        text += f", {ended} of them not solved (use --again to retry them)"
    return text


def _describe_board(rows: "list[Row]") -> str:
    from kamon.census.rows import PUT_OFF  # noqa: PLC0415 - loads slowly

    (row,) = rows
    settled = len(row["winning"]) + len(row["not_winning"])
    unsolved = "put off" if row["reason"] == PUT_OFF else "not solved"
    value = {"win": "Black wins", "draw": "a draw", "loss": "White wins"}.get(
        row["value"], unsolved
    )
    by = f" with {' '.join(row['winning'])}" if row["winning"] else ""
    return (
        f"seed {row['seed']}: {value}{by}; {settled} of "
        f"{len(row['first_moves'])} first moves settled; {row['nodes'] / 1e6:.0f} M nodes, "
        f"{row['cpu_seconds']:.0f} s"
    )
