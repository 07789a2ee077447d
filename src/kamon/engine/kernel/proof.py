"""Depth-first proof-number search: who wins, with certainty."""

from typing import Final

import numpy as np

from kamon.engine.kernel.boards import board_of, lowest
from kamon.engine.kernel.compile import (
    ONE,
    ZERO,
    Boards,
    Flags,
    Record,
    Records,
    compiled,
    inlined,
    u64,
)
from kamon.engine.kernel.guess import fill_features, first_guess
from kamon.engine.kernel.path import (
    add_to_chains,
    child_hash,
    fill_after,
    look_ahead,
    place,
    threats,
)
from kamon.engine.kernel.table import (
    INFINITY,
    announce,
    fetch,
    keep,
    pack_live,
    unpack,
    unpack_live,
)

# How far past the second-best child a child may be searched before its siblings have a turn.
_EPSILON: Final = 0.02


@inlined
def _judge(
    context: Record,
    space: Record,
    parent: Record,
    row: Record,
    replier: Record,
    draw_to: int,
) -> tuple[int, int, int, np.uint64]:
    """Return phi, delta, taint and live moves of a row whose mover cannot win at once.

    The replier has just placed ``row.last``; its chains and its table go into the next row.
    """
    me = row.side
    space.nodes += 1
    free = row.free
    legal = context.match[row.last] & free
    if legal == ZERO:
        if free != ZERO:
            return INFINITY, 0, 0, ZERO
        return (0, INFINITY, 1, ZERO) if draw_to == me else (INFINITY, 0, 1, ZERO)
    safe = legal & ~row.poison[1 - me]
    if safe == ZERO:
        return INFINITY, 0, 0, ZERO
    add_to_chains(parent, replier, row.last)
    fill_after(space, replier, free)
    makers, pairs = threats(space, replier, free, row.wins[1 - me])
    live, fewest, inverse = look_ahead(context, space, row, replier, safe, makers)
    if fewest == 0:
        return 0, INFINITY, 0, ZERO
    if live == ZERO:
        return INFINITY, 0, 0, ZERO
    fill_features(space, row, replier, legal, live, fewest, inverse, makers, pairs)
    phi, delta = first_guess(context, space)
    return phi, delta, 0, pack_live(live, legal)


@compiled
def is_stale(phi: int, taint: int, draw_to: int, parent: int) -> bool:
    """Tell whether a child's proof rests on a draw, and on the other answer to whose it is."""
    return taint == 1 and (phi == 0) == (draw_to == parent)


@inlined
def _expand(
    context: Record,
    space: Record,
    path: Records,
    d: int,
    table: Boards,
    shared: int,
    draw_to: int,
) -> None:
    """List the live moves of row d with their numbers, from the table or judged now."""
    row = path[d]
    me = row.side
    row.entered = space.nodes
    n = 0
    todo = row.live
    while todo != ZERO:
        bit = lowest(todo)
        todo &= todo - ONE
        row.bit[n] = bit
        row.hash[n] = child_hash(context, row, bit)
        announce(table, row.hash[n])
        n += 1
    if d > 0:
        # Judging this row's siblings has left another table there.
        fill_after(space, path[d + 1], row.free)
    for i in range(n):
        data, live = fetch(table, shared, row.hash[i])
        phi, delta, taint = unpack(data)
        if data == ZERO or is_stale(phi, taint, draw_to, me):
            place(context, space, row, path[d + 1], row.bit[i])
            phi, delta, taint, live = _judge(context, space, row, path[d + 1], path[d + 2], draw_to)
            keep(table, shared, row.hash[i], phi, delta, 0, taint, live)
        row.phi[i] = phi
        row.delta[i] = delta
        row.taint[i] = taint
        row.child_live[i] = live
        if delta == 0 and taint == 0:
            n = i + 1
            break
    row.children = n


@compiled
def _summary(row: Record) -> tuple[int, int, int, int, int]:
    """Return phi, delta and taint of a row from its children, the best child, the runner-up."""
    phi = INFINITY
    second = INFINITY
    total = 0
    best = 0
    any_taint = 0
    clean_win = False
    for i in range(row.children):
        x = row.delta[i]
        if x < phi:
            second = phi
            phi = x
            best = i
        elif x < second:
            second = x
        if x == 0 and row.taint[i] == 0:
            clean_win = True
        total += row.phi[i]
        any_taint |= row.taint[i]
    if phi == 0:
        return 0, INFINITY, 0 if clean_win else 1, best, second
    if phi >= INFINITY:
        return INFINITY, 0, any_taint, best, second
    return phi, min(total, INFINITY - 1), 0, best, second


# Threads share the table and one set of marks: busy[t, x] is set while thread t is somewhere below
# a position whose hash falls on x. To the others that position looks this many times harder, so
# that they go elsewhere. A wrong mark costs time, never truth, so nobody locks them.
_BUSY_FACTOR: Final = 2.0
MARKS: Final = 4096
# A node is worth asking the table about again only after this many nodes below it.
_REFRESH_AFTER: Final = 50


