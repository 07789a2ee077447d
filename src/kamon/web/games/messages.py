"""What may be asked of games and what is answered, over HTTP and over the socket."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import AfterValidator, Field, StringConstraints
from typing_extensions import TypedDict

from kamon.engine.strengths import STRONGEST
from kamon.web.engine.insights import InsightView, ReviewView
from kamon.web.games.rooms import CLIENT_COMMANDS, NAME_LIMIT, Event, Offer
from kamon.web.games.views import RoomView, ScoreView, SeatView, SummaryView
from kamon.web.ids import PublicId
from kamon.web.schemas import DefectView, Line, SideName, Strict
from kamon.web.visible import visible_line

Name = Annotated[
    str,
    StringConstraints(max_length=NAME_LIMIT, strip_whitespace=True),
    AfterValidator(visible_line),
]
CommandId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
# The commands are those that rooms decide; nothing else lists them.
CommandName = Annotated[
    str,
    StringConstraints(pattern=f"^({'|'.join(sorted(CLIENT_COMMANDS))})$"),
    Field(json_schema_extra={"enum": sorted(CLIENT_COMMANDS)}),
]

# --- Asked ----------------------------------------------------------------------------------


class NewGame(Strict):
    """A game to set up. Of ``layout`` and ``seed`` at most one; without either it is shuffled.

    On the board of the ``day`` one plays against the computer, from the first move.
    """

    against: Literal["computer", "friend", "anyone", "self"] = "computer"
    side: Literal["black", "white", "random"] = "random"
    level: Annotated[int, Field(ge=1, le=STRONGEST)] = 1
    control: Annotated[str, StringConstraints(max_length=20)] = "-"
    layout: Annotated[str, StringConstraints(max_length=200)] | None = None
    # A seed goes to 2^64 - 1, beyond what JavaScript can count, so it may come as text.
    seed: Annotated[str, StringConstraints(pattern=r"^\d{1,20}$")] | None = None
    day: bool = False
    name: Name = ""
    # Moves that have been made already: the game goes on from there.
    moves: Annotated[
        list[Annotated[str, StringConstraints(max_length=2)]],
        Field(max_length=36, default_factory=list),
    ]


class CommandData(Strict):
    """What a command needs to know."""

    cell: Annotated[str, StringConstraints(max_length=2)] | None = None
    what: Offer | None = None
    board: Literal["same", "new"] | None = None
    name: Name | None = None


class GameCommand(Strict):
    """Something to do in a game. ``id`` makes it happen once however often it is sent."""

    do: CommandName
    id: CommandId
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    data: CommandData = CommandData()


class Takeover(Strict):
    """A one-time token that carries a seat to this device."""

    token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{43}$")]


class Watch(Strict):
    """Begin to watch a game, having seen its events up to a number."""

    type: Literal["watch"]
    game: PublicId
    after: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class Do(GameCommand):
    """A command over the socket."""

    type: Literal["do"]
    game: PublicId


class Ping(Strict):
    """Somebody wants to know whether we are there."""

    type: Literal["ping"]


class Analyse(Strict):
    """Study a position, or review the game that led to it, and tell what is found as it is found.

    ``deep`` is how often the visitor has asked for more.
    """

    type: Literal["study", "review"]
    line: Line
    deep: Annotated[int, Field(ge=0, le=2)] = 0


class Stop(Strict):
    """Nobody waits for the study or the review any more."""

    type: Literal["stop"]


SocketMessage = Annotated[Watch | Do | Analyse | Stop | Ping, Field(discriminator="type")]

# --- Events ---------------------------------------------------------------------------------


class EventView(TypedDict):
    """Something that happened; which of the other fields there are depends on ``kind``."""

    number: int
    at: int
    kind: str
    layout: NotRequired[str]
    control: NotRequired[str]
    ladder: NotRequired[int]
    black: NotRequired[SeatView]
    white: NotRequired[SeatView]
    shared: NotRequired[bool]
    listed: NotRequired[bool]
    opening: NotRequired[list[str]]
    score: NotRequired[ScoreView]
    day: NotRequired[str]
    side: NotRequired[SideName]
    name: NotRequired[str]
    cell: NotRequired[str]
    ply: NotRequired[int]
    what: NotRequired[Offer]
    board: NotRequired[Literal["same", "new"]]
    winner: NotRequired[SideName | None]
    by: NotRequired[str]
    game: NotRequired[str]
    away: NotRequired[int]


def event_view(event: Event) -> EventView:
    """Tell one event."""
    told: dict[str, Any] = {"number": event.number, "at": event.at, "kind": event.kind}
    return cast(EventView, {**told, **event.data})


def events_view(events: Sequence[Event]) -> list[EventView]:
    """Tell several events."""
    return [event_view(event) for event in events]


# --- Answered over HTTP ---------------------------------------------------------------------


class HealthView(TypedDict):
    """How the server is: ``problems`` names the parts that do not work, and why."""

    ok: bool
    version: str
    thinking: int
    compiling: bool
    problems: dict[str, str]


class ReadyView(TypedDict):
    """Whether the parts that a visitor needs answer."""

    ready: bool
    database: bool
    engine: bool


class NewIdentity(TypedDict):
    """A secret for a program that plays."""

    secret: str


class GameList(TypedDict):
    """Several games."""

    games: list[SummaryView]


class LobbyView(TypedDict):
    """What is going on: how many people are here, your running games, and others' that wait.

    Of your own the most urgent come first.
    """

    here: int
    mine: list[SummaryView]
    open: list[SummaryView]


class GameView(TypedDict):
    """A game, and everything that has happened in it."""

    view: RoomView
    events: list[EventView]


class CommandAnswer(TypedDict):
    """What a command has caused."""

    number: int
    events: list[EventView]


class HandoverView(TypedDict):
    """A one-time link, the same as a QR code, and for how long it is good."""

    address: str
    picture: str
    minutes: int


class TakenOver(TypedDict):
    """The game in which this device has a seat now."""

    game: str


# --- Told over the socket -------------------------------------------------------------------


class RoomMessage(TypedDict):
    """How a game stands, and which events have led there since the last message."""

    type: Literal["room"]
    game: str
    view: RoomView
    events: list[EventView]


class DoneMessage(TypedDict):
    """The command with this id is safely written."""

    type: Literal["done"]
    id: str
    number: int


class ErrorMessage(TypedDict):
    """A message was refused; ``id`` is null where it had none."""

    type: Literal["error"]
    id: str | None
    code: str
    message: str
    values: NotRequired[dict[str, str | int]]
    defects: NotRequired[list[DefectView]]
    line: NotRequired[int | None]
    column: NotRequired[int | None]
    retry: NotRequired[int]


class WaitMessage(TypedDict):
    """The engine is busy with others: this question waits, in this place, about so many seconds."""

    type: Literal["study", "review"]
    line: str
    waiting: Literal[True]
    place: int
    seconds: int


class EndMessage(TypedDict):
    """Nothing more comes for this question."""

    type: Literal["study", "review"]
    line: str
    end: Literal[True]


class ProgressMessage(TypedDict):
    """How far a review is: so many of so many steps."""

    type: Literal["review"]
    line: str
    progress: list[int]


class StudyMessage(InsightView):
    """What is proven of a position so far."""

    type: Literal["study"]
    line: str


class ReviewMessage(ReviewView):
    """What is known of a game so far."""

    type: Literal["review"]
    line: str


class PongMessage(TypedDict):
    """We are here."""

    type: Literal["pong"]


SocketAnswer = (
    RoomMessage
    | DoneMessage
    | ErrorMessage
    | StudyMessage
    | ReviewMessage
    | ProgressMessage
    | WaitMessage
    | EndMessage
    | PongMessage
)
