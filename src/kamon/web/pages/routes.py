"""The pages, each of which is a shell that its module fills."""

import asyncio
import contextlib
import json
from datetime import date
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi import Path as PathParam
from fastapi.responses import JSONResponse, Response

from kamon import i18n
from kamon.engine.strengths import STRENGTHS
from kamon.errors import KamonError
from kamon.game import Game
from kamon.layout import Layout
from kamon.notation import format_layout, format_line, parse_line
from kamon.web.days.routes import DateQuery, day_of
from kamon.web.errors import ApiError
from kamon.web.ids import PublicId
from kamon.web.learn import rulebook
from kamon.web.learn.lessons import LESSONS
from kamon.web.pages.assets import STATIC, stamped
from kamon.web.pages.home import SAMPLE, home_view
from kamon.web.pages.shell import LEARNT_COOKIE, language_of, render
from kamon.web.puzzles.messages import DayName, PuzzleId
from kamon.web.puzzles.routes import read_day
from kamon.web.schemas import LINE_LIMIT
from kamon.web.services import Services, ServicesParam

router = APIRouter(include_in_schema=False)


@router.head("/")
@router.get("/")
async def home(request: Request, services: ServicesParam) -> Response:
    """Show the ways to play, the visitor's running games, and those that wait."""
    return render(
        request,
        services,
        "home.html",
        page="home",
        told=await home_view(services, services.visitor(request, changes=False)),
        level=STRENGTHS[0],
        newcomer=LEARNT_COOKIE not in request.cookies,
        **_card(request, services, SAMPLE),
    )


@router.get("/game/{game}")
async def game_page(
    game: Annotated[PublicId, PathParam()], request: Request, services: ServicesParam
) -> Response:
    """Show one game."""
    room = (await services.desk.table(game)).room
    card = _card(request, services, format_line(Game(room.layout, room.moves)))
    return render(request, services, "game.html", page="game", game=game, **card)


@router.get("/games")
async def my_games(request: Request, services: ServicesParam) -> Response:
    """Show the games that this browser took part in."""
    return render(request, services, "games.html", page="games")


@router.get("/learn")
async def learn(request: Request, services: ServicesParam) -> Response:
    """Show the tutorial."""
    return render(request, services, "learn.html", page="learn")


@router.get("/day")
async def day_page(request: Request, services: ServicesParam, date: DateQuery = None) -> Response:
    """Show the board of the day, or that of a day before."""
    day = day_of(services, date)
    layout = Layout.shuffled(await services.days.seed_of(day))
    card = _card(request, services, format_layout(layout), day=day.isoformat())
    return render(request, services, "day.html", page="day", **card)


@router.get("/study")
async def new_study(request: Request, services: ServicesParam) -> Response:
    """Show the study board, with what the address asks for or what the browser has kept."""
    line = request.query_params.get("line", "")
    # Only what is a position has a picture; the page itself says what is wrong with the rest.
    with contextlib.suppress(KamonError):
        game = parse_line(line) if len(line) <= LINE_LIMIT else None
        if game is not None:
            card = _card(request, services, format_line(game))
            return render(request, services, "study.html", page="study", study="", **card)
    return render(request, services, "study.html", page="study", study="")


@router.get("/study/{study}")
async def study_page(
    study: Annotated[PublicId, PathParam()], request: Request, services: ServicesParam
) -> Response:
    """Show a study that somebody keeps."""
    kept = await asyncio.to_thread(services.studies.find, study)
    if kept is None:
        raise ApiError("no-such-study")
    card = _card(request, services, kept.line) if kept.line else {}
    return render(request, services, "study.html", page="study", study=study, **card)


def _card(request: Request, services: Services, line: str, **says: object) -> dict[str, Any]:
    """Return what a link to this page looks like where it is shared, and what its card says."""
    base = services.base_url(request)
    query = urlencode({"line": line, **says}, quote_via=quote)
    return {"address": f"{base}{request.url.path}", "card": f"{base}/api/card.png?{query}"}


@router.get("/puzzles")
async def puzzles_page(request: Request, services: ServicesParam) -> Response:
    """Show puzzles that fit the visitor."""
    return render(request, services, "puzzles.html", page="puzzles")


@router.get("/puzzles/day")
async def todays_puzzle_page(request: Request, services: ServicesParam) -> Response:
    """Show the puzzle of today."""
    return await _day_puzzle_page(services.days.today(), request, services)


