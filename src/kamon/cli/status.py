"""``kamon status``: whose turn it is, what is legal and how it ended, as JSON."""

import json

import typer

from kamon import rules
from kamon.cli.files import SourceFile, open_source, read_games
from kamon.errors import KamonError
from kamon.notation import format_cell, outcome_data
from kamon.position import Position

EXAMPLES = """Examples:

\b
  kamon new | kamon status
  kamon status games.txt | jq .outcome.by"""


def run(file: SourceFile = None) -> None:
    """Print the side to move, legal moves and result as JSON.

    Reads position lines and writes one JSON object for each. For a line that cannot be read, it
    writes {"error": ..., "line": N} instead, and the exit status is 1.
    """
    failed = False
    with open_source(file) as stream:
        for number, game in read_games(stream):
            if isinstance(game, KamonError):
                failed = True
                typer.echo(json.dumps({"error": str(game), "line": number}))
            else:
                typer.echo(json.dumps(_status(game.position)))
    if failed:
        raise typer.Exit(1)


def _status(position: Position) -> dict[str, object]:
    outcome = rules.outcome(position)
    return {
        "turn": None if outcome else position.turn.value,
        "legal": [format_cell(cell) for cell in rules.legal_cells(position)],
        "outcome": outcome_data(outcome) if outcome else None,
    }
