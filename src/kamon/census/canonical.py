"""What is alike: one layout that stands for all that differ only in how one looks at them.

Turning or mirroring the board, renaming the symbols, renaming the suits, and exchanging symbols
and suits change nothing in the game. Together they make up to 12 × 720 × 720 × 2 layouts of one;
the canonical layout is the least of them, cell by cell in reading order, the neutral before all
tokens and the tokens in the order of their text.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from kamon.geometry import CELL_AT, COORDINATES
from kamon.layout import Layout
from kamon.tokens import SUITS, SYMBOLS, Token

_CENTRE: Final = 3
_NEUTRAL: Final = -1
_KINDS: Final = 6


def _rotated(letter: int, row: int) -> tuple[int, int]:
    """Turn coordinates by 60 degrees around the centre: e4 becomes e5, and e5 becomes d5."""
    right, down = letter - _CENTRE, row - _CENTRE
    return right - down + _CENTRE, right + _CENTRE


def _symmetries() -> Iterator[tuple[int, ...]]:
    places = list(COORDINATES)
    for _ in range(6):
        places = [_rotated(*place) for place in places]
        yield tuple(CELL_AT[place] for place in places)
        yield tuple(CELL_AT[row, letter] for letter, row in places)


# For each symmetry of the board, which cell comes to lie on each cell.
SYMMETRIES: Final = tuple(_symmetries())


def canonical_layout(layout: Layout) -> Layout:
    """Return the layout that stands for all that are like this one."""
    tokens = layout.tokens
    symbols = [_NEUTRAL if each is None else SYMBOLS.index(each.symbol) for each in tokens]
    suits = [_NEUTRAL if each is None else SUITS.index(each.suit) for each in tokens]
    least: list[int] | None = None
    for order in SYMMETRIES:
        least = _least_names(symbols, suits, order, least)
        least = _least_names(suits, symbols, order, least)
    return Layout(tuple(map(_token, least or ())))


def _least_names(
    symbols: Sequence[int], suits: Sequence[int], order: Sequence[int], best: list[int] | None
) -> list[int]:
    """Read the cells in an order, and name what appears; the lesser of that and the best so far.

    Each symbol and each suit gets the first name that is free when it appears first. Any other
    naming differs first where something appears, and has a greater name there.
    """
    named: list[int] = []
    symbol_names: dict[int, int] = {}
    suit_names: dict[int, int] = {}
    is_less = best is None
    for place, cell in enumerate(order):
        symbol = symbols[cell]
        if symbol == _NEUTRAL:
            name = _NEUTRAL
        else:
            name = _KINDS * symbol_names.setdefault(symbol, len(symbol_names))
            name += suit_names.setdefault(suits[cell], len(suit_names))
        if not is_less and best is not None and name != best[place]:
            if name > best[place]:
                return best
            is_less = True
        named.append(name)
    return named


def _token(name: int) -> Token | None:
    return None if name == _NEUTRAL else Token(SYMBOLS[name // _KINDS], SUITS[name % _KINDS])
