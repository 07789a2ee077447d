"""A position as one self-contained SVG picture: a pure function from values to a string.

Pictures are drawn in units of a hundredth of a cell's radius around d4 and scaled by ``size``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import cos, pi, sin, sqrt
from typing import Final, Literal

from kamon import rules
from kamon.editions import COSMOLUDO_2020, Edition
from kamon.geometry import CELL_NAMES, CELLS, COORDINATES, Pair, cells
from kamon.notation import format_token
from kamon.position import Position, Side
from kamon.render.artwork import ARTWORK
from kamon.render.bodies import beyond, links, outlines
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.rules import Link, Outcome
from kamon.tokens import Token

Theme = Literal["light", "dark"]

RADIUS: Final = 50.0
# A picture that is narrower than this many pixels shows stones and no tokens.
SMALL: Final = 160
_STEP: Final = RADIUS * sqrt(3)
# The board with its frame is a hexagon that is wider than high. The frame is tight, so that cells
# are large on a phone: their tips reach 272 up and down, and the frame begins at 276.
_WIDTH: Final = 678
_HEIGHT: Final = 592
RATIO: Final = _WIDTH / _HEIGHT
_FRAME_INNER: Final = 319
_FRAME_OUTER: Final = 336
_PILE_AT: Final = (288, 230)
# The sizes of what lies on a cell, as distances of corners from its centre.
_CELL: Final = 47
_STONE: Final = 45
_SHINE: Final = 38
_LEGAL: Final = 43
_LAST: Final = 40
# Stones of 2020 are hexagons that grow together. Under the pawns of 2007 lie discs, with bars
# between them. Both have a lower side, and a shadow below that.
_DISC: Final = 27
_BAR: Final = 15
_RIM: Final = 3.4
_THICK: Final = 5
_THIN: Final = 3
_SHADE: Final = 3
# Tokens leave room for the ring of a cell that may be played; under a stone they are smaller still.
_FREE_SCALE: Final = 0.95
_COVERED_SCALE: Final = 0.7

# Pips of a die for the number of times that a sign is printed, and the size of each.
_PIPS: Final[dict[int, tuple[float, tuple[tuple[float, float], ...]]]] = {
    1: (0.52, ((0, 0),)),
    2: (0.32, ((-15, 0), (15, 0))),
    3: (0.28, ((0, -13), (-14, 11), (14, 11))),
    4: (0.25, ((-12, -12), (12, -12), (-12, 12), (12, 12))),
    5: (0.22, ((-14, -14), (14, -14), (0, 0), (-14, 14), (14, 14))),
    6: (0.2, ((-19, -9), (0, -9), (19, -9), (-19, 9), (0, 9), (19, 9))),
}

# A leaf to lie on: a circle with a notch.
_LILY_PAD: Final = "M24,-32A40,40 0 1 0 33,-23L17,-14Z"

_PAWN: Final = "M-19,27C-19,14 -9,10 -8,-4L8,-4C9,10 19,14 19,27Q0,36 -19,27Z"

# The enclosures in which Japanese crests are set tell the suits apart without their colours.
_ROUND: Final = 34.0


def _polygon(corners: int, radius: float, turn: float = 0, at: tuple[float, float] = (0, 0)) -> str:
    x, y = at
    points = [
        (
            x + radius * sin(2 * pi * (corner + turn) / corners),
            y - radius * cos(2 * pi * (corner + turn) / corners),
        )
        for corner in range(corners)
    ]
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + "Z"


def _blossom(petals: int, radius: float, bulge: float) -> str:
    """Draw a ring of round petals: arcs between points on a circle."""
    tips = [
        (radius * sin(2 * pi * (at + 0.5) / petals), -radius * cos(2 * pi * (at + 0.5) / petals))
        for at in range(petals)
    ]
    start = f"M{tips[-1][0]:.1f},{tips[-1][1]:.1f}"
    arcs = (f"A{bulge:.1f},{bulge:.1f} 0 0 1 {x:.1f},{y:.1f}" for x, y in tips)
    return start + "".join(arcs) + "Z"


_ENCLOSURES: Final = {
    1: _blossom(5, 29, 18.5),
    2: f"M0,-{_ROUND}A{_ROUND},{_ROUND} 0 1 1 0,{_ROUND}A{_ROUND},{_ROUND} 0 1 1 0,-{_ROUND}Z",
    3: _polygon(6, 38),
    4: _polygon(4, 39),
    5: _polygon(4, 40, 0.5),
    6: _blossom(8, 31.5, 12.5),
}
# A square and a diamond leave less room than a circle.
_SYMBOL_SCALE: Final = {1: 0.5, 2: 0.55, 3: 0.55, 4: 0.46, 5: 0.52, 6: 0.52}


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is to be shown on top of the stones."""

    legal: int
    last: int | None
    links: tuple[Link, ...] = ()
    ring: tuple[int, ...] = ()
    enclosed: tuple[int, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)


