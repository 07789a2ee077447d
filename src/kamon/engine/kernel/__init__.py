"""The compiled twin of the rules, and the searches on it: the only package that imports numba.

compile     how functions are compiled, and where the result is kept
boards      sets of cells as 64-bit words
endings     connections and loops
vectors     the same for many cells at once
playouts    counting, random games
tree        a growing tree of random games
path        positions on a search path
guess       the network's first guess of a proof number
table       what is known, by position
proof       the search that proves who wins
lengths     the search that tells how soon
batches     many positions at once (kamon.env.batch)
"""

from kamon.engine.kernel.boards import (
    BITS,
    CELL_OF,
    arguments,
    match_table,
    narrow,
    stones_of,
    widen,
)
from kamon.engine.kernel.compile import CACHED, needs_compiling, note_compiled
from kamon.engine.kernel.endings import is_won, winning_board
from kamon.engine.kernel.guess import describe
from kamon.engine.kernel.lengths import Memo, forced, new_memo
from kamon.engine.kernel.path import (
    FEATURES,
    HIDDEN,
    UNKNOWN,
    Stack,
    new_context,
    new_stack,
    set_root,
)
from kamon.engine.kernel.playouts import DRAW as DRAWN
from kamon.engine.kernel.playouts import new_forest, perft, playouts, seeded
from kamon.engine.kernel.proof import MARKS, known_moves, search
from kamon.engine.kernel.table import WORDS_PER_GROUP
from kamon.engine.kernel.tree import ENDED, copy_subtree, new_path, new_tree, uct

__all__ = [
    "BITS",
    "CACHED",
    "CELL_OF",
    "DRAWN",
    "ENDED",
    "FEATURES",
    "HIDDEN",
    "MARKS",
    "UNKNOWN",
    "WORDS_PER_GROUP",
    "Memo",
    "Stack",
    "arguments",
    "copy_subtree",
    "describe",
    "forced",
    "is_won",
    "known_moves",
    "match_table",
    "narrow",
    "needs_compiling",
    "new_context",
    "new_forest",
    "new_memo",
    "new_path",
    "new_stack",
    "new_tree",
    "note_compiled",
    "perft",
    "playouts",
    "search",
    "seeded",
    "set_root",
    "stones_of",
    "uct",
    "widen",
    "winning_board",
]
