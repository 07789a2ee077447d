"""Studies: any position, its moves as a tree, comments; read from anything, kept, and shared.

The page has the tree as JSON, a study is kept as a record, and ``Game`` stands between the two.
"""

import asyncio
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as PathParam
from pydantic import Field, StringConstraints

from kamon.errors import KamonError, LayoutError
from kamon.game import Game, Node, OffBoard
from kamon.notation import format_cell, format_layout, format_position, parse_cell, parse_line
from kamon.position import Side
from kamon.record import format_record, parse_record, parse_record_so_far
from kamon.web import views
from kamon.web.budgets import client_of
from kamon.web.bus import new_id
from kamon.web.messages import ERROR_ANSWERS, LINE_LIMIT, PGN, Answer, GameId, Strict, answers_with
from kamon.web.rooms import RoomError

TEXT_LIMIT: Final = 60_000
# A tree is no larger than a record of it can be.
NODES_LIMIT: Final = 2_000
STUDIES_LISTED: Final = 50
TAGS_LIMIT: Final = 30
# What a record can tell: less than 100,000 hours.
CLOCK_LIMIT: Final = 99_999 * 3_600_000

Line = Annotated[str, StringConstraints(max_length=LINE_LIMIT)]
# Whatever can be read can be kept.
Comment = Annotated[str, StringConstraints(max_length=TEXT_LIMIT)]
StudyPath = Annotated[GameId, PathParam()]


class Branch(Strict):
    """A move with what was said about it, and the moves after it, the main one first."""

    move: Annotated[str, StringConstraints(max_length=2)]
    comment: Comment = ""
    glyphs: Annotated[
        list[Annotated[int, Field(ge=0, le=255)]], Field(max_length=256, default_factory=list)
    ]
    # The mover's time left, in milliseconds.
    clock: Annotated[int, Field(ge=0, le=CLOCK_LIMIT)] | None = None
    children: Annotated[list["Branch"], Field(max_length=36, default_factory=list)]


class End(Strict):
    """How a game ended off the board, after so many moves of the main line."""

    winner: Literal["black", "white"] | None
    by: Literal["resignation", "time", "agreement"]
    after: Annotated[int, Field(ge=0, le=36)]


class Study(Strict):
    """A start, as a layout or as the three fields of a position, and what was played from it."""

    start: Line
    title: Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)] = ""
    comment: Comment = ""
    children: Annotated[list[Branch], Field(max_length=36, default_factory=list)]
    # The tags of the record that it came from, but for the title and what follows from the moves.
    tags: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,40}$")],
        Annotated[str, StringConstraints(max_length=200)],
    ] = Field(max_length=TAGS_LIMIT, default_factory=dict)
    end: End | None = None


class Pasted(Strict):
    """Something that somebody has: a record, a position line, a position, a layout."""

    text: Annotated[str, StringConstraints(max_length=TEXT_LIMIT)]


# --- Between the page and the record --------------------------------------------------------


def tree_of(game: Game) -> Answer:
    """Tell a game as the page has it."""
    start = game.root.position
    return {
        "start": format_position(start) if start.ply else format_layout(start.layout),
        "title": game.tags.get("Event", "")[:200],
        "comment": game.root.comment,
        "children": [_branch(node) for node in game.root.children],
        "tags": _short_tags(game),
        "end": _end_of(game),
    }


def _short_tags(game: Game) -> dict[str, str]:
    """Choose what a study keeps of a record's tags; there may be any number of any length."""
    tags = {name: value[:200] for name, value in game.tags.items() if name != "Event"}
    return dict([each for each in tags.items() if len(each[0]) <= 40][:TAGS_LIMIT])  # noqa: PLR2004


def _end_of(game: Game) -> Answer | None:
    found = game.off_board
    if found is None:
        return None
    winner = None if found.winner is None else found.winner.value
    return {"winner": winner, "by": found.termination, "after": len(game.main_line())}


def _branch(node: Node) -> Answer:
    said = " ".join(part for part in (node.intro, node.comment) if part)
    return {
        "move": format_cell(node.cell or 0),
        "comment": said,
        "glyphs": list(node.glyphs),
        "clock": node.clock,
        "children": [_branch(child) for child in node.children],
    }


def game_of(study: Study) -> Game:
    """Turn what the page has into a game, every move of which is legal."""
    game = game_on(study.start)
    game.tags = {"Event": study.title} if study.title else {}
    game.tags |= {name: value for name, value in study.tags.items() if name != "Event"}
    game.root.comment = study.comment
    grown = _grow(game, game.root, study.children, 0)
    if grown > NODES_LIMIT:
        raise RoomError("too-large", f"a study has at most {NODES_LIMIT} moves")
    end = study.end
    # Whoever plays on from where a game was resigned has a game that goes on.
    if end is not None and game.result is None and end.after == len(game.main_line()):
        game.end_off_board(None if end.winner is None else Side(end.winner), OffBoard(end.by))
    game.go_to((game.main_line() or [game.root])[-1])
    return game


def record_of(study: Study) -> str:
    """Write a study as a record that can be read again."""
    record = format_record(game_of(study))
    try:
        parse_record(record)
    except KamonError as error:
        raise RoomError("bad-message", f"the study makes no record: {error}") from None
    return record


def game_on(line: str) -> Game:
    """Read a position line, or say what is wrong with it."""
    try:
        game = parse_line(line)
    except KamonError as error:
        raise RoomError(_code_of(error), str(error)) from None
    if game is None:
        raise RoomError("bad-message", "the line says nothing: expected a layout, and moves")
    return game


