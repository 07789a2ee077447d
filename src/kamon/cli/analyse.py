"""``kamon analyse``: where a game was won and lost."""

import json
from typing import Annotated, Any

import typer

from kamon.cli.engine import (
    MemoryOption,
    NodesOption,
    ThreadsOption,
    TimeOption,
    is_terminal,
    prepare,
)
from kamon.cli.files import SourceFile, open_source
from kamon.errors import KamonError
from kamon.record import format_record, parse_record, split_records

EXAMPLES = """Examples:

\b
  kamon analyse friday.pgn > reviewed.pgn
  kamon analyse --json friday.pgn | jq '.turns[] | select(.lost > 0)'"""


def run(
    file: SourceFile = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON instead of PGN.")] = False,
    time: TimeOption = 5.0,
    nodes: NodesOption = None,
    memory: MemoryOption = 512,
    threads: ThreadsOption = 1,
) -> None:
    """Review games: the moves that threw something away.

    Reads PGN records and writes them with glyphs, comments and the better lines as variations, or
    one JSON object a game. What could not be proven in the time is told as its chance in trial
    games.
    """
    from kamon.engine.analysis import annotate, review  # noqa: PLC0415 - the kernel loads slowly
    from kamon.engine.limits import MIB, Limits  # noqa: PLC0415

    try:
        limits = Limits(time, nodes, memory * MIB, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    prepare()
    failed = False
    with open_source(file) as lines:
        for number, text in split_records(lines):
            try:
                game = parse_record(text, first_line=number)
            except KamonError as error:
                failed = True
                typer.echo(f"kamon: {error}", err=True)
                continue
            try:
                found = review(game, limits, progress=_show if is_terminal() else _hide)
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
            _write(format_record(annotate(game, found)) if not as_json else found.data())
    if failed:
        raise typer.Exit(1)


def _write(answer: str | dict[str, Any]) -> None:
    typer.echo(answer if isinstance(answer, str) else json.dumps(answer))


def _show(done: int, whole: int) -> None:
    typer.echo(f"\r{done} of {whole} positions", err=True, nl=done == whole)


def _hide(_: int, __: int) -> None:
    pass