def draw(  # noqa: PLR0913 - options of a picture, all by name
    position: Position,
    *,
    edition: Edition = COSMOLUDO_2020,
    size: int = 600,
    theme: Theme = "light",
    coordinates: bool = False,
    legal: bool | Collection[int] = False,
    last: bool = True,
    winning: bool = True,
    labels: Mapping[int, str] | None = None,
    covered: bool = False,
) -> str:
    """Draw a position as SVG, ``size`` pixels wide.

    ``legal`` marks the cells that may be played (True), or the cells given. ``last`` marks the
    last move as the edition does, ``winning`` shows the chains and the ring that ended the game,
    and ``labels`` puts a short text on cells. Tokens under stones are engraved in them, or shown in
    full colour if ``covered``. In a picture so small that no token could be read, there are none.
    """
    outcome = rules.outcome(position)
    shown = outcome if winning else None
    marks = _Marks(
        legal=_legal_mask(position, legal),
        last=position.last if last else None,
        links=shown.links if shown else (),
        ring=shown.ring if shown else (),
        enclosed=shown.enclosed if shown else (),
        labels=labels or {},
    )
    palette = LIGHT if theme == "light" else DARK
    painter = _Painter(
        position,
        edition,
        palette,
        marks,
        coordinates=coordinates,
        covered=covered,
        small=size < SMALL,
    )
    title, description = _title(position, outcome), _description(position, edition)
    height = round(size * _HEIGHT / _WIDTH)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{height}" '
        f'viewBox="{-_WIDTH / 2:g} {-_HEIGHT / 2:g} {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<desc>{escape(description)}</desc>{''.join(painter.paint())}</svg>"
    )


def draw_token(
    token: Token | None,
    *,
    edition: Edition = COSMOLUDO_2020,
    size: int = 48,
    theme: Theme = "light",
) -> str:
    """Draw one token as SVG on a transparent ground."""
    palette = LIGHT if theme == "light" else DARK
    names = [edition.symbols[token.symbol]] if token else []
    title = escape(edition.describe(token))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="-43 -43 86 86" role="img" aria-label="{title}"><title>{title}</title>'
        f"{_definitions(names)}{_token(token, edition, palette)}</svg>"
    )


def centre(cell: int) -> tuple[float, float]:
    """Return the middle of a cell in the picture's units."""
    letter, row = COORDINATES[cell]
    return _STEP * (letter - row / 2 - 1.5), RADIUS * 1.5 * (row - 3)


def measures() -> dict[str, object]:
    """Return the shapes and measures of a picture, for a page that draws boards itself."""
    return {
        "radius": RADIUS,
        "view": [-_WIDTH / 2, -_HEIGHT / 2, _WIDTH, _HEIGHT],
        "centres": {CELL_NAMES[cell]: [round(at, 1) for at in centre(cell)] for cell in CELLS},
        "frame": [_FRAME_INNER, _FRAME_OUTER],
        "enclosures": _ENCLOSURES,
        "scales": _SYMBOL_SCALE,
        "pips": _PIPS,
        "pad": _LILY_PAD,
        "pawn": _PAWN,
        "pile": _PILE_AT,
        "sizes": {
            "cell": _CELL,
            "stone": _STONE,
            "shine": _SHINE,
            "legal": _LEGAL,
            "last": _LAST,
            "disc": _DISC,
            "bar": _BAR,
            "rim": _RIM,
            "thick": _THICK,
            "thin": _THIN,
            "shade": _SHADE,
            "free": _FREE_SCALE,
            "covered": _COVERED_SCALE,
        },
        "beyond": [
            [-1 if (other := beyond(cell, side)) is None else other for side in range(6)]
            for cell in CELLS
        ],
    }


