"""Counting and random games: what needs the rules and no search."""

from typing import Final

import numpy as np

from kamon.engine.kernel.boards import DEPTH, EDGE_FLAGS, arguments, board_of, lowest, popcount
from kamon.engine.kernel.compile import ONE, ZERO, Boards, Ints, compiled, u64
from kamon.engine.kernel.endings import RUN_STARTS, is_won, pattern
from kamon.position import Position

# Who has won a random game: 0 Black, 1 White, or nobody.
DRAW: Final = 2
# The first move has the most.
_MOST_CHOICES: Final = 12


# --- Counting


def perft(position: Position, depth: int) -> int:
    """Count the legal sequences of exactly ``depth`` plies from a position that goes on."""
    moves, sides = np.zeros(DEPTH, dtype=np.uint64), np.zeros((DEPTH, 2), dtype=np.uint64)
    return _perft(*arguments(position), depth, moves, sides)


@compiled
def _perft(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    depth: int,
    moves: Boards,
    sides: Boards,
) -> int:
    """Count as ``perft`` does, in this working space.

    In ``moves`` the moves not yet tried at each ply, in ``sides`` the stones of
    both sides before them; ply 0 is the position.
    """
    if depth == 0:
        return 1
    free = playable & ~(black | white)
    sides[0, 0], sides[0, 1] = black, white
    turn = 0 if popcount(black) == popcount(white) else 1
    moves[0] = match[last] & free
    count, ply = 0, 0
    while ply >= 0:
        if ply == depth - 1:
            count += popcount(moves[ply])
            ply -= 1
            continue
        if moves[ply] == ZERO:
            ply -= 1
            continue
        bit = lowest(moves[ply])
        moves[ply] &= moves[ply] - ONE
        mover = turn ^ (ply & 1)
        sides[ply + 1, mover] = sides[ply, mover] | board_of(bit)
        sides[ply + 1, 1 - mover] = sides[ply, 1 - mover]
        if not is_won(sides[ply + 1, mover], bit):
            ply += 1
            moves[ply] = match[bit] & playable & ~(sides[ply, 0] | sides[ply, 1])
    return count


# --- Random games


@compiled
def next_random(state: np.uint64) -> np.uint64:
    """Step Marsaglia's xorshift generator; its state is never 0."""
    state ^= state << u64(13)
    state ^= state >> u64(7)
    state ^= state << u64(17)
    return state


@compiled
def seeded(seed: int) -> np.uint64:
    """Spread a seed over a generator's state."""
    state = u64(seed) * u64(0x9E3779B97F4A7C15) + u64(0x2545F4914F6CDD1D)
    return next_random(state | ONE)


@compiled
def pick(board: np.uint64, random: np.uint64) -> int:
    """Choose a bit of a board that is not empty, by the upper half of a random number."""
    skip = np.int64(((random >> u64(32)) * u64(popcount(board))) >> u64(32))
    # Without a branch that depends on chance it is faster.
    for step in range(_MOST_CHOICES - 1):
        board &= board - ONE if step < skip else ~ZERO
    return lowest(board)


def new_forest() -> Ints:
    """Make the memory of one random game: in row 0 the chains as trees, in row 1 their edges."""
    return np.zeros((2, 64), dtype=np.int64)


def playouts(position: Position, count: int, seed: int) -> Ints:
    """Play random games to the end and count: Black's wins, White's wins, draws.

    The position must go on. Equal seeds give equal games.
    """
    tally = np.zeros(3, dtype=np.int64)
    _playouts(*arguments(position), count, seed, tally, new_forest())
    return tally


@compiled
def _playouts(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    count: int,
    seed: int,
    tally: Ints,
    forest: Ints,
) -> None:
    """Add to the tally what ``playouts`` counts."""
    random = seeded(seed)
    for _ in range(count):
        winner, random = playout(match, playable, black, white, last, random, forest)
        tally[winner] += 1


@compiled
def playout(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    random: np.uint64,
    forest: Ints,
) -> tuple[int, np.uint64]:
    """Play one random game: 0 Black wins, 1 White, 2 a draw; and the generator's next state."""
    turn = 0 if popcount(black) == popcount(white) else 1
    mine, other = (black, white) if turn == 0 else (white, black)
    free = playable & ~(black | white)
    join_all(mine, forest)
    join_all(other, forest)
    while True:
        legal = match[last] & free
        if legal == ZERO:
            return (DRAW if free == ZERO else 1 - turn), random
        random = next_random(random)
        last = pick(legal, random)
        mine |= board_of(last)
        free &= ~board_of(last)
        if join(mine, last, forest):
            return turn, random
        mine, other = other, mine
        turn = 1 - turn


@compiled
def join_all(stones: np.uint64, forest: Ints) -> None:
    """Join all stones of a side into chains."""
    placed = ZERO
    while stones != ZERO:
        bit = lowest(stones)
        stones &= stones - ONE
        placed |= board_of(bit)
        join(placed, bit, forest)


@compiled
def _root(forest: Ints, bit: int) -> int:
    while forest[0, bit] != bit:
        forest[0, bit] = forest[0, forest[0, bit]]
        bit = forest[0, bit]
    return bit


@compiled
def join(stones: np.uint64, bit: int, forest: Ints) -> bool:
    """Join a new stone to its neighbours' chains; tell whether it makes a connection or a loop.

    Each run of stones around the new one is part of a chain. The first run of a chain joins it;
    a second run of the same chain, which then has this stone's root already, closes a loop.
    """
    edges = EDGE_FLAGS[bit]
    around = pattern(stones, bit)
    loop = False
    root = bit
    forest[0, bit] = bit
    for run in range(RUN_STARTS[around, 0]):
        its_root = _root(forest, bit + RUN_STARTS[around, 1 + run])
        if its_root == root:
            loop = True
        else:
            edges |= forest[1, its_root]
            forest[0, its_root] = root
    forest[1, root] = edges
    return loop or (edges & (edges >> 3)) != 0
