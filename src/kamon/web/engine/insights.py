"""What is told of studies and reviews, as JSON has it. The engine's ``data()`` methods make it."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from kamon.web.schemas import SideName

ValueName = Literal["win", "draw", "loss"]


class MoveValueView(TypedDict):
    """What a move is worth for who plays it: proven, with its distance to the end, or estimated."""

    move: str
    value: ValueName | None
    distance: int | None
    estimate: float | None


class InsightView(TypedDict):
    """What is known of a position. ``spent`` says that more time would tell more."""

    value: ValueName | None
    moves: list[MoveValueView]
    pv: list[str]
    nodes: int
    done: bool
    spent: bool


class TurnView(TypedDict):
    """One move of a reviewed game: the value before and after it, and what was better."""

    ply: int
    move: str
    before: ValueName | None
    after: ValueName | None
    estimate: float | None
    best_estimate: float | None
    lost: int
    doubtful: bool
    better: str | None
    quickest: bool
    line: list[str]
    leaves: list[str]
    ends: str | None
    shortened: int | None


class StoryView(TypedDict):
    """What decided a game, in one word."""

    kind: Literal["mistake", "flawless", "proven", "off-board", "open", "empty"]
    winner: SideName | None
    ply: int | None


class AccuracyView(TypedDict):
    """The share of each side's moves that kept the value; None where too little is proven."""

    black: float | None
    white: float | None


class ReviewView(TypedDict):
    """What is known of a game."""

    story: StoryView
    moments: list[int]
    turns: list[TurnView]
    accuracy: AccuracyView
    done: bool
    spent: NotRequired[bool]
