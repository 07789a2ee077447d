"""What every move is worth, and where a game was thrown away.

What is proven is exact; what is not is an estimate, and says so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kamon import rules
from kamon.engine.distances import measure
from kamon.engine.limits import Budget, Limits
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.solver import DRAW, LOSS, VALUE_NAMES, WIN, Solver
from kamon.game import Game, Node
from kamon.notation import format_cell
from kamon.position import Position

_PLAYOUTS: Final = 4_000
# Nodes for the first look at each move, and seconds between two words about progress.
_FIRST_SLICE: Final = 4_000
# Seconds for the line behind one better move, where patience is short.
_LINE_SECONDS: Final = 0.3
_TELL_EVERY: Final = 0.25
# PGN's glyphs: a very poor move throws a win away, a poor one a draw.
_BLUNDER: Final = 4
_MISTAKE: Final = 2


@dataclass(frozen=True, slots=True)
class MoveValue:
    """One legal move: its exact value for who plays it, or an estimate of its chances.

    ``distance`` counts the plies to the end, this move included, where it was asked for.
    """

    cell: int
    value: int | None
    distance: int | None = None
    chance: float | None = None

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "move": format_cell(self.cell),
            "value": None if self.value is None else VALUE_NAMES[self.value],
            "distance": self.distance,
            "estimate": None if self.chance is None else round(self.chance, 3),
        }


@dataclass(frozen=True, slots=True)
class Threats:
    """Cells with which a side would win if it could play there now."""

    mover: tuple[int, ...]
    opponent: tuple[int, ...]

    def data(self) -> dict[str, list[str]]:
        """Turn it into plain values for JSON."""
        return {
            "mover": [format_cell(cell) for cell in self.mover],
            "opponent": [format_cell(cell) for cell in self.opponent],
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """A move of a game as the review sees it.

    ``before`` and ``after`` are exact values for the mover, of the position and of the move; None
    where not proven. ``better`` is a move that would have kept the value: it ends the game as
    ``ends`` says, or it leaves the opponent the replies ``leaves``, and ``line`` shows how it goes
    on.
    """

    ply: int
    cell: int
    before: int | None
    after: int | None
    chance: float | None = None
    better: int | None = None
    line: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()
    ends: str | None = None

    @property
    def is_proven(self) -> bool:
        """Tell whether it is known what the move threw away; a win keeps whatever there was."""
        return self.after == WIN or (self.before is not None and self.after is not None)

    @property
    def lost_by(self) -> int:
        """How much the move threw away: 2 a whole win, 1 half a point, 0 nothing that is proven."""
        if self.before is None or self.after is None:
            return 0
        return self.before - self.after

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""

        def name(value: int | None) -> str | None:
            return None if value is None else VALUE_NAMES[value]

        return {
            "ply": self.ply,
            "move": format_cell(self.cell),
            "before": name(self.before),
            "after": name(self.after),
            "estimate": None if self.chance is None else round(self.chance, 3),
            "lost": self.lost_by,
            "better": None if self.better is None else format_cell(self.better),
            "line": [format_cell(cell) for cell in self.line],
            "leaves": [format_cell(cell) for cell in self.leaves],
            "ends": self.ends,
        }


@dataclass(frozen=True, slots=True)
class Review:
    """A whole game, move by move."""

    turns: tuple[Turn, ...] = field(default=())

    @property
    def turning_points(self) -> tuple[Turn, ...]:
        """The moves that threw away a win or a draw."""
        return tuple(turn for turn in self.turns if turn.lost_by > 0)

    def accuracy(self, parity: int) -> float | None:
        """Return the share of one side's proven moves that kept their value; 0 is Black."""
        proven = [turn for turn in self.turns if turn.ply % 2 == parity and turn.is_proven]
        if not proven:
            return None
        return sum(turn.lost_by == 0 for turn in proven) / len(proven)

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "turns": [turn.data() for turn in self.turns],
            "accuracy": {"black": self.accuracy(0), "white": self.accuracy(1)},
        }


def value_moves(
    solver: Solver, position: Position, budget: Budget, *, distance: bool = False
) -> list[MoveValue]:
    """Value every legal move, best first: exactly where the budget allows, else by playouts."""
    values = solver.values(position, budget)
    open_moves = [cell for cell, value in values.items() if value is None]
    chances = _chances(position) if open_moves else {}
    found = [
        MoveValue(
            cell,
            value,
            _distance(solver, position.after(cell), value, budget) if distance else None,
            chances.get(cell) if value is None else None,
        )
        for cell, value in values.items()
    ]
    return sorted(found, key=_worth, reverse=True)


