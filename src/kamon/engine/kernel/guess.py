"""The first guess: how hard it is to prove a position won or lost, by a small network."""

from typing import Final

import numpy as np

from kamon.engine.kernel.boards import EDGES, popcount
from kamon.engine.kernel.compile import Record, Records, compiled, inlined
from kamon.engine.kernel.path import look_ahead, threats
from kamon.engine.kernel.vectors import ask_network, link_distances

_LOG: Final = np.log(np.maximum(np.arange(64), 1)).astype(np.float32)
_MOST_PAIRS: Final = 60
_MOST_WINS: Final = 4
_NONE_COUNTED: Final = 60
# Below 1: the search finds cheaper ways than solving every frontier position by itself.
_WORK_POWER: Final = np.float32(0.7)
# First guesses are real numbers; this many units make one.
UNIT: Final = np.float32(4.0)
_LEAST: Final = np.float32(np.exp(-3.0))
_MOST: Final = np.float32(np.exp(9.0))


@inlined
def fill_features(
    space: Record,
    row: Record,
    replier: Record,
    legal: np.uint64,
    live: np.uint64,
    fewest: int,
    inverse: float,
    his_makers: np.uint64,
    his_pairs: int,
) -> None:
    """Write down what a position looks like, for the network (docs/engine.md has the list)."""
    me = row.side
    other = 1 - me
    free = row.free
    f = space.features
    makers, pairs = threats(space, row, free, row.wins[me])
    link_distances(
        row.chain,
        row.around,
        row.chains,
        row.rooted,
        replier.chain,
        replier.around,
        replier.chains,
        replier.rooted,
        EDGES,
        free,
        space.distances,
    )
    f[0] = _LOG[popcount(live)]
    f[1] = _LOG[1 + popcount(free & ~row.poison[other])]
    f[2] = _LOG[1 + popcount(free & ~row.poison[me])]
    for side in range(2):
        a = np.int64(space.distances[4 * side])
        b = np.int64(space.distances[4 * side + 1])
        c = np.int64(space.distances[4 * side + 2])
        low = min(a, min(b, c))
        high = max(a, max(b, c))
        f[3 + side] = np.float32(low)
        f[5 + side] = np.float32(a + b + c - low - high)
        f[7 + side] = np.float32(high)
    f[9] = np.float32(min(_MOST_WINS, popcount(row.wins[me])))
    f[10] = np.float32(min(_MOST_WINS, popcount(row.wins[other])))
    f[11] = np.float32(0.1 * popcount(free))
    f[12] = _LOG[1 + popcount(makers)]
    f[13] = _LOG[1 + popcount(his_makers)]
    f[14] = _LOG[popcount(legal)]
    f[15] = np.float32(me)
    f[16] = _LOG[1 + popcount(makers & live)]
    f[17] = _LOG[1 + popcount(his_makers & ~row.poison[me])]
    f[18] = _LOG[fewest] if fewest < _NONE_COUNTED else np.float32(0.0)
    f[19] = _log(np.float32(0.1 + inverse))
    f[20] = _LOG[1 + min(_MOST_PAIRS, pairs)]
    f[21] = _LOG[1 + min(_MOST_PAIRS, his_pairs)]


@compiled
def describe(contexts: Records, path: Records, spaces: Records) -> None:
    """Write the features of row 0 into the working space, after ``set_root`` left it open."""
    context, space = contexts[0], spaces[0]
    row, replier = path[0], path[1]
    legal = context.match[row.last] & row.free
    other = 1 - row.side
    safe = legal & ~row.poison[other]
    makers, pairs = threats(space, replier, row.free, row.wins[other])
    live, fewest, inverse = look_ahead(context, space, row, replier, safe, makers)
    fill_features(space, row, replier, legal, live, fewest, inverse, makers, pairs)


@inlined
def first_guess(context: Record, space: Record) -> tuple[int, int]:
    """Guess how hard it is to prove the mover's win (phi), or the replier's (delta).

    The network gives the odds of a win and the nodes that either proof takes. A proof number is
    the work, divided by the chance of success.
    """
    odds, won, lost = ask_network(space.features, context.w1, context.b1, context.w2, context.b2)
    one = np.float32(1.0)
    ratio = _exp(min(np.float32(30.0), max(np.float32(-30.0), odds)))
    phi = _work(won) * (one + one / ratio)
    delta = _work(lost) * (one + ratio)
    return _as_number(phi), _as_number(delta)


@compiled
def _work(log_nodes: np.float32) -> np.float32:
    none = np.float32(0.0)
    return _exp(min(np.float32(40.0), _WORK_POWER * max(none, log_nodes)) - np.float32(1.0))


@compiled
def _as_number(work: np.float32) -> int:
    return max(1, int(min(_MOST, max(_LEAST, work)) * UNIT))


# Polynomials instead of the system's functions: as exact as needed, quicker, and the same on every
# machine.


@compiled
def _exp(x: np.float32) -> np.float32:
    """Return e to the power of a 32-bit float between -80 and 80, to four digits."""
    power = x * np.float32(1.44269504)
    whole = np.floor(power)
    rest = power - whole
    y = np.float32(0.00133336)
    y = y * rest + np.float32(0.00961813)
    y = y * rest + np.float32(0.05550411)
    y = y * rest + np.float32(0.24022651)
    y = y * rest + np.float32(0.69314718)
    y = y * rest + np.float32(1.0)
    bits = np.float32(y).view(np.int32) + (np.int32(whole) << np.int32(23))
    return np.int32(bits).view(np.float32)


@compiled
def _log(x: np.float32) -> np.float32:
    """Return the natural logarithm of a 32-bit float above 0, to four digits."""
    bits = np.float32(x).view(np.int32)
    power = np.int32(bits >> np.int32(23)) - np.int32(127)
    m = np.int32((bits & np.int32(0x7FFFFF)) | np.int32(0x3F800000)).view(np.float32)
    t = (m - np.float32(1.0)) / (m + np.float32(1.0))
    square = t * t
    y = np.float32(2.0 / 7) * square + np.float32(2.0 / 5)
    y = y * square + np.float32(2.0 / 3)
    y = y * square + np.float32(2.0)
    return y * t + np.float32(power) * np.float32(0.69314718)
