"""``kamon solve``: who wins, which moves keep that, and how."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from kamon.cli.engine import (
    INTERRUPTED,
    MemoryOption,
    NodesOption,
    ThreadsOption,
    TimeOption,
    is_terminal,
    prepare,
    stopped_by_hand,
)
from kamon.cli.files import SourceFile, open_source, read_games
from kamon.errors import KamonError
from kamon.notation import format_cell
from kamon.position import Position

EXAMPLES = """Examples:

\b
  kamon solve positions.txt
  kamon solve --distance --time 60 positions.txt
  kamon new --seed 0 | kamon solve --memory 8192 --threads 2"""


def run(  # noqa: PLR0913 - each is an option that people type
    file: SourceFile = None,
    *,
    time: TimeOption = None,
    nodes: NodesOption = None,
    memory: MemoryOption = 512,
    threads: ThreadsOption = 1,
    distance: Annotated[
        bool, typer.Option("--distance", help="Also count the plies to the end.")
    ] = False,
    value_only: Annotated[
        bool,
        typer.Option(
            "--value-only", help="Find only the best moves that the value takes, and no line."
        ),
    ] = False,
    moves: Annotated[
        bool,
        typer.Option(
            "--moves", help="Also value every legal move, and tell what either side threatens."
        ),
    ] = False,
) -> None:
    """Solve positions exactly, as JSON.

    Reads position lines and writes one object a line: the value for the side to move (null with
    a reason where a limit ended the work), all moves that keep it ("complete" is false where there
    may be others), a line of best play. "nodes" and "seconds" are what the value took. A line that
    cannot be read gives {"error": ..., "line": N} in its place, and exit status 1. Ctrl-C ends the
    work, and what is proven by then is written.
    """
    from kamon.engine.limits import MIB, Budget, Limits  # noqa: PLC0415 - loads slowly
    from kamon.engine.solver import Solver  # noqa: PLC0415

    try:
        limits = Limits(time, nodes, memory * MIB, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    prepare()
    failed = False
    with open_source(file) as lines, stopped_by_hand() as stopped:
        for number, game in read_games(lines):
            if isinstance(game, KamonError):
                failed = True
                typer.echo(json.dumps({"error": str(game), "line": number}))
                continue
            with _progress(number) as progress:
                try:
                    solver = Solver(game.layout, limits)
                except ValueError as error:
                    raise typer.BadParameter(str(error)) from None
                position = game.position
                budget = Budget(limits, stopped, progress)
                found = solver.solve(
                    position, budget=budget, moves=not value_only, distance=distance
                )
                answer = _data(found)
                if moves:
                    budget = Budget(limits, stopped, progress)
                    answer |= _moves(solver, position, budget, distance=distance)
            typer.echo(json.dumps(answer))
            if stopped():
                raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def _moves(solver: Any, position: Position, budget: Any, *, distance: bool) -> dict[str, Any]:  # noqa: ANN401 - as below
    from kamon.engine.analysis import threats, value_moves  # noqa: PLC0415 - as below

    valued = value_moves(solver, position, budget, distance=distance)
    return {
        "moves": [move.data() for move in valued],
        "threats": threats(position).data(),
    }


def _data(found: Any) -> dict[str, Any]:  # noqa: ANN401 - a Solution, whose module loads numba
    from kamon.engine.solver import VALUE_NAMES  # noqa: PLC0415

    answer = {
        "value": None if found.value is None else VALUE_NAMES[found.value],
        "best": [format_cell(cell) for cell in found.best],
        "pv": [format_cell(cell) for cell in found.line],
        "distance": found.distance,
        "nodes": found.nodes,
        "seconds": round(found.seconds, 4),
    }
    if found.reason is not None:
        answer["reason"] = found.reason
    if not found.complete:
        answer["complete"] = False
    return answer


@contextlib.contextmanager
def _progress(number: int) -> Iterator[Callable[[int, float], None]]:
    """Show on a terminal how far the search of a line has come."""
    if not is_terminal():
        yield lambda _nodes, _seconds: None
        return
    from rich.console import Console  # noqa: PLC0415 - only for people who watch

    with Console(stderr=True).status(f"line {number}") as status:

        def show(nodes: int, seconds: float) -> None:
            status.update(f"line {number}: {nodes:,} nodes in {seconds:.0f} s (Ctrl-C stops)")

        yield show
