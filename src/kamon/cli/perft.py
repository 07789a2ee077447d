"""``kamon perft``: how many games there are, to a depth."""

from typing import Annotated

import typer

from kamon import rules
from kamon.cli.files import SourceFile, open_source, read_games
from kamon.errors import KamonError
from kamon.tokens import TOKENS

EXAMPLES = """Examples:

\b
  kamon new --seed 0 | kamon perft --depth 5"""


def run(
    depth: Annotated[
        int, typer.Option(metavar="PLIES", min=0, max=len(TOKENS), help="Length of the sequences.")
    ],
    file: SourceFile = None,
) -> None:
    """Count legal move sequences of a given length.

    Reads position lines and writes one number for each. A finished game has no moves to count.
    For a line that cannot be read, it writes - instead and the reason on standard error, and the
    exit status is 1.
    """
    failed = False
    with open_source(file) as stream:
        for number, game in read_games(stream):
            if isinstance(game, KamonError):
                failed = True
                typer.echo("-")
                typer.echo(f"kamon: {game.at(line=number)}", err=True)
            else:
                typer.echo(rules.perft(game.position, depth))
    if failed:
        raise typer.Exit(1)
