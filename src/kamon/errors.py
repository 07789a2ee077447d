"""The one tree of errors.

    KamonError
    ├── FormatError        text that cannot be read
    ├── LayoutError        37 tokens that are not the 37 of the game; every defect at once
    ├── PositionError      stones that no position can have; every defect at once
    ├── IllegalMoveError   a cell that may not be played now
    └── EngineMissingError the compiled engine is asked for where it cannot be had

Bad text and an illegal move are different errors: the first is a slip of the pen, the second of
the mind. Each says what was wrong and what would be right; where the text came from a file or
a line, ``line`` and ``column`` (both from 1) tell the place.
"""

from collections.abc import Sequence

_QUOTE_LIMIT = 40


class KamonError(ValueError):
    """Any error of this package. ``str()`` is a sentence for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.line: int | None = None
        self.column: int | None = None

    def at(self, *, line: int | None = None, column: int | None = None) -> "KamonError":
        """Add the place in the text, keeping what a closer reader has already said of it."""
        if self.line is None:
            self.line = line
        if self.column is None:
            self.column = column
        return self

    def __str__(self) -> str:
        places = [("line", self.line), ("column", self.column)]
        place = ", ".join(f"{name} {number}" for name, number in places if number is not None)
        return f"{place}: {self.message}" if place else self.message


class FormatError(KamonError):
    """Text that cannot be read."""


class _DefectsError(KamonError):
    def __init__(self, what: str, defects: Sequence[str]) -> None:
        super().__init__(f"{what}: {'; '.join(defects)}")
        self.defects = tuple(defects)


class LayoutError(_DefectsError):
    """Tokens that do not make up the game's set; ``defects`` lists all that is wrong."""

    def __init__(self, defects: Sequence[str]) -> None:
        super().__init__("not a layout", defects)


class PositionError(_DefectsError):
    """Stones that no position can have; ``defects`` lists all that is wrong."""

    def __init__(self, defects: Sequence[str]) -> None:
        super().__init__("not a position", defects)


class IllegalMoveError(KamonError):
    """A cell that may not be played now."""


class EngineMissingError(KamonError):
    """The compiled engine is asked for where numba is not installed, or cannot be loaded."""

    def __init__(self, reason: str = "") -> None:
        missing = "is not installed here: pip install numba"
        how = f"cannot be loaded here: {reason}" if reason else missing
        super().__init__(f"the engine needs numba, which {how}; levels 1 to 5 play without it")


def quote(text: str) -> str:
    """Show outside text in a message: escaped, and cut where it would flood the screen."""
    return repr(text if len(text) <= _QUOTE_LIMIT else text[: _QUOTE_LIMIT - 1] + "…")
