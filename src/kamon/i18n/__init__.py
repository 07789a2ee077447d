"""Nine languages: gettext catalogues, read once and handed to templates and to the page.

The English text is the key. A catalogue lies in ``LANGUAGE.po`` beside this file; English needs
none.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from babel.core import negotiate_locale
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
    "pt": "Português",
    "pl": "Polski",
    "cs": "Čeština",
}
DEFAULT: Final = "en"


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> dict[str, str]:
    """Return the translations of a language, English text to theirs."""
    if language == DEFAULT:
        return {}
    with (FOLDER / f"{language}.po").open("rb") as stream:
        entries = read_po(stream, locale=language)
    return {str(entry.id): str(entry.string) for entry in entries if entry.id and entry.string}


def translate(language: str, text: str) -> str:
    """Say a text in a language; in English where it has no translation."""
    return catalogue(language).get(text, text)


def negotiate(wanted: Iterable[str]) -> str:
    """Choose the first language wanted that there is."""
    languages = [tag.split("-")[0].split("_")[0].lower() for tag in wanted]
    return negotiate_locale(languages, list(LANGUAGES)) or DEFAULT


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
