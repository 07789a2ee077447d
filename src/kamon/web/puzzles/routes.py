"""Puzzles over HTTP. The solution stays here: each move is judged when it is played."""

import asyncio
from collections.abc import Callable, Collection
from datetime import date, timedelta
from random import SystemRandom
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathParam
from typing_extensions import TypedDict

from kamon.engine.values import DRAW, VALUE_NAMES, VALUES
from kamon.notation import format_cell, format_layout, parse_cell
from kamon.position import Side
from kamon.puzzles.puzzle import Puzzle
from kamon.puzzles.themes import ENDINGS
from kamon.web.errors import ApiError
from kamon.web.games.lobby import FINISHED
from kamon.web.games.rooms import Room
from kamon.web.games.views import board_view
from kamon.web.identity import Visitor
from kamon.web.ids import PublicId
from kamon.web.puzzles.book import Listed
from kamon.web.puzzles.judging import Judged, judge, play
from kamon.web.puzzles.messages import (
    LAST_HINT,
    CalendarView,
    DayName,
    HintView,
    HintWish,
    MissedAnswer,
    MissedMove,
    MissedView,
    MonthName,
    Moves,
    MoveView,
    ProgressView,
    PuzzleDayView,
    PuzzleId,
    PuzzleView,
    Result,
    RunAnswer,
    RunView,
    SolutionView,
    Task,
    ThemeName,
)
from kamon.web.puzzles.newcomers import EASY_RATING, UNRATED_TRIES, step
from kamon.web.puzzles.searching import MISSED_GAMES
from kamon.web.puzzles.store import Player
from kamon.web.schemas import ERROR_ANSWERS
from kamon.web.services import Services, ServicesParam

# The puzzles of days begin with this one.
FIRST_DAY: Final = date(2026, 1, 1)
# A run against the clock begins with the easiest puzzles, and each one solved makes them harder.
_RUN_RATING: Final = 700
_RUN_STEP: Final = 40
# A rating that may be off by more is shown with a question mark, as on other servers.
_SURE: Final = 110.0
_rng = SystemRandom()

router = APIRouter(prefix="/api/puzzles", responses=ERROR_ANSWERS)


# --- Training --------------------------------------------------------------------------------


@router.get("/next")
async def next_puzzle(
    request: Request, services: ServicesParam, theme: ThemeName | None = None
) -> PuzzleView:
    """Choose a puzzle that fits the visitor, of a theme or any. Newcomers begin with easy ones."""
    visitor = services.visitor(request, changes=False)
    player = await asyncio.to_thread(services.puzzles.store.player, visitor.holder)
    tried = await asyncio.to_thread(services.puzzles.store.tried, visitor.holder)
    near, fits = player.rating.value, _of_theme(theme)
    # The tries of a visitor without a secret cannot be counted.
    if visitor.holder is not None and len(tried) < UNRATED_TRIES:
        near, fits = EASY_RATING, step(len(tried), theme)
    listed = await _choose(services, near, tried, fits)
    return _puzzle_view(listed, tried, rated=_is_rated(visitor, tried, listed.id))


def _of_theme(theme: ThemeName | None) -> Callable[[Listed], bool]:
    return lambda listed: theme is None or theme in listed.themes


async def _choose(
    services: Services,
    near: float,
    tried: Collection[str],
    fits: Callable[[Listed], bool] = lambda _: True,
) -> Listed:
    """Choose a puzzle of about some rating. Who has tried them all begins again."""

    def choose() -> Listed | None:
        book = services.puzzles.book
        found = book.choose(near, _rng, fits=fits, without=frozenset(tried))
        return found or book.choose(near, _rng, fits=fits, without=frozenset())

    listed = await asyncio.to_thread(choose)
    if listed is None:
        raise ApiError("no-such-puzzle")
    return listed


@router.get("/me")
async def show_progress(request: Request, services: ServicesParam) -> ProgressView:
    """Tell how the visitor does at puzzles."""
    visitor = services.visitor(request, changes=False)
    return await _progress(services, visitor.holder)


# --- Against the clock -------------------------------------------------------------------------


