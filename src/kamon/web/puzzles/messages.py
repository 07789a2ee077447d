"""What requests about puzzles ask, and what they are answered."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from kamon.puzzles.puzzle import MOST_TURNS
from kamon.web.games.views import BoardView
from kamon.web.schemas import SideName, Strict

LAST_HINT: Final = 3

PuzzleId = Annotated[str, StringConstraints(pattern=r"^[a-z2-7]{8}$")]
CellName = Annotated[str, StringConstraints(pattern=r"^[a-g][1-7]$")]
DayName = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
MonthName = Annotated[str, StringConstraints(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]
ThemeName = Literal[
    "link", "loop", "block", "defend", "poison", "quiet", "corner", "double", "draw"
]
Goal = Literal["win", "draw"]
# What a puzzle asks for. "defend" is to stop a threat: it is over after that one move.
Task = Literal["win", "draw", "defend"]
Value = Literal["win", "draw", "loss"]
Result = Literal["solved", "missed"]


class ProgressView(TypedDict):
    """How the visitor does. ``sure`` tells whether the rating rests on enough puzzles."""

    rating: int
    sure: bool
    solved: int
    missed: int
    streak: int
    best_streak: int
    best_run: int


class PuzzleView(TypedDict):
    """A puzzle to solve. ``result`` is how the visitor's first try ended, if there was one.

    ``line`` is the game up to where it begins. ``rated`` says whether the visitor's next try of it
    changes ratings: not in a run, not a second time, and not among a newcomer's first five.
    """

    id: str
    line: str
    board: BoardView
    side: SideName
    goal: Task
    turns: int
    rating: int
    tries: int
    rated: bool
    result: Result | None
    # The day whose puzzle it is, where it was asked for by that.
    date: str | None


class SolutionView(TypedDict):
    """What is told of a puzzle when it is over: its themes, and the whole game as a line."""

    themes: list[str]
    line: str
    solution: list[str]


class RunView(TypedDict):
    """A run against the clock: what is left in milliseconds, how many are solved, how many not.

    ``puzzle`` is the one to be solved now; None when the time is over.
    """

    left: int
    score: int
    misses: int
    best: int
    puzzle: PuzzleView | None


class RunAnswer(TypedDict):
    """The run that is going on, if there is one."""

    run: RunView | None


class MoveView(TypedDict):
    """What comes of a move: the board after it, and the reply with the board after that.

    Of a wrong one ``value`` tells what it leads to, and ``plies`` how many moves of both sides
    later; early in one of the visitor's own games that may be unknown, and then it is 0. A reply to
    a right one is the most stubborn defence. ``change`` is what the rating has gained or lost; None
    where the puzzle counts no more, not yet, or is not rated. ``result`` is how the first try has
    ended, when it has.
    """

    right: bool
    done: bool
    board: BoardView
    reply: str | None
    after: BoardView | None
    value: Value
    plies: int
    change: int | None
    result: Result | None
    progress: ProgressView | None
    solution: SolutionView | None
    run: RunView | None


class HintView(TypedDict):
    """Help: what the puzzle teaches, or the cells among which the right one is."""

    themes: list[str]
    cells: list[str]
    change: int | None
    progress: ProgressView | None


class PuzzleDayView(TypedDict):
    """A day in the calendar: its puzzle, and how the visitor's first try ended."""

    date: str
    puzzle: str
    result: Result | None


class CalendarView(TypedDict):
    """The days of a month up to today."""

    today: str
    first: str
    days: list[PuzzleDayView]


class MissedView(TypedDict):
    """A position of one of the visitor's own games, in which they could have done better."""

    game: str
    ply: int
    board: BoardView
    side: SideName
    goal: Goal


class MissedAnswer(TypedDict):
    """Such a position, if one was found in the last games."""

    missed: MissedView | None


class Moves(Strict):
    """The solver's moves so far, the newest last; ``run`` tells that the clock runs."""

    moves: list[CellName] = Field(min_length=1, max_length=MOST_TURNS)
    run: bool = False


class HintWish(Strict):
    """Help with the next move: step 1 what it teaches, 2 two cells to choose from, 3 the cell."""

    moves: list[CellName] = Field(max_length=MOST_TURNS)
    step: int = Field(ge=1, le=LAST_HINT)


class MissedMove(Strict):
    """A move that is tried in a position of one's own game."""

    cell: CellName
