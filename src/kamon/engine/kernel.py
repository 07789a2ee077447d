"""The compiled twin of the rules, and the searches on it: the only file that imports numba.

Boards are widened to eight bits a row, so that neighbours are fixed shifts and a whole board grows
by six of them. Cell (letter, row) is bit ``8 * row + letter``; the bits that are no cell stay 0:

          a1 b1 c1 d1                       0  1  2  3
        a2 b2 c2 d2 e2                    8  9 10 11 12
      a3 b3 c3 d3 e3 f3                16 17 18 19 20 21
    a4 b4 c4 d4 e4 f4 g4            24 25 26 27 28 29 30
      b5 c5 d5 e5 f5 g5                33 34 35 36 37 38
        c6 d6 e6 f6 g6                   42 43 44 45 46
          d7 e7 f7 g7                      51 52 53 54

``bit`` stands for a cell so widened and ``board`` for a mask. Everything here trusts its caller.
Compiled code mixes no signed with unsigned numbers, which numba would turn into floats: boards are
``u64`` and everything that counts is an ``int``.
"""

import contextlib
import hashlib
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from kamon.errors import EngineMissingError
from kamon.geometry import CELLS, COORDINATES, DIRECTIONS, Edge, cells
from kamon.layout import Layout
from kamon.position import Position

CACHE_FOLDER: Final = user_cache_path("kamon", appauthor=False) / "numba"


def _can_cache() -> bool:
    """Tell whether compiled code can be kept in the user's cache folder; else it lives once."""
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(CACHE_FOLDER, os.W_OK)


CACHED: Final = _can_cache()


def is_fresh() -> bool:
    """Tell whether this kernel has not been compiled here yet, as far as we know."""
    return not CACHED or not _stamp().exists()


def note_compiled() -> None:
    """Remember that what every search needs has been compiled."""
    if CACHED:
        with contextlib.suppress(OSError):
            _stamp().touch()


def _stamp() -> Path:
    """Name the file that stands for this kernel here, compiled by this Python and numba."""
    what = f"{__file__} {sys.version} {numba_version}".encode() + Path(__file__).read_bytes()
    return CACHE_FOLDER / f"compiled-{hashlib.sha256(what).hexdigest()[:16]}"


if CACHED:
    os.environ.setdefault("NUMBA_CACHE_DIR", str(CACHE_FOLDER))

try:
    # Not before this line: numba reads where to cache when it is imported.
    from numba import __version__ as numba_version
    from numba import njit, types
    from numba.core import cgutils
    from numba.extending import intrinsic
except ImportError as error:
    raise EngineMissingError("" if error.name == "numba" else str(error)) from None

Function = TypeVar("Function", bound=Callable[..., Any])
Boards = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
u64 = np.uint64


def compiled(function: Function) -> Function:
    """Compile on first use; other threads run on while it works."""
    return cast("Function", njit(nogil=True, cache=CACHED)(function))


def woven(function: Function) -> Function:
    """Compile into whoever calls it: a call would hand over some 180 words of array headers."""
    return cast("Function", njit(nogil=True, cache=CACHED, forceinline=True)(function))


# --- Boards ---------------------------------------------------------------------------------

BITS: Final = tuple(8 * row + letter for letter, row in COORDINATES)
CELL_OF: Final = {bit: cell for cell, bit in enumerate(BITS)}
# Before the first move there is no last cell. This bit stands for it, and "matches" the openings.
NO_BIT: Final = 63


def widen(mask: int) -> np.uint64:
    """Turn a mask of 37 bits into a board."""
    return u64(sum(1 << BITS[cell] for cell in cells(mask)))


def narrow(board: int | np.uint64) -> int:
    """Turn a board into a mask of 37 bits."""
    return sum(1 << CELL_OF[bit] for bit in cells(int(board)))


def match_table(layout: Layout) -> Boards:
    """Return for each bit the board of what may follow it."""
    match = np.zeros(64, dtype=np.uint64)
    for cell in CELLS:
        match[BITS[cell]] = widen(layout.matching[cell])
    match[NO_BIT] = widen(layout.opening)
    return match


def arguments(position: Position) -> tuple[Boards, np.uint64, np.uint64, np.uint64, int]:
    """Return a position as the kernel's functions take it: match, playable, black, white, last."""
    layout = position.layout
    last = NO_BIT if position.last is None else BITS[position.last]
    black, white = widen(position.black), widen(position.white)
    return match_table(layout), widen(layout.playable), black, white, last


_VALID: Final = u64(sum(1 << bit for bit in BITS))
_EDGES: Final = np.array([widen(edge.value) for edge in Edge], dtype=np.uint64)
_ONE: Final = u64(1)
_ZERO: Final = u64(0)
# The steps between neighbouring bits, clockwise, so that a walk around a cell is one of 0 to 5.
_STEPS: Final = np.array([8 * row + letter for letter, row in DIRECTIONS], dtype=np.int64)


def _edge_flags() -> Ints:
    flags = np.zeros(64, dtype=np.int64)
    for index, edge in enumerate(Edge):
        for cell in cells(edge.value):
            flags[BITS[cell]] |= 1 << index
    return flags


# For each bit the edges it lies on, as six flags; opposite edges are three apart.
_EDGE_FLAGS: Final = _edge_flags()


