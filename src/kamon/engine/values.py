"""Values of positions and moves, for the side to move or for who plays the move."""

from typing import Final

WIN: Final = 1
DRAW: Final = 0
LOSS: Final = -1
VALUE_NAMES: Final = {WIN: "win", DRAW: "draw", LOSS: "loss"}
VALUES: Final = {name: value for value, name in VALUE_NAMES.items()}


def negated(value: int | None) -> int | None:
    """Return a value as the other side sees it; None stays None, for what is not proven."""
    return None if value is None else -value
