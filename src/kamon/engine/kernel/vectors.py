"""Vectors of eight boards, as numba intrinsics: what the search asks about all free cells at once.

Loops over arrays pass through memory at every step. Here a step is one instruction of LLVM on a
vector of eight 64-bit words, which LLVM turns into whatever the processor has.

``Vector`` wraps LLVM's builder so that the formulas read like those on single boards. Below it are
the functions that compiled code calls. Lists of cells (``cells``, ``near``, ``match``, ``after``)
hold a board for each *lane*: the cells that were free at the root of the search, padded with empty
boards to whole vectors, of which there are ``count``.
"""

from collections.abc import Sequence
from typing import Any, Final

from kamon.engine.kernel.boards import EDGES, VALID, widen
from kamon.engine.kernel.compile import cgutils, intrinsic, ir, types
from kamon.geometry import BORDER

LANES: Final = 8
_WORD: Final = ir.IntType(64)
_VECTOR: Final = ir.VectorType(_WORD, LANES)
_MASK: Final = ir.VectorType(ir.IntType(1), LANES)
# The shifts to the six neighbours, clockwise; below 0 to the right.
_SHIFTS: Final = (-1, -9, -8, 1, 9, 8)


class Vector:
    """Eight words under construction."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    def _constant(self, word: int) -> ir.Constant:
        return ir.Constant(_VECTOR, [word] * LANES)

    def _new(self, value: ir.Value) -> "Vector":
        return Vector(self.builder, value)

    def __and__(self, other: "Vector") -> "Vector":
        return self._new(self.builder.and_(self.value, other.value))

    def __or__(self, other: "Vector") -> "Vector":
        return self._new(self.builder.or_(self.value, other.value))

    def __xor__(self, other: "Vector") -> "Vector":
        return self._new(self.builder.xor(self.value, other.value))

    def __add__(self, other: "Vector") -> "Vector":
        return self._new(self.builder.add(self.value, other.value))

    def __mul__(self, other: "Vector") -> "Vector":
        return self._new(self.builder.mul(self.value, other.value))

    def __invert__(self) -> "Vector":
        return self._new(self.builder.xor(self.value, self._constant(-1)))

    def less_one(self) -> "Vector":
        """Subtract one from each word."""
        return self._new(self.builder.add(self.value, self._constant(-1)))

    def shifted(self, by: int) -> "Vector":
        """Shift each word left, or right where ``by`` is below 0."""
        shift = self.builder.shl if by > 0 else self.builder.lshr
        return self._new(shift(self.value, self._constant(abs(by))))

    def lowest(self) -> "Vector":
        """Return the lowest set bit of each word as a board."""
        return self & ~self.less_one()

    def is_above(self, number: int) -> ir.Value:
        """Compare each word with a number."""
        return self.builder.icmp_unsigned(">", self.value, self._constant(number))

    def is_zero(self) -> ir.Value:
        """Compare each word with 0."""
        return self.builder.icmp_unsigned("==", self.value, self._constant(0))

    def meets(self, other: "Vector") -> ir.Value:
        """Tell for each word whether it shares a bit with the other."""
        return self.builder.not_((self & other).is_zero())

    def where(self, mask: ir.Value) -> "Vector":
        """Keep the words under a mask, and 0 elsewhere."""
        return self._new(self.builder.select(mask, self.value, self._constant(0)))

    def grown(self) -> "Vector":
        """Return the neighbours of all cells of each board."""
        result = self.shifted(_SHIFTS[0])
        for shift in _SHIFTS[1:]:
            result |= self.shifted(shift)
        return result & self._new(self._constant(int(VALID)))

    def two_arcs(self) -> "Vector":
        """Return the bits around which each chain lies in two runs, as ``endings.two_arcs``."""
        neighbours = [self.shifted(shift) for shift in _SHIFTS]
        once = neighbours[0] & ~neighbours[1]
        twice = self._new(self._constant(0))
        for here, further in zip(neighbours[1:], neighbours[2:] + neighbours[:1], strict=True):
            ends = here & ~further
            twice |= once & ends
            once |= ends
        return twice

    def counted(self) -> "Vector":
        """Count the bits of each word."""
        return self._new(_call(self.builder, "llvm.ctpop.v8i64", _VECTOR, [self.value]))

    def joined(self) -> ir.Value:
        """Return all words together, as one."""
        return _call(self.builder, "llvm.vector.reduce.or.v8i64", _WORD, [self.value])

    def total(self) -> ir.Value:
        """Return the sum of the words."""
        return _call(self.builder, "llvm.vector.reduce.add.v8i64", _WORD, [self.value])


class _Code:
    """The code of one intrinsic under construction: its arguments, and ways to make vectors."""

    def __init__(self, context: Any, builder: ir.IRBuilder, signature: Any, given: Any) -> None:
        self.context, self.builder, self.signature, self.given = context, builder, signature, given

    def word(self, argument: int) -> ir.Value:
        return self.given[argument]

    def pointer(self, argument: int) -> ir.Value:
        """Return where the words of an array begin."""
        kind = self.signature.args[argument]
        return self.context.make_array(kind)(self.context, self.builder, self.given[argument]).data

    def constant(self, word: int) -> Vector:
        return Vector(self.builder, ir.Constant(_VECTOR, [word] * LANES))

    def spread(self, word: ir.Value) -> Vector:
        """Repeat one word in all lanes."""
        return Vector(self.builder, _spread(self.builder, word, _VECTOR))

    def gather(self, words: Sequence[ir.Value]) -> Vector:
        """Put eight words side by side."""
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for lane, word in enumerate(words):
            vector = self.builder.insert_element(vector, word, ir.Constant(ir.IntType(32), lane))
        return Vector(self.builder, vector)

    def at(self, pointer: ir.Value, index: int | ir.Value) -> ir.Value:
        """Load one word."""
        place = ir.Constant(_WORD, index) if isinstance(index, int) else index
        return self.builder.load(self.builder.gep(pointer, [place]))

    def load(self, pointer: ir.Value, index: ir.Value) -> Vector:
        """Load the eight words number ``index``."""
        place = self.builder.gep(self.builder.bitcast(pointer, _VECTOR.as_pointer()), [index])
        return Vector(self.builder, self.builder.load(place, align=8))

    def store(self, vector: Vector, pointer: ir.Value, index: ir.Value) -> None:
        """Store the eight words number ``index``."""
        place = self.builder.gep(self.builder.bitcast(pointer, _VECTOR.as_pointer()), [index])
        self.builder.store(vector.value, place, align=8)

    def variable(self, vector: Vector) -> "_Variable":
        return _Variable(self.builder, vector)

    def up_to(self, count: ir.Value) -> Any:
        """Repeat the code below for each number from 0 to ``count`` - 1."""
        return cgutils.for_range(self.builder, count)

    def none(self) -> ir.Value:
        """Return a mask of no lanes."""
        return ir.Constant(_MASK, [0] * LANES)

    def any(self, mask: ir.Value) -> ir.Value:
        """Tell whether a mask has any lane."""
        return _call(self.builder, "llvm.vector.reduce.or.v8i1", ir.IntType(1), [mask])

    def flags(self, mask: ir.Value) -> ir.Value:
        """Turn a mask into a word with one bit for each lane."""
        return self.builder.zext(self.builder.bitcast(mask, ir.IntType(LANES)), _WORD)

    def nothing(self) -> ir.Value:
        return self.context.get_dummy_value()

    def pair(self, *values: ir.Value) -> ir.Value:
        return self.context.make_tuple(self.builder, self.signature.return_type, values)


class _Variable:
    """A vector that changes from one turn of a loop to the next."""

    def __init__(self, builder: ir.IRBuilder, first: Vector) -> None:
        self.builder = builder
        self.place = cgutils.alloca_once_value(builder, first.value)

    @property
    def now(self) -> Vector:
        return Vector(self.builder, self.builder.load(self.place))

    @now.setter
    def now(self, vector: Vector) -> None:
        self.builder.store(vector.value, self.place)


def _call(builder: ir.IRBuilder, name: str, result: ir.Type, given: Sequence[ir.Value]) -> ir.Value:
    kind = ir.FunctionType(result, [value.type for value in given])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)


def _spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, undefined, places)


# --- What compiled code calls ---------------------------------------------------------------


@intrinsic
def wins_after(typing, cells, near, chains, around, loops, chain_count, reach, free, after, count):
    """Fill ``after``: the winning cells of a side once it has a stone on each lane too.

    Links only ever grow: the chains next to the stone become one, and whatever edge one of them
    reached, it reaches. Loops can also be lost, by a stone that fills what would have been
    enclosed, but only loops of the chain that the stone joins, which are counted afresh.
    ``chains``, ``around`` and ``loops`` hold the side's chains, their neighbours and the cells that
    would make a loop of them; ``reach`` what each edge reaches.
    """

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        cells, near, chains, around, loops = (code.pointer(index) for index in range(5))
        edges = [code.spread(code.at(code.pointer(6), edge)) for edge in range(6)]
        free, after = code.spread(code.word(7)), code.pointer(8)
        nothing = code.constant(0)
        beside, merged, wins = (code.variable(nothing) for _ in range(3))
        with code.up_to(code.word(9)) as lanes:
            stone = code.load(cells, lanes.index)
            beside.now, merged.now, wins.now = code.load(near, lanes.index), stone, nothing
            with code.up_to(code.word(5)) as chain:
                border = code.spread(code.at(around, chain.index))
                joins = border.meets(stone)
                beside.now |= border.where(joins)
                merged.now |= code.spread(code.at(chains, chain.index)).where(joins)
                apart = builder.not_(joins)
                wins.now |= code.spread(code.at(loops, chain.index)).where(apart)
            reached = [edge | beside.now.where(edge.meets(stone)) for edge in edges]
            linked = [reached[edge] & reached[edge + 3] for edge in range(3)]
            found = wins.now | linked[0] | linked[1] | linked[2] | merged.now.two_arcs()
            code.store(found & free & ~stone, after, lanes.index)
        return code.nothing()

    return (
        types.void(
            cells,
            near,
            chains,
            around,
            loops,
            types.int64,
            reach,
            types.uint64,
            after,
            types.int64,
        ),
        generate,
    )


@intrinsic
def new_wins(typing, cells, after, free, wins, count):
    """Return the lanes where a stone makes a new winning cell, and count such pairs."""

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        cells, after = code.pointer(0), code.pointer(1)
        free = code.spread(code.word(2))
        fresh = free & ~code.spread(code.word(3))
        makers, pairs = code.variable(code.constant(0)), code.variable(code.constant(0))
        with code.up_to(code.word(4)) as lanes:
            stone = code.load(cells, lanes.index)
            new = (code.load(after, lanes.index) & fresh).where(stone.meets(free))
            pairs.now += new.counted()
            makers.now |= stone.where(new.meets(new))
        return code.pair(makers.now.joined(), pairs.now.total())

    result = types.Tuple((types.uint64, types.int64))
    return result(cells, after, types.uint64, types.uint64, types.int64), generate


@intrinsic
def lost_wins(typing, cells, after, wins, count):
    """Return the lanes where a stone takes away one of its own side's winning cells."""

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        cells, after = code.pointer(0), code.pointer(1)
        wins = code.spread(code.word(2))
        takers = code.variable(code.constant(0))
        with code.up_to(code.word(3)) as lanes:
            lost = wins & ~code.load(after, lanes.index)
            takers.now |= code.load(cells, lanes.index).where(lost.meets(lost))
        return takers.now.joined()

    return types.uint64(cells, after, types.uint64, types.int64), generate


