"""Whether people can tell the colours apart, by the published formulas.

Contrast is WCAG 2's. Sight is simulated with the matrices of Machado, Oliveira and Fernandes (2009)
at severity 1.0, in linear RGB; distance is CIE76 in Lab under D65, where 2.3 is just noticeable.
"""

import re
from dataclasses import fields
from itertools import combinations
from math import dist

import pytest

from kamon.geometry import Pair
from kamon.position import Side
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.tokens import SUITS, SYMBOLS

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

TEXT_CONTRAST = 4.5
GRAPHIC_CONTRAST = 3.0
GREY_CONTRAST = 1.35
APART = 12.0

SIGHTS: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE_POINT: Triple = (0.95047, 1.0, 1.08883)

BOTH_THEMES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour: str) -> Triple:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def times(matrix: Matrix, vector: Triple) -> Triple:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def contrast(one: str, other: str) -> float:
    dark, light = sorted(times(TO_XYZ, linear(colour))[1] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: Triple) -> Triple:
    x, y, z = (
        value / white for value, white in zip(times(TO_XYZ, colour), WHITE_POINT, strict=True)
    )
    return 116 * _f(y) - 16, 500 * (_f(x) - _f(y)), 200 * (_f(y) - _f(z))


def _f(value: float) -> float:
    return value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116


def distance(one: str, other: str, sight: str) -> float:
    return dist(lab(_seen(one, sight)), lab(_seen(other, sight)))


def _seen(colour: str, sight: str) -> Triple:
    red, green, blue = (min(1.0, max(0.0, part)) for part in times(SIGHTS[sight], linear(colour)))
    return red, green, blue


def colours_of(value: object) -> list[str]:
    """List every text in a palette, however deep."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in colours_of(part)]
    if hasattr(value, "__dataclass_fields__"):
        return [
            text
            for part in fields(value)  # type: ignore[arg-type]
            for text in colours_of(getattr(value, part.name))
        ]
    return []


# --- The measure itself ---------------------------------------------------------------------


def test_the_measure_of_contrast_knows_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_the_measure_of_distance_knows_the_lab_of_red() -> None:
    assert lab(linear("#ff0000")) == pytest.approx((53.24, 80.09, 67.20), abs=0.02)


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_simulation_leaves_greys_alone(sight: str) -> None:
    assert _seen("#808080", sight) == pytest.approx(linear("#808080"), abs=1e-4)


def test_the_simulation_confuses_what_such_eyes_confuse() -> None:
    red, green = "#ff0000", "#9a8400"
    assert distance(red, green, "protanopia") < distance(red, green, "normal") / 2


# --- The colours ----------------------------------------------------------------------------


@BOTH_THEMES
def test_every_colour_is_six_hexadecimal_digits(palette: Palette) -> None:
    colours = colours_of(palette)
    assert len(colours) > 30
    assert [colour for colour in colours if not re.fullmatch("#[0-9a-f]{6}", colour)] == []


@BOTH_THEMES
def test_every_suit_symbol_edge_and_side_has_its_colours(palette: Palette) -> None:
    assert tuple(palette.suits) == SUITS
    assert "".join(palette.signs) == SYMBOLS
    assert set(palette.edges) == set(Pair)
    assert set(palette.stones) == set(Side)


@BOTH_THEMES
@pytest.mark.parametrize("suit", SUITS)
def test_the_ink_of_a_suit_reads_well_on_its_ground(palette: Palette, suit: int) -> None:
    colours = palette.suits[suit]
    assert contrast(colours.ink, colours.fill) >= TEXT_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("ground", ["paper", "cell", "water"])
def test_the_names_of_cells_read_well_on_every_ground(palette: Palette, ground: str) -> None:
    assert contrast(palette.text, getattr(palette, ground)) >= TEXT_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("side", Side)
def test_the_names_of_cells_read_well_on_stones(palette: Palette, side: Side) -> None:
    assert contrast(palette.stones[side].ink, palette.stones[side].fill) >= TEXT_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_the_signs_of_2007_stand_out_from_their_tile(palette: Palette, symbol: str) -> None:
    # Drawings, not letters: WCAG asks 3 to 1 of them.
    assert contrast(palette.signs[symbol], palette.tile) >= GRAPHIC_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("ground", ["cell", "water"])
def test_the_mark_of_a_legal_cell_stands_out(palette: Palette, ground: str) -> None:
    assert contrast(palette.legal, getattr(palette, ground)) >= GRAPHIC_CONTRAST


@BOTH_THEMES
def test_black_and_white_stones_cannot_be_confused(palette: Palette) -> None:
    black, white = palette.stones[Side.BLACK], palette.stones[Side.WHITE]
    assert contrast(black.fill, white.fill) >= 7


@BOTH_THEMES
@pytest.mark.parametrize("side", Side)
def test_a_stone_stands_out_from_its_cell_by_its_body_or_its_rim(
    palette: Palette, side: Side
) -> None:
    stone = palette.stones[side]
    seen = max(contrast(stone.fill, palette.cell), contrast(stone.rim, palette.cell))
    assert seen >= GRAPHIC_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("ground", ["cell", "water"])
def test_a_white_stone_is_clear_of_a_free_cell_in_greyscale(palette: Palette, ground: str) -> None:
    # Contrast is a relation of luminances, so it is the same without colours.
    white, free = palette.stones[Side.WHITE], getattr(palette, ground)
    assert contrast(white.fill, free) >= GREY_CONTRAST
    assert max(contrast(white.rim, free), contrast(white.fill, free)) >= GRAPHIC_CONTRAST
    assert contrast(white.rim, white.fill) >= GRAPHIC_CONTRAST


@BOTH_THEMES
@pytest.mark.parametrize("sight", SIGHTS)
def test_the_grounds_of_the_suits_keep_apart(palette: Palette, sight: str) -> None:
    pairs = combinations(palette.suits.items(), 2)
    apart = {
        (one, other): distance(first.fill, second.fill, sight)
        for (one, first), (other, second) in pairs
    }
    assert {pair: found for pair, found in apart.items() if found < APART} == {}


def test_night_differs_from_day_in_its_paper() -> None:
    assert contrast(LIGHT.paper, DARK.paper) >= 7
