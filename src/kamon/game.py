"""Game: where play started, every move and variation since, and a cursor among them.

The moves form a tree of at most 36 plies. The first child of a node continues its line and the
others are variations; the line of first children from the root is the main line. ``undo`` moves
the cursor back and forgets nothing: ``redo`` returns the way it came.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from kamon import rules
from kamon.errors import Defect, KamonError
from kamon.layout import Layout
from kamon.position import Position, Side
from kamon.rules import Outcome


class OffBoard(Enum):
    """How a game between people can end although the board does not end it."""

    RESIGNATION = "resignation"
    TIME = "time"
    AGREEMENT = "agreement"


@dataclass(frozen=True, slots=True)
class Result:
    """Who won (None for a draw) and how: on the board as in ``connection+loop``, or off it."""

    winner: Side | None
    termination: str


@dataclass(slots=True, eq=False)
class Node:
    """The position after one move (or the start, which has none), and what was said about it.

    ``clock`` is the mover's time left after the move, in milliseconds. ``intro`` is a comment
    that stands before the move, ``comment`` one that stands after it.
    """

    position: Position
    cell: int | None = None
    parent: "Node | None" = field(default=None, repr=False)
    children: list["Node"] = field(default_factory=list, repr=False)
    intro: str = ""
    comment: str = ""
    glyphs: tuple[int, ...] = ()
    clock: int | None = None

    def child(self, cell: int) -> "Node | None":
        """Return the continuation by a cell, if it has been played here."""
        return next((child for child in self.children if child.cell == cell), None)

    def line(self) -> Iterator["Node"]:
        """Walk the nodes that follow this one by first children."""
        node = self
        while node.children:
            node = node.children[0]
            yield node


class Game:
    """A start, a tree of moves and a cursor, ``node``. ``tags`` are a record's free tags."""

    def __init__(self, start: Layout | Position, moves: Iterable[int] = ()) -> None:
        self.root: Final = Node(start if isinstance(start, Position) else Position(start))
        self.node = self.root
        self.tags: dict[str, str] = {}
        self.off_board: Result | None = None
        self._redo: list[Node] = []
        for cell in moves:
            self.play(cell)

    # --- The cursor -----------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """The tokens that are played on."""
        return self.root.position.layout

    @property
    def position(self) -> Position:
        """The position at the cursor."""
        return self.node.position

    @property
    def outcome(self) -> Outcome | None:
        """The end on the board at the cursor."""
        return rules.outcome(self.position)

    @property
    def moves(self) -> list[int]:
        """The cells played from the start to the cursor."""
        path = []
        node = self.node
        while node.parent is not None and node.cell is not None:
            path.append(node.cell)
            node = node.parent
        return path[::-1]

    def play(self, cell: int) -> Node:
        """Play at the cursor: follow a move that is known, add one that is not.

        Raises ``IllegalMoveError`` and changes nothing where the move is not legal.
        """
        following = self.node.child(cell)
        if following is None:
            following = Node(rules.play(self.position, cell), cell, self.node)
            self.node.children.append(following)
        self.node = following
        self._redo.clear()
        return following

    def undo(self) -> bool:
        """Step back one move, if there is one."""
        if self.node.parent is None:
            return False
        self._redo.append(self.node)
        self.node = self.node.parent
        return True

    def redo(self) -> bool:
        """Step forward: the way ``undo`` came, else along the line."""
        if not self.node.children:
            return False
        self.node = self._redo.pop() if self._redo else self.node.children[0]
        return True

    def go_to(self, node: Node) -> None:
        """Put the cursor on a node of this game."""
        self.node = node
        self._redo.clear()

    # --- The tree -------------------------------------------------------------------------

    def main_line(self) -> list[Node]:
        """List the nodes of the main line, without the start."""
        return list(self.root.line())

    def promote(self, node: Node) -> None:
        """Make the line that leads to a node the main line."""
        while node.parent is not None:
            siblings = node.parent.children
            siblings.insert(0, siblings.pop(siblings.index(node)))
            node = node.parent

    def remove(self, node: Node) -> None:
        """Take a move and all that follows out of the tree; the cursor steps out of it."""
        if node.parent is None:
            raise KamonError(Defect("start-removed"))
        path = self.node
        while path is not node and path.parent is not None:
            path = path.parent
        if path is node:
            self.go_to(node.parent)
        self._redo.clear()
        node.parent.children.remove(node)

    # --- The end --------------------------------------------------------------------------

    @property
    def result(self) -> Result | None:
        """The end of the main line: on the board if it ends there, else off it, else None."""
        last = self.main_line()[-1:] or [self.root]
        outcome = rules.outcome(last[0].position)
        if outcome is None:
            return self.off_board
        return Result(outcome.winner, "+".join(how.value for how in outcome.by))

    def end_off_board(self, winner: Side | None, by: OffBoard) -> None:
        """End by resignation, on time or by agreement; only an agreement is a draw."""
        if self.result is not None:
            raise KamonError(Defect("ended-already"))
        if (winner is None) != (by is OffBoard.AGREEMENT):
            raise KamonError(Defect("agreement-is-draw"))
        self.off_board = Result(winner, by.value)
