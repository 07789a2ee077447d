"""Plots of the census as SVG, drawn by hand: bars, and points on a logarithmic scale."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from kamon.census.report import fairness, value_proofs
from kamon.census.rows import Row

_WIDTH: Final = 640
_HEIGHT: Final = 320
_LEFT: Final = 64
_RIGHT: Final = 16
_TOP: Final = 44
_BOTTOM: Final = 52
# Colours that are told apart without colour vision too, on white and on dark pages.
_PAPER: Final = "#fbf7ec"
_INK: Final = "#1d1a16"
_GRID: Final = "#d8cfbb"
_COLOURS: Final = ("#2f4a6d", "#c8963e", "#a63d2f")
_MILLION: Final = 1e6


def plots(rows: Sequence[Row]) -> dict[str, str]:
    """Draw every plot of the document, by the name of its file."""
    return {
        "who-wins.svg": who_wins(rows),
        "first-moves.svg": winning_first_moves(rows),
        "proofs.svg": proof_sizes(rows),
        "endings.svg": endings(rows),
        "hardness.svg": hardness(rows),
        "fairness.svg": fair_boards(rows),
    }


def who_wins(rows: Sequence[Row]) -> str:
    """Draw how often each side wins."""
    names = {"win": "Black wins", "draw": "draw", "loss": "White wins", None: "not solved"}
    counts = Counter(row["value"] for row in rows)
    bars = [(name, counts[value]) for value, name in names.items()]
    return _bars(f"Who wins with best play, {len(rows)} boards", bars, "boards")


def winning_first_moves(rows: Sequence[Row]) -> str:
    """Draw how many first moves win, of the boards on which that is known of all."""
    complete = [row for row in rows if row["complete"]]
    counts = Counter(len(row["winning"]) for row in complete)
    bars = [(str(number), counts[number]) for number in range(13)]
    return _bars(f"First moves that win, {len(complete)} boards", bars, "boards")


def proof_sizes(rows: Sequence[Row]) -> str:
    """Draw how many nodes the proofs took, in steps of a factor of two."""
    steps = [_step(row["nodes"]) for row in rows if row["value"] is not None]
    counts = Counter(steps)
    span = range(min(steps, default=0), max(steps, default=0) + 1)
    bars = [(f"{2**step:,.0f} M", counts[step]) for step in span]
    return _bars(
        f"Nodes of the proof (bars begin at their labels), {len(steps)} boards", bars, "boards"
    )


def _step(nodes: int) -> int:
    return max(0, math.floor(math.log2(max(1, nodes) / _MILLION)))


def endings(rows: Sequence[Row]) -> str:
    """Draw what ends the lines of best play."""
    counts = Counter(row["ending"] for row in rows if row["line"])
    names = ("connection", "loop", "connection+loop", "block")
    bars = [(name, counts[name]) for name in names]
    return _bars(f"What ends the line, {counts.total()} won boards", bars, "boards")


def hardness(rows: Sequence[Row]) -> str:
    """Draw the work of a proof against how good the best first move looks."""
    points = {
        name: [(max(row["estimates"]), row["nodes"] / _MILLION) for row in some]
        for name, some in value_proofs(rows).items()
    }
    return _points(
        "Work of the proof of the value",
        points,
        "how good the best first move looks (0 to 1)",
        "million nodes",
    )


def fair_boards(rows: Sequence[Row]) -> str:
    """Draw how likely Black misses the win, on the boards on which all is known."""
    found = [value for value in map(fairness, rows) if value is not None]
    counts = Counter(min(9, int(value * 10)) for value in found)
    bars = [(f"{step / 10:.1f}", counts[step]) for step in range(10)]
    return _bars(f"Fairness (bars begin at their labels), {len(found)} boards", bars, "boards")


# --- Drawing ---


def _bars(title: str, bars: Sequence[tuple[str, int]], unit: str) -> str:
    most = max([count for _, count in bars] + [1])
    width = (_WIDTH - _LEFT - _RIGHT) / len(bars)
    lines = [_grid_line(_height(tick / most), str(tick)) for tick in _ticks(most)]
    body = [_axis_label(unit), *lines]
    for number, (name, count) in enumerate(bars):
        left, top = _LEFT + number * width, _height(count / most)
        body.append(
            f'<rect x="{left + width * 0.15:.1f}" y="{top:.1f}" width="{width * 0.7:.1f}" '
            f'height="{_height(0) - top:.1f}" fill="{_COLOURS[0]}"/>'
        )
        middle = left + width / 2
        body.append(_text(middle, _height(0) + 18, name, "middle"))
        if count:
            body.append(_text(middle, top - 5, str(count), "middle"))
    told = ", ".join(f"{name}: {count}" for name, count in bars)
    return _picture(title, told, body)


def _ticks(most: int) -> list[int]:
    step = 10 ** int(math.log10(max(1, most)))
    step = step if most / step >= 3 else max(1, step // 2 if most / step >= 2 else step // 5)  # noqa: PLR2004 - three to eight lines
    return list(range(0, most + 1, step))


def _points(
    title: str,
    groups: dict[str, list[tuple[float, float]]],
    across: str,
    upward: str,
) -> str:
    every = [point for points in groups.values() for point in points]
    low = math.floor(math.log10(min((y for _, y in every), default=1)))
    high = math.ceil(math.log10(max((y for _, y in every), default=10)))
    high = max(high, low + 1)
    body = [
        _axis_label(upward),
        *(
            _grid_line(_height((power - low) / (high - low)), f"{10**power:,g}")
            for power in range(low, high + 1)
        ),
        *(
            _text(_across(tick / 10), _height(0) + 18, f"{tick / 10:.1f}", "middle")
            for tick in range(0, 11, 2)
        ),
        _text((_LEFT + _WIDTH) / 2, _HEIGHT - 10, across, "middle"),
    ]
    for number, (name, points) in enumerate(groups.items()):
        colour = _COLOURS[number]
        for x, y in points:
            up = _height((math.log10(y) - low) / (high - low))
            body.append(_mark(_across(x), up, number))
        x = _LEFT + 10 + 160 * number
        body.append(_mark(x, _TOP - 8, number))
        body.append(_text(x + 10, _TOP - 4, f"{name} ({len(points)})", "start", colour))
    told = "; ".join(f"{name}: {len(points)} boards" for name, points in groups.items())
    return _picture(title, told, body)


def _mark(x: float, y: float, number: int) -> str:
    """Draw a point: round for the first group, square for the second, on its corner for the third.

    A shape tells the groups apart for eyes that confuse their colours.
    """
    colour = _COLOURS[number]
    if number == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.75"/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if number > 1 else ""
    return (
        f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}" '
        f'stroke="{_INK}" stroke-width="0.6"{turned}/>'
    )


def _height(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM - 12)


def _across(share: float) -> float:
    return _LEFT + 12 + share * (_WIDTH - _LEFT - _RIGHT - 24)


def _grid_line(y: float, label: str) -> str:
    return f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_GRID}"/>' + _text(
        _LEFT - 8, y + 4, label, "end"
    )


def _axis_label(unit: str) -> str:
    y = (_HEIGHT + _TOP - _BOTTOM) / 2
    return (
        f'<text x="16" y="{y:.0f}" text-anchor="middle" fill="{_INK}" '
        f'transform="rotate(-90 16 {y:.0f})">{escape(unit)}</text>'
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str = _INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'


def _picture(title: str, described: str, body: Sequence[str]) -> str:
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(described)}</desc>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="{_PAPER}"/>',
            f'<text x="{_LEFT}" y="24" font-size="16" fill="{_INK}">{escape(title)}</text>',
            *body,
            "</svg>",
            "",
        ]
    )
