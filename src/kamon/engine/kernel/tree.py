"""A growing tree of random games: UCT, with proofs where games end."""

from typing import Final

import numpy as np

from kamon.engine.kernel.boards import DEPTH, board_of, lowest, popcount
from kamon.engine.kernel.compile import ONE, ZERO, Boards, Ints, Record, Records, compiled, u64
from kamon.engine.kernel.endings import is_won
from kamon.engine.kernel.path import UNKNOWN, set_root
from kamon.engine.kernel.playouts import DRAW, next_random, playout

# A node of the tree. ``points`` sums the results for the side that moved into the node. ``mean``
# and ``spread`` (one over the root of the visits) are worked out when a result comes in, because a
# parent asks all its children about them far more often.
NODE: Final = np.dtype(
    [
        ("points", np.float64),
        ("mean", np.float32),
        ("spread", np.float32),
        ("visits", np.int32),
        ("first", np.int32),  # child; NONE before the children are made; ENDED - winner at an end
        ("count", np.int16),  # of children
        ("bit", np.int16),  # that was played
    ],
    align=True,
)
NONE: Final = -1
ENDED: Final = -2
_UNTRIED: Final = np.float32(1e9)
_REFUTED: Final = np.float32(-1e9)


def new_tree(size: int) -> Records:
    """Make the memory for a tree of so many nodes."""
    return np.zeros(size, dtype=NODE)


def new_path() -> Ints:
    """Make the memory for the way from the root to a leaf."""
    return np.zeros(DEPTH, dtype=np.int64)


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
    tree: Records,
    used: int,
    prove: bool,  # noqa: FBT001 - compiled code has no names
    path: Ints,
    forest: Ints,
    contexts: Records,
    rows: Records,
    spaces: Records,
) -> tuple[int, np.uint64]:
    """Go on with a tree search of random playouts; return the nodes used and the generator.

    Node 0 is the position, which must go on. Start with ``used`` 0. A full memory ends the growth
    of the tree, not the search. With ``prove`` the end of a game is taken back as far as it is
    forced, a move that is proven to lose is not tried again, and moves that the solver's
    look-ahead refutes are none. ``contexts``, ``rows`` and ``spaces`` are for that.
    """
    start = 0 if popcount(black) == popcount(white) else 1
    if used == 0:
        _new_node(tree[0], last)
        used = 1
    for _ in range(iterations):
        stones_0, stones_1 = black, white
        node, turn, depth = 0, start, 0
        path[0] = 0
        while tree[node].first > 0:
            node = _best_child(tree, node, exploration)
            stones_0, stones_1 = _placed(stones_0, stones_1, turn, tree[node].bit)
            turn = 1 - turn
            depth += 1
            path[depth] = node
        if tree[node].first == NONE and (tree[node].visits > 0 or node == 0):
            moves = match[tree[node].bit] & playable & ~(stones_0 | stones_1)
            if prove and node > 0:
                bit = np.int64(tree[node].bit)
                verdict = set_root(contexts, rows, spaces, playable, stones_0, stones_1, bit)
                if verdict == UNKNOWN:
                    moves = rows[0].live
                else:
                    tree[node].first = ENDED - (turn if verdict == 1 else 1 - turn)
            if tree[node].first == NONE:
                used = _make_children(moves, node, tree, used)
            if tree[node].first > 0:
                random = next_random(random)
                skip = np.int64((random >> u64(33)) % u64(tree[node].count))
                node = tree[node].first + skip
                stones_0, stones_1 = _placed(stones_0, stones_1, turn, tree[node].bit)
                turn = 1 - turn
                depth += 1
                path[depth] = node
        winner = _ended(match, playable, stones_0, stones_1, turn, tree, node)
        if winner < 0:
            winner, random = playout(
                match, playable, stones_0, stones_1, np.int64(tree[node].bit), random, forest
            )
        elif prove:
            _take_back(tree, path, depth, start)
        _count_result(tree, path, depth, start, winner, prove)
    return used, random


