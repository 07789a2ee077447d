"""The two printed editions, as skins over the same game.

An edition changes what people see and say, never what may be played.
"""

from dataclasses import dataclass
from typing import Final, Literal

from kamon.geometry import Pair
from kamon.tokens import SUITS, SYMBOLS, Token

EditionName = Literal["2020", "2007"]


@dataclass(frozen=True, slots=True)
class Edition:
    """How one printed edition shows the game.

    ``symbols`` and ``suits`` name the attributes A to F and 1 to 6; ``edges`` names the marks of
    the pairs of opposite edges. ``lifts_tokens`` tells how the last move is remembered: False,
    a golden hexagon lies on it and every token stays in sight; True, the token is taken off and
    lies on a pile beside the board. The neutral token is taken off exactly where the others are.
    """

    name: str
    title: str
    symbols: dict[str, str]
    suits: dict[int, str]
    edges: dict[Pair, str]
    piece: str
    lifts_tokens: bool

    def describe(self, token: Token | None) -> str:
        """Say a token in words, as in "blue fish" or "three cups"."""
        if token is None:
            return "neutral"
        symbol, suit = self.symbols[token.symbol], self.suits[token.suit]
        if self.lifts_tokens:
            return f"{suit} {_plural(symbol, token.suit)}"
        return f"{suit} {symbol}"

    def any_with_symbol(self, symbol: str) -> str:
        """Name all tokens with a symbol, as in "any fish"."""
        return f"any {self.symbols[symbol]}"

    def any_with_suit(self, suit: int) -> str:
        """Name all tokens of a suit, as in "anything blue" or "anything printed three times"."""
        if not self.lifts_tokens:
            return f"anything {self.suits[suit]}"
        times = {1: "once", 2: "twice"}.get(suit, f"{self.suits[suit]} times")
        return f"anything printed {times}"

    def describe_need(self, token: Token) -> str:
        """Say what matches a token, as in "any fish, or anything blue"."""
        return f"{self.any_with_symbol(token.symbol)}, or {self.any_with_suit(token.suit)}"


def _plural(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return noun.removesuffix("f") + "ves" if noun.endswith("f") else noun + "s"


_SYMBOLS_2020 = ("butterfly", "fish", "bird", "fan", "mountain", "door")
_SUITS_2020 = ("pink", "yellow", "blue", "orange", "red", "green")
_SYMBOLS_2007 = ("leaf", "cup", "eye", "ankh", "sun", "wave")
_SUITS_2007 = ("one", "two", "three", "four", "five", "six")

COSMOLUDO_2020: Final = Edition(
    name="2020",
    title="Crests (2020)",
    symbols=dict(zip(SYMBOLS, _SYMBOLS_2020, strict=True)),
    suits=dict(zip(SUITS, _SUITS_2020, strict=True)),
    edges={Pair.GREEN: "green", Pair.BLUE: "blue", Pair.YELLOW: "yellow"},
    piece="hexagon",
    lifts_tokens=False,
)
JACTALEA_2007: Final = Edition(
    name="2007",
    title="Pond (2007)",
    symbols=dict(zip(SYMBOLS, _SYMBOLS_2007, strict=True)),
    suits=dict(zip(SUITS, _SUITS_2007, strict=True)),
    edges={Pair.GREEN: "snake", Pair.BLUE: "ibis", Pair.YELLOW: "frog"},
    piece="pawn",
    lifts_tokens=True,
)

EDITIONS: Final = {edition.name: edition for edition in (COSMOLUDO_2020, JACTALEA_2007)}