# --- Words for screen readers ---------------------------------------------------------------


def _title(position: Position, outcome: Outcome | None) -> str:
    if outcome is None:
        return f"Kamon after {position.ply} moves, {position.turn.value} to play"
    how = " and ".join(by.value for by in outcome.by)
    if outcome.winner is None:
        return f"Kamon after {position.ply} moves, a draw: the board is full"
    return f"Kamon after {position.ply} moves, {outcome.winner.value} has won by {how}"


def _description(position: Position, edition: Edition) -> str:
    parts = [f"{side.value.capitalize()}: {_names(position.stones(side))}." for side in Side]
    if position.last is not None and (token := position.layout.tokens[position.last]) is not None:
        parts.append(
            f"Last move {CELL_NAMES[position.last]}, {edition.describe(token)}: "
            f"to match it, play {edition.describe_need(token)}."
        )
    parts.append(f"Legal: {_names(rules.legal_mask(position))}.")
    return " ".join(parts)


def _printable(text: str) -> str:
    """Leave out what XML cannot hold."""
    return "".join(letter for letter in text if letter.isprintable())


def _names(mask: int) -> str:
    return " ".join(CELL_NAMES[cell] for cell in cells(mask)) or "none"


def _legal_mask(position: Position, legal: bool | Collection[int]) -> int:  # noqa: FBT001
    if isinstance(legal, bool):
        return rules.legal_mask(position) if legal else 0
    return sum(1 << cell for cell in set(legal))


# --- Tokens ---------------------------------------------------------------------------------


def _definitions(names: Iterable[str]) -> str:
    # The ids carry no colour or size, so that pictures of either theme can share a page.
    paths = (f'<path id="kamon-{name}" d="{ARTWORK[name]}"/>' for name in names)
    return f"<defs>{''.join(paths)}</defs>"


def _use(name: str, scale: float, fill: str, x: float = 0, y: float = 0) -> str:
    place = f"translate({x:g} {y:g}) scale({scale:g})" if x or y else f"scale({scale:g})"
    return f'<use href="#kamon-{name}" transform="{place}" fill="{fill}" fill-rule="evenodd"/>'


def _token(token: Token | None, edition: Edition, palette: Palette) -> str:
    if token is None:
        return "" if edition.lifts_tokens else _blank(palette)
    return (
        _signs(token, edition, palette) if edition.lifts_tokens else _crest(token, edition, palette)
    )


def _blank(palette: Palette) -> str:
    return (
        f'<circle r="29" fill="none" stroke="{palette.line}" stroke-width="2.5"/>'
        f'<circle r="22" fill="none" stroke="{palette.line}" stroke-width="1.2"/>'
    )


def _crest(token: Token, edition: Edition, palette: Palette) -> str:
    suit = palette.suits[token.suit]
    # A thin line of ink: in grey, some colours are as light as the board.
    shape = (
        f'<path d="{_ENCLOSURES[token.suit]}" fill="{suit.fill}" stroke="{palette.ink}" '
        'stroke-opacity=".45" stroke-width="1.5"/>'
    )
    return shape + _use(edition.symbols[token.symbol], _SYMBOL_SCALE[token.suit], suit.ink)


def _signs(token: Token, edition: Edition, palette: Palette) -> str:
    scale, places = _PIPS[token.suit]
    ink = palette.signs[token.symbol]
    name = edition.symbols[token.symbol]
    tile = f'<circle r="33" fill="{palette.tile}" stroke="{palette.tile_rim}" stroke-width="2"/>'
    return tile + "".join(_use(name, scale, ink, x, y) for x, y in places)


