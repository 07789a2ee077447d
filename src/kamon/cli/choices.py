"""Options that several commands share."""

from typing import Annotated, Literal

import typer

EditionOption = Annotated[
    Literal["2020", "2007"],
    typer.Option(help="Tokens to show: crests (2020) or Egyptian signs (2007)."),
]
OtherEditionOption = Annotated[
    Literal["2020", "2007"] | None,
    typer.Option("--edition", help="Tokens to show; by default, those of the game's own edition."),
]
ThemeOption = Annotated[Literal["light", "dark"], typer.Option(help="Theme of the picture.")]
