"""How much time to use for a move."""

from typing import Final

from kamon.engine.ugi.protocol import GoCommand
from kamon.position import Side

# About eleven days. The system's timers cannot wait longer than some weeks.
_MAX_SECONDS: Final = 1_000_000.0
# From the middle of a game on the solver needs hardly any time, so the first moves may use a
# large part of the clock.
_SHARE_OF_CLOCK: Final = 1 / 8
_SHARE_OF_INCREMENT: Final = 0.8
# Never use up the whole clock: the answer takes some time to arrive.
_MAX_SHARE_OF_CLOCK: Final = 0.9
_RESERVE_MS: Final = 50
_MIN_MS: Final = 1.0


def seconds_for_move(go: GoCommand, turn: Side) -> float | None:
    """Return the time for this move, or None where neither a time nor a clock was given."""
    if go.movetime is not None:
        return min(go.movetime / 1000, _MAX_SECONDS)
    if turn is Side.BLACK:
        clock, increment = go.p1time, go.p1inc
    else:
        clock, increment = go.p2time, go.p2inc
    if clock is None:
        return None
    return min(_share_of_clock(max(0, clock), increment or 0) / 1000, _MAX_SECONDS)


def _share_of_clock(left: int, increment: int) -> float:
    """Return the milliseconds for one move with so many left on the clock."""
    wanted = left * _SHARE_OF_CLOCK + increment * _SHARE_OF_INCREMENT
    affordable = left * _MAX_SHARE_OF_CLOCK - _RESERVE_MS
    return max(_MIN_MS, min(wanted, affordable))