def _generate_popcount(_: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Count the cells of a board: one machine instruction."""

    def generate(_: Any, builder: Any, ___: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount = cast("Callable[[np.uint64], int]", intrinsic(_generate_popcount))


def _generate_lowest(_: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Return the lowest bit of a board that is not empty: one machine instruction."""

    def generate(context: Any, builder: Any, ___: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.uint64), generate


lowest = cast("Callable[[np.uint64], int]", intrinsic(_generate_lowest))


@compiled
def board_of(bit: int) -> np.uint64:
    """Return the board of one bit."""
    return _ONE << u64(bit)


@compiled
def grow(board: np.uint64) -> np.uint64:
    """Return the neighbours of all cells of a board."""
    return (
        (board << u64(1))
        | (board >> u64(1))
        | (board << u64(8))
        | (board >> u64(8))
        | (board << u64(9))
        | (board >> u64(9))
    ) & _VALID


@compiled
def flood(seed: np.uint64, within: np.uint64) -> np.uint64:
    """Grow a seed as far as ``within`` allows."""
    reached = seed & within
    before = _ZERO
    while reached != before:
        before = reached
        reached |= grow(reached) & within
    return reached


# --- The end of a game ----------------------------------------------------------------------


@compiled
def arcs(stones: np.uint64, bit: int) -> int:
    """Count the separate runs of stones on a walk around a bit."""
    count = 0
    before = _has(stones, bit + _STEPS[5])
    for direction in range(6):
        here = _has(stones, bit + _STEPS[direction])
        if here and not before:
            count += 1
        before = here
    return count


@compiled
def _has(stones: np.uint64, bit: int) -> bool:
    # Bits off the board are never set, and those beyond the word are none.
    return 0 <= bit < 64 and (stones >> u64(bit)) & _ONE != _ZERO  # noqa: PLR2004


@compiled
def is_won(stones: np.uint64, bit: int) -> bool:
    """Tell whether the stone on a bit, the last of these, has made a connection or a loop.

    A stone closes a loop exactly when two separate runs of stones around it belong to one chain.
    """
    without = stones & ~board_of(bit)
    touching = grow(board_of(bit)) & without
    if touching == _ZERO:
        return False
    chain = flood(board_of(bit), stones)
    for edge in range(3):
        if chain & _EDGES[edge] != _ZERO and chain & _EDGES[edge + 3] != _ZERO:
            return True
    while touching != _ZERO:
        part = flood(touching & (~touching + _ONE), without)
        if arcs(part, bit) > 1:
            return True
        touching &= ~part
    return False


@compiled
def winning_board(stones: np.uint64, free: np.uint64) -> np.uint64:
    """Return the free cells on which one more stone of these makes a connection or a loop."""
    won = reach(stones, _EDGES[0]) & reach(stones, _EDGES[3])
    won |= reach(stones, _EDGES[1]) & reach(stones, _EDGES[4])
    won |= reach(stones, _EDGES[2]) & reach(stones, _EDGES[5])
    rest = stones
    while rest != _ZERO:
        chain = flood(rest & (~rest + _ONE), stones)
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


# --- Counting -------------------------------------------------------------------------------


@compiled
def perft(
    match: Boards, playable: np.uint64, black: np.uint64, white: np.uint64, last: int, depth: int
) -> int:
    """Count the legal sequences of exactly ``depth`` plies from a position that goes on."""
    if depth == 0:
        return 1
    free = playable & ~(black | white)
    # The moves not yet tried at each ply, and the stones before them; ply 0 is the position.
    moves = np.zeros(37, dtype=np.uint64)
    sides = np.zeros((38, 2), dtype=np.uint64)
    sides[0, 0], sides[0, 1] = black, white
    turn = 0 if popcount(black) == popcount(white) else 1
    moves[0] = match[last] & free
    count, ply = 0, 0
    while ply >= 0:
        if ply == depth - 1:
            count += popcount(moves[ply])
            ply -= 1
            continue
        if moves[ply] == _ZERO:
            ply -= 1
            continue
        bit = lowest(moves[ply])
        moves[ply] &= moves[ply] - _ONE
        mover = turn ^ (ply & 1)
        sides[ply + 1, mover] = sides[ply, mover] | board_of(bit)
        sides[ply + 1, 1 - mover] = sides[ply, 1 - mover]
        if not is_won(sides[ply + 1, mover], bit):
            ply += 1
            moves[ply] = match[bit] & playable & ~(sides[ply, 0] | sides[ply, 1])
    return count


# --- Random playouts ------------------------------------------------------------------------


@compiled
def next_random(state: np.uint64) -> np.uint64:
    """Step Marsaglia's xorshift generator; its state is never 0."""
    state ^= state << u64(13)
    state ^= state >> u64(7)
    state ^= state << u64(17)
    return state


@compiled
def pick(board: np.uint64, random: np.uint64) -> int:
    """Choose a bit of a board that is not empty, by the upper half of a random number."""
    skip = int(((random >> u64(32)) * u64(popcount(board))) >> u64(32))
    for _ in range(skip):
        board &= board - _ONE
    return lowest(board)


@compiled
def playouts(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    count: int,
    seed: int,
    tally: Ints,
) -> None:
    """Play random games to the end and add to the tally: Black's wins, White's wins, draws.

    The position must go on. Equal seeds give equal games.
    """
    random = seeded(seed)
    chains = np.empty(64, dtype=np.int64)
    flags = np.empty(64, dtype=np.int64)
    for _ in range(count):
        winner, random = playout(match, playable, black, white, last, random, chains, flags)
        tally[winner] += 1


@compiled
def seeded(seed: int) -> np.uint64:
    """Spread a seed over a generator's state."""
    state = u64(seed) * u64(0x9E3779B97F4A7C15) + u64(0x2545F4914F6CDD1D)
    return next_random(state | _ONE)


DRAW: Final = 2


@compiled
def playout(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    random: np.uint64,
    chains: Ints,
    flags: Ints,
) -> tuple[int, np.uint64]:
    """Play one random game: 0 Black wins, 1 White, 2 a draw; and the generator's next state.

    ``chains`` joins stones into trees and ``flags`` keeps each tree's edges at its root, so that
    a move asks its six neighbours instead of flooding the board.
    """
    turn = 0 if popcount(black) == popcount(white) else 1
    mine, other = (black, white) if turn == 0 else (white, black)
    free = playable & ~(black | white)
    _join_all(mine, chains, flags)
    _join_all(other, chains, flags)
    while True:
        legal = match[last] & free
        if legal == _ZERO:
            return (DRAW if free == _ZERO else 1 - turn), random
        random = next_random(random)
        last = pick(legal, random)
        mine |= board_of(last)
        free &= ~board_of(last)
        if _join(mine, last, chains, flags):
            return turn, random
        mine, other = other, mine
        turn = 1 - turn


@compiled
def _join_all(stones: np.uint64, chains: Ints, flags: Ints) -> None:
    placed = _ZERO
    while stones != _ZERO:
        bit = lowest(stones)
        stones &= stones - _ONE
        placed |= board_of(bit)
        _join(placed, bit, chains, flags)


@compiled
def _root(chains: Ints, bit: int) -> int:
    while chains[bit] != bit:
        chains[bit] = chains[chains[bit]]
        bit = chains[bit]
    return bit


@compiled
def _join(stones: np.uint64, bit: int, chains: Ints, flags: Ints) -> bool:
    """Join a new stone to its neighbours' chains; tell whether it makes a connection or a loop.

    Each run of stones around the new one is part of a chain. The first run of a chain joins it;
    a second run of the same chain, which then has this stone's root already, closes a loop.
    """
    chains[bit] = bit
    flags[bit] = _EDGE_FLAGS[bit]
    if grow(board_of(bit)) & stones == _ZERO:
        return False
    root = bit
    loop = False
    before = _has(stones, bit + _STEPS[5])
    for direction in range(6):
        here = _has(stones, bit + _STEPS[direction])
        if here and not before:
            its_root = _root(chains, bit + _STEPS[direction])
            if its_root == root:
                loop = True
            else:
                chains[its_root] = root
                flags[root] |= flags[its_root]
        before = here
    edges = flags[root]
    return loop or (edges & (edges >> 3)) != 0


# --- Plain UCT ------------------------------------------------------------------------------

# The columns of a tree's table of ints: the bit played, the first child and how many follow it
# (-1 before they are made), and the visits.
BIT: Final = 0
FIRST: Final = 1
COUNT: Final = 2
VISITS: Final = 3
# What a terminal node says in FIRST instead: minus two minus the winner of the game there.
_ENDED: Final = -2


@compiled
def uct(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    last: int,
    iterations: int,
    exploration: float,
    random: np.uint64,
    nodes: Ints,
    scores: npt.NDArray[np.float64],
    used: int,
    prove: bool,  # noqa: FBT001 - compiled code has no names
) -> tuple[int, np.uint64]:
    """Go on with a tree search of random playouts; return the nodes used and the generator.

    ``nodes`` has a row for each node and row 0 is the position, which must go on; ``scores`` sums
    the results for the side that moved into the node. Start with ``used`` 0. A full table ends
    the growth of the tree, not the search. With ``prove`` the end of a game is taken back as far as
    it is forced, and a node below the root that is proven is never played out again.
    """
    chains = np.empty(64, dtype=np.int64)
    flags = np.empty(64, dtype=np.int64)
    path = np.empty(40, dtype=np.int64)
    start = 0 if popcount(black) == popcount(white) else 1
    if used == 0:
        nodes[0, BIT], nodes[0, FIRST], nodes[0, COUNT], nodes[0, VISITS] = last, -1, 0, 0
        used = 1
    for _ in range(iterations):
        stones = (black, white)
        node, turn, depth = 0, start, 0
        path[0] = 0
        while nodes[node, FIRST] > 0:
            node = _best_child(nodes, scores, node, exploration)
            stones = _placed(stones, turn, nodes[node, BIT])
            turn = 1 - turn
            depth += 1
            path[depth] = node
        free = playable & ~(stones[0] | stones[1])
        if nodes[node, FIRST] == -1 and (nodes[node, VISITS] > 0 or node == 0):
            used = _make_children(match, free, node, nodes, scores, used)
            if nodes[node, FIRST] > 0:
                random = next_random(random)
                skip = int((random >> u64(33)) % u64(nodes[node, COUNT]))
                node = nodes[node, FIRST] + skip
                stones = _placed(stones, turn, nodes[node, BIT])
                turn = 1 - turn
                depth += 1
                path[depth] = node
        winner = _ended(match, playable, stones, turn, nodes, node)
        if winner < 0:
            winner, random = playout(
                match, playable, stones[0], stones[1], nodes[node, BIT], random, chains, flags
            )
        elif prove:
            _take_back(nodes, path, depth, start)
        _count_result(nodes, scores, path, depth, start, winner)
    return used, random


@compiled
def _count_result(
    nodes: Ints,
    scores: npt.NDArray[np.float64],
    path: Ints,
    depth: int,
    start: int,
    winner: int,
) -> None:
    """Add a result to every node on the path to it."""
    for ply in range(depth + 1):
        visited = path[ply]
        mover = start ^ ((ply + 1) & 1)
        nodes[visited, VISITS] += 1
        if winner == DRAW:
            scores[visited] += 0.5
        elif winner == mover:
            scores[visited] += 1.0


@compiled
def _take_back(nodes: Ints, path: Ints, depth: int, start: int) -> None:
    """Mark the nodes on a path, from its end up, whose winner is proven by their children."""
    for ply in range(depth - 1, 0, -1):
        node = path[ply]
        mover = start ^ (ply & 1)
        winner = _proven_winner(nodes, node, mover)
        if winner < 0:
            return
        nodes[node, FIRST] = _ENDED - winner


@compiled
def _proven_winner(nodes: Ints, node: int, mover: int) -> int:
    """Return who wins at a node if its children prove it, the best for who moves there; else -1."""
    open_children, drawn = 0, False
    first = nodes[node, FIRST]
    for child in range(first, first + nodes[node, COUNT]):
        winner = _ENDED - nodes[child, FIRST]
        if winner == mover:
            return mover
        if winner == DRAW:
            drawn = True
        elif winner < 0:
            open_children += 1
    if open_children:
        return -1
    return DRAW if drawn else 1 - mover


@compiled
def _placed(stones: tuple[np.uint64, np.uint64], turn: int, bit: int) -> Any:  # noqa: ANN401
    if turn == 0:
        return stones[0] | board_of(bit), stones[1]
    return stones[0], stones[1] | board_of(bit)


@compiled
def _ended(
    match: Boards,
    playable: np.uint64,
    stones: tuple[np.uint64, np.uint64],
    turn: int,
    nodes: Ints,
    node: int,
) -> int:
    """Return who has won where the game is over at a node, and remember it there; else -1."""
    if nodes[node, FIRST] <= _ENDED:
        return int(_ENDED - nodes[node, FIRST])
    if node == 0 or nodes[node, FIRST] > 0 or nodes[node, VISITS] > 0:
        return -1
    bit = nodes[node, BIT]
    mover = 1 - turn
    free = playable & ~(stones[0] | stones[1])
    winner = -1
    if is_won(stones[mover], bit):
        winner = mover
    elif match[bit] & free == _ZERO:
        winner = DRAW if free == _ZERO else mover
    if winner >= 0:
        nodes[node, FIRST] = _ENDED - winner
    return winner


@compiled
def _best_child(nodes: Ints, scores: npt.NDArray[np.float64], node: int, exploration: float) -> int:
    """Choose by the upper confidence bound; a child never visited comes first."""
    best, best_bound = -1, -1.0
    log_visits = np.log(nodes[node, VISITS] + 1.0)
    first = nodes[node, FIRST]
    for child in range(first, first + nodes[node, COUNT]):
        visits = nodes[child, VISITS]
        if visits == 0:
            return child
        bound = scores[child] / visits + exploration * np.sqrt(log_visits / visits)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@compiled
def _make_children(
    match: Boards,
    free: np.uint64,
    node: int,
    nodes: Ints,
    scores: npt.NDArray[np.float64],
    used: int,
) -> int:
    """Make the children of a node, if the table has room; return the rows used."""
    legal = match[nodes[node, BIT]] & free
    if used + popcount(legal) > len(nodes):
        return used
    nodes[node, FIRST] = used
    nodes[node, COUNT] = popcount(legal)
    while legal != _ZERO:
        nodes[used, BIT] = lowest(legal)
        nodes[used, FIRST] = -1
        nodes[used, COUNT] = 0
        nodes[used, VISITS] = 0
        scores[used] = 0.0
        used += 1
        legal &= legal - _ONE
    return used


# --- The solver's search --------------------------------------------------------------------
#
# Depth-first proof-number search. Words used throughout: the *mover* is the side to move, the
# *replier* the side that has just moved. A side's *winning cells* are the free cells that would
# end the game in its favour. A free cell is *poisoned* for a side if its token matches a winning
# cell of the other side: whoever plays there loses at once. ``after[m]`` are the winning cells that
# a side has after a stone of its own on m.

# Proof numbers are kept in 28 bits; this is infinity, and one less is "huge, but not proven".
INFINITY: Final = 2**28 - 1
# First guesses are real numbers; this many units make one.
_UNIT: Final = 4.0
# How far past the second-best child a child may be searched before its siblings have a turn.
_EPSILON: Final = 0.12
# Below 1: the search finds cheaper ways than solving every frontier position by itself.
_WORK_POWER: Final = 0.7
_CHILDREN: Final = 12
_DEPTH: Final = 40
FEATURES: Final = 22
HIDDEN: Final = 32
_LOG: Final = np.log(np.maximum(np.arange(64), 1)).astype(np.float32)
UNKNOWN: Final = 2  # besides +1, 0 and -1

_RANK: Final = np.zeros(64, dtype=np.uint64)
_RANK[list(BITS)] = np.arange(len(BITS), dtype=np.uint64)
_THREE_TO_THE_36: Final = u64(3**36)


class Ground(NamedTuple):
    """What never changes during a search."""

    match: Boards
    weight: Boards  # the power of three of each playable bit, for the key
    w1: npt.NDArray[np.float32]
    b1: npt.NDArray[np.float32]
    w2: npt.NDArray[np.float32]
    b2: npt.NDArray[np.float32]


class Stack(NamedTuple):
    """One search path. Row d belongs to the node at depth d, whose mover is ``side[d]``."""

    side: Ints
    last: Ints
    free: Boards
    key: Boards
    stones: Boards  # [d, side]
    wins: Boards  # [d, side]: winning cells
    poison: Boards  # [d, side]: cells that match a winning cell of that side
    after: Boards  # [d, bit]: the mover's table; row d + 1 is the replier's
    children: Ints
    best: Ints
    max_phi: Ints
    max_delta: Ints
    entered: Ints
    bit: Ints  # [d, child]
    hash: Boards
    phi: Ints
    delta: Ints
    taint: Ints
    scratch: Boards
    feature: npt.NDArray[np.float32]
    hidden: npt.NDArray[np.float32]
    counter: Ints  # nodes, nodes allowed


def new_stack() -> Stack:
    """Make the memory of one search path: one for each thread."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    def boards(*shape: int) -> Boards:
        return np.zeros(shape, dtype=np.uint64)

    depth, children = _DEPTH, (_DEPTH, _CHILDREN)
    return Stack(
        side=ints(depth),
        last=ints(depth),
        free=boards(depth),
        key=boards(depth),
        stones=boards(depth, 2),
        wins=boards(depth, 2),
        poison=boards(depth, 2),
        after=boards(depth + 2, 64),
        children=ints(depth),
        best=ints(depth),
        max_phi=ints(depth),
        max_delta=ints(depth),
        entered=ints(depth),
        bit=ints(*children),
        hash=boards(*children),
        phi=ints(*children),
        delta=ints(*children),
        taint=ints(*children),
        scratch=boards(64),
        feature=np.zeros(FEATURES, np.float32),
        hidden=np.zeros(HIDDEN, np.float32),
        counter=ints(2),
    )


def ground(layout: Layout, weights: Mapping[str, npt.NDArray[np.float32]]) -> Ground:
    """Lay the ground for searches of a layout."""
    powers = np.zeros(64, dtype=np.uint64)
    playable = [BITS[cell] for cell in cells(layout.playable)]
    for exponent, bit in enumerate(playable):
        powers[bit] = 3**exponent
    parts = (np.ascontiguousarray(weights[name]) for name in ("w1", "b1", "w2", "b2"))
    return Ground(match_table(layout), powers, *parts)


# --- Winning cells, one stone deeper


@compiled
def matching(match: Boards, board: np.uint64) -> np.uint64:
    """Return all cells whose token matches one of the given cells."""
    result = _ZERO
    while board != _ZERO:
        result |= match[lowest(board)]
        board &= board - _ONE
    return result


@compiled
def _winning_after(stones: np.uint64, free: np.uint64, after: Boards) -> None:
    """Fill a table: after[m] = winning cells once m is taken too, for every free m.

    Links only ever grow: chains next to m become one chain, and whatever edge one of them reached,
    it reaches. Loops can also be lost, by a stone that fills what would have been enclosed, but
    only loops of that chain, which are counted afresh.
    """
    r0 = reach(stones, _EDGES[0])
    r1 = reach(stones, _EDGES[1])
    r2 = reach(stones, _EDGES[2])
    r3 = reach(stones, _EDGES[3])
    r4 = reach(stones, _EDGES[4])
    r5 = reach(stones, _EDGES[5])
    # The stones of chains that one more stone makes a loop: rare, so looked into only if any.
    looping = _ZERO
    rest = stones
    while rest != _ZERO:
        chain = flood(rest & (~rest + _ONE), stones)
        rest &= ~chain
        if popcount(chain) >= _SMALLEST_OPEN_RING and two_arcs(chain) & free != _ZERO:
            looping |= chain
    todo = free
    while todo != _ZERO:
        stone = todo & (~todo + _ONE)
        todo &= todo - _ONE
        merged = flood(stone, stones | stone)
        near = grow(merged)
        x0 = r0 | near if r0 & stone != _ZERO else r0
        x1 = r1 | near if r1 & stone != _ZERO else r1
        x2 = r2 | near if r2 & stone != _ZERO else r2
        x3 = r3 | near if r3 & stone != _ZERO else r3
        x4 = r4 | near if r4 & stone != _ZERO else r4
        x5 = r5 | near if r5 & stone != _ZERO else r5
        wins = (x0 & x3) | (x1 & x4) | (x2 & x5) | two_arcs(merged)
        rest = looping & ~merged
        while rest != _ZERO:
            chain = flood(rest & (~rest + _ONE), stones)
            rest &= ~chain
            wins |= two_arcs(chain)
        after[lowest(stone)] = wins & free & ~stone


# Six stones make the smallest ring, so five may lack one.
_SMALLEST_OPEN_RING: Final = 5


# --- Positions on the stack


@compiled
def _mix(number: np.uint64) -> np.uint64:
    """Scatter keys over the table: a bijection, so that equal hashes mean equal positions."""
    number ^= number >> u64(32)
    number *= u64(0xD6E8FEB86659FD93)
    number ^= number >> u64(32)
    number *= u64(0xD6E8FEB86659FD93)
    return number ^ (number >> u64(32))


@compiled
def _hashed(stone_key: np.uint64, last: int) -> np.uint64:
    # 36 tokens in three states need 3**36 numbers, times 37 for the last cell: less than 2**64.
    return _mix(stone_key + (_RANK[last] + _ONE) * _THREE_TO_THE_36)


@woven
def _place(ground: Ground, s: Stack, d: int, bit: int) -> None:
    """Write the position after the mover of row d plays a bit into row d + 1."""
    me = s.side[d]
    other = 1 - me
    stone = board_of(bit)
    free = s.free[d] & ~stone
    s.side[d + 1] = other
    s.last[d + 1] = bit
    s.free[d + 1] = free
    s.key[d + 1] = s.key[d] + ground.weight[bit] * u64(me + 1)
    s.stones[d + 1, me] = s.stones[d, me] | stone
    s.stones[d + 1, other] = s.stones[d, other]
    mine = s.after[d, bit] & free
    s.wins[d + 1, me] = mine
    unchanged = mine == s.wins[d, me]
    s.poison[d + 1, me] = s.poison[d, me] if unchanged else matching(ground.match, mine)
    theirs = s.wins[d, other] & ~stone
    s.wins[d + 1, other] = theirs
    unchanged = theirs == s.wins[d, other]
    s.poison[d + 1, other] = s.poison[d, other] if unchanged else matching(ground.match, theirs)


@woven
def _look_ahead(ground: Ground, s: Stack, d: int, safe: np.uint64) -> tuple[np.uint64, int, float]:
    """Return the mover's safe moves that the replier cannot refute at once.

    A move r is refuted if the replier has a safe answer m after which the mover cannot win at once
    and has no safe move left. All winning cells two stones deep are in the tables, so this is exact
    and needs masks only. The last stone of a full board is no block, so nothing is claimed there.
    Also returns the fewest answers to such a move, and the sum of 1 / answers. If some r leaves the
    replier nothing safe, the fewest is 0 and the mover has won.
    """
    me = s.side[d]
    other = 1 - me
    free = s.free[d]
    mine = s.after[d]
    his = s.after[d + 1]
    poison = s.scratch
    known = _ZERO
    live = _ZERO
    fewest = 99
    inverse = 0.0
    moves = safe
    while moves != _ZERO:
        r = lowest(moves)
        stone = board_of(r)
        moves &= moves - _ONE
        free1 = free & ~stone
        my_wins = mine[r] & free1
        unchanged = my_wins == s.wins[d, me]
        my_poison = s.poison[d, me] if unchanged else matching(ground.match, my_wins)
        answers = ground.match[r] & free1
        if answers == _ZERO and free1 == _ZERO:
            live |= stone
            continue
        answers &= ~my_poison
        if answers == _ZERO:
            return stone, 0, 0.0
        refuted = False
        todo = answers
        while todo != _ZERO and not refuted:
            m = lowest(todo)
            answer = board_of(m)
            todo &= todo - _ONE
            free2 = free1 & ~answer
            if free2 == _ZERO:
                continue
            again = ground.match[m] & free2
            if his[m] & stone == _ZERO:
                if known & answer == _ZERO:
                    known |= answer
                    his_wins = his[m] & free
                    unchanged = his_wins == s.wins[d, other]
                    poison[m] = (
                        s.poison[d, other] if unchanged else matching(ground.match, his_wins)
                    )
                his_poison = poison[m]
            else:
                his_poison = matching(ground.match, his[m] & free2)
            refuted = again & ~his_poison == _ZERO and again & my_wins == _ZERO
        if not refuted:
            live |= stone
            count = popcount(answers)
            fewest = min(fewest, count)
            inverse += 1.0 / count
    return live, fewest, inverse


# --- The first guess


@compiled
def _distance(stones: np.uint64, usable: np.uint64, edge: np.uint64, target: np.uint64) -> int:
    """Count the fewest stones that would link two edges; 7 if more than six."""
    reached = flood(stones & edge, stones)
    for steps in range(7):
        if reached & target != _ZERO:
            return steps
        step = (grow(reached) | edge) & usable & ~reached
        if step == _ZERO and steps > 0:
            return 7
        reached |= step
        reached |= flood(grow(step) & stones, stones)
    return 7


@compiled
def _distances(stones: np.uint64, usable: np.uint64) -> tuple[int, int, int]:
    """Return the distances of the three pairs of edges, the shortest first."""
    a = _distance(stones, usable, _EDGES[0], _EDGES[3])
    b = _distance(stones, usable, _EDGES[1], _EDGES[4])
    c = _distance(stones, usable, _EDGES[2], _EDGES[5])
    low = min(a, min(b, c))
    high = max(a, max(b, c))
    return low, a + b + c - low - high, high


@woven
def _threats(after: Boards, free: np.uint64, wins: np.uint64) -> tuple[np.uint64, int]:
    """Return the free cells where a stone makes a new winning cell, and count such pairs."""
    board = _ZERO
    pairs = 0
    todo = free
    while todo != _ZERO:
        stone = todo & (~todo + _ONE)
        todo &= todo - _ONE
        new = after[lowest(stone)] & free & ~wins
        if new != _ZERO:
            board |= stone
            pairs += popcount(new)
    return board, pairs


@woven
def _fill_features(
    s: Stack, d: int, legal: np.uint64, live: np.uint64, fewest: int, inverse: float
) -> None:
    """Write down what a position looks like, for the network."""
    me = s.side[d]
    other = 1 - me
    free = s.free[d]
    f = s.feature
    my_threats, my_pairs = _threats(s.after[d], free, s.wins[d, me])
    his_threats, his_pairs = _threats(s.after[d + 1], free, s.wins[d, other])
    f[0] = _LOG[popcount(live)]
    f[1] = _LOG[1 + popcount(free & ~s.poison[d, other])]
    f[2] = _LOG[1 + popcount(free & ~s.poison[d, me])]
    f[3], f[5], f[7] = _distances(s.stones[d, me], free)
    f[4], f[6], f[8] = _distances(s.stones[d, other], free)
    f[9] = min(4, popcount(s.wins[d, me]))
    f[10] = min(4, popcount(s.wins[d, other]))
    f[11] = 0.1 * popcount(free)
    f[12] = _LOG[1 + popcount(my_threats)]
    f[13] = _LOG[1 + popcount(his_threats)]
    f[14] = _LOG[popcount(legal)]
    f[15] = me
    f[16] = _LOG[1 + popcount(my_threats & live)]
    f[17] = _LOG[1 + popcount(his_threats & ~s.poison[d, me])]
    f[18] = _LOG[fewest] if fewest < 60 else 0.0  # noqa: PLR2004 - none was counted
    f[19] = math.log(0.1 + inverse)
    f[20] = _LOG[1 + min(60, my_pairs)]
    f[21] = _LOG[1 + min(60, his_pairs)]


@woven
def _ask_network(ground: Ground, s: Stack) -> tuple[float, float, float]:
    """Return the log-odds of a win, and the log of the work if it is won or lost."""
    h = s.hidden
    for j in range(HIDDEN):
        h[j] = ground.b1[j]
    for i in range(FEATURES):
        x = s.feature[i]
        for j in range(HIDDEN):
            h[j] += x * ground.w1[i, j]
    odds = ground.b2[0]
    work_won = ground.b2[1]
    work_lost = ground.b2[2]
    for j in range(HIDDEN):
        x = max(h[j], np.float32(0.0))
        odds += x * ground.w2[0, j]
        work_won += x * ground.w2[1, j]
        work_lost += x * ground.w2[2, j]
    return odds, work_won, work_lost


@woven
def _first_guess(ground: Ground, s: Stack) -> tuple[int, int]:
    """Guess how hard it is to prove the mover's win (phi), or the replier's (delta).

    A small network, trained on positions from the frontier of real searches, gives the odds of a
    win and the nodes that it takes. A proof number is the work, divided by the chance of success.
    """
    odds, work_won, work_lost = _ask_network(ground, s)
    phi = _WORK_POWER * max(work_won, 0.0) + math.log1p(math.exp(-odds)) - 1.0
    delta = _WORK_POWER * max(work_lost, 0.0) + math.log1p(math.exp(odds)) - 1.0
    return _as_number(phi), _as_number(delta)


@compiled
def _as_number(log_work: float) -> int:
    return max(1, int(math.exp(min(9.0, max(-3.0, log_work))) * _UNIT))


@woven
def _judge(ground: Ground, s: Stack, d: int, draw_to: int) -> tuple[int, int, int]:
    """Return phi, delta and taint of row d, whose mover cannot win at once.

    Fills the replier's table, row d + 1 of ``after``.
    """
    me = s.side[d]
    s.counter[0] += 1
    free = s.free[d]
    legal = ground.match[s.last[d]] & free
    if legal == _ZERO:
        if free != _ZERO:
            return INFINITY, 0, 0
        return (0, INFINITY, 1) if draw_to == me else (INFINITY, 0, 1)
    safe = legal & ~s.poison[d, 1 - me]
    if safe == _ZERO:
        return INFINITY, 0, 0
    _winning_after(s.stones[d, 1 - me], free, s.after[d + 1])
    live, fewest, inverse = _look_ahead(ground, s, d, safe)
    if fewest == 0:
        return 0, INFINITY, 0
    if live == _ZERO:
        return INFINITY, 0, 0
    _fill_features(s, d, legal, live, fewest, inverse)
    phi, delta = _first_guess(ground, s)
    return phi, delta, 0


# --- The table
#
# Buckets of four entries of two words: the hash, and the data: phi in 28 bits, delta in 28, the
# logarithm of the work in 6, the taint in 1. The hash is a bijection of the position, so an entry
# is the position's or it is not; nothing is left to luck. Threads that share a table take a lock
# for a bucket, because two words cannot be written at once.

LOCKS: Final = 4096


def _generate_try_lock(_: Any, locks: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Turn a 0 into a 1 and tell whether it was a 0, as one step that no thread can split."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
        zero, one = context.get_constant(types.int64, 0), context.get_constant(types.int64, 1)
        found = builder.cmpxchg(pointer, zero, one, "acq_rel", "monotonic")
        return builder.extract_value(found, 1)

    return types.boolean(locks, types.intp), generate


_try_lock = cast("Callable[[Ints, int], bool]", intrinsic(_generate_try_lock))


def _generate_unlock(_: Any, locks: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Write a 0, after everything that was written before it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
        builder.store_atomic(context.get_constant(types.int64, 0), pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(locks, types.intp), generate


_unlock = cast("Callable[[Ints, int], None]", intrinsic(_generate_unlock))


@compiled
def _lock(locks: Ints, bucket: np.uint64) -> int:
    at = int(bucket & u64(LOCKS - 1))
    while not _try_lock(locks, at):
        pass
    return at


@compiled
def _fetch(table: Boards, locks: Ints, key: np.uint64) -> np.uint64:
    """Return the data stored for a hash, or 0: no entry has phi and delta 0."""
    bucket = key & u64(len(table) // 8 - 1)
    base = bucket * u64(8)
    shared = len(locks) > 0
    held = _lock(locks, bucket) if shared else 0
    data = _ZERO
    for i in range(4):
        if table[base + u64(2 * i)] == key:
            data = table[base + u64(2 * i + 1)]
            break
    if shared:
        _unlock(locks, held)
    return data


@compiled
def _keep(
    table: Boards, locks: Ints, key: np.uint64, phi: int, delta: int, work: int, taint: int
) -> None:
    """Store, in place of the same position or of the entry with the least work in the bucket."""
    bucket = key & u64(len(table) // 8 - 1)
    base = bucket * u64(8)
    shared = len(locks) > 0
    held = _lock(locks, bucket) if shared else 0
    slot = base
    least = u64(999)
    for i in range(4):
        at = base + u64(2 * i)
        if table[at] == key:
            slot = at
            break
        data = table[at + _ONE]
        effort = (data >> u64(56)) & u64(63)
        if data != _ZERO:
            effort += _ONE
        if effort < least:
            least = effort
            slot = at
    table[slot] = key
    table[slot + _ONE] = (
        u64(phi) | (u64(delta) << u64(28)) | (u64(work) << u64(56)) | (u64(taint) << u64(62))
    )
    if shared:
        _unlock(locks, held)


@compiled
def _unpack(data: np.uint64) -> tuple[int, int, int]:
    phi = np.int64(data & u64(INFINITY))
    delta = np.int64((data >> u64(28)) & u64(INFINITY))
    return phi, delta, np.int64((data >> u64(62)) & _ONE)


@compiled
def _is_stale(phi: int, taint: int, draw_to: int, parent: int) -> bool:
    """Tell whether a child's proof rests on a draw, and on the other answer to whose it is."""
    return taint == 1 and (phi == 0) == (draw_to == parent)


# --- The search


@woven
def _expand(ground: Ground, s: Stack, d: int, table: Boards, locks: Ints, draw_to: int) -> None:
    """List the live moves of row d with their numbers, from the table or judged now."""
    me = s.side[d]
    s.entered[d] = s.counter[0]
    safe = ground.match[s.last[d]] & s.free[d] & ~s.poison[d, 1 - me]
    live, _, _ = _look_ahead(ground, s, d, safe)
    n = 0
    while live != _ZERO:
        bit = lowest(live)
        live &= live - _ONE
        key = _hashed(s.key[d] + ground.weight[bit] * u64(me + 1), bit)
        data = _fetch(table, locks, key)
        phi, delta, taint = _unpack(data)
        if data == _ZERO or _is_stale(phi, taint, draw_to, me):
            _place(ground, s, d, bit)
            phi, delta, taint = _judge(ground, s, d + 1, draw_to)
            _keep(table, locks, key, phi, delta, 0, taint)
        s.bit[d, n] = bit
        s.hash[d, n] = key
        s.phi[d, n] = phi
        s.delta[d, n] = delta
        s.taint[d, n] = taint
        n += 1
        if delta == 0 and taint == 0:
            break
    s.children[d] = n


@woven
def _summary(s: Stack, d: int) -> tuple[int, int, int, int, int]:
    """Return phi, delta and taint of row d from its children, the best child, the runner-up."""
    phi = INFINITY
    second = INFINITY
    total = 0
    best = 0
    any_taint = 0
    clean_win = False
    for i in range(s.children[d]):
        x = s.delta[d, i]
        if x < phi:
            second = phi
            phi = x
            best = i
        elif x < second:
            second = x
        if x == 0 and s.taint[d, i] == 0:
            clean_win = True
        total += s.phi[d, i]
        any_taint |= s.taint[d, i]
    if phi == 0:
        return 0, INFINITY, 0 if clean_win else 1, best, second
    if phi >= INFINITY:
        return INFINITY, 0, any_taint, best, second
    return phi, min(total, INFINITY - 1), 0, best, second


# Threads share the table and one board of signs: busy[t, x] is set while thread t is somewhere
# below a position whose hash falls on x. To the others that position looks this many times harder,
# so that they go elsewhere. A wrong sign costs time, never truth, so nobody locks them.
_BUSY_FACTOR: Final = 2.0
SIGNS: Final = 4096
# A node is worth asking the table about again only after this many nodes below it.
_REFRESH_AFTER: Final = 50

Signs = npt.NDArray[np.uint8]


@compiled
def _sign(key: np.uint64) -> int:
    return np.int64((key >> u64(40)) & u64(SIGNS - 1))


@compiled
def _is_busy(busy: Signs, thread: int, key: np.uint64) -> bool:
    for t in range(busy.shape[0]):
        if t != thread and busy[t, _sign(key)] != 0:
            return True
    return False


@compiled
def _refresh(s: Stack, d: int, table: Boards, locks: Ints, draw_to: int) -> None:
    """Take over what other threads have found out about the children of row d."""
    me = s.side[d]
    for i in range(s.children[d]):
        if s.phi[d, i] == 0 or s.delta[d, i] == 0:
            continue
        data = _fetch(table, locks, s.hash[d, i])
        phi, delta, taint = _unpack(data)
        if data != _ZERO and not _is_stale(phi, taint, draw_to, me):
            s.phi[d, i] = phi
            s.delta[d, i] = delta
            s.taint[d, i] = taint


@compiled
def _choose_unshared(
    s: Stack, d: int, busy: Signs, thread: int, best: int, second: int
) -> tuple[int, int]:
    """Return the best child and the runner-up's number; a child that others are in is harder."""
    low = float(INFINITY) * _BUSY_FACTOR
    next_low = low
    chosen = best
    for i in range(s.children[d]):
        x = float(s.delta[d, i])
        if s.delta[d, i] >= s.max_phi[d]:
            continue
        if _is_busy(busy, thread, s.hash[d, i]):
            x *= _BUSY_FACTOR
        if x < low:
            next_low = low
            low = x
            chosen = i
        elif x < next_low:
            next_low = x
    bound = max(s.delta[d, chosen] + 1, int(min(next_low, float(INFINITY))))
    return chosen, max(second, min(INFINITY, bound))


@compiled
def search(
    ground: Ground,
    s: Stack,
    table: Boards,
    locks: Ints,
    draw_to: int,
    stop: Signs,
    busy: Signs,
    thread: int,
) -> tuple[int, int, int]:
    """Prove row 0 won (phi 0) or lost (delta 0) for its mover, a draw counted for ``draw_to``.

    Neither is 0 only if ``stop[0]`` was set or the nodes allowed, counter[1], ran out. What was
    learned stays in the table, so a later call goes on from there. The third number is the taint:
    1 if the proof rests on a draw somewhere.
    """
    shared = busy.shape[0] > 1
    d = 0
    s.max_phi[0] = INFINITY
    s.max_delta[0] = INFINITY
    opened = False
    while True:
        if not opened:
            # The only call, because each one is woven in anew and costs seconds to compile.
            _expand(ground, s, d, table, locks, draw_to)
            opened = True
        if shared and s.counter[0] - s.entered[d] > _REFRESH_AFTER:
            _refresh(s, d, table, locks, draw_to)
        phi, delta, taint, best, second = _summary(s, d)
        halt = stop[0] != 0 or s.counter[0] >= s.counter[1]
        done = phi == 0 or delta == 0 or phi >= s.max_phi[d] or delta >= s.max_delta[d]
        if done or halt:
            if d == 0:
                return phi, delta, taint
            work = s.counter[0] - s.entered[d]
            d -= 1
            i = s.best[d]
            log_work = 1 + int(math.log2(work + 1.0))
            _keep(table, locks, s.hash[d, i], phi, delta, log_work, taint)
            s.phi[d, i] = phi
            s.delta[d, i] = delta
            s.taint[d, i] = taint
            if shared:
                busy[thread, _sign(s.hash[d, i])] = 0
            continue
        if shared:
            best, second = _choose_unshared(s, d, busy, thread, best, second)
            busy[thread, _sign(s.hash[d, best])] = 1
        s.best[d] = best
        rest = delta - s.phi[d, best]
        s.max_phi[d + 1] = s.max_delta[d] - rest if s.max_delta[d] < INFINITY else INFINITY
        s.max_delta[d + 1] = min(s.max_phi[d], int(second * (1.0 + _EPSILON)) + 1)
        _place(ground, s, d, s.bit[d, best])
        _winning_after(s.stones[d + 1, s.side[d]], s.free[d + 1], s.after[d + 2])
        d += 1
        opened = False


@compiled
def set_root(
    ground: Ground, s: Stack, playable: np.uint64, black: np.uint64, white: np.uint64, last: int
) -> int:
    """Put a position that goes on into row 0; return +1 or -1 where no search is needed.

    Else ``UNKNOWN``. Counts as one node.
    """
    s.stones[0, 0] = black
    s.stones[0, 1] = white
    free = playable & ~black & ~white
    s.free[0] = free
    s.last[0] = last
    me = (popcount(black) + popcount(white)) & 1
    s.side[0] = me
    key = _ZERO
    for side in range(2):
        stones = s.stones[0, side]
        s.wins[0, side] = winning_board(stones, free)
        s.poison[0, side] = matching(ground.match, s.wins[0, side])
        _winning_after(stones, free, s.after[0 if side == me else 1])
        while stones != _ZERO:
            key += ground.weight[lowest(stones)] * u64(side + 1)
            stones &= stones - _ONE
    s.key[0] = key
    s.counter[0] = 1
    legal = ground.match[last] & free
    if legal & s.wins[0, me] != _ZERO:
        return 1
    safe = legal & ~s.poison[0, 1 - me]
    if safe == _ZERO:
        return -1
    live, fewest, _ = _look_ahead(ground, s, 0, safe)
    if fewest == 0:
        return 1
    return -1 if live == _ZERO else UNKNOWN


# --- How long it takes ----------------------------------------------------------------------


class Memo(NamedTuple):
    """What is known of forced wins: up to which length there is none, from which there is one.

    Beside it the solver's table, which says who wins and so what to try first.
    """

    key: Boards
    none_within: Ints
    some_within: Ints
    table: Boards
    locks: Ints


def new_memo(entries: int, table: Boards, locks: Ints) -> Memo:
    """Make an empty memo with a power of two of entries, beside a solver's table."""
    return Memo(
        np.zeros(entries, dtype=np.uint64),
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=np.int64),
        table,
        locks,
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
    ground: Ground,
    s: Stack,
    memo: Memo,
    attacker: int,
    plies: int,
    stop: Signs,
) -> int:
    """Tell whether the attacker can force a win from row 0 within so many plies: 1 yes, 0 no.

    -1 where ``stop[0]`` was set or the nodes allowed ran out. Moves that the attacker may not
    afford, and defences that lose at once, are left out; all else is tried. The solver's table
    only says in which order.
    """
    moves = np.zeros(_DEPTH, dtype=np.uint64)
    ranks = np.zeros((_DEPTH, 64), dtype=np.int64)
    d = 0
    answer = _open(ground, s, memo, 0, attacker, plies, moves, ranks)
    while True:
        left = plies - d
        if answer == _OPEN and moves[d] == _ZERO:
            # All was tried: the attacker has found nothing, or every defence has failed.
            answer = _NO if s.side[d] == attacker else _YES
        if answer == _OPEN:
            if stop[0] != 0 or s.counter[0] >= s.counter[1]:
                return -1
            bit = _first(moves[d], ranks[d])
            moves[d] &= ~board_of(bit)
            _place(ground, s, d, bit)
            _winning_after(s.stones[d + 1, s.side[d]], s.free[d + 1], s.after[d + 2])
            d += 1
            answer = _open(ground, s, memo, d, attacker, left - 1, moves, ranks)
            continue
        if d == 0:
            return answer
        _remember(s, memo, d, left, answer)
        d -= 1
        settles = _YES if s.side[d] == attacker else _NO
        if answer != settles:
            answer = _OPEN


