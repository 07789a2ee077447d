"""The tutorial: eleven small positions in which one plays, and what is said to every try.

The learner always has Black. Sentences are English keys. The server translates them and leaves
two gaps for the page, whose words for tokens depend on the edition: ``{need}`` is what must be
matched on the board of the lesson, and ``{cells}`` is where White may play after the try.
"""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, reduce
from operator import or_
from typing import Annotated, Final

from fastapi import APIRouter, Request
from fastapi import Path as PathParam
from typing_extensions import TypedDict

from kamon import i18n, rules
from kamon.geometry import BORDER, CELLS, CORNERS, NEIGHBOURS, cells, spread
from kamon.notation import format_cell, parse_line
from kamon.position import Position
from kamon.rules import By
from kamon.web.games.views import BoardView, board_view
from kamon.web.pages.shell import language_of
from kamon.web.schemas import ERROR_ANSWERS


class Goal(Enum):
    """What a try must do to be right."""

    MATCH = "match"
    JOIN = "join"
    LINK = "link"
    LOOP = "loop"
    BLOCK = "block"
    SAFE = "safe"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One step: what to do, what was learnt, and the position line to do it on."""

    title: str
    text: str
    done: str
    line: str
    goal: Goal

    @property
    def position(self) -> Position:
        """The board on which it is played."""
        game = parse_line(self.line)
        assert game is not None  # noqa: S101 - a lesson has a position
        return game.position


@dataclass(frozen=True, slots=True)
class Try:
    """What comes of a try: whether it was right, why, and White's winning reply if there is one."""

    good: bool
    why: str
    reply: int | None = None