def _distance(solver: Solver, after: Position, value: int | None, budget: Budget) -> int | None:
    if value is None:
        return None
    if rules.outcome(after) is not None:
        return 1
    rest = measure(solver, after, -value, budget)
    return None if rest is None else rest + 1


def _worth(move: MoveValue) -> tuple[float, float]:
    """Order moves: wins, the shortest first; what is open by its chance; draws; losses, longest."""
    plies = move.distance or 0
    if move.value is None:
        return (move.chance or 0.0), 0.0
    return {WIN: (2.0, -plies), DRAW: (0.5, 0.0), LOSS: (-1.0, plies)}[move.value]


def _chances(position: Position) -> dict[int, float]:
    tree = PlayoutTree(position, seed=position.ply, size=20 * _PLAYOUTS + 50)
    tree.grow(_PLAYOUTS)
    return tree.chances()


@dataclass(frozen=True, slots=True)
class Insight:
    """What is known of a position so far: each legal move, best first, and the line of best play.

    ``done`` tells whether everything is known, and ``spent`` whether the time for it is over.
    """

    moves: tuple[MoveValue, ...]
    line: tuple[int, ...] = ()
    nodes: int = 0
    done: bool = False
    spent: bool = False

    @property
    def value(self) -> int | None:
        """The exact value for the side to move: of a move that wins, or of the best of all."""
        values = [move.value for move in self.moves]
        if WIN in values:
            return WIN
        return None if None in values else max((v for v in values if v is not None), default=None)

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "value": None if self.value is None else VALUE_NAMES[self.value],
            "moves": [move.data() for move in self.moves],
            "pv": [format_cell(cell) for cell in self.line],
            "nodes": self.nodes,
            "done": self.done,
            "spent": self.spent,
        }


