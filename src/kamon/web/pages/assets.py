"""What pages are made of besides their files: words, drawings, colours and error sentences."""

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

from kamon import i18n
from kamon.editions import EDITIONS
from kamon.engine.strengths import STRENGTHS
from kamon.errors import SENTENCES
from kamon.render import svg
from kamon.render.artwork import ARTWORK
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.tokens import SUITS, SYMBOLS, TOKENS
from kamon.web.errors import ERRORS, ApiError
from kamon.web.pages.colours import PAGE_COLOURS

STATIC: Final = Path(__file__).parents[1] / "static"


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


async def words(language: str) -> Response:
    """Give the page its words, as a module."""
    if language not in i18n.LANGUAGES:
        language = i18n.DEFAULT
    return _module(_exported(i18n.catalogue(language)))


async def artwork() -> Response:
    """Give the page what it shares with Python, as a module: drawings, names, error sentences."""
    return _module(_artwork())


@lru_cache(maxsize=1)
def _artwork() -> str:
    data = {
        "artwork": ARTWORK,
        "editions": {
            name: {
                "symbols": edition.symbols,
                "tokens": {str(token): edition.describe(token) for token in TOKENS},
                "any": {each: edition.any_with_symbol(each) for each in SYMBOLS}
                | {str(each): edition.any_with_suit(each) for each in SUITS},
                "edges": {pair.name.lower(): word for pair, word in edition.edges.items()},
                "lifts": edition.lifts_tokens,
            }
            for name, edition in EDITIONS.items()
        },
        "drawing": svg.measures(),
        "levels": [strength.name for strength in STRENGTHS],
        "descriptions": [strength.description for strength in STRENGTHS],
    }
    return _exported(data)


async def sentences() -> Response:
    """Give the page the sentences of errors, which it loads with the first one."""
    return _module(_sentences())


@lru_cache(maxsize=1)
def _sentences() -> str:
    errors = {code: kind.sentence for code, kind in ERRORS.items()}
    return _exported({"errors": errors, "defects": SENTENCES})


def _exported(data: object) -> str:
    return f"export default {json.dumps(data, ensure_ascii=False)};"


# The style sheets that each page needs between base.css and forced.css.
SHEETS: Final[dict[str, tuple[str, ...]]] = {
    "home": ("board", "lists", "home"),
    "games": ("board", "lists"),
    "game": ("board", "game"),
    "learn": ("board", "game", "learn"),
    "puzzles": ("board", "game", "puzzles"),
    "study": ("board", "game", "study"),
    "day": ("board", "game", "lists", "day"),
    "rules": ("rules",),
    "offline": ("home",),
    "handover": (),
    "problem": (),
}


async def style(page: str) -> Response:
    """Return the style sheet of a page as one file. It starts with the colours of the pictures."""
    if page not in SHEETS:
        raise ApiError("not-found")
    return Response(_style(page), media_type="text/css")


@lru_cache(maxsize=len(SHEETS))
def _style(page: str) -> str:
    names = ("base", *SHEETS[page], "forced")
    sheets = ((STATIC / "css" / f"{name}.css").read_text(encoding="utf-8") for name in names)
    return _palette() + _shortened("".join(sheets))


def _shortened(sheet: str) -> str:
    """Leave out what is written for people: comments, line breaks and indentation."""
    return re.sub(r"\s*\n\s*", "", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))


@lru_cache(maxsize=1)
def _palette() -> str:
    light = _variables(LIGHT) + _page_variables(0)
    dark = _variables(DARK) + _page_variables(1)
    ratio = f"--board-ratio:{svg.RATIO:.4f};"
    return (
        f":root{{{ratio}{light}}}@media screen{{:root[data-theme=dark]{{{dark}}}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root[data-theme=auto]{{{dark}}}}}"
    )


def _page_variables(theme: int) -> str:
    return "".join(f"--{name}:{pair[theme]};" for name, pair in PAGE_COLOURS.items())


def _variables(colours: Palette) -> str:
    plain = {name: getattr(colours, name) for name in _PLAIN_COLOURS}
    for suit, pair in colours.suits.items():
        plain |= {f"suit-{suit}": pair.fill, f"suit-ink-{suit}": pair.ink}
    plain |= {f"sign-{symbol}": colour for symbol, colour in colours.signs.items()}
    for pair_of_edges, colour in colours.edges.items():
        name = pair_of_edges.name.lower()
        plain |= {f"edge-{name}": colour, f"edge-ink-{name}": colours.edge_inks[pair_of_edges]}
        plain |= {f"band-{name}": colours.bands[pair_of_edges]}
    for side, stone in colours.stones.items():
        plain |= {f"{side.value}-{part}": getattr(stone, part) for part in _STONE_PARTS}
    return "".join(f"--{name.replace('_', '-')}:{value};" for name, value in plain.items())


_STONE_PARTS: Final = ("fill", "rim", "shine", "ink", "edge", "engraved")
_PLAIN_COLOURS: Final = (
    *("paper", "cell", "water", "enclosed", "line", "text", "ink", "gold", "legal", "faded"),
    *("lit", "tray", "pond", "shadow", "pad", "tile", "tile_rim", "stone_ink"),
)


def _module(text: str) -> Response:
    return Response(text, media_type="text/javascript")


def assets_router() -> APIRouter:
    """Put what is made here beside the files, under the same stamp."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route(stamped() + "/words/{language}.js", words)
    router.add_api_route(stamped() + "/artwork.js", artwork)
    router.add_api_route(stamped() + "/sentences.js", sentences)
    router.add_api_route(stamped() + "/{page}.css", style)
    return router