@router.get("/runs")
async def show_run(request: Request, services: ServicesParam) -> RunAnswer:
    """Tell the visitor's run against the clock, if its time is not over."""
    visitor = services.visitor(request, changes=False)
    player = await asyncio.to_thread(services.puzzles.store.player, visitor.holder)
    if not player.run_left(services.desk.now()):
        return {"run": None}
    return {"run": await _run_view(services, player)}


@router.post("/runs", status_code=201)
async def begin_run(request: Request, services: ServicesParam) -> RunView:
    """Begin a run against the clock."""
    holder = services.visitor(request, changes=True).require()
    services.spend(request, "messages")
    first = await _next_of_run(services, holder, 0, "")
    player = await services.puzzles.store.begin_run(holder, first, services.desk.now())
    return await _run_view(services, player)


async def _next_of_run(services: Services, holder: str, score: int, current: str) -> str:
    """Choose the next puzzle of a run: each one solved makes them harder."""
    tried = await asyncio.to_thread(services.puzzles.store.tried, holder)
    near = _RUN_RATING + _RUN_STEP * score
    return (await _choose(services, near, {*tried, current})).id


async def _note_run(services: Services, visitor: Visitor, puzzle: str, *, solved: bool) -> RunView:
    holder, now, store = visitor.require(), services.desk.now(), services.puzzles.store
    player = await asyncio.to_thread(store.player, holder)
    following = await _next_of_run(services, holder, player.run_score + solved, puzzle)
    noted = await store.note_run(holder, puzzle, following, now, solved=solved)
    return await _run_view(services, noted)


async def _run_view(services: Services, player: Player) -> RunView:
    left = player.run_left(services.desk.now())
    puzzle = None
    if left and player.run_puzzle is not None:
        # How it was tried before is of no interest while the clock runs.
        puzzle = _puzzle_view(await _find(services, player.run_puzzle), {}, rated=False)
    return {
        "left": left,
        "score": player.run_score,
        "misses": player.run_misses,
        "best": player.best_run,
        "puzzle": puzzle,
    }


# --- Days ------------------------------------------------------------------------------------


@router.get("/days")
async def show_calendar(
    request: Request, services: ServicesParam, month: Annotated[MonthName | None, Query()] = None
) -> CalendarView:
    """Tell the puzzles of a month's days, up to today, and which ones the visitor has solved."""
    visitor = services.visitor(request, changes=False)
    today = services.days.today()
    first = today.replace(day=1) if month is None else read_day(f"{month}-01", services)
    tried = await asyncio.to_thread(services.puzzles.store.tried, visitor.holder)
    days: list[PuzzleDayView] = []
    day = first
    while day <= today and day.month == first.month:
        puzzle = await services.puzzles.store.puzzle_of(day)
        days.append({"date": day.isoformat(), "puzzle": puzzle, "result": _result(tried, puzzle)})
        day += timedelta(days=1)
    return {"today": today.isoformat(), "first": FIRST_DAY.isoformat(), "days": days}


@router.get("/days/{name}")
async def show_day(name: DayName, request: Request, services: ServicesParam) -> PuzzleView:
    """Tell the puzzle of a day: the same for everybody."""
    visitor = services.visitor(request, changes=False)
    day = read_day(name, services)
    listed = await _find(services, await services.puzzles.store.puzzle_of(day))
    tried = await asyncio.to_thread(services.puzzles.store.tried, visitor.holder)
    rated = _is_rated(visitor, tried, listed.id)
    return {**_puzzle_view(listed, tried, rated=rated), "date": name}


def read_day(name: str, services: Services) -> date:
    """Read a day that has a puzzle."""
    try:
        day = date.fromisoformat(name)
    except ValueError:
        raise ApiError("no-such-day") from None
    if not FIRST_DAY <= day <= services.days.today():
        raise ApiError("no-such-day")
    return day


# --- What one has missed ----------------------------------------------------------------------


@router.get("/missed")
async def next_missed(request: Request, services: ServicesParam) -> MissedAnswer:
    """Find a position in one of the visitor's lost games in which they could have done better."""
    services.overload.require("studies")
    visitor = services.visitor(request, changes=False)
    holder = visitor.require()
    ids = await asyncio.to_thread(
        services.desk.games.games_of, holder, MISSED_GAMES, None, FINISHED
    )
    tables = await services.desk.several(ids)
    lost = [
        (table.room, side)
        for table in tables
        for side in visitor.sides(table.holders)
        if _has_lost(table.room, side)
    ]
    found = await services.puzzles.searching.find_missed(lost, services.client(request))
    if found is None:
        return {"missed": None}
    room, side, missed = found
    told: MissedView = {
        "game": room.id,
        "ply": missed["ply"],
        "board": board_view(room.positions[missed["ply"]]),
        "side": side.value,
        "goal": missed["value"],
    }
    return {"missed": told}