@router.get("/puzzles/day/{day}")
async def day_puzzle_page(day: DayName, request: Request, services: ServicesParam) -> Response:
    """Show the puzzle of a day."""
    return await _day_puzzle_page(read_day(day, services), request, services)


async def _day_puzzle_page(day: date, request: Request, services: Services) -> Response:
    puzzle = await services.puzzles.store.puzzle_of(day)
    return await _puzzle_page(puzzle, request, services, day=day.isoformat())


@router.get("/puzzles/{puzzle}")
async def puzzle_page(puzzle: PuzzleId, request: Request, services: ServicesParam) -> Response:
    """Show one puzzle."""
    return await _puzzle_page(puzzle, request, services)


async def _puzzle_page(
    puzzle: str, request: Request, services: Services, day: str | None = None
) -> Response:
    """Show a puzzle; where it is shared, the card has the position and not the solution."""
    listed = await asyncio.to_thread(services.puzzles.book.find, puzzle)
    if listed is None:
        raise ApiError("no-such-puzzle")
    asked = listed.read()
    dated = {} if day is None else {"day": day}
    card = _card(request, services, listed.line, moves=asked.turns, **dated)
    return render(
        request,
        services,
        "puzzles.html",
        page="puzzles",
        puzzle=puzzle,
        day=day,
        asked=asked,
        **card,
    )


@router.get("/handover")
async def handover(request: Request, services: ServicesParam) -> Response:
    """Take over a seat by the link that the page finds in its own address."""
    return render(request, services, "handover.html", page="handover")


# --- Without a network ----------------------------------------------------------------------

# What the pages need that open without a network; the words are those of the visitor's language.
OFFLINE_FILES: Final = (
    *("offline.css", "learn.css", "rules.css", "icon.svg", "artwork.js", "vendor/lit-html.js"),
    *("fonts/eb-garamond-latin-500-normal.woff2", "fonts/alegreya-sans-latin-400-normal.woff2"),
    *(f"js/{name}.js" for name in ("board", "cells", "crests", "learn", "offline", "parts")),
    *(f"js/{name}.js" for name in ("rules", "server", "shell", "words")),
)


@router.get("/offline")
async def offline(request: Request, services: ServicesParam) -> Response:
    """Show what can be done without a network; browsers keep this page for that moment."""
    return render(request, services, "offline.html", page="offline", line=SAMPLE)


@router.get("/service-worker.js")
async def service_worker() -> Response:
    """Give browsers the script that answers where there is no network.

    It names the stamp of all files, so that it changes with every version of them.
    """
    line = quote(SAMPLE)
    told = {
        "static": stamped(),
        "files": [f"{stamped()}/{name}" for name in OFFLINE_FILES],
        "words": [language for language in i18n.LANGUAGES if language != i18n.DEFAULT],
        "pages": [
            *("/offline", "/rules", "/learn"),
            *(f"/rules/{name}.svg?edition=2020&theme=light" for name in rulebook.PICTURES),
            *(f"/api/lessons/{number}" for number in range(1, len(LESSONS) + 1)),
            *(f"/api/picture.svg?line={line}&theme={theme}" for theme in ("light", "dark")),
        ],
    }
    script = (STATIC / "service-worker.js").read_text(encoding="utf-8")
    return Response(
        f"globalThis.told = {json.dumps(told)};\n{script}",
        media_type="text/javascript",
        headers={"Cache-Control": "no-cache"},
    )


@router.get("/manifest.webmanifest")
async def manifest(request: Request) -> Response:
    """Say how the page is installed."""
    language = language_of(request)
    icon = {"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"}
    data = {
        "name": "Kamon",
        "short_name": "Kamon",
        "description": i18n.translate(language, "A board game for two players."),
        "lang": language,
        "start_url": "/",
        "display": "standalone",
        "background_color": "#f4eddc",
        "theme_color": "#7a1f1c",
        "icons": [
            icon,
            *(
                {"src": f"/static/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png"}
                for size in (192, 512)
            ),
            {
                "src": "/static/icon-maskable-512.png",
                "sizes": "512x512",
                "type": "image/png",
                "purpose": "maskable",
            },
        ],
    }
    return JSONResponse(data, media_type="application/manifest+json")