@compiled
def _mark(key: np.uint64) -> int:
    return np.int64((key >> u64(40)) & u64(MARKS - 1))


@compiled
def _is_busy(busy: Flags, thread: int, key: np.uint64) -> bool:
    for t in range(busy.shape[0]):
        if t != thread and busy[t, _mark(key)] != 0:
            return True
    return False


@compiled
def _refresh(row: Record, table: Boards, shared: int, draw_to: int) -> None:
    """Take over what other threads have found out about the children of a row."""
    for i in range(row.children):
        if row.phi[i] == 0 or row.delta[i] == 0:
            continue
        data, _ = fetch(table, shared, row.hash[i])
        phi, delta, taint = unpack(data)
        if data != ZERO and not is_stale(phi, taint, draw_to, row.side):
            row.phi[i] = phi
            row.delta[i] = delta
            row.taint[i] = taint


@compiled
def _choose_apart(row: Record, busy: Flags, thread: int, best: int, second: int) -> tuple[int, int]:
    """Return the best child and the runner-up's number; a child that others are in is harder."""
    low = float(INFINITY) * _BUSY_FACTOR
    next_low = low
    chosen = best
    for i in range(row.children):
        x = float(row.delta[i])
        if row.delta[i] >= row.max_phi:
            continue
        if _is_busy(busy, thread, row.hash[i]):
            x *= _BUSY_FACTOR
        if x < low:
            next_low = low
            low = x
            chosen = i
        elif x < next_low:
            next_low = x
    bound = max(row.delta[chosen] + 1, int(min(next_low, float(INFINITY))))
    return chosen, max(second, min(INFINITY, bound))


@compiled
def _digits(number: int) -> int:
    """Count the binary digits of a number."""
    digits = 0
    while number > 0:
        number >>= 1
        digits += 1
    return digits


@compiled
def search(
    contexts: Records,
    path: Records,
    spaces: Records,
    table: Boards,
    shared: int,
    draw_to: int,
    stop: Flags,
    busy: Flags,
    thread: int,
) -> tuple[int, int, int]:
    """Prove row 0 won (phi 0) or lost (delta 0) for its mover, a draw counted for ``draw_to``.

    Neither is 0 only if ``stop[0]`` was set or the nodes allowed ran out. What was learned stays in
    the table, so a later call goes on from there. The third number is the taint: 1 if the proof
    rests on a draw somewhere. ``shared`` is 1 if other threads use the table, and ``busy`` has a
    row for each thread that searches this same root.
    """
    context, space = contexts[0], spaces[0]
    together = busy.shape[0] > 1
    d = 0
    path[0].max_phi = INFINITY
    path[0].max_delta = INFINITY
    opened = False
    while True:
        row = path[d]
        if not opened:
            # The only call, because each one is compiled in anew and costs seconds.
            _expand(context, space, path, d, table, shared, draw_to)
            opened = True
        if together and space.nodes - row.entered > _REFRESH_AFTER:
            _refresh(row, table, shared, draw_to)
        phi, delta, taint, best, second = _summary(row)
        halt = stop[0] != 0 or space.nodes >= space.nodes_allowed
        done = phi == 0 or delta == 0 or phi >= row.max_phi or delta >= row.max_delta
        if done or halt:
            if d == 0:
                return phi, delta, taint
            work = _digits(space.nodes - row.entered + 1)
            d -= 1
            parent = path[d]
            i = parent.best
            keep(table, shared, parent.hash[i], phi, delta, work, taint, parent.child_live[i])
            parent.phi[i] = phi
            parent.delta[i] = delta
            parent.taint[i] = taint
            if together:
                busy[thread, _mark(parent.hash[i])] = 0
            continue
        if together:
            best, second = _choose_apart(row, busy, thread, best, second)
            busy[thread, _mark(row.hash[best])] = 1
        row.best = best
        rest = delta - row.phi[best]
        child = path[d + 1]
        child.max_phi = row.max_delta - rest if row.max_delta < INFINITY else INFINITY
        child.max_delta = min(row.max_phi, int(second * (1.0 + _EPSILON)) + 1)
        bit = row.bit[best]
        place(context, space, row, child, bit)
        add_to_chains(row, path[d + 2], bit)
        child.live = unpack_live(row.child_live[best], context.match[bit] & child.free)
        d += 1
        opened = False


@compiled
def known_moves(
    contexts: Records, path: Records, table: Boards, shared: int
) -> tuple[np.uint64, np.uint64]:
    """Return which moves of row 0 the table knows to win and to lose, by proofs without a draw."""
    context, row = contexts[0], path[0]
    won, lost = ZERO, ZERO
    todo = context.match[row.last] & row.free
    while todo != ZERO:
        bit = lowest(todo)
        todo &= todo - ONE
        data, _ = fetch(table, shared, child_hash(context, row, bit))
        phi, delta, taint = unpack(data)
        if data != ZERO and taint == 0:
            if delta == 0:
                won |= board_of(bit)
            elif phi == 0:
                lost |= board_of(bit)
    return won, lost