def _has_lost(room: Room, side: Side) -> bool:
    return not room.shared and room.result is not None and room.result.winner is side.other


@router.post("/missed/{game}")
async def try_missed(
    game: Annotated[PublicId, PathParam()],
    tried: MissedMove,
    request: Request,
    services: ServicesParam,
) -> MoveView:
    """Judge a move in a position of the visitor's own game. Nothing is rated."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "messages")
    table = await services.desk.table(game)
    for side in visitor.sides(table.holders):
        missed = await services.puzzles.searching.missed(table.room, side, services.client(request))
        if missed is not None:
            return _move_view(_judge_missed(table.room, missed, parse_cell(tried.cell)), None)
    raise ApiError("nothing-missed")


def _judge_missed(room: Room, missed: dict[str, Any], cell: int) -> Judged:
    after = play(room.positions[missed["ply"]], cell)
    name = format_cell(cell)
    if name not in missed["right"] and name not in missed["refutations"]:
        raise ApiError("too-slow", detail="it is not proven what this move leads to")
    found = missed["refutations"].get(name)
    if found is None:
        value = VALUES[missed["value"]]
        return Judged(right=True, done=True, after=after, reply=None, value=value, plies=0)
    return Judged(
        right=False,
        done=True,
        after=after,
        reply=None if found["reply"] is None else parse_cell(found["reply"]),
        value=VALUES[found["value"]],
        plies=found["plies"],
    )


# --- One puzzle ------------------------------------------------------------------------------


@router.get("/{name}")
async def show_puzzle(name: PuzzleId, request: Request, services: ServicesParam) -> PuzzleView:
    """Tell a puzzle, without its solution."""
    visitor = services.visitor(request, changes=False)
    listed = await _find(services, name)
    tried = await asyncio.to_thread(services.puzzles.store.tried, visitor.holder)
    return _puzzle_view(listed, tried, rated=_is_rated(visitor, tried, name))


@router.post("/{name}/moves")
async def try_move(
    name: PuzzleId, tried: Moves, request: Request, services: ServicesParam
) -> MoveView:
    """Judge the solver's newest move. The first try of a puzzle is rated when it is over.

    Only a newcomer's first five are not.
    """
    visitor = services.visitor(request, changes=True)
    services.spend(request, "messages")
    listed = await _find(services, name)
    puzzle = listed.read()
    judged = judge(puzzle, [parse_cell(cell) for cell in tried.moves])
    view = _move_view(judged, _solution(puzzle) if judged.right and judged.done else None)
    if judged.right and not judged.done:
        return view
    if tried.run:
        run = await _note_run(services, visitor, name, solved=judged.right)
        return {**view, "result": _named(judged.right), "run": run}
    return {**view, **await _note(services, visitor, listed, solved=judged.right)}


@router.post("/{name}/hints")
async def give_hint(
    name: PuzzleId, wish: HintWish, request: Request, services: ServicesParam
) -> HintView:
    """Help with the next move. From the second step on the puzzle counts as missed."""
    visitor = services.visitor(request, changes=True)
    services.spend(request, "messages")
    listed = await _find(services, name)
    puzzle = listed.read()
    cells = [parse_cell(cell) for cell in wish.moves]
    place = 2 * len(cells)
    if list(puzzle.solution[:place:2]) != cells or place >= len(puzzle.solution):
        raise ApiError("bad-message", detail="these are not moves of the solution")
    player = await asyncio.to_thread(services.puzzles.store.player, visitor.holder)
    if player.run_puzzle == name and player.run_left(services.desk.now()):
        raise ApiError("no-run", detail="there are no hints while the clock runs")
    # What is said of the first move helps with no other.
    themes = [theme for theme in puzzle.themes if not place or theme in ENDINGS]
    if wish.step == 1:
        return {"themes": themes, "cells": [], "change": None, "progress": None}
    noted = await _note(services, visitor, listed, solved=False)
    right, wrong = puzzle.solution[place], puzzle.refutations[place // 2]
    shown = [right]
    if wish.step < LAST_HINT and wrong:
        # The wrong move that holds out longest is the most tempting one.
        shown.append(max(wrong, key=lambda cell: (wrong[cell].value, wrong[cell].plies, -cell)))
    return {
        "themes": themes,
        "cells": sorted(format_cell(cell) for cell in shown),
        "change": noted["change"],
        "progress": noted["progress"],
    }


async def _find(services: Services, name: str) -> Listed:
    listed = await asyncio.to_thread(services.puzzles.book.find, name)
    if listed is None:
        raise ApiError("no-such-puzzle")
    return listed


# --- What is told ----------------------------------------------------------------------------


def _is_rated(visitor: Visitor, tried: dict[str, bool], puzzle: str) -> bool:
    """Return whether the visitor's next try of a puzzle will be rated, as things are now."""
    is_first = visitor.holder is not None and puzzle not in tried
    return is_first and len(tried) >= UNRATED_TRIES


