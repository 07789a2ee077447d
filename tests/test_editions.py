import dataclasses

import pytest

from kamon.editions import COSMOLUDO_2020, EDITIONS, JACTALEA_2007, Edition
from kamon.geometry import Pair
from kamon.render.artwork import ARTWORK
from kamon.tokens import SUITS, SYMBOLS, TOKENS, Token

BOTH = pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)


def test_the_editions_are_found_by_their_year() -> None:
    assert EDITIONS == {"2020": COSMOLUDO_2020, "2007": JACTALEA_2007}


@BOTH
def test_every_symbol_suit_and_pair_of_edges_has_a_name_of_its_own(edition: Edition) -> None:
    assert "".join(edition.symbols) == SYMBOLS
    assert tuple(edition.suits) == SUITS
    assert set(edition.edges) == set(Pair)
    for names in (edition.symbols, edition.suits, edition.edges):
        assert len(set(names.values())) == len(names)


@BOTH
def test_every_symbol_has_a_drawing(edition: Edition) -> None:
    assert set(edition.symbols.values()) <= set(ARTWORK)


def test_every_animal_of_the_edges_of_2007_has_a_drawing() -> None:
    assert set(JACTALEA_2007.edges.values()) <= set(ARTWORK)


@BOTH
def test_no_two_tokens_are_described_alike(edition: Edition) -> None:
    assert len({edition.describe(token) for token in (*TOKENS, None)}) == 37


@BOTH
def test_an_edition_cannot_be_changed(edition: Edition) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        edition.name = "1999"  # type: ignore[misc]


def test_only_the_edition_of_2007_takes_tokens_off_the_board() -> None:
    assert JACTALEA_2007.lifts_tokens
    assert not COSMOLUDO_2020.lifts_tokens


def test_the_names_that_the_rule_sheets_give_are_kept() -> None:
    assert list(COSMOLUDO_2020.symbols.values()) == [
        "butterfly",
        "fish",
        "bird",
        "fan",
        "mountain",
        "door",
    ]
    assert COSMOLUDO_2020.suits[2] == "yellow"
    assert COSMOLUDO_2020.suits[3] == "blue"
    assert {"leaf", "cup"} <= set(JACTALEA_2007.symbols.values())
    assert "snake" in JACTALEA_2007.edges.values()


@pytest.mark.parametrize(
    ("edition", "token", "words"),
    [
        (COSMOLUDO_2020, Token("B", 3), "blue fish"),
        (COSMOLUDO_2020, None, "neutral"),
        (JACTALEA_2007, Token("B", 3), "three cups"),
        (JACTALEA_2007, Token("B", 1), "one cup"),
        (JACTALEA_2007, Token("A", 1), "one leaf"),
        (JACTALEA_2007, Token("A", 6), "six leaves"),
        (JACTALEA_2007, None, "neutral"),
    ],
)
def test_a_token_is_said_in_words(edition: Edition, token: Token | None, words: str) -> None:
    assert edition.describe(token) == words


@pytest.mark.parametrize(
    ("edition", "token", "words"),
    [
        (COSMOLUDO_2020, Token("B", 3), "any fish, or anything blue"),
        (JACTALEA_2007, Token("B", 3), "any cup, or anything printed three times"),
        (JACTALEA_2007, Token("C", 1), "any eye, or anything printed once"),
        (JACTALEA_2007, Token("D", 2), "any ankh, or anything printed twice"),
    ],
)
def test_what_matches_a_token_is_said_in_words(edition: Edition, token: Token, words: str) -> None:
    assert edition.describe_need(token) == words
