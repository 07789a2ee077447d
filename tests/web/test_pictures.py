"""Pictures of a line: right, drawn once, and never in anybody's way."""

import asyncio
import io
import os
import re
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from PIL import Image
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from kamon import Layout, format_layout
from kamon.render.palette import DARK, LIGHT
from kamon.web.answers import add_error_handlers
from kamon.web.errors import ERRORS, ApiError
from kamon.web.limits import BUDGETS, Budgets
from kamon.web.metrics import Metrics
from kamon.web.overload import LOOKS, Overload
from kamon.web.pictures import rasters, routes
from kamon.web.pictures import studio as module
from kamon.web.pictures.rasters import Question
from kamon.web.pictures.studio import Cache, Picture, Studio, _Painter
from web_server import CHAIN, CHAIN_SEED, PATIENCE

LAYOUT = format_layout(Layout.shuffled(int(CHAIN_SEED)))
LINE = " ".join([LAYOUT, *CHAIN])
# The longest game that there can be: it fills the board.
FULL = (
    "D5F2E2E4/C1F4F1A6A2/B4A1E1A3F5F6/C6A4B5E6D4A5D3/D2E3F3B3D1E5/B2C2C3C4C5/--B6D6B1 "
    "a2 b3 f5 b5 e2 d3 e6 g6 a4 d6 c6 c4 e5 g4 c5 g5 a1 f4 b4 f6 b2 a3 e4 d1 c1 d4 f3 d5 e3 b1 "
    "c2 c3 g7 e7 d2 f7"
)
PNG, SVG = "/api/picture.png", "/api/picture.svg"
MEDIA = {
    PNG: "image/png",
    SVG: "image/svg+xml; charset=utf-8",
    "/api/film.gif": "image/gif",
    "/api/film.webp": "image/webp",
    "/api/card.png": "image/png",
}

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def worker() -> Iterator[_Painter]:
    """The real process, which takes a while to start."""
    made = _Painter()
    yield made
    made.close()


class Painter:
    """Stands for the process: paints nothing, when it is allowed to."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.failures: list[Exception] = []
        self.free = threading.Event()
        self.free.set()

    def ask(self, question: Question) -> bytes:
        self.asked.append(question)
        assert self.free.wait(PATIENCE)
        if self.failures:
            raise self.failures.pop(0)
        return str(question).encode()

    def close(self) -> None:
        self.free.set()


@pytest.fixture
def painter() -> Iterator[Painter]:
    made = Painter()
    yield made
    made.free.set()


class Services:
    """What of a server's services the pictures need."""

    def __init__(self, drawer: object = None, budgets: Budgets | None = None) -> None:
        self.budgets = budgets or Budgets(scale=1000)
        self.metrics = Metrics()
        self.overload = Overload(lambda: 0)
        self.studio = Studio(self.budgets, None if drawer is None else [cast(_Painter, drawer)])

    def client(self, _: HTTPConnection) -> str:
        return "somebody"

    def spend(self, _: HTTPConnection, what: str, cost: float = 1.0) -> None:
        self.budgets.spend("somebody", what, cost)


def application() -> FastAPI:
    app = FastAPI()
    app.include_router(routes.router)
    add_error_handlers(app)
    return app


def server(drawer: object = None, budgets: Budgets | None = None) -> ASGIApp:
    return with_services(application(), Services(drawer, budgets))


