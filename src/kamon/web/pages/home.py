"""What the home page comes with: games, today's puzzle and board, and what the visitor has done."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from functools import lru_cache
from typing import Final, TypeVar

from sqlalchemy.exc import SQLAlchemyError
from typing_extensions import TypedDict

from kamon.layout import Layout
from kamon.notation import format_cell, parse_line
from kamon.position import Position
from kamon.web.days.boards import solved_boards
from kamon.web.days.played import PlayedDays, days_of
from kamon.web.days.routes import WINNERS, FairBoardView, fair_views
from kamon.web.errors import ApiError
from kamon.web.games.lobby import lobby
from kamon.web.games.messages import LobbyView
from kamon.web.games.views import OutcomeView, PictureView, board_view, picture_view
from kamon.web.identity import Visitor
from kamon.web.learn.lessons import LESSONS
from kamon.web.puzzles.messages import Result
from kamon.web.schemas import SideName
from kamon.web.services import Services

# The board beside the title: the middle of a game between two of the computer's levels.
SAMPLE: Final = (
    "C6F2B6C3/A1D1D4B2E4/C4B4F3C2--F4/E2E3B3D5A2E6A4/D2C1A6C5A3F5/E5F6D6B1F1/B5E1A5D3 "
    "e7 f4 d6 g5 e5 a3 c5 a2 f6 b3 c4 c3 g6"
)
# How that game ends. The page plays it from the first move to the last.
_SAMPLE_END: Final = "f3 c2 d4 b5 e4"

_Told = TypeVar("_Told")


class SampleView(PictureView):
    """A whole game, and the position to show if nothing may move."""

    moves: list[str]
    outcome: OutcomeView | None


class PuzzleCard(TypedDict):
    """Today's puzzle: who plays, how many moves are to be found, and how the first try ended."""

    picture: PictureView
    side: SideName
    moves: int
    result: Result | None


class BestGame(TypedDict):
    """The visitor's best game on the board of the day: a win with the fewest stones, if any."""

    won: bool
    level: int
    stones: int


class YesterdayView(TypedDict):
    """Who wins yesterday's board with best play; None for a draw."""

    date: str
    winner: SideName | None


class DayCard(TypedDict):
    """Today's board, what the visitor has done on it, and what is proven about yesterday's."""

    picture: PictureView
    best: BestGame | None
    yesterday: YesterdayView | None


class HomeView(TypedDict):
    """Everything that the home page comes with."""

    lobby: LobbyView
    sample: SampleView
    puzzle: PuzzleCard | None
    day: DayCard | None
    days: PlayedDays | None
    fair: list[FairBoardView]
    lessons: int


async def home_view(services: Services, visitor: Visitor) -> HomeView:
    """Collect what the page shows. It opens even if the database does not answer."""
    return {
        "lobby": await _or_none(lobby(services, visitor)) or {"here": 0, "mine": [], "open": []},
        "sample": _sample(),
        "puzzle": await _or_none(_puzzle_card(services, visitor)),
        "day": await _or_none(_day_card(services, visitor)),
        "days": await _or_none(_days(services, visitor)),
        "fair": fair_views(),
        "lessons": len(LESSONS),
    }


async def _or_none(told: Awaitable[_Told]) -> _Told | None:
    try:
        return await told
    except (ApiError, SQLAlchemyError, OSError):
        return None


@lru_cache(maxsize=1)
def _sample() -> SampleView:
    game = parse_line(f"{SAMPLE} {_SAMPLE_END}")
    assert game is not None  # noqa: S101 - the line is not empty
    return {
        **picture_of(SAMPLE),
        "moves": [format_cell(cell) for cell in game.moves],
        "outcome": board_view(game.position)["outcome"],
    }


# The sample, and the puzzles of today and yesterday.
@lru_cache(maxsize=3)
def picture_of(line: str) -> PictureView:
    """Return the position at the end of a game line that has been checked."""
    game = parse_line(line)
    assert game is not None  # noqa: S101 - the line is not empty
    return picture_view(game.position)


async def _puzzle_card(services: Services, visitor: Visitor) -> PuzzleCard | None:
    puzzles = services.puzzles
    name = await puzzles.store.puzzle_of(services.days.today())
    listed = await asyncio.to_thread(puzzles.book.find, name)
    if listed is None:
        return None
    puzzle = listed.read()
    solved = await asyncio.to_thread(puzzles.store.solved, visitor.holder, name)
    return {
        "picture": picture_of(listed.line),
        "side": puzzle.position.turn.value,
        "moves": puzzle.turns,
        "result": None if solved is None else "solved" if solved else "missed",
    }


async def _days(services: Services, visitor: Visitor) -> PlayedDays:
    today = services.days.today()
    return await asyncio.to_thread(days_of, services.desk.writer.database, visitor.holder, today)


async def _day_card(services: Services, visitor: Visitor) -> DayCard:
    days, today = services.days, services.days.today()
    layout = Layout.shuffled(await days.seed_of(today))
    best = await asyncio.to_thread(days.best_of, today, visitor.holder)
    return {
        "picture": picture_view(Position(layout)),
        "best": None
        if best is None
        else {"won": bool(best.won), "level": best.level, "stones": best.moves or 0},
        "yesterday": await _yesterday(services),
    }


async def _yesterday(services: Services) -> YesterdayView | None:
    day = services.days.today() - timedelta(days=1)
    try:
        board = solved_boards().get(await services.days.seed_of(day))
    except ApiError:
        # The server is new: yesterday had no board.
        return None
    return None if board is None else {"date": day.isoformat(), "winner": WINNERS[board.value]}