@compiled
def _open(
    ground: Ground,
    s: Stack,
    memo: Memo,
    d: int,
    attacker: int,
    left: int,
    moves: Boards,
    ranks: Ints,
) -> int:
    """Answer row d at once if possible, else list the moves to try."""
    s.counter[0] += 1
    me = s.side[d]
    free = s.free[d]
    legal = ground.match[s.last[d]] & free
    if legal == _ZERO:
        return _YES if me != attacker and free != _ZERO else _NO
    if legal & s.wins[d, me] != _ZERO:
        return _YES if me == attacker and left > 0 else _NO
    if me == attacker:
        if left > 0 and _can_block(ground.match, legal, free):
            return _YES
        if left < 3:  # noqa: PLR2004 - a move, a reply and the win
            return _NO
        moves[d] = legal & ~s.poison[d, 1 - me]
    else:
        if left < 2:  # noqa: PLR2004 - a reply and the win
            return _NO
        moves[d] = legal & ~s.poison[d, attacker]
    if moves[d] == _ZERO:
        return _NO if me == attacker else _YES
    return _sift(ground, s, memo, d, attacker, left, moves, ranks[d])


@compiled
def _can_block(match: Boards, legal: np.uint64, free: np.uint64) -> bool:
    """Tell whether some move leaves no reply, on a board that is not full then."""
    while legal != _ZERO:
        stone = legal & (~legal + _ONE)
        legal &= legal - _ONE
        rest = free & ~stone
        if rest != _ZERO and match[lowest(stone)] & rest == _ZERO:
            return True
    return False


