"""Games over HTTP. Each route only translates."""

import asyncio
import secrets
from datetime import date
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParam

from kamon import __version__
from kamon.editions import EDITIONS
from kamon.errors import KamonError
from kamon.game import Game
from kamon.layout import SEED_LIMIT, Layout
from kamon.notation import parse_cell, parse_layout
from kamon.position import Side
from kamon.record import format_record
from kamon.render import svg
from kamon.web import identity
from kamon.web.errors import ApiError
from kamon.web.games import rooms, views
from kamon.web.games.clocks import Control
from kamon.web.games.lobby import FINISHED, RUNNING, lobby, open_tables, require_place
from kamon.web.games.messages import (
    CommandAnswer,
    GameCommand,
    GameList,
    GameView,
    HandoverView,
    HealthView,
    LobbyView,
    NewGame,
    NewIdentity,
    ReadyView,
    TakenOver,
    Takeover,
    events_view,
)
from kamon.web.games.rooms import Seat
from kamon.web.games.tables import Table
from kamon.web.games.views import BoardView, RoomView
from kamon.web.identity import Visitor
from kamon.web.ids import PublicId, new_id
from kamon.web.metrics import timed
from kamon.web.pages import shell
from kamon.web.schemas import ERROR_ANSWERS, PGN, SVG, answers_with
from kamon.web.services import Services, ServicesParam

HANDOVER_AGE: Final = 15 * 60 * 1000

router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)
_STATUSES: Final = {None: (), "running": RUNNING, "finished": FINISHED}
GamePath = Annotated[PublicId, PathParam()]


@router.head("/health", include_in_schema=False)
@router.get("/health", responses={503: {"model": HealthView}})
async def health(services: ServicesParam, response: Response) -> HealthView:
    """Tell whether all parts of the server work; 503 where one does not."""
    problems = dict(services.health.problems)
    if problems:
        response.status_code = 503
    return {
        "ok": not problems,
        "version": __version__,
        "thinking": services.thinkers.busy,
        "compiling": services.thinkers.compiling,
        "problems": problems,
    }


@router.head("/ready", include_in_schema=False)
@router.get("/ready", responses={503: {"model": ReadyView}})
async def ready(services: ServicesParam, response: Response) -> ReadyView:
    """Tell whether the server can be sent visitors: the database and the engine answer."""
    database = await asyncio.to_thread(services.desk.games.answers)
    engine = not services.thinkers.compiling
    if not (database and engine):
        response.status_code = 503
    return {"ready": database and engine, "database": database, "engine": engine}


@router.post("/identity", status_code=201)
async def new_identity(request: Request, services: ServicesParam) -> NewIdentity:
    """Make a secret for a program, which sends it as ``Authorization: Bearer SECRET``."""
    identity.refuse_foreign_pages(request.headers, services.origins(request))
    services.spend(request, "games")
    return {"secret": services.secrets.new()}


@router.delete("/identity", status_code=204)
async def end_identity(request: Request, services: ServicesParam) -> Response:
    """Let go of everything that the visitor's secret holds; a browser gets a new one.

    Seats are given up, and studies stay for whoever has their addresses, but as nobody's.
    """
    visitor = services.visitor(request, changes=True)
    services.spend(request, "games")
    holder = visitor.require()
    await services.desk.let_go(holder)
    await services.studies.let_go(holder)
    await services.puzzles.store.let_go(holder)
    services.secrets.forget(holder)
    response = Response(status_code=204)
    if visitor.by_cookie:
        shell.set_secret(request, services, response, services.secrets.new())
    return response


