"""Studies over HTTP."""

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParam
from typing_extensions import TypedDict

from kamon.errors import KamonError
from kamon.game import Game
from kamon.notation import parse_line
from kamon.record import parse_record
from kamon.web.errors import ApiError
from kamon.web.games.views import BoardView, PictureView, board_view, picture_view
from kamon.web.ids import PublicId, new_id
from kamon.web.schemas import ERROR_ANSWERS, LINE_LIMIT, PGN, answers_with
from kamon.web.services import Services, ServicesParam
from kamon.web.studies.store import Kept, Summary
from kamon.web.studies.tree import (
    EditedStudy,
    Pasted,
    ReadStudy,
    Study,
    StudyView,
    game_of,
    game_on,
    problem_view,
    read_anything,
    record_of,
    refused,
    tree_of,
)

STUDIES_LISTED: Final = 50

StudyPath = Annotated[PublicId, PathParam()]
router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)


class StudySummary(TypedDict):
    """A study in a list."""

    id: str
    title: str
    updated: int
    moves: int
    # None where an older version has kept something that cannot be read.
    board: PictureView | None


class StudyList(TypedDict):
    """The visitor's studies."""

    studies: list[StudySummary]


class KeptStudy(StudyView):
    """A study that is kept: by whom, and when it was last changed."""

    id: str
    mine: bool
    updated: int


class SavedStudy(TypedDict):
    """Where a study is kept, and when it was."""

    id: str
    updated: int


@router.get("/board")
async def show_board(line: Annotated[str, Query(max_length=LINE_LIMIT)]) -> BoardView:
    """Tell the board that a position line leads to."""
    return board_view(game_on(line).position)


@router.post("/studies/read")
async def read_study(pasted: Pasted, request: Request, services: ServicesParam) -> ReadStudy:
    """Read whatever somebody has; a record with an error opens up to the error."""
    services.visitor(request, changes=True)
    try:
        # A long record takes a while, in which others play.
        return await asyncio.to_thread(_read, pasted.text)
    except ApiError:
        raise
    except KamonError as error:
        raise refused(error) from None


def _read(text: str) -> ReadStudy:
    game, problem = read_anything(text)
    return {**tree_of(game), "problem": None if problem is None else problem_view(problem)}


@router.post("/studies/record", **answers_with(PGN))
async def write_record(study: Study, request: Request, services: ServicesParam) -> Response:
    """Give a study as a record (PGN)."""
    services.visitor(request, changes=True)
    _, record = await asyncio.to_thread(_written, study)
    return Response(record, media_type=f"{PGN}; charset=utf-8")


@router.get("/studies")
async def list_studies(request: Request, services: ServicesParam) -> StudyList:
    """List the visitor's studies."""
    visitor = services.visitor(request, changes=False)
    if visitor.holder is None:
        return {"studies": []}
    found = await asyncio.to_thread(services.studies.list_of, visitor.holder, STUDIES_LISTED)
    return {"studies": [_summary(each) for each in found]}


def _summary(study: Summary) -> StudySummary:
    game = parse_line(study.line)
    return {
        "id": study.id,
        "title": study.title,
        "updated": study.updated,
        "moves": study.moves,
        "board": None if game is None else picture_view(game.position),
    }


@router.post("/studies", status_code=201)
async def new_study(study: Study, request: Request, services: ServicesParam) -> SavedStudy:
    """Keep a study, under a new address."""
    holder = services.visitor(request, changes=True).require()
    _charge_keeping(request, services)
    game, record = await asyncio.to_thread(_written, study)
    name, now = new_id(), services.desk.now()
    await services.studies.keep(name, holder, now, record, game)
    return {"id": name, "updated": now}


@router.post("/studies/{name}")
async def save_study(
    name: StudyPath, study: EditedStudy, request: Request, services: ServicesParam
) -> SavedStudy:
    """Keep a study again, which only its owner may."""
    holder = services.visitor(request, changes=True).require()
    _charge_keeping(request, services)
    game, record = await asyncio.to_thread(_written, study)
    now = services.desk.now()
    updated = await services.studies.keep_again(name, holder, study.seen, now, record, game)
    return {"id": name, "updated": updated}


@router.delete("/studies/{name}", status_code=204)
async def delete_study(name: StudyPath, request: Request, services: ServicesParam) -> None:
    """Delete a study, which only its owner may."""
    holder = services.visitor(request, changes=True).require()
    await services.studies.remove(name, holder)


@router.get("/studies/{name}")
async def show_study(name: StudyPath, request: Request, services: ServicesParam) -> KeptStudy:
    """Tell a study, whosever it is."""
    visitor = services.visitor(request, changes=False)
    kept = await _found(name, services)
    try:
        tree = await asyncio.to_thread(lambda: tree_of(parse_record(kept.record)))
    except KamonError as error:
        raise refused(error) from None
    return {
        "id": name,
        "mine": visitor.keeps(kept.holder),
        "updated": kept.updated,
        **tree,
    }


@router.get("/studies/{name}/record", **answers_with(PGN))
async def show_record(name: StudyPath, services: ServicesParam) -> Response:
    """Give a study that is kept as a record (PGN)."""
    kept = await _found(name, services)
    headers = {"Content-Disposition": f'attachment; filename="kamon-{name}.pgn"'}
    return Response(kept.record, media_type=f"{PGN}; charset=utf-8", headers=headers)


async def _found(name: str, services: Services) -> Kept:
    kept = await asyncio.to_thread(services.studies.find, name)
    if kept is None:
        raise ApiError("no-such-study")
    return kept


def _written(study: Study) -> tuple[Game, str]:
    game = game_of(study)
    return game, record_of(game)


def _charge_keeping(request: Request, services: Services) -> None:
    services.spend(request, "games")
    services.spend(request, "kilobytes", _length(request) / 1_000)


def _length(request: Request) -> int:
    return int(request.headers.get("content-length", "0"))
