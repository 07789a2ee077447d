"""A position as one self-contained SVG picture: a pure function from values to a string.

Pictures are drawn in units of a hundredth of a cell's radius around d4 and scaled by ``size``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.rules import Link, Outcome
from kamon.tokens import Token

Theme = Literal["light", "dark"]

RADIUS: Final = 50.0
_STEP: Final = RADIUS * sqrt(3)
# The board with its frame is a hexagon that is wider than high.
_WIDTH: Final = 740
_HEIGHT: Final = 660
_FRAME_INNER: Final = 326
_FRAME_OUTER: Final = 350
_PILE_AT: Final = (292, 252)

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


def _polygon(corners: int, radius: float, turn: float = 0) -> str:
    points = [
        (
            radius * sin(2 * pi * (at + turn) / corners),
            -radius * cos(2 * pi * (at + turn) / corners),
        )
        for at in range(corners)
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
    4: _polygon(4, 41),
    5: _polygon(4, 40, 0.5),
    6: _blossom(8, 31.5, 12.5),
}
# A square and a diamond leave less room than a circle.
_SYMBOL_SCALE: Final = {1: 0.5, 2: 0.55, 3: 0.55, 4: 0.43, 5: 0.52, 6: 0.52}


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
) -> str:
    """Draw a position as SVG, ``size`` pixels wide.

    ``legal`` marks the cells that may be played (True), or the cells given. ``last`` marks the
    last move as the edition does, ``winning`` shows the chains and the ring that ended the game,
    and ``labels`` puts a short text on cells.
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
    painter = _Painter(position, edition, palette, marks, coordinates=coordinates)
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


