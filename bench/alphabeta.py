"""The solver's yardstick: alpha-beta with a transposition table, as one would write it first.

Legal moves in the order of the cells, the table's move before them, three values. It is meant to be
plain, not poor: the key is exact, a win in one is taken without search, and the code is compiled
and inlined like the kernel's. A node is a position entered; moves that win at once are not.

As a second, harder yardstick it can be ``ordered``: moves that let the other side win at once are
left out, and those that leave the fewest replies come first.

Nothing is cached on disk, because numba would not notice a change of the kernel.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit

from kamon.engine import kernel
from kamon.engine.kernel.boards import board_of, lowest, matching, popcount
from kamon.engine.kernel.compile import Boards, Ints, u64
from kamon.engine.kernel.endings import winning_board
from kamon.geometry import cells
from kamon.position import Position

Function = TypeVar("Function", bound=Callable[..., Any])

WIN: Final = 1
DRAW: Final = 0
LOSS: Final = -1
OPEN: Final = 2  # besides the three values
_NO_MOVE: Final = 63
_ROWS: Final = 40
_ENTRY_BYTES: Final = 16
_SPREAD: Final = u64(0x9E3779B97F4A7C15)
_ZERO: Final = u64(0)
_ONE: Final = u64(1)
_MANY: Final = 99


def compiled(function: Function) -> Function:
    """Compile on first use."""
    return cast("Function", njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """Compile into the caller."""
    return cast("Function", njit(nogil=True, forceinline=True)(function))


class Answer(NamedTuple):
    """The value for the side to move, None if the nodes did not suffice; and the nodes."""

    value: int | None
    nodes: int


class Line(NamedTuple):
    """The line under search. Row d belongs to the position d plies on."""

    match: Boards
    weight: Boards  # by bit: the powers of three for the key
    side: Ints  # who is to move
    last: Ints
    free: Boards
    stones: Boards  # [d, side]
    key: Boards
    wins: Boards  # where the side to move would win at once
    replies: Boards  # where the other side would
    moves: Boards  # what is still to be tried
    hint: Ints  # the table's move
    alpha: Ints
    beta: Ints
    lower: Ints  # what the table knows
    upper: Ints
    best: Ints
    best_bit: Ints
    nodes: Ints  # one number


def solve(position: Position, table: Boards, nodes: int, *, ordered: bool = False) -> Answer:
    """Find the value of a position that goes on, with an empty table and so many nodes at most."""
    line = _line_from(position)
    value = int(search(line, table, nodes, ordered))
    return Answer(None if value == OPEN else value, int(line.nodes[0]))


def new_table(memory: int) -> Boards:
    """Make an empty table: a power of two of entries, each a key and what is known of it."""
    entries = 1 << ((memory // _ENTRY_BYTES).bit_length() - 1)
    return np.zeros((entries, 2), dtype=np.uint64)


def _line_from(position: Position) -> Line:
    match, playable, black, white, last = kernel.arguments(position)
    weight = np.zeros(64, dtype=np.uint64)
    for exponent, cell in enumerate(cells(position.layout.playable)):
        weight[kernel.BITS[cell]] = 3**exponent

    def ints() -> Ints:
        return np.zeros(_ROWS, dtype=np.int64)

    def boards() -> Boards:
        return np.zeros(_ROWS, dtype=np.uint64)

    line = Line(
        match=match,
        weight=weight,
        side=ints(),
        last=ints(),
        free=boards(),
        stones=np.zeros((_ROWS, 2), dtype=np.uint64),
        key=boards(),
        wins=boards(),
        replies=boards(),
        moves=boards(),
        hint=ints(),
        alpha=ints(),
        beta=ints(),
        lower=ints(),
        upper=ints(),
        best=ints(),
        best_bit=ints(),
        nodes=np.zeros(1, dtype=np.int64),
    )
    mover = position.ply % 2
    line.side[0], line.last[0] = mover, last
    line.stones[0] = black, white
    line.free[0] = playable & ~(black | white)
    line.wins[0] = winning_board(line.stones[0, mover], line.free[0])
    # Each playable cell is a digit of three: free, Black's or White's.
    line.key[0] = sum(
        int(weight[kernel.BITS[cell]]) * digit
        for digit, mask in ((1, position.black), (2, position.white))
        for cell in cells(mask)
    )
    line.alpha[0], line.beta[0] = LOSS, WIN
    return line


# --- The search -----------------------------------------------------------------------------


@compiled
def search(line: Line, table: Boards, allowed: int, ordered: bool) -> int:  # noqa: FBT001 - numba
    """Return the value of row 0, or ``OPEN`` when the nodes have run out."""
    d = 0
    value = _enter(line, table, 0, ordered)
    while True:
        if value == OPEN:
            if line.best[d] >= line.beta[d] or line.moves[d] == _ZERO:
                value = line.best[d]
                _keep(line, table, d)
            elif line.nodes[0] >= allowed:
                return OPEN
            else:
                _play(line, d, _next_move(line, d, ordered))
                d += 1
                value = _enter(line, table, d, ordered)
                continue
        if d == 0:
            return value
        d -= 1
        if -value > line.best[d]:
            line.best[d] = -value
            line.best_bit[d] = line.last[d + 1]
        value = OPEN


@inlined
def _enter(line: Line, table: Boards, d: int, ordered: bool) -> int:  # noqa: FBT001 - numba
    """Answer row d at once, or make it ready for its moves and return ``OPEN``."""
    line.nodes[0] += 1
    free = line.free[d]
    legal = line.match[line.last[d]] & free
    if legal == _ZERO:
        return DRAW if free == _ZERO else LOSS
    if legal & line.wins[d] != _ZERO:
        return WIN
    lower, upper, hint = _fetch(table, _key(line, d))
    if lower >= line.beta[d] or lower == upper:
        return lower
    if upper <= line.alpha[d]:
        return upper
    line.alpha[d] = max(line.alpha[d], lower)
    line.beta[d] = min(line.beta[d], upper)
    line.lower[d], line.upper[d], line.hint[d] = lower, upper, hint
    line.best[d], line.best_bit[d] = LOSS - 1, _NO_MOVE
    line.replies[d] = winning_board(line.stones[d, 1 - line.side[d]], free)
    line.moves[d] = legal & ~matching(line.match, line.replies[d]) if ordered else legal
    return OPEN if line.moves[d] != _ZERO else LOSS


@inlined
def _next_move(line: Line, d: int, ordered: bool) -> int:  # noqa: FBT001 - numba
    """Choose what row d tries next: the table's move, then in order."""
    bit: int = line.hint[d]
    line.hint[d] = _NO_MOVE
    if bit != _NO_MOVE:
        return bit
    bit = lowest(line.moves[d])
    if ordered:
        rest, fewest = line.moves[d], _MANY
        while rest != _ZERO:
            replies = popcount(line.match[lowest(rest)] & line.free[d])
            if replies < fewest:
                bit, fewest = lowest(rest), replies
            rest &= rest - _ONE
    return bit


