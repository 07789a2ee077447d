"""The colours of the page around the board, by day and by night.

The colours of the board itself are in ``render.palette``, because pictures have them too.
tests/test_palette.py measures the contrasts.
"""

from typing import Final

# By the name of the CSS variable: the light colour, the dark one.
PAGE_COLOURS: Final[dict[str, tuple[str, str]]] = {
    # Headings and names.
    "strong": ("#211c18", "#f0e6d0"),
    "soft": ("#6b5f4c", "#b3a68e"),
    # Cards and buttons.
    "raised": ("#fbf7ec", "#241f1a"),
    # What one acts with: the primary button. As text it must be lighter at night.
    "lacquer": ("#7a1f1c", "#b5433a"),
    "lacquer-ink": ("#fbf7ec", "#fff7ec"),
    "lacquer-text": ("#7a1f1c", "#f08a6a"),
    # Gold that carries text, an icon or a thin line. Plain gold is for surfaces only by day.
    "gold-text": ("#8a6508", "#dcae3d"),
    # Thin lines that only part things.
    "hair": ("#d6cab2", "#3b332a"),
    "shade": ("rgb(60 40 10 / 12%)", "rgb(0 0 0 / 45%)"),
    "drop": ("rgb(60 40 10 / 38%)", "rgb(0 0 0 / 70%)"),
    # The sheet of a win: gold leaf on a card.
    "leaf": ("#dfc98f", "#4f421f"),
}
