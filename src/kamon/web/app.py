"""The web server: one readable table of routes, each of which only translates."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from fastapi import (
    APIRouter,
    Depends,
    FastAPI,
    Query,
    Request,
    WebSocket,
)
from fastapi import (
    Path as PathParam,
)
from fastapi.exceptions import RequestValidationError
from fastapi.responses import (
    JSONResponse,
    Response,
)
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection

from kamon import __version__
from kamon.editions import EDITIONS
from kamon.errors import KamonError
from kamon.game import Game
from kamon.layout import SEED_LIMIT, Layout
from kamon.notation import parse_cell, parse_layout
from kamon.position import Side
from kamon.record import format_record
from kamon.render import svg
from kamon.web import identity, lessons, pages, pictures, rooms, rulebook, studies, views
from kamon.web.analysts import Analysts
from kamon.web.budgets import BudgetError, Budgets, client_of
from kamon.web.bus import Bus, Holder, StorageError, Table, new_id
from kamon.web.clocks import Control
from kamon.web.identity import Visitor
from kamon.web.messages import (
    ERROR_ANSWERS,
    PGN,
    Answer,
    ErrorAnswer,
    GameCommand,
    GameId,
    NewGame,
    NewIdentity,
    Takeover,
    answers_with,
)
from kamon.web.reviews import Reviews
from kamon.web.rooms import Command, Event, RoomError, Seat
from kamon.web.settings import Settings
from kamon.web.socket import serve_socket
from kamon.web.store import Store
from kamon.web.thinkers import Thinkers

BODY_LIMIT: Final = 16_384
# A study holds a whole tree of moves with comments.
STUDY_LIMIT: Final = 131_072
# What a name in the Internet may have, and a port.
HOST_LIMIT: Final = 260
SVG: Final = "image/svg+xml"
HANDOVER_AGE: Final = 15 * 60 * 1000
DAY: Final = 24 * 3600 * 1000
# Games that never began wait this long.
ABANDONED_DAYS: Final = 14
STATUS_OF: Final = {
    "no-such-game": 404,
    "no-such-study": 404,
    "not-found": 404,
    "bad-secret": 401,
    "not-your-seat": 403,
    "not-your-study": 403,
    "bad-origin": 403,
    "bad-message": 422,
    "bad-layout": 422,
    "too-large": 413,
    "too-many": 429,
    "storage": 503,
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes share."""

    settings: Settings
    bus: Bus
    budgets: Budgets
    thinkers: Thinkers
    analysts: Analysts
    reviews: Reviews

    def origins(self, connection: HTTPConnection) -> list[str]:
        """List the origins that are our own page."""
        if self.settings.public_url:
            return [self.settings.public_url]
        host = connection.headers.get("host", "")
        return [f"http://{host}", f"https://{host}"] if host else []

    def visitor(self, connection: HTTPConnection, *, changes: bool) -> Visitor:
        """Find out who asks, and refuse changes that do not come from our own page."""
        found = identity.visitor(connection.headers, connection.cookies)
        if changes:
            identity.require_origin(found, connection.headers, self.origins(connection))
        return found

    def base_url(self, connection: HTTPConnection) -> str:
        """Return the address under which people reach us."""
        return (self.settings.public_url or str(connection.base_url)).rstrip("/")

    def is_attended(self, table: Table) -> bool:
        """Tell whether an open game can begin: with a clock, somebody must sit there."""
        people = [side for side in Side if table.room.seat(side).kind == "person"]
        return not table.room.control.clocked or any(
            self.bus.present(table, side) for side in people
        )

    def view(self, table: Table, sides: frozenset[Side]) -> dict[str, Any]:
        """Tell a table to somebody."""
        bus = self.bus
        return views.room_view(
            table.room,
            sides=sides,
            present={side.value: bus.present(table, side) for side in Side},
            absent={side.value: self._away(table, side) for side in Side},
            now=bus.now(),
            watchers=sum(not watcher.sides for watcher in table.watchers),
        )

    def _away(self, table: Table, side: Side) -> int | None:
        since = self.bus.absent_since(table, side)
        return None if since is None else self.bus.now() - since

    async def obey(
        self, table: Table, visitor: Visitor, command: GameCommand, client: str
    ) -> tuple[Any, Any]:
        """Do what a client asks for in a game."""
        sides = visitor.sides(table.holders)
        if sides and "computer" in (table.room.black.kind, table.room.white.kind):
            self.budgets.spend(client, "thoughts")
        data = {key: value for key, value in command.data.model_dump().items() if value is not None}
        holders: list[tuple[Side, str]] = []
        room = table.newest
        if command.do == "join" and visitor.holder is not None:
            open_side = Side.BLACK if room.black.kind == "open" else Side.WHITE
            holders = [(open_side, visitor.holder)]
        elif command.do == "join":
            raise RoomError("not-your-seat", "joining needs a secret: allow cookies, or send one")
        if data.get("what") == "rematch":
            data["next_id"] = new_id()
        absent = None
        if command.do == "claim" and sides:
            absent = self.bus.absent_since(table, next(iter(sides)).other)
        request = Command(command.do, sides, data, command.after, command.id, absent)
        sequel = partial(self._next_game, table, command.data.board)
        return await self.bus.submit(table.room.id, request, holders, sequel)

    def _next_game(self, table: Table, board: str | None) -> tuple[Event, list[Holder]]:
        """Set a rematch up: sides swapped, the same people, the board that the offer asked for."""
        room = table.newest
        offers = (event for event in reversed(table.events) if event.kind == "offered")
        offer = next((event for event in offers if event.data["what"] == "rematch"), None)
        board = board or (offer.data.get("board") if offer else None)
        layout = room.layout if board == "same" else Layout.shuffled(secrets.randbelow(SEED_LIMIT))
        first = rooms.set_up(
            layout,
            room.control,
            {side: room.seat(side.other) for side in Side},
            self.bus.now(),
            shared=room.shared,
        )
        return first, [(side.other, holder) for side, holder in table.holders]


