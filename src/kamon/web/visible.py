"""Text from visitors, without the characters that nobody sees.

Control characters can drive a terminal that shows a record, and marks for right-to-left text can
turn the rest of a list around.
"""

import unicodedata
from typing import Final

# Joiners that some scripts and emoji are written with.
_JOINERS: Final = frozenset("\u200c\u200d")
# Controls, formats (marks for bidirectional text among them), surrogates, private use, unassigned.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def visible_line(text: str) -> str:
    """Return a name or a title on one line: nothing unseen, and no space at either end."""
    return " ".join(visible_text(text).split())


def visible_text(text: str) -> str:
    """Return a text without what nobody sees; it may have several lines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each for each in text if each in "\n\t" or _is_seen(each))


def _is_seen(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _UNSEEN