def _code_of(error: KamonError) -> str:
    if isinstance(error, RoomError):
        return error.code
    return "bad-layout" if isinstance(error, LayoutError) else "bad-message"


def _grow(game: Game, parent: Node, branches: list[Branch], grown: int) -> int:
    for branch in branches:
        game.go_to(parent)
        try:
            node = game.play(parse_cell(branch.move))
        except KamonError as error:
            raise RoomError("illegal-move", str(error)) from None
        node.comment, node.glyphs = branch.comment, tuple(branch.glyphs)
        node.clock = branch.clock
        grown = _grow(game, node, branch.children, grown + 1)
        if grown > NODES_LIMIT:
            break
    return grown


def read_anything(text: str) -> tuple[Game, KamonError | None]:
    """Read a record, a position line, a position or a layout; a record as far as it goes."""
    stripped = text.strip()
    if stripped.startswith("["):
        return parse_record_so_far(stripped)
    return game_on(stripped), None


# --- Over HTTP ------------------------------------------------------------------------------

router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)


async def _services(request: Request) -> Any:  # noqa: ANN401 - app.Services, which knows us
    services = request.app.state.services
    services.budgets.spend(client_of(request), "requests")
    return services


ServicesParam = Annotated[Any, Depends(_services)]


@router.get("/board")
async def show_board(
    services: ServicesParam, line: Annotated[str, Query(max_length=LINE_LIMIT)]
) -> Answer:
    """Tell the board that a position line leads to."""
    del services
    return views.board_view(game_on(line).position)


@router.post("/studies/read")
async def read_study(pasted: Pasted, request: Request, services: ServicesParam) -> Answer:
    """Read whatever somebody has; a record with an error opens up to the error."""
    services.visitor(request, changes=True)
    try:
        # A long record takes a while, in which others play.
        game, problem = await asyncio.to_thread(read_anything, pasted.text)
    except KamonError as error:
        raise RoomError(_code_of(error), str(error)) from None
    return {**tree_of(game), "problem": None if problem is None else str(problem)}


@router.post("/studies/record", **answers_with(PGN))
async def write_record(study: Study, request: Request, services: ServicesParam) -> Response:
    """Give a study as a record (PGN)."""
    services.visitor(request, changes=True)
    record = await asyncio.to_thread(record_of, study)
    return Response(record, media_type=f"{PGN}; charset=utf-8")


@router.get("/studies")
async def list_studies(request: Request, services: ServicesParam) -> Answer:
    """List the visitor's studies."""
    visitor = services.visitor(request, changes=False)
    if visitor.holder is None:
        return {"studies": []}
    store = services.bus.store
    found = await asyncio.to_thread(store.studies_of, visitor.holder, STUDIES_LISTED)
    return {"studies": await asyncio.to_thread(lambda: [_summary(*each) for each in found])}


def _summary(study: str, updated: int, record: str) -> Answer:
    game = parse_record(record)
    return {
        "id": study,
        "title": game.tags.get("Event", ""),
        "updated": updated,
        "moves": len(game.moves),
        "board": views.picture_view(game.position),
    }


@router.post("/studies", status_code=201)
async def new_study(study: Study, request: Request, services: ServicesParam) -> Answer:
    """Keep a study, under a new address."""
    return await _keep(new_id(), study, request, services)


@router.post("/studies/{name}")
async def save_study(
    name: StudyPath, study: Study, request: Request, services: ServicesParam
) -> Answer:
    """Keep a study again, which only its owner may."""
    if await asyncio.to_thread(services.bus.store.study, name) is None:
        raise RoomError("no-such-study", "there is no such study")
    return await _keep(name, study, request, services)


async def _keep(name: str, study: Study, request: Request, services: Any) -> Answer:  # noqa: ANN401
    visitor = services.visitor(request, changes=True)
    if visitor.holder is None:
        raise RoomError("bad-secret", "a study needs somebody who keeps it: allow cookies")
    services.budgets.spend(client_of(request), "games")
    record = await asyncio.to_thread(record_of, study)
    kept = await asyncio.to_thread(
        services.bus.store.keep_study, name, visitor.holder, services.bus.now(), record
    )
    if not kept:
        raise RoomError("not-your-study", "this study is somebody else's: keep a copy of your own")
    return {"id": name}


@router.get("/studies/{name}")
async def show_study(name: StudyPath, request: Request, services: ServicesParam) -> Answer:
    """Tell a study, whosever it is."""
    holder, record = await _found(name, services)
    visitor = services.visitor(request, changes=False)
    game = await asyncio.to_thread(parse_record, record)
    return {"id": name, "mine": visitor.keeps(holder), **tree_of(game)}


@router.get("/studies/{name}/record", **answers_with(PGN))
async def show_record(name: StudyPath, services: ServicesParam) -> Response:
    """Give a study that is kept as a record (PGN)."""
    _, record = await _found(name, services)
    headers = {"Content-Disposition": f'attachment; filename="kamon-{name}.pgn"'}
    return Response(record, media_type=f"{PGN}; charset=utf-8", headers=headers)


async def _found(name: str, services: Any) -> tuple[str, str]:  # noqa: ANN401
    found: tuple[str, str] | None = await asyncio.to_thread(services.bus.store.study, name)
    if found is None:
        raise RoomError("no-such-study", "there is no such study")
    return found
