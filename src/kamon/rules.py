"""The rules: what may be played, and when the game is over, with the cells that prove it.

This is the implementation for people to read. After each placement only the side that placed can
have won, and only through the stone just placed: no stone ever leaves the board, so a chain or
a loop without that stone would have ended the game before.
"""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise, product
from typing import Final

from kamon.errors import Defect, IllegalMoveError, PositionError
from kamon.geometry import (
    ALL,
    AROUND,
    BORDER,
    CELL_NAMES,
    CELLS,
    COORDINATES,
    NEIGHBOURS,
    PAIR_MASKS,
    Pair,
    cells,
    mask_of,
    spread,
)
from kamon.position import Position, Side
from kamon.tokens import Token

# The smallest ring has so many stones; the shortest chain has seven.
_FEWEST_TO_WIN: Final = 6


class By(Enum):
    """How a game ends on the board, in the order in which the rules look."""

    CONNECTION = "connection"
    LOOP = "loop"
    FULL = "full"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Link:
    """Two opposite edges joined: a shortest chain from the first edge of the pair to the second."""

    pair: Pair
    chain: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game: who won (None for a draw), how, and the cells that show it.

    ``links`` has every pair of edges that is joined. ``ring`` is a shortest ring, from the stone
    that closed it, and ``enclosed`` every cell inside it. ``needed`` is what the blocked side
    would have had to match. Of several equally short answers the one with the lower cells is
    given, read in order, so that the answer is always the same.
    """

    winner: Side | None
    by: tuple[By, ...]
    links: tuple[Link, ...] = ()
    ring: tuple[int, ...] = ()
    enclosed: tuple[int, ...] = ()
    needed: Token | None = None


def legal_mask(position: Position) -> int:
    """Return the cells that the side to move may play: none when the game is over."""
    return 0 if _is_won(position) else _playable_mask(position)


def legal_cells(position: Position) -> list[int]:
    """List the cells of ``legal_mask``, lowest first."""
    return list(cells(legal_mask(position)))


def play(position: Position, cell: int) -> Position:
    """Play a cell, or say in an ``IllegalMoveError`` why that is not allowed."""
    if cell not in CELLS or not legal_mask(position) >> cell & 1:
        raise IllegalMoveError(_why_illegal(position, cell))
    return position.after(cell)


def outcome(position: Position) -> Outcome | None:
    """Judge the last placement: None while the game goes on."""
    if position.last is None:
        return None
    if _is_won(position):
        return _describe_win(position, position.last)
    if _playable_mask(position):
        return None
    if not position.free:
        return Outcome(None, (By.FULL,))
    needed = position.layout.tokens[position.last]
    return Outcome(position.turn.other, (By.BLOCK,), needed=needed)


def winning_cells(position: Position, side: Side) -> list[int]:
    """List the free cells on which one more stone would give a side a connection or a loop.

    Whether the side may play there now is another question.
    """
    mine = position.stones(side)
    if mine.bit_count() + 1 < _FEWEST_TO_WIN:
        return []
    return [cell for cell in cells(position.free) if _wins(mine | 1 << cell, cell)]


def replies(position: Position) -> dict[int, int]:
    """Return for each legal cell the mask of what playing it would allow the opponent.

    Nothing where it ends the game.
    """
    mine = position.stones(position.turn)
    free = position.free
    return {
        cell: 0
        if _wins(mine | 1 << cell, cell)
        else position.layout.matching[cell] & free & ~(1 << cell)
        for cell in cells(legal_mask(position))
    }


@dataclass(frozen=True, slots=True)
class Dangers:
    """Who could win at once: by which moves, on which cells, and after which moves.

    ``winning`` are legal moves that win now. ``losing`` are legal moves that let the opponent win
    with the next one, and ``threats`` the cells on which they would.
    """

    winning: tuple[int, ...]
    losing: tuple[int, ...]
    threats: tuple[int, ...]


def dangers(position: Position) -> Dangers:
    """Look one move ahead for both sides."""
    allowed = replies(position)
    free = position.free
    theirs = mask_of(winning_cells(position, position.turn.other))
    only_after = _only_replies(position)
    winning, losing, threats = [], [], 0
    for cell, answers in allowed.items():
        left = free & ~(1 << cell)
        if not answers:
            # It has won, or leaves nothing to play; the last token of all makes a draw.
            winning += (
                [cell] if left or _wins(position.stones(position.turn) | 1 << cell, cell) else []
            )
            continue
        # A reply that matched nothing but my cell blocks me, unless it fills the board.
        blocking = only_after.get(cell, 0) if left & (left - 1) else 0
        # A stone of mine never adds a cell with which the opponent wins.
        fatal = answers & (theirs | blocking)
        threats |= fatal
        losing += [cell] if fatal else []
    return Dangers(tuple(winning), tuple(losing), tuple(cells(threats)))


def _only_replies(position: Position) -> dict[int, int]:
    """Return for each free cell the mask of those that match it and no other free cell."""
    free, matching = position.free, position.layout.matching
    found: dict[int, int] = {}
    for cell in cells(free):
        matched = matching[cell] & free
        if matched and not matched & (matched - 1):
            only = matched.bit_length() - 1
            found[only] = found.get(only, 0) | 1 << cell
    return found


def perft(position: Position, depth: int) -> int:
    """Count the legal sequences of exactly ``depth`` plies."""
    if depth == 0:
        return 1
    mask = legal_mask(position)
    if depth == 1:
        return mask.bit_count()
    return sum(perft(position.after(cell), depth - 1) for cell in cells(mask))


def check(position: Position) -> Position:
    """Pass on a position from outside, or raise a ``PositionError`` with all its defects.

    Refused is what no game can show at a glance: wrong counts, a stone on the neutral, a last
    cell that the side which just moved did not play, and a win that the last stone did not make.
    Whether the position could come about in a game is not checked further.
    """
    defects = _stone_defects(position) or _win_defects(position)
    if defects:
        raise PositionError(defects)
    return position


# --- What may be played ---------------------------------------------------------------------


def _playable_mask(position: Position) -> int:
    if position.last is None:
        return position.layout.opening
    return position.layout.matching[position.last] & ~(position.black | position.white)


def _why_illegal(position: Position, cell: int) -> Defect:
    if isinstance(cell, str):
        raise TypeError(f"a cell is a number, not {cell!r}: use parse_cell({cell!r})")
    if cell not in CELLS:
        return Defect("no-such-cell", {"number": cell, "limit": CELLS[-1]})
    name = CELL_NAMES[cell]
    if outcome(position) is not None:
        return Defect("game-over", {"cell": name})
    if position.owner(cell) is not None:
        return Defect("occupied", {"cell": name})
    if cell == position.layout.neutral:
        return Defect("neutral-cell", {"cell": name})
    if position.last is None:
        on_border = BORDER >> cell & 1
        return Defect("corner-start" if on_border else "inside-start", {"cell": name})
    tokens = position.layout.tokens
    values = {"token": str(tokens[cell]), "last_token": str(tokens[position.last])}
    return Defect("no-match", {"cell": name, "last": CELL_NAMES[position.last], **values})


# --- Whether the last stone has won ---------------------------------------------------------


def _runs(cell: int, mine: int) -> int:
    """Count the separate groups of my stones met on a walk around a cell."""
    ring = [other is not None and bool(mine >> other & 1) for other in AROUND[cell]]
    return sum(here and not before for before, here in pairwise([ring[-1], *ring]))


def _closing_patterns(cell: int) -> frozenset[int]:
    neighbours = [1 << other for other in cells(NEIGHBOURS[cell])]
    patterns = (sum(kept) for kept in product(*((0, bit) for bit in neighbours)))
    return frozenset(pattern for pattern in patterns if _runs(cell, pattern) > 1)


# For each cell the sets of my stones around it with which a stone there may close a loop. Where
# they form a single run, so do the cells around it that are not mine (what lies off the board
# among them), and whoever had a way out through this cell has one along that run.
_MAY_CLOSE: Final = tuple(_closing_patterns(cell) for cell in CELLS)


def _is_won(position: Position) -> bool:
    """Tell whether the last stone has made a connection or a loop."""
    if position.last is None:
        return False
    return _wins(position.just_moved, position.last)


# Whoever plays a game asks thrice in a row: what is legal, whether a move is, how it ended.
@lru_cache(maxsize=1 << 12)
def _wins(mine: int, last: int) -> bool:
    """Tell whether the stone on ``last`` makes a connection or a loop of my stones."""
    touching = mine & NEIGHBOURS[last]
    if not touching:
        return False
    chain = spread(1 << last, mine)
    for _, one, other in PAIR_MASKS:
        if chain & one and chain & other:
            return True
    return touching in _MAY_CLOSE[last] and _enclosed_by(mine) != 0


def _enclosed_by(walls: int) -> int:
    """Return the cells, walls apart, that have no way to the border that avoids the walls."""
    open_cells = ALL & ~walls
    return open_cells & ~spread(BORDER & open_cells, open_cells)


# --- The proof of a win ---------------------------------------------------------------------


def _describe_win(position: Position, last: int) -> Outcome:
    mine = position.just_moved
    chain = spread(1 << last, mine)
    links = tuple(
        Link(pair, _shortest_chain(chain, one, other))
        for pair, one, other in PAIR_MASKS
        if chain & one and chain & other
    )
    ring = _shortest_ring(mine, last)
    enclosed = tuple(cells(_enclosed_by(mask_of(ring)))) if ring else ()
    by = (By.CONNECTION,) * bool(links) + (By.LOOP,) * bool(ring)
    return Outcome(position.turn.other, by, links, ring, enclosed)


def _shortest_chain(stones: int, start: int, goal: int) -> tuple[int, ...]:
    """Return the first, in cell order, of the shortest ways over stones from start to goal."""
    # Layers of equal distance from the goal, until one touches the start: then walk down them.
    layers = [stones & goal]
    seen = layers[0]
    while not layers[-1] & start:
        layers.append(_around(layers[-1]) & stones & ~seen)
        seen |= layers[-1]
    allowed, path = start, []
    for layer in reversed(layers):
        cell = next(cells(layer & allowed))
        path.append(cell)
        allowed = NEIGHBOURS[cell]
    return tuple(path)


def _around(mask: int) -> int:
    reached = 0
    for cell in cells(mask):
        reached |= NEIGHBOURS[cell]
    return reached


def _shortest_ring(mine: int, last: int) -> tuple[int, ...]:
    """Return a shortest ring of my stones that encloses a cell that is not mine, or nothing.

    A ring around any cell of a connected region of cells that are not mine goes around all of it,
    so it is enough to look for the shortest ring around one cell of each region.
    """
    rings = []
    left = _enclosed_by(mine)
    while left:
        region = spread(left & -left, left)
        rings.append(_shortest_ring_around(next(cells(region)), mine, last))
        left &= ~region
    return min(rings, key=lambda ring: (len(ring), ring), default=())


def _shortest_ring_around(inside: int, mine: int, last: int) -> tuple[int, ...]:
    """Return the first, in cell order, of the shortest rings through ``last`` around a cell.

    A closed walk goes around ``inside`` exactly when it crosses a ray from there to the border an
    odd number of times. So look for the shortest walk from (last, crossed evenly) to (last,
    crossed oddly). It visits no cell twice: else it would fall into two closed walks, one of
    them odd, and shorter.
    """
    distance = {(last, True): 0}
    queue = [(last, True)]
    for cell, odd in queue:
        for step in cells(NEIGHBOURS[cell] & mine):
            state = (step, odd ^ _crosses(cell, step, inside))
            if state not in distance:
                distance[state] = distance[cell, odd] + 1
                queue.append(state)
    cell, odd, ring = last, False, []
    for left in range(distance[last, False] - 1, -1, -1):
        ring.append(cell)
        cell, odd = next(
            (step, odd ^ _crosses(cell, step, inside))
            for step in cells(NEIGHBOURS[cell] & mine)
            if distance.get((step, odd ^ _crosses(cell, step, inside))) == left
        )
    return tuple(ring)


def _crosses(cell: int, step: int, inside: int) -> bool:
    """Tell whether a step crosses the ray that runs left from a cell, just below its row's middle.

    Those are the steps between that row and the next one down, at a cell further to the left.
    """
    letter, row = min(COORDINATES[cell], COORDINATES[step], key=lambda at: at[1])
    lower_row = max(COORDINATES[cell][1], COORDINATES[step][1])
    inside_letter, inside_row = COORDINATES[inside]
    return row == inside_row and lower_row == row + 1 and letter < inside_letter


# --- Positions from outside -----------------------------------------------------------------


def _stone_defects(position: Position) -> list[Defect]:
    defects = []
    black, white = position.black.bit_count(), position.white.bit_count()
    if position.black & position.white:
        defects.append(Defect("shared-cell"))
    if (position.black | position.white) & ~ALL:
        defects.append(Defect("stone-off-board"))
    if black - white not in (0, 1):
        defects.append(Defect("stone-counts", {"black": black, "white": white}))
    neutral = position.layout.neutral
    if position.owner(neutral) is not None:
        defects.append(Defect("neutral-stone", {"cell": CELL_NAMES[neutral]}))
    return defects or _last_defects(position)


def _last_defects(position: Position) -> list[Defect]:
    if position.last is None:
        return [Defect("no-last")] if position.ply else []
    if position.last not in CELLS:
        return [Defect("last-off-board", {"number": position.last})]
    mover = position.turn.other
    if position.owner(position.last) is mover:
        return []
    values = {"cell": CELL_NAMES[position.last], "side": mover.value}
    return [Defect("last-not-theirs", values)]


def _win_defects(position: Position) -> list[Defect]:
    if position.last is None:
        return []
    defects = []
    waiting = position.stones(position.turn)
    if _joined(waiting) or _enclosed_by(waiting):
        defects.append(Defect("waiting-side-won", {"side": position.turn.value}))
    mine = position.just_moved
    before = mine & ~(1 << position.last)
    if _joined(mine) & _joined(before) or _enclosed_by(mine) & _enclosed_by(before):
        values = {"side": position.turn.other.value, "cell": CELL_NAMES[position.last]}
        defects.append(Defect("early-win", values))
    return defects


def _joined(stones: int) -> set[Pair]:
    return {pair for pair, one, other in PAIR_MASKS if spread(stones & one, stones) & other}
