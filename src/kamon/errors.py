"""The one tree of errors, and the table of everything that can be wrong.

    KamonError
    ├── FormatError        text that cannot be read
    ├── LayoutError        37 tokens that are not the 37 of the game; every defect at once
    ├── PositionError      stones that no position can have; every defect at once
    ├── IllegalMoveError   a cell that may not be played now
    ├── EngineMissingError the compiled engine is needed, but cannot be loaded
    └── ExtraMissingError  an optional package is needed, but not installed

Bad text and an illegal move are different errors: text that cannot be read, and a move that the
rules forbid. Each says what was wrong and what would be right. If the text came from a file or
a line, ``line`` and ``column`` (both from 1) give the place. A seed out of range, and an end that
a game cannot have, are a plain ``KamonError``.

What is wrong with a board, a position, a move or a record is a ``Defect``: a code and its values,
so that a page can say it in any language. ``SENTENCES`` says it in English. The errors of the
engine's protocol, the command line and the server have a sentence only, and no defects.

The values are plain data, named for what they are:

    cell, last                  a cell, as ``d4``
    token, last_token           a token, as ``F4``
    tokens                      tokens separated by spaces, as ``F4 --``
    side                        ``black`` or ``white``
    row                         the number of a row, from 1
    black, white                how many stones a side has
    found, expected             how many there are, and how many there should be
    limit                       the highest number allowed
    number                      a number that was given for a cell
    text                        text from outside, in quotation marks, escaped and cut by ``quote``
    tag                         the name of a tag of ours, as ``Edition``
    choices                     all that is allowed there, separated by commas
    result, expected_result     ``1-0``, ``0-1``, ``1/2-1/2`` or ``*``
    termination,                ``connection``, ``loop``, ``connection+loop``, ``block``, ``full``,
      expected_termination      ``resignation``, ``time`` or ``agreement``
    reason                      what the operating system or Python said, in its own words

A number that a browser would round, as the limit of seeds, is given as text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_QUOTE_LIMIT = 40

SENTENCES: Final[dict[str, str]] = {
    # Layouts
    "row-count": "expected {expected} rows, found {found}",
    "row-length": "expected {expected} tokens in row {row}, found {found}",
    "bad-tokens": "these are not tokens: {text}",
    "token-count": "expected {expected} tokens, found {found}",
    "missing-tokens": "missing: {tokens}",
    "doubled-tokens": "more than once: {tokens}",
    "unknown-tokens": "these tokens are not part of the game: {tokens}",
    "bad-seed": "a board number must be a whole number from 0 to {limit}, not {text}",
    # Positions
    "shared-cell": "a black and a white stone are on the same space",
    "stone-off-board": "a stone is off the board",
    "stone-counts": "{black} black and {white} white stones: Black must have as many stones as "
    "White, or one more",
    "neutral-stone": "there is a stone on {cell}, the neutral space",
    "no-last": "there are stones on the board, but the last move is not given",
    "last-off-board": "the last move is {number}, which is not a space on the board",
    "last-not-theirs": "the last move is {cell}, but {side}, who moved last, has no stone there",
    "waiting-side-won": "{side} has already won, but did not move last",
    "early-win": "{side} had already won before the last stone, {cell}",
    # Moves
    "no-such-cell": "there is no space {number}: spaces are numbered from 0 to {limit}",
    "game-over": "{cell} cannot be played: the game is over",
    "occupied": "{cell} cannot be played: there is already a stone on it",
    "neutral-cell": "{cell} cannot be played: it is the neutral space",
    "corner-start": "{cell} cannot be played: Black begins on an edge space, but not on a corner",
    "inside-start": "{cell} cannot be played: Black begins on an edge space, not inside",
    # The digit stands for the colour in one edition, for the number of symbols in the other.
    "no-match": "{cell} cannot be played: {token} has neither the letter nor the digit of "
    "{last_token} on {last}",
    # Games
    "start-removed": "the starting position of a game cannot be removed",
    "ended-already": "the game is already over",
    "agreement-is-draw": "a game that ends by agreement is a draw; one that ends by resignation or "
    "time has a winner",
    # Text
    "bad-cell": "{text} is not a space: use a small letter and a digit, for example c4",
    "bad-token": "{text} is not a token: use a letter from A to F and a digit from 1 to 6, for "
    "example C4, or -- for the neutral token",
    "bad-pieces": "{text} does not describe the stones: use x, o or . for each space, in seven "
    "rows of 4, 5, 6, 7, 6, 5 and 4, separated by /",
    "field-count": "{text} is not a position: expected {expected} fields (the layout, the stones "
    "and the last move), found {found}",
    "no-last-field": "the last move is missing after the stones: use - if there is none",
    "line-too-long": "the line is too long: {found} characters (limit {limit})",
    # Records
    "record-too-long": "the record is too long: more than {limit} characters",
    "bad-tag": '{text} is not a tag: expected [Name "value"]',
    "doubled-tag": "the tag {text} appears twice",
    "bad-tag-value": "{text} is not a valid {tag}: expected {choices}",
    "bad-time-control": "{text} is not a time control: use, for example, 300+5 (seconds and "
    "increment), 1/259200 (seconds per move) or - for none",
    "no-layout-tag": 'the Layout tag is missing: expected [Layout "..."]',
    "layouts-differ": "the Position and Layout tags disagree: both must have the same layout",
    "unexpected-text": "{text} does not belong here: expected a move such as c4, a comment, "
    "a variation, a glyph or the result",
    "bad-glyph": "{text} is not a valid glyph: use $0 to ${limit}, after a move",
    "misplaced-variation": "a variation must follow the move that it replaces",
    "deep-variation": "variations are nested more than {limit} deep",
    "open-variation": "a variation is opened but never closed",
    "text-after-result": "{text} comes after the result, which must be the end",
    "no-result": "the result is missing: expected 1-0, 0-1, 1/2-1/2 or *",
    "results-differ": "the Result tag says {text}, but the moves end with {result}",
    "wrong-result": "the result is {result}, but the game ended by {expected_termination}: "
    "expected {expected_result}",
    "wrong-termination": "the Termination tag says {termination}, but the game ended by "
    "{expected_termination}",
    "unfinished-termination": "an unfinished game (*) cannot have a Termination tag",
    "not-ended": "the game is not over on the board: expected the result *, or a Termination tag "
    "with resignation, time or agreement",
    # The engine
    "numba-missing": "the engine needs numba, which is not installed: run pip install numba; "
    "levels 1 to 5 play without it",
    "numba-broken": "the engine needs numba, which cannot be loaded: {reason}; "
    "levels 1 to 5 play without it",
}


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong: its code and the values of its sentence. ``str()`` is English."""

    code: str
    values: Mapping[str, str | int] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return SENTENCES[self.code].format_map(self.values)


