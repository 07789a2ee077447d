"""What the page is told of a room. The page knows no rules: all that is legal is said here."""

from dataclasses import dataclass, field
from typing import Literal, NotRequired, cast

from typing_extensions import TypedDict

from kamon import rules
from kamon.geometry import CELL_COUNT, cells, spread
from kamon.notation import (
    format_cell,
    format_cells,
    format_layout,
    format_token,
    outcome_data,
)
from kamon.position import Position, Side
from kamon.web.games import rooms
from kamon.web.games.rooms import Room, Status
from kamon.web.schemas import SideName

# --- What a view is made of -----------------------------------------------------------------


class LinkView(TypedDict):
    """A chain that connects two opposite edges."""

    colour: Literal["green", "blue", "yellow"]
    chain: list[str]


class NeededView(TypedDict):
    """What the blocked side would have had to match."""

    symbol: str
    suit: int


class OutcomeView(TypedDict):
    """How a game has ended on the board, with the cells that prove it."""

    winner: SideName | None
    by: list[str]
    links: list[LinkView]
    ring: list[str]
    enclosed: list[str]
    needed: NeededView | None


class PictureView(TypedDict):
    """What a board looks like: tokens and stones in reading order, and the last cell played."""

    tokens: list[str]
    stones: str
    last: str | None


class BoardView(PictureView):
    """A board: also what may be played, and what each move would allow in turn.

    ``chain`` has the stones that the last one is connected with, itself included.
    """

    turn: SideName | None
    need: str | None
    legal: list[str]
    replies: dict[str, list[str]]
    chain: list[str]
    outcome: OutcomeView | None


class AssistanceView(TypedDict):
    """The opponent's winning cells, the moves that lose at once, and those that win at once."""

    threats: list[str]
    losing: list[str]
    winning: list[str]


class SeatView(TypedDict):
    """Who sits on a side."""

    kind: Literal["open", "person", "computer"]
    name: str
    level: int


class SeatsView(TypedDict):
    """Both seats."""

    black: SeatView
    white: SeatView


class PresentView(TypedDict):
    """Whether somebody is connected for each side."""

    black: bool
    white: bool


class AbsentView(TypedDict):
    """For how many milliseconds each side has been away."""

    black: int | None
    white: int | None


class ResultView(TypedDict):
    """How a game has ended, on the board or off it."""

    winner: SideName | None
    by: str


class OffersView(TypedDict):
    """Which side has offered what."""

    draw: NotRequired[SideName]
    takeback: NotRequired[SideName]
    rematch: NotRequired[SideName]


class TimeLeftView(TypedDict):
    """What each side has left, in milliseconds, and whose clock runs."""

    black: int
    white: int
    running: SideName | None


class ClockView(TimeLeftView):
    """The clock of a game: also by which control it runs."""

    control: str


class ScoreView(TypedDict):
    """How a series of games stands: the wins of who sits on each side now, and the draws."""

    black: int
    white: int
    draws: int


Ability = Literal["join", "move", "resign", "abort", "draw", "takeback", "rematch"]


class RoomView(TypedDict):
    """A room, as somebody who plays for some sides, or watches, is told of it.

    ``can`` lists what they may do now. ``claim`` is how many milliseconds their opponent must still
    stay away before they may claim the game; None where they cannot. ``score`` counts the games of
    a series of rematches, this one too once it is over; None in the first. ``day`` is the date, if
    it is played on the board of a day.
    """

    id: str
    number: int
    status: Status
    you: list[SideName]
    shared: bool
    listed: bool
    seats: SeatsView
    present: PresentView
    absent: AbsentView
    watchers: int
    layout: str
    moves: list[str]
    board: BoardView
    result: ResultView | None
    can: list[Ability]
    claim: int | None
    offers: OffersView
    next: str | None
    score: ScoreView | None
    day: str | None
    clock: ClockView
    assistance: NotRequired[AssistanceView | None]


class SummaryView(TypedDict):
    """A room in a list of games."""

    id: str
    status: Status
    you: list[SideName]
    shared: bool
    listed: bool
    seats: SeatsView
    turn: SideName | None
    moves: int
    control: str
    left: TimeLeftView
    result: ResultView | None
    updated: int
    age: int
    board: PictureView


# --- Making them ----------------------------------------------------------------------------


def picture_view(position: Position) -> PictureView:
    """Tell what a board looks like."""
    stones = ["."] * CELL_COUNT
    for mask, sign in ((position.black, "x"), (position.white, "o")):
        for cell in cells(mask):
            stones[cell] = sign
    return {
        "tokens": [format_token(token) for token in position.layout.tokens],
        "stones": "".join(stones),
        "last": None if position.last is None else format_cell(position.last),
    }


