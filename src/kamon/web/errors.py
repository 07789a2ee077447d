"""Everything that the server can refuse, in one table: the code, the HTTP status, the sentence.

A route or a room raises ``ApiError`` with a code from the table. Programs get the code and the
values; the page gets the same table as a module and translates the sentence. The rest of the
answer comes from the table too, so a new error is one line here and one in docs/protocol.md.
"""

from dataclasses import dataclass
from string import Formatter
from typing import Any, Final

from kamon.errors import KamonError


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """How one code is answered. The sentence is for players; ``{names}`` are its values."""

    status: int
    sentence: str

    @property
    def values(self) -> frozenset[str]:
        """The names of the values that the sentence shows."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.sentence) if name)


ERRORS: Final[dict[str, ErrorKind]] = {
    # Who asks
    "no-secret": ErrorKind(
        401, "Please allow cookies for this page: they keep your place in the game."
    ),
    "bad-secret": ErrorKind(401, "This secret is not from this server. Get a new one."),
    "bad-origin": ErrorKind(403, "You can do this only on our own page."),
    "not-your-seat": ErrorKind(403, "You are only watching this game."),
    "not-your-study": ErrorKind(403, "This study belongs to somebody else. Save your own copy."),
    # What is not there
    "not-found": ErrorKind(404, "There is nothing here."),
    "no-such-game": ErrorKind(404, "There is no such game."),
    "no-such-study": ErrorKind(404, "There is no such study."),
    "no-such-puzzle": ErrorKind(404, "There is no such puzzle."),
    "no-run": ErrorKind(409, "This run against the clock is over."),
    "no-such-day": ErrorKind(404, "There is nothing for this day."),
    "nothing-missed": ErrorKind(404, "No missed move was found in this game."),
    "bad-method": ErrorKind(405, "This address does not accept this kind of request."),
    # What cannot be read
    "bad-message": ErrorKind(
        422, "The server did not understand what this page sent. Reload the page."
    ),
    "bad-layout": ErrorKind(422, "These are not the 37 tokens of the game."),
    "bad-position": ErrorKind(422, "This is not a possible position."),
    "bad-text": ErrorKind(422, "This text is not a game or a position."),
    "bad-seed": ErrorKind(422, "A board number must be a whole number from 0 to {largest}."),
    "too-large": ErrorKind(413, "That is too long."),
    # What the rules or the state of a game do not allow
    "illegal-move": ErrorKind(409, "You cannot play there now."),
    "not-your-turn": ErrorKind(409, "It is not your turn."),
    "stale": ErrorKind(409, "The game has moved on. Look at the board again."),
    "not-started": ErrorKind(409, "The game is waiting for an opponent."),
    "game-over": ErrorKind(409, "The game is over."),
    "not-over": ErrorKind(409, "The game is not over yet."),
    "seat-taken": ErrorKind(409, "Both places are taken. You can watch."),
    "own-game": ErrorKind(409, "You are already playing in this game."),
    "cannot-abort": ErrorKind(409, "A game can be cancelled only before the second move."),
    "no-clock": ErrorKind(409, "You can claim the win only in a game with a clock."),
    "cannot-claim": ErrorKind(409, "Your opponent has not been away for two minutes yet."),
    "no-offer": ErrorKind(409, "This offer is no longer open."),
    "no-opponent": ErrorKind(409, "Nobody has joined this game."),
    "no-draw": ErrorKind(409, "The computer does not accept draw offers."),
    "offered-already": ErrorKind(409, "You have already offered that."),
    "nothing-to-take-back": ErrorKind(409, "You have no move to take back."),
    "too-many-takebacks": ErrorKind(409, "Too many moves have been taken back in this game."),
    "rematched": ErrorKind(409, "The next game is already set up."),
    "bad-handover": ErrorKind(409, "This link has already been used, or it has expired."),
    "no-handover": ErrorKind(
        409, "A game for two players on one screen cannot move to another device."
    ),
    "study-changed": ErrorKind(
        409, "This study was changed in another window. Save a copy, or reload it."
    ),
    "too-many-studies": ErrorKind(409, "You have {limit} studies. Delete one to save another."),
    # What the server cannot do now
    "too-many": ErrorKind(429, "Too many requests. Try again in {seconds} s."),
    "busy": ErrorKind(503, "The server is too busy. Try again in {seconds} s."),
    "storage": ErrorKind(503, "The server cannot save anything at the moment. Try again."),
    "engine-failed": ErrorKind(503, "The analysis failed. Try again."),
    "no-engine": ErrorKind(503, "This server cannot do this analysis."),
    "too-slow": ErrorKind(503, "That took too long. Try again later."),
    "failed": ErrorKind(500, "Something went wrong on the server."),
}


class ApiError(KamonError):
    """A request that is refused. ``because`` says what is wrong with a text that was sent.

    ``detail`` is a technical remark for whoever writes the program that asked; no page shows it.
    """

    def __init__(
        self,
        code: str,
        *,
        because: KamonError | None = None,
        detail: str = "",
        **values: str | int,
    ) -> None:
        self.kind = ERRORS[code]
        self.code = code
        self.values = values
        self.because = because
        sentence = self.kind.sentence.format(**values)
        remark = str(because) if because is not None else detail
        super().__init__(f"{sentence} ({remark})" if remark else sentence)

    @property
    def retry(self) -> int | None:
        """The number of seconds after which it is worth trying again, if that is known."""
        seconds = self.values.get("seconds")
        return None if seconds is None else int(seconds)

    def answer(self) -> dict[str, Any]:
        """Tell the error as JSON has it."""
        told: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.values:
            told["values"] = dict(self.values)
        if self.retry is not None:
            told["retry"] = self.retry
        if self.because is not None:
            told |= self.because.data()
        return told


def cause_of(error: Exception) -> object:
    """Return what a database's driver says of an error, without the statement it is about."""
    return getattr(error, "orig", None) or error


def storage_failed() -> ApiError:
    """Say that the database cannot be written or read."""
    return ApiError("storage")


def too_many(detail: str, seconds: float) -> ApiError:
    """Say that a limit is reached, and when to try again."""
    return ApiError("too-many", detail=detail, seconds=max(1, round(seconds)))
