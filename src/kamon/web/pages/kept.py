"""What never changes while a server runs, compressed once and kept in memory.

These are the files under the stamp and the description of the API. Reading and compressing a file
for every visitor took five times as long as everything else about the request.
"""

import gzip
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kamon.web.pages.assets import stamped

# There are about eighty files and modules; an address can also be written in other ways.
KEPT_LIMIT: Final = 200
LEAST_COMPRESSED: Final = 500
OPENAPI: Final = "/api/openapi.json"
_TEXTS: Final = ("text/", "image/svg", "application/json", "application/manifest")

Pair = tuple[bytes, bytes]


class _Answer:
    """A whole answer of the app."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[Pair] = []
        self.body = b""
        # An app stops in the middle if the visitor goes away.
        self.is_whole = False

    async def collect(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message["headers"])
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            self.is_whole = not message.get("more_body", False)

    async def send(self, send: Send) -> None:
        # A copy, because layers further out add headers of their own.
        headers = list(self.headers)
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})

    def compressed(self) -> "_Answer":
        """Return the same answer for a browser that takes gzip; itself, if that gains nothing."""
        kind = Headers(raw=self.headers).get("content-type", "")
        if not kind.startswith(_TEXTS) or len(self.body) < LEAST_COMPRESSED:
            return self
        packed = _Answer()
        packed.status = self.status
        # The same time in every header, so that the same file has the same bytes.
        packed.body = gzip.compress(self.body, 9, mtime=0)
        headers = MutableHeaders(raw=list(self.headers))
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(packed.body))
        headers.add_vary_header("Accept-Encoding")
        packed.headers = headers.raw
        return packed


class KeptFiles:
    """Answers for what never changes with what it has answered before."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._stamped = stamped() + "/"
        self._kept: dict[tuple[str, bool], _Answer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or ask the app."""
        if not self._is_plain(scope):
            await self._app(scope, receive, send)
            return
        gzipped = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        key = scope["path"], gzipped
        if key not in self._kept:
            answer = _Answer()
            await self._app(scope, receive, answer.collect)
            if not answer.is_whole:
                return
            if answer.status != 200 or len(self._kept) >= KEPT_LIMIT:  # noqa: PLR2004
                await answer.send(send)
                return
            self._kept[key] = answer.compressed() if gzipped else answer
        await self._kept[key].send(send)

    def _is_plain(self, scope: Scope) -> bool:
        """Return whether a whole file is wanted that never changes."""
        if scope["type"] != "http":
            return False
        if not scope["path"].startswith(self._stamped) and scope["path"] != OPENAPI:
            return False
        names = {name for name, _ in scope["headers"]}
        return scope["method"] == "GET" and not names & {b"range", b"if-none-match"}
