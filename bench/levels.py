"""Strength of the levels: the highest against plain UCT, and each against the one below.

Run from the folder above with ``python -m bench.levels``; all of it takes about an hour.
``--matches``, ``--boards``, ``--movetime`` and ``--scale`` make it shorter. The boards are shared
out among ``--jobs`` processes, each with one thread. Players, games and statistics are those of
``kamon match``.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kamon.engine.matches import Pace, Score, interval, parse_player, play_match
from kamon.engine.strengths import STRENGTHS, STRONGEST

UCT = "uct"
MATCHES = (UCT, *(str(strength.level) for strength in STRENGTHS[1:]))
# Far from the boards on which anything was tried out or fitted.
FIRST_BOARD = 1_000_000


class Pairing(NamedTuple):
    """Two players, by their names for ``kamon match``, and how long they think."""

    one: str
    other: str
    scale: float
    seconds: float | None
    ahead: bool = False


def pairing(asked: str, options: argparse.Namespace) -> Pairing:
    """Read what is asked for: the yardstick, or a level against the one below."""
    if asked == UCT:
        return Pairing(f"level:{STRONGEST}", UCT, 1.0, options.movetime, options.ahead)
    return Pairing(f"level:{asked}", f"level:{int(asked) - 1}", options.scale, None)


def play_board(job: tuple[Pairing, int]) -> tuple[float, ...]:
    """Play one board from both sides; return the points of the first player."""
    who, board = job
    pace = Pace(who.scale, who.seconds, who.ahead)
    one, other = parse_player(who.one, pace), parse_player(who.other, pace)
    return tuple(game.points for game in play_match(one, other, games=2, seed=board))


def play(who: Pairing, boards: int, jobs: int) -> Iterator[Score]:
    """Play some boards, and tell how it stands after each."""
    score = Score()
    work = [(who, FIRST_BOARD + number) for number in range(boards)]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for points in pool.imap(play_board, work):
            score = score.plus(*points)
            yield score


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.levels")
    parser.add_argument(
        "--matches",
        nargs="+",
        choices=MATCHES,
        default=list(MATCHES),
        help=f"{UCT}, or levels to play against the one below",
    )
    parser.add_argument("--boards", type=int, default=100, help="each from both sides")
    parser.add_argument("--movetime", type=float, default=0.2, help="seconds, against UCT")
    parser.add_argument("--scale", type=float, default=1.0, help="of the levels' budgets")
    parser.add_argument(
        "--ahead", action="store_true", help="let the Oracle think on its opponent's time too"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args(arguments)
    print(f"Budgets of levels scaled by {options.scale:g}.\n")
    heads = ["match", "boards", "score", "95 % interval", "as Black", "as White", "draws"]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    for asked in options.matches:
        who = pairing(asked, options)
        *_, score = play(who, options.boards, options.jobs)
        print(in_figures(who, score), flush=True)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n{time.strftime('%Y-%m-%d %H:%M')}, load {load}")


def in_figures(who: Pairing, score: Score) -> str:
    """Write one row of the table."""
    low, high = interval(score.pairs) or (0.0, 1.0)
    boards = len(score.pairs)
    pace = "" if who.seconds is None else f", {who.seconds:g} s a move each"
    pace += ", thinking ahead" if who.ahead else ""
    cells = [
        f"{who.one} against {who.other}{pace}",
        f"{boards}",
        f"{score.share:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{sum(score.points[::2]) / boards:.0%}",
        f"{sum(score.points[1::2]) / boards:.0%}",
        f"{score.draws}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
