"""What never changes is made once, plain and compressed."""

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from kamon.web.pages.assets import stamped
from kamon.web.pages.kept import OPENAPI, KeptFiles

pytestmark = pytest.mark.anyio
TEXT = "x" * 2_000


class App:
    """Answers with a long text, and counts how often."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        status = 404 if "nowhere" in Request(scope).url.path else 200
        await PlainTextResponse(TEXT, status)(scope, receive, send)


async def ask(app: KeptFiles, path: str, encoding: str) -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://kamon") as http:
        return await http.get(path, headers={"Accept-Encoding": encoding})


@pytest.mark.parametrize("path", [OPENAPI, f"{stamped()}/home.css"])
async def test_what_never_changes_is_made_once_in_each_encoding(path: str) -> None:
    app = App()
    kept = KeptFiles(app)
    for encoding in ("gzip", "identity") * 3:
        answer = await ask(kept, path, encoding)
        assert answer.text == TEXT
        assert answer.headers.get("Content-Encoding") == ("gzip" if encoding == "gzip" else None)
    assert app.asked == 2


@pytest.mark.parametrize("path", ["/", "/api/games", f"{stamped()}/nowhere"])
async def test_everything_else_is_made_each_time(path: str) -> None:
    app = App()
    kept = KeptFiles(app)
    for _ in range(3):
        await ask(kept, path, "gzip")
    assert app.asked == 3


async def test_an_answer_that_a_visitor_has_cut_short_is_not_kept() -> None:
    class Leaving(App):
        """The first visitor goes away before the text has come."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if self.asked:
                await super().__call__(scope, receive, send)
                return
            self.asked += 1
            headers = [(b"content-length", str(len(TEXT)).encode()), (b"content-type", b"text/css")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    kept = KeptFiles(Leaving())
    path = f"{stamped()}/home.css"
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"accept-encoding", b"gzip")]
    await kept({"type": "http", "method": "GET", "path": path, "headers": headers}, receive, send)
    assert sent == []
    assert (await ask(kept, path, "gzip")).text == TEXT
