"""``kamon show``: a position as text or as a picture."""

import contextlib
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from kamon.cli.choices import EditionOption, ThemeOption
from kamon.cli.files import ForceOption, Lines, open_source, read_games, write_whole
from kamon.editions import EDITIONS
from kamon.errors import KamonError
from kamon.position import Position
from kamon.render import svg, text

EXAMPLES = """Examples:

\b
  kamon new --seed 7 | kamon show
  kamon show "$LINE" --edition 2007
  kamon show "$LINE" --svg board.svg --theme dark --coordinates"""


def run(  # noqa: PLR0913 - each is an option that people type
    line: Annotated[
        list[str] | None,
        typer.Argument(metavar="LINE", help="Position line; read from standard input by default."),
    ] = None,
    *,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Write a picture to this file; - for standard output."
        ),
    ] = None,
    edition: EditionOption = "2020",
    theme: ThemeOption = "light",
    size: Annotated[
        int, typer.Option(metavar="PIXELS", min=50, max=5000, help="Width of the picture.")
    ] = 600,
    coordinates: Annotated[bool, typer.Option(help="Show coordinates in the picture.")] = False,
    legal: Annotated[bool, typer.Option(help="Mark the legal moves.")] = True,
    force: ForceOption = False,
) -> None:
    """Show positions as text, or one position as a picture."""
    positions = _read_positions(" ".join(line) if line else None)
    skin = EDITIONS[edition]
    if picture is None:
        colour = sys.stdout.isatty()
        boards = (text.draw(each, edition=skin, colour=colour, legal=legal) for each in positions)
        typer.echo("\n\n".join([*boards, text.legend(skin)]))
        return
    if len(positions) != 1:
        raise typer.BadParameter(f"--svg takes one position, but there are {len(positions)}")
    drawing = svg.draw(
        positions[0],
        edition=skin,
        size=size,
        theme=theme,
        coordinates=coordinates,
        legal=legal,
    )
    if str(picture) == "-":
        typer.echo(drawing)
        return
    with write_whole(picture, force=force) as stream:
        stream.write(drawing + "\n")


def _read_positions(line: str | None) -> list[Position]:
    positions = []
    given = None if line is None else Lines(io.BytesIO(line.encode(errors="replace")))
    with open_source(None) if given is None else contextlib.nullcontext(given) as lines:
        for number, game in read_games(lines):
            if isinstance(game, KamonError):
                raise game.at(line=number)
            positions.append(game.position)
    if not positions:
        raise typer.BadParameter("there is no position line to show")
    return positions
