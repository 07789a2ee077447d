"""What requests and answers of several parts of the server are made of.

Requests are read strictly: ``false`` is no number, and ``"1"`` is none.
"""

from typing import Annotated, Any, Final, Literal

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

# A position line: a layout or the three fields of a position, all their moves, and some space.
LINE_LIMIT: Final = 400
PGN: Final = "application/vnd.chess-pgn"
SVG: Final = "image/svg+xml"
SideName = Literal["black", "white"]
Line = Annotated[str, StringConstraints(max_length=LINE_LIMIT)]


class Strict(BaseModel):
    """No guesses, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class DefectView(TypedDict):
    """One thing that is wrong with a board, a position, a move or a record."""

    code: str
    values: dict[str, str | int]


class ErrorAnswer(BaseModel):
    """What went wrong: a code with its values, to be said in any language; and in English.

    Where a text could not be read, ``defects`` tells what is wrong, and ``line`` and ``column``
    where. ``retry`` is the number of seconds after which to try again.
    """

    code: str
    message: str
    values: dict[str, str | int] = Field(default_factory=dict)
    defects: list[DefectView] = Field(default_factory=list)
    line: int | None = None
    column: int | None = None
    retry: int | None = None


# What every JSON route may answer besides what it is for.
ERROR_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorAnswer}
    for status in (400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503)
}


def answers_with(media_type: str) -> dict[str, Any]:
    """Describe a route whose answer is no JSON; its errors are."""
    return {"response_class": Response, "responses": {200: {"content": {media_type: {}}}}}
