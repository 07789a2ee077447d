"""What the boards of a census say: facts in words, and the numbers behind the plots."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from kamon.census.rows import PUT_OFF, Row
from kamon.geometry import COORDINATES, NEIGHBOURS
from kamon.layout import Layout
from kamon.notation import parse_layout

_CENTRE: Final = 3
# A normal deviate for an interval of 95 %.
_DEVIATE: Final = 1.96
# Fewer boards than this say nothing about what makes one hard.
_CORRELATED_FROM: Final = 10
_FAIREST: Final = 10
# Fewer boards in a row than this say nothing by themselves.
_TOLD_FROM: Final = 10


def fairness(row: Row) -> float | None:
    """Return how likely Black misses the win with the first move; None if not all is proven.

    Black is taken to choose each first move in proportion to how good it looks, which is the
    estimate by random games. So a board is fairer the fewer first moves win and the less they
    look like it, and 1 if it is a draw. A board that White wins is fair to nobody, and how hard
    that win is to find does not follow from the first moves: it has no fairness either.
    """
    if not row["complete"] or row["value"] == "loss":
        return None
    looks = _looks(row)
    return 1.0 - sum(looks[name] for name in row["winning"]) / sum(looks.values())


def _looks(row: Row) -> dict[str, float]:
    """Return for each first move how good it looks to random games."""
    return dict(zip(row["first_moves"], row["estimates"], strict=True))


def interval(hits: int, total: int) -> tuple[float, float]:
    """Return the Wilson interval of a share, for a confidence of 95 %."""
    if not total:
        return 0.0, 1.0
    share, spread = hits / total, _DEVIATE**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = _DEVIATE / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / 4 / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Spearman's rank correlation; 0 where one of them does not vary."""
    one, other = _deviations(_ranks(xs)), _deviations(_ranks(ys))
    spread = math.sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / spread if spread else 0.0


def _deviations(numbers: Sequence[float]) -> list[float]:
    mean = sum(numbers) / len(numbers)
    return [number - mean for number in numbers]


def _ranks(numbers: Sequence[float]) -> list[float]:
    """Rank numbers; equal ones share the mean of their ranks."""
    ordered = sorted(numbers)
    first = {number: ordered.index(number) for number in set(numbers)}
    counts = Counter(numbers)
    return [first[number] + (counts[number] - 1) / 2 for number in numbers]


# --- What may make a board hard ---


def matching_neighbours(layout: Layout) -> int:
    """Count the pairs of neighbouring cells whose tokens match."""
    pairs = sum((layout.matching[cell] & NEIGHBOURS[cell]).bit_count() for cell in range(37))
    return pairs // 2


def neutral_distance(layout: Layout) -> int:
    """Count the steps from the neutral cell to the centre of the board."""
    letter, row = COORDINATES[layout.neutral]
    right, down = letter - _CENTRE, row - _CENTRE
    return max(abs(right), abs(down), abs(right - down))


FEATURES: Final[dict[str, Callable[[Row], float]]] = {
    "how good the best first move looks": lambda row: max(row["estimates"]),
    "how good the first moves look, on average": lambda row: (
        sum(row["estimates"]) / len(row["estimates"])
    ),
    "how much the first moves look alike (best minus worst)": lambda row: (
        max(row["estimates"]) - min(row["estimates"])
    ),
    "pairs of neighbouring cells whose tokens match": lambda row: matching_neighbours(
        parse_layout(row["layout"])
    ),
    "steps from the neutral cell to the centre": lambda row: neutral_distance(
        parse_layout(row["layout"])
    ),
    "first moves": lambda row: len(row["first_moves"]),
}


# --- Facts ---


def facts(rows: Sequence[Row]) -> str:
    """Say in Markdown what the boards show."""
    solved = [row for row in rows if row["value"] is not None]
    complete = [row for row in rows if row["complete"]]
    parts = [_values(rows, solved), _first_moves(complete), _proofs(solved), _lines(solved)]
    return "\n\n".join([*parts, _hardness(solved), _fair_boards(complete)]) + "\n"


