"""Options that several commands share."""

from typing import Annotated, Literal

import typer

EditionOption = Annotated[
    Literal["2020", "2007"], typer.Option(help="Whose tokens to show: crests or Egyptian signs.")
]
ThemeOption = Annotated[Literal["light", "dark"], typer.Option(help="Paper by day or by night.")]
