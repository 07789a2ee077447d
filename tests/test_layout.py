from collections import Counter

import pytest

from build import LAYOUT, mask, names
from kamon import Layout, LayoutError, Token, format_layout
from kamon.geometry import CELL_COUNT, OPENING
from kamon.layout import SEED_LIMIT
from kamon.tokens import TOKENS

# Worked out once and kept: a change here means that every seed ever written down is lost.
GOLDEN = {
    0: "A3A1B5D5/D6C6A4E3F4/--A5A2B1E6E2/B6D4F6C4D3D2A6/F5D1B2E5F1F3/C2B4E1C1C5/B3C3E4F2",
    1: "B2B4F5F6/E2B1A2D4A4/C1F3C2E5A6F2/F4E1E6C6D1--C4/B5E4D2B6D5A1/A3D6D3C3C5/B3E3F1A5",
    2**64 - 1: "E5C2C3C5/C6A5D2D1E1/B4--C4B3A4D6/A3E4F2B5A6E2E3/B1F5A2E6F6F4/D4F3D5B6F1/D3B2C1A1",
}


def test_each_symbol_has_each_suit_once() -> None:
    assert len(set(TOKENS)) == 36
    assert Counter(token.symbol for token in TOKENS) == dict.fromkeys("ABCDEF", 6)
    assert Counter(token.suit for token in TOKENS) == dict.fromkeys(range(1, 7), 6)


def test_a_token_matches_ten_others() -> None:
    for token in TOKENS:
        assert sum(token.matches(other) for other in TOKENS if other != token) == 10


@pytest.mark.parametrize("seed", GOLDEN)
def test_a_seed_gives_the_same_layout_for_ever(seed: int) -> None:
    assert format_layout(Layout.shuffled(seed)) == GOLDEN[seed]


@pytest.mark.parametrize("seed", [-1, SEED_LIMIT])
def test_a_seed_outside_its_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 18446744073709551615"):
        Layout.shuffled(seed)


@pytest.mark.no_cover
def test_shuffling_is_uniform() -> None:
    # Each of the 37 x 37 pairs of token and cell is expected 10,000 / 37 = 270 times. With a fair
    # shuffle the sum below is a chi-squared variable of 36 x 36 degrees of freedom: 1296 +- 51.
    rounds = 10_000
    seen = Counter(
        (cell, token)
        for seed in range(rounds)
        for cell, token in enumerate(Layout.shuffled(seed).tokens)
    )
    expected = rounds / CELL_COUNT
    places = [(cell, token) for cell in range(CELL_COUNT) for token in (*TOKENS, None)]
    chi_squared = sum((seen[place] - expected) ** 2 / expected for place in places)
    assert abs(chi_squared - 36 * 36) < 5 * 51


def test_a_layout_knows_its_neutral_and_what_black_may_open_with() -> None:
    assert LAYOUT.tokens[LAYOUT.neutral] is None
    assert names(1 << LAYOUT.neutral) == "d6"
    assert LAYOUT.opening == OPENING
    assert LAYOUT.playable.bit_count() == 36


def test_matching_is_by_symbol_or_suit_and_never_with_the_neutral() -> None:
    # a1 holds E5.
    assert LAYOUT.matching[0] == mask("a3 d4 f4 f5 g5 e6 e7 f6 g6 b3")
    assert LAYOUT.matching[LAYOUT.neutral] == 0
    assert not any(matching >> LAYOUT.neutral & 1 for matching in LAYOUT.matching)


def test_all_defects_of_a_layout_are_told_at_once() -> None:
    tokens = (Token("A", 1), Token("A", 1), Token("G", 9), None, None, *TOKENS[5:])
    with pytest.raises(LayoutError) as caught:
        Layout(tokens)
    assert tuple(map(str, caught.value.defects)) == (
        "expected 37 tokens, found 36",
        "missing: A2 A3 A4 A5",
        "more than once: A1 --",
        "these tokens are not part of the game: G9",
    )


def test_layouts_are_values() -> None:
    assert Layout(LAYOUT.tokens) == LAYOUT
    assert hash(Layout(LAYOUT.tokens)) == hash(LAYOUT)
    assert eval(repr(LAYOUT), {"Layout": Layout, "Token": Token}) == LAYOUT  # noqa: S307
