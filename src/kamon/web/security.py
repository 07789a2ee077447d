"""What guards the server: limits on requests, and what browsers may do with our answers."""

import asyncio
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kamon.web.answers import answer_for, json_error, leaves_within, refuse
from kamon.web.errors import ApiError
from kamon.web.limits import REFUSAL_SECONDS
from kamon.web.logs import new_request_id, request_id
from kamon.web.pages.assets import stamped
from kamon.web.services import Services

BODY_LIMIT: Final = 16_384
# A study holds a whole tree of moves with comments.
STUDY_LIMIT: Final = 131_072
# What comes after the path of an address. The longest that a page makes is a position line.
QUERY_LIMIT: Final = 4_096
# As long as a name in the Internet may be, and a port.
HOST_LIMIT: Final = 260
# Seconds in which the whole body of a request must have come.
BODY_SECONDS: Final = 20.0
# What a request costs of the budget "requests": little for a file that is kept in memory, and more
# for a long body to read or a long page to write (bytes before they are compressed).
FILE_COST: Final = 0.25
BODY_BYTES_PER_REQUEST: Final = 1_000
ANSWER_BYTES_PER_REQUEST: Final = 20_000
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; media-src 'self'; "
        "worker-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
# Browsers that have been here over TLS come back over TLS only, for two years.
HSTS: Final = "max-age=63072000"


class _Body:
    """The body of a request, all of which must come in time."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        self._whole = False

    async def __call__(self) -> Message:
        """Wait for the next piece; a client that is too slow counts as gone."""
        if self._whole:
            # What comes after the body is only the end of the connection.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            self._whole = True
            return {"type": "http.disconnect"}
        self._whole = not message.get("more_body", False)
        return message


class Guard:
    """Bounds what comes in, and says to the browser what our pages may do."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._headers = {**HEADERS, **({"Strict-Transport-Security": HSTS} if secure else {})}
        self._stamped = stamped()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        request = new_request_id()
        request_id.set(request)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request
                self._add_caching(headers, path, message["status"])
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        problem = _problem(Headers(scope=scope), scope)
        app = self._app if problem is None else json_error(problem)
        await app(scope, _Body(receive), send_guarded)

    def _add_caching(self, headers: MutableHeaders, path: str, status: int) -> None:
        """Let browsers keep files for ever under their stamp, and nothing that may be secret."""
        if path.startswith("/static/"):
            lasting = status < 400 and path.startswith(self._stamped)  # noqa: PLR2004
            headers["Cache-Control"] = (
                "public, max-age=31536000, immutable" if lasting else "no-cache"
            )
        elif path.startswith("/api/"):
            headers.setdefault("Cache-Control", "no-store")


class RequestCosts:
    """Lets every request spend from the budget of its visitor, by what it costs us."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it before anything of it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        services: Services = request.state.services
        client = services.client(request)
        try:
            services.budgets.spend(client, "requests", _cost(request))
        except ApiError as error:
            if await leaves_within(REFUSAL_SECONDS, receive):
                answer_for(services, error, scope["path"])
            else:
                await refuse(error, scope, receive, send)
            return

        written = False

        async def send_and_charge(message: Message) -> None:
            nonlocal written
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                written = kind.startswith(("text/html", "application/json"))
            elif written:
                cost = len(message.get("body", b"")) / ANSWER_BYTES_PER_REQUEST
                services.budgets.charge(client, "requests", cost)
            await send(message)

        await self._app(scope, receive, send_and_charge)


def _cost(request: Request) -> float:
    """Return what a request costs, as far as that is known before it is answered."""
    if request.url.path.startswith("/static/"):
        return FILE_COST
    return 1 + int(request.headers.get("content-length", "0")) / BODY_BYTES_PER_REQUEST


def _problem(headers: Headers, scope: Scope) -> ApiError | None:
    limit = STUDY_LIMIT if scope["path"].startswith("/api/studies") else BODY_LIMIT
    if _is_too_large(headers, limit):
        return ApiError("too-large", detail=f"a request has at most {limit} bytes")
    if len(scope["query_string"]) > QUERY_LIMIT:
        return ApiError("too-large", detail=f"a query has at most {QUERY_LIMIT} bytes")
    if len(headers.get("host", "")) > HOST_LIMIT:
        return ApiError("bad-message", detail=f"a host has at most {HOST_LIMIT} letters")
    return None


def _is_too_large(headers: Headers, limit: int) -> bool:
    """Return whether a body is longer than we read, or does not say how long it is."""
    length = headers.get("content-length", "0")
    counted = length.isascii() and length.isdigit() and len(length) <= len(str(limit))
    return not counted or int(length) > limit or "transfer-encoding" in headers