# --- The board ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Painter:
    position: Position
    edition: Edition
    palette: Palette
    marks: _Marks
    coordinates: bool = field(kw_only=True)

    def paint(self) -> Iterator[str]:
        drawn = [*self.edition.symbols.values()]
        if self.edition.lifts_tokens:
            drawn += self.edition.edges.values()
        yield _definitions(drawn)
        yield (
            f'<rect x="{-_WIDTH / 2:g}" y="{-_HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" '
            f'rx="18" fill="{self.palette.paper}"/>'
        )
        yield from self._frame()
        for cell in CELLS:
            x, y = centre(cell)
            yield f'<g transform="translate({x:.1f} {y:.1f})">{self._cell(cell)}</g>'
        yield from self._chains()
        yield from (self._label(cell, text) for cell, text in self.marks.labels.items())
        if self.edition.lifts_tokens and self.marks.last is not None:
            yield self._pile(self.marks.last)

    def _frame(self) -> Iterator[str]:
        """Draw six bands, clockwise from the top; opposite ones are alike."""
        joined = {link.pair for link in self.marks.links}
        for index, pair in enumerate([*Pair, *Pair]):
            start, end = index - 2, index - 1  # the corners at the ends of the band, of six
            points = [
                (radius * cos(pi * corner / 3), radius * sin(pi * corner / 3))
                for radius, corner in (
                    (_FRAME_INNER, start),
                    (_FRAME_OUTER, start),
                    (_FRAME_OUTER, end),
                    (_FRAME_INNER, end),
                )
            ]
            outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            rim = f' stroke="{self.palette.gold}" stroke-width="6"' if pair in joined else ""
            fill = (
                self.palette.stone_band if self.edition.lifts_tokens else self.palette.edges[pair]
            )
            yield f'<polygon points="{outline}" fill="{fill}"{rim}/>'
            yield self._edge_mark(pair, (start + end) / 2)

    def _edge_mark(self, pair: Pair, corner: float) -> str:
        """Mark an edge by more than its colour: one, two or three lozenges, or an animal."""
        radius = (_FRAME_INNER + _FRAME_OUTER) / 2 * cos(pi / 6)
        x, y = radius * cos(pi * corner / 3), radius * sin(pi * corner / 3)
        if self.edition.lifts_tokens:
            name = self.edition.edges[pair]
            mark = _use(name, 0.27, self.palette.stone_ink)
            disc = f'<circle r="19" fill="{self.palette.stone_band}"/>'
            return f'<g transform="translate({x:.1f} {y:.1f})">{disc}{mark}</g>'
        count = [*Pair].index(pair) + 1
        lozenges = "".join(
            f'<path d="M{(at - (count - 1) / 2) * 22:g},-6l8,6-8,6-8-6Z"/>' for at in range(count)
        )
        turn = corner * 60 + 90
        return (
            f'<g transform="translate({x:.1f} {y:.1f}) rotate({turn:g})" '
            f'fill="{self.palette.edge_inks[pair]}">{lozenges}</g>'
        )

    def _cell(self, cell: int) -> str:
        token = self.position.layout.tokens[cell]
        owner = self.position.owner(cell)
        fill = self.palette.water if self.edition.lifts_tokens else self.palette.cell
        if cell in self.marks.enclosed:
            fill = self.palette.enclosed
        ground = (
            f'<path d="{_polygon(6, 47)}" fill="{fill}" stroke="{self.palette.line}" '
            'stroke-width="1.5"/>'
        )
        parts = [ground]
        if owner is None:
            parts.append(self._free(cell, token))
        elif self.edition.lifts_tokens:
            parts.append(self._pawn(owner))
        else:
            parts.append(self._stone(owner, token))
        if cell == self.marks.last and not self.edition.lifts_tokens:
            # A thin line of ink on both sides holds the gold apart from a stone of any colour.
            hexagon = f'<path d="{_polygon(6, 42)}" fill="none" stroke="'
            parts.append(f'{hexagon}{self.palette.ink}" stroke-width="11"/>')
            parts.append(f'{hexagon}{self.palette.gold}" stroke-width="8"/>')
        elif cell == self.marks.last:
            parts.append(
                f'<circle r="43" fill="none" stroke="{self.palette.gold}" stroke-width="4" '
                'stroke-dasharray="3 6"/>'
            )
        if cell in self.marks.enclosed:
            parts.append(
                f'<path d="{_polygon(6, 40)}" fill="none" stroke="{self.palette.gold}" '
                'stroke-width="5" stroke-dasharray="9 6"/>'
            )
        if self.coordinates:
            parts.append(self._coordinate(cell))
        return "".join(parts)

    def _free(self, cell: int, token: Token | None) -> str:
        drawn = _token(token, self.edition, self.palette)
        if self.edition.lifts_tokens and token is not None:
            drawn = f'<path d="{_LILY_PAD}" fill="{self.palette.pad}"/>{drawn}'
        if not self.marks.legal:
            return drawn
        if self.marks.legal >> cell & 1:
            return drawn + (
                f'<path d="{_polygon(6, 44)}" fill="none" stroke="{self.palette.legal}" '
                'stroke-width="5"/>'
            )
        return f'<g opacity="{self.palette.faded}">{drawn}</g>'

    def _stone(self, owner: Side, token: Token | None) -> str:
        stone = self.palette.stones[owner]
        return (
            f'<path d="{_polygon(6, 46)}" fill="{stone.fill}" stroke="{stone.rim}" '
            f'stroke-width="3"/><path d="{_polygon(6, 39)}" fill="none" stroke="{stone.shine}" '
            f'stroke-width="1.2"/><g transform="scale(.74)">'
            f"{_token(token, self.edition, self.palette)}</g>"
        )

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
            yield self._line(link.chain, closed=False)
        if self.marks.ring:
            yield self._line(self.marks.ring, closed=True)

    def _line(self, chain: tuple[int, ...], *, closed: bool) -> str:
        points = "L".join("{:.1f},{:.1f}".format(*centre(cell)) for cell in chain)
        path = f"M{points}{'Z' if closed else ''}"
        common = 'fill="none" stroke-linejoin="round" stroke-linecap="round"'
        return (
            f'<path d="{path}" {common} stroke="{self.palette.paper}" stroke-width="13" '
            f'opacity=".75"/><path d="{path}" {common} stroke="{self.palette.gold}" '
            'stroke-width="7"/>'
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
