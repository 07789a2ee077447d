"""Pictures and films of any position line, for whoever asks; the question is all in the address.

Nothing is stored, and the same address always gives the same bytes. So whatever was drawn is kept,
here for a while and by whoever asked for a day. Pixels are drawn one picture at a time in a process
of its own, less favoured than ours: people who play do not notice.
"""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from kamon.notation import format_line, format_position
from kamon.render.svg import Theme
from kamon.web import rasters
from kamon.web.budgets import BudgetError, client_of
from kamon.web.messages import ERROR_ANSWERS, LINE_LIMIT, answers_with
from kamon.web.rasters import EditionName, Kind, Question
from kamon.web.rooms import RoomError
from kamon.web.studies import game_on
from kamon.web.workers import Worker

CACHE_LIMIT: Final = 64 * 1024 * 1024
WAITING_LIMIT: Final = 8
TIME_LIMIT: Final = 20.0
MEDIA_TYPES: Final[dict[Kind, str]] = {
    "picture.svg": "image/svg+xml",
    "picture.png": "image/png",
    "film.gif": "image/gif",
    "film.webp": "image/webp",
    "card.png": "image/png",
}

# What else is taken of the budget for a new picture that is much work: a film has many frames.
DEAR: Final[dict[Kind, float]] = {"card.png": 3, "film.gif": 15, "film.webp": 15}

_log = logging.getLogger(__name__)


# --- The process that draws -----------------------------------------------------------------


class _Painter(Worker):
    """A process that draws."""

    def __init__(self) -> None:
        super().__init__(rasters.work)

    def ask(self, question: Question) -> bytes:
        """Ask, and wait. Who has died since the last question is replaced, and asked again."""
        for _ in range(2):
            try:
                self.send(question)
                return bytes(self.receive(TIME_LIMIT))
            except TimeoutError:
                _log.warning("a picture has taken too long: %s", question)
                break
            except (EOFError, OSError):
                if not self.closed:
                    _log.warning("the process that draws has died, and is replaced")
        raise RoomError("too-slow", "the picture takes too long; try again")


# --- What was drawn -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a file, and a name that no other bytes have."""

    content: bytes
    tag: str

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Name some bytes."""
        return cls(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


class Cache:
    """The pictures that were asked for last, as many as there is room for."""

    def __init__(self, limit: int = CACHE_LIMIT) -> None:
        self.size = 0
        self._limit = limit
        self._pictures: OrderedDict[Question, Picture] = OrderedDict()

    def get(self, question: Question) -> Picture | None:
        """Find a picture, which is the newest from now on."""
        found = self._pictures.get(question)
        if found is not None:
            self._pictures.move_to_end(question)
        return found

    def put(self, question: Question, picture: Picture) -> None:
        """Keep a picture, and forget the oldest beyond the limit."""
        self._forget(self._pictures.pop(question, None))
        self._pictures[question] = picture
        self.size += len(picture.content)
        while self.size > self._limit:
            self._forget(self._pictures.popitem(last=False)[1])

    def _forget(self, picture: Picture | None) -> None:
        self.size -= len(picture.content) if picture else 0


class Studio:
    """Draws what is asked for, once. Its process starts with the first picture that needs it."""

    def __init__(self) -> None:
        self.cache = Cache()
        self.worker = _Painter()
        self._turn = asyncio.Lock()
        self._under_way: dict[Question, asyncio.Task[Picture]] = {}

    async def picture(self, question: Question) -> Picture:
        """Find a picture, or draw it; a ``BudgetError`` where too many wait already."""
        found = self.cache.get(question)
        if found is not None:
            return found
        if question.kind == "picture.svg":
            # A few milliseconds: for that nobody needs to wait for the process.
            return self._keep(question, await asyncio.to_thread(rasters.draw, question))
        task = self._under_way.get(question) or self._begin(question)
        # Others may wait for the same picture: who goes away does not end it.
        return await asyncio.shield(task)

    def close(self) -> None:
        """End the process; whoever still waits is refused."""
        self.worker.close()

    def _begin(self, question: Question) -> asyncio.Task[Picture]:
        if len(self._under_way) >= WAITING_LIMIT:
            raise BudgetError("pictures", 2)
        task = asyncio.create_task(self._draw(question))
        self._under_way[question] = task
        task.add_done_callback(partial(self._end, question))
        return task

    async def _draw(self, question: Question) -> Picture:
        async with self._turn:
            return self._keep(question, await asyncio.to_thread(self.worker.ask, question))

    def _end(self, question: Question, task: asyncio.Task[Picture]) -> None:
        del self._under_way[question]
        if not task.cancelled():
            # Looked at, so that nothing complains where everybody has gone away.
            task.exception()

    def _keep(self, question: Question, content: bytes) -> Picture:
        picture = Picture.of(content)
        self.cache.put(question, picture)
        return picture


def studio_of(app: FastAPI) -> Studio:
    """Return the studio of a server, made when it is first asked for."""
    studio: Studio | None = getattr(app.state, "studio", None)
    if studio is None:
        studio = app.state.studio = Studio()
    return studio


def close(app: FastAPI) -> None:
    """Close the studio of a server that stops, if there ever was one."""
    studio: Studio | None = getattr(app.state, "studio", None)
    if studio is not None:
        studio.close()
        app.state.studio = None


# --- What may be asked for ------------------------------------------------------------------


class _Wish(BaseModel):
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


class _BoardWish(_Wish):
    """A board, and what is marked on it."""

    legal: Annotated[bool, Field(description="Mark the cells that may be played.")] = False
    coordinates: Annotated[bool, Field(description="Write the names of the cells.")] = False


class _PixelsWish(_BoardWish):
    """A board in pixels."""

    width: Annotated[int, Field(ge=120, le=1200)] = 600


class _FilmWish(_Wish):
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
async def draw_svg(request: Request, wish: Annotated[_BoardWish, Query()]) -> Response:
    """Draw the last position of a line as SVG."""
    return await _answer(request, wish, "picture.svg")


@router.get(**_gives("picture.png"))
async def draw_png(request: Request, wish: Annotated[_PixelsWish, Query()]) -> Response:
    """Draw the last position of a line as PNG."""
    return await _answer(request, wish, "picture.png")


@router.get(**_gives("film.gif"))
async def draw_gif(request: Request, wish: Annotated[_FilmWish, Query()]) -> Response:
    """Show the game of a line move by move, as GIF."""
    return await _answer(request, wish, "film.gif")


@router.get(**_gives("film.webp"))
async def draw_webp(request: Request, wish: Annotated[_FilmWish, Query()]) -> Response:
    """Show the game of a line move by move, as WebP."""
    return await _answer(request, wish, "film.webp")


@router.get(**_gives("card.png"))
async def draw_card(request: Request, wish: Annotated[_Wish, Query()]) -> Response:
    """Draw the card that stands for a link: the last position of a line beside the game's name."""
    return await _answer(request, wish, "card.png")


async def _answer(request: Request, wish: _Wish, kind: Kind) -> Response:
    budgets, client = request.app.state.services.budgets, client_of(request)
    studio = studio_of(request.app)
    budgets.spend(client, "pictures")
    question = wish.question(kind)
    if kind in DEAR and studio.cache.get(question) is None:
        budgets.spend(client, "pictures", DEAR[kind])
    picture = await studio.picture(question)
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