@compiled
def _new_node(node: Record, bit: int) -> None:
    node.points = 0.0
    node.mean = _UNTRIED
    node.spread = np.float32(0.0)
    node.visits = 0
    node.first = NONE
    node.count = 0
    node.bit = bit


@compiled
def _count_result(
    tree: Records,
    path: Ints,
    depth: int,
    start: int,
    winner: int,
    prove: bool,  # noqa: FBT001 - as above
) -> None:
    """Add a result to every node on the path to it."""
    for ply in range(depth + 1):
        node = tree[path[ply]]
        mover = start ^ ((ply + 1) & 1)
        node.visits += 1
        if winner == DRAW:
            node.points += 0.5
        elif winner == mover:
            node.points += 1.0
        node.mean = np.float32(node.points / node.visits)
        node.spread = np.float32(1.0 / np.sqrt(np.float64(node.visits)))
        if prove and node.first == ENDED - (1 - mover):
            node.mean = _REFUTED


@compiled
def _take_back(tree: Records, path: Ints, depth: int, start: int) -> None:
    """Mark the nodes on a path, from its end up, whose winner is proven by their children."""
    for ply in range(depth - 1, 0, -1):
        node = path[ply]
        mover = start ^ (ply & 1)
        winner = _proven_winner(tree, node, mover)
        if winner < 0:
            return
        tree[node].first = ENDED - winner


@compiled
def _proven_winner(tree: Records, node: int, mover: int) -> int:
    """Return who wins at a node if its children prove it, the best for who moves there; else -1."""
    open_children, drawn = 0, False
    first = tree[node].first
    for child in range(first, first + tree[node].count):
        winner = ENDED - tree[child].first
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
def _placed(black: np.uint64, white: np.uint64, turn: int, bit: int) -> tuple[np.uint64, np.uint64]:
    if turn == 0:
        return black | board_of(bit), white
    return black, white | board_of(bit)


@compiled
def _ended(
    match: Boards,
    playable: np.uint64,
    black: np.uint64,
    white: np.uint64,
    turn: int,
    tree: Records,
    node: int,
) -> int:
    """Return who has won where the game is over at a node, and remember it there; else -1."""
    first = np.int64(tree[node].first)
    if first <= ENDED:
        return ENDED - first
    if node == 0 or first > 0 or tree[node].visits > 0:
        return -1
    bit = np.int64(tree[node].bit)
    mover = 1 - turn
    free = playable & ~(black | white)
    winner = -1
    if is_won(black if mover == 0 else white, bit):
        winner = mover
    elif match[bit] & free == ZERO:
        winner = DRAW if free == ZERO else mover
    if winner >= 0:
        tree[node].first = ENDED - winner
    return winner


@compiled
def _best_child(tree: Records, node: int, exploration: float) -> int:
    """Choose by the upper confidence bound; a child never visited comes first."""
    best, best_bound = -1, np.float32(-2e9)
    weight = np.float32(exploration * np.sqrt(np.log(tree[node].visits + 1.0)))
    first = np.int64(tree[node].first)
    for child in range(first, first + tree[node].count):
        bound = tree[child].mean + weight * tree[child].spread
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@compiled
def _make_children(moves: np.uint64, node: int, tree: Records, used: int) -> int:
    """Make a child for each move of a node, if there is room; return the nodes used."""
    if used + popcount(moves) > len(tree):
        return used
    tree[node].first = used
    tree[node].count = popcount(moves)
    while moves != ZERO:
        _new_node(tree[used], lowest(moves))
        used += 1
        moves &= moves - ONE
    return used


@compiled
def copy_subtree(tree: Records, root: int, target: Records) -> int:
    """Copy a node and all below it to the beginning of another tree; return the nodes used.

    Level by level: the children of a node are copied when the node itself has its place, and the
    nodes still to be visited are just those that have been copied and not visited.
    """
    target[0] = tree[root]
    used, at = 1, 0
    while at < used:
        node = target[at]
        first = np.int64(node.first)
        if first > 0:
            node.first = used
            for child in range(first, first + node.count):
                target[used] = tree[child]
                used += 1
        at += 1
    return used
