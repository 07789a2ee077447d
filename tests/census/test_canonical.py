"""One layout stands for all that are alike, and for no others."""

from collections.abc import Callable, Sequence
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kamon import Layout, Position, Token, format_layout, perft
from kamon.census.canonical import SYMMETRIES, canonical_layout
from kamon.geometry import CELLS, NEIGHBOURS, OPENING, Edge, cells, mask_of
from kamon.tokens import SUITS, SYMBOLS

seeds = st.integers(0, 2**64 - 1)


def moved(layout: Layout, symmetry: Sequence[int]) -> Layout:
    return Layout(tuple(layout.tokens[cell] for cell in symmetry))


def renamed(layout: Layout, symbols: Sequence[str], suits: Sequence[int]) -> Layout:
    names = dict(zip(SYMBOLS, symbols, strict=True)), dict(zip(SUITS, suits, strict=True))
    return mapped(layout, lambda token: Token(names[0][token.symbol], names[1][token.suit]))


def exchanged(layout: Layout) -> Layout:
    return mapped(
        layout, lambda token: Token(SYMBOLS[token.suit - 1], SYMBOLS.index(token.symbol) + 1)
    )


def mapped(layout: Layout, change: Callable[[Token], Token]) -> Layout:
    return Layout(tuple(token and change(token) for token in layout.tokens))


def test_there_are_twelve_symmetries_that_keep_neighbours_edges_and_first_moves() -> None:
    assert len(set(SYMMETRIES)) == 12
    edges = {edge.value for edge in Edge}
    for symmetry in SYMMETRIES:
        assert sorted(symmetry) == list(CELLS)
        for cell in CELLS:
            around = mask_of(symmetry[beside] for beside in cells(NEIGHBOURS[cell]))
            assert around == NEIGHBOURS[symmetry[cell]]
        assert {mask_of(symmetry[cell] for cell in cells(edge)) for edge in edges} == edges
        assert mask_of(symmetry[cell] for cell in cells(OPENING)) == OPENING


@given(
    seeds,
    st.sampled_from(SYMMETRIES),
    st.permutations(SYMBOLS),
    st.permutations(SUITS),
    st.sampled_from((0, 1)),
)
def test_layouts_that_are_alike_have_one_canonical_layout(
    seed: int, symmetry: Sequence[int], symbols: list[str], suits: list[int], swap: int
) -> None:
    layout = Layout.shuffled(seed)
    other = renamed(moved(layout, symmetry), symbols, suits)
    assert canonical_layout(exchanged(other) if swap else other) == canonical_layout(layout)


@given(seeds)
@settings(max_examples=10)
def test_the_canonical_layout_is_like_the_layout(seed: int) -> None:
    # The numbers of games of four plies do not tell them apart if they are alike.
    layout = Layout.shuffled(seed)
    canonical = canonical_layout(layout)
    assert perft(Position(canonical), 4) == perft(Position(layout), 4)
    assert canonical_layout(canonical) == canonical
    assert any(alike(image, canonical) for image in images(layout))


def images(layout: Layout) -> list[Layout]:
    turned = [moved(layout, symmetry) for symmetry in SYMMETRIES]
    return turned + [exchanged(each) for each in turned]


def alike(one: Layout, other: Layout) -> bool:
    """Tell whether one becomes the other by renaming, by looking for the names it takes."""
    pairs = list(zip(one.tokens, other.tokens, strict=True))
    if any((a is None) != (b is None) for a, b in pairs):
        return False
    tokens = [(a, b) for a, b in pairs if a is not None and b is not None]
    symbols = {(a.symbol, b.symbol) for a, b in tokens}
    suits = {(a.suit, b.suit) for a, b in tokens}
    return len(symbols) == len(SYMBOLS) and len(suits) == len(SUITS)


def test_no_other_name_makes_a_lesser_layout() -> None:
    # All 720 names of the symbols with 40 of the suits, on every image of one board.
    layout = Layout.shuffled(3)
    canonical = format_layout(canonical_layout(layout))
    some = Random(1).sample(list(permutations(SUITS)), 40)
    for image in images(layout)[::6]:
        for symbols, suits in product(permutations(SYMBOLS), some[:4]):
            assert format_layout(renamed(image, symbols, suits)) >= canonical


@given(seeds, st.integers(0, 36), st.integers(0, 36))
def test_layouts_that_are_not_alike_have_different_canonical_layouts(
    seed: int, one: int, other: int
) -> None:
    layout = Layout.shuffled(seed)
    tokens = list(layout.tokens)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    changed = Layout(tuple(tokens))
    is_alike = any(alike(image, changed) for image in images(layout))
    assert (canonical_layout(changed) == canonical_layout(layout)) == is_alike


@pytest.mark.parametrize("seed", range(3))
def test_random_boards_are_all_different(seed: int) -> None:
    boards = {canonical_layout(Layout.shuffled(300 * seed + each)) for each in range(100)}
    assert len(boards) == 100