LESSONS: Final = (
    Lesson(
        "Match the last token",
        "White has just played on the token in the gold frame. "
        "Tap another token that matches it: {need}.",
        "Well done! One thing in common is enough.",
        "E1E5C5F1/A3C1D6A2B5/D4F3F6B2F2D2/D3E4A6A1B3F5B1/A4C4B4E3C2C3/E2D1--E6D5/C6B6F4A5 a2 d4",
        Goal.MATCH,
    ),
    Lesson(
        "The first stone",
        "Black begins on an edge space, but not on a corner. Where do you begin?",
        "Well done! From then on, every token must match the one before.",
        "F2B1B2D4/A2E3E4C5A5/D5B3A3A4C4D1/F3E5--C2A6E1B4/F6B6E2C3B5A1/D6C6C1F5F1/D3F4E6D2",
        Goal.MATCH,
    ),
    Lesson(
        "The neutral space",
        "The space between your two stones is neutral: nobody may ever play there. "
        "Join your stones another way.",
        "Well done! Neighbouring stones make a chain.",
        "A3D6F5E5/A2C4E3D5C2/D4B4B5D3B3F2/C1A1F6F3B2--E6/E2B6E1A4B1C6/A5F1D1A6C3/D2C5E4F4 "
        "g5 c5 e4 c3",
        Goal.JOIN,
    ),
    Lesson(
        "Win with a connection",
        "Connect two opposite edges of the board with a chain. One stone is missing.",
        "You win! Any two opposite edges will do.",
        "B6C5C1C6/A4E6F6B3B1/D2D1E4F5C4--/D5C2B2A6E2E5E3/E1A1B4D4F4B5/D3F3D6A3C3/F1F2A5A2 "
        "e7 e4 c3 f5 c2 b2 d4 c5 c1 b3 e6 e5",
        Goal.LINK,
    ),
    Lesson(
        "A corner has two edges",
        "A corner belongs to both edges that meet there. Use one to connect two opposite edges.",
        "You win! The corner counted for the edge that you needed.",
        "C6D5B5D2/F5D3--C5D6/D4A1F2E3C4A3/C1F3A4B2F1F4B4/B6B3C2E6E4F6/D1C3E1A6E5/A5B1E2A2 "
        "a3 e3 f4 g5 e4 c3 d4 c5 b4 f3 c4 f5",
        Goal.LINK,
    ),
    Lesson(
        "Win with a loop",
        "A closed ring of your stones wins too, if there is a space inside that is not yours. "
        "Close the ring.",
        "You win! Inside there may be a white stone, a free space or the neutral space.",
        "A1A4E3D1/C1--D5E6A3/A2D3F4B1F2B4/D4B5E1C3C6C5F5/C2A6B2B6A5C4/D6F1B3E4F3/E2F6D2E5 "
        "f7 e3 e7 c3 f6 c4 d6 d3 e5 e6",
        Goal.LOOP,
    ),
    Lesson(
        "A ring that does not count",
        "A ring with only your own stones inside does not win. Close one around a space that is "
        "not yours.",
        "You win! The space inside is not yours, so this ring is a loop.",
        "C1--C4E1/D4E3E5D3F3/E4F5E2A2B2A5/F6A1C2A3B6F2F4/D2D1D6D5C6A4/C5C3E6B5B1/B4F1B3A6 "
        "f7 g6 e7 b3 f6 c6 d6 d2 c5 b4 d4 f3 e5 c2 e6 f5",
        Goal.LOOP,
    ),
    Lesson(
        "Win with a block",
        "White must match your token, too. Choose the one that leaves White no move.",
        "You win! No free token matches yours.",
        "D5F2F6A5/A3E6F1F3D4/D2B6C4B1C2E2/F4A1C5A2C6B2E4/E5D1--C1C3E3/D6F5A6E1A4/D3B5B3B4 "
        "b1 e3 c3 c4 f5 e4 e6 b4 f6 d3 c2 c5",
        Goal.BLOCK,
    ),
    Lesson(
        "Don’t get blocked",
        "On the marked token White would block you. "
        "Choose a token that does not let White play there.",
        "Well done! White cannot play there, because that token does not match yours.",
        "B1A1B2B3/C6D3B4C4F1/C2B5E2--A6E5/F2F5B6D1E1A4A5/E4C5F4C1F3D5/D6D4E6C3F6/D2E3A3A2 "
        "e2 e4 e6 c3 e7 f5 d5 f4 d2 d6 c2 b3 g5 c5 g4 b4",
        Goal.SAFE,
    ),
    Lesson(
        "Mind the gap",
        "On the marked token White would connect two edges. "
        "Choose a token that does not let White play there.",
        "Well done! White cannot fill the gap now. "
        "One more rule: if all 36 stones are on the board and nobody has won, it is a draw.",
        "E3--B6A2/C4C1B4D4D1/E4A6C6B3F1C3/D5A3A1B5F3C2E2/B1D6E6A4E1F4/D2A5B2D3F6/C5F5F2E5 "
        "e2 c4 e3 g6 c5 b3 d6 e5 d2 a3 d5 f5",
        Goal.SAFE,
    ),
    # docs/engine.md says why counting works ("If only blocks decided").
    Lesson(
        "Count to the end",
        "Nobody can connect or close a loop now, so the first player without a move loses. Tokens "
        "that match each other form a group. Leave White a group with an even number of tokens.",
        "Well counted! For every token that White plays, you have another one. "
        "Now you know the whole game!",
        "B6E4C4D6/C2B5C3E2D2/A3A4D3F3B4E6/A2F2B2D5F1E3A6/B3C1--C5F5B1/C6F4A5F6D4/A1E5E1D1 "
        "e2 g6 b3 c1 c2 c3 d3 f4 e7 f7 d2 a2 c6 g4 a3 e6 e5 b2 g5 g7 e4 d7 a4 b4 d6 b1 f3 a1",
        Goal.COUNT,
    ),
)

# --- Why a try is wrong ---------------------------------------------------------------------

TAKEN: Final = "There is a stone here already."
NEUTRAL: Final = "Nobody may play on the neutral space."
CORNER: Final = "The first stone may not go on a corner."
INSIDE: Final = "The first stone goes on an edge space of the board."
NO_MATCH: Final = "This token does not match. Choose {need}."
OWN_RING: Final = "This ring has only your own stones inside, so it does not count."
NOT_YET: Final = {
    Goal.JOIN: "That does not join your two stones.",
    Goal.LINK: "That does not connect two opposite edges yet.",
    Goal.LOOP: "That does not close the ring yet.",
    Goal.BLOCK: "White can still play on these spaces: {cells}.",
    Goal.COUNT: "Count again: that leaves White an odd number, so White can play the last token.",
}
LOSES: Final = {
    By.CONNECTION: "Now White fills the gap, connects two edges and wins.",
    By.LOOP: "Now White closes a loop and wins.",
    By.BLOCK: "Now White plays there, and you cannot play.",
}
REASONS: Final = (
    *(TAKEN, NEUTRAL, CORNER, INSIDE, NO_MATCH, OWN_RING),
    *(*NOT_YET.values(), *LOSES.values()),
)


def judge(lesson: Lesson, cell: int) -> Try:
    """Say what comes of trying a cell."""
    position = lesson.position
    if cell not in rules.legal_cells(position):
        return Try(good=False, why=_why_illegal(position, cell))
    after = rules.play(position, cell)
    if lesson.goal is Goal.SAFE:
        return _judge_safety(lesson, after)
    if _reaches(lesson.goal, after):
        return Try(good=True, why=lesson.done)
    if lesson.goal is Goal.LOOP and _rings_own_stone(after, cell):
        return Try(good=False, why=OWN_RING)
    return Try(good=False, why=NOT_YET[lesson.goal])


