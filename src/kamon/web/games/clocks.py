"""Time to think: values that change only by moves, and never tick by themselves.

All times are whole milliseconds, moments since the epoch. A clock runs for the side to move from
the moment ``since``; nobody's clock runs until both sides have made their first move.
"""

from dataclasses import dataclass
from typing import Final

from kamon.errors import Defect, FormatError, quote
from kamon.position import Side
from kamon.record import TIME_CONTROL

_FIRST_MOVES: Final = 2


@dataclass(frozen=True, slots=True)
class Control:
    """How much time there is: for the whole game with an increment, for each move, or no end."""

    initial: int = 0
    increment: int = 0
    per_move: int = 0

    @property
    def timed(self) -> bool:
        """Tell whether there is a clock at all."""
        return bool(self.initial or self.increment or self.per_move)

    @property
    def clocked(self) -> bool:
        """Tell whether people are expected to sit and play: not with days for a move."""
        return self.timed and not self.per_move

    @classmethod
    def parse(cls, text: str) -> "Control":
        """Read ``300+5``, ``1/259200`` or ``-``, in seconds, as a record has them."""
        if not TIME_CONTROL.fullmatch(text):
            raise FormatError(Defect("bad-time-control", {"text": quote(text)}))
        if text == "-":
            return cls()
        if text.startswith("1/"):
            return cls(per_move=1000 * int(text[2:]))
        initial, increment = text.split("+")
        return cls(1000 * int(initial), 1000 * int(increment))

    def __str__(self) -> str:
        if self.per_move:
            return f"1/{self.per_move // 1000}"
        return f"{self.initial // 1000}+{self.increment // 1000}" if self.timed else "-"


@dataclass(frozen=True, slots=True)
class Clock:
    """What both sides have left, and since when the side to move has been using it."""

    black: int
    white: int
    since: int | None = None

    @classmethod
    def start(cls, control: Control) -> "Clock":
        """Set a clock before the first move."""
        # Without time at the start the increment is what the first timed move has.
        full = control.per_move or control.initial or control.increment
        return cls(full, full)

    def left(self, side: Side, turn: Side | None, now: int) -> int:
        """Tell what a side has left at a moment; never less than nothing."""
        whole = self.black if side is Side.BLACK else self.white
        used = now - self.since if side is turn and self.since is not None else 0
        # Time that a clock which went back would give to somebody is not given.
        return max(0, whole - max(0, used))

    def flag(self, turn: Side) -> int | None:
        """Return the moment at which the side to move will have run out, if its clock runs."""
        if self.since is None:
            return None
        return self.since + (self.black if turn is Side.BLACK else self.white)

    def after_move(self, control: Control, mover: Side, ply: int, now: int) -> "Clock":
        """Stop the mover's clock, add what a move earns, and start the other one."""
        left = self.left(mover, mover, now)
        if control.per_move:
            left = control.per_move
        elif self.since is not None:
            left += control.increment
        black, white = (left, self.white) if mover is Side.BLACK else (self.black, left)
        return Clock(black, white).running(control, ply, now)

    def running(self, control: Control, ply: int, now: int) -> "Clock":
        """Start the clock of the side to move, if there is one and the first moves are made."""
        runs = control.timed and ply >= _FIRST_MOVES
        return Clock(self.black, self.white, now if runs else None)
