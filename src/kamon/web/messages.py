"""What programs and pages may send us. Strict: ``false`` is no number, and ``"1"`` is none."""

from typing import Annotated, Any, Final, Literal

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kamon.engine.strengths import STRONGEST

Name = Annotated[str, StringConstraints(max_length=40, strip_whitespace=True)]
GameId = Annotated[str, StringConstraints(pattern=r"^[0-9a-hjkmnp-tv-z]{12}$")]
CommandId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
# A position line: a layout or the three fields of a position, all their moves, and some space.
LINE_LIMIT: Final = 400
PGN: Final = "application/vnd.chess-pgn"
SideName = Literal["black", "white"]


class Strict(BaseModel):
    """No guesses, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class NewGame(Strict):
    """A game to set up. Of ``layout`` and ``seed`` at most one; without either it is shuffled."""

    against: Literal["computer", "friend", "anyone", "self"] = "computer"
    side: Literal["black", "white", "random"] = "random"
    level: Annotated[int, Field(ge=1, le=STRONGEST)] = 1
    control: Annotated[str, StringConstraints(max_length=20)] = "-"
    layout: Annotated[str, StringConstraints(max_length=200)] | None = None
    # A seed goes to 2^64 - 1, beyond what JavaScript can count, so it may come as text.
    seed: Annotated[str, StringConstraints(pattern=r"^\d{1,20}$")] | None = None
    name: Name = ""
    # Moves that have been made already: the game goes on from there.
    moves: Annotated[
        list[Annotated[str, StringConstraints(max_length=2)]],
        Field(max_length=36, default_factory=list),
    ]


class CommandData(Strict):
    """What a command needs to know."""

    cell: Annotated[str, StringConstraints(max_length=2)] | None = None
    what: Literal["draw", "takeback", "rematch"] | None = None
    board: Literal["same", "new"] | None = None
    name: Name | None = None


class GameCommand(Strict):
    """Something to do in a game. ``id`` makes it happen once however often it is sent."""

    do: Literal["join", "move", "resign", "abort", "offer", "accept", "decline", "claim"]
    id: CommandId
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    data: CommandData = CommandData()


class Takeover(Strict):
    """A one-time token that carries a seat to this device."""

    token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{43}$")]


class Watch(Strict):
    """Begin to watch a game, having seen its events up to a number."""

    type: Literal["watch"]
    game: GameId
    after: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class Do(GameCommand):
    """A command over the socket."""

    type: Literal["do"]
    game: GameId


class Ping(Strict):
    """Somebody wants to know whether we are there."""

    type: Literal["ping"]


class Analyse(Strict):
    """Study a position, or review the game that led to it, and tell what is found as it is found.

    ``deep`` is how often the visitor has asked for more.
    """

    type: Literal["study", "review"]
    line: Annotated[str, StringConstraints(max_length=LINE_LIMIT)]
    deep: Annotated[int, Field(ge=0, le=2)] = 0


class Stop(Strict):
    """Nobody waits for the study or the review any more."""

    type: Literal["stop"]


SocketMessage = Annotated[Watch | Do | Analyse | Stop | Ping, Field(discriminator="type")]


class ErrorAnswer(BaseModel):
    """What went wrong: a code to translate, and a sentence in English."""

    code: str
    message: str
    retry: int | None = None


class NewIdentity(BaseModel):
    """A secret for a program that plays."""

    secret: str


Answer = dict[str, Any]

# What every route of the programs' interface may answer besides what it is for.
ERROR_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorAnswer} for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}


def answers_with(media_type: str) -> dict[str, Any]:
    """Describe a route whose answer is no JSON; its errors are."""
    return {"response_class": Response, "responses": {200: {"content": {media_type: {}}}}}