async def _services(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


ServicesParam = Annotated[Services, Depends(_services)]


# --- Games over HTTP ------------------------------------------------------------------------

api = APIRouter(prefix="/api", responses=ERROR_ANSWERS)
GamePath = Annotated[GameId, PathParam()]


@api.head("/health", include_in_schema=False)
@api.get("/health")
async def health(services: ServicesParam) -> Answer:
    """Tell whether the server and its database are well."""
    await asyncio.to_thread(services.bus.store.healthy)
    return {
        "ok": True,
        "version": __version__,
        "thinking": services.thinkers.busy,
        "compiling": services.thinkers.compiling,
    }


@api.post("/identity", status_code=201)
async def new_identity(request: Request, services: ServicesParam) -> NewIdentity:
    """Make a secret for a program, which sends it as ``Authorization: Bearer SECRET``."""
    services.budgets.spend(client_of(request), "games")
    return NewIdentity(secret=identity.new_secret())


@api.post("/games", status_code=201)
async def new_game(game: NewGame, request: Request, services: ServicesParam) -> Answer:
    """Set a game up and take a seat in it."""
    visitor = services.visitor(request, changes=True)
    if visitor.holder is None:
        raise RoomError(
            "bad-secret", "a game needs somebody who plays: allow cookies, or send a secret"
        )
    services.budgets.spend(client_of(request), "games")
    layout = _layout(game)
    control = _control(game.control)
    mine = Side(game.side) if game.side != "random" else secrets.choice(list(Side))
    me, shared = Seat("person", game.name), game.against == "self"
    other = Seat("computer", "", game.level) if game.against == "computer" else Seat()
    seats = {mine: me, mine.other: me if shared else other}
    first = rooms.set_up(
        layout,
        control,
        seats,
        services.bus.now(),
        shared=shared,
        listed=game.against == "anyone",
        opening=_opening(layout, game.moves),
    )
    holders = [(side, visitor.holder) for side in Side if side is mine or shared]
    room = await services.bus.create(first, holders)
    table = await services.bus.table(room.id)
    return services.view(table, visitor.sides(table.holders))


def _layout(game: NewGame) -> Layout:
    if game.layout is not None and game.seed is not None:
        raise RoomError("bad-message", "a layout or a seed, not both")
    try:
        if game.layout is not None:
            return parse_layout(game.layout.strip())
        number = secrets.randbelow(SEED_LIMIT) if game.seed is None else int(game.seed)
        return Layout.shuffled(number)
    except ValueError as error:
        raise RoomError("bad-layout", str(error)) from None


def _opening(layout: Layout, moves: list[str]) -> list[int]:
    """Read moves that a game goes on from; they must leave something to play."""
    try:
        opening = Game(layout, map(parse_cell, moves))
    except KamonError as error:
        raise RoomError("illegal-move", str(error)) from None
    if opening.outcome is not None:
        raise RoomError("game-over", "with these moves the game is over already")
    return opening.moves


def _control(text: str) -> Control:
    try:
        return Control.parse(text)
    except KamonError as error:
        raise RoomError("bad-message", str(error)) from None


@api.get("/games")
async def list_games(
    request: Request,
    services: ServicesParam,
    which: Annotated[str, Query(pattern="^(mine|open)$")] = "mine",
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Answer:
    """List the visitor's own games, or those that wait for an opponent."""
    services.budgets.spend(client_of(request), "requests")
    visitor = services.visitor(request, changes=False)
    store = services.bus.store
    if which == "open":
        ids = await asyncio.to_thread(store.open_games, limit)
    elif visitor.holder is not None:
        ids = await asyncio.to_thread(store.games_of, visitor.holder, limit, before)
    else:
        ids = []
    tables = [await services.bus.table(each) for each in ids]
    if which == "open":
        tables = [each for each in tables if services.is_attended(each)]
    now = services.bus.now()
    return {
        "games": [views.summary(each.room, visitor.sides(each.holders), now) for each in tables]
    }


@api.get("/games/{game}")
async def show_game(game: GamePath, request: Request, services: ServicesParam) -> Answer:
    """Tell a game and everything that has happened in it."""
    services.budgets.spend(client_of(request), "requests")
    visitor = services.visitor(request, changes=False)
    table = await services.bus.table(game)
    services.thinkers.consider(table.room)
    view = services.view(table, visitor.sides(table.holders))
    return {"view": view, "events": views.events_view(table.events)}


@api.post("/games/{game}/commands")
async def command_game(
    game: GamePath, command: GameCommand, request: Request, services: ServicesParam
) -> Answer:
    """Do something in a game. Answered when it is safely written."""
    visitor = services.visitor(request, changes=True)
    services.budgets.spend(client_of(request), "messages")
    table = await services.bus.table(game)
    room, events = await services.obey(table, visitor, command, client_of(request))
    return {"number": room.number, "events": views.events_view(events)}


@api.get("/games/{game}/positions/{ply}")
async def show_position(
    game: GamePath,
    ply: Annotated[int, PathParam(ge=0, le=36)],
    request: Request,
    services: ServicesParam,
) -> Answer:
    """Tell the board as it was after so many moves."""
    services.budgets.spend(client_of(request), "requests")
    room = (await services.bus.table(game)).room
    if ply >= len(room.positions):
        raise RoomError("not-found", f"the game has {len(room.moves)} moves")
    return views.board_view(room.positions[ply])


@api.get("/games/{game}/record", **answers_with(PGN))
async def show_record(game: GamePath, request: Request, services: ServicesParam) -> Response:
    """Give the game as a record (PGN)."""
    services.budgets.spend(client_of(request), "requests")
    room = (await services.bus.table(game)).room
    name = f'attachment; filename="kamon-{room.id}.pgn"'
    return Response(
        format_record(room.game()),
        media_type=f"{PGN}; charset=utf-8",
        headers={"Content-Disposition": name},
    )


@api.get("/games/{game}/picture.svg", **answers_with(SVG))
async def show_picture(
    game: GamePath,
    request: Request,
    services: ServicesParam,
    edition: Annotated[str, Query(pattern="^(2020|2007)$")] = "2020",
    theme: Annotated[str, Query(pattern="^(light|dark)$")] = "light",
) -> Response:
    """Draw the game as it stands."""
    services.budgets.spend(client_of(request), "pictures")
    position = (await services.bus.table(game)).room.position
    drawn = svg.draw(
        position, edition=EDITIONS[edition], theme="dark" if theme == "dark" else "light"
    )
    return Response(drawn, media_type=SVG)


@api.get("/games/{game}/invitation.svg", **answers_with(SVG))
async def show_invitation(game: GamePath, request: Request, services: ServicesParam) -> Response:
    """Draw the game's address as a QR code."""
    services.budgets.spend(client_of(request), "pictures")
    await services.bus.table(game)
    address = f"{services.base_url(request)}/game/{game}"
    return Response(pages.qr_code(address), media_type=SVG)


@api.post("/games/{game}/handover")
async def hand_over(game: GamePath, request: Request, services: ServicesParam) -> Answer:
    """Make a one-time link that carries the visitor's seat to another device."""
    visitor = services.visitor(request, changes=True)
    services.budgets.spend(client_of(request), "games")
    table = await services.bus.table(game)
    sides = visitor.sides(table.holders)
    if not sides:
        raise RoomError("not-your-seat", "you have no seat in this game")
    token = identity.new_secret()
    if len(sides) > 1:
        raise RoomError("no-handover", "a game for two at one screen stays on that screen")
    (side,) = sides
    expires = services.bus.now() + HANDOVER_AGE
    await asyncio.to_thread(
        services.bus.store.hand_over, identity.hashed(token), game, side, expires
    )
    # Behind the # it stays in the browser: in no log, and in no Referer.
    address = f"{services.base_url(request)}/handover#{token}"
    return {"address": address, "picture": pages.qr_code(address), "minutes": HANDOVER_AGE // 60000}


@api.post("/handover")
async def take_over(takeover: Takeover, request: Request, services: ServicesParam) -> Answer:
    """Spend a one-time link: this device may play for the seat from now on."""
    visitor = services.visitor(request, changes=True)
    services.budgets.spend(client_of(request), "games")
    if visitor.holder is None:
        raise RoomError(
            "bad-secret", "a seat needs somebody who plays: allow cookies, or send a secret"
        )
    found = await asyncio.to_thread(
        services.bus.store.take_over,
        identity.hashed(takeover.token),
        visitor.holder,
        services.bus.now(),
    )
    if found is None:
        raise RoomError("bad-handover", "this link has been used, or is too old")
    game, side = found
    table = await services.bus.table(game)
    if (side, visitor.holder) not in table.holders:
        table.holders.append((side, visitor.holder))
    return {"game": game}


# --- The application ------------------------------------------------------------------------


def create_app(settings: Settings) -> FastAPI:
    """Build a server. Nothing is opened until it starts."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        folder = settings.database_folder()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        store = Store(settings.database)
        store.migrate()
        async with (
            Bus(store).running() as bus,
            Thinkers(bus, settings.workers) as thinkers,
            Analysts(settings.analysts) as analysts,
        ):
            budgets = Budgets(scale=settings.budget_scale)
            app.state.services = Services(
                settings, bus, budgets, thinkers, analysts, Reviews(store, analysts)
            )
            clearing = asyncio.create_task(_clear_old_games(bus, settings))
            yield
            clearing.cancel()
            pictures.close(app)
        store.close()

    app = FastAPI(
        title="Kamon",
        version=__version__,
        description="Play Kamon. See docs/protocol.md for the WebSocket.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.include_router(api)
    app.include_router(lessons.router)
    app.include_router(studies.router)
    app.include_router(pictures.router)
    app.include_router(pages.router)
    app.include_router(rulebook.router)
    app.add_api_websocket_route("/ws", _socket)
    app.mount(pages.stamped(), StaticFiles(directory=pages.STATIC))
    # Icons are also asked for by systems that have installed the page, under a name that stays.
    app.mount("/static", StaticFiles(directory=pages.STATIC))
    app.add_middleware(GZipMiddleware, minimum_size=500)
    app.middleware("http")(_guard)
    app.add_exception_handler(RoomError, _room_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(SQLAlchemyError, _database_error)
    return app


async def _clear_old_games(bus: Bus, settings: Settings) -> None:
    """Once an hour, remove games that nobody will come back to."""
    while True:
        await bus.clear(bus.now() - ABANDONED_DAYS * DAY, ["waiting", "aborted"])
        if settings.keep_days is not None:
            before = bus.now() - settings.keep_days * DAY
            await bus.clear(before, ["over", "playing"])
            await bus.clear_studies(before)
        await asyncio.sleep(3600)


async def _socket(socket: WebSocket) -> None:
    await serve_socket(socket, await _services(socket), client_of(socket))


async def _guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Bound what comes in, and say to the browser what our pages may do."""
    response: Response
    limit = STUDY_LIMIT if request.url.path.startswith("/api/studies") else BODY_LIMIT
    if _is_too_large(request.headers, limit):
        response = _error("too-large", f"a request has at most {limit} bytes")
    elif len(request.headers.get("host", "")) > HOST_LIMIT:
        response = _error("bad-message", f"a host has at most {HOST_LIMIT} letters")
    else:
        response = await call_next(request)
    if request.url.path.startswith("/static/"):
        lasting = response.status_code < 400 and request.url.path.startswith(pages.stamped())  # noqa: PLR2004
        response.headers["Cache-Control"] = (
            "public, max-age=31536000, immutable" if lasting else "no-cache"
        )
    for name, value in pages.HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _is_too_large(headers: Headers, limit: int) -> bool:
    """Tell whether a body is longer than we read, or does not say how long it is."""
    length = headers.get("content-length", "0")
    counted = length.isascii() and length.isdigit() and len(length) <= len(str(limit))
    return not counted or int(length) > limit or "transfer-encoding" in headers


def _error(code: str, message: str, retry: int | None = None) -> JSONResponse:
    headers = {"Retry-After": str(retry)} if retry else None
    answer = ErrorAnswer(code=code, message=message, retry=retry)
    return JSONResponse(
        answer.model_dump(exclude_none=True), STATUS_OF.get(code, 409), headers=headers
    )


def _is_page(request: Request) -> bool:
    """Tell whether a person looks at the answer, and not a program."""
    return not request.url.path.startswith(("/api", "/static"))


async def _room_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RoomError)  # noqa: S101 - it is registered for these
    if _is_page(request) and error.code in ("no-such-game", "no-such-study"):
        return pages.missing(request)
    retry = error.retry if isinstance(error, BudgetError) else None
    return _error(error.code, error.message, retry)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for these
    if _is_page(request):
        return pages.missing(request)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return _error("bad-message", f"{place}: {first['msg']}")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    if _is_page(request) and error.status_code == 404:  # noqa: PLR2004
        return pages.missing(request)
    code = "not-found" if error.status_code == 404 else "bad-message"  # noqa: PLR2004
    answer = _error(code, str(error.detail))
    # A body that is no JSON at all is a bad message like any other.
    if error.status_code != 400:  # noqa: PLR2004
        answer.status_code = error.status_code
    answer.headers.update(error.headers or {})
    return answer


async def _database_error(_: Request, error: Exception) -> Response:
    _log.error("the database does not answer", exc_info=error)
    failure = StorageError()
    return _error(failure.code, failure.message)
