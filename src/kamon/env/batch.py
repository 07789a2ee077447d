"""Batches: thousands of positions at once, as NumPy arrays, without a loop in Python.

A ``Batch`` is a frozen value like a ``Position``: what changes positions returns a new batch. The
loops are compiled (``engine.kernel.batches``) and leave other threads of Python free to run.
"""

import operator
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine import kernel
from kamon.engine.kernel import batches
from kamon.engine.kernel.vectors import LANES
from kamon.engine.limits import DEFAULT_MEMORY, LEAST_MEMORY, NO_LIMIT, Limits
from kamon.engine.prover import new_table, stored_weights
from kamon.env.planes import SHAPE, Planes
from kamon.errors import IllegalMoveError, KamonError, PositionError
from kamon.geometry import CELL_COUNT
from kamon.layout import Layout, read_seed
from kamon.position import Position
from kamon.tokens import TOKENS

Masks = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Small = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Flags = npt.NDArray[np.uint8]

# What ``winner`` holds.
BLACK: Final = 0
WHITE: Final = 1
DRAW: Final = kernel.DRAWN
GOES_ON: Final = batches.GOES_ON
# What ``by`` holds, as flags: a placement can be a connection and a loop at once.
CONNECTION: Final = batches.BY_CONNECTION
LOOP: Final = batches.BY_LOOP
FULL: Final = batches.BY_FULL
BLOCK: Final = batches.BY_BLOCK
# What ``last`` holds before the first move, and what stands for a move where a game is over.
NO_CELL: Final = -1
# Beside +1, 0 and -1 for win, draw and loss: a value that no search has proven, or no legal move.
UNPROVEN: Final = batches.UNPROVEN

