"""``kamon new``: layouts, by seed."""

import secrets
from typing import Annotated

import typer

from kamon.layout import SEED_LIMIT, Layout
from kamon.notation import format_layout

EXAMPLES = """Examples:

\b
  kamon new                      a random layout, with its seed
  kamon new --seed 7             always the same layout
  kamon new --seed 1 --count 10  the layouts of seeds 1 to 10"""


def run(
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="SEED",
            min=0,
            max=SEED_LIMIT - 1,
            help="Seed of the first layout; random by default.",
        ),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=SEED_LIMIT,
            help="Number of layouts, with the seeds SEED, SEED+1 and so on.",
        ),
    ] = 1,
) -> None:
    """Print random layouts with their seeds."""
    first = secrets.randbelow(SEED_LIMIT - count + 1) if seed is None else seed
    if first + count > SEED_LIMIT:
        raise typer.BadParameter(
            f"{count} layouts from seed {first} go beyond the last seed, 2^64-1"
        )
    for number in range(first, first + count):
        typer.echo(f"{format_layout(Layout.shuffled(number))} ; seed {number}")
