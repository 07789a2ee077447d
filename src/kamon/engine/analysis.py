"""What every move is worth, and where a game was thrown away.

What is proven is exact; what is not is an estimate, and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kamon import rules
from kamon.engine.distances import measure
from kamon.engine.solver import DRAW, LOSS, VALUE_NAMES, WIN, Budget, Limits, Solver
from kamon.engine.thinking import Tree
from kamon.game import Game, Node
from kamon.notation import format_cell
from kamon.position import Position

_PLAYOUTS: Final = 4_000
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


@dataclass(frozen=True, slots=True)
class Turn:
    """A move of a game as the review sees it.

    ``before`` and ``after`` are exact values for the mover, of the position and of the move; None
    where not proven. ``better`` is a move that would have kept the value, with ``line`` to show it.
    """

    ply: int
    cell: int
    before: int | None
    after: int | None
    chance: float | None = None
    better: int | None = None
    line: tuple[int, ...] = ()

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
        proven = [turn for turn in self.turns if turn.ply % 2 == parity and turn.after is not None]
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
    tree = Tree(position, seed=position.ply, size=20 * _PLAYOUTS + 50)
    tree.grow(_PLAYOUTS)
    return tree.chances()


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
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Review:
    """Review the main line, from its end, where proofs are cheap and help the earlier ones.

    The limits in nodes and seconds are for each position.
    """
    nodes = game.main_line()
    solver = Solver(game.layout, limits)
    values: dict[int, int | None] = {}
    positions = [game.root.position, *(node.position for node in nodes)]
    for ply in range(len(positions) - 1, -1, -1):
        values[ply] = solver.value(positions[ply], Budget(limits, cancelled))
        progress(len(positions) - ply, len(positions))
    turns = [_turn(solver, positions, ply, values, limits) for ply in range(len(nodes))]
    return Review(tuple(turns))


def _turn(
    solver: Solver,
    positions: list[Position],
    ply: int,
    values: dict[int, int | None],
    limits: Limits,
) -> Turn:
    position, after = positions[ply], positions[ply + 1]
    cell = after.last
    assert cell is not None  # noqa: S101 - a move has been played
    before, reached = values[ply], values[ply + 1]
    worth = None if reached is None else -reached
    first_ply = positions[0].ply
    if before is None or worth is None:
        chance = _chances(position).get(cell) if worth is None else None
        return Turn(first_ply + ply, cell, before, worth, chance)
    if before == worth:
        return Turn(first_ply + ply, cell, before, worth)
    better = next(
        (
            move
            for move in rules.legal_cells(position)
            if solver.value(position.after(move), Budget(limits)) == -before
        ),
        None,
    )
    line = () if better is None else (better, *solver.line(position.after(better), Budget(limits)))
    return Turn(first_ply + ply, cell, before, worth, None, better, line)


def annotate(game: Game, found: Review) -> Game:
    """Write a review into the record: glyphs, comments, and the better line as a variation."""
    names = {WIN: "wins", DRAW: "draws", LOSS: "loses"}
    for turn, node in zip(found.turns, game.main_line(), strict=True):
        if turn.after is None:
            text = f"not proven; playouts give {turn.chance:.0%}" if turn.chance is not None else ""
        else:
            text = f"{names[turn.after]} with best play"
        if turn.lost_by > 0 and turn.better is not None:
            node.glyphs = (*node.glyphs, _BLUNDER if turn.lost_by == WIN - LOSS else _MISTAKE)
            text += f"; {format_cell(turn.better)} {names[turn.before or 0]}"
            _add_line(game, node.parent or game.root, turn.line)
        node.comment = " ".join(part for part in (node.comment, text) if part)
    return game


def _add_line(game: Game, start: Node, line: tuple[int, ...]) -> None:
    game.go_to(start)
    for cell in line:
        game.play(cell)
