"""Text for cells, tokens, layouts and positions, both ways (docs/notation.md).

The readers take text from outside: whatever comes, they give a value or one of our errors, and
the error quotes the text and says what was expected.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeVar

from kamon import rules
from kamon.errors import Defect, FormatError, KamonError, LayoutError, quote
from kamon.game import Game
from kamon.geometry import CELL_COUNT, CELL_NAMES, ROW_LENGTHS
from kamon.layout import Layout, find_defects
from kamon.position import Position, Side
from kamon.rules import Outcome
from kamon.tokens import NEUTRAL, NEUTRAL_TEXT, TOKENS, Token

# Longer than any game needs (a layout, pieces, 36 moves), so that nobody can feed us megabytes.
LINE_LIMIT: Final = 4096

_Value = TypeVar("_Value")

_CELL_BY_NAME: Final = {name: cell for cell, name in enumerate(CELL_NAMES)}
_TOKEN_BY_TEXT: Final = {str(token): token for token in TOKENS} | {NEUTRAL_TEXT: NEUTRAL}
_TEXT_BY_TOKEN: Final = {token: text for text, token in _TOKEN_BY_TEXT.items()}
_ROW_SLICES: Final = tuple(
    slice(end - length, end)
    for length, end in zip(ROW_LENGTHS, accumulate(ROW_LENGTHS), strict=True)
)
_STONE_SIGNS: Final = {"x": Side.BLACK, "o": Side.WHITE, ".": None}
_NO_CELL: Final = "-"
_FIELD_COUNT: Final = 3  # of a position: layout, pieces, last cell


# --- Cells and tokens -----------------------------------------------------------------------


def parse_cell(text: str) -> int:
    """Read a cell such as ``c4``."""
    cell = _CELL_BY_NAME.get(text)
    if cell is None:
        raise FormatError(Defect("bad-cell", {"text": quote(text)}))
    return cell


def format_cell(cell: int) -> str:
    """Write a cell."""
    return CELL_NAMES[cell]


def format_cells(mask: int) -> list[str]:
    """Write the cells of a mask, lowest first."""
    # A loop of its own, because a view of a game writes a hundred of them.
    names = []
    while mask:
        lowest = mask & -mask
        names.append(CELL_NAMES[lowest.bit_length() - 1])
        mask ^= lowest
    return names


def parse_token(text: str) -> Token | None:
    """Read a token such as ``C4``, or ``--`` for the neutral."""
    if text not in _TOKEN_BY_TEXT:
        raise FormatError(Defect("bad-token", {"text": quote(text)}))
    return _TOKEN_BY_TEXT[text]


def format_token(token: Token | None) -> str:
    """Write a token."""
    return _TEXT_BY_TOKEN[token]


# --- Layouts --------------------------------------------------------------------------------


def parse_layout(text: str) -> Layout:
    """Read a layout: 37 tokens, rows joined by ``/``. All its defects are reported at once."""
    _limit(text)
    rows = [[row[at : at + 2] for at in range(0, len(row), 2)] for row in text.split("/")]
    defects = []
    if len(rows) != len(ROW_LENGTHS):
        counted = {"found": len(rows), "expected": len(ROW_LENGTHS)}
        defects.append(Defect("row-count", counted))
    for number, (row, length) in enumerate(zip(rows, ROW_LENGTHS, strict=False), 1):
        if len(row) != length:
            counted = {"row": number, "found": len(row), "expected": length}
            defects.append(Defect("row-length", counted))
    words = [word for row in rows for word in row]
    if strangers := [word for word in words if word not in _TOKEN_BY_TEXT]:
        defects.append(Defect("bad-tokens", {"text": quote(" ".join(strangers))}))
    tokens = [_TOKEN_BY_TEXT[word] for word in words if word in _TOKEN_BY_TEXT]
    if not defects:
        return Layout(tuple(tokens))
    if tokens:
        # The rows have said already that there are too few or too many.
        defects += find_defects(tokens)[len(tokens) != CELL_COUNT :]
    raise LayoutError(defects)


def format_layout(layout: Layout) -> str:
    """Write a layout."""
    texts = [format_token(token) for token in layout.tokens]
    return "/".join("".join(texts[row]) for row in _ROW_SLICES)


# --- Positions without history --------------------------------------------------------------


def parse_position(text: str) -> Position:
    """Read the three fields of a position: layout, pieces, last cell or ``-``."""
    words = _words(text)
    if len(words) != _FIELD_COUNT:
        counted = {"found": len(words), "expected": _FIELD_COUNT}
        raise FormatError(Defect("field-count", {"text": quote(text), **counted}))
    return _parse_fields(*words)


def format_position(position: Position) -> str:
    """Write a position as its three fields."""
    signs = {side: sign for sign, side in _STONE_SIGNS.items()}
    pieces = [signs[position.owner(cell)] for cell in range(CELL_COUNT)]
    last = _NO_CELL if position.last is None else format_cell(position.last)
    rows = "/".join("".join(pieces[row]) for row in _ROW_SLICES)
    return f"{format_layout(position.layout)} {rows} {last}"


def _parse_fields(layout: "_Word", pieces: "_Word", last: "_Word") -> Position:
    read_layout = _read(layout, parse_layout)
    black, white = _read(pieces, _parse_pieces)
    read_last = None if last.text == _NO_CELL else _read(last, parse_cell)
    return rules.check(Position(read_layout, black, white, read_last))


def _parse_pieces(text: str) -> tuple[int, int]:
    rows = text.split("/")
    if tuple(map(len, rows)) != ROW_LENGTHS or not set(text) <= {*_STONE_SIGNS, "/"}:
        raise FormatError(Defect("bad-pieces", {"text": quote(text)}))
    signs = text.replace("/", "")
    black = sum(1 << cell for cell, sign in enumerate(signs) if sign == "x")
    white = sum(1 << cell for cell, sign in enumerate(signs) if sign == "o")
    return black, white


# --- Position lines -------------------------------------------------------------------------


def parse_line(text: str) -> Game | None:
    """Read a position line: a layout and the moves from it; None for a line that says nothing.

    Where the second word has rows like a layout's, the line begins with the three fields of a
    position instead, and the moves go on from there. From a ``;`` on it is a comment.
    """
    _limit(text)
    words = _words(text.partition(";")[0])
    if not words:
        return None
    if len(words) > 1 and "/" in words[1].text:
        if len(words) < _FIELD_COUNT:
            raise FormatError(Defect("no-last-field"))
        game, moves = Game(_parse_fields(*words[:_FIELD_COUNT])), words[_FIELD_COUNT:]
    else:
        game, moves = Game(_read(words[0], parse_layout)), words[1:]
    for word in moves:
        _read(word, lambda name: game.play(parse_cell(name)))
    return game


def format_line(game: Game) -> str:
    """Write the moves up to the cursor as a position line."""
    start = game.root.position
    first = format_position(start) if start.ply else format_layout(start.layout)
    return " ".join([first, *map(format_cell, game.moves)])


# --- Outcomes, as JSON has them -------------------------------------------------------------


def outcome_data(outcome: Outcome) -> dict[str, object]:
    """Turn an outcome into plain values for JSON; docs/notation.md describes them."""
    needed = outcome.needed
    return {
        "winner": outcome.winner.value if outcome.winner else None,
        "by": [by.value for by in outcome.by],
        "links": [
            {"colour": link.pair.name.lower(), "chain": [*map(format_cell, link.chain)]}
            for link in outcome.links
        ],
        "ring": [*map(format_cell, outcome.ring)],
        "enclosed": [*map(format_cell, outcome.enclosed)],
        "needed": {"symbol": needed.symbol, "suit": needed.suit} if needed else None,
    }


# --- Words of a line ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    column: int


def _words(text: str) -> list[_Word]:
    words, end = [], 0
    for part in text.split():
        start = text.index(part, end)
        end = start + len(part)
        words.append(_Word(part, start + 1))
    return words


def _read(word: _Word, reader: Callable[[str], _Value]) -> _Value:
    """Read one word, and tell its column if that fails."""
    try:
        return reader(word.text)
    except KamonError as error:
        raise error.at(column=word.column) from None


def _limit(text: str) -> None:
    if len(text) > LINE_LIMIT:
        raise FormatError(Defect("line-too-long", {"found": len(text), "limit": LINE_LIMIT}))
