"""Colours: paper, ink, lacquer and one touch of gold, by day and by night.

The six suits keep apart for eyes that confuse colours: tests/test_palette.py measures them through
a simulation of the common kinds. Even so no suit is told by colour alone (see ``svg``).
"""

from dataclasses import dataclass
from typing import Final

from kamon.geometry import Pair
from kamon.position import Side


@dataclass(frozen=True, slots=True)
class SuitColours:
    """The ground of a suit and the ink that reads best on it."""

    fill: str
    ink: str


@dataclass(frozen=True, slots=True)
class StoneColours:
    """A side's piece: its body, its rim, a line of light, and the ink of letters on it.

    ``edge`` is its lower side, which makes it a thing that lies there, and ``engraved`` a token
    under it: that is seen, but does not call.
    """

    fill: str
    rim: str
    shine: str
    ink: str
    edge: str
    engraved: str


@dataclass(frozen=True, slots=True)
class Palette:
    """Every colour of a picture."""

    paper: str
    cell: str
    water: str
    enclosed: str
    line: str
    text: str
    ink: str
    gold: str
    legal: str
    lit: str
    tray: str
    pond: str
    shadow: float
    faded: float
    pad: str
    tile: str
    tile_rim: str
    stone_ink: str
    bands: dict[Pair, str]
    suits: dict[int, SuitColours]
    signs: dict[str, str]
    edges: dict[Pair, str]
    edge_inks: dict[Pair, str]
    stones: dict[Side, StoneColours]


_INK: Final = "#1d1a16"
_PAPER: Final = "#fbf7ec"
_SUITS: Final = {
    1: SuitColours("#eb9bb9", _INK),
    2: SuitColours("#f7dc5a", _INK),
    3: SuitColours("#1f4e9c", _PAPER),
    4: SuitColours("#dd7620", _INK),
    5: SuitColours("#a31621", _PAPER),
    6: SuitColours("#359569", _INK),
}
_SIGNS: Final = {
    "A": "#2f6b2f",
    "B": "#9c3d1d",
    "C": "#1d4f91",
    "D": "#7a5a00",
    "E": "#b3261e",
    "F": "#0b6e75",
}

LIGHT: Final = Palette(
    paper="#f4eddc",
    cell="#e6dac0",
    water="#c8dcd5",
    enclosed="#efcf6b",
    line="#b9a988",
    text="#4d4436",
    ink=_INK,
    gold="#b98a17",
    legal="#93251f",
    lit="#f7e6ae",
    tray="#d8c8a4",
    pond="#acb8ab",
    shadow=0.2,
    faded=0.56,
    pad="#7fae86",
    tile="#f7ecd0",
    tile_rim="#a98f5a",
    stone_ink="#4a3a17",
    bands={Pair.GREEN: "#89a571", Pair.BLUE: "#7c929f", Pair.YELLOW: "#d8b353"},
    suits=_SUITS,
    signs=_SIGNS,
    edges={Pair.GREEN: "#2f7d52", Pair.BLUE: "#2f5f9e", Pair.YELLOW: "#d8a928"},
    edge_inks={Pair.GREEN: _PAPER, Pair.BLUE: _PAPER, Pair.YELLOW: _INK},
    stones={
        Side.BLACK: StoneColours(
            "#26201b", "#0f0c0a", "#4a3f35", "#f4eddc", edge="#0a0807", engraved="#5b4e41"
        ),
        Side.WHITE: StoneColours(
            "#fffdf7", "#6b5d47", "#e4dac4", "#3b342a", edge="#c3b596", engraved="#cfc1a3"
        ),
    },
)
DARK: Final = Palette(
    paper="#191613",
    cell="#2b2620",
    water="#1f3538",
    enclosed="#57481d",
    line="#55493a",
    text="#cfc3ac",
    ink=_INK,
    gold="#dcae3d",
    legal="#f08a6a",
    lit="#4a3c1c",
    tray="#382f24",
    pond="#48544c",
    shadow=0.5,
    faded=0.5,
    pad="#3f6b4c",
    tile="#e5d6b0",
    tile_rim="#8a7442",
    stone_ink="#d9c393",
    bands={Pair.GREEN: "#44663e", Pair.BLUE: "#3b566f", Pair.YELLOW: "#9f7e29"},
    suits=_SUITS,
    signs=_SIGNS,
    edges={Pair.GREEN: "#5aa981", Pair.BLUE: "#3a5fa8", Pair.YELLOW: "#bd9426"},
    edge_inks={Pair.GREEN: _INK, Pair.BLUE: _PAPER, Pair.YELLOW: _INK},
    stones={
        Side.BLACK: StoneColours(
            "#050403", "#8d7b60", "#3a3128", "#e9dcc0", edge="#6f5f47", engraved="#463c31"
        ),
        Side.WHITE: StoneColours(
            "#f3ecdd", "#8d7b60", "#cbbf9f", "#3b342a", edge="#9a8e76", engraved="#b9ab8c"
        ),
    },
)
