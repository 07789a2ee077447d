"""``kamon analyse``: where a game was won and lost."""

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kamon.cli.engine import (
    INTERRUPTED,
    MemoryOption,
    ThreadsOption,
    is_terminal,
    prepare,
    stopped_by_hand,
)
from kamon.cli.files import SourceFile, open_source
from kamon.errors import KamonError
from kamon.game import Game
from kamon.record import format_record, parse_record, split_records

EXAMPLES = """Examples:

\b
  kamon analyse friday.pgn > reviewed.pgn
  kamon analyse --time 300 --threads 2 friday.pgn > reviewed.pgn
  kamon analyse --json friday.pgn | jq '.turns[] | select(.lost > 0)'"""


def run(
    file: SourceFile = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON instead of PGN.")] = False,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time limit for each game.")
    ] = 60.0,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", help="Node limit for each game.")
    ] = None,
    memory: MemoryOption = 512,
    threads: ThreadsOption = 1,
) -> None:
    """Review games: find the deciding mistakes and better moves.

    Reads PGN records and writes them back with a summary, glyphs, comments and better lines as
    variations, or as one JSON object per game. What could not be proven in time is marked as an
    estimate. Ctrl-C stops the review and writes what has been proven so far.
    """
    from kamon.engine.limits import MIB, Limits  # noqa: PLC0415 - the kernel loads slowly

    try:
        limits = Limits(time, nodes, memory * MIB, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    prepare()
    failed = False
    with open_source(file) as lines, stopped_by_hand() as stopped:
        for number, text in split_records(lines):
            try:
                game = parse_record(text, first_line=number)
            except KamonError as error:
                failed = True
                typer.echo(f"kamon: {error}", err=True)
                continue
            try:
                typer.echo(_reviewed(game, limits, stopped, as_json=as_json))
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
            if stopped():
                raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(1)


def _reviewed(game: Game, limits: Any, stopped: Callable[[], bool], *, as_json: bool) -> str:  # noqa: ANN401 - a Limits, as above
    from kamon.engine.review import annotate, review, summary  # noqa: PLC0415 - as above

    found = review(game, limits, progress=_show if is_terminal() else _hide, cancelled=stopped)
    if as_json:
        return json.dumps({"summary": summary(game, found), **found.data()})
    return format_record(annotate(game, found))


def _show(done: int, whole: int) -> None:
    typer.echo(f"\r{done} of {whole} positions (Ctrl-C stops)", err=True, nl=done == whole)


def _hide(_: int, __: int) -> None:
    pass
