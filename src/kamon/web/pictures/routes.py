"""Pictures over HTTP; the question is all in the address."""

from datetime import date
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from kamon.editions import EditionName
from kamon.notation import format_line, format_position
from kamon.position import Side
from kamon.render.svg import Theme
from kamon.web.pictures.rasters import Kind, Question
from kamon.web.schemas import ERROR_ANSWERS, LINE_LIMIT, SVG, answers_with
from kamon.web.services import services_of
from kamon.web.studies.tree import game_on

MEDIA_TYPES: Final[dict[Kind, str]] = {
    "picture.svg": f"{SVG}; charset=utf-8",
    "picture.png": "image/png",
    "film.gif": "image/gif",
    "film.webp": "image/webp",
    "card.png": "image/png",
}


# --- What may be asked for ------------------------------------------------------------------


class _PictureQuery(BaseModel):
    """What every picture is asked for by."""

    model_config = ConfigDict(frozen=True)

    line: Annotated[
        str, Field(max_length=LINE_LIMIT, description="A position line; see docs/notation.md.")
    ]
    edition: EditionName = "2020"
    theme: Theme = "light"

    def question(self, kind: Kind) -> Question:
        """Ask for a picture of the last position: however it came about, it is the same one."""
        position = format_position(game_on(self.line).position)
        return Question(kind, position, **self.model_dump(exclude={"line"}))


class _CardQuery(_PictureQuery):
    """A card for where a link is shared. It can say what there is to do, and on which day."""

    moves: Annotated[int | None, Field(ge=1, le=18, description="How many are to be found.")] = None
    day: Annotated[date | None, Field(description="Of the puzzle or board of a day.")] = None

    def question(self, kind: Kind) -> Question:
        """Ask for a card with the last position."""
        position = game_on(self.line).position
        caption = []
        if self.moves is not None:
            turn = "Black" if position.turn is Side.BLACK else "White"
            caption.append(f"{turn} to play: {self.moves} move{'s' if self.moves > 1 else ''}")
        if self.day is not None:
            caption.append(f"{self.day.day} {self.day:%B %Y}")
        line = format_position(position)
        return Question(kind, line, self.edition, self.theme, caption=tuple(caption))


class _BoardQuery(_PictureQuery):
    """A board, and what is marked on it."""

    legal: Annotated[bool, Field(description="Mark the cells that may be played.")] = False
    coordinates: Annotated[bool, Field(description="Write the names of the cells.")] = False


class _PixelsQuery(_BoardQuery):
    """A board in pixels."""

    width: Annotated[int, Field(ge=120, le=1200)] = 600


class _FilmQuery(_PictureQuery):
    """A game, move by move."""

    width: Annotated[int, Field(ge=240, le=480)] = 360

    def question(self, kind: Kind) -> Question:
        """Ask for a film of the whole line."""
        line = format_line(game_on(self.line))
        return Question(kind, line, **self.model_dump(exclude={"line"}))


# --- Routes ---------------------------------------------------------------------------------

router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)


def _gives(kind: Kind) -> dict[str, Any]:
    """Describe a route whose answer is a picture; its errors are JSON."""
    described = answers_with(MEDIA_TYPES[kind])
    described["responses"][304] = {"description": "The picture that you have is still the same."}
    return {"path": f"/{kind}", **described}


@router.get(**_gives("picture.svg"))
async def draw_svg(request: Request, query: Annotated[_BoardQuery, Query()]) -> Response:
    """Draw the last position of a line as SVG."""
    return await _answer(request, query, "picture.svg")


@router.get(**_gives("picture.png"))
async def draw_png(request: Request, query: Annotated[_PixelsQuery, Query()]) -> Response:
    """Draw the last position of a line as PNG."""
    return await _answer(request, query, "picture.png")


@router.get(**_gives("film.gif"))
async def draw_gif(request: Request, query: Annotated[_FilmQuery, Query()]) -> Response:
    """Show the game of a line move by move, as GIF."""
    return await _answer(request, query, "film.gif")


@router.get(**_gives("film.webp"))
async def draw_webp(request: Request, query: Annotated[_FilmQuery, Query()]) -> Response:
    """Show the game of a line move by move, as WebP."""
    return await _answer(request, query, "film.webp")


@router.get(**_gives("card.png"))
async def draw_card(request: Request, query: Annotated[_CardQuery, Query()]) -> Response:
    """Draw the card that stands for a link: the last position of a line beside the game's name."""
    return await _answer(request, query, "card.png")


async def _answer(request: Request, query: _PictureQuery, kind: Kind) -> Response:
    services = await services_of(request)
    services.spend(request, "pictures")
    question = query.question(kind)
    if services.studio.cache.get(question) is None:
        services.overload.require("pictures")
    picture = await services.studio.picture(question, services.client(request))
    headers = {
        "ETag": picture.tag,
        "Cache-Control": "public, max-age=86400",
        # Other pages may show our pictures; everything else of ours is for our own.
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if _has(request, picture.tag):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=MEDIA_TYPES[kind], headers=headers)


def _has(request: Request, tag: str) -> bool:
    """Tell whether who asks has the picture already."""
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or tag in {
        each.strip().removeprefix("W/") for each in known.split(",")
    }
