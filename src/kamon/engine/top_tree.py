"""The opening: which part of a large proof to work on next.

The first plies of a position are a tree in memory. Each node holds the chance that its mover wins
and the work that a proof of either result is expected to take; the numbers of a node follow from
those of its moves. The leaf that makes the root's expected work smallest is searched next, by
proof numbers, in slices that grow. After Randall, Müller, Wei and Hayward, "Expected Work Search"
(IJCAI 2024).

Several threads work at several leaves at once and share the solver's table.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from kamon import rules
from kamon.engine.limits import Budget
from kamon.engine.playout_tree import NODES_PER_GAME, PlayoutTree, win_chance
from kamon.engine.prover import Answer, Prover, StopSign, run_together, value_of_end, winner_of
from kamon.engine.values import LOSS, WIN
from kamon.layout import Layout
from kamon.position import Position

# Positions of this ply are leaves, and never become part of the tree.
DEEPEST: Final = 5
# Random games that judge a new node, by its ply: the judgement of an early one decides most.
_GAMES: Final = (20_000, 20_000, 20_000, 6_000, 6_000, 2_000)
# The work to prove a position at ply 8, and how much more each ply before it takes.
_WORK_AT_8: Final = 1.0e5
_WORK_PER_PLY: Final = 3.0
_FIRST_SLICE: Final = 60_000
_UNSURE: Final = 0.5
# A search that has not ended is never taken for surer than this.
_MOST_ODDS: Final = 50.0
Key = tuple[int, int, int | None]


@dataclass(slots=True, eq=False)
class Node:
    """A position in the tree, from the view of its mover.

    ``value`` is 1 or -1 once it is proven, and ``taint`` tells whether the proof rests on a draw.
    ``looks`` is the chance that it wins by random games alone, ``chance`` by all that is known.
    ``win_work`` and ``loss_work`` are the nodes that a proof of either is expected to take yet.
    """

    position: Position
    value: int | None = None
    taint: int = 0
    looks: float = 0.5
    chance: float = 0.5
    win_work: float = 0.0
    loss_work: float = 0.0
    spent: int = 0
    workers: int = 0
    moves: dict[int, "Node"] = field(default_factory=dict)

    @property
    def promise(self) -> float:
        """The work to refute this position for each chance that it can be: less is better."""
        return self.loss_work / (1.0 - self.chance)

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        position = self.position
        return {
            "black": position.black,
            "white": position.white,
            "last": position.last,
            "value": self.value,
            "taint": self.taint,
            "looks": self.looks,
            "chance": self.chance,
            "work": [self.win_work, self.loss_work],
            "spent": self.spent,
            "moves": list(self.moves),
        }

    def settle(self, value: int, taint: int) -> None:
        """Note what is proven."""
        self.value, self.taint = value, taint
        self.chance = float(value == WIN)
        self.win_work = self.loss_work = 0.0


def read_node(data: dict[str, Any], layout: Layout) -> Node:
    """Read what ``Node.data`` wrote, without its moves."""
    position = Position(layout, data["black"], data["white"], data["last"])
    if data["value"] not in {None, WIN, LOSS}:
        raise ValueError(f"{data['value']!r} is no value")
    win_work, loss_work = map(float, data["work"])
    return Node(
        position,
        data["value"],
        int(data["taint"]),
        float(data["looks"]),
        float(data["chance"]),
        win_work,
        loss_work,
        int(data["spent"]),
    )


def _dumped_key(data: dict[str, Any]) -> Key:
    return data["black"], data["white"], data["last"]


def _ply(node: Node) -> int:
    return node.position.ply


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a proof has come, for the side to move. All but ``settled`` is an estimate.

    ``chance`` is the chance that it wins, ``work_left`` the nodes still to be searched, and
    ``settled`` the values of the moves that are proven.
    """

    chance: float
    work_left: float
    settled: dict[int, int]


