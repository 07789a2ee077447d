"""Many positions at once, one a row of NumPy arrays: the loops over them are compiled.

Here a position is what ``kamon.env.batch`` keeps of it:

    black, white   the stones as masks of 37 bits, as in ``Position``
    last           the last cell, -1 before the first move
    layout_of      the number of its layout

and a layout is its tokens, numbered symbol by symbol (-1 for the neutral), and twelve boards: the
cells of each symbol, then the cells of each suit. What matches a token is the union of two of them.
Positions that are over are told by their winner and stay as they are.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kamon.engine.kernel.boards import (
    BITS,
    EDGES,
    NO_BIT,
    VALID,
    board_of,
    flood,
    popcount,
    widen,
)
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
from kamon.engine.kernel.endings import RUNS, is_won, pattern
from kamon.engine.kernel.path import UNKNOWN, set_root
from kamon.engine.kernel.playouts import DRAW, pick
from kamon.engine.kernel.proof import search
from kamon.engine.kernel.table import WORDS_PER_BUCKET, WORDS_PER_GROUP
from kamon.engine.kernel.vectors import (
    FREE,
    GAME_ROWS,
    LANES,
    LEGAL,
    MINE,
    RANDOM,
    THEIRS,
    move_at_random,
)
from kamon.engine.kernel.vectors import GROUPS as GROUP_ROWS
from kamon.geometry import BORDER, CELL_COUNT, COORDINATES, OPENING, ROW_LENGTHS

Small = npt.NDArray[np.int8]
Numbers = npt.NDArray[np.int32]


class Rows(NamedTuple):
    """The arrays of a batch: its layouts, its positions, and what follows from these."""

    tokens: Small
    groups: Boards
    layout_of: Numbers
    black: Boards
    white: Boards
    last: Small
    legal: Boards
    winner: Small
    by: Flags


GOES_ON: Final = -1
# How a game ended, as flags, in the order of ``rules.By``.
BY_CONNECTION: Final = 1
BY_LOOP: Final = 2
BY_FULL: Final = 4
BY_BLOCK: Final = 8
# Six stones make the smallest ring, and seven the shortest connection.
_FEWEST_WINNING: Final = 6
# Six symbols, then six suits.
GROUPS: Final = 12
_SUITS: Final = 6

_BIT_OF: Final = np.array([*BITS, NO_BIT], dtype=np.int64)
_OPENING: Final = widen(OPENING)
_BORDER: Final = widen(BORDER)
_PAST_THE_END: Final = u64(CELL_COUNT)


# --- Masks of 37 bits and boards

# For each row of the board: its first cell, its cells as a mask, its first bit.
_STARTS: Final = np.cumsum([0, *ROW_LENGTHS[:-1]]).astype(np.uint64)
_ROWS: Final = np.array([(1 << length) - 1 for length in ROW_LENGTHS], dtype=np.uint64)
_FIRST_BITS: Final = np.array([BITS[int(start)] for start in _STARTS], dtype=np.uint64)


@compiled
def _wide(mask: np.uint64) -> np.uint64:
    """Turn a mask of 37 bits into a board."""
    board = ZERO
    for row in range(len(_ROWS)):
        board |= ((mask >> _STARTS[row]) & _ROWS[row]) << _FIRST_BITS[row]
    return board


@compiled
def _narrow(board: np.uint64) -> np.uint64:
    """Turn a board into a mask of 37 bits."""
    mask = ZERO
    for row in range(len(_ROWS)):
        mask |= ((board >> _FIRST_BITS[row]) & _ROWS[row]) << _STARTS[row]
    return mask


# --- Layouts

_STATE_WORDS: Final = 624
_MIDDLE: Final = 397


def new_generator() -> npt.NDArray[np.uint32]:
    """Make the memory of Python's random generator, for ``shuffle``."""
    return np.zeros(_STATE_WORDS, dtype=np.uint32)


@compiled
def shuffle(seeds: Boards, tokens: Small, state: npt.NDArray[np.uint32]) -> None:
    """Set up a layout for each seed, exactly as ``Layout.shuffled`` does."""
    for i in range(len(seeds)):
        _seed_generator(seeds[i], state)
        used = 0
        for cell in range(CELL_COUNT):
            tokens[i, cell] = cell if cell < CELL_COUNT - 1 else -1
        for last in range(CELL_COUNT - 1, 0, -1):
            # Python makes a float of 53 bits from two words of the generator.
            high = np.int64(_next_word(state, used)) >> 5
            low = np.int64(_next_word(state, used + 1)) >> 6
            used += 2
            chosen = int((high * 67108864.0 + low) / 9007199254740992.0 * (last + 1))
            tokens[i, last], tokens[i, chosen] = tokens[i, chosen], tokens[i, last]


