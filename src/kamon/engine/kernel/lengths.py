"""How long it takes to win: a search within so many plies."""

from typing import Final, NamedTuple

import numpy as np

from kamon.engine.kernel.boards import board_of, lowest, matching, popcount
from kamon.engine.kernel.compile import (
    ONE,
    ZERO,
    Boards,
    Flags,
    Ints,
    Record,
    Records,
    compiled,
    u64,
)
from kamon.engine.kernel.path import add_to_chains, child_hash, fill_after, hashed, place
from kamon.engine.kernel.table import fetch, unpack, work_of


class Memo(NamedTuple):
    """What is known of forced wins: up to which length there is none, from which there is one."""

    key: Boards
    none_within: Ints
    some_within: Ints


def new_memo(entries: int) -> Memo:
    """Make an empty memo with a power of two of entries."""
    return Memo(
        np.zeros(entries, dtype=np.uint64),
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=np.int64),
    )


_YES: Final = 1
_NO: Final = 0
_OPEN: Final = 2
_NEVER: Final = 99
# How moves are ranked, the lowest first. A win that the solver has proven comes before others; of
# the defences, those that have held longest, and then those that were the hardest to refute.
_SURE: Final = 100
_PER_REPLY: Final = 4
_PER_WORK: Final = 2


@compiled
def forced(
    contexts: Records,
    path: Records,
    spaces: Records,
    memo: Memo,
    table: Boards,
    shared: int,
    attacker: int,
    plies: int,
    stop: Flags,
) -> int:
    """Tell whether the attacker can force a win from row 0 within so many plies: 1 yes, 0 no.

    -1 where ``stop[0]`` was set or the nodes allowed ran out. Moves that the attacker may not
    afford, and defences that lose at once, are left out; all else is tried. The solver's table
    only says in which order.
    """
    context, space = contexts[0], spaces[0]
    d = 0
    answer = _OPEN
    entering = True
    while True:
        row = path[d]
        left = plies - d
        if entering:
            # The only call: what is compiled in once need not be compiled twice.
            answer = _open(context, space, row, memo, table, shared, attacker, left)
            entering = False
            if answer == _OPEN:
                # What the replier's stones would win; it holds for all moves of this row.
                fill_after(space, path[d + 1], row.free)
        if answer == _OPEN and row.moves == ZERO:
            # All was tried: the attacker has found nothing, or every defence has failed.
            answer = _NO if row.side == attacker else _YES
        if answer == _OPEN:
            if stop[0] != 0 or space.nodes >= space.nodes_allowed:
                return -1
            bit = _first(row.moves, row.rank)
            row.moves &= ~board_of(bit)
            place(context, space, row, path[d + 1], bit)
            add_to_chains(row, path[d + 2], bit)
            d += 1
            entering = True
            continue
        if d == 0:
            return answer
        _remember(row, memo, left, answer)
        d -= 1
        settles = _YES if path[d].side == attacker else _NO
        if answer != settles:
            answer = _OPEN


@compiled
def _open(
    context: Record,
    space: Record,
    row: Record,
    memo: Memo,
    table: Boards,
    shared: int,
    attacker: int,
    left: int,
) -> int:
    """Answer a row at once if possible, else list the moves to try."""
    space.nodes += 1
    me = row.side
    free = row.free
    legal = context.match[row.last] & free
    if legal == ZERO:
        return _YES if me != attacker and free != ZERO else _NO
    if legal & row.wins[me] != ZERO:
        return _YES if me == attacker and left > 0 else _NO
    if me == attacker:
        if left > 0 and _can_block(context.match, legal, free):
            return _YES
        if left < 3:  # noqa: PLR2004 - a move, a reply and the win
            return _NO
        row.moves = legal & ~row.poison[1 - me]
    else:
        if left < 2:  # noqa: PLR2004 - a reply and the win
            return _NO
        row.moves = legal & ~row.poison[attacker]
    if row.moves == ZERO:
        return _NO if me == attacker else _YES
    return _sift(context, space, row, memo, table, shared, attacker, left)


@compiled
def _can_block(match: Boards, legal: np.uint64, free: np.uint64) -> bool:
    """Tell whether some move leaves no reply, on a board that is not full then."""
    while legal != ZERO:
        stone = legal & (~legal + ONE)
        legal &= legal - ONE
        rest = free & ~stone
        if rest != ZERO and match[lowest(stone)] & rest == ZERO:
            return True
    return False


@compiled
def _sift(
    context: Record,
    space: Record,
    row: Record,
    memo: Memo,
    table: Boards,
    shared: int,
    attacker: int,
    left: int,
) -> int:
    """Answer a row by what is known of its moves, and rank those that must be tried."""
    me = row.side
    todo = row.moves
    while todo != ZERO:
        bit = lowest(todo)
        todo &= todo - ONE
        key = child_hash(context, row, bit)
        answer = _recall(memo, key, left - 1)
        if answer == _OPEN:
            data, _ = fetch(table, shared, key)
            rank = _stubbornness(context, space, row, bit)
            if me == attacker:
                rank -= _SURE if _is_refuted(data) else 0
            else:
                rank -= _SURE * _none_within(memo, key) + _PER_WORK * work_of(data)
            row.rank[bit] = rank
        elif (answer == _YES) == (me == attacker):
            return answer
        else:
            row.moves &= ~board_of(bit)
    return _OPEN


@compiled
def _stubbornness(context: Record, space: Record, row: Record, bit: int) -> int:
    """Count how many safe replies a move leaves, less what it threatens: the least comes first."""
    me = row.side
    free = row.free
    wins = row.after[space.lane[bit]] & free
    poison = row.poison[me] if wins == row.wins[me] else matching(context.match, wins)
    replies = popcount(context.match[bit] & free & ~poison)
    return _PER_REPLY * (replies - 2 * popcount(wins))


@compiled
def _first(moves: np.uint64, rank: Ints) -> int:
    """Return the move with the lowest rank."""
    best = lowest(moves)
    moves &= moves - ONE
    while moves != ZERO:
        bit = lowest(moves)
        moves &= moves - ONE
        if rank[bit] < rank[best]:
            best = bit
    return best


@compiled
def _is_refuted(data: np.uint64) -> bool:
    """Tell whether the table's word on a position is that its mover loses."""
    _, delta, _ = unpack(data)
    return data != ZERO and delta == 0


@compiled
def _none_within(memo: Memo, key: np.uint64) -> int:
    at = key & u64(len(memo.key) - 1)
    return memo.none_within[at] if memo.key[at] == key else 0


@compiled
def _recall(memo: Memo, key: np.uint64, left: int) -> int:
    at = key & u64(len(memo.key) - 1)
    if memo.key[at] != key:
        return _OPEN
    if left <= memo.none_within[at]:
        return _NO
    return _YES if left >= memo.some_within[at] else _OPEN


@compiled
def _remember(row: Record, memo: Memo, left: int, answer: int) -> None:
    key = hashed(row.key, row.last)
    at = key & u64(len(memo.key) - 1)
    if memo.key[at] != key:
        memo.key[at] = key
        memo.none_within[at] = 0
        memo.some_within[at] = _NEVER
    if answer == _YES:
        memo.some_within[at] = min(memo.some_within[at], left)
    else:
        memo.none_within[at] = max(memo.none_within[at], left)