class KamonError(ValueError):
    """Any error of this package: its defects, or only a sentence. ``str()`` is for people."""

    def __init__(self, problem: Defect | str) -> None:
        super().__init__(problem)
        self.defects: tuple[Defect, ...] = (problem,) if isinstance(problem, Defect) else ()
        self.message = str(problem)
        self.line: int | None = None
        self.column: int | None = None

    def at(self, *, line: int | None = None, column: int | None = None) -> "KamonError":
        """Add the place in the text, keeping what a closer reader has already said of it."""
        if self.line is None:
            self.line = line
        if self.column is None:
            self.column = column
        return self

    def data(self) -> dict[str, object]:
        """Turn the defects and the place into plain values for JSON."""
        defects = [{"code": one.code, "values": dict(one.values)} for one in self.defects]
        return {"defects": defects, "line": self.line, "column": self.column}

    def __str__(self) -> str:
        places = [("line", self.line), ("column", self.column)]
        place = ", ".join(f"{name} {number}" for name, number in places if number is not None)
        return f"{place}: {self.message}" if place else self.message


class FormatError(KamonError):
    """Text that cannot be read."""


class _DefectsError(KamonError):
    def __init__(self, what: str, defects: Sequence[Defect]) -> None:
        super().__init__(f"{what}: {'; '.join(map(str, defects))}")
        self.defects = tuple(defects)


class LayoutError(_DefectsError):
    """Tokens that do not make up the game's set; ``defects`` lists all that is wrong."""

    def __init__(self, defects: Sequence[Defect]) -> None:
        super().__init__("not a layout", defects)


class PositionError(_DefectsError):
    """Stones that no position can have; ``defects`` lists all that is wrong."""

    def __init__(self, defects: Sequence[Defect]) -> None:
        super().__init__("not a position", defects)


class IllegalMoveError(KamonError):
    """A cell that may not be played now."""


class EngineMissingError(KamonError):
    """The compiled engine is asked for where numba is not installed, or cannot be loaded."""

    def __init__(self, reason: str = "") -> None:
        broken = Defect("numba-broken", {"reason": reason})
        super().__init__(broken if reason else Defect("numba-missing"))


class ExtraMissingError(KamonError, ImportError):
    """A package is missing that only an extra of this one installs."""

    def __init__(self, module: str, package: str, extra: str) -> None:
        super().__init__(f'{module} needs {package}: pip install "kamon[{extra}]"')


def quote(text: str) -> str:
    """Show outside text in a message: escaped, and cut where it would flood the screen."""
    return repr(text if len(text) <= _QUOTE_LIMIT else text[: _QUOTE_LIMIT - 1] + "…")
