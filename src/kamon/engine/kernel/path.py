"""Positions on a search path: one record a ply, and what is known of it without search.

Words used throughout: the *mover* is the side to move, the *replier* the side that has just moved.
A side's *winning cells* are the free cells that would end the game in its favour. A free cell is
*poisoned* for a side if its token matches a winning cell of the other side: whoever plays there
loses at once. *Lanes* number the cells that are free at the root, for the vectors.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kamon.engine.kernel.boards import (
    BITS,
    DEPTH,
    EDGE_FLAGS,
    EDGES,
    NEIGHBOURS,
    board_of,
    lowest,
    match_table,
    matching,
    popcount,
)
from kamon.engine.kernel.compile import ONE, ZERO, Record, Records, compiled, inlined, u64
from kamon.engine.kernel.endings import two_arcs, winning_board
from kamon.engine.kernel.vectors import LANES, at_most_one, lost_wins, new_wins, wins_after
from kamon.geometry import cells
from kamon.layout import Layout

FEATURES: Final = 22
HIDDEN: Final = 32
# From the empty board the first mover has twelve moves, later there are ten at most.
CHILDREN: Final = 12
# A board of 37 cells has room for 13 chains of one side, and one more is written before it is
# joined to others.
_CHAINS: Final = 16
_PADDED: Final = 5 * LANES

CONTEXT: Final = np.dtype(
    [
        ("match", np.uint64, (64,)),  # for each bit, what may follow it
        ("weight", np.uint64, (64,)),  # for each playable bit, its power of three in the key
        ("w1", np.float32, (FEATURES, HIDDEN)),
        ("b1", np.float32, (HIDDEN,)),
        ("w2", np.float32, (3, HIDDEN)),
        ("b2", np.float32, (3,)),
    ],
    align=True,
)

ROW: Final = np.dtype(
    [
        # The position.
        ("side", np.int64),  # the mover
        ("last", np.int64),
        ("free", np.uint64),
        ("key", np.uint64),
        ("stones", np.uint64, (2,)),  # of each side
        ("wins", np.uint64, (2,)),  # winning cells of each side
        ("poison", np.uint64, (2,)),  # cells that match a winning cell of that side
        ("live", np.uint64),  # the mover's moves that are worth a search
        # The mover's chains; the replier's are in the next row.
        ("chains", np.int64),  # how many
        ("chain", np.uint64, (_CHAINS,)),
        ("around", np.uint64, (_CHAINS,)),  # its neighbours
        ("loops", np.uint64, (_CHAINS,)),  # where a stone would make a loop of it
        ("edges", np.int64, (_CHAINS,)),  # that it touches, as six flags
        ("reach", np.uint64, (6,)),  # what lies on an edge or beside a chain from it
        ("rooted", np.uint64, (6,)),  # the stones that hang together with an edge
        # The mover's winning cells after a stone on each lane; the replier's are in the next row.
        ("after", np.uint64, (_PADDED,)),
        # The search.
        ("children", np.int64),
        ("best", np.int64),
        ("max_phi", np.int64),
        ("max_delta", np.int64),
        ("entered", np.int64),  # how many nodes had been searched then
        ("bit", np.int64, (CHILDREN,)),
        ("hash", np.uint64, (CHILDREN,)),
        ("phi", np.int64, (CHILDREN,)),
        ("delta", np.int64, (CHILDREN,)),
        ("taint", np.int64, (CHILDREN,)),
        ("child_live", np.uint64, (CHILDREN,)),  # as the table packs it
        # The search for lengths.
        ("moves", np.uint64),  # still to be tried
        ("rank", np.int64, (64,)),
    ],
    align=True,
)

SPACE: Final = np.dtype(
    [
        ("nodes", np.int64),  # searched so far
        ("nodes_allowed", np.int64),
        ("vectors", np.int64),  # how many hold all lanes
        ("lane", np.int64, (64,)),  # of each bit
        ("cells", np.uint64, (_PADDED,)),  # the board of each lane
        ("near", np.uint64, (_PADDED,)),  # its neighbours
        ("match", np.uint64, (_PADDED,)),  # what may follow it
        ("answer_wins", np.uint64, (64,)),
        ("answer_poison", np.uint64, (64,)),
        ("distances", np.uint64, (LANES,)),
        ("features", np.float32, (FEATURES,)),
    ],
    align=True,
)


class Stack(NamedTuple):
    """The memory of one search: a row for each ply of its path, and working space."""

    path: Records
    space: Records

    @property
    def nodes(self) -> int:
        """How many nodes it has searched since its root was set."""
        return int(self.space["nodes"][0])


def new_stack() -> Stack:
    """Make the memory of one search: one for each thread."""
    return Stack(np.zeros(DEPTH, dtype=ROW), np.zeros(1, dtype=SPACE))


def new_context(
    layout: Layout, weights: Mapping[str, npt.NDArray[np.float32]] | None = None
) -> Records:
    """Write down what never changes in searches of a layout; where none guesses, no weights."""
    context: Any = np.zeros(1, dtype=CONTEXT)
    context["match"] = match_table(layout)
    for exponent, cell in enumerate(cells(layout.playable)):
        context["weight"][0, BITS[cell]] = 3**exponent
    for name, part in (weights or {}).items():
        context[name] = part
    return context


# --- Keys

_RANK: Final = np.zeros(64, dtype=np.uint64)
_RANK[list(BITS)] = np.arange(len(BITS), dtype=np.uint64)
_THREE_TO_THE_36: Final = u64(3**36)


@compiled
def _mix(number: np.uint64) -> np.uint64:
    """Scatter keys over the table: a bijection, so that equal hashes mean equal positions."""
    number ^= number >> u64(32)
    number *= u64(0xD6E8FEB86659FD93)
    number ^= number >> u64(32)
    number *= u64(0xD6E8FEB86659FD93)
    return number ^ (number >> u64(32))


@compiled
def hashed(stone_key: np.uint64, last: int) -> np.uint64:
    """Return the hash of a position by its stones and its last bit."""
    # 36 tokens in three states need 3**36 numbers, times 37 for the last cell: less than 2**64.
    return _mix(stone_key + (_RANK[last] + ONE) * _THREE_TO_THE_36)


@compiled
def child_hash(context: Record, row: Record, bit: int) -> np.uint64:
    """Return the hash of the position after the mover of a row plays a bit."""
    return hashed(row.key + context.weight[bit] * u64(row.side + 1), bit)


# --- Chains

# Six stones make the smallest ring, so five may lack one.
_SMALLEST_OPEN_RING: Final = 5


@compiled
def clear_chains(row: Record) -> None:
    """Begin with no stones."""
    row.chains = 0
    for edge in range(6):
        row.reach[edge] = EDGES[edge]
        row.rooted[edge] = ZERO


@compiled
def add_to_chains(before: Record, after: Record, bit: int) -> None:
    """Write the chains of a row into another, with one more stone. May be the same row."""
    joined = board_of(bit)
    around = NEIGHBOURS[bit]
    edges = EDGE_FLAGS[bit]
    count = 0
    for i in range(before.chains):
        chain, its_around, its_edges = before.chain[i], before.around[i], before.edges[i]
        touches = (its_around >> u64(bit)) & ONE
        all_or_nothing = ZERO - touches
        joined |= chain & all_or_nothing
        around |= its_around & all_or_nothing
        edges |= its_edges & np.int64(all_or_nothing)
        # A chain that the stone joins is overwritten by the next one.
        after.chain[count] = chain
        after.around[count] = its_around
        after.edges[count] = its_edges
        after.loops[count] = before.loops[i]
        count += 1 - np.int64(touches)
    after.chain[count] = joined
    after.around[count] = around
    after.edges[count] = edges
    after.loops[count] = two_arcs(joined) if popcount(joined) >= _SMALLEST_OPEN_RING else ZERO
    after.chains = count + 1
    for edge in range(6):
        all_or_nothing = ZERO - u64((edges >> edge) & 1)
        after.reach[edge] = before.reach[edge] | (around & all_or_nothing)
        after.rooted[edge] = before.rooted[edge] | (joined & all_or_nothing)


@inlined
def fill_after(space: Record, row: Record, free: np.uint64) -> None:
    """Fill the table ``after`` of the side whose chains are in a row."""
    wins_after(
        space.cells,
        space.near,
        row.chain,
        row.around,
        row.loops,
        row.chains,
        row.reach,
        free,
        row.after,
        space.vectors,
    )


# --- Moves


@compiled
def place(context: Record, space: Record, row: Record, child: Record, bit: int) -> None:
    """Write the position after the mover of a row plays a bit into the next row."""
    me = row.side
    other = 1 - me
    stone = board_of(bit)
    free = row.free & ~stone
    child.side = other
    child.last = bit
    child.free = free
    child.key = row.key + context.weight[bit] * u64(me + 1)
    child.stones[me] = row.stones[me] | stone
    child.stones[other] = row.stones[other]
    mine = row.after[space.lane[bit]] & free
    child.wins[me] = mine
    unchanged = mine == row.wins[me]
    child.poison[me] = row.poison[me] if unchanged else matching(context.match, mine)
    theirs = row.wins[other] & ~stone
    child.wins[other] = theirs
    unchanged = theirs == row.wins[other]
    child.poison[other] = row.poison[other] if unchanged else matching(context.match, theirs)


_INVERSE: Final = np.array([0.0, *(1.0 / count for count in range(1, 13))])
_MANY: Final = 99


@compiled
def look_ahead(
    context: Record, space: Record, row: Record, replier: Record, safe: np.uint64, makers: np.uint64
) -> tuple[np.uint64, int, float]:
    """Return the mover's safe moves that the replier cannot refute at once.

    A move is refuted if the replier has a safe answer after which the mover cannot win at once and
    has no safe move left. All winning cells two stones deep are in the tables ``after``, so this
    is exact and needs masks only. The last stone of a full board is no block, so nothing is claimed
    there. Also returns the fewest answers to such a move, and the sum of 1 / answers. If some move
    leaves the replier nothing safe, the fewest is 0 and the mover has won. ``replier`` is the next
    row, and ``makers`` are the cells where the replier makes new winning cells.
    """
    me = row.side
    other = 1 - me
    free = row.free
    wins, poison = row.wins[other], row.poison[other]
    # Only these answers can refute: those that leave at most one safe reply as things stand, and
    # those that change what the replier threatens.
    changing = makers
    if wins != ZERO:
        changing |= lost_wins(space.cells, replier.after, wins, space.vectors)
    changing &= free
    refuting = changing | at_most_one(space.cells, space.match, free & ~poison, space.vectors)
    known = ZERO
    live = ZERO
    fewest = _MANY
    inverse = 0.0
    moves = safe
    while moves != ZERO:
        move = lowest(moves)
        stone = board_of(move)
        moves &= moves - ONE
        free_1 = free & ~stone
        my_wins = row.after[space.lane[move]] & free_1
        my_poison = row.poison[me] if my_wins == row.wins[me] else matching(context.match, my_wins)
        answers = context.match[move] & free_1
        if answers == ZERO and free_1 == ZERO:
            live |= stone
            continue
        answers &= ~my_poison
        if answers == ZERO:
            return stone, 0, 0.0
        refuted = False
        todo = answers & refuting
        while todo != ZERO and not refuted:
            answer = lowest(todo)
            reply = board_of(answer)
            todo &= todo - ONE
            free_2 = free_1 & ~reply
            if free_2 == ZERO:
                continue
            his_wins, his_poison = wins, poison
            if changing & reply != ZERO:
                if known & reply == ZERO:
                    known |= reply
                    his_wins = replier.after[space.lane[answer]] & free
                    if his_wins != wins:
                        his_poison = matching(context.match, his_wins)
                    space.answer_wins[answer] = his_wins
                    space.answer_poison[answer] = his_poison
                    left = context.match[answer] & free & ~his_poison
                    if left & (left - ONE) != ZERO:
                        # Two safe replies are left, of which the move can take but one.
                        refuting &= ~reply
                        continue
                else:
                    his_wins = space.answer_wins[answer]
                    his_poison = space.answer_poison[answer]
            if his_wins & stone != ZERO:
                his_poison = matching(context.match, his_wins & free_2)
            again = context.match[answer] & free_2
            refuted = again & ~his_poison == ZERO and again & my_wins == ZERO
        if not refuted:
            live |= stone
            count = popcount(answers)
            fewest = min(fewest, count)
            inverse += _INVERSE[count]
    return live, fewest, inverse


@inlined
def threats(space: Record, row: Record, free: np.uint64, wins: np.uint64) -> tuple[np.uint64, int]:
    """Return where the side whose table a row holds makes a new winning cell, and count them."""
    return new_wins(space.cells, row.after, free, wins, space.vectors)


# --- The root

UNKNOWN: Final = 2  # besides +1, 0 and -1


@compiled
def set_root(
    contexts: Records,
    path: Records,
    spaces: Records,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
) -> int:
    """Put a position that goes on into row 0; return +1 or -1 where no search is needed.

    Else ``UNKNOWN``. Counts as one node.
    """
    context, space = contexts[0], spaces[0]
    row, replier = path[0], path[1]
    free = playable & ~black & ~white
    row.free = free
    row.last = last
    row.side = (popcount(black) + popcount(white)) & 1
    row.stones[0] = black
    row.stones[1] = white
    _number_lanes(context, space, free)
    me = row.side
    row.key = ZERO
    for side in range(2):
        stones = row.stones[side]
        row.wins[side] = winning_board(stones, free)
        row.poison[side] = matching(context.match, row.wins[side])
        holder = row if side == me else replier
        clear_chains(holder)
        while stones != ZERO:
            bit = lowest(stones)
            row.key += context.weight[bit] * u64(side + 1)
            add_to_chains(holder, holder, bit)
            stones &= stones - ONE
        fill_after(space, holder, free)
    space.nodes = 1
    legal = context.match[last] & free
    if legal & row.wins[me] != ZERO:
        return 1
    safe = legal & ~row.poison[1 - me]
    if safe == ZERO:
        return -1
    makers, _ = threats(space, replier, free, row.wins[1 - me])
    live, fewest, _ = look_ahead(context, space, row, replier, safe, makers)
    row.live = live
    if fewest == 0:
        return 1
    return -1 if live == ZERO else UNKNOWN


@compiled
def _number_lanes(context: Record, space: Record, free: np.uint64) -> None:
    for lane in range(_PADDED):
        space.cells[lane] = ZERO
        space.near[lane] = ZERO
        space.match[lane] = ZERO
    lane = 0
    while free != ZERO:
        bit = lowest(free)
        free &= free - ONE
        space.lane[bit] = lane
        space.cells[lane] = board_of(bit)
        space.near[lane] = NEIGHBOURS[bit]
        space.match[lane] = context.match[bit]
        lane += 1
    space.vectors = (lane + LANES - 1) // LANES
