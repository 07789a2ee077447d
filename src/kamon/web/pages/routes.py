"""The pages, each of which is a shell that its module fills."""

import asyncio
import contextlib
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi import Path as PathParam
from fastapi.responses import JSONResponse, Response

from kamon import i18n
from kamon.errors import KamonError
from kamon.game import Game
from kamon.notation import format_line, parse_line
from kamon.web.errors import ApiError
from kamon.web.ids import PublicId
from kamon.web.pages.shell import language_of, render
from kamon.web.schemas import LINE_LIMIT
from kamon.web.services import Services, ServicesParam

router = APIRouter(include_in_schema=False)


@router.head("/")
@router.get("/")
async def home(request: Request, services: ServicesParam) -> Response:
    """Show the ways to play."""
    return render(request, services, "home.html", page="home")


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
    services.spend(request, "requests")
    kept = await asyncio.to_thread(services.studies.find, study)
    if kept is None:
        raise ApiError("no-such-study")
    card = _card(request, services, kept.line) if kept.line else {}
    return render(request, services, "study.html", page="study", study=study, **card)


def _card(request: Request, services: Services, line: str) -> dict[str, Any]:
    """Say what a link to this page looks like where it is shared."""
    base = services.base_url(request)
    picture = f"{base}/api/card.png?line={quote(line)}"
    return {"address": f"{base}{request.url.path}", "card": picture}


@router.get("/handover")
async def handover(request: Request, services: ServicesParam) -> Response:
    """Take over a seat by the link that the page finds in its own address."""
    return render(request, services, "handover.html", page="handover")


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
        ],
    }
    return JSONResponse(data, media_type="application/manifest+json")