@inlined
def _play(line: Line, d: int, bit: int) -> None:
    """Make row d + 1 of a move in row d."""
    stone = board_of(bit)
    line.moves[d] &= ~stone
    mover = line.side[d]
    line.side[d + 1] = 1 - mover
    line.last[d + 1] = bit
    line.free[d + 1] = line.free[d] & ~stone
    line.stones[d + 1, mover] = line.stones[d, mover] | stone
    line.stones[d + 1, 1 - mover] = line.stones[d, 1 - mover]
    line.key[d + 1] = line.key[d] + line.weight[bit] * u64(mover + 1)
    line.wins[d + 1] = line.replies[d] & ~stone
    line.alpha[d + 1] = -line.beta[d]
    line.beta[d + 1] = -max(line.alpha[d], line.best[d])


# --- The table ------------------------------------------------------------------------------


@inlined
def _key(line: Line, d: int) -> np.uint64:
    # 64 times 3 to the power of 36 fits in a word: no two positions share a key, and none has 0.
    key: np.uint64 = line.key[d] * u64(64) + u64(line.last[d])
    return key


@compiled
def _place_of(table: Boards, key: np.uint64) -> np.uint64:
    mixed = key * _SPREAD
    return (mixed ^ (mixed >> u64(32))) & u64(table.shape[0] - 1)


@compiled
def _fetch(table: Boards, key: np.uint64) -> tuple[int, int, int]:
    """Return what is known of a position: a lower and an upper bound, and the best move."""
    place = _place_of(table, key)
    if table[place, 0] != key:
        return LOSS, WIN, _NO_MOVE
    known = int(table[place, 1])
    return (known & 3) - 1, ((known >> 2) & 3) - 1, known >> 4


@inlined
def _keep(line: Line, table: Boards, d: int) -> None:
    """Write down what row d has shown, whatever stood there before."""
    lower, upper, best = line.lower[d], line.upper[d], line.best[d]
    if best > line.alpha[d]:
        lower = max(lower, best)
    if best < line.beta[d]:
        upper = min(upper, best)
    place = _place_of(table, _key(line, d))
    table[place, 0] = _key(line, d)
    table[place, 1] = u64((lower + 1) | ((upper + 1) << 2) | (line.best_bit[d] << 4))