def _why_illegal(position: Position, cell: int) -> str:
    if position.owner(cell) is not None:
        return TAKEN
    if cell == position.layout.neutral:
        return NEUTRAL
    if position.last is not None:
        return NO_MATCH
    return CORNER if CORNERS >> cell & 1 else INSIDE


def _judge_safety(lesson: Lesson, after: Position) -> Try:
    """Judge a try by whether White can win with the next stone."""
    for reply in rules.legal_cells(after):
        end = rules.outcome(after.after(reply))
        if end is not None and end.winner is not None:
            return Try(good=False, why=LOSES[end.by[0]], reply=reply)
    return Try(good=True, why=lesson.done)


_ENDS: Final = {Goal.LINK: By.CONNECTION, Goal.LOOP: By.LOOP, Goal.BLOCK: By.BLOCK}


def _reaches(goal: Goal, after: Position) -> bool:
    """Tell whether a legal stone has done what it should."""
    if goal is Goal.MATCH:
        return True
    if goal is Goal.JOIN:
        mine = after.just_moved
        return spread(mine & -mine, mine) == mine
    if goal is Goal.COUNT:
        return _linked(after).bit_count() % 2 == 0
    end = rules.outcome(after)
    return end is not None and _ENDS[goal] in end.by


def _linked(position: Position) -> int:
    """Return the free cells that lead from the last token to each other, each matching the next."""
    matching = position.layout.matching
    linked, more = 0, rules.legal_mask(position)
    while more:
        linked |= more
        more = position.free & ~linked & reduce(or_, (matching[cell] for cell in cells(more)))
    return linked


def _rings_own_stone(after: Position, cell: int) -> bool:
    """Tell whether the stone on a cell was the last of six around a stone of the same side."""
    mine = after.just_moved
    return any(
        not BORDER >> inside & 1 and not NEIGHBOURS[inside] & ~mine
        for inside in cells(NEIGHBOURS[cell] & mine)
    )


# --- What the page is told ------------------------------------------------------------------

router = APIRouter(prefix="/api", responses=ERROR_ANSWERS)


class TryView(TypedDict):
    """What comes of a try: the board after it, and after the reply that refutes it."""

    good: bool
    why: str
    board: BoardView | None
    reply: str | None
    after: BoardView | None


class LessonView(TypedDict):
    """One step of the tutorial, in the visitor's language."""

    number: int
    count: int
    title: str
    text: str
    done: str
    marked: bool
    threats: list[str]
    board: BoardView
    tries: dict[str, TryView]


@router.get("/lessons/{number}")
async def show_lesson(
    number: Annotated[int, PathParam(ge=1, le=len(LESSONS))], request: Request
) -> LessonView:
    """Tell one step of the tutorial, and what comes of each cell that the learner may try."""
    return _told(number, language_of(request))


@lru_cache(maxsize=len(LESSONS) * len(i18n.LANGUAGES))
def _told(number: int, language: str) -> LessonView:
    lesson = LESSONS[number - 1]
    return {
        "number": number,
        "count": len(LESSONS),
        "title": i18n.translate(language, lesson.title),
        "text": i18n.translate(language, lesson.text),
        "done": i18n.translate(language, lesson.done),
        # At first the learner is to find out alone what may be played.
        "marked": lesson.goal not in (Goal.MATCH, Goal.JOIN),
        "threats": _threats(lesson),
        "board": board_view(lesson.position),
        "tries": {format_cell(cell): _told_try(lesson, cell, language) for cell in CELLS},
    }


def _threats(lesson: Lesson) -> list[str]:
    """List the cells to mark: those on which White would win, where that is the question."""
    if lesson.goal is not Goal.SAFE:
        return []
    return [format_cell(cell) for cell in rules.dangers(lesson.position).threats]


def _told_try(lesson: Lesson, cell: int, language: str) -> TryView:
    result = judge(lesson, cell)
    position = lesson.position
    after = position.after(cell) if cell in rules.legal_cells(position) else None
    end = after.after(result.reply) if after and result.reply is not None else None
    return {
        "good": result.good,
        "why": i18n.translate(language, result.why),
        "board": board_view(after) if after else None,
        "reply": None if result.reply is None else format_cell(result.reply),
        "after": board_view(end) if end else None,
    }
