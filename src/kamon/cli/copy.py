"""``kamon copy``: everything in one database, into another."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kamon.cli.databases import opening
from kamon.cli.engine import INTERRUPTED, is_terminal

if TYPE_CHECKING:
    from kamon.web.copying import Step, Tally
    from kamon.web.database import Database

EXAMPLES = """Examples:

\b
  kamon copy sqlite:////home/me/kamon.sqlite postgresql://me@localhost/kamon
  kamon copy postgresql://me@localhost/kamon sqlite:////home/me/kamon.sqlite"""


def run(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="URL of the database to copy.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="URL of a new, empty database.")],
) -> None:
    """Copy one database to another, and compare the two.

    Stop all servers on the source first. If the copy is interrupted, run the same command again to
    continue. Until the copy is complete, no server starts on the target.
    """
    # The other commands must not pay for the server.
    from kamon.web.copying import open_source, open_target  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        with opening(source, "SOURCE"):
            source_database = stack.enter_context(open_source(source))
        with opening(target, "TARGET"):
            target_database = stack.enter_context(open_target(target, source_database))
        try:
            _copy(source_database, target_database)
        except KeyboardInterrupt:
            typer.echo("stopped: run the same command again to continue", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _copy(source: "Database", target: "Database") -> None:
    from kamon.web.copying import Copy  # noqa: PLC0415 - see above

    if target.copy_mark() is not None:
        typer.echo("continuing an interrupted copy", err=True)
    with _progress() as tell:
        copy = Copy(source, target, tell)
        tallies = copy.run()
    for line in _table(tallies):
        typer.echo(line)
    if copy.cleaned:
        typer.echo(
            f"NUL characters were left out of {copy.cleaned} rows: PostgreSQL cannot hold them",
            err=True,
        )
    rows = sum(tally.rows for tally in tallies.values())
    typer.echo(f"copied to {target.name}: {rows} rows, equal in both databases")


def _table(tallies: "dict[str, Tally]") -> Iterator[str]:
    """Describe what was counted in each table."""
    yield f"{'table':<16}  {'rows':>10}  checksum"
    for name, tally in tallies.items():
        yield f"{name:<16}  {tally.rows:>10}  {tally.checksum:016x}"


@contextlib.contextmanager
def _progress() -> "Iterator[Callable[[Step], None]]":
    """Show on a terminal how far the copy has come."""
    if not is_terminal():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only for people who watch

    with Console(stderr=True).status("opening") as status:

        def show(step: "Step") -> None:
            status.update(
                f"{step.doing} {step.table}: {step.rows:,} of {step.total:,} (Ctrl-C stops)"
            )

        yield show
