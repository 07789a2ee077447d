"""The lines of the protocol: parsing commands and formatting answers.

These functions keep no state. A command that cannot be read raises a ``FormatError`` that quotes
the bad word and says what was expected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final

from kamon import notation, rules
from kamon.engine.strengths import STRONGEST
from kamon.engine.values import VALUE_NAMES
from kamon.errors import FormatError, KamonError, quote
from kamon.layout import Layout
from kamon.position import Position

START_SEED: Final = 0
# What UCI sends where there is no move to send.
NO_MOVE: Final = "0000"

# A character has up to four bytes, and the line may end in CR and LF.
_BYTE_LIMIT: Final = 4 * notation.LINE_LIMIT + 2


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream of bytes.

    A line that is too long is cut off, so that it cannot fill the memory; what is left of it is
    still longer than the limit and is refused later.
    """
    while line := stream.readline(_BYTE_LIMIT):
        rest = line
        while len(rest) == _BYTE_LIMIT and not rest.endswith(b"\n"):
            rest = stream.readline(_BYTE_LIMIT)
        yield line.decode("utf-8", errors="replace")


def _parse_number(name: str, text: str, low: int, high: int) -> int:
    if re.fullmatch(r"-?[0-9]{1,18}", text) and low <= int(text) <= high:
        return int(text)
    raise FormatError(
        f"{quote(text)} is not a valid {name}: expected a whole number from {low} to {high}"
    )


# --- setoption ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """What ``setoption`` can set. ``hash`` is the size of the solver's table in MiB."""

    level: int = STRONGEST
    seed: int = 0
    threads: int = 1
    hash: int = 64


# The name that other programs see, and the smallest and largest value.
_OPTION_RANGES: Final = {
    "level": ("Level", 1, STRONGEST),
    "seed": ("Seed", 0, (1 << 31) - 1),
    "threads": ("Threads", 1, 64),
    "hash": ("Hash", 1, 1 << 15),
}


def format_options() -> list[str]:
    """Describe every option, one line each."""
    return [
        f"option name {name} type spin default {getattr(Options(), field)} min {low} max {high}"
        for field, (name, low, high) in _OPTION_RANGES.items()
    ]


def parse_setoption(words: Sequence[str], options: Options) -> Options:
    """Set one option from ``name X value Y``; the case of the name does not matter, as in UCI."""
    match words:
        case ["name", name, "value", value]:
            pass
        case _:
            raise FormatError(
                f"{quote(' '.join(words))} does not set an option: expected name OPTION value N"
            )
    field = name.lower()
    if field not in _OPTION_RANGES:
        names = ", ".join(name for name, _, _ in _OPTION_RANGES.values())
        raise FormatError(f"{quote(name)} is not an option: expected {names}")
    shown, low, high = _OPTION_RANGES[field]
    return replace(options, **{field: _parse_number(shown, value, low, high)})


# --- position -------------------------------------------------------------------------------


def start_position() -> Position:
    """Return the position that ``startpos`` names: the empty board of seed 0."""
    return Position(Layout.shuffled(START_SEED))


def parse_position(words: Sequence[str]) -> Position:
    """Read what follows ``position``: a start, and the moves played from there."""
    at = words.index("moves") if "moves" in words else len(words)
    position = _parse_start(words[:at])
    for number, word in enumerate(words[at + 1 :], 1):
        try:
            position = rules.play(position, notation.parse_cell(word))
        except KamonError as error:
            raise FormatError(f"move {number}: {error.message}") from None
    return position


def _parse_start(words: Sequence[str]) -> Position:
    match words:
        case ["startpos"]:
            return start_position()
        case ["fen", layout]:
            return Position(notation.parse_layout(layout))
        case ["fen", layout, pieces, last]:
            return notation.parse_position(f"{layout} {pieces} {last}")
    raise FormatError(
        f"{quote(' '.join(words))} is not a position: expected startpos, or fen and a layout, or "
        "fen, a layout, the stones and the last move; then, for moves, the word moves and spaces"
    )


# --- go -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoCommand:
    """What follows ``go``. Times are in milliseconds; None means that nothing was said."""

    p1time: int | None = None
    p2time: int | None = None
    p1inc: int | None = None
    p2inc: int | None = None
    movetime: int | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False


_MAX_NUMBER: Final = 10**15
# The smallest value of each limit. A clock that has run out may show a negative time.
_MIN_NUMBERS: Final = {
    "p1time": -_MAX_NUMBER,
    "p2time": -_MAX_NUMBER,
    "p1inc": 0,
    "p2inc": 0,
    "movetime": 1,
    "nodes": 1,
    "depth": 0,
}


def parse_go(words: Sequence[str]) -> GoCommand:
    """Read the limits that follow ``go``, in any order; of two of the same kind the last counts."""
    limits: dict[str, Any] = {}
    rest = iter(words)
    for name in rest:
        if name == "infinite":
            limits[name] = True
        elif name in _MIN_NUMBERS:
            limits[name] = _parse_number(name, next(rest, ""), _MIN_NUMBERS[name], _MAX_NUMBER)
        else:
            raise FormatError(
                f"{quote(name)} is not a limit: expected {', '.join(_MIN_NUMBERS)} or infinite"
            )
    return GoCommand(**limits)


# --- Answers --------------------------------------------------------------------------------

# The score of a proven win, in centipawns as UCI counts them; a loss has the negative.
_PROVEN_SCORE: Final = 10_000


def format_error(message: str) -> str:
    """Say on one line what went wrong."""
    return f"info string error: {' '.join(message.split())}"


def format_bestmove(cell: int | None) -> str:
    """Give the answer to ``go``; None where there is no move."""
    return f"bestmove {NO_MOVE if cell is None else notation.format_cell(cell)}"


def format_info(cell: int, *, nodes: int, seconds: float, score: int | None = None) -> str:
    """Describe a search: its effort so far, and its best move. Nodes of 0 were not counted."""
    counted = f"nodes {nodes} nps {int(nodes / seconds)} " if nodes else ""
    scored = "" if score is None else f"score cp {score} "
    move = notation.format_cell(cell)
    return f"info {counted}time {int(1000 * seconds)} {scored}pv {move}"


def format_proven(value: int) -> str:
    """Say that the value of the position is proven: 1, 0 or -1 for the side to move."""
    return f"info string proven: {VALUE_NAMES[value]} for the side to move"


def proven_score(value: int) -> int:
    """Return the score of a proven value."""
    return _PROVEN_SCORE * value
