"""Position: one moment of a game, as a frozen value."""

from dataclasses import dataclass
from enum import Enum

from kamon.layout import Layout


class Side(Enum):
    """Who plays."""

    BLACK = "black"
    WHITE = "white"

    @property
    def other(self) -> "Side":
        """The opponent."""
        return Side.WHITE if self is Side.BLACK else Side.BLACK


@dataclass(frozen=True, slots=True)
class Position:
    """A layout, the stones of both sides as masks, and the cell that was played last.

    The constructor trusts its caller; ``rules.check`` judges a position from outside.
    """

    layout: Layout
    black: int = 0
    white: int = 0
    last: int | None = None

    @property
    def turn(self) -> Side:
        """Whose turn the counts say it is, whether or not the game is over."""
        return Side.BLACK if self.black.bit_count() == self.white.bit_count() else Side.WHITE

    @property
    def ply(self) -> int:
        """How many stones have been played."""
        return (self.black | self.white).bit_count()

    @property
    def free(self) -> int:
        """The mask of the tokens that carry no stone."""
        return self.layout.playable & ~(self.black | self.white)

    @property
    def just_moved(self) -> int:
        """The mask of the stones of the side that moved last."""
        return self.white if self.black.bit_count() == self.white.bit_count() else self.black

    def stones(self, side: Side) -> int:
        """Return the mask of one side's stones."""
        return self.black if side is Side.BLACK else self.white

    def owner(self, cell: int) -> Side | None:
        """Tell whose stone is on a cell."""
        if self.black >> cell & 1:
            return Side.BLACK
        return Side.WHITE if self.white >> cell & 1 else None

    def after(self, cell: int) -> "Position":
        """Put the mover's stone on a cell. Trusts that it is legal; ``rules.play`` checks."""
        stone = 1 << cell
        if self.black.bit_count() == self.white.bit_count():
            return Position(self.layout, self.black | stone, self.white, cell)
        return Position(self.layout, self.black, self.white | stone, cell)

    def __repr__(self) -> str:
        return (
            f"Position({self.layout!r}, black={self.black:#x}, white={self.white:#x}, "
            f"last={self.last})"
        )

    def _repr_svg_(self) -> str:
        # Notebooks ask for this. The import waits until then because pictures stand to the
        # right of positions on the map, and because nobody else should pay for it.
        from kamon.render.svg import draw  # noqa: PLC0415

        return draw(self)
