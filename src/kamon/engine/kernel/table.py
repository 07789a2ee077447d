"""The table of what is known: exact, of fixed size, shared by threads.

Buckets of four entries, one line of cache each. An entry is two words:

    key    the hash of the position without its ten lowest bits, which the bucket implies, and in
           their place its live moves: one bit for each legal move, in the order of the bits
    data   phi in 28 bits, delta in 28, the logarithm of the work in 6, the taint in 1; 0 if empty.
           The highest bit of a bucket's first entry locks the bucket.

The hash is a bijection of the position, so an entry is the position's or it is not; nothing is left
to luck. Two words cannot be written at once, so threads that share a table lock the bucket. The
lock lies in the bucket itself, where it costs no other line of cache.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from kamon.engine.kernel.compile import ONE, ZERO, Boards, cgutils, compiled, intrinsic, types, u64
from kamon.engine.kernel.vectors import prefetch

# Proof numbers are kept in 28 bits; this is infinity, and one less is "huge, but not proven".
INFINITY: Final = 2**28 - 1
WORDS_PER_BUCKET: Final = 8
_ENTRIES: Final = 4
_IMPLIED: Final = 10
# A table is made of so many groups of 2**10 buckets. The group follows from the upper half of the
# hash and the bucket in it from the lowest ten bits, which every entry of the bucket shares.
WORDS_PER_GROUP: Final = WORDS_PER_BUCKET << _IMPLIED
# The bits of a key that hold the live moves, and of a hash that name the bucket of a group.
_LIVE: Final = u64((1 << _IMPLIED) - 1)
_LOCKED: Final = u64(1 << 63)
_WORK: Final = u64(56)
_TAINT: Final = u64(62)


def _generate_try_lock(_: Any, table: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Set the highest bit of a word, and tell whether it was not set: one step for all threads."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        pointer = _pointer(context, builder, signature, arguments)
        bit = context.get_constant(types.uint64, 1 << 63)
        before = builder.atomic_rmw("or", pointer, bit, "acquire")
        return builder.icmp_signed(">=", before, context.get_constant(types.int64, 0))

    return types.boolean(table, types.uint64), generate


def _generate_unlock(_: Any, table: Any, __: Any) -> Any:  # noqa: ANN401 - numba's own types
    """Clear the highest bit of a word, after everything that was written before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        pointer = _pointer(context, builder, signature, arguments)
        word = builder.load_atomic(pointer, "monotonic", 8)
        rest = context.get_constant(types.uint64, (1 << 63) - 1)
        builder.store_atomic(builder.and_(word, rest), pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(table, types.uint64), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])


_try_lock = cast("Callable[[Boards, np.uint64], bool]", intrinsic(_generate_try_lock))
_unlock = cast("Callable[[Boards, np.uint64], None]", intrinsic(_generate_unlock))


@compiled
def _bucket(table: Boards, key: np.uint64) -> np.uint64:
    """Return where the bucket of a hash begins."""
    groups = u64(len(table) // WORDS_PER_GROUP)
    group = ((key >> u64(32)) * groups) >> u64(32)
    return ((group << u64(_IMPLIED)) | (key & _LIVE)) * u64(WORDS_PER_BUCKET)


@compiled
def announce(table: Boards, key: np.uint64) -> None:
    """Say that a hash will be asked for soon."""
    prefetch(table, np.int64(_bucket(table, key)))


@compiled
def fetch(table: Boards, shared: int, key: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the data stored for a hash, or 0, and its live moves, packed."""
    base = _bucket(table, key)
    if shared:
        while not _try_lock(table, base + ONE):
            pass
    data = ZERO
    live = ZERO
    for i in range(_ENTRIES):
        word = table[base + u64(2 * i)]
        found = table[base + u64(2 * i + 1)] & ~_LOCKED
        if (word ^ key) & ~_LIVE == ZERO and found != ZERO:
            data = found
            live = word & _LIVE
            break
    if shared:
        _unlock(table, base + ONE)
    return data, live


@compiled
def keep(
    table: Boards,
    shared: int,
    key: np.uint64,
    phi: int,
    delta: int,
    work: int,
    taint: int,
    live: np.uint64,
) -> None:
    """Store, in place of the same position or of the entry with the least work in the bucket."""
    base = _bucket(table, key)
    if shared:
        while not _try_lock(table, base + ONE):
            pass
    slot = base
    least = u64(999)
    for i in range(_ENTRIES):
        at = base + u64(2 * i)
        data = table[at + ONE] & ~_LOCKED
        if (table[at] ^ key) & ~_LIVE == ZERO and data != ZERO:
            slot = at
            break
        effort = ((data >> _WORK) & u64(63)) + ONE if data != ZERO else ZERO
        if effort < least:
            least = effort
            slot = at
    held = table[slot + ONE] & _LOCKED
    table[slot] = (key & ~_LIVE) | live
    table[slot + ONE] = (
        u64(phi) | (u64(delta) << u64(28)) | (u64(work) << _WORK) | (u64(taint) << _TAINT) | held
    )
    if shared:
        _unlock(table, base + ONE)


@compiled
def unpack(data: np.uint64) -> tuple[int, int, int]:
    """Return phi, delta and taint."""
    phi = np.int64(data & u64(INFINITY))
    delta = np.int64((data >> u64(28)) & u64(INFINITY))
    return phi, delta, np.int64((data >> _TAINT) & ONE)


@compiled
def work_of(data: np.uint64) -> int:
    """Return the logarithm of the work behind an entry."""
    return np.int64((data >> _WORK) & u64(63))


@compiled
def pack_live(live: np.uint64, legal: np.uint64) -> np.uint64:
    """Return which of the legal moves are live, one bit for each, the lowest move first."""
    packed = ZERO
    number = ONE
    while legal != ZERO:
        if live & legal & (~legal + ONE) != ZERO:
            packed |= number
        number <<= ONE
        legal &= legal - ONE
    return packed


@compiled
def unpack_live(packed: np.uint64, legal: np.uint64) -> np.uint64:
    """Turn numbers of legal moves back into a board."""
    live = ZERO
    while packed != ZERO:
        if packed & ONE != ZERO:
            live |= legal & (~legal + ONE)
        packed >>= ONE
        legal &= legal - ONE
    return live
