"""A position as text for a terminal, with or without colour: a pure function to a string.

Each cell shows its token and, below it, its name. ``●C4`` is a black stone, ``○C4`` a white one,
``(C4)`` a cell that may be played, ``<`` follows the last move and ``*`` a cell of the proof when
the game is won. The frame names the three pairs of edges.
"""

from collections.abc import Callable
from typing import Final

from kamon import rules
from kamon.editions import COSMOLUDO_2020, Edition
from kamon.geometry import CELL_NAMES, CELLS, ROW_LENGTHS, Pair
from kamon.position import Position, Side
from kamon.render.palette import LIGHT
from kamon.tokens import NEUTRAL_TEXT

_CELL_WIDTH: Final = 6
_MARGIN: Final = 4
_RESET: Final = "\x1b[0m"
# Opposite edges slant alike, so each pair has a sign of its own.
_EDGE_SIGNS: Final = {Pair.GREEN: "─", Pair.BLUE: "╲", Pair.YELLOW: "╱"}
_STONES: Final = {Side.BLACK: "●", Side.WHITE: "○"}


def draw(
    position: Position,
    *,
    edition: Edition = COSMOLUDO_2020,
    colour: bool = False,
    legal: bool = True,
) -> str:
    """Draw a position in sixteen lines, and one for the pile where the edition has one."""
    picture = _Picture(position, edition, colour=colour, legal=legal)
    return "\n".join(line.rstrip() for line in picture.lines())


def legend(edition: Edition = COSMOLUDO_2020) -> str:
    """Say what the letters and digits of the tokens stand for in an edition."""
    symbols = ", ".join(f"{letter} {name}" for letter, name in edition.symbols.items())
    suits = ", ".join(f"{number} {name}" for number, name in edition.suits.items())
    edges = ", ".join(f"{sign} {edition.edges[pair]}" for pair, sign in _EDGE_SIGNS.items())
    return f"symbols: {symbols}\nsuits:   {suits}\nedges:   {edges}"


class _Picture:
    def __init__(self, position: Position, edition: Edition, *, colour: bool, legal: bool) -> None:
        self.position = position
        self.edition = edition
        self.colour = colour
        self.legal = rules.legal_mask(position) if legal else 0
        outcome = rules.outcome(position)
        links = outcome.links if outcome else ()
        self.proof = {cell for link in links for cell in link.chain}
        self.proof.update(outcome.ring if outcome else ())

    def lines(self) -> list[str]:
        """Stack the rows between the top and the bottom edge."""
        rows: list[str] = []
        start = 0
        for row, length in enumerate(ROW_LENGTHS):
            cells = CELLS[start : start + length]
            start += length
            rows += [self._row(row, cells, self._token), self._row(row, cells, self._name)]
        edge = self._edge(Pair.GREEN, f"{self.edition.edges[Pair.GREEN]:─^24}")
        return [self._indent(0) + edge, *rows, self._indent(6) + edge, *self._pile()]

    def _pile(self) -> list[str]:
        """Tell the token on top of the pile where the edition lifts tokens off."""
        last = self.position.last
        if last is None or not self.edition.lifts_tokens:
            return []
        token = self.position.layout.tokens[last]
        return [f"{' ' * _MARGIN}on the pile: {token}, {self.edition.describe(token)}"]

    def _row(self, row: int, cells: range, show: Callable[[int], str]) -> str:
        """Join a row between its two edges, which slant towards the middle row."""
        middle = len(ROW_LENGTHS) // 2
        left = right = " "
        if row != middle:
            pairs = (Pair.YELLOW, Pair.BLUE) if row < middle else (Pair.BLUE, Pair.YELLOW)
            left, right = (self._edge(pair, _EDGE_SIGNS[pair]) for pair in pairs)
        return self._indent(row, -2) + left + " " + "".join(map(show, cells)) + right

    @staticmethod
    def _indent(row: int, shift: int = 0) -> str:
        return " " * (_MARGIN + abs(row - 3) * _CELL_WIDTH // 2 + shift)

    def _edge(self, pair: Pair, text: str) -> str:
        return self._paint(text, _foreground(LIGHT.edges[pair]))

    def _token(self, cell: int) -> str:
        token = self.position.layout.tokens[cell]
        owner = self.position.owner(cell)
        name = NEUTRAL_TEXT if token is None else str(token)
        if owner is not None and self.edition.lifts_tokens:
            name = "  "  # the token lies on the pile
        if token is not None and name.strip():
            suit = LIGHT.suits[token.suit]
            name = self._paint(name, _background(suit.fill) + _foreground(suit.ink))
        before, after = " ", " "
        if self.legal >> cell & 1:
            before, after = "(", ")"
        elif owner is not None:
            before = _STONES[owner]
            after = "*" if cell in self.proof else " "
        if cell == self.position.last:
            after = self._paint("<", _foreground(LIGHT.gold))
        return f" {before}{name}{after} "

    def _name(self, cell: int) -> str:
        return "  " + self._paint(CELL_NAMES[cell], "\x1b[2m") + "  "

    def _paint(self, text: str, codes: str) -> str:
        return f"{codes}{text}{_RESET}" if self.colour else text


def _rgb(colour: str) -> str:
    return ";".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))


def _foreground(colour: str) -> str:
    return f"\x1b[38;2;{_rgb(colour)}m"


def _background(colour: str) -> str:
    return f"\x1b[48;2;{_rgb(colour)}m"
