"""How a game ends: connections and loops on boards, stone by stone."""

from typing import Final

import numpy as np

from kamon.engine.kernel.boards import EDGES, NEIGHBOURS, board_of, flood, grow
from kamon.engine.kernel.compile import ONE, ZERO, Ints, compiled, u64

# Two neighbours of a bit are next to each other if they follow each other in this order.
CLOCKWISE: Final = (1, 9, 8, -1, -9, -8)
# The steps from a bit to its neighbours, in the order of ``pattern``'s bits.
PATTERN: Final = (-9, -8, -1, 8, 1, 9)
# Where the six neighbours of a bit lie in a board shifted so that the first of them is bit 0.
_AROUND: Final = u64(0b110_0000_0101_0000_0011)


def _run_starts() -> Ints:
    """Return for each pattern of neighbours how many runs there are, and a step into each.

    A run is a row of stones on a walk around a bit.
    """
    starts = np.zeros((64, 1 + _MOST_RUNS), dtype=np.int64)
    for number in range(64):
        walk = [number >> PATTERN.index(step) & 1 for step in CLOCKWISE]
        steps = [step for at, step in enumerate(CLOCKWISE) if walk[at] and not walk[at - 1]]
        if number == 63:  # noqa: PLR2004 - surrounded: one run without a beginning
            steps = [1]
        starts[number, 0] = len(steps)
        starts[number, 1 : 1 + len(steps)] = steps
    return starts


_MOST_RUNS: Final = 3
RUN_STARTS: Final = _run_starts()
RUNS: Final = np.ascontiguousarray(RUN_STARTS[:, 0])


@compiled
def pattern(stones: np.uint64, bit: int) -> int:
    """Return which of the six neighbours of a bit are stones, as six bits."""
    around = ((stones << u64(9)) >> u64(bit)) & _AROUND
    return np.int64(
        (around & u64(3))
        | ((around >> u64(6)) & u64(20))
        | ((around >> u64(14)) & u64(8))
        | ((around >> u64(13)) & u64(32))
    )


@compiled
def is_won(stones: np.uint64, bit: int) -> bool:
    """Tell whether the stone on a bit, the last of these, has made a connection or a loop.

    A stone closes a loop exactly when two separate runs of stones around it belong to one chain.
    """
    without = stones & ~board_of(bit)
    touching = NEIGHBOURS[bit] & without
    chain = flood(board_of(bit), stones)
    for edge in range(3):
        if chain & EDGES[edge] != ZERO and chain & EDGES[edge + 3] != ZERO:
            return True
    if RUNS[pattern(without, bit)] < 2:  # noqa: PLR2004 - two runs may be one chain
        return False
    while touching != ZERO:
        part = flood(touching & (~touching + ONE), without)
        if RUNS[pattern(part, bit)] > 1:
            return True
        touching &= ~part
    return False


@compiled
def winning_board(stones: np.uint64, free: np.uint64) -> np.uint64:
    """Return the free cells on which one more stone of these makes a connection or a loop."""
    won = reach(stones, EDGES[0]) & reach(stones, EDGES[3])
    won |= reach(stones, EDGES[1]) & reach(stones, EDGES[4])
    won |= reach(stones, EDGES[2]) & reach(stones, EDGES[5])
    rest = stones
    while rest != ZERO:
        chain = flood(rest & (~rest + ONE), stones)
        rest &= ~chain
        won |= two_arcs(chain)
    return won & free


@compiled
def reach(stones: np.uint64, edge: np.uint64) -> np.uint64:
    """Return the cells that lie on an edge or touch a chain of stones from it."""
    return grow(flood(stones & edge, stones)) | edge


@compiled
def two_arcs(chain: np.uint64) -> np.uint64:
    """Return the bits around which a chain lies in two separate runs: a stone there closes a loop.

    The two runs are joined elsewhere, so the new stone completes a cycle; of the two gaps between
    the runs one is inside, and what lies in a gap is not the player's. With one run only, nothing
    new is enclosed. Bits that are no cells may be among the answers.
    """
    n0 = chain >> u64(1)
    n1 = chain >> u64(9)
    n2 = chain >> u64(8)
    n3 = chain << u64(1)
    n4 = chain << u64(9)
    n5 = chain << u64(8)
    # Where a run ends, its last stone has no neighbour further round: once, and a second time.
    ends = n0 & ~n1
    once = ends
    ends = n1 & ~n2
    twice = once & ends
    once |= ends
    ends = n2 & ~n3
    twice |= once & ends
    once |= ends
    ends = n3 & ~n4
    twice |= once & ends
    once |= ends
    ends = n4 & ~n5
    twice |= once & ends
    once |= ends
    ends = n5 & ~n0
    return twice | (once & ends)