@compiled
def _seed_generator(seed: np.uint64, state: npt.NDArray[np.uint32]) -> None:
    """Seed the Mersenne Twister as ``random.Random`` does with a whole number."""
    low, high = seed & u64(0xFFFFFFFF), seed >> u64(32)
    keys = 2 if high != ZERO else 1
    word = u64(19650218)
    state[0] = word
    for i in range(1, _STATE_WORDS):
        word = (u64(1812433253) * (word ^ (word >> u64(30))) + u64(i)) & u64(0xFFFFFFFF)
        state[i] = word
    i, key = 1, 0
    for _ in range(_STATE_WORDS):
        before = u64(state[i - 1])
        word = u64(state[i]) ^ ((before ^ (before >> u64(30))) * u64(1664525))
        state[i] = (word + (low if key == 0 else high) + u64(key)) & u64(0xFFFFFFFF)
        i, key = i + 1, (key + 1) % keys
        if i == _STATE_WORDS:
            state[0] = state[_STATE_WORDS - 1]
            i = 1
    for _ in range(_STATE_WORDS - 1):
        before = u64(state[i - 1])
        word = u64(state[i]) ^ ((before ^ (before >> u64(30))) * u64(1566083941))
        state[i] = (word - u64(i)) & u64(0xFFFFFFFF)
        i += 1
        if i == _STATE_WORDS:
            state[0] = state[_STATE_WORDS - 1]
            i = 1
    state[0] = u64(0x80000000)


@compiled
def _next_word(state: npt.NDArray[np.uint32], at: int) -> np.uint64:
    """Twist one word of a fresh generator, and return it tempered; a shuffle needs only 72."""
    word = (u64(state[at]) & u64(0x80000000)) | (u64(state[at + 1]) & u64(0x7FFFFFFF))
    twisted = u64(state[at + _MIDDLE]) ^ (word >> ONE)
    if word & ONE != ZERO:
        twisted ^= u64(0x9908B0DF)
    twisted ^= twisted >> u64(11)
    twisted ^= (twisted << u64(7)) & u64(0x9D2C5680)
    twisted ^= (twisted << u64(15)) & u64(0xEFC60000)
    return twisted ^ (twisted >> u64(18))


