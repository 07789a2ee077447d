"""Ten languages: gettext catalogues, read once and handed to templates and to the page.

The English text is the key. A catalogue lies in ``LANGUAGE.po`` beside this file; English needs
none.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

FOLDER: Final = Path(__file__).parent
# In the order of the menu, each by its own name.
LANGUAGES: Final = {
    "en": "English",
    "fr": "Français",
    "de": "Deutsch",
    "nl": "Nederlands",
    "it": "Italiano",
    "es": "Español",
    "pt-BR": "Português (Brasil)",
    "pt-PT": "Português (Portugal)",
    "pl": "Polski",
    "cs": "Čeština",
}
DEFAULT: Final = "en"
# Browsers take plain "pt" for Brazilian, so the page never says it of itself. Visitors may.
_PLAIN_NAMES: Final = {"pt": "pt-PT"}
_KNOWN: Final = {language.lower(): language for language in LANGUAGES} | _PLAIN_NAMES

# In Czech and Polish no line ends with a word of one letter.
_ONE_LETTER: Final = re.compile(r"(?<![^\s(„])([kvszouaiwKVSZOUAIW]) ")
_NO_LONELY_LETTERS: Final = frozenset({"cs", "pl"})
NO_BREAK_SPACE: Final = "\u00a0"


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> dict[str, str | list[str]]:
    """Return the translations of a language, English text to theirs.

    A text that counts something has several: one for each form that the language has, in the
    order of gettext. Its key is the English singular.
    """
    if language == DEFAULT:
        return {}
    with locate(language).open("rb") as stream:
        entries = read_po(stream, locale=language.replace("-", "_"))
    found: dict[str, str | list[str]] = {}
    for entry in entries:
        if entry.id and entry.pluralizable:
            found[entry.id[0]] = [_typeset(language, form) for form in entry.string or ()]
        elif entry.id and entry.string:
            found[str(entry.id)] = _typeset(language, str(entry.string))
    return found


def locate(language: str) -> Path:
    """Return the file of a catalogue."""
    return FOLDER / f"{language}.po"


def _typeset(language: str, text: str) -> str:
    if language in _NO_LONELY_LETTERS:
        return _ONE_LETTER.sub(rf"\1{NO_BREAK_SPACE}", text)
    return text


def translate(language: str, text: str) -> str:
    """Say a text in a language; in English where it has no translation."""
    found = catalogue(language).get(text, text)
    return found if isinstance(found, str) else text


def negotiate(wanted: Iterable[str]) -> str:
    """Return the first requested language that we support, of another region if need be."""
    for tag in wanted:
        if found := find(tag) or find(tag.replace("_", "-").partition("-")[0]):
            return found
    return DEFAULT


def find(tag: str) -> str | None:
    """Return the language that a tag names exactly, if we support it."""
    return _KNOWN.get(tag.replace("_", "-").lower())


def accepted(header: str) -> list[str]:
    """Read an Accept-Language header: the tags, best first."""
    weighted = []
    for part in header.split(",")[:20]:
        tag, _, parameter = part.partition(";")
        name, _, weight = parameter.partition("=")
        try:
            weighted.append((float(weight) if name.strip() == "q" else 1.0, tag.strip()))
        except ValueError:
            continue
    return [tag for weight, tag in sorted(weighted, key=lambda pair: -pair[0]) if weight > 0]