def _task(puzzle: Puzzle) -> Task:
    if puzzle.is_defence:
        return "defend"
    return "draw" if puzzle.value == DRAW else "win"


def _puzzle_view(listed: Listed, tried: dict[str, bool], *, rated: bool) -> PuzzleView:
    puzzle = listed.read()
    return {
        "id": listed.id,
        "line": listed.line,
        "board": board_view(puzzle.position),
        "side": puzzle.position.turn.value,
        "goal": _task(puzzle),
        "turns": puzzle.turns,
        "rating": round(listed.rating.value),
        "tries": listed.tries,
        "rated": rated,
        "result": _result(tried, listed.id),
        "date": None,
    }


def _result(tried: dict[str, bool], puzzle: str) -> Result | None:
    return _named(tried[puzzle]) if puzzle in tried else None


def _named(solved: bool) -> Result:  # noqa: FBT001 - its name says what it is
    return "solved" if solved else "missed"


def _move_view(judged: Judged, solution: SolutionView | None) -> MoveView:
    """Tell what comes of a move, and the solution to who has found it."""
    after = None if judged.reply is None else judged.after.after(judged.reply)
    return {
        "right": judged.right,
        "done": judged.done,
        "board": board_view(judged.after),
        "reply": None if judged.reply is None else format_cell(judged.reply),
        "after": None if after is None else board_view(after),
        "value": VALUE_NAMES[judged.value],  # type: ignore[typeddict-item]
        "plies": judged.plies,
        "change": None,
        "result": None,
        "progress": None,
        "solution": solution,
        "run": None,
    }


def _solution(puzzle: Puzzle) -> SolutionView:
    moves = map(format_cell, (*puzzle.moves, *puzzle.solution))
    return {
        "themes": list(puzzle.themes),
        "line": " ".join([format_layout(puzzle.layout), *moves]),
        "solution": [format_cell(cell) for cell in puzzle.solution],
    }


class _Change(TypedDict):
    change: int | None
    result: Result | None
    progress: ProgressView | None


async def _note(services: Services, visitor: Visitor, listed: Listed, *, solved: bool) -> _Change:
    """Rate the first try of somebody who can be told from others."""
    if visitor.holder is None:
        return {"change": None, "result": _named(solved), "progress": None}
    noted = await services.puzzles.store.note(
        visitor.holder, listed, services.desk.now(), solved=solved
    )
    if noted.rating is not None:
        services.puzzles.book.renew(listed.id, noted.rating)
    return {
        "change": None if noted.change is None else round(noted.change),
        "result": _named(noted.solved),
        "progress": await _progress(services, visitor.holder, noted.player),
    }


async def _progress(
    services: Services, holder: str | None, player: Player | None = None
) -> ProgressView:
    store = services.puzzles.store
    if player is None:
        player = await asyncio.to_thread(store.player, holder)
    solved, missed = await asyncio.to_thread(store.counts, holder)
    return {
        "rating": round(player.rating.value),
        "sure": player.rating.deviation < _SURE,
        "solved": solved,
        "missed": missed,
        "streak": player.streak,
        "best_streak": player.best_streak,
        "best_run": player.best_run,
    }