class TopTree:
    """The proof of who wins if a draw counts for one side, begun at the top."""

    def __init__(self, prover: Prover, draw_to: int, other: "TopTree | None" = None) -> None:
        self.prover = prover
        self.draw_to = draw_to
        # The tree for the other question, asked before, of which most holds here too.
        self.other = other
        self.nodes: dict[Key, Node] = {}
        self._lock = threading.Lock()
        self._searched = 0
        self._allowed = 0

    def ask(self, position: Position, budget: Budget) -> Answer | None:
        """Tell who wins a position; None where a limit ended the work, which can go on later."""
        stop = np.zeros(1, dtype=np.uint8)
        self._searched, self._allowed = 0, budget.nodes_left()
        root = self._node(position)
        if root.value is None:
            run_together(
                lambda thread: self._work(thread, root, stop),
                len(self.prover.stacks),
                stop,
                budget,
                lambda: self._searched,
            )
        if root.value is None:
            budget.give_up()
        return self.known(position)

    def known(self, position: Position) -> Answer | None:
        """Tell who wins a position if that is proven already."""
        node = self.nodes.get(_key(position))
        if node is None or node.value is None:
            return None
        return Answer(winner_of(position, won=node.value == WIN), node.taint)

    def work(self, position: Position) -> int:
        """Count the nodes that leaves at and below a position have taken."""
        node = self.nodes.get(_key(position))
        return 0 if node is None else _spent(node)

    def standing(self, position: Position) -> Standing | None:
        """Tell how the proof of a position stands; None where it has not begun."""
        with self._lock:
            root = self.nodes.get(_key(position))
            if root is None:
                return None
            _combine(root)
            left = root.chance * root.win_work + (1.0 - root.chance) * root.loss_work
            settled = {
                cell: -move.value for cell, move in root.moves.items() if move.value is not None
            }
            return Standing(root.chance, left, settled)

    # --- Saving ---

    def dump(self) -> list[dict[str, Any]]:
        """Return all nodes as plain values for JSON, parents before their moves."""
        with self._lock:
            return [node.data() for node in sorted(self.nodes.values(), key=_ply)]

    def restore(self, dumped: Sequence[dict[str, Any]], layout: Layout) -> None:
        """Take over what ``dump`` gave for a layout."""
        nodes = {_key(node.position): node for node in (read_node(each, layout) for each in dumped)}
        for each in dumped:
            node = nodes[_dumped_key(each)]
            for cell in each["moves"]:
                node.moves[cell] = nodes[_key(node.position.after(cell))]
        self.nodes = nodes

    # --- One thread's work ---

    def _work(self, thread: int, root: Node, stop: StopSign) -> None:
        """Take on one leaf after another until the root is proven."""
        while not stop[0]:
            with self._lock:
                if root.value is not None:
                    return
                path = self._choose_leaf(root)
                for node in path:
                    node.workers += 1
            try:
                self._improve(thread, path[-1], stop)
            finally:
                with self._lock:
                    for node in reversed(path):
                        node.workers -= 1
                        _combine(node)

    def _choose_leaf(self, root: Node) -> list[Node]:
        """Go down to the leaf that is worth most, away from other threads where that costs least.

        A position that is probably won needs one of its moves proven, so all threads go for the
        same. One that is probably lost needs all of them, in whatever order.
        """
        path = [root]
        while path[-1].moves:
            node = path[-1]
            _combine(node)
            open_moves = [move for move in node.moves.values() if move.value is None]
            if not open_moves:
                break
            if node.chance < 0.5:  # noqa: PLR2004 - probably lost
                fewest = min(move.workers for move in open_moves)
                open_moves = [move for move in open_moves if move.workers == fewest]
            path.append(min(open_moves, key=lambda move: move.promise))
        return path

    def _improve(self, thread: int, leaf: Node, stop: StopSign) -> None:
        """Learn more of a leaf: make its moves nodes too, or search it some more."""
        if leaf.value is not None or leaf.moves:
            return
        if leaf.position.ply < DEEPEST:
            self._open(leaf, stop)
        else:
            self._search(thread, leaf, stop)

    def _open(self, leaf: Node, stop: StopSign) -> None:
        """Make the moves of a leaf nodes too; a stop in between leaves it as it is."""
        moves: dict[int, Node] = {}
        for cell in rules.legal_cells(leaf.position):
            if stop[0]:
                return
            moves[cell] = self._node(leaf.position.after(cell))
        with self._lock:
            leaf.moves = moves

    def _search(self, thread: int, leaf: Node, stop: StopSign) -> None:
        size = min(max(_FIRST_SLICE, leaf.spent), self._allowed - self._searched)
        if size <= 0:
            stop[0] = 1
            return
        phi, delta, taint, nodes = self.prover.search_slice(
            thread, leaf.position, self.draw_to, size, stop
        )
        with self._lock:
            self._searched += nodes
            leaf.spent += nodes
            if phi == 0 or delta == 0:
                leaf.settle(WIN if phi == 0 else LOSS, taint)
            elif leaf.value is None:
                # Another thread may have settled it meanwhile.
                _judge_by_search(leaf, phi, delta)

    # --- New nodes ---

    def _node(self, position: Position) -> Node:
        """Return the node of a position; a new one is judged by random games."""
        key = _key(position)
        node = self.nodes.get(key)
        if node is None:
            node = self._borrowed(key) or self._judged(position)
            with self._lock:
                node = self.nodes.setdefault(key, node)
        return node

    def _borrowed(self, key: Key) -> Node | None:
        """Take over what the other question has found out about a position.

        A proof holds for both if it rests on no draw, or if the side wins to which the draw did
        not count. What random games say is as good here as there, unless a draw decides.
        """
        known = None if self.other is None else self.other.nodes.get(key)
        if known is None or self.other is None:
            return None
        node = Node(known.position, looks=known.looks, chance=known.looks)
        if known.value is not None:
            winner = winner_of(known.position, won=known.value == WIN)
            if known.taint == 0 or winner != self.other.draw_to:
                node.settle(known.value, 0)
                return node
            node.looks = node.chance = _UNSURE
        node.win_work, node.loss_work = _expected_work(node)
        return node

    def _judged(self, position: Position) -> Node:
        node = Node(position)
        over = value_of_end(position)
        if over is not None:
            # A full board is a draw, and counts for one side.
            drawn = over == 0
            won = winner_of(position, won=True) == self.draw_to
            node.settle(WIN if drawn and won else LOSS, int(drawn))
            return node
        games = _GAMES[min(position.ply, len(_GAMES) - 1)]
        tree = PlayoutTree(position, 1, NODES_PER_GAME * games + 50)
        tree.grow(games)
        visits, chances = tree.visits(), tree.chances()
        node.chance = node.looks = win_chance(chances[max(visits, key=lambda cell: visits[cell])])
        node.win_work, node.loss_work = _expected_work(node)
        return node