def _engraved(token: Token | None, edition: Edition, ink: str) -> str:
    """Draw a token as it is seen under a stone: its shape without its colour."""
    if token is None:
        return ""
    return (
        f'<path d="{_ENCLOSURES[token.suit]}" fill="none" stroke="{ink}" stroke-width="2"/>'
        f"{_use(edition.symbols[token.symbol], _SYMBOL_SCALE[token.suit], ink)}"
    )


# --- Stones that have grown together --------------------------------------------------------


def body_path(stones: Collection[int]) -> str:
    """Return the outline of some stones of the edition of 2020."""
    return "".join(
        f"M{'L'.join('{:.1f},{:.1f}'.format(*_corner(cell, at)) for cell, at in line)}Z"
        for line in outlines(stones)
    )


def link_path(stones: Collection[int]) -> str:
    """Return the lines between the neighbours among some stones."""
    return "".join(
        "M{:.1f},{:.1f}L{:.1f},{:.1f}".format(*centre(cell), *centre(other))
        for cell, other in links(stones)
    )


def _corner(cell: int, corner: int) -> tuple[float, float]:
    """Return a corner of a stone, clockwise from the top."""
    x, y = centre(cell)
    return x + _STONE * sin(corner * pi / 3), y - _STONE * cos(corner * pi / 3)


# A drawing of some stones with a colour for the face and one for the rim.
_Shapes = Callable[[str, str], str]


def _hexagons(stones: Collection[int]) -> _Shapes:
    path = body_path(stones)
    return lambda fill, rim: (
        f'<path d="{path}" fill="{fill}" stroke="{rim}" stroke-width="{_RIM}" '
        'stroke-linejoin="round"/>'
    )


def _discs(stones: Collection[int]) -> _Shapes:
    """Draw discs with bars between them: lines with round ends, of which a disc is a short one."""
    dots = "".join("M{:.1f},{:.1f}h0".format(*centre(cell)) for cell in sorted(stones))
    bars = link_path(stones)

    def lines(colour: str, wider: float) -> str:
        common = f'fill="none" stroke="{colour}" stroke-linecap="round"'
        return (
            f'<path d="{dots}" {common} stroke-width="{2 * _DISC + wider:g}"/>'
            f'<path d="{bars}" {common} stroke-width="{_BAR + wider:g}"/>'
        )

    return lambda fill, rim: lines(rim, _RIM) + lines(fill, 0)


def _layer(shapes: _Shapes, fill: str, rim: str, lower: float, extra: str = "") -> str:
    place = f' transform="translate(0 {lower:g})"' if lower else ""
    return f"<g{place}{' ' + extra if extra else ''}>{shapes(fill, rim)}</g>"


def _at_corner(radius: float, corner: float) -> tuple[float, float]:
    """Return a place on the frame; corner 0 is on the right, and they go clockwise."""
    return radius * cos(pi * corner / 3), radius * sin(pi * corner / 3)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _into_frame(
    end: tuple[float, float], other: tuple[float, float], pair: Pair
) -> tuple[float, float]:
    """Return where a chain from one end to the other meets the frame beyond the first.

    A corner belongs to two edges, so the pair of edges says which of them is meant.
    """

    def height(place: tuple[float, float], edge: int) -> float:
        """Return how far out a place is towards an edge."""
        x, y = place
        return x * sin(edge * pi / 3) - y * cos(edge * pi / 3)

    # The edge of the pair that the end is near to, and the other end is far from.
    first = list(Pair).index(pair)
    edge = max((first, first + 3), key=lambda each: height(end, each) - height(other, each))
    out = _FRAME_INNER * cos(pi / 6) + 5 - height(end, edge)
    return end[0] + out * sin(edge * pi / 3), end[1] - out * cos(edge * pi / 3)


