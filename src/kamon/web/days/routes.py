"""The board of the day, and fair boards, over HTTP."""

import asyncio
from dataclasses import asdict
from datetime import date as Date  # noqa: N812 - the query has a field of this name
from datetime import timedelta
from typing import Annotated, Final, cast

from fastapi import APIRouter, Query, Request
from typing_extensions import TypedDict

from kamon.layout import Layout
from kamon.notation import format_cell
from kamon.position import Position
from kamon.web.days.boards import SolvedBoard, fair_boards, solved_boards
from kamon.web.errors import ApiError
from kamon.web.games import views
from kamon.web.games.views import BoardView, SummaryView
from kamon.web.identity import Visitor
from kamon.web.schemas import ERROR_ANSWERS, SideName
from kamon.web.services import Services, ServicesParam

MINE_SHOWN: Final = 12
WINNERS: Final[dict[str, SideName | None]] = {"win": "black", "draw": None, "loss": "white"}
_ONE_DAY: Final = timedelta(days=1)

DateQuery = Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")]
router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)


class LevelResultView(TypedDict):
    """How people fared against a level: finished games, wins, the stones of the shortest win."""

    level: int
    games: int
    wins: int
    shortest: int | None


class TruthView(TypedDict):
    """What is proven about a board: who wins with best play (None: nobody), and the first moves.

    Every first move is in one of ``winning``, ``not_winning`` and ``unsettled``. Those of
    ``not_winning`` that do not lose either are also in ``drawing``. ``line`` is one way the game
    can go if both sides keep their values.
    """

    winner: SideName | None
    winning: list[str]
    not_winning: list[str]
    drawing: list[str]
    unsettled: list[str]
    line: list[str]


class DayView(TypedDict):
    """A day: its board, how people fared, the visitor's own games, and from the next day the truth.

    ``previous`` and ``next`` are the dates of the days before and after it, if they have a board.
    """

    date: str
    previous: str | None
    next: str | None
    board: BoardView
    results: list[LevelResultView]
    mine: list[SummaryView]
    truth: TruthView | None


class FairBoardView(TypedDict):
    """A fair board: who wins it, and how many of its first moves win; the others do not."""

    seed: str
    winner: SideName | None
    winning: int
    first_moves: int


class FairBoards(TypedDict):
    """The fair ones of the boards on which every first move is settled."""

    boards: list[FairBoardView]


@router.get("/day")
async def show_day(request: Request, services: ServicesParam, date: DateQuery = None) -> DayView:
    """Tell the board of the day, or that of a day before."""
    visitor = services.visitor(request, changes=False)
    return await day_view(services, visitor, day_of(services, date))


@router.get("/fair-boards")
async def show_fair_boards() -> FairBoards:
    """List the fair boards."""
    return {"boards": fair_views()}


def day_of(services: Services, text: str | None) -> Date:
    """Return the day that an address names, or today."""
    if text is None:
        return services.days.today()
    try:
        return Date.fromisoformat(text)
    except ValueError:
        raise ApiError("no-such-day") from None


async def day_view(services: Services, visitor: Visitor, day: Date) -> DayView:
    """Tell a day to somebody."""
    days, today = services.days, services.days.today()
    seed = await days.seed_of(day)
    results = await asyncio.to_thread(days.results, day)
    return {
        "date": day.isoformat(),
        "previous": (day - _ONE_DAY).isoformat() if await days.first() < day else None,
        "next": (day + _ONE_DAY).isoformat() if day < today else None,
        "board": views.board_view(Position(Layout.shuffled(seed))),
        "results": [cast(LevelResultView, asdict(each)) for each in results],
        "mine": await _own_games(services, visitor, day),
        "truth": _truth(solved_boards().get(seed)) if day < today else None,
    }


async def _own_games(services: Services, visitor: Visitor, day: Date) -> list[SummaryView]:
    if visitor.holder is None:
        return []
    games = await asyncio.to_thread(services.days.games_of, day, visitor.holder, MINE_SHOWN)
    tables, now = await services.desk.several(games), services.desk.now()
    return [views.summary(each.room, visitor.sides(each.holders), now) for each in tables]


def _truth(board: SolvedBoard | None) -> TruthView | None:
    """Tell what is proven about a board, unless it does not come with this version any more."""
    if board is None:
        return None
    return {
        "winner": WINNERS[board.value],
        "winning": _names(board.winning),
        "not_winning": _names(board.not_winning),
        "drawing": _names(board.drawing),
        "unsettled": _names(board.unsettled),
        "line": _names(board.line),
    }


def _names(cells: tuple[int, ...]) -> list[str]:
    return [format_cell(cell) for cell in cells]


def fair_views() -> list[FairBoardView]:
    """Tell the fair boards, and nothing about which of their first moves win."""
    return [
        {
            "seed": str(board.seed),
            "winner": WINNERS[board.value],
            "winning": len(board.winning),
            "first_moves": len(board.first_moves),
        }
        for board in fair_boards(solved_boards().values())
    ]
