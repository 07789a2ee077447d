"""Options that several commands share."""

from typing import Annotated, Literal

import typer

EditionOption = Annotated[
    Literal["2020", "2007"], typer.Option(help="Whose tokens to show: crests or Egyptian signs.")
]
OtherEditionOption = Annotated[
    Literal["2020", "2007"] | None,
    typer.Option("--edition", help="Whose tokens to show; the game's own where none is named."),
]
ThemeOption = Annotated[Literal["light", "dark"], typer.Option(help="Paper by day or by night.")]
