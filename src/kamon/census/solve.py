"""One board of the census: who wins it, and by which first moves."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final

from kamon import __version__, rules
from kamon.census.canonical import canonical_layout
from kamon.census.rows import PUT_OFF, Row
from kamon.engine.limits import MIB, Budget, Limits
from kamon.engine.playout_tree import NODES_PER_GAME, PlayoutTree, win_chance
from kamon.engine.prover import value_of_end, winner_of
from kamon.engine.solver import Solver
from kamon.engine.top_tree import DEEPEST
from kamon.engine.values import DRAW, VALUE_NAMES, VALUES, WIN
from kamon.layout import Layout
from kamon.notation import format_cell, format_layout
from kamon.position import Position

_BLACK: Final = 0
_WHITE: Final = 1
_SIDES: Final = ("black", "white")
# Random games that estimate a first move: as many as the solver itself begins with.
_GAMES: Final = 20_000
# Of each proof so many lines of play are kept, down to where plain search can judge the end.
_SAMPLES: Final = 3
_SAMPLE_PLY: Final = 18
# After so many nodes each time, a board that Black seems unlikely to win may be put off.
_LOOK_NODES: Final = 30_000_000
# The winner is proven by then. Lines and samples are read from the table, and seldom take long.
_EXTRA_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class BoardJob:
    """A board to solve: its winner, or whether each of its first moves wins.

    ``known`` is the row of an earlier run, which is completed. The board is put off if Black's
    estimated chance to win falls below ``least_chance``, because proving that Black does not win
    takes several times as much work.
    """

    seed: int
    limits: Limits
    every_move: bool = False
    known: Row | None = None
    least_chance: float = 0.0

    @property
    def number(self) -> int:
        """The number of its part."""
        return self.seed

    def run(self) -> list[Row]:
        """Solve the board."""
        return [solve_board(self)]


def solve_board(job: BoardJob) -> Row:
    """Solve a board as far as the limits allow, and return its row."""
    started, cpu_started = time.perf_counter(), time.process_time()
    search = BoardSearch(Position(Layout.shuffled(job.seed)), job)
    search.run()
    row = search.row()
    row["seconds"] = time.perf_counter() - started
    row["cpu_seconds"] = time.process_time() - cpu_started
    # A board without a value is searched from the beginning: what was spent on it before is no part
    # of the proof.
    if job.known is not None and job.known["value"] is not None:
        for column in ("nodes", "seconds", "cpu_seconds"):
            row[column] += job.known[column]
    return row


class BoardSearch:
    """What is known of one board so far. Black is to move at its root."""

    def __init__(self, root: Position, job: BoardJob) -> None:
        self.root = root
        self.job = job
        self.cells = rules.legal_cells(self.root)
        self.solver = Solver(self.root.layout, job.limits)
        self.budget = Budget(job.limits, self._is_put_off, self._note_nodes)
        self._nodes_searched = 0
        self._next_look = _LOOK_NODES
        # For each first move, whether Black wins with it and whether Black draws at least.
        self.wins: dict[int, bool] = {}
        self.holds: dict[int, bool] = {}
        self.value: int | None = None
        self.line: list[int] = []
        self.samples: list[Row] = []

    def run(self) -> None:
        """Prove what is asked for and not known yet."""
        if self.job.known is not None:
            self._recall(self.job.known)
        if self.value is None:
            self.value = self.solver.value(self.root, self.budget)
            self._collect()
            if self.value is not None:
                self._describe()
        if self.job.every_move and self.value is not None:
            self._prove_first_moves()

    def _note_nodes(self, nodes: int, _seconds: float) -> None:
        self._nodes_searched = nodes

    def _is_put_off(self) -> bool:
        """Tell whether Black seems too unlikely to win, after some millions of nodes each time."""
        if not self.job.least_chance or self._nodes_searched < self._next_look:
            return False
        self._next_look = self._nodes_searched + _LOOK_NODES
        tree = self.solver.trees[_WHITE]
        standing = tree.standing(self.root)
        if standing is None or tree.known(self.root) is not None:
            return False
        return standing.chance < self.job.least_chance

    def _recall(self, known: Row) -> None:
        """Take over what an earlier run has proven."""
        self.value = VALUES.get(known["value"])
        by_name = {format_cell(cell): cell for cell in self.cells}
        self.wins |= {by_name[name]: True for name in known["winning"]}
        self.wins |= {by_name[name]: False for name in known["not_winning"]}
        self.holds |= {by_name[name]: True for name in known["drawing"]}

    def _collect(self) -> None:
        """Note which first moves the search of the value has settled on its way."""
        for cell in self.cells:
            after = self.root.after(cell)
            for draw_to, noted in ((_WHITE, self.wins), (_BLACK, self.holds)):
                answer = self.solver.trees[draw_to].known(after)
                if answer is not None:
                    noted[cell] = answer.winner == _BLACK

    def _prove_first_moves(self) -> None:
        """Prove of each first move that is open whether Black wins with it."""
        for cell in self.cells:
            if cell not in self.wins:
                winner = _winner(self.solver, self.root.after(cell), _WHITE, self.budget)
                if winner is None:
                    return
                self.wins[cell] = winner == _BLACK

    def _describe(self) -> None:
        """Read a line of best play and samples from the proof while it is in the table."""
        questions = [_WHITE] if self.value == WIN else [_WHITE, _BLACK]
        for draw_to in questions:
            self._sample(draw_to)
        if self.value != DRAW:
            winner = _BLACK if self.value == WIN else _WHITE
            self.line = _line(self.solver, self.root, winner, _extra_budget())

    def _sample(self, draw_to: int) -> None:
        """Keep lines that end in positions which the proof says its winner still wins."""
        winner = _winner(self.solver, self.root, draw_to, _extra_budget())
        if winner is None:
            return
        rng = Random(self.job.seed)  # noqa: S311 - a sample is no secret
        at_least = DRAW if winner == draw_to else WIN
        for _ in range(_SAMPLES):
            moves = _walk(self.solver, self.root, (winner, draw_to), rng, _extra_budget())
            if moves:
                self.samples.append(
                    {
                        "side": _SIDES[winner],
                        "at_least": VALUE_NAMES[at_least],
                        "moves": _names(moves),
                    }
                )

    def row(self) -> Row:
        """Write down what is known."""
        layout = self.root.layout
        known = self.job.known or {}
        line = self.line or known.get("line") or []
        names = _names(self.line) if self.line else line
        return {
            "seed": self.job.seed,
            "layout": format_layout(layout),
            "canonical": format_layout(canonical_layout(layout)),
            "value": None if self.value is None else VALUE_NAMES[self.value],
            "winning": _names(cell for cell in self.cells if self.wins.get(cell)),
            "not_winning": _names(cell for cell in self.cells if self.wins.get(cell) is False),
            "drawing": _names(
                cell for cell in self.cells if self.wins.get(cell) is False and self.holds.get(cell)
            ),
            "complete": self.value is not None and len(self.wins) == len(self.cells),
            "reason": PUT_OFF if self.budget.reason == "cancelled" else self.budget.reason,
            "first_moves": _names(self.cells),
            "estimates": known.get("estimates") or _estimates(self.root, self.cells),
            "line": names,
            "ending": _ending(self.root, self.line) or known.get("ending"),
            "samples": self.samples or known.get("samples") or [],
            "checked": known.get("checked", 0),
            "nodes": self.budget.nodes,
            "threads": self.job.limits.threads,
            "memory": self.job.limits.memory // MIB,
            "version": __version__,
        }


def _names(cells: Iterable[int]) -> list[str]:
    return [format_cell(cell) for cell in cells]


def _extra_budget() -> Budget:
    return Budget(Limits(seconds=_EXTRA_SECONDS))


def _winner(solver: Solver, position: Position, draw_to: int, budget: Budget) -> int | None:
    """Tell who wins a position if a draw counts for one side; None if a limit ended the search."""
    over = value_of_end(position)
    if over == DRAW:
        return draw_to
    known = solver.prover.at_once(position)
    if known is not None:
        return winner_of(position, won=known == WIN)
    answer = solver.ask(position, draw_to, budget)
    return None if answer is None else answer.winner


def _walk(
    solver: Solver, position: Position, proven: tuple[int, int], rng: Random, budget: Budget
) -> list[int]:
    """Play a random game against the proof, which answers each move.

    ``proven`` is who wins, and for whom a draw counts. Gives nothing where a limit ends it.
    """
    winner, _ = proven
    moves: list[int] = []
    while position.ply < _SAMPLE_PLY and rules.outcome(position) is None:
        if winner_of(position, won=True) == winner:
            cell = _proven_move(solver, position, proven, budget)
            if cell is None:
                return []
        else:
            cell = rng.choice(_stubborn_moves(solver, position))
        moves.append(cell)
        position = position.after(cell)
    return moves


def _stubborn_moves(solver: Solver, position: Position) -> list[int]:
    """List the moves that do not lose at once, if there are any."""
    cells = rules.legal_cells(position)
    kept = [cell for cell in cells if solver.prover.at_once(position.after(cell)) != WIN]
    return kept or cells


def _proven_move(
    solver: Solver, position: Position, proven: tuple[int, int], budget: Budget
) -> int | None:
    """Return a move by which the proof says that its winner wins."""
    winner, draw_to = proven
    cells = rules.legal_cells(position)
    if position.ply < DEEPEST:
        tree = solver.trees[draw_to]
        known = {cell: tree.known(position.after(cell)) for cell in cells}
        cells = [cell for cell, answer in known.items() if answer is not None]
    elif solver.prover.at_once(position) is None:
        solver.prover.ask(position, draw_to, budget)
        proving = solver.prover.proving_move(position)
        cells = cells if proving is None else [proving]
    for cell in cells:
        if _winner(solver, position.after(cell), draw_to, budget) == winner:
            return cell
    return None


def _line(solver: Solver, position: Position, winner: int, budget: Budget) -> list[int]:
    """Return a line from a board that somebody wins: the winner's proof, the hardest defence."""
    proven = winner, 1 - winner
    tree = solver.trees[1 - winner]
    line: list[int] = []
    while position.ply < DEEPEST:
        if winner_of(position, won=True) == winner:
            cell = _proven_move(solver, position, proven, budget)
            if cell is None:
                return []
        else:
            cell = max(
                rules.legal_cells(position), key=lambda cell: tree.work(position.after(cell))
            )
        line.append(cell)
        position = position.after(cell)
    rest = solver.line(position, budget)
    return [*line, *rest] if _ending(position, rest) else []


def _ending(position: Position, line: Iterable[int]) -> str | None:
    for cell in line:
        position = position.after(cell)
    outcome = rules.outcome(position)
    return None if outcome is None else "+".join(by.value for by in outcome.by)


def _estimates(root: Position, cells: Iterable[int]) -> list[float]:
    """Estimate the chance that Black wins with each first move, by random games."""
    return [1.0 - _estimate(root.after(cell)) for cell in cells]


def _estimate(position: Position) -> float:
    tree = PlayoutTree(position, 1, NODES_PER_GAME * _GAMES + 50)
    tree.grow(_GAMES)
    visits, chances = tree.visits(), tree.chances()
    return win_chance(chances[max(visits, key=lambda cell: visits[cell])])