@compiled
def _sift(
    ground: Ground,
    s: Stack,
    memo: Memo,
    d: int,
    attacker: int,
    left: int,
    moves: Boards,
    rank: Ints,
) -> int:
    """Answer row d by what is known of its moves, and rank those that must be tried."""
    me = s.side[d]
    todo = moves[d]
    while todo != _ZERO:
        bit = lowest(todo)
        todo &= todo - _ONE
        key = _hashed(s.key[d] + ground.weight[bit] * u64(me + 1), bit)
        answer = _recall(memo, key, left - 1)
        if answer == _OPEN:
            data = _fetch(memo.table, memo.locks, key)
            rank[bit] = _stubbornness(ground, s, d, bit)
            if me == attacker:
                rank[bit] -= _SURE if _is_refuted(data) else 0
            else:
                rank[bit] -= _SURE * _none_within(memo, key) + _PER_WORK * _work_of(data)
        elif (answer == _YES) == (me == attacker):
            return answer
        else:
            moves[d] &= ~board_of(bit)
    return _OPEN


@compiled
def _stubbornness(ground: Ground, s: Stack, d: int, bit: int) -> int:
    """Count how many safe replies a move leaves, less what it threatens: the least comes first."""
    me = s.side[d]
    free = s.free[d]
    wins = s.after[d, bit] & free
    unchanged = wins == s.wins[d, me]
    poison = s.poison[d, me] if unchanged else matching(ground.match, wins)
    replies = popcount(ground.match[bit] & free & ~poison)
    return _PER_REPLY * (replies - 2 * popcount(wins))


@compiled
def _first(moves: np.uint64, rank: Ints) -> int:
    """Return the move with the lowest rank."""
    best = lowest(moves)
    moves &= moves - _ONE
    while moves != _ZERO:
        bit = lowest(moves)
        moves &= moves - _ONE
        if rank[bit] < rank[best]:
            best = bit
    return best


@compiled
def _is_refuted(data: np.uint64) -> bool:
    """Tell whether the table's word on a position is that its mover loses."""
    _, delta, _ = _unpack(data)
    return data != _ZERO and delta == 0


@compiled
def _work_of(data: np.uint64) -> int:
    return np.int64((data >> u64(56)) & u64(63))


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
def _remember(s: Stack, memo: Memo, d: int, left: int, answer: int) -> None:
    key = _hashed(s.key[d], s.last[d])
    at = key & u64(len(memo.key) - 1)
    if memo.key[at] != key:
        memo.key[at] = key
        memo.none_within[at] = 0
        memo.some_within[at] = _NEVER
    if answer == _YES:
        memo.some_within[at] = min(memo.some_within[at], left)
    else:
        memo.none_within[at] = max(memo.none_within[at], left)