def _values(rows: Sequence[Row], solved: Sequence[Row]) -> str:
    counts = Counter(row["value"] for row in solved)
    lines = [
        "### Who wins",
        "",
        _how_many(rows, solved),
        "",
        f"| with best play | boards | share of these {len(rows)} | share of all boards |",
        "|---|---:|---:|---:|",
    ]
    left = len(rows) - len(solved)
    for value, words in (("win", "Black wins"), ("draw", "a draw"), ("loss", "White wins")):
        least, most = counts[value], counts[value] + left
        here = f"{least / max(1, len(rows)):.0%}"
        if left:
            here = f"{here} to {most / max(1, len(rows)):.0%}"
        low, high = interval(least, len(rows))[0], interval(most, len(rows))[1]
        lines.append(f"| {words} | {least} | {here} | {low:.0%} to {high:.0%} |")
    first = _solved_from_the_first(rows)
    if left and len(first) >= _TOLD_FROM:
        lines += ["", _in_a_row(first)]
    return "\n".join(lines)


def _solved_from_the_first(rows: Sequence[Row]) -> list[Row]:
    """Return the boards before the first one that is missing or not solved."""
    ordered = sorted(rows, key=lambda row: row["seed"])
    solved = itertools.takewhile(
        lambda each: each[1]["seed"] == each[0] and each[1]["value"] is not None,
        enumerate(ordered, 1),
    )
    return [row for _, row in solved]


def _in_a_row(first: Sequence[Row]) -> str:
    """Count the boards up to the first open one, which may be anything.

    Without that one the shares would be wrong: the others are those that could be solved.
    """
    counts = Counter(row["value"] for row in first)
    tried = len(first) + 1

    def share(value: str) -> str:
        low, high = interval(counts[value], tried)[0], interval(counts[value] + 1, tried)[1]
        return f"{low:.0%} to {high:.0%}"

    return (
        f"In the order of their seeds, the first {len(first)} boards are all solved: Black wins "
        f"{counts['win']}, {counts['draw']} are draws, and White wins {counts['loss']}. The next "
        f"board is open and may be anything. By these {tried} alone, Black wins {share('win')} of "
        f"all boards, {share('draw')} are draws, and White wins {share('loss')}."
    )


def _how_many(rows: Sequence[Row], solved: Sequence[Row]) -> str:
    """Say how many boards are solved of those that were tried, and what that leaves open."""
    left = len(rows) - len(solved)
    put_off = sum(row["value"] is None and row["reason"] == PUT_OFF for row in rows)
    text = f"{len(rows)} boards were tried, and {len(solved)} are solved."
    if left:
        ways = [f"a limit on nodes or time ended {left - put_off}"] if left > put_off else []
        ways += [f"{put_off} were put off because Black seemed unlikely to win"] if put_off else []
        text += (
            f" Of the other {left}, {' and '.join(ways)}. It is not known who wins these, so each "
            "share lies between two bounds."
        )
    return (
        f"{text} The last column holds for all boards, with a confidence of 95 % at each bound, "
        "because nobody has chosen the seeds. The sections after this one are about the solved "
        "boards only."
    )


def _first_moves(complete: Sequence[Row]) -> str:
    won = [row for row in complete if row["value"] == "win"]
    winning = sum(len(row["winning"]) for row in won)
    moves = sum(len(row["first_moves"]) for row in won)
    best = sum(_best_looking(row) in row["winning"] for row in won)
    lines = [
        "### By how many first moves",
        "",
        (
            f"Of {len(complete)} boards it is known of every first move whether it wins. "
            f"Black wins {len(won)} of them."
            if complete
            else "There is no board yet of which every first move is proven."
        ),
    ]
    if won:
        lines[-1] += (
            f" On those, {winning} of {moves} first moves win ({winning / moves:.0%}), and the one "
            f"that looks best to random games wins on {best} of {len(won)} boards."
        )
    return "\n".join(lines)