@intrinsic
def at_most_one(typing, cells, match, within, count):
    """Return the lanes that match at most one cell of ``within``."""

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        cells, match = code.pointer(0), code.pointer(1)
        within = code.spread(code.word(2))
        few = code.variable(code.constant(0))
        with code.up_to(code.word(3)) as lanes:
            found = code.load(match, lanes.index) & within
            single = (found & found.less_one()).is_zero()
            few.now |= code.load(cells, lanes.index).where(single)
        return few.now.joined()

    return types.uint64(cells, match, types.uint64, types.int64), generate


# No chain needs more stones than this to link two edges: further is "never".
FARTHEST: Final = 7


@intrinsic
def link_distances(
    typing,
    chains,
    around,
    chain_count,
    rooted,
    chains_2,
    around_2,
    chain_count_2,
    rooted_2,
    edges,
    free,
    distances,
):
    """Count the stones that each side lacks to link each pair of edges; FARTHEST if more than six.

    Lanes 0 to 2 of ``distances`` are for the side given first and 4 to 6 for the other; lanes 3
    and 7 mean nothing. ``rooted`` are the side's stones that hang together with each edge.
    """

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        edge = [code.at(code.pointer(8), index) for index in range(6)]
        none, some = ir.Constant(_WORD, 0), ir.Constant(_WORD, -1)
        sides = [tuple(code.pointer(index) for index in range(at, at + 2)) for at in (0, 4)]
        counts = [code.word(2), code.word(6)]
        rooted = [code.pointer(3), code.pointer(7)]
        begin = [code.at(rooted[side], pair) for side in range(2) for pair in range(3)]
        reached = code.variable(code.gather([*begin[:3], some, *begin[3:], some]))
        start = code.gather([*edge[:3], none] * 2)
        goal = code.gather([*edge[3:], some] * 2)
        free = code.spread(code.word(9))
        lanes_of = [
            ir.Constant(_MASK, [int(lane // 4 == side) for lane in range(LANES)])
            for side in range(2)
        ]
        missing = code.variable(code.constant(0))
        with code.up_to(ir.Constant(_WORD, FARTHEST)) as step:
            apart = (reached.now & goal).is_zero()
            missing.now += Vector(builder, builder.zext(apart, _VECTOR))
            with builder.if_then(builder.not_(code.any(apart))):
                step.do_break()
            taken = reached.now | ((reached.now.grown() | start) & free)
            reached.now = taken
            for (masks, borders), how_many, lanes in zip(sides, counts, lanes_of, strict=True):
                with code.up_to(how_many) as chain:
                    joins = code.spread(code.at(borders, chain.index)).meets(taken)
                    joins = builder.and_(joins, lanes)
                    reached.now |= code.spread(code.at(masks, chain.index)).where(joins)
        code.store(missing.now, code.pointer(10), none)
        return code.nothing()

    side = (chains, around, types.int64, rooted)
    return types.void(*side, *side, edges, types.uint64, distances), generate


# --- Random games

# The rows of ``games``, which has a column for each of eight games: the stones of the side to move
# and of the other side, the free cells, the legal moves, the state of the random numbers, and the
# cells of each of the six symbols and six suits.
MINE, THEIRS, FREE, LEGAL, RANDOM, GROUPS = range(6)
GAME_ROWS: Final = GROUPS + 12
# The first move has twelve choices, so up to eleven are passed over.
_MOST_PASSED: Final = 11
# Six stones make the smallest ring, and seven the shortest connection.
_FEWEST_WINNING: Final = 6
# More steps than a flood can take.
_LONGEST_WAY: Final = 37


@intrinsic
def move_at_random(typing, games):
    """Play a random legal move in eight games at once; return who is done, and who has drawn.

    Both as one bit for each game. The sides are swapped, so that the other side is to move. A game
    without a legal move stays as it is, and counts as done.
    """

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        pointer = code.pointer(0)
        rows = [code.load(pointer, ir.Constant(_WORD, row)) for row in range(GAME_ROWS)]
        mine, theirs, free, legal, random = rows[:GROUPS]
        for shift in (13, -7, 17):
            random ^= random.shifted(shift)
        passed = (random.shifted(-32) * legal.counted()).shifted(-32)
        for step in range(_MOST_PASSED):
            rest = legal & legal.less_one()
            legal = Vector(builder, builder.select(passed.is_above(step), rest.value, legal.value))
        stone = legal.lowest()
        mine |= stone
        free &= ~stone
        won = code.variable(code.constant(0))
        able = mine.counted().is_above(_FEWEST_WINNING - 1)
        with builder.if_then(code.any(able)):
            chain, outside = _flood_both(code, stone, mine)
            linked = code.none()
            for edge in range(3):
                near, far = (code.constant(int(EDGES[at])) for at in (edge, edge + 3))
                linked = builder.or_(linked, builder.and_(chain.meets(near), chain.meets(far)))
            enclosed = code.constant(int(VALID)) & ~mine & ~outside
            won.now = enclosed | chain.where(linked)
        following = code.constant(0)
        for group in rows[GROUPS:]:
            following |= group.where(group.meets(stone))
        following &= free
        is_won = builder.not_(won.now.is_zero())
        stuck = following.is_zero()
        drawn = builder.and_(builder.and_(stuck, free.is_zero()), builder.not_(is_won))
        for row, vector in enumerate((theirs, mine, free, following, random)):
            code.store(vector, pointer, ir.Constant(_WORD, row))
        return code.pair(code.flags(builder.or_(is_won, stuck)), code.flags(drawn))

    return types.UniTuple(types.int64, 2)(games), generate


def _flood_both(code: _Code, stone: Vector, mine: Vector) -> tuple[Vector, Vector]:
    """Return the chain of a stone, and what of the cells that are not mine hangs with the border.

    Two floods side by side take hardly longer than one.
    """
    others = code.constant(int(VALID)) & ~mine
    chain = code.variable(stone)
    outside = code.variable(others & code.constant(int(widen(BORDER))))
    with code.up_to(ir.Constant(_WORD, _LONGEST_WAY)) as step:
        more = chain.now | (chain.now.grown() & mine)
        further = outside.now | (outside.now.grown() & others)
        changed = (more ^ chain.now) | (further ^ outside.now)
        chain.now, outside.now = more, further
        with code.builder.if_then(code.builder.not_(code.any(changed.meets(changed)))):
            step.do_break()
    return chain.now, outside.now


@intrinsic
def prefetch(typing, words, at):
    """Ask the memory for the line that holds a word, which is needed soon."""

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        place = builder.gep(code.pointer(0), [code.word(1)])
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        hints = [ir.Constant(ir.IntType(32), hint) for hint in (0, 3, 1)]  # read, keep, data
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), [place, *hints])
        return code.nothing()

    return types.void(words, types.int64), generate


# --- The network ----------------------------------------------------------------------------

_FLOAT: Final = ir.FloatType()


@intrinsic
def ask_network(typing, inputs, weights, biases, out_weights, out_biases):
    """Return the three outputs of the network: one hidden layer, rectified.

    Products and sums of 32-bit floats in a fixed order, never fused: every machine gets the same
    numbers, and so searches the same nodes.
    """
    units, features = biases.shape[0], inputs.shape[0]

    def generate(context, builder, signature, given):
        code = _Code(context, builder, signature, given)
        inputs, weights, biases, out_weights, out_biases = (code.pointer(at) for at in range(5))
        vector = ir.VectorType(_FLOAT, units)

        def row(pointer, index):
            place = builder.bitcast(pointer, vector.as_pointer())
            place = builder.gep(place, [ir.Constant(_WORD, index)])
            return builder.load(place, align=4)

        hidden = row(biases, 0)
        for feature in range(features):
            value = _spread(builder, code.at(inputs, feature), vector)
            hidden = builder.fadd(hidden, builder.fmul(value, row(weights, feature)))
        zero = ir.Constant(vector, [0.0] * units)
        hidden = builder.select(builder.fcmp_ordered(">", hidden, zero), hidden, zero)
        outputs = []
        for output in range(3):
            products = builder.fmul(hidden, row(out_weights, output))
            total = _sum(builder, products, units)
            outputs.append(builder.fadd(total, code.at(out_biases, output)))
        return code.pair(*outputs)

    result = types.UniTuple(types.float32, 3)
    return result(inputs, weights, biases, out_weights, out_biases), generate


def _sum(builder: ir.IRBuilder, vector: ir.Value, width: int) -> ir.Value:
    """Add up the floats of a vector, halves upon halves, always in the same order."""
    while width > 1:
        width //= 2
        low, high = (
            ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(at, at + width)))
            for at in (0, width)
        )
        undefined = ir.Constant(vector.type, ir.Undefined)
        vector = builder.fadd(
            builder.shuffle_vector(vector, undefined, low),
            builder.shuffle_vector(vector, undefined, high),
        )
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))
