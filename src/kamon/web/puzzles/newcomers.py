"""The first puzzles of somebody who has tried none: easy ones, and none of them is rated."""

from collections.abc import Callable
from typing import Final

from kamon.puzzles.themes import DEFEND, KEEP_THE_DRAW
from kamon.web.puzzles.book import Listed

# About this rating is easy, for a puzzle of any length.
EASY_RATING: Final = 700


def _wins_at_once(listed: Listed) -> bool:
    return listed.turns == 1 and DEFEND not in listed.themes


def _defends(listed: Listed) -> bool:
    return DEFEND in listed.themes


def _has_two_moves(listed: Listed) -> bool:
    return listed.turns == 2  # noqa: PLR2004 - as its name says


_STEPS: Final = (_wins_at_once, _wins_at_once, _defends, _has_two_moves, _has_two_moves)
# A first try is rated only if the visitor has tried this many other puzzles, of any kind.
UNRATED_TRIES: Final = len(_STEPS)


def step(tries: int, theme: str | None) -> Callable[[Listed], bool]:
    """Return which puzzles fit a newcomer after some tries; a theme that they ask for comes first.

    A draw is hard to keep, and hard to explain, so it comes only if they ask for it.
    """

    def fits(listed: Listed) -> bool:
        if theme is not None:
            return theme in listed.themes
        return _STEPS[tries](listed) and KEEP_THE_DRAW not in listed.themes

    return fits
