"""Bring the catalogues up to date with the words in the page, the templates and the editions.

``make words`` adds what is new to every catalogue, empty, and drops what is no longer used. A text
whose English has changed keeps its old translation, but is marked as fuzzy: somebody must read it,
correct it, and take the mark away. The tests use the same list of words, and accept no such mark.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from kamon import __version__
from kamon.editions import EDITIONS, Edition
from kamon.engine.strengths import STRENGTHS
from kamon.errors import SENTENCES
from kamon.i18n import DEFAULT, FOLDER, LANGUAGES, locate
from kamon.tokens import SUITS, SYMBOLS, TOKENS
from kamon.web.errors import ERRORS
from kamon.web.learn.lessons import LESSONS, REASONS

WEB = FOLDER.parent / "web"
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
# How much of a text must be the same for it to be one whose English has changed.
_ALIKE = 0.5
_SCRIPT = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')
# A text that counts: the English singular and plural.
_COUNTED = re.compile(r'\btn\(\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"')
_TEMPLATE = re.compile(r"\b_\('((?:[^'\\]|\\.)*)'\)")
_PYTHON = re.compile(r'\btranslate\(\s*\w+,\s*"((?:[^"\\]|\\.)*)"')


def used_words() -> dict[str, list[str]]:
    """Return every text that the surfaces show, with the files that show it."""
    words: dict[str, list[str]] = {}
    for text, place in (*_words_in_files(), *_words_in_tables()):
        words.setdefault(text, []).append(place)
    return words


def _words_in_files() -> Iterator[tuple[str, str]]:
    patterns = {
        "static/js/**/*.js": _SCRIPT,
        "templates/*.html": _TEMPLATE,
        "**/*.py": _PYTHON,
    }
    for glob, pattern in patterns.items():
        for path in sorted(WEB.glob(glob)):
            for text in pattern.findall(path.read_text(encoding="utf-8")):
                yield text.replace('\\"', '"'), path.name


def _words_in_tables() -> Iterator[tuple[str, str]]:
    for edition in EDITIONS.values():
        for text in _words_of(edition):
            yield text, f"the {edition.name} edition"
    for strength in STRENGTHS:
        yield strength.name, f"level {strength.level}"
        yield strength.description, f"level {strength.level}"
    for number, lesson in enumerate(LESSONS, 1):
        for text in (lesson.title, lesson.text, lesson.done):
            yield text, f"step {number} of the tutorial"
    for reason in REASONS:
        yield reason, "the tutorial"
    for code, kind in ERRORS.items():
        yield kind.sentence, f"the error {code}"
    for code, sentence in SENTENCES.items():
        yield sentence, f"the defect {code}"


def _words_of(edition: Edition) -> Iterator[str]:
    """List the names of the tokens of an edition, and of all that share a symbol or a suit.

    Each is a text of its own, so that every language can make colour and symbol agree.
    """
    yield from map(edition.describe, TOKENS)
    yield from map(edition.any_with_symbol, SYMBOLS)
    yield from map(edition.any_with_suit, SUITS)


def counted_words() -> dict[str, tuple[str, list[str]]]:
    """Return every text that counts something: singular to plural and the files that show it."""
    found: dict[str, tuple[str, list[str]]] = {}
    for path in sorted(WEB.glob("static/js/**/*.js")):
        for one, many in _COUNTED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(one, (many, []))[1].append(path.name)
    return found


def bring_up_to_date(path: Path, language: str) -> None:
    """Rewrite one catalogue with exactly the words in use."""
    locale = language.replace("-", "_")
    old = Catalog(locale=locale)
    if path.exists():
        with path.open("rb") as stream:
            old = read_po(stream, locale=locale)
    new = Catalog(
        locale=locale,
        project="Kamon",
        version=__version__,
        header_comment=f"# Kamon in {LANGUAGES[language]}. `make words` keeps it complete.",
        charset="utf-8",
        fuzzy=False,
        # Times and names would make every run a change.
        creation_date=FIRST_DAY,
        revision_date=FIRST_DAY,
        last_translator="the translators of Kamon",
        language_team="Kamon",
        msgid_bugs_address="CONTRIBUTING.md",
    )
    words = used_words()
    gone = [each.id for each in old if isinstance(each.id, str) and each.id not in words]
    for text, places in words.items():
        known, like = old.get(text), _closest(text, gone)
        if known is None and like is not None:
            carried = old.get(like)
            new.add(
                text,
                "" if carried is None else carried.string,
                auto_comments=[_places(places)],
                flags=["fuzzy"],
                previous_id=[like],
            )
            continue
        # A mark stays until somebody takes it away.
        flags = sorted(known.flags & {"fuzzy"}) if known else []
        new.add(
            text,
            known.string if known else "",
            auto_comments=[_places(places)],
            flags=flags,
            previous_id=list(known.previous_id) if known else [],
        )
    for one, (many, places) in counted_words().items():
        known = old.get(one)
        forms = known.string if known and known.pluralizable else ("",) * new.num_plurals
        new.add((one, many), forms, auto_comments=[_places(places)])
    with path.open("wb") as stream:
        write_po(stream, new, width=100, include_previous=True)


def _closest(text: str, gone: list[str]) -> str | None:
    """Find the text that another one has probably been before its English was changed."""
    found = get_close_matches(text, [each for each in gone if each], 1, _ALIKE)
    return found[0] if found else None


def _places(places: list[str]) -> str:
    return f"in {', '.join(sorted(set(places)))}"


def main() -> None:
    """Update all catalogues."""
    for language in LANGUAGES:
        if language != DEFAULT:
            bring_up_to_date(locate(language), language)


if __name__ == "__main__":
    main()
