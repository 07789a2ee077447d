"""The guard: what comes in is bounded, and browsers are told what our pages may do."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kamon.web import security
from kamon.web.answers import leaves_within
from kamon.web.app import create_app
from kamon.web.learn import lessons
from kamon.web.pages.assets import stamped
from kamon.web.security import (
    BODY_LIMIT,
    HEADERS,
    HOST_LIMIT,
    HSTS,
    QUERY_LIMIT,
    STUDY_LIMIT,
    Guard,
)
from kamon.web.settings import Settings
from web_server import PATIENCE

pytestmark = pytest.mark.anyio
OURS = "http://kamon"


class App:
    """Answers everything, and counts what has come through."""

    def __init__(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.headers = [
            (name.lower().encode(), value.encode()) for name, value in (headers or {}).items()
        ]
        self.asked = 0

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        self.asked += 1
        start = {"type": "http.response.start", "status": self.status, "headers": self.headers}
        await send(start)
        await send({"type": "http.response.body", "body": b"well"})


def client_of(app: ASGIApp, *, secure: bool = False) -> httpx.AsyncClient:
    guard = Guard(app, secure=secure)
    return httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=OURS)


@contextlib.asynccontextmanager
async def visiting(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Be somebody with one address, at a whole server."""
    app = create_app(Settings(f"sqlite:///{folder}/kamon.sqlite"))
    async with app.router.lifespan_context(app) as state:
        # Time stands still, so that nothing fills again however slow the machine is.
        assert state is not None
        state["services"].budgets._now = lambda: 0.0

        async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": state}, receive, send)

        transport = httpx.ASGITransport(with_state, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=OURS) as http:
            yield http


async def asked(path: str, app: App | None = None, **options: Any) -> httpx.Response:  # noqa: ANN401
    async with client_of(app or App()) as http:
        return await http.get(path, **options)


# --- What browsers are told -----------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/api/games", "/static/app.js", "/nowhere"])
async def test_every_answer_says_what_our_pages_may_do(path: str) -> None:
    for status in (200, 404, 500):
        answer = await asked(path, App(status))
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_our_pages_run_only_scripts_of_ours_and_are_shown_in_no_frame() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy


async def test_what_an_answer_says_itself_stays() -> None:
    # Pictures may be shown by other pages.
    own = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "public, max-age=9"}
    answer = await asked("/api/picture.png", App(headers=own))
    assert {name: answer.headers[name] for name in own} == own


async def test_only_a_server_that_is_reached_over_tls_asks_to_be_reached_so_for_ever() -> None:
    name = "Strict-Transport-Security"
    async with client_of(App(), secure=True) as http:
        assert (await http.get("/")).headers[name] == HSTS
        refused = await http.post("/", content=b"a" * (BODY_LIMIT + 1))
        assert refused.headers[name] == HSTS
    async with client_of(App(), secure=False) as http:
        assert name not in (await http.get("/")).headers


# --- What browsers may keep -----------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 404, 503])
async def test_nothing_of_the_interface_is_kept(status: int) -> None:
    assert (await asked("/api/games", App(status))).headers["cache-control"] == "no-store"


async def test_a_file_under_its_stamp_is_kept_for_ever() -> None:
    answer = await asked(f"{stamped()}/app.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/static/icon.svg", 200),
        # Of another version, and one that is not there.
        ("/static/0123456789ab/app.js", 200),
        (f"{stamped()}/nowhere.js", 404),
    ],
)
async def test_a_file_that_may_change_is_asked_for_again(path: str, status: int) -> None:
    assert (await asked(path, App(status))).headers["cache-control"] == "no-cache"


async def test_a_page_says_itself_whether_it_is_kept() -> None:
    assert "cache-control" not in (await asked("/")).headers