@router.post("/games", status_code=201)
async def new_game(game: NewGame, request: Request, services: ServicesParam) -> RoomView:
    """Set a game up and take a seat in it."""
    visitor = services.visitor(request, changes=True)
    holder = visitor.require()
    services.overload.require("games")
    client = services.client(request)
    if game.against == "computer":
        services.thinkers.require_time(client, game.level)
    services.spend(request, "games")
    day = _day(game, services)
    layout = _layout(game) if day is None else Layout.shuffled(await services.days.seed_of(day))
    control = _control(game.control)
    mine = Side(game.side) if game.side != "random" else secrets.choice(list(Side))
    me, shared = Seat("person", game.name), game.against == "self"
    other = Seat("computer", "", game.level) if game.against == "computer" else Seat()
    seats = {mine: me, mine.other: me if shared else other}
    first = rooms.set_up(
        layout,
        control,
        seats,
        services.desk.now(),
        shared=shared,
        listed=game.against == "anyone",
        opening=_opening(layout, game.moves),
        day=None if day is None else day.isoformat(),
    )
    holders = [(side, holder) for side in Side if side is mine or shared]
    if game.against == "anyone":
        await require_place(services, client)
    name = new_id()
    # Before it is there: the computer may be to move at once.
    services.thinkers.asked_by(name, client)
    room = await services.desk.create(first, holders, name, client)
    table = await services.desk.table(room.id)
    return services.view(table, visitor.sides(table.holders))


def _day(game: NewGame, services: Services) -> date | None:
    """Return the day on whose board a game is to be played, if it is to be."""
    if not game.day:
        return None
    if game.against != "computer" or game.seed or game.layout or game.moves:
        raise ApiError(
            "bad-message",
            detail="the board of the day is for the computer, without a seed, a layout or moves",
        )
    return services.days.today()


def _layout(game: NewGame) -> Layout:
    if game.layout is not None and game.seed is not None:
        raise ApiError("bad-message", detail="a layout or a seed, not both")
    if game.layout is None:
        number = secrets.randbelow(SEED_LIMIT) if game.seed is None else int(game.seed)
        if number >= SEED_LIMIT:
            # As text: a browser would round it.
            raise ApiError("bad-seed", largest=str(SEED_LIMIT - 1))
        return Layout.shuffled(number)
    try:
        return parse_layout(game.layout.strip())
    except KamonError as error:
        raise ApiError("bad-layout", because=error) from None


def _opening(layout: Layout, moves: list[str]) -> list[int]:
    """Read moves that a game goes on from; they must leave something to play."""
    try:
        opening = Game(layout, map(parse_cell, moves))
    except KamonError as error:
        raise ApiError("illegal-move", because=error) from None
    if opening.outcome is not None:
        raise ApiError("game-over")
    return opening.moves


def _control(text: str) -> Control:
    try:
        return Control.parse(text)
    except KamonError as error:
        raise ApiError("bad-message", because=error) from None


@router.get("/lobby")
async def show_lobby(request: Request, services: ServicesParam) -> LobbyView:
    """Tell what is going on: the visitor's running games, those that wait, how many are here."""
    return await lobby(services, services.visitor(request, changes=False))


