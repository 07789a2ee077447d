"""The 36 tokens: each of six symbols in each of six suits. A 37th, the neutral, has neither.

"Suit" is our word for the second attribute because the editions print it differently: as a
colour in 2020, as the number of times that the sign is printed in 2007 (see ``editions``).
"""

from typing import Final, NamedTuple

SYMBOLS: Final = "ABCDEF"
SUITS: Final = (1, 2, 3, 4, 5, 6)


class Token(NamedTuple):
    """One token: a symbol out of ``SYMBOLS`` in a suit out of ``SUITS``."""

    symbol: str
    suit: int

    def matches(self, other: "Token") -> bool:
        """Tell whether the two share the symbol or the suit."""
        return self.symbol == other.symbol or self.suit == other.suit

    def __str__(self) -> str:
        return f"{self.symbol}{self.suit}"


# The neutral token matches nothing and is never played on, so it is the absence of a token.
NEUTRAL: Final = None
NEUTRAL_TEXT: Final = "--"

TOKENS: Final = tuple(Token(symbol, suit) for symbol in SYMBOLS for suit in SUITS)