# --- What comes in --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/api/games", BODY_LIMIT),
        ("/", BODY_LIMIT),
        ("/api/studies", STUDY_LIMIT),
        ("/api/studies/read", STUDY_LIMIT),
    ],
)
async def test_a_body_that_is_too_large_is_refused_unread(path: str, limit: int) -> None:
    app = App()
    async with client_of(app) as http:
        assert (await http.post(path, content=b"a" * limit)).status_code == 200
        answer = await http.post(path, content=b"a" * (limit + 1))
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"
    assert str(limit) in answer.json()["message"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert app.asked == 1


async def test_a_body_that_does_not_say_how_long_it_is_is_refused() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a"

    app = App()
    async with client_of(app) as http:
        answer = await http.post("/api/games", content=pieces())
    assert "transfer-encoding" in answer.request.headers
    assert answer.status_code == 413
    assert app.asked == 0


@pytest.mark.parametrize("length", ["-1", "1e3", "+5", "0x10", "", "9" * 5000, "٣", "1, 1"])
async def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    app, sent = App(), []
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/games",
        "headers": [(b"host", b"kamon"), (b"content-length", length.encode())],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await Guard(app, secure=False)(scope, receive, send)
    assert sent[0]["status"] == 413
    assert app.asked == 0


async def test_a_host_is_as_long_as_a_name_in_the_internet_may_be() -> None:
    app = App()
    async with client_of(app) as http:
        assert (await http.get("/", headers={"host": "a" * HOST_LIMIT})).status_code == 200
        answer = await http.get("/", headers={"host": "a" * (HOST_LIMIT + 1)})
    assert answer.status_code == 422
    assert answer.json()["code"] == "bad-message"
    assert app.asked == 1


async def test_a_websocket_passes_through() -> None:
    seen = []

    async def app(scope: Scope, _: Receive, __: Send) -> None:
        seen.append(scope["type"])

    async def nothing(*_: object) -> Any:  # noqa: ANN401
        return {}

    await Guard(app, secure=True)({"type": "websocket", "path": "/ws"}, nothing, nothing)
    await Guard(app, secure=True)({"type": "lifespan"}, nothing, nothing)
    assert seen == ["websocket", "lifespan"]


async def test_a_request_that_fails_unexpectedly_is_answered_with_all_headers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "_told", lambda *_: 1 // 0)
    async with visiting(tmp_path) as http:
        answer = await http.get("/api/lessons/1")
    assert (answer.status_code, answer.json()["code"]) == (500, "failed")
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    assert answer.headers["cache-control"] == "no-store"


# --- What requests cost ---------------------------------------------------------------------


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with visiting(tmp_path) as http:
        yield http


async def refused_after(http: httpx.AsyncClient, path: str, most: int) -> tuple[int, Any]:
    """Ask again and again; tell how many answers there were, and the refusal."""
    for count in range(most):
        answer = await http.get(path)
        if answer.status_code == 429:
            return count, answer
    return most, None


@pytest.mark.parametrize("path", ["/", "/rules", "/nowhere", "/study", "/api/openapi.json"])
async def test_every_page_spends_from_the_budget(visitor: httpx.AsyncClient, path: str) -> None:
    count, refusal = await refused_after(visitor, path, 400)
    assert 20 < count < 300
    assert refusal.headers["Retry-After"]
    # A person reads a page, and a program reads JSON.
    kind = "application/json" if path.startswith("/api/") else "text/html"
    assert refusal.headers["content-type"].startswith(kind)
    assert {name: refusal.headers[name] for name in HEADERS} == HEADERS


async def test_a_refusal_comes_late_so_that_refusals_cannot_keep_the_server_busy(
    visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "REFUSAL_SECONDS", 0.3)
    await refused_after(visitor, "/nowhere", 400)
    started = time.monotonic()
    answers = await asyncio.gather(*(visitor.get("/nowhere") for _ in range(40)))
    assert time.monotonic() - started >= 0.3
    assert {answer.status_code for answer in answers} >= {429}


async def test_a_client_that_goes_away_before_its_refusal_is_not_kept_in_memory() -> None:
    def receiving(*kinds: str) -> Receive:
        left = list(kinds)

        async def receive() -> Message:
            if not left:
                await asyncio.sleep(PATIENCE)
            return {"type": left.pop(0)}

        return receive

    assert await leaves_within(PATIENCE, receiving("http.request", "http.disconnect"))
    assert await leaves_within(PATIENCE, receiving("websocket.connect", "websocket.disconnect"))
    assert not await leaves_within(0.01, receiving("http.request"))


async def test_files_cost_less_than_pages(visitor: httpx.AsyncClient) -> None:
    count, _ = await refused_after(visitor, f"{stamped()}/js/shell.js", 600)
    assert count == 600


async def test_a_long_body_costs_more_and_is_refused_before_it_is_read(
    visitor: httpx.AsyncClient,
) -> None:
    # It is not even JSON, which would be told to somebody whose body is read.
    codes = [
        (await visitor.post("/api/studies/read", content=b"x" * STUDY_LIMIT)).status_code
        for _ in range(4)
    ]
    assert codes[0] == 422
    assert codes[-1] == 429


async def test_a_query_has_a_limit() -> None:
    app = App()
    assert (await asked(f"/?a={'x' * QUERY_LIMIT}", app)).status_code == 413
    assert (await asked(f"/?a={'x' * 100}", app)).status_code == 200
    assert app.asked == 1
