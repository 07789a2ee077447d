"""What a puzzle teaches, told by the rules alone."""

from collections.abc import Sequence
from typing import Final

from kamon import rules
from kamon.engine.values import DRAW
from kamon.geometry import CORNERS, cells
from kamon.position import Position
from kamon.rules import By

# How the game ends.
LINK: Final = "link"
LOOP: Final = "loop"
BLOCK: Final = "block"
KEEP_THE_DRAW: Final = "draw"
ENDINGS: Final = (LINK, LOOP, BLOCK, KEEP_THE_DRAW)
# What the first move does. The move of a puzzle with this one does nothing else.
DEFEND: Final = "defend"
POISON: Final = "poison"
QUIET: Final = "quiet"
CORNER: Final = "corner"
DOUBLE: Final = "double"
THEMES: Final = (LINK, LOOP, BLOCK, DEFEND, POISON, QUIET, CORNER, DOUBLE, KEEP_THE_DRAW)

_NAMES: Final = {By.CONNECTION: LINK, By.LOOP: LOOP, By.BLOCK: BLOCK, By.FULL: KEEP_THE_DRAW}
# So many replies at least are forbidden by what the first move threatens.
_POISONED: Final = 2


def themes_of(position: Position, solution: Sequence[int], goal: int) -> tuple[str, ...]:
    """Name what a puzzle teaches.

    ``link``, ``loop`` and ``block`` say how the game ends, ``draw`` that a draw must be kept. The
    others describe the first move: ``corner`` says where it goes, ``double`` that it makes two new
    cells on which the solver would win, ``quiet`` that it makes none, ``poison`` that it spoils
    some of the replies that it leaves the opponent, because the solver could then win at once.

    A puzzle of one move either ends the game with it, or it is ``defend``: the move stops every
    threat, and the game goes on. What such a move threatens itself is not named.
    """
    is_defence = len(solution) == 1 and rules.outcome(position.after(solution[0])) is None
    found = {DEFEND} if is_defence else set()
    if goal == DRAW:
        found.add(KEEP_THE_DRAW)
    elif not is_defence:
        found |= _endings(position, solution)
    if CORNERS >> solution[0] & 1:
        found.add(CORNER)
    if len(solution) > 1:
        found |= _threats(position, solution[0])
    return tuple(theme for theme in THEMES if theme in found)


def _threats(position: Position, first: int) -> set[str]:
    """Name what the first move of a longer puzzle threatens."""
    side, after = position.turn, position.after(first)
    before = set(rules.winning_cells(position, side))
    new = set(rules.winning_cells(after, side)) - before
    found = {DOUBLE} if len(new) > 1 else set() if new else {QUIET}
    if _count_poisoned(after, new) >= _POISONED:
        found.add(POISON)
    return found


def _endings(position: Position, solution: Sequence[int]) -> set[str]:
    for cell in solution:
        position = position.after(cell)
    outcome = rules.outcome(position)
    if outcome is None:
        raise ValueError("a solution goes to the end of the game")
    return {_NAMES[by] for by in outcome.by}


def _count_poisoned(after: Position, new: set[int]) -> int:
    """Count the replies that match a cell on which the solver has come to threaten to win."""
    matching = after.layout.matching
    return sum(
        any(matching[reply] >> cell & 1 for cell in new - {reply})
        for reply in cells(rules.legal_mask(after))
    )