def board_view(position: Position) -> BoardView:
    """Tell a board: tokens, stones, what may be played and what that would allow in turn."""
    outcome = rules.outcome(position)
    replies = rules.replies(position)
    last_token = position.layout.tokens[position.last] if position.last is not None else None
    return {
        **picture_view(position),
        "turn": None if outcome else position.turn.value,
        "need": format_token(last_token) if last_token else None,
        "legal": [format_cell(cell) for cell in replies],
        "replies": {format_cell(cell): format_cells(mask) for cell, mask in replies.items()},
        "chain": format_cells(_chain(position)),
        "outcome": cast(OutcomeView, outcome_data(outcome)) if outcome else None,
    }


def _chain(position: Position) -> int:
    """Return the stones that the last one is connected with, itself included."""
    if position.last is None:
        return 0
    return spread(1 << position.last, position.stones(position.turn.other))


def assistance(position: Position) -> AssistanceView:
    """Tell the cells on which the opponent threatens to win, and the moves that lose at once."""
    dangers = rules.dangers(position)
    return {
        "threats": [format_cell(cell) for cell in dangers.threats],
        "losing": [format_cell(cell) for cell in dangers.losing],
        "winning": [format_cell(cell) for cell in dangers.winning],
    }


@dataclass(frozen=True, slots=True)
class Company:
    """Who is looking at a room: the sides that are there, and since when the others are not."""

    present: frozenset[Side] = frozenset()
    away_since: dict[Side, int | None] = field(default_factory=dict)
    watchers: int = 0

    def away(self, side: Side, now: int) -> int | None:
        """Tell for how long a side has been away."""
        since = self.away_since.get(side)
        return None if since is None else now - since


def room_view(room: Room, sides: frozenset[Side], company: Company, now: int) -> RoomView:
    """Tell a room to somebody who plays for some sides, or watches."""
    turn = room.turn
    opponent = next(iter(sides)).other if len(sides) == 1 else None
    away = None if opponent is None else company.away_since.get(opponent)
    view: RoomView = {
        "id": room.id,
        "number": room.number,
        "status": room.status,
        "you": _names(sides),
        "shared": room.shared,
        "listed": room.listed,
        "seats": _seats(room),
        "present": {
            "black": Side.BLACK in company.present,
            "white": Side.WHITE in company.present,
        },
        "absent": {
            "black": company.away(Side.BLACK, now),
            "white": company.away(Side.WHITE, now),
        },
        "watchers": company.watchers,
        "layout": format_layout(room.layout),
        "moves": [format_cell(cell) for cell in room.moves],
        "board": board_view(room.position),
        "result": _result(room),
        "can": cast(list[Ability], rooms.allowed(room, sides)),
        "claim": rooms.claim_wait(room, away, now),
        "offers": cast(OffersView, {what: side.value for what, side in room.offers.items()}),
        "next": room.next_id,
        "score": cast(ScoreView, room.score.data()) if room.score else None,
        "day": room.day,
        "clock": {"control": str(room.control), **_left(room, now)},
    }
    if sides and (room.shared or "computer" in (room.black.kind, room.white.kind)):
        view["assistance"] = assistance(room.position) if turn in sides else None
    return view


def summary(room: Room, sides: frozenset[Side], now: int) -> SummaryView:
    """Tell a room in a list of games."""
    return {
        "id": room.id,
        "status": room.status,
        "you": _names(sides),
        "shared": room.shared,
        "listed": room.listed,
        "seats": _seats(room),
        "turn": room.turn.value if room.turn else None,
        "moves": len(room.moves),
        "control": str(room.control),
        "left": _left(room, now),
        "result": _result(room),
        "updated": room.updated,
        "age": max(0, now - room.updated),
        "board": picture_view(room.position),
    }


def _left(room: Room, now: int) -> TimeLeftView:
    turn = room.turn
    return {
        "black": room.clock.left(Side.BLACK, turn, now),
        "white": room.clock.left(Side.WHITE, turn, now),
        "running": turn.value if turn and room.clock.since is not None else None,
    }


def _names(sides: frozenset[Side]) -> list[SideName]:
    return [side.value for side in Side if side in sides]


def _seats(room: Room) -> SeatsView:
    return {"black": _seat(room.black), "white": _seat(room.white)}


def _seat(seat: rooms.Seat) -> SeatView:
    return {"kind": seat.kind, "name": seat.name, "level": seat.level}


def _result(room: Room) -> ResultView | None:
    if room.result is None:
        return None
    winner = room.result.winner
    return {"winner": winner.value if winner else None, "by": room.result.termination}
