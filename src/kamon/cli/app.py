"""The table of commands, and how the program ends."""

import os
import sys
from typing import Annotated

import typer

from kamon import __version__
from kamon.cli import (
    admin,
    analyse,
    census,
    convert,
    copy,
    match,
    new,
    perft,
    play,
    puzzles,
    serve,
    show,
    solve,
    status,
    ugi,
)
from kamon.cli.files import reason
from kamon.errors import KamonError

# Plain help pages: Rich's would double the time that the program takes to start.
app = typer.Typer(
    name="kamon",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (play, serve, copy, new, show, status, solve, analyse, match, ugi, perft, convert):
    name = command.__name__.rpartition(".")[2]
    # A layout may begin with "--", the neutral token, which must not be read as an option.
    settings = {"ignore_unknown_options": command is show}
    app.command(name, epilog=command.EXAMPLES, context_settings=settings)(command.run)
app.add_typer(admin.app, name="admin")
app.add_typer(census.app, name="census")
app.add_typer(puzzles.app, name="puzzles")


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it so
    if wanted:
        typer.echo(f"kamon {__version__}")
        raise typer.Exit


@app.callback()
def _kamon(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Play, host, solve and review Kamon, Bruno Cathala's board game for two."""


def main() -> None:
    """Run the program. The exit status is 0 for success, 1 for bad data, 2 for wrong usage."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KamonError as error:
        sys.exit(f"kamon: {error}")
    except OSError as error:
        # Python would try to flush again when it ends, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A closed pipe needs no message: the reader, such as head, has read enough.
        sys.exit(1 if isinstance(error, BrokenPipeError) else f"kamon: {reason(error)}")
