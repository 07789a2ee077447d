"""``kamon solve``: who wins, which moves keep that, and how."""

import contextlib
import json
import time as time_module
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

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
from kamon.cli.files import SourceFile, open_source, read_games, reason, write_whole
from kamon.errors import KamonError
from kamon.layout import Layout
from kamon.notation import format_cell
from kamon.position import Position, Side

if TYPE_CHECKING:
    # At run time these load slowly, and only the work itself needs them.
    from kamon.engine.limits import Budget
    from kamon.engine.solver import Solution, Solver
    from kamon.engine.top_tree import Standing

EXAMPLES = """Examples:

\b
  kamon solve positions.txt
  kamon solve --distance --time 60 positions.txt
  kamon new --seed 2 | kamon solve --value-only --memory 4096 --threads 2 --save board2.json"""


def run(  # noqa: PLR0913 - each is an option that people type
    file: SourceFile = None,
    *,
    time: TimeOption = None,
    nodes: NodesOption = None,
    memory: MemoryOption = 512,
    threads: ThreadsOption = 1,
    distance: Annotated[
        bool, typer.Option("--distance", help="Also find the number of plies to the end.")
    ] = False,
    value_only: Annotated[
        bool,
        typer.Option(
            "--value-only", help="Prove only the value: no line, and not every best move."
        ),
    ] = False,
    moves: Annotated[
        bool,
        typer.Option(
            "--moves", help="Also evaluate every legal move, and list both sides' threats."
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Save the search of an opening to this file, and continue from it if it exists.",
        ),
    ] = None,
) -> None:
    """Solve positions exactly and print the results as JSON.

    Reads position lines and writes one JSON object for each: the value for the side to move (null,
    with a reason, if a limit was reached), all moves that keep it ("complete" is false if there may
    be others), and a line of best play. "nodes" and "seconds" are what it took to find the value.
    For a line that cannot be read, it writes {"error": ..., "line": N} instead, and the exit status
    is 1. Ctrl-C stops the search and writes what has been proven so far.

    A whole board takes minutes: --value-only finds only its value, and --save lets you continue
    another time. A saved search belongs to one board.
    """
    from kamon.engine.limits import MIB, Limits  # noqa: PLC0415 - loads slowly

    try:
        limits = Limits(time, nodes, memory * MIB, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if distance and value_only:
        raise typer.BadParameter("--value-only and --distance cannot be used together")
    wishes = _Wishes(moves=moves, distance=distance, value_only=value_only)
    if save is not None and not save.absolute().parent.is_dir():
        raise typer.BadParameter(f"cannot write {save}: there is no folder {save.parent}")
    prepare()
    failed = False
    board: Layout | None = None
    with open_source(file) as lines, stopped_by_hand() as stopped:
        for number, game in read_games(lines):
            if isinstance(game, KamonError):
                failed = True
                typer.echo(json.dumps({"error": str(game), "line": number}))
                continue
            board = board or game.layout
            if save is not None and game.layout != board:
                failed = True
                reason_why = "--save takes the positions of one board, and this is another board"
                typer.echo(json.dumps({"error": reason_why, "line": number}))
                continue
            solver = _new_solver(game.layout, limits)
            with _saving(solver, save) as keep, _progress(number, solver, game.position) as show:

                def progress(nodes: int, seconds: float) -> None:
                    show(nodes, seconds)
                    keep()

                answer = _solve(solver, game.position, wishes, stopped, progress)
            typer.echo(json.dumps(answer))
            if stopped():
                raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What is asked for besides the value."""

    moves: bool
    distance: bool
    value_only: bool


def _new_solver(layout: Layout, limits: Any) -> "Solver":  # noqa: ANN401 - a Limits, whose module loads slowly
    from kamon.engine.solver import Solver  # noqa: PLC0415 - loads slowly

    try:
        return Solver(layout, limits)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _solve(
    solver: "Solver",
    position: Position,
    wishes: _Wishes,
    stopped: Callable[[], bool],
    progress: Callable[[int, float], None],
) -> dict[str, Any]:
    from kamon.engine.limits import Budget  # noqa: PLC0415 - as above

    budget = Budget(solver.limits, stopped, progress)
    found = solver.solve(
        position, budget=budget, moves=not wishes.value_only, distance=wishes.distance
    )
    answer = _data(found)
    if wishes.moves:
        answer |= _moves(solver, position, budget, distance=wishes.distance)
        if budget.reason is not None:
            answer["reason"] = budget.reason
    return answer


def _moves(
    solver: "Solver", position: Position, budget: "Budget", *, distance: bool
) -> dict[str, Any]:
    from kamon.engine.analysis import threats, value_moves  # noqa: PLC0415 - as above

    valued = value_moves(solver, position, budget, distance=distance)
    return {
        "moves": [move.data() for move in valued],
        "threats": threats(position).data(),
    }


def _data(found: "Solution") -> dict[str, Any]:
    from kamon.engine.values import VALUE_NAMES  # noqa: PLC0415 - as above

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


# --- Saving

_SAVE_EVERY: Final = 30.0


@contextlib.contextmanager
def _saving(solver: "Solver", path: Path | None) -> Iterator[Callable[[], None]]:
    """Continue from a file if it exists, and save the search regularly and at the end."""
    if path is None:
        yield lambda: None
        return
    if path.exists():
        try:
            solver.restore(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KamonError) as error:
            raise typer.BadParameter(f"cannot continue from {path}: {reason(error)}") from None
    saved = time_module.monotonic()

    def keep() -> None:
        nonlocal saved
        if time_module.monotonic() - saved > _SAVE_EVERY:
            saved = time_module.monotonic()
            _save(solver, path)

    try:
        yield keep
    finally:
        _save(solver, path)


def _save(solver: "Solver", path: Path) -> None:
    """Save the search. If that fails, report it and continue: the next attempt may succeed."""
    try:
        with write_whole(path, force=True) as stream:
            stream.write(solver.save())
    except typer.BadParameter as error:
        typer.echo(f"kamon: {error}", err=True)


# --- Progress


@contextlib.contextmanager
def _progress(
    number: int, solver: "Solver", position: Position
) -> Iterator[Callable[[int, float], None]]:
    """Show on a terminal how far the search of a line has come."""
    if not is_terminal():
        yield lambda _nodes, _seconds: None
        return
    from rich.console import Console  # noqa: PLC0415 - only for people who watch

    with Console(stderr=True).status(f"line {number}") as status:

        def show(nodes: int, seconds: float) -> None:
            how_far = _how_far(solver.standing(position), position, nodes, seconds)
            status.update(
                f"line {number}: {nodes:,} nodes in {seconds:.0f} s{how_far} (Ctrl-C stops)"
            )

        yield show


def _how_far(standing: "Standing | None", position: Position, nodes: int, seconds: float) -> str:
    """Say how the proof of an opening stands: what is proven, and what is only expected."""
    if standing is None:
        return ""
    black = standing.chance if position.turn is Side.BLACK else 1 - standing.chance
    done = nodes / max(1.0, nodes + standing.work_left)
    parts = [f"; estimates: {black:.0%} that Black wins, proof {done:.0%} done"]
    if nodes and seconds > _ENOUGH_TO_TELL:
        parts.append(f", about {_duration(standing.work_left / nodes * seconds)} left")
    if standing.settled:
        names = " ".join(format_cell(cell) for cell in standing.settled)
        parts.append(f"; settled: {names}")
    return "".join(parts)


_ENOUGH_TO_TELL: Final = 5.0
_MINUTE: Final = 60


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * _MINUTE else f"{seconds / _MINUTE:.0f} min"
