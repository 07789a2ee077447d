"""The rules on one page, and the pictures in it: real games on real boards, drawn once."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from kamon.editions import EDITIONS
from kamon.notation import parse_line
from kamon.position import Position
from kamon.render import svg
from kamon.web.errors import ApiError
from kamon.web.pages import shell
from kamon.web.schemas import SVG
from kamon.web.services import ServicesParam

PICTURE_AGE: Final = 24 * 3600

router = APIRouter(include_in_schema=False)
EditionParam = Annotated[str, Query(pattern="^(2020|2007)$")]
ThemeParam = Annotated[str, Query(pattern="^(light|dark)$")]


@dataclass(frozen=True, slots=True)
class Picture:
    """A position line, and whether the cells that may be played are outlined."""

    line: str
    legal: bool = False

    @property
    def position(self) -> Position:
        """The position at the end of the line."""
        game = parse_line(self.line)
        assert game is not None  # noqa: S101 - no line in the table is empty
        return game.position


# The first three are one game: the set-up, the choice of Black, and that of White.
_BOARD: Final = "A6E6F3D4/B4A4E5F2B1/E2C5B2--D6C1/D1D3A5F4C3C6E3/B3F5D5A2D2E4/E1F1B6C2A1/B5F6C4A3"

PICTURES: Final = {
    "setup": Picture(_BOARD),
    "first": Picture(_BOARD, legal=True),
    "match": Picture(f"{_BOARD} b5", legal=True),
    "link": Picture(
        "E6C1F3C2/B3A3D5E3A1/C3E1B1B5F5A6/A5C6A2--F1D3D6/F2B4B2F4D1F6/C4B6D2C5E4/E5D4A4E2 "
        "b1 c6 e7 g4 e6 d1 c4 a4 c2 f5 c3 a2 d5"
    ),
    "corner": Picture(
        "B2--D1E3/E4D6E6A2A4/B4C6F5A5E5D3/F1C4C5A1D2E2F3/F2B5F4C1B3D5/B6F6C3A3D4/B1A6C2E1 "
        "a3 d7 d4 d2 a1 c5 c3 g5 b2 f3 f6 e6 e5 a4 g7"
    ),
    "loop": Picture(
        "F5D5--E2/E6B6E3F3F2/E4F4A5D1A1B1/C1D2C6F6F1B5C4/A6C3E5E1C5D6/B2C2B3B4A2/A3D3D4A4 "
        "b5 g6 c3 b1 d3 f3 e5 d1 d5 a2 c4 d4 e4"
    ),
    "noloop": Picture(
        "D4E5B6B2/E3F3F5C3D5/D2A1B5D3A2A5/C5F4F6E4B1A3F1/C4E2C1A6A4B3/F2B4C6C2E6/D6--D1E1 "
        "a3 e2 d3 f7 d5 a4 c3 b1 d4 g6 e5 d7 c4 g4 e4"
    ),
    "block": Picture(
        "C3E3E4F4/B5D4D2D5C5/C4D1C6C2A1E2/C1B3--F5A3B1F6/A5E6F3F2F1A4/D3A2B6B4A6/B2E1E5D6 "
        "g6 c5 g4 g7 e6 d7 d3 e2 a3 a4 a1 c3"
    ),
}


@router.get("/rules")
async def rules_page(
    request: Request, services: ServicesParam, edition: EditionParam = "2020"
) -> Response:
    """Show the rules as one edition has them."""
    return shell.render(request, services, "rules.html", page="rules", edition=edition)


@router.get("/rules/{name}.svg")
async def rules_picture(
    name: str, edition: EditionParam = "2020", theme: ThemeParam = "light"
) -> Response:
    """Draw one of the pictures in the rules."""
    if name not in PICTURES:
        raise ApiError("not-found")
    return Response(
        _drawn(name, edition, "dark" if theme == "dark" else "light"),
        media_type=f"{SVG}; charset=utf-8",
        headers={"Cache-Control": f"public, max-age={PICTURE_AGE}"},
    )


# As many as there can be: every name in both editions, by day and by night.
@lru_cache(maxsize=len(PICTURES) * len(EDITIONS) * 2)
def _drawn(name: str, edition: str, theme: svg.Theme) -> str:
    picture = PICTURES[name]
    return svg.draw(
        picture.position, edition=EDITIONS[edition], theme=theme, legal=picture.legal, size=480
    )