def study(
    solver: Solver,
    position: Position,
    tell: Callable[[Insight], None],
    *,
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Insight:
    """Find out all about a position, and tell each thing as soon as it is proven.

    First the values, all moves in turn with ever more nodes, so that what is easy is known soon;
    then a line; then how long each move lasts. What is told before a proof is an estimate.
    """
    return _Study(solver, position, tell, seconds, cancelled).run()


class _Study:
    """One position under study."""

    def __init__(
        self,
        solver: Solver,
        position: Position,
        tell: Callable[[Insight], None],
        seconds: float,
        cancelled: Callable[[], bool],
    ) -> None:
        self.solver, self.position, self.tell = solver, position, tell
        self.over = time.monotonic() + seconds
        self.cancelled = cancelled
        self.nodes = 0
        self.told = 0.0
        cells = rules.legal_cells(position)
        chances = _chances(position) if cells else {}
        self.moves = {cell: MoveValue(cell, None, chance=chances.get(cell)) for cell in cells}
        self.line: tuple[int, ...] = ()

    def run(self) -> Insight:
        self._say()
        if self._prove_values():
            self.line = self.solver.line(self.position, self._budget())
            self._measure()
        found = self._insight(done=not self._stopped())
        self.tell(found)
        return found

    def _stopped(self) -> bool:
        return self.cancelled() or time.monotonic() >= self.over

    def _budget(self, nodes: int | None = None) -> Budget:
        return Budget(Limits(nodes=nodes), self._stopped, self._show_progress)

    def _show_progress(self, nodes: int, _: float) -> None:
        if time.monotonic() - self.told > _TELL_EVERY:
            self._say(nodes)

    def _insight(self, under_way: int = 0, *, done: bool = False) -> Insight:
        moves = tuple(sorted(self.moves.values(), key=_worth, reverse=True))
        spent = time.monotonic() >= self.over
        return Insight(moves, self.line, self.nodes + under_way, done, spent)

    def _say(self, under_way: int = 0) -> None:
        self.told = time.monotonic()
        self.tell(self._insight(under_way))

    def _prove_values(self) -> bool:
        """Prove the value of every move; False where there was no time for all."""
        nodes = _FIRST_SLICE
        while unproven := [cell for cell, move in self.moves.items() if move.value is None]:
            for cell in unproven:
                budget = self._budget(nodes)
                value = self.solver.value(self.position.after(cell), budget)
                self.nodes += budget.nodes
                if self._stopped():
                    return False
                if value is not None:
                    self.moves[cell] = MoveValue(cell, -value)
                    self._say()
            nodes *= 4
        return True

    def _measure(self) -> None:
        """Count how long each move lasts, the best first, as far as there is time."""
        for move in sorted(self.moves.values(), key=_worth, reverse=True):
            budget = self._budget()
            after = self.position.after(move.cell)
            length = _distance(self.solver, after, move.value, budget)
            self.nodes += budget.nodes
            if length is None:
                return
            self.moves[move.cell] = MoveValue(move.cell, move.value, length)
            self._say()


def threats(position: Position) -> Threats:
    """Find the free cells with which each side would win if it were allowed to play there."""
    mover, other = position.turn, position.turn.other
    return Threats(
        tuple(rules.winning_cells(position, mover)), tuple(rules.winning_cells(position, other))
    )


def review(
    game: Game,
    limits: Limits,
    *,
    patience: float | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Review:
    """Review the main line, from its end, where proofs are cheap and help the earlier ones.

    The limits in nodes and seconds are for each position, ``patience`` is for all of them: what is
    not proven when it is over stays so.
    """
    nodes = game.main_line()
    solver = Solver(game.layout, limits)
    values: dict[int, int | None] = {}
    positions = [game.root.position, *(node.position for node in nodes)]
    over = None if patience is None else time.monotonic() + patience

    def impatient() -> bool:
        return cancelled() or (over is not None and time.monotonic() > over)

    for ply in range(len(positions) - 1, -1, -1):
        values[ply] = solver.value(positions[ply], Budget(limits, impatient))
        progress(len(positions) - ply, len(positions))
    for_lines = limits if patience is None else replace(limits, seconds=_LINE_SECONDS)
    turns = [
        _turn(solver, positions, ply, values, Budget(for_lines, cancelled))
        for ply in range(len(nodes))
    ]
    return Review(tuple(turns))


def _turn(
    solver: Solver,
    positions: list[Position],
    ply: int,
    values: dict[int, int | None],
    budget: Budget,
) -> Turn:
    position, after = positions[ply], positions[ply + 1]
    cell = after.last
    assert cell is not None  # noqa: S101 - a move has been played
    before, reached = values[ply], values[ply + 1]
    worth = None if reached is None else -reached
    first_ply = positions[0].ply
    if before is None or worth is None:
        judged = worth is None and not budget.cancelled()
        chance = _chances(position).get(cell) if judged else None
        return Turn(first_ply + ply, cell, before, worth, chance)
    if before == worth:
        return Turn(first_ply + ply, cell, before, worth)
    # The proof that the position is better than the move went through such a move.
    known = solver.known_best(position, before)
    if not known:
        return Turn(first_ply + ply, cell, before, worth)
    better = known[0]
    reply = position.after(better)
    line = (better, *solver.line(reply, budget))
    outcome = rules.outcome(reply)
    ends = None if outcome is None else "+".join(by.value for by in outcome.by)
    leaves = tuple(rules.legal_cells(reply))
    return Turn(first_ply + ply, cell, before, worth, None, better, line, leaves, ends)


def annotate(game: Game, found: Review) -> Game:
    """Write a review into the record: glyphs, comments, and the better line as a variation."""
    names = {WIN: "wins", DRAW: "draws", LOSS: "loses"}
    for turn, node in zip(found.turns, game.main_line(), strict=True):
        if turn.after is None:
            text = f"not proven; playouts give {turn.chance:.0%}" if turn.chance is not None else ""
        else:
            text = f"{names[turn.after]} with best play"
        if turn.lost_by > 0:
            glyph = _BLUNDER if turn.lost_by == WIN - LOSS else _MISTAKE
            node.glyphs = (*node.glyphs, *((glyph,) if glyph not in node.glyphs else ()))
        if turn.lost_by > 0 and turn.better is not None:
            text += f"; {format_cell(turn.better)} {names[turn.before or 0]}"
            _add_line(game, node.parent or game.root, turn.line)
        # Whoever reviews a reviewed game reads nothing twice.
        if text not in node.comment:
            node.comment = f"{node.comment} {text}".strip()
    return game


def _add_line(game: Game, start: Node, line: tuple[int, ...]) -> None:
    game.go_to(start)
    for cell in line:
        game.play(cell)
