"""The catalogues: every text that is shown has a translation, and none has one too many."""

import json
import re
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from kamon.editions import EDITIONS, Edition
from kamon.i18n import (
    DEFAULT,
    FOLDER,
    LANGUAGES,
    NO_BREAK_SPACE,
    accepted,
    catalogue,
    locate,
    negotiate,
    translate,
)
from kamon.tokens import TOKENS
from kamon.web.pages.assets import _artwork

TOOL = Path(__file__).parents[1] / "tools" / "words.py"
TRANSLATED = [language for language in LANGUAGES if language != DEFAULT]
PLACEHOLDER = re.compile(r"\{\w*\}")


@cache
def tool() -> ModuleType:
    """Load the tool by its path: it is a script and belongs to no package."""
    spec = spec_from_file_location("kamon_words_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def used() -> frozenset[str]:
    return frozenset(tool().used_words())


@cache
def entries(language: str) -> dict[str, Message]:
    """Return the texts of a catalogue that count nothing."""
    return {str(entry.id): entry for entry in read(language) if entry.id and not entry.pluralizable}


@cache
def counted(language: str) -> dict[str, Message]:
    """Return the texts that count something, by their English singular."""
    return {entry.id[0]: entry for entry in read(language) if entry.id and entry.pluralizable}


@cache
def read(language: str) -> Catalog:
    with locate(language).open("rb") as stream:
        return read_po(stream, locale=language.replace("-", "_"))


def test_there_are_nine_catalogues_and_english_needs_none() -> None:
    assert len(TRANSLATED) == 9
    assert sorted(path.stem for path in FOLDER.glob("*.po")) == sorted(TRANSLATED)


def test_many_texts_are_in_use() -> None:
    assert len(used()) > 150
    assert {"Play against the computer", "Skip to the content", "Oracle"} <= used()


@pytest.mark.parametrize(
    "text",
    [
        *("blue fish", "orange mountain", "any door", "anything pink"),
        *("one leaf", "six leaves", "three cups", "any ankh"),
        *("anything printed once", "anything printed twice", "anything printed six times"),
    ],
)
def test_what_tokens_are_called_is_a_text_of_its_own(text: str) -> None:
    assert text in used()


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda edition: edition.name)
def test_the_page_asks_for_no_name_of_a_token_that_catalogues_lack(edition: Edition) -> None:
    told = json.loads(_artwork().removeprefix("export default ").removesuffix(";"))
    names = told["editions"][edition.name]
    assert len(names["tokens"]) == 36
    assert len(names["any"]) == 12
    assert {*names["tokens"].values(), *names["any"].values()} <= used()


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_two_tokens_have_one_name(language: str) -> None:
    for edition in EDITIONS.values():
        names = [translate(language, edition.describe(token)) for token in TOKENS]
        assert len(set(names)) == len(TOKENS)


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_text_is_missing(language: str) -> None:
    assert sorted(used() - entries(language).keys()) == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_text_is_unused(language: str) -> None:
    assert sorted(entries(language).keys() - used()) == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_is_empty_or_uncertain(language: str) -> None:
    assert [
        text for text, entry in entries(language).items() if not str(entry.string).strip()
    ] == []
    assert [text for text, entry in entries(language).items() if entry.fuzzy] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_same_placeholders(language: str) -> None:
    differing = {
        text: entry.string
        for text, entry in entries(language).items()
        if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(str(entry.string)))
    }
    assert differing == {}


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_begin_and_end_as_the_text_does(language: str) -> None:
    """A sentence stays a sentence: labels get no full stop, and no blank hangs over."""
    differing = {
        text: entry.string
        for text, entry in entries(language).items()
        if str(entry.string).strip() != str(entry.string)
        or text.endswith((".", "…")) != str(entry.string).endswith((".", "…"))
    }
    assert differing == {}


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_text_that_counts_has_all_forms_of_the_language(language: str) -> None:
    words = tool().counted_words()
    assert words.keys() == counted(language).keys()
    for one, entry in counted(language).items():
        assert entry.id[1] == words[one][0]
        forms = entry.string or ()
        assert len(forms) == read(language).num_plurals
        for form in forms:
            assert sorted(PLACEHOLDER.findall(form)) == sorted(PLACEHOLDER.findall(entry.id[1]))


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_says_what_it_is(language: str) -> None:
    headers = dict(read(language).mime_headers)
    assert headers["Language"] == language.replace("-", "_")
    assert headers["Plural-Forms"].startswith("nplurals=")


def test_the_forms_of_a_text_that_counts_reach_the_page() -> None:
    assert catalogue("cs")["{n} day"] == ["{n} den", "{n} dny", "{n} dní"]
    assert translate("cs", "{n} day") == "{n} day"


@pytest.mark.parametrize("language", ["cs", "pl"])
def test_no_line_ends_with_a_word_of_one_letter(language: str) -> None:
    alone = re.compile(r"(?:^|\s)[kvszouaiw] ", re.IGNORECASE)
    texts = [text for text in catalogue(language).values() if isinstance(text, str)]
    assert [text for text in texts if alone.search(text)] == []
    assert any(NO_BREAK_SPACE in text for text in texts)


def test_a_catalogue_is_read_and_english_is_what_is_left() -> None:
    assert catalogue(DEFAULT) == {}
    assert catalogue("de")["Settings"] == translate("de", "Settings") == "Einstellungen"
    assert translate("de", "no such text") == "no such text"
    assert translate(DEFAULT, "Settings") == "Settings"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("ja, pt-BR;q=0.5", "pt-BR"),
        ("pt-PT,pt;q=0.9", "pt-PT"),
        ("pt-BR,pt;q=0.9", "pt-BR"),
        ("pt", "pt-PT"),
        ("pt-AO, en;q=0.5", "pt-PT"),
        ("pt_br", "pt-BR"),
        ("de; q=0.9, fr; q=0.1", "de"),
        ("en;q=0.1, cs;q=0.2", "cs"),
        ("fr;q=0, it", "it"),
        ("fr;q=much, nl;q=0.3", "nl"),
        ("tlh", "en"),
    ],
)
def test_the_language_is_the_best_that_the_browser_asks_for(header: str, language: str) -> None:
    assert negotiate(accepted(header)) == language