_NUMBER_OF: Final = {token: number for number, token in enumerate(TOKENS)} | {None: -1}
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class Layouts:
    """Several layouts: the number of the token on each cell, -1 for the neutral.

    Tokens are numbered symbol by symbol: A1 is 0, A2 is 1, B1 is 6 and F6 is 35.
    """

    tokens: Small
    groups: Masks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tokens = _whole_numbers("tokens", self.tokens, np.int8)
        if tokens.ndim != 2 or tokens.shape[1] != CELL_COUNT:  # noqa: PLR2004 - layouts and cells
            raise ValueError(f"tokens have the shape (layouts, {CELL_COUNT}), not {tokens.shape}")
        wrong = (np.sort(tokens, axis=1) != np.arange(-1, CELL_COUNT - 1)).any(axis=1)
        if wrong.any():
            raise KamonError(f"layout {wrong.argmax()}: expected -1 and each of 0 to 35 once")
        _keep(self, "tokens", tokens)
        groups = np.zeros((len(tokens), batches.GROUPS), dtype=np.uint64)
        batches.group_tokens(tokens, groups)
        _keep(self, "groups", groups)

    @classmethod
    def shuffled(cls, seeds: npt.ArrayLike) -> "Layouts":
        """Set up a layout for each seed: the same as ``Layout.shuffled`` does, only faster."""
        given = np.asarray(seeds)
        if given.ndim != 1:
            raise ValueError(f"seeds are a list, not of the shape {given.shape}")
        if given.size and not (given.dtype.kind in "iu" and given.min() >= 0):
            for seed in given.tolist():
                read_seed(seed)
            raise KamonError(f"seeds are whole numbers, not of the type {given.dtype}")
        tokens = np.empty((len(given), CELL_COUNT), dtype=np.int8)
        batches.shuffle(given.astype(np.uint64), tokens, batches.new_generator())
        return cls(tokens)

    @classmethod
    def of(cls, layouts: Iterable[Layout]) -> "Layouts":
        """Join layouts."""
        tokens = [[_NUMBER_OF[token] for token in layout.tokens] for layout in layouts]
        return cls(np.array(tokens, dtype=np.int8).reshape(-1, CELL_COUNT))

    def __getstate__(self) -> dict[str, npt.NDArray[Any]]:
        return {"tokens": self.tokens, "groups": self.groups}

    def __setstate__(self, state: dict[str, npt.NDArray[Any]]) -> None:
        # What was pickled forgets that nobody may change it.
        for name, array in state.items():
            _keep(self, name, array)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, number: SupportsIndex) -> Layout:
        row = self.tokens[operator.index(number)]
        return Layout(tuple(None if token < 0 else TOKENS[token] for token in row))


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Positions as arrays, one row each.

    ``layout_of`` is the number of the layout, ``black`` and ``white`` are the stones as masks,
    ``last`` is the last cell or -1. From these follow ``legal``, the mask of the cells that may be
    played (none when the game is over), ``winner`` (``BLACK``, ``WHITE``, ``DRAW`` or ``GOES_ON``)
    and ``by``, flags that tell how the game ended. Refused is what ``rules.check`` refuses.
    """

    layouts: Layouts
    layout_of: Indices
    black: Masks
    white: Masks
    last: Small
    legal: Masks = field(init=False)
    winner: Small = field(init=False)
    by: Flags = field(init=False)

    def __post_init__(self) -> None:
        for name, kind in _FIELDS.items():
            _keep(self, name, _whole_numbers(name, getattr(self, name), kind))
            shape = getattr(self, name).shape
            if len(shape) != 1 or shape != self.layout_of.shape:
                raise ValueError(f"{name} has the shape {shape}: expected one row a position")
        numbers = self.layout_of
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self.layouts):
            raise ValueError(f"layout_of names a layout that is not among the {len(self.layouts)}")
        results = _new_results(len(self))
        rows = self._rows(**results)
        faulty = batches.find_faulty(rows)
        if faulty >= 0:
            raise self._fault_of(faulty)
        batches.judge(rows)
        for name, array in results.items():
            _keep(self, name, array)

    def _fault_of(self, number: int) -> KamonError:
        try:
            rules.check(self.position(number))
        except PositionError as error:
            return KamonError(f"position {number}: {error}")
        return KamonError(f"position {number}: there is no such cell")

    # --- Making batches ---

    @classmethod
    def start(cls, layouts: Layouts | Layout, size: int | None = None) -> "Batch":
        """Begin a game on each layout, or ``size`` games that share the layouts evenly."""
        shared = Layouts.of([layouts]) if isinstance(layouts, Layout) else layouts
        size = len(shared) if size is None else size
        if size < 0 or (size and not len(shared)):
            raise ValueError(f"there are no {size} games on {len(shared)} layouts")
        # Games on one layout stand together, so that what is worked out for it is used again.
        layout_of = np.arange(size, dtype=np.int64) * len(shared) // max(1, size)
        empty = np.zeros(size, dtype=np.uint64)
        return cls(shared, layout_of.astype(np.int32), empty, empty, np.full(size, -1, np.int8))

    @classmethod
    def shuffled(cls, seeds: npt.ArrayLike) -> "Batch":
        """Begin a game on the layout of each seed."""
        return cls.start(Layouts.shuffled(seeds))

    @classmethod
    def of(cls, positions: Sequence[Position]) -> "Batch":
        """Join positions; equal layouts are kept once."""
        numbers: dict[Layout, int] = {}
        layout_of = [numbers.setdefault(each.layout, len(numbers)) for each in positions]
        return cls(
            Layouts.of(numbers),
            np.array(layout_of, dtype=np.int32),
            np.array([each.black for each in positions], dtype=np.uint64),
            np.array([each.white for each in positions], dtype=np.uint64),
            np.array([NO_CELL if each.last is None else each.last for each in positions], np.int8),
        )

    def __getitem__(self, rows: slice | npt.ArrayLike) -> "Batch":
        """Select rows by a slice, by their numbers (which may repeat), or by a mask of bools."""
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if not isinstance(chosen, slice):
            if chosen.ndim != 1:
                raise ValueError("rows are selected by a list; position(i) gives a single one")
            if not chosen.size and chosen.dtype.kind != "b":
                chosen = chosen.astype(np.int64)
        return self._with(**{name: getattr(self, name)[chosen] for name in _ALL_FIELDS})

    def _with(self, **arrays: npt.NDArray[Any]) -> "Batch":
        """Make a batch of arrays that are known to be right."""
        made = object.__new__(Batch)
        object.__setattr__(made, "layouts", self.layouts)
        for name, array in arrays.items():
            _keep(made, name, array)
        return made

    def __getstate__(self) -> tuple[Layouts, dict[str, npt.NDArray[Any]]]:
        return self.layouts, {name: getattr(self, name) for name in _ALL_FIELDS}

    def __setstate__(self, state: tuple[Layouts, dict[str, npt.NDArray[Any]]]) -> None:
        object.__setattr__(self, "layouts", state[0])
        for name, array in state[1].items():
            _keep(self, name, array)

    # --- Looking at positions ---

    def __len__(self) -> int:
        return len(self.layout_of)

    def __repr__(self) -> str:
        over = np.count_nonzero(self.over)
        return f"<Batch of {len(self)} positions on {len(self.layouts)} layouts, {over} over>"

    def position(self, number: SupportsIndex) -> Position:
        """Return one row as a ``Position``."""
        row = operator.index(number)
        last = int(self.last[row])
        return Position(
            self.layouts[self.layout_of[row]],
            int(self.black[row]),
            int(self.white[row]),
            None if last == NO_CELL else last,
        )

    @property
    def over(self) -> Bools:
        """Which games are over."""
        return np.not_equal(self.winner, GOES_ON)

    @property
    def ply(self) -> Small:
        """How many stones have been played."""
        stones: Masks = self.black | self.white
        return np.bitwise_count(stones).astype(np.int8)

    @property
    def turn(self) -> Small:
        """Whose turn the counts say it is, ``BLACK`` or ``WHITE``, whether or not it is over."""
        turn: Small = self.ply & np.int8(1)
        return turn

    @property
    def rewards(self) -> Small:
        """+1, 0 or -1 for Black and for White, one row a position; 0 while a game goes on."""
        black = np.select([self.winner == BLACK, self.winner == WHITE], [1, -1], 0)
        return np.stack([black, -black], axis=1).astype(np.int8)

    def legal_mask(self) -> Bools:
        """Return for each position and each of the 37 cells whether it may be played."""
        return as_cells(self.legal)

    def observations(self) -> Planes:
        """Return the planes of each position (``kamon.env.planes``), for its side to move."""
        planes = np.zeros((len(self), SHAPE[0] * SHAPE[1], SHAPE[2]), dtype=np.int8)
        batches.observe(self._rows(), planes)
        return planes.reshape(len(self), *SHAPE)

    # --- Playing ---

    def play(self, chosen: npt.ArrayLike) -> "Batch":
        """Play a cell in each position that goes on; those that are over stay as they are.

        What is chosen where a game is over is ignored. Raises ``IllegalMoveError`` where a cell
        may not be played, and then plays nowhere.
        """
        moves = _whole_numbers("the chosen cells", chosen, np.int64)
        if moves.shape != self.layout_of.shape:
            raise ValueError(f"expected {len(self)} cells, one a position, not {moves.shape}")
        wrong = batches.find_illegal(self._rows(), moves)
        if wrong >= 0:
            raise self._illegal(wrong, int(moves[wrong]))
        return self._played(moves)

    def _illegal(self, number: int, cell: int) -> IllegalMoveError:
        try:
            rules.play(self.position(number), cell)
        except IllegalMoveError as error:
            return IllegalMoveError(f"position {number}: {error}")
        raise AssertionError

    def _played(self, moves: Ints) -> "Batch":
        arrays = self._copies()
        batches.play(self._rows(**arrays), moves)
        return self._with(layout_of=self.layout_of, **arrays)

    def random_cells(self, rng: np.random.Generator) -> Ints:
        """Choose one of the legal cells for each position, all equally likely; -1 if it is over."""
        chosen = np.empty(len(self), dtype=np.int64)
        random = rng.integers(0, 1 << 64, size=len(self), dtype=np.uint64)
        batches.pick_random(self._rows(), random, chosen)
        return chosen

    def play_random(self, rng: np.random.Generator) -> "Batch":
        """Play a random legal cell in each position that goes on."""
        return self._played(self.random_cells(rng))

    def restart(self) -> "Batch":
        """Begin again, on the same layouts, where a game is over."""
        arrays = self._copies()
        batches.restart(self._rows(**arrays))
        return self._with(layout_of=self.layout_of, **arrays)

    def _copies(self) -> dict[str, npt.NDArray[Any]]:
        """Copy what changes in a game, for the kernel to write to."""
        names = ("black", "white", "last", "legal", "winner", "by")
        return {name: getattr(self, name).copy() for name in names}

    # --- Random games and exact values ---

    def playouts(self, count: int, seed: int) -> Ints:
        """Play random games from each position; return Black's wins, White's wins and draws.

        The same seed gives the same games. A game that is over counts as it ended.
        """
        if count < 0:
            raise ValueError(f"the number of games is 0 or more, not {count}")
        tally = np.zeros((len(self), 3), dtype=np.int64)
        space = (batches.new_games(), np.zeros((2, LANES), dtype=np.int64))
        rows = self._rows()
        random = np.uint64(read_seed(seed))
        _run(lambda stop: batches.play_out(rows, count, random, tally, stop, *space))
        return tally

    def values(self, nodes: int | None = None, memory: int = DEFAULT_MEMORY) -> Small:
        """Return the exact value of each position for its side to move: +1, 0 or -1.

        Each search may take so many nodes; where they do not suffice, the value is ``UNPROVEN``.
        Positions on the same layout should stand together, because searches then share what they
        have found out. ``memory`` is in bytes.
        """
        limits = Limits(nodes=nodes, memory=memory)
        values = np.empty(len(self), dtype=np.int8)
        context = kernel.new_context(Layout(_ANY_TOKENS), stored_weights())
        busy = np.zeros((1, kernel.MARKS), dtype=np.uint8)
        search = (context, *kernel.new_stack(), new_table(limits.memory, limits.memory))
        rows = self._rows()
        allowed = limits.nodes or NO_LIMIT
        _run(lambda stop: batches.solve(rows, *search, stop, busy, allowed, values))
        return values

    def move_values(self, nodes: int | None = None, memory: int = DEFAULT_MEMORY) -> Small:
        """Return the exact value of each cell for who plays it there, one row a position.

        Cells that may not be played are ``UNPROVEN``, like those whose value is not proven.
        """
        rows, chosen = np.nonzero(self.legal_mask())
        found = self[rows].play(chosen).values(nodes, memory)
        values = np.full((len(self), CELL_COUNT), UNPROVEN, dtype=np.int8)
        values[rows, chosen] = np.where(found == UNPROVEN, UNPROVEN, -found)
        return values

    def _rows(self, **changed: npt.NDArray[Any]) -> batches.Rows:
        """Return what the functions of the kernel take; those that change arrays get their own."""
        arrays = {name: changed.get(name, getattr(self, name, None)) for name in _ALL_FIELDS}
        return batches.Rows(self.layouts.tokens, self.layouts.groups, **arrays)  # type: ignore[arg-type]


_FIELDS: Final[dict[str, type[np.integer[Any]]]] = {
    "layout_of": np.int32,
    "black": np.uint64,
    "white": np.uint64,
    "last": np.int8,
}
_ALL_FIELDS: Final = (*_FIELDS, "legal", "winner", "by")
_ANY_TOKENS: Final = (*TOKENS, None)


def warm_up() -> None:
    """Compile or load all that batches need, so that no clock runs meanwhile."""
    batch = Batch.shuffled([0])
    moved = batch.play(batch.random_cells(np.random.default_rng(0))).restart()
    moved.observations()
    moved.legal_mask()
    moved.playouts(1, 0)
    moved.values(nodes=100, memory=LEAST_MEMORY)


def concatenate(several: Sequence[Batch]) -> Batch:
    """Join batches into one, in order."""
    if not several:
        raise ValueError("expected one batch or more")
    tokens, groups = (
        np.concatenate([getattr(one.layouts, name) for one in several])
        for name in ("tokens", "groups")
    )
    layouts = object.__new__(Layouts)
    _keep(layouts, "tokens", tokens)
    _keep(layouts, "groups", groups)
    first = np.cumsum([0, *(len(one.layouts) for one in several[:-1])])
    arrays = {name: np.concatenate([getattr(one, name) for one in several]) for name in _ALL_FIELDS}
    arrays["layout_of"] = np.concatenate(
        [one.layout_of + at for one, at in zip(several, first, strict=True)]
    ).astype(np.int32)
    made = several[0]._with(**arrays)  # noqa: SLF001 - our own
    object.__setattr__(made, "layouts", layouts)
    return made


def as_cells(masks: npt.ArrayLike) -> Bools:
    """Turn masks into rows of 37 bools, one for each cell."""
    given = _whole_numbers("masks", masks, np.uint64)
    if given.ndim != 1:
        raise ValueError(f"masks are a list, not of the shape {given.shape}")
    rows = np.empty((len(given), CELL_COUNT), dtype=np.uint8)
    batches.spread_cells(given, rows)
    return rows.view(np.bool_)


def as_masks(rows: npt.ArrayLike) -> Masks:
    """Turn rows of 37 bools into masks."""
    given = np.asarray(rows, dtype=np.bool_)
    if given.ndim != 2 or given.shape[1] != CELL_COUNT:  # noqa: PLR2004 - positions and cells
        raise ValueError(f"expected rows of {CELL_COUNT}, not the shape {given.shape}")
    return given @ (np.uint64(1) << np.arange(CELL_COUNT, dtype=np.uint64))


def _new_results(size: int) -> dict[str, npt.NDArray[Any]]:
    kinds = {"legal": np.uint64, "winner": np.int8, "by": np.uint8}
    return {name: np.empty(size, dtype=kind) for name, kind in kinds.items()}


def _whole_numbers(name: str, given: npt.ArrayLike, kind: type[np.integer[Any]]) -> Any:  # noqa: ANN401 - an array of that kind
    """Turn numbers from outside into an array of the kernel's kind; refuse what does not fit."""
    array = np.asarray(given)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, not {array.dtype}")
    converted = np.ascontiguousarray(array, dtype=kind)
    if array.dtype != converted.dtype and not np.array_equal(array, converted):
        raise ValueError(f"{name}: there are numbers that do not fit into {np.dtype(kind)}")
    if converted is array or converted.base is not None:
        converted = converted.copy()
    converted.setflags(write=False)
    return converted


def _keep(value: object, name: str, array: npt.NDArray[Any]) -> None:
    """Set a field of a frozen value to an array that nobody changes any more."""
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    array.setflags(write=False)
    object.__setattr__(value, name, array)


def _run(work: Callable[[Flags], None]) -> None:
    """Run compiled work in a thread, so that Ctrl-C can stop it."""
    stop = np.zeros(1, dtype=np.uint8)
    thread = threading.Thread(target=work, args=(stop,), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
    finally:
        stop[0] = 1
        thread.join()
