"""The pages: shells of HTML in the visitor's language, which the page's modules fill."""

import asyncio
import contextlib
import hashlib
import io
import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

import segno
from fastapi import APIRouter, Request
from fastapi import Path as PathParam
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape

from kamon import __version__, i18n
from kamon.editions import EDITIONS
from kamon.engine.strengths import STRENGTHS
from kamon.errors import KamonError
from kamon.game import Game
from kamon.notation import format_line, parse_line
from kamon.record import parse_record
from kamon.render import svg
from kamon.render.artwork import ARTWORK
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.web import identity
from kamon.web.messages import LINE_LIMIT, GameId

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"
LANGUAGE_COOKIE: Final = "kamon-language"
THEME_COOKIE: Final = "kamon-theme"
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; media-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

router = APIRouter(include_in_schema=False)
_templates = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=select_autoescape(), trim_blocks=True
)


@lru_cache(maxsize=1)
def stamped() -> str:
    """Return the folder of what pages are made of, named after its contents.

    So a browser may keep all of it for ever, and never mixes two versions.
    """
    contents = hashlib.sha256((_artwork() + _palette()).encode())
    for language in i18n.LANGUAGES:
        contents.update(json.dumps(i18n.catalogue(language)).encode())
    for path in sorted(path for path in STATIC.rglob("*") if path.is_file()):
        contents.update(path.relative_to(STATIC).as_posix().encode() + path.read_bytes())
    return f"/static/{contents.hexdigest()[:12]}"