def _expected_work(node: Node) -> tuple[float, float]:
    """Return the nodes that proofs of a win and of a loss are expected to take."""
    base = _base_work(node.position.ply)
    won, lost = node.chance, 1.0 - node.chance
    return base * (0.3 + 1.2 * lost), 1.5 * base * (0.3 + 1.2 * won)


def _judge_by_search(leaf: Node, phi: int, delta: int) -> None:
    """Judge a leaf anew by the proof numbers that its search has come to.

    Their ratio tells better than random games who wins, and how long the rest of the proof takes.
    The work is fitted to searches from ply 5 (docs/engine.md). The chance follows the ratio less
    than those searches suggest: what makes one move of a position look bad makes all of them look
    bad, and then the search would leave it for another each time it meets a hard part.
    """
    odds = min(max(delta / phi, 1.0 / _MOST_ODDS), _MOST_ODDS)
    against = ((1.0 - leaf.looks) / leaf.looks) ** 0.9 / odds
    leaf.chance = 1.0 / (1.0 + against)
    base = _base_work(leaf.position.ply)
    leaf.win_work, leaf.loss_work = 1.4 * base / odds, 0.55 * base * odds


def _base_work(ply: int) -> float:
    return _WORK_AT_8 * _WORK_PER_PLY ** (8 - ply)


def _spent(node: Node) -> int:
    return node.spent + sum(map(_spent, node.moves.values()))


def _key(position: Position) -> Key:
    return position.black, position.white, position.last


def _combine(node: Node) -> None:
    """Work out a node's numbers from its moves."""
    if node.value is not None or not node.moves:
        return
    moves = list(node.moves.values())
    lost = [move for move in moves if move.value == LOSS]
    if lost:
        node.settle(WIN, min(move.taint for move in lost))
        return
    still_open = sorted(
        (move for move in moves if move.value is None), key=lambda move: move.promise
    )
    if not still_open:
        node.settle(LOSS, max(move.taint for move in moves))
        return
    node.loss_work = sum(move.win_work for move in still_open)
    node.win_work, failed = 0.0, 1.0
    for move in still_open:
        node.win_work += failed * move.loss_work
        failed *= move.chance
    # The moves of a position are not independent: where the best fails, the others often do.
    chances = sorted(move.chance for move in still_open)
    failed = chances[0]
    for chance in chances[1:3]:
        failed *= chance**0.35
    node.chance = min(0.999, max(0.001, 1.0 - failed))