@compiled
def group_tokens(tokens: Small, groups: Boards) -> None:
    """Collect the cells of each symbol and of each suit, as boards; ``groups`` starts at 0."""
    for i in range(len(tokens)):
        for cell in range(CELL_COUNT):
            token = np.int64(tokens[i, cell])
            if token >= 0:
                stone = board_of(_BIT_OF[cell])
                groups[i, token // _SUITS] |= stone
                groups[i, _SUITS + token % _SUITS] |= stone


@compiled
def _playable(rows: Rows, layout: int) -> np.uint64:
    """Return all cells but the neutral one."""
    board = ZERO
    for symbol in range(_SUITS):
        board |= rows.groups[layout, symbol]
    return board


@compiled
def _following(rows: Rows, layout: int, last: int) -> np.uint64:
    """Return what may follow a cell; the cell itself is among it, and has a stone."""
    if last < 0:
        return _OPENING & _playable(rows, layout)
    token = np.int64(rows.tokens[layout, last])
    return rows.groups[layout, token // _SUITS] | rows.groups[layout, _SUITS + token % _SUITS]


# --- Rules


@compiled
def find_illegal(rows: Rows, chosen: Ints) -> int:
    """Return the first position that goes on whose chosen cell may not be played, or -1."""
    for i in range(len(chosen)):
        cell = chosen[i]
        if rows.winner[i] == GOES_ON and (
            cell < 0 or cell >= CELL_COUNT or (rows.legal[i] >> u64(cell)) & ONE == ZERO
        ):
            return i
    return -1


@compiled
def play(rows: Rows, chosen: Ints) -> None:
    """Play the chosen cell in every position that goes on. Trusts that it is legal."""
    for i in range(len(chosen)):
        if rows.winner[i] != GOES_ON:
            continue
        cell = chosen[i]
        side = popcount(rows.black[i] | rows.white[i]) & 1
        stones = (rows.white[i] if side else rows.black[i]) | (ONE << u64(cell))
        if side:
            rows.white[i] = stones
        else:
            rows.black[i] = stones
        rows.last[i] = cell
        _judge_one(rows, i, stones, side)


@compiled
def _begin(rows: Rows, i: int) -> None:
    """Fill in what the empty board of position i allows."""
    rows.legal[i] = _narrow(_following(rows, np.int64(rows.layout_of[i]), -1))
    rows.winner[i] = GOES_ON
    rows.by[i] = 0


@compiled
def judge(rows: Rows) -> None:
    """Fill in the legal cells and the ends of positions by their stones and last cells."""
    for i in range(len(rows.layout_of)):
        if rows.last[i] < 0:
            _begin(rows, i)
            continue
        side = 1 - (popcount(rows.black[i] | rows.white[i]) & 1)
        stones = rows.white[i] if side else rows.black[i]
        _judge_one(rows, i, stones, side)


@compiled
def restart(rows: Rows) -> None:
    """Begin again where a game is over."""
    for i in range(len(rows.layout_of)):
        if rows.winner[i] != GOES_ON:
            rows.black[i] = ZERO
            rows.white[i] = ZERO
            rows.last[i] = -1
            _begin(rows, i)


@compiled
def _judge_one(rows: Rows, i: int, stones: np.uint64, side: int) -> None:
    """Judge the last placement of position i, by the side with these stones."""
    layout = np.int64(rows.layout_of[i])
    cell = np.int64(rows.last[i])
    rows.legal[i] = ZERO
    if popcount(stones) >= _FEWEST_WINNING:
        how = _how_won(_wide(stones), _BIT_OF[cell])
        if how != 0:
            rows.winner[i] = side
            rows.by[i] = how
            return
    following = _narrow(_following(rows, layout, cell)) & ~(rows.black[i] | rows.white[i])
    if following != ZERO:
        rows.legal[i] = following
        rows.winner[i] = GOES_ON
        rows.by[i] = 0
    elif popcount(rows.black[i] | rows.white[i]) == CELL_COUNT - 1:
        rows.winner[i] = DRAW
        rows.by[i] = BY_FULL
    else:
        rows.winner[i] = side
        rows.by[i] = BY_BLOCK


@compiled
def _how_won(stones: np.uint64, bit: int) -> int:
    """Tell by flags whether the stone on a bit, the last of these, made a connection or a loop."""
    if not is_won(stones, bit):
        return 0
    how = 0
    chain = flood(board_of(bit), stones)
    for edge in range(3):
        if chain & EDGES[edge] != ZERO and chain & EDGES[edge + 3] != ZERO:
            how = BY_CONNECTION
    without = chain & ~board_of(bit)
    rest = without
    while rest != ZERO:
        part = flood(rest & (~rest + ONE), without)
        if RUNS[pattern(part, bit)] > 1:
            how |= BY_LOOP
        rest &= ~part
    return how


@compiled
def pick_random(rows: Rows, random: Boards, chosen: Ints) -> None:
    """Choose one of the legal cells by a random word for each position; -1 where there is none."""
    for i in range(len(rows.legal)):
        chosen[i] = pick(rows.legal[i], random[i]) if rows.legal[i] != ZERO else -1


@compiled
def spread_cells(masks: Boards, cells: Flags) -> None:
    """Write masks as rows of 37 bytes, 0 or 1."""
    for i in range(len(masks)):
        mask = masks[i]
        for cell in range(CELL_COUNT):
            cells[i, cell] = (mask >> u64(cell)) & ONE


@compiled
def find_faulty(rows: Rows) -> int:
    """Return the first position that no game can show, by the tests of ``rules.check``, or -1."""
    for i in range(len(rows.layout_of)):
        layout, cell = np.int64(rows.layout_of[i]), np.int64(rows.last[i])
        stones = rows.black[i] | rows.white[i]
        ahead = popcount(rows.black[i]) - popcount(rows.white[i])
        if (
            rows.black[i] & rows.white[i] != ZERO
            or ahead < 0
            or ahead > 1
            or stones >> _PAST_THE_END != ZERO
        ):
            return i
        for at in range(CELL_COUNT):
            if rows.tokens[layout, at] < 0 and (stones >> u64(at)) & ONE != ZERO:
                return i
        if cell < 0:
            if cell != -1 or stones != ZERO:
                return i
            continue
        mover, other = (
            (rows.black[i], rows.white[i]) if ahead == 1 else (rows.white[i], rows.black[i])
        )
        if cell >= CELL_COUNT or (mover >> u64(cell)) & ONE == ZERO:
            return i
        without = _wide(mover) & ~board_of(_BIT_OF[cell])
        if _holds_win(without) or _holds_win(_wide(other)):
            return i
    return -1


@compiled
def _holds_win(stones: np.uint64) -> bool:
    """Tell whether stones join opposite edges or enclose a cell that is not theirs."""
    for edge in range(3):
        if flood(EDGES[edge], stones) & EDGES[edge + 3] != ZERO:
            return True
    others = VALID & ~stones
    return flood(_BORDER, others) != others


# --- Observations

# Where a cell is on the square grid of letters and rows.
_PLACE: Final = np.array([7 * row + letter for letter, row in COORDINATES], dtype=np.int64)


@compiled
def observe(rows: Rows, planes: Small) -> None:
    """Fill in the planes of each position, which are 0 (``kamon.env.planes`` lists them)."""
    for i in range(len(rows.layout_of)):
        layout = np.int64(rows.layout_of[i])
        side = popcount(rows.black[i] | rows.white[i]) & 1
        mine, theirs = (rows.white[i], rows.black[i]) if side else (rows.black[i], rows.white[i])
        for cell in range(CELL_COUNT):
            place = _PLACE[cell]
            planes[i, place, 0] = (mine >> u64(cell)) & ONE
            planes[i, place, 1] = (theirs >> u64(cell)) & ONE
            planes[i, place, 3] = 1 - side
            planes[i, place, 4] = 1
            token = np.int64(rows.tokens[layout, cell])
            if token >= 0:
                planes[i, place, 5 + token // _SUITS] = 1
                planes[i, place, 11 + token % _SUITS] = 1
        if rows.last[i] >= 0:
            planes[i, _PLACE[np.int64(rows.last[i])], 2] = 1


# --- Random games


@compiled
def _stream(seed: np.uint64, number: int) -> np.uint64:
    """Return the state from which random numbers begin: Steele's SplitMix64, and never 0."""
    state = seed + u64(number + 1) * u64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> u64(27))) * u64(0x94D049BB133111EB)
    state ^= state >> u64(31)
    return state if state != ZERO else ONE


def new_games() -> Boards:
    """Make the memory for eight random games at once."""
    return np.zeros((GAME_ROWS, LANES), dtype=np.uint64)


@compiled
def play_out(
    rows: Rows,
    count: int,
    seed: np.uint64,
    tally: Ints,
    stop: Flags,
    games: Boards,
    playing: Ints,
) -> None:
    """Play random games from each position: Black's wins, White's wins and draws of each.

    Each game has random numbers of its own, by its number alone. Eight are played at a time, and
    when one ends, the next takes its place. ``stop[0]`` ends the work. ``games`` is working space,
    and so is ``playing``: for each of the eight the position, or -1, and who is to move.
    """
    for i in range(len(rows.layout_of)):
        if rows.winner[i] != GOES_ON:
            tally[i, rows.winner[i]] += count
    total = len(rows.layout_of) * count
    started = 0
    running = 0
    for lane in range(LANES):
        playing[0, lane] = -1
        games[LEGAL, lane] = ZERO
    done = (1 << LANES) - 1
    drawn = 0
    while stop[0] == 0:
        for lane in range(LANES):
            if (done >> lane) & 1 == 0:
                continue
            position = playing[0, lane]
            if position >= 0:
                # The sides take turns, so who moved last is the other one.
                won_by = DRAW if (drawn >> lane) & 1 else playing[1, lane]
                tally[position, won_by] += 1
                playing[0, lane] = -1
                running -= 1
            while started < total and rows.winner[started // count] != GOES_ON:
                started += count
            if started < total:
                _start_game(rows, started // count, games, lane)
                games[RANDOM, lane] = _stream(seed, started)
                playing[0, lane] = started // count
                # Swapped at every move, the first included.
                side = popcount(rows.black[started // count] | rows.white[started // count]) & 1
                playing[1, lane] = 1 - side
                started += 1
                running += 1
            else:
                games[LEGAL, lane] = ZERO
        if running == 0:
            return
        done, drawn = move_at_random(games)
        for lane in range(LANES):
            playing[1, lane] = 1 - playing[1, lane]


@compiled
def _start_game(rows: Rows, i: int, games: Boards, lane: int) -> None:
    """Put position i into a lane."""
    layout = np.int64(rows.layout_of[i])
    stones_0, stones_1 = _wide(rows.black[i]), _wide(rows.white[i])
    side = popcount(stones_0 | stones_1) & 1
    games[MINE, lane] = stones_1 if side else stones_0
    games[THEIRS, lane] = stones_0 if side else stones_1
    games[FREE, lane] = _playable(rows, layout) & ~(stones_0 | stones_1)
    games[LEGAL, lane] = _wide(rows.legal[i])
    for group in range(GROUPS):
        games[GROUP_ROWS + group, lane] = rows.groups[layout, group]


@compiled
def _fill_match(rows: Rows, layout: int, match: Boards) -> None:
    """Fill in for each bit what may follow it, as ``boards.match_table`` does."""
    for cell in range(CELL_COUNT):
        bit = _BIT_OF[cell]
        if rows.tokens[layout, cell] < 0:
            match[bit] = ZERO
        else:
            match[bit] = _following(rows, layout, cell) & ~board_of(bit)
    match[NO_BIT] = _following(rows, layout, -1)


# --- Exact values

UNPROVEN: Final = UNKNOWN
# A table that is much larger than the search costs more to clear than it saves. So each layout
# starts with the smallest, and the table grows by this factor when a search has filled it.
_GROWTH: Final = 8
_NODES_PER_GROUP: Final = WORDS_PER_GROUP // WORDS_PER_BUCKET * 8


@compiled
def solve(
    rows: Rows,
    contexts: Records,
    path: Records,
    spaces: Records,
    table: Boards,
    stop: Flags,
    busy: Flags,
    nodes: int,
    values: Small,
) -> None:
    """Find the exact value of each position for its side to move, within so many nodes each.

    What is not proven then, or when ``stop[0]`` was set, is ``UNPROVEN``. ``table`` must be empty.
    """
    known = -1
    size = 1
    for i in range(len(rows.layout_of)):
        values[i] = UNPROVEN
        if rows.winner[i] != GOES_ON:
            values[i] = 0 if rows.winner[i] == DRAW else -1
            continue
        if stop[0] != 0:
            continue
        layout = np.int64(rows.layout_of[i])
        if layout != known:
            _fill_context(rows, layout, contexts[0])
            _clear(table, size)
            known = layout
            size = 1
        playable = _playable(rows, layout)
        stones_0, stones_1 = _wide(rows.black[i]), _wide(rows.white[i])
        bit = _BIT_OF[np.int64(rows.last[i])]
        value = set_root(contexts, path, spaces, playable, stones_0, stones_1, bit)
        used, draw_to = 1, 1
        while value == UNPROVEN:
            whole = size * WORDS_PER_GROUP >= len(table)
            allowed = nodes - used
            spaces[0].nodes_allowed = allowed if whole else min(allowed, size * _NODES_PER_GROUP)
            phi, delta, taint = search(
                contexts, path, spaces, table[: size * WORDS_PER_GROUP], 0, draw_to, stop, busy, 0
            )
            used += spaces[0].nodes
            if phi == 0 or delta == 0:
                won_by = path[0].side if phi == 0 else 1 - path[0].side
                if taint == 0 or won_by != draw_to:
                    value = 1 if phi == 0 else -1
                elif draw_to == 0:
                    value = 0
                draw_to = 0
            elif stop[0] != 0 or used >= nodes:
                break
            else:
                _clear(table, size)
                size = min(size * _GROWTH, len(table) // WORDS_PER_GROUP)
            if value == UNPROVEN:
                set_root(contexts, path, spaces, playable, stones_0, stones_1, bit)
        values[i] = value


@compiled
def _clear(table: Boards, size: int) -> None:
    """Empty so many groups at the beginning of a table."""
    for word in range(size * WORDS_PER_GROUP):
        table[word] = ZERO


@compiled
def _fill_context(rows: Rows, layout: int, context: Record) -> None:
    """Write down what searches need of a layout, as ``path.new_context`` does."""
    _fill_match(rows, layout, context.match)
    weight = ONE
    for cell in range(CELL_COUNT):
        if rows.tokens[layout, cell] >= 0:
            context.weight[_BIT_OF[cell]] = weight
            weight *= u64(3)