def with_services(app: ASGIApp, services: Services) -> ASGIApp:
    """Give every request what the start of a server gives it."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"services": services}}, receive, send)

    return serve


def client_of(app: ASGIApp) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://kamon")


@pytest.fixture
async def http(worker: _Painter) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(server(worker)) as client:
        yield client


async def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        await asyncio.sleep(0.005)


async def seen(http: httpx.AsyncClient, path: str, **wishes: Any) -> Image.Image:  # noqa: ANN401
    answer = await http.get(path, params={"line": LINE, **wishes})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == MEDIA[path]
    image = Image.open(io.BytesIO(answer.content))
    assert image.get_format_mimetype() == MEDIA[path]
    return image


def colour(image: Image.Image, x: int, y: int) -> str:
    red, green, blue = image.convert("RGB").getpixel((x, y))  # type: ignore[misc]  # RGB has three
    return f"#{red:02x}{green:02x}{blue:02x}"


def refused(answer: httpx.Response, status: int, code: str) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    said = answer.json()
    assert set(said) <= {"code", "message", "retry", "values", "defects", "line", "column"}
    assert said["code"] == code
    return str(said["message"])


# --- One position ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [120, 600, 1200])
async def test_a_png_is_as_wide_as_asked_for(http: httpx.AsyncClient, width: int) -> None:
    answer = await http.get(PNG, params={"line": LINE, "width": width})
    assert answer.content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", answer.content[16:24]) == (width, round(width * 592 / 678))


async def test_editions_themes_and_marks_are_all_to_be_seen(http: httpx.AsyncClient) -> None:
    line = " ".join(LINE.split()[:6])
    wishes: list[dict[str, str]] = [
        {},
        {"theme": "dark"},
        {"edition": "2007"},
        {"edition": "2007", "theme": "dark"},
        {"legal": "true"},
        {"coordinates": "true"},
        {"line": LINE},
    ]
    images = [await seen(http, PNG, **{"line": line, **wish}) for wish in wishes]
    assert len({image.convert("RGBA").tobytes() for image in images}) == len(images)
    # Beside the board there is nothing but paper.
    assert colour(images[0], 40, 40) == LIGHT.paper
    assert colour(images[1], 40, 40) == DARK.paper


async def test_a_png_tells_nothing_but_its_pixels(http: httpx.AsyncClient) -> None:
    for path, wish in ((PNG, "false"), (PNG, "true"), ("/api/card.png", "")):
        image = await seen(http, path, **({"coordinates": wish} if wish else {}))
        image.load()
        assert image.info == {}


async def test_names_of_cells_need_no_font_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = Question("picture.png", LAYOUT)
    named = Question("picture.png", LAYOUT, coordinates=True)
    drawn = [rasters.draw(plain), rasters.draw(named)]
    monkeypatch.setattr(rasters, "_FONT", Path("/nowhere"))
    drawn.append(rasters.draw(named))
    assert len({Image.open(io.BytesIO(each)).tobytes() for each in drawn}) == 3


async def test_an_svg_is_drawn_without_the_process(painter: Painter) -> None:
    async with client_of(server(painter)) as http:
        answer = await http.get(SVG, params={"line": LINE, "coordinates": "true"})
        dark = await http.get(SVG, params={"line": LINE, "theme": "dark"})
    assert answer.headers["content-type"] == MEDIA[SVG]
    assert "black has won by connection" in answer.text
    assert re.search(r"<text[^>]*>d4</text>", answer.text)
    assert DARK.paper in dark.text
    assert "<text" not in dark.text
    assert painter.asked == []


# --- Films and cards ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gif", "webp"])
@pytest.mark.parametrize(("line", "moves"), [(LAYOUT, 0), (LINE, len(CHAIN)), (FULL, 36)])
async def test_a_film_has_a_frame_for_every_move(
    http: httpx.AsyncClient, kind: str, line: str, moves: int
) -> None:
    answer = await http.get(f"/api/film.{kind}", params={"line": line})
    assert len(answer.content) < 600_000
    film: Any = Image.open(io.BytesIO(answer.content))
    assert film.size == (360, 314)
    assert film.n_frames == moves + 1
    if moves:
        assert film.info["loop"] == 0
        assert times(film) == [700] * moves + [3000]


def times(film: Any) -> list[int]:  # noqa: ANN401
    found = []
    for at in range(film.n_frames):
        film.seek(at)
        film.load()
        found.append(film.info["duration"])
    return found


@pytest.mark.parametrize("kind", ["gif", "webp"])
async def test_what_does_not_change_in_a_film_does_not_flicker(
    http: httpx.AsyncClient, kind: str
) -> None:
    # On this board no stone comes near the uppermost row in the first three moves.
    line = f"{LAYOUT} {' '.join(CHAIN[:3])}"
    film: Any = await seen(http, f"/api/film.{kind}", line=line, theme="dark", width=240)
    frames = []
    for at in range(film.n_frames):
        film.seek(at)
        frames.append(film.convert("RGB"))
    assert len({frame.tobytes() for frame in frames}) == 4
    assert len({frame.crop((0, 0, 240, 60)).tobytes() for frame in frames}) == 1


async def test_a_film_may_begin_anywhere(http: httpx.AsyncClient) -> None:
    start = f"{LAYOUT} ..../...../....../......./....../....x/.... g6"
    film: Any = await seen(http, "/api/film.gif", line=f"{start} d7 b4")
    assert film.n_frames == 3


async def test_a_card_has_the_size_that_networks_ask_for(http: httpx.AsyncClient) -> None:
    cards = [
        await seen(http, "/api/card.png", theme=theme, edition=edition)
        for theme in ("light", "dark")
        for edition in ("2020", "2007")
    ]
    assert {card.size for card in cards} == {(1200, 630)}
    assert len({card.tobytes() for card in cards}) == 4
    assert {colour(card, 5, 5) for card in cards} == {LIGHT.paper, DARK.paper}
    # The word, the line of gold.
    left = cards[0].crop((0, 0, 520, 630)).getcolors(1 << 20)
    inks = {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in left}  # type: ignore[misc, union-attr]
    assert {LIGHT.text, LIGHT.gold, LIGHT.paper} <= inks


# --- Bad questions --------------------------------------------------------------------------


@pytest.mark.parametrize("path", MEDIA)
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("", "bad-text", "the line is empty"),
        (" ; fun", "bad-text", "the line is empty"),
        ("nonsense", "bad-layout", "not a layout"),
        (LAYOUT.replace("A1", "A2"), "bad-layout", "not a layout"),
        (f"{LAYOUT} d4", "illegal-move", "d4 cannot be played"),
        (f"{LAYOUT} z9", "bad-text", "not a space"),
        (f"{LINE} a1", "illegal-move", "over"),
        (f"{LAYOUT} x/y", "bad-text", "last move"),
        (f"{LAYOUT} x.../...../....../......./....../...../.... -", "bad-position", "position"),
        (LAYOUT + " " * 400, "bad-message", "400"),
    ],
)
async def test_a_bad_line_is_refused_with_its_reason(
    painter: Painter, path: str, line: str, code: str, said: str
) -> None:
    async with client_of(server(painter)) as http:
        message = refused(await http.get(path, params={"line": line}), ERRORS[code].status, code)
    assert said in message
    assert painter.asked == []


@pytest.mark.parametrize(
    ("path", "wish"),
    [
        *((path, wish) for path in MEDIA for wish in ({"edition": "2021"}, {"theme": "pink"})),
        (PNG, {"width": "119"}),
        (PNG, {"width": "1201"}),
        ("/api/film.gif", {"width": "239"}),
        ("/api/film.webp", {"width": "481"}),
        (SVG, {"legal": "perhaps"}),
        (PNG, {"coordinates": "perhaps"}),
    ],
)
async def test_what_cannot_be_wished_for_is_refused(
    painter: Painter, path: str, wish: dict[str, str]
) -> None:
    async with client_of(server(painter)) as http:
        refused(await http.get(path, params={"line": LINE, **wish}), 422, "bad-message")
        refused(await http.get(path), 422, "bad-message")
    assert painter.asked == []


@pytest.mark.parametrize("path", MEDIA)
async def test_every_question_is_paid_for_before_anything_is_done(
    painter: Painter, path: str
) -> None:
    budgets = Budgets(lambda: 0.0)
    budgets.spend("somebody", "pictures", BUDGETS["pictures"].burst - 2)
    app = server(painter, budgets)
    async with client_of(app) as http:
        for _ in range(2):
            assert (await http.get(path, params={"line": LINE})).status_code == 200
        answer = await http.get(path, params={"line": "nonsense"})
    refused(answer, 429, "too-many")
    assert int(answer.headers["Retry-After"]) > 0


async def test_a_new_picture_needs_seconds_and_one_that_was_drawn_before_none(
    painter: Painter,
) -> None:
    budgets = Budgets(lambda: 0.0)
    studio = Studio(budgets, [cast(_Painter, painter)])
    film, other = (Question("film.gif", line) for line in (LINE, LAYOUT))
    await studio.picture(film, "eve")
    budgets.charge("eve", "drawing", BUDGETS["drawing"].burst)
    await studio.picture(film, "eve")
    with pytest.raises(ApiError, match="drawing of this address"):
        await studio.picture(other, "eve")
    await studio.picture(other, "ann")


async def test_the_seconds_that_a_drawing_takes_are_charged(painter: Painter) -> None:
    budgets, burst = Budgets(lambda: 0.0), BUDGETS["drawing"].burst
    studio = Studio(budgets, [cast(_Painter, painter)])
    painter.free.clear()
    drawing = asyncio.create_task(studio.picture(Question("film.gif", LINE), "eve"))
    await until(lambda: bool(painter.asked))
    # The estimate is charged before.
    with pytest.raises(ApiError):
        budgets.require("eve", "drawing", burst - 1)
    await asyncio.sleep(0.2)
    painter.free.set()
    await drawing
    budgets.require("eve", "drawing", burst - 1)
    with pytest.raises(ApiError):
        budgets.require("eve", "drawing", burst - 0.2)


async def test_at_overload_only_pictures_that_were_drawn_before_are_shown(
    painter: Painter,
) -> None:
    services = Services(painter)
    async with client_of(with_services(application(), services)) as http:
        assert (await http.get(PNG, params={"line": LINE})).status_code == 200
        for _ in range(LOOKS):
            services.overload.note(10.0)
        assert (await http.get(PNG, params={"line": LINE})).status_code == 200
        answer = await http.get(PNG, params={"line": LAYOUT})
    refused(answer, 503, "busy")
    assert int(answer.headers["Retry-After"]) > 0


async def test_other_pages_may_show_our_pictures(painter: Painter) -> None:
    async with client_of(server(painter)) as http:
        answer = await http.get(SVG, params={"line": LINE})
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_the_description_tells_what_comes() -> None:
    for path, described in application().openapi()["paths"].items():
        answers = described["get"]["responses"]
        assert list(answers["200"]["content"]) == [MEDIA[path]]
        for status in ("409", "422", "429"):
            assert list(answers[status]["content"]) == ["application/json"]


# --- Drawn once -----------------------------------------------------------------------------


async def test_one_picture_is_drawn_once_however_it_is_asked_for(painter: Painter) -> None:
    line, other_way = f"{LAYOUT} b5 e3 g6 d7 b4", f"{LAYOUT} g6 e3 b5 d7 b4"
    async with client_of(server(painter)) as http:
        answers = [
            await http.get(PNG, params=params)
            for params in (
                {"line": line},
                {"line": line, "width": "600", "theme": "light", "legal": "false"},
                {"line": f"  {line.replace(' ', '  ')} ; a comment"},
                {"line": other_way},
            )
        ]
        assert len(painter.asked) == 1
        await http.get(PNG, params={"line": line, "width": "601"})
        assert len(painter.asked) == 2
    assert {answer.status_code for answer in answers} == {200}
    assert len({(answer.content, answer.headers["etag"]) for answer in answers}) == 1


async def test_a_film_tells_how_a_position_came_about(painter: Painter) -> None:
    async with client_of(server(painter)) as http:
        for line in (f"{LAYOUT} b5 e3 g6 d7 b4", f"{LAYOUT} g6 e3 b5 d7 b4"):
            for _ in range(2):
                answer = await http.get("/api/film.gif", params={"line": line})
                assert answer.status_code == 200
    assert len(painter.asked) == 2


async def test_who_asks_for_the_same_at_the_same_time_waits_together(painter: Painter) -> None:
    painter.free.clear()
    async with client_of(server(painter)) as http:
        asked = [asyncio.create_task(http.get(PNG, params={"line": LINE})) for _ in range(20)]
        await until(lambda: bool(painter.asked))
        painter.free.set()
        answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {200}
    assert len(painter.asked) == 1


@pytest.mark.parametrize("path", [PNG, SVG])
async def test_who_has_a_picture_is_not_sent_it_again(painter: Painter, path: str) -> None:
    async with client_of(server(painter)) as http:

        async def ask(known: str) -> httpx.Response:
            return await http.get(path, params={"line": LINE}, headers={"If-None-Match": known})

        first = await ask('"something else"')
        tag = first.headers["etag"]
        assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
        assert first.status_code == 200
        for known in (tag, f"W/{tag}", f'"a", {tag}', "*"):
            again = await ask(known)
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
            assert again.headers["cache-control"] == "public, max-age=86400"
    assert first.headers["cache-control"] == "public, max-age=86400"


def test_the_cache_forgets_what_nobody_has_asked_for_longest() -> None:
    cache = Cache(limit=100)
    questions = [Question("picture.png", LINE, width=each) for each in range(120, 124)]
    for question in questions[:3]:
        cache.put(question, Picture.of(bytes(30)))
    assert cache.get(questions[0]) is not None
    cache.put(questions[3], Picture.of(bytes(40)))
    assert [cache.get(each) is not None for each in questions] == [True, False, True, True]
    cache.put(questions[3], Picture.of(bytes(10)))
    assert cache.size == 70
    cache.put(questions[1], Picture.of(bytes(101)))
    assert cache.size == 0


# --- In nobody's way ------------------------------------------------------------------------


async def test_only_so_many_may_wait(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLACES_PER_CLIENT", 100)
    painter.free.clear()
    async with client_of(server(painter)) as http:
        waiting = [
            asyncio.create_task(http.get(PNG, params={"line": LINE, "width": width}))
            for width in range(200, 200 + module.WAITING_LIMIT)
        ]
        await until(lambda: bool(painter.asked))
        await asyncio.sleep(0.05)
        answer = await http.get(PNG, params={"line": LINE, "width": 300})
        refused(answer, 429, "too-many")
        assert answer.headers["Retry-After"] == "2"
        # What needs no process is drawn all the same.
        assert (await http.get(SVG, params={"line": LINE})).status_code == 200
        assert len(painter.asked) == 1
        painter.free.set()
        assert {(await each).status_code for each in waiting} == {200}
        assert (await http.get(PNG, params={"line": LINE, "width": 300})).status_code == 200


async def test_one_address_has_only_some_pictures_drawn_at_a_time(painter: Painter) -> None:
    painter.free.clear()
    studio = Studio(painters=[cast(_Painter, painter)])
    questions = [Question("picture.png", LINE, width=width) for width in range(200, 210)]
    mine = [
        asyncio.create_task(studio.picture(each, "eve"))
        for each in questions[: module.PLACES_PER_CLIENT]
    ]
    await asyncio.sleep(0.05)
    with pytest.raises(ApiError) as caught:
        await studio.picture(questions[-1], "eve")
    assert caught.value.code == "too-many"
    # The same picture again needs no further place, and others have places of their own.
    mine.append(asyncio.create_task(studio.picture(questions[0], "eve")))
    mine.append(asyncio.create_task(studio.picture(questions[-1], "ann")))
    await asyncio.sleep(0.05)
    painter.free.set()
    await asyncio.gather(*mine)


async def test_somebody_else_is_drawn_for_before_the_next_of_one_address() -> None:
    painters = [Painter(), Painter()]
    for each in painters:
        each.free.clear()
    studio = Studio(painters=cast(list[_Painter], painters))
    questions = [Question("picture.png", LINE, width=width) for width in range(200, 204)]
    drawing = [asyncio.create_task(studio.picture(each, "eve")) for each in questions[:2]]
    await asyncio.sleep(0.05)
    # One process is left for others.
    assert [len(each.asked) for each in painters] == [1, 0]
    drawing.append(asyncio.create_task(studio.picture(questions[2], "ann")))
    await until(lambda: painters[1].asked == [questions[2]])
    for each in painters:
        each.free.set()
    await asyncio.gather(*drawing)


async def test_who_goes_away_ends_nobody_elses_picture(painter: Painter) -> None:
    painter.free.clear()
    studio = Studio(painters=[cast(_Painter, painter)])
    question = Question("picture.png", LINE)
    leaving, staying = [asyncio.create_task(studio.picture(question)) for _ in range(2)]
    await until(lambda: bool(painter.asked))
    leaving.cancel()
    painter.free.set()
    assert (await staying).content
    assert leaving.cancelled()


async def test_a_failure_is_not_kept(painter: Painter) -> None:
    painter.failures = [ApiError("too-slow")]
    async with client_of(server(painter)) as http:
        refused(await http.get(PNG, params={"line": LINE}), 503, "too-slow")
        assert (await http.get(PNG, params={"line": LINE})).status_code == 200


async def test_a_killed_process_is_replaced(http: httpx.AsyncClient, worker: _Painter) -> None:
    await seen(http, PNG, width=130)
    killed = worker.process
    assert killed is not None
    killed.kill()
    await seen(http, PNG, width=131)
    assert worker.process is not None
    assert worker.process.pid != killed.pid


async def test_a_process_that_is_killed_over_a_film_is_replaced_and_asked_again(
    http: httpx.AsyncClient, worker: _Painter
) -> None:
    await seen(http, PNG, width=132)
    killed = worker.process
    assert killed is not None
    film = asyncio.create_task(http.get("/api/film.gif", params={"line": FULL, "width": 400}))
    await asyncio.sleep(0.2)
    assert not film.done()
    killed.kill()
    assert (await film).status_code == 200
    assert worker.process is not None
    assert worker.process.pid != killed.pid


async def test_a_picture_that_takes_too_long_is_given_up(
    http: httpx.AsyncClient, worker: _Painter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seen(http, PNG, width=133)
    slow = worker.process
    assert slow is not None
    with monkeypatch.context() as patched:
        patched.setattr(module, "TIME_LIMIT", 0.1)
        answer = await http.get("/api/film.gif", params={"line": FULL, "width": 401})
        message = refused(answer, 503, "too-slow")
    assert message == "That took too long. Try again later."
    assert not slow.is_alive()
    await seen(http, PNG, width=134)


async def test_a_server_that_stops_takes_its_process_along() -> None:
    services = Services()
    studio = services.studio
    async with client_of(with_services(application(), services)) as http:
        await seen(http, PNG)
        process = studio.workers[0].process
        assert process is not None
        film = asyncio.create_task(http.get("/api/film.webp", params={"line": FULL}))
        await asyncio.sleep(0.1)
        started = time.monotonic()
        studio.close()
        assert not process.is_alive()
        refused(await film, 503, "too-slow")
        assert time.monotonic() - started < 5


async def test_a_studio_that_never_drew_can_be_closed() -> None:
    studio = Studio()
    studio.close()
    assert [worker.process for worker in studio.workers] == [None] * module.PAINTERS


async def test_whoever_asks_a_studio_that_is_closed_is_refused() -> None:
    studio = Studio()
    studio.close()
    with pytest.raises(ApiError) as caught:
        await studio.picture(Question("picture.png", LAYOUT))
    assert caught.value.code == "too-slow"
    assert [worker.process for worker in studio.workers] == [None] * module.PAINTERS


async def test_the_process_is_less_favoured_than_we_are(
    http: httpx.AsyncClient, worker: _Painter
) -> None:
    await seen(http, PNG, width=135)
    assert worker.process is not None
    assert worker.process.pid is not None
    assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) >= 10


async def test_the_process_ends_when_nobody_is_left_to_ask_it() -> None:
    alone = _Painter()
    await asyncio.to_thread(alone.ask, Question("picture.png", LAYOUT, width=120))
    process, pipe = alone.process, alone._pipe
    assert process is not None
    assert pipe is not None
    # So it is when the server was killed, and could tell nobody.
    pipe.close()
    await asyncio.to_thread(process.join, PATIENCE)
    assert process.exitcode == 0
