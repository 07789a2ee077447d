"""The pictures in the rules: each shows what the sentence beside it says."""

import itertools
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from kamon import rules
from kamon.editions import EDITIONS
from kamon.geometry import (
    ALL,
    BORDER,
    CORNERS,
    NEIGHBOURS,
    OPENING,
    Edge,
    Pair,
    cells,
    mask_of,
    spread,
)
from kamon.notation import parse_cell, parse_token
from kamon.position import Position, Side
from kamon.rules import By, Outcome
from kamon.web.answers import add_error_handlers
from kamon.web.identity import Secrets
from kamon.web.learn import rulebook
from kamon.web.learn.rulebook import PICTURES
from kamon.web.metrics import Metrics

NAMES = ["setup", "first", "match", "link", "corner", "loop", "noloop", "block"]
LOOKS = list(itertools.product(NAMES, EDITIONS, ("light", "dark")))
D4 = parse_cell("d4")


def with_services(app: ASGIApp, services: object) -> ASGIApp:
    """Give every request what the start of a server gives it."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"services": services}}, receive, send)

    return serve


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(rulebook.router)
    add_error_handlers(app)
    services = SimpleNamespace(
        secrets=Secrets(b"key"), is_secure=lambda _: False, metrics=Metrics()
    )
    transport = httpx.ASGITransport(with_services(app, services))
    async with httpx.AsyncClient(transport=transport, base_url="http://kamon") as client:
        yield client


def shown(name: str) -> Position:
    return PICTURES[name].position


def won(name: str) -> Outcome:
    outcome = rules.outcome(shown(name))
    assert outcome is not None
    return outcome


# --- What they show -------------------------------------------------------------------------


def test_the_table_has_the_pictures_of_the_page() -> None:
    assert [*PICTURES] == NAMES


def test_the_first_three_are_one_game() -> None:
    setup, first, match = map(shown, NAMES[:3])
    assert setup == first
    assert setup.ply == 0
    assert match.layout == setup.layout
    assert match.ply == 1


def test_black_may_begin_on_all_twelve_cells() -> None:
    assert rules.legal_mask(shown("first")) == OPENING
    assert PICTURES["first"].legal


def test_ten_cells_match_a_blue_fish() -> None:
    match = shown("match")
    assert match.last is not None
    assert match.layout.tokens[match.last] == parse_token("B3")
    assert EDITIONS["2020"].describe(parse_token("B3")) == "blue fish"
    assert EDITIONS["2007"].describe(parse_token("B3")) == "three cups"
    assert rules.legal_mask(match).bit_count() == 10
    assert PICTURES["match"].legal


def test_the_link_is_from_green_to_green_and_nothing_else() -> None:
    outcome = won("link")
    assert (outcome.winner, outcome.by) == (Side.BLACK, (By.CONNECTION,))
    assert [link.pair for link in outcome.links] == [Pair.GREEN]
    # The corners play no part here: that is the next picture.
    assert not mask_of(outcome.links[0].chain) & CORNERS


def test_the_corners_alone_touch_two_pairs_of_sides() -> None:
    outcome = won("corner")
    assert (outcome.winner, outcome.by) == (Side.BLACK, (By.CONNECTION,))
    assert {link.pair for link in outcome.links} == {Pair.GREEN, Pair.YELLOW}
    black = shown("corner").black
    chain = spread(1 << outcome.links[0].chain[0], black)
    assert chain & BORDER == chain & CORNERS == mask_of(map(parse_cell, ("a1", "g7")))
    for edge in (Edge.TOP, Edge.BOTTOM, Edge.UPPER_LEFT, Edge.LOWER_RIGHT):
        assert (chain & edge.value).bit_count() == 1


def test_six_pieces_close_a_loop_around_a_white_one() -> None:
    outcome = won("loop")
    assert (outcome.winner, outcome.by) == (Side.BLACK, (By.LOOP,))
    assert mask_of(outcome.ring) == NEIGHBOURS[D4]
    assert outcome.enclosed == (D4,)
    assert shown("loop").owner(D4) is Side.WHITE


def test_the_same_ring_around_a_piece_of_its_own_is_no_loop() -> None:
    position = shown("noloop")
    assert position.black & NEIGHBOURS[D4] == NEIGHBOURS[D4]
    assert position.owner(D4) is Side.BLACK
    # The last piece has closed the ring, and the game goes on.
    assert position.last is not None
    assert NEIGHBOURS[D4] >> position.last & 1
    assert rules.outcome(position) is None
    assert rules.legal_mask(position)


def test_nothing_matches_the_green_bird() -> None:
    position, outcome = shown("block"), won("block")
    assert (outcome.winner, outcome.by) == (Side.WHITE, (By.BLOCK,))
    assert outcome.needed == parse_token("C6")
    assert EDITIONS["2020"].describe(outcome.needed) == "green bird"
    assert EDITIONS["2007"].describe(outcome.needed) == "six eyes"
    assert position.ply == 12
    assert position.free
    for cell in cells(position.free):
        token = position.layout.tokens[cell]
        assert token is not None
        assert token.symbol != "C"
        assert token.suit != 6


@pytest.mark.parametrize("name", NAMES)
def test_the_neutral_is_seen_and_never_played(name: str) -> None:
    position = shown(name)
    assert (position.black | position.white) & ~ALL == 0
    assert position.owner(position.layout.neutral) is None


# --- How they are served --------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "edition", "theme"), LOOKS)
async def test_every_picture_is_there_in_both_editions_by_day_and_by_night(
    http: httpx.AsyncClient, name: str, edition: str, theme: str
) -> None:
    answer = await http.get(f"/rules/{name}.svg", params={"edition": edition, "theme": theme})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=86400"
    picture = ET.fromstring(answer.text)  # noqa: S314 - our own drawing
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.anyio
async def test_no_two_pictures_are_alike_but_for_what_is_left_out(http: httpx.AsyncClient) -> None:
    texts = [
        (await http.get(f"/rules/{name}.svg?edition={edition}&theme={theme}")).text
        for name, edition, theme in LOOKS
    ]
    assert len(set(texts)) == len(LOOKS)
    assert (await http.get("/rules/setup.svg")).text == texts[0]


@pytest.mark.anyio
async def test_there_are_no_other_pictures(http: httpx.AsyncClient) -> None:
    answer = await http.get("/rules/elephant.svg")
    assert answer.status_code == 404
    # Whoever types an address is a person, and gets a page.
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["/rules?edition=1999", "/rules/link.svg?edition=1999", "/rules/link.svg?theme=pink"]
)
async def test_what_no_page_of_ours_asks_for_is_not_there(
    http: httpx.AsyncClient, path: str
) -> None:
    # To a person a page that was asked for wrongly is a page that is not there.
    assert (await http.get(path)).status_code == 404


@pytest.mark.anyio
@pytest.mark.parametrize(("edition", "word"), [("2020", "colour"), ("2007", "animal")])
async def test_the_page_speaks_of_one_edition(
    http: httpx.AsyncClient, edition: str, word: str
) -> None:
    page = (await http.get("/rules", params={"edition": edition})).text
    assert f"the same {word}" in page
    assert page.count(f"edition={edition}&amp;theme=light") == len(NAMES)
    assert page.count(f"edition={edition}&amp;theme=dark") == len(NAMES)
    if edition == "2020":
        assert (await http.get("/rules")).text == page


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("edition", "said", "unsaid"),
    [
        (
            "2020",
            ["18 black stones (hexagons)", "golden hexagon on your stone", "or in the same colour"],
            ["pawns", "“first player”"],
        ),
        (
            "2007",
            ["18 black stones (pawns)", "(“first player”) token", "this pile shows", "same number"],
            ["(hexagons)", "golden hexagon on your stone"],
        ),
    ],
)
async def test_the_page_says_what_the_sheet_in_the_box_says(
    http: httpx.AsyncClient, edition: str, said: list[str], unsaid: list[str]
) -> None:
    page = (await http.get("/rules", params={"edition": edition})).text
    both = ["Take turns.", "put one stone", "nobody may ever play", "nobody has won"]
    both += ["There are free tokens left, but none of them matches"]
    lower = page.lower()
    assert [text for text in (*both, *said) if text.lower() not in lower] == []
    assert [text for text in unsaid if text.lower() in lower] == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("cookie", "language"),
    [("pt-PT", "pt-PT"), ("pt", "pt-PT"), ("pt-BR", "pt-BR"), ("tlh", "de"), ("", "de")],
)
async def test_the_language_that_was_clicked_comes_first_and_plain_portuguese_is_that_of_portugal(
    http: httpx.AsyncClient, cookie: str, language: str
) -> None:
    """Cookies from before the tag was pt-PT say pt."""
    headers = {"accept-language": "de", "cookie": f"kamon-language={cookie}"}
    page = await http.get("/rules", headers=headers)
    assert page.headers["content-language"] == language
    assert f'<html lang="{language}"' in page.text