# --- The board ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Painter:
    position: Position
    edition: Edition
    palette: Palette
    marks: _Marks
    coordinates: bool = field(kw_only=True)
    covered: bool = field(kw_only=True)
    small: bool = field(kw_only=True)

    def paint(self) -> Iterator[str]:
        drawn = [*self.edition.symbols.values()]
        if self.edition.lifts_tokens:
            drawn += self.edition.edges.values()
        yield _definitions(drawn)
        yield (
            f'<rect x="{-_WIDTH / 2:g}" y="{-_HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" '
            f'rx="18" fill="{self.palette.paper}"/>'
        )
        yield self._tray()
        yield from self._frame()
        yield from self._grounds()
        for side in Side:
            yield from self._body(side)
        for cell in CELLS:
            x, y = centre(cell)
            yield f'<g transform="translate({x:.1f} {y:.1f})">{self._cell(cell)}</g>'
        yield from self._chains()
        yield from (self._label(cell, text) for cell, text in self.marks.labels.items())
        if self.edition.lifts_tokens and self.marks.last is not None:
            yield self._pile(self.marks.last)

    # --- What the stones lie in ---

    def _tray(self) -> str:
        """Draw what is seen between the cells."""
        corners = [_at_corner(_FRAME_INNER + 2, corner) for corner in range(6)]
        fill = self.palette.pond if self.edition.lifts_tokens else self.palette.tray
        return f'<polygon points="{_points(corners)}" fill="{fill}"/>'

    def _frame(self) -> Iterator[str]:
        """Draw six bands, clockwise from the top; opposite ones are alike."""
        joined = {link.pair for link in self.marks.links}
        for index, pair in enumerate([*Pair, *Pair]):
            start, end = index - 2, index - 1  # the corners at the ends of the band, of six
            outline = _points(
                [
                    _at_corner(_FRAME_INNER, start),
                    _at_corner(_FRAME_OUTER, start),
                    _at_corner(_FRAME_OUTER, end),
                    _at_corner(_FRAME_INNER, end),
                ]
            )
            rim = f' stroke="{self.palette.gold}" stroke-width="3"' if pair in joined else ""
            colours = self.palette.bands if self.edition.lifts_tokens else self.palette.edges
            yield f'<polygon points="{outline}" fill="{colours[pair]}"{rim}/>'
            if not self.small:
                yield self._edge_mark(pair, (start + end) / 2)

    def _edge_mark(self, pair: Pair, corner: float) -> str:
        """Mark an edge by more than its colour: one, two or three lozenges, or an animal."""
        if self.edition.lifts_tokens:
            # In the notch between the two middle cells.
            x, y = _at_corner(_FRAME_INNER * cos(pi / 6) - 5, corner)
            mark = _use(self.edition.edges[pair], 0.36, self.palette.stone_ink)
            disc = (
                f'<circle r="23" fill="{self.palette.bands[pair]}" stroke="{self.palette.pond}" '
                'stroke-width="2"/>'
            )
            return f'<g transform="translate({x:.1f} {y:.1f})">{disc}{mark}</g>'
        x, y = _at_corner((_FRAME_INNER + _FRAME_OUTER) / 2 * cos(pi / 6), corner)
        count = [*Pair].index(pair) + 1
        lozenges = "".join(
            f'<path d="M{(at - (count - 1) / 2) * 20:g},-5.2l7,5.2-7,5.2-7-5.2Z"/>'
            for at in range(count)
        )
        turn = corner * 60 + 90
        return (
            f'<g transform="translate({x:.1f} {y:.1f}) rotate({turn:g})" '
            f'fill="{self.palette.edge_inks[pair]}">{lozenges}</g>'
        )

    def _grounds(self) -> Iterator[str]:
        """Draw the cells: those that may be played are lit, and what a ring encloses is gold."""
        plain = self.palette.water if self.edition.lifts_tokens else self.palette.cell
        colours = dict.fromkeys(CELLS, plain)
        free = self.marks.legal & ~(self.position.black | self.position.white)
        colours |= dict.fromkeys(cells(free), self.palette.lit)
        colours |= dict.fromkeys(self.marks.enclosed, self.palette.enclosed)
        for fill in dict.fromkeys(colours.values()):
            path = "".join(
                _polygon(6, _CELL, at=centre(cell)) for cell in CELLS if colours[cell] == fill
            )
            yield f'<path d="{path}" fill="{fill}"/>'

    # --- Stones ---

    def _body(self, side: Side) -> Iterator[str]:
        """Draw all stones of a side, neighbours as one piece: shadow, lower side, face."""
        stones = frozenset(cells(self.position.stones(side)))
        if not stones:
            return
        colours = self.palette.stones[side]
        depth = _THIN if self.edition.lifts_tokens else _THICK
        shapes = _discs(stones) if self.edition.lifts_tokens else _hexagons(stones)
        shade = f'opacity="{self.palette.shadow:g}"'
        yield _layer(shapes, "#000", "#000", depth + _SHADE, shade)
        yield _layer(shapes, colours.edge, colours.rim, depth)
        yield _layer(shapes, colours.fill, colours.rim, 0)

    def _cell(self, cell: int) -> str:
        token = self.position.layout.tokens[cell]
        owner = self.position.owner(cell)
        parts = []
        if owner is None:
            parts.append("" if self.small else self._free(cell, token))
        elif self.edition.lifts_tokens:
            parts.append(self._pawn(owner))
        elif not self.small:
            parts.append(self._stone(cell, owner, token))
        if cell == self.marks.last:
            parts.append(self._last_mark())
        if cell in self.marks.enclosed:
            parts.append(
                f'<path d="{_polygon(6, 40)}" fill="none" stroke="{self.palette.gold}" '
                'stroke-width="5" stroke-dasharray="9 6"/>'
            )
        if self.coordinates and not self.small:
            parts.append(self._coordinate(cell))
        return "".join(parts)

    def _last_mark(self) -> str:
        if self.edition.lifts_tokens:
            return (
                f'<circle r="43" fill="none" stroke="{self.palette.gold}" stroke-width="4" '
                'stroke-dasharray="3 6"/>'
            )
        # A thin line of ink on both sides holds the gold apart from a stone of any colour.
        width = 14 if self.small else 6
        hexagon = f'<path d="{_polygon(6, _LAST)}" fill="none" stroke-linejoin="round" stroke="'
        return (
            f'{hexagon}{self.palette.ink}" stroke-width="{width + 2.4:g}"/>'
            f'{hexagon}{self.palette.gold}" stroke-width="{width}"/>'
        )

    def _free(self, cell: int, token: Token | None) -> str:
        drawn = _token(token, self.edition, self.palette)
        if not self.edition.lifts_tokens:
            drawn = f'<g transform="scale({_FREE_SCALE:g})">{drawn}</g>'
        elif token is not None:
            drawn = f'<path d="{_LILY_PAD}" fill="{self.palette.pad}"/>{drawn}'
        if not self.marks.legal:
            return drawn
        if self.marks.legal >> cell & 1:
            return drawn + (
                f'<path d="{_polygon(6, _LEGAL)}" fill="none" stroke="{self.palette.legal}" '
                'stroke-width="3" stroke-linejoin="round"/>'
            )
        return f'<g opacity="{self.palette.faded}">{drawn}</g>'

    def _stone(self, cell: int, owner: Side, token: Token | None) -> str:
        """Draw what is on a stone: a line of light, and the token that it covers."""
        stone = self.palette.stones[owner]
        shine = (
            f'<path d="{_polygon(6, _SHINE)}" fill="none" stroke="{stone.shine}" '
            'stroke-width="1.5" stroke-linejoin="round"/>'
        )
        if cell in self._proof():
            # The winning line runs there.
            return shine
        full = self.covered or cell == self.marks.last
        drawn = (
            _token(token, self.edition, self.palette)
            if full
            else _engraved(token, self.edition, stone.engraved)
        )
        return f'{shine}<g transform="scale({_COVERED_SCALE:g})">{drawn}</g>'

    def _proof(self) -> frozenset[int]:
        """Return the cells of the chains and the ring that have won."""
        chains = (link.chain for link in self.marks.links)
        return frozenset(self.marks.ring).union(*chains)

    def _pawn(self, owner: Side) -> str:
        stone = self.palette.stones[owner]
        return (
            f'<g fill="{stone.fill}" stroke="{stone.rim}" stroke-width="3" '
            f'stroke-linejoin="round"><path d="{_PAWN}"/><ellipse cy="-5" rx="14" ry="5"/>'
            f'<circle cy="-20" r="13"/></g>'
            f'<path d="M-6,-25A8,8 0 0 1 3,-28" fill="none" stroke="{stone.shine}" '
            'stroke-width="3" stroke-linecap="round"/>'
        )

    def _coordinate(self, cell: int) -> str:
        owner = self.position.owner(cell)
        on_stone = owner is not None and not self.edition.lifts_tokens
        ink = self.palette.stones[owner].ink if owner and on_stone else self.palette.text
        halo = self.palette.stones[owner].fill if owner and on_stone else self.palette.cell
        return (
            f'<text y="-27" text-anchor="middle" font-family="Georgia, serif" font-size="15" '
            f'fill="{ink}" stroke="{halo}" stroke-width="4" stroke-linejoin="round" '
            f'paint-order="stroke">{CELL_NAMES[cell]}</text>'
        )

    def _label(self, cell: int, text: str) -> str:
        x, y = centre(cell)
        half = 8 + 5.5 * len(text)
        return (
            f'<g transform="translate({x:.1f} {y + 28:.1f})"><rect x="{-half:g}" y="-11" '
            f'width="{2 * half:g}" height="22" rx="11" fill="{self.palette.paper}" '
            f'stroke="{self.palette.line}"/><text y="5" text-anchor="middle" '
            f'font-family="Georgia, serif" font-size="15" fill="{self.palette.text}">'
            f"{escape(_printable(text))}</text></g>"
        )

    def _chains(self) -> Iterator[str]:
        """Draw each chain from edge to edge, and the ring as a closed line."""
        for link in self.marks.links:
            yield self._line(link.chain, link.pair)
        if self.marks.ring:
            yield self._line(self.marks.ring, None)

    def _line(self, chain: tuple[int, ...], pair: Pair | None) -> str:
        """Draw the line of a chain between a pair of edges, or of a ring."""
        places = [centre(cell) for cell in chain]
        if pair is not None:
            # From edge to edge: the line runs into the frame that it joins.
            first, last = places[0], places[-1]
            places = [_into_frame(first, last, pair), *places, _into_frame(last, first, pair)]
        path = f"M{'L'.join(f'{x:.1f},{y:.1f}' for x, y in places)}{'' if pair else 'Z'}"
        common = 'fill="none" stroke-linejoin="round" stroke-linecap="round"'
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{self.palette.gold}" '
            f'stroke="{self.palette.ink}" stroke-width="1.8"/>'
            for x, y in map(centre, chain)
        )
        return (
            f'<path d="{path}" {common} stroke="{self.palette.ink}" stroke-width="10"/>'
            f'<path d="{path}" {common} stroke="{self.palette.gold}" stroke-width="7"/>{dots}'
        )

    def _pile(self, last: int) -> str:
        """Draw the lifted tokens beside the board, the last one on top."""
        x, y = _PILE_AT
        below = min(self.position.ply - 1, 4)
        layers = "".join(
            f'<circle cy="{4 * (below - at)}" r="33" fill="{self.palette.tile}" '
            f'stroke="{self.palette.tile_rim}" stroke-width="2.5"/>'
            for at in range(below)
        )
        pad = f'<circle cy="18" r="42" fill="{self.palette.line}" opacity=".35"/>'
        top = _token(self.position.layout.tokens[last], self.edition, self.palette)
        text = format_token(self.position.layout.tokens[last])
        return f'<g transform="translate({x} {y})" data-token="{text}">{pad}{layers}{top}</g>'