@router.get("/games")
async def list_games(
    request: Request,
    services: ServicesParam,
    which: Annotated[str, Query(pattern="^(mine|open)$")] = "mine",
    state: Annotated[str | None, Query(pattern="^(running|finished)$")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> GameList:
    """List the visitor's own games, or those that wait for an opponent."""
    visitor = services.visitor(request, changes=False)
    tables: list[Table] = []
    if which == "open":
        tables = (await open_tables(services))[:limit]
    elif visitor.holder is not None:
        games_of, statuses = services.desk.games.games_of, _STATUSES[state]
        ids = await asyncio.to_thread(games_of, visitor.holder, limit, before, statuses)
        tables = await services.desk.several(ids)
    now = services.desk.now()
    return {
        "games": [views.summary(each.room, visitor.sides(each.holders), now) for each in tables]
    }


@router.get("/games/{game}")
async def show_game(game: GamePath, request: Request, services: ServicesParam) -> GameView:
    """Tell a game and everything that has happened in it."""
    visitor = services.visitor(request, changes=False)
    table = await services.table(game)
    services.thinkers.consider(table.room)
    view = services.view(table, visitor.sides(table.holders))
    return {"view": view, "events": events_view(table.events)}


@router.post("/games/{game}/commands")
async def command_game(
    game: GamePath, command: GameCommand, request: Request, services: ServicesParam
) -> CommandAnswer:
    """Do something in a game. Answered when it is safely written."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "messages")
    table = await services.desk.table(game)
    with timed(services.metrics.command_seconds):
        room, events = await services.obey(table, visitor, command, services.client(request))
    return {"number": room.number, "events": events_view(events)}


@router.get("/games/{game}/positions/{ply}")
async def show_position(
    game: GamePath,
    ply: Annotated[int, PathParam(ge=0, le=36)],
    services: ServicesParam,
) -> BoardView:
    """Tell the board as it was after so many moves."""
    room = (await services.desk.table(game)).room
    if ply >= len(room.positions):
        raise ApiError("not-found", detail=f"the game has {len(room.moves)} moves")
    return views.board_view(room.positions[ply])


@router.get("/games/{game}/record", **answers_with(PGN))
async def show_record(game: GamePath, services: ServicesParam) -> Response:
    """Give the game as a record (PGN)."""
    room = (await services.desk.table(game)).room
    name = f'attachment; filename="kamon-{room.id}.pgn"'
    return Response(
        format_record(room.game()),
        media_type=f"{PGN}; charset=utf-8",
        headers={"Content-Disposition": name},
    )


@router.get("/games/{game}/picture.svg", **answers_with(SVG))
async def show_picture(
    game: GamePath,
    request: Request,
    services: ServicesParam,
    edition: Annotated[str, Query(pattern="^(2020|2007)$")] = "2020",
    theme: Annotated[str, Query(pattern="^(light|dark)$")] = "light",
) -> Response:
    """Draw the game as it stands."""
    services.spend(request, "pictures")
    position = (await services.desk.table(game)).room.position
    drawn = svg.draw(
        position, edition=EDITIONS[edition], theme="dark" if theme == "dark" else "light"
    )
    return Response(drawn, media_type=f"{SVG}; charset=utf-8")


@router.get("/games/{game}/invitation.svg", **answers_with(SVG))
async def show_invitation(game: GamePath, request: Request, services: ServicesParam) -> Response:
    """Draw the game's address as a QR code."""
    services.spend(request, "pictures")
    await services.desk.table(game)
    address = f"{services.base_url(request)}/game/{game}"
    drawn = await services.studio.qr_code(address)
    return Response(drawn, media_type=f"{SVG}; charset=utf-8")


@router.post("/games/{game}/handover")
async def hand_over(game: GamePath, request: Request, services: ServicesParam) -> HandoverView:
    """Make a one-time link that carries the visitor's seat to another device."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "games")
    _, side = await _own_seat(game, visitor, services)
    token = identity.new_token()
    expires = services.desk.now() + HANDOVER_AGE
    await services.desk.hand_over(identity.hashed(token), game, side, expires)
    # Behind the # it stays in the browser: in no log, and in no Referer.
    address = f"{services.base_url(request)}/handover#{token}"
    picture = await services.studio.qr_code(address)
    return {"address": address, "picture": picture, "minutes": HANDOVER_AGE // 60_000}


@router.delete("/games/{game}/handover", status_code=204)
async def end_handover(game: GamePath, request: Request, services: ServicesParam) -> None:
    """Let only this device play for the visitor's seat: links and other devices lose it."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "games")
    table, side = await _own_seat(game, visitor, services)
    await services.desk.keep_only(table, side, visitor.require())


async def _own_seat(game: str, visitor: Visitor, services: Services) -> tuple[Table, Side]:
    """Return the one seat that a visitor has in a game."""
    table = await services.desk.table(game)
    sides = visitor.sides(table.holders)
    if not sides:
        raise ApiError("not-your-seat")
    if len(sides) > 1:
        raise ApiError("no-handover")
    (side,) = sides
    return table, side


@router.post("/handover")
async def take_over(takeover: Takeover, request: Request, services: ServicesParam) -> TakenOver:
    """Spend a one-time link: this device may play for the seat from now on."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "games")
    game = await services.desk.take_over(identity.hashed(takeover.token), visitor.require())
    if game is None:
        raise ApiError("bad-handover")
    return {"game": game}
