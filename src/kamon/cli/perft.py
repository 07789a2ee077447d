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
    depth: Annotated[int, typer.Option(min=0, max=len(TOKENS), help="How many plies.")],
    file: SourceFile = None,
) -> None:
    """Count the legal sequences of some plies.

    Reads position lines and writes a number for each. A finished game has none. A line that
    cannot be read gives a - in its place, the reason on standard error, and exit status 1.
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
