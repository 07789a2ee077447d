"""Bring the catalogues up to date with the words in the page, the templates and the editions.

``make words`` adds what is new to every catalogue, empty, and drops what is no longer used. The
tests use the same list of words.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from kamon.editions import EDITIONS
from kamon.engine.strengths import STRENGTHS
from kamon.errors import SENTENCES
from kamon.i18n import DEFAULT, FOLDER, LANGUAGES
from kamon.web.errors import ERRORS
from kamon.web.learn.lessons import LESSONS, REASONS

WEB = FOLDER.parent / "web"
_SCRIPT = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')
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
        # Where tokens are lifted the suit is a number, and shown as one.
        suits = () if edition.lifts_tokens else edition.suits.values()
        for word in (*edition.symbols.values(), *suits):
            yield word, f"the {edition.name} edition"
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


def bring_up_to_date(path: Path, language: str) -> None:
    """Rewrite one catalogue with exactly the words in use."""
    old = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as stream:
            old = read_po(stream, locale=language)
    new = Catalog(locale=language, project="kamon", charset="utf-8", fuzzy=False)
    for text, places in used_words().items():
        known = old.get(text)
        comments = [f"in {', '.join(sorted(set(places)))}"]
        new.add(text, known.string if known else "", auto_comments=comments)
    with path.open("wb") as stream:
        stream.write(
            f"# Kamon in {LANGUAGES[language]}. `make words` keeps it complete.\n\n".encode()
        )
        write_po(stream, new, width=100, omit_header=True)


def main() -> None:
    """Update all catalogues."""
    for language in LANGUAGES:
        if language != DEFAULT:
            bring_up_to_date(FOLDER / f"{language}.po", language)


if __name__ == "__main__":
    main()