def language_of(request: Request) -> str:
    """Choose the language: the one that was clicked, else what the browser asks for."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in i18n.LANGUAGES:
        return chosen
    return i18n.negotiate(i18n.accepted(request.headers.get("accept-language", "")))


def render(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """Fill a template, and give a browser that has none its secret."""
    language = language_of(request)
    theme = request.cookies.get(THEME_COOKIE, "")
    html = _templates.get_template(name).render(
        _=lambda text: i18n.translate(language, text),
        language=language,
        languages=i18n.LANGUAGES,
        theme=theme if theme in ("light", "dark") else "auto",
        version=__version__,
        static=stamped(),
        **values,
    )
    response = HTMLResponse(
        html, status, headers={"Cache-Control": "no-store", "Vary": "Cookie, Accept-Language"}
    )
    known = identity.visitor({}, request.cookies).holder is not None
    # Set again with every page, so that it lasts as long as somebody comes back.
    response.set_cookie(
        identity.COOKIE,
        request.cookies[identity.COOKIE] if known else identity.new_secret(),
        max_age=identity.COOKIE_AGE,
        httponly=True,
        samesite="lax",
        # Where TLS ends at a proxy, the public address tells.
        secure=request.app.state.services.base_url(request).startswith("https:"),
    )
    return response


def missing(request: Request) -> Response:
    """Show that there is nothing here."""
    return render(request, "missing.html", 404, page="missing")


@router.head("/")
@router.get("/")
async def home(request: Request) -> Response:
    """Show the ways to play."""
    return render(request, "home.html", page="home")


@router.get("/game/{game}")
async def game_page(game: Annotated[GameId, PathParam()], request: Request) -> Response:
    """Show one game."""
    services = request.app.state.services
    room = (await services.bus.table(game)).room
    card = _card(request, format_line(Game(room.layout, room.moves)))
    return render(request, "game.html", page="game", game=game, **card)


@router.get("/games")
async def my_games(request: Request) -> Response:
    """Show the games that this browser took part in."""
    return render(request, "games.html", page="games")


@router.get("/learn")
async def learn(request: Request) -> Response:
    """Show the tutorial."""
    return render(request, "learn.html", page="learn")


@router.get("/study")
async def new_study(request: Request) -> Response:
    """Show the study board, with what the address asks for or what the browser has kept."""
    line = request.query_params.get("line", "")
    # Only what is a position has a picture; the page itself says what is wrong with the rest.
    with contextlib.suppress(KamonError):
        game = parse_line(line) if len(line) <= LINE_LIMIT else None
        if game is not None:
            card = _card(request, format_line(game))
            return render(request, "study.html", page="study", study="", **card)
    return render(request, "study.html", page="study", study="")


@router.get("/study/{study}")
async def study_page(study: Annotated[GameId, PathParam()], request: Request) -> Response:
    """Show a study that somebody keeps."""
    found = await asyncio.to_thread(request.app.state.services.bus.store.study, study)
    if found is None:
        return missing(request)
    game = await asyncio.to_thread(parse_record, found[1])
    card = _card(request, format_line(game))
    return render(request, "study.html", page="study", study=study, **card)


def _card(request: Request, line: str) -> dict[str, Any]:
    """Say what a link to this page looks like where it is shared."""
    base = request.app.state.services.base_url(request)
    picture = f"{base}/api/card.png?line={quote(line)}"
    return {"address": f"{base}{request.url.path}", "card": picture}


@router.get("/handover")
async def handover(request: Request) -> Response:
    """Take over a seat by the link that the page finds in its own address."""
    return render(request, "handover.html", page="handover")


async def words(language: str) -> Response:
    """Give the page its words, as a module."""
    if language not in i18n.LANGUAGES:
        language = i18n.DEFAULT
    return _module(f"export default {json.dumps(i18n.catalogue(language), ensure_ascii=False)};")


async def artwork() -> Response:
    """Give the page the drawings, colours and measures that pictures are made of, as a module."""
    return _module(_artwork())


@lru_cache(maxsize=1)
def _artwork() -> str:
    data = {
        "artwork": ARTWORK,
        "editions": {
            name: {
                "symbols": edition.symbols,
                "suits": {str(suit): word for suit, word in edition.suits.items()},
                "edges": {pair.name.lower(): word for pair, word in edition.edges.items()},
                "lifts": edition.lifts_tokens,
            }
            for name, edition in EDITIONS.items()
        },
        "drawing": svg.measures(),
        "levels": [strength.name for strength in STRENGTHS],
        "descriptions": [strength.description for strength in STRENGTHS],
    }
    return f"export default {json.dumps(data, ensure_ascii=False)};"


async def palette() -> Response:
    """Give the page the colours of the pictures, by day and by night."""
    return Response(_palette(), media_type="text/css")


@lru_cache(maxsize=1)
def _palette() -> str:
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{{light}}}:root[data-theme=dark]{{{dark}}}"
        f"@media (prefers-color-scheme:dark){{:root[data-theme=auto]{{{dark}}}}}"
    )


def _variables(colours: Palette) -> str:
    plain = {name: getattr(colours, name) for name in _PLAIN_COLOURS}
    for suit, pair in colours.suits.items():
        plain |= {f"suit-{suit}": pair.fill, f"suit-ink-{suit}": pair.ink}
    plain |= {f"sign-{symbol}": colour for symbol, colour in colours.signs.items()}
    for pair_of_edges, colour in colours.edges.items():
        name = pair_of_edges.name.lower()
        plain |= {f"edge-{name}": colour, f"edge-ink-{name}": colours.edge_inks[pair_of_edges]}
    for side, stone in colours.stones.items():
        plain |= {f"{side.value}-{part}": getattr(stone, part) for part in _STONE_PARTS}
    return "".join(f"--{name.replace('_', '-')}:{value};" for name, value in plain.items())


_STONE_PARTS: Final = ("fill", "rim", "shine", "ink")
_PLAIN_COLOURS: Final = (
    *("paper", "cell", "water", "enclosed", "line", "text", "ink", "gold", "legal", "faded"),
    *("pad", "tile", "tile_rim", "stone_band", "stone_ink"),
)


def _module(text: str) -> Response:
    return Response(text, media_type="text/javascript")


@router.get("/manifest.webmanifest")
async def manifest(request: Request) -> Response:
    """Say how the page is installed."""
    language = language_of(request)
    icon = {"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"}
    data = {
        "name": "Kamon",
        "short_name": "Kamon",
        "description": i18n.translate(language, "A board game for two, with crests."),
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


def qr_code(address: str) -> str:
    """Draw an address as a QR code, dark on light in either theme."""
    stream = io.BytesIO()
    segno.make(address, error="m").save(
        stream, kind="svg", scale=6, border=3, dark="#1d1a16", light="#fbf7ec", xmldecl=False
    )
    return stream.getvalue().decode()


# What is written here stands beside the files, under the same stamp.
router.add_api_route(stamped() + "/words/{language}.js", words)
router.add_api_route(stamped() + "/artwork.js", artwork)
router.add_api_route(stamped() + "/palette.css", palette)