def _best_looking(row: Row) -> str:
    looks = _looks(row)
    return max(looks, key=lambda name: looks[name])


def _proofs(solved: Sequence[Row]) -> str:
    lines = [
        "### How long proofs are",
        "",
        "| | boards | median nodes | least | most | median CPU time |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    groups = value_proofs(solved)
    for words, some in (
        ("won by Black, winner only", groups["won by Black"]),
        (
            "won by Black, every first move",
            [row for row in solved if row["value"] == "win" and row["complete"]],
        ),
        ("drawn", groups["drawn"]),
        ("won by White", groups["won by White"]),
    ):
        if some:
            nodes = sorted(row["nodes"] for row in some)
            seconds = sorted(row["cpu_seconds"] for row in some)
            lines.append(
                f"| {words} | {len(some)} | {_millions(_median(nodes))} | {_millions(nodes[0])} | "
                f"{_millions(nodes[-1])} | {_median(seconds):,.0f} s |"
            )
    return "\n".join(lines)


def value_proofs(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group the boards whose nodes are those of the proof of their value, and no more.

    Where Black wins, settling the other first moves takes more; elsewhere the proof settles them.
    """
    return {
        "won by Black": [row for row in rows if row["value"] == "win" and not row["complete"]],
        "drawn": [row for row in rows if row["value"] == "draw"],
        "won by White": [row for row in rows if row["value"] == "loss"],
    }


def _millions(nodes: float) -> str:
    return f"{nodes / 1e6:,.0f} M"


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _lines(solved: Sequence[Row]) -> str:
    lines = [row for row in solved if row["line"]]
    endings = Counter(row["ending"] for row in lines)
    told = ", ".join(f"{name} {count}" for name, count in endings.most_common())
    lengths = sorted(len(row["line"]) for row in lines) or [0]
    return "\n".join(
        [
            "### What ends the line",
            "",
            (
                f"The {len(lines)} lines from won boards end by: {told or 'nothing'}. They last "
                f"{lengths[0]} to {lengths[-1]} plies, {_median(lengths):.0f} in the median."
            ),
        ]
    )


def _hardness(solved: Sequence[Row]) -> str:
    some = [row for group in value_proofs(solved).values() for row in group]
    if len(some) < _CORRELATED_FROM:
        return (
            "### What makes a board hard\n\n"
            f"{len(some)} boards are too few to tell: correlations are shown from "
            f"{_CORRELATED_FROM} boards on."
        )
    lines = [
        "### What makes a board hard",
        "",
        (
            "Spearman's rank correlation with the nodes of the proof of the value, over "
            f"{len(some)} boards. By chance alone, one in twenty is beyond "
            f"±{_DEVIATE / math.sqrt(len(some) - 1):.2f}."
        ),
        "",
        "| of the board | correlation |",
        "|---|---:|",
    ]
    nodes = [row["nodes"] for row in some]
    for name, feature in FEATURES.items():
        found = correlation([feature(row) for row in some], nodes)
        lines.append(f"| {name} | {found:+.2f} |")
    return "\n".join(lines)


def _fair_boards(complete: Sequence[Row]) -> str:
    known = [(each, row) for row in complete if (each := fairness(row)) is not None]
    if not known:
        return "### Fair boards\n\nNo board's fairness is known yet."
    ranked = sorted(known, key=lambda each: (-each[0], each[1]["seed"]))
    lines = [
        "### Fair boards",
        "",
        "| seed | fairness | value | first moves that win |",
        "|---:|---:|---|---|",
    ]
    for known_fairness, row in ranked[:_FAIREST]:
        wins = " ".join(row["winning"]) or "none"
        lines.append(f"| {row['seed']} | {known_fairness:.2f} | {row['value']} | {wins} |")
    return "\n".join(lines)
