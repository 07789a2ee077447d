"""Strength of the levels: the highest against plain UCT, and each against the one below.

Run from the folder above with ``python -m bench.levels``; all of it takes hours. ``--matches``,
``--boards``, ``--movetime`` and ``--scale`` make it shorter. Each board is played twice, so that
both have Black once.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import NamedTuple

from kamon import Layout, Position, Side, legal_cells, outcome
from kamon.engine.levels import choose
from kamon.engine.playout_tree import PlayoutTree
from kamon.engine.strengths import STRENGTHS

UCT = "uct"
MATCHES = (UCT, *(str(strength.level) for strength in STRENGTHS[1:]))
# Far from the boards on which anything was tried out or fitted.
FIRST_BOARD = 1_000_000
NORMAL_95 = 1.96

Player = Callable[[Position, int], int]


@dataclass
class Clock:
    """How long a player has thought about how many moves; forced moves are left out."""

    moves: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count one move."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.moves += 1
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu

    def __str__(self) -> str:
        moves = max(1, self.moves)
        return f"{1000 * self.wall / moves:.0f} ms ({1000 * self.cpu / moves:.0f})"


class Game(NamedTuple):
    """One game, as the first of two players sees it: 1, a half or 0."""

    score: float
    side: Side


@dataclass
class Match:
    """The games between two players, and the time that each has used."""

    games: list[Game] = field(default_factory=list)
    clocks: tuple[Clock, Clock] = field(default_factory=lambda: (Clock(), Clock()))

    def points(self, *sides: Side) -> float:
        """Sum the first player's points in the games in which it had one of these sides."""
        return sum(game.score for game in self.games if game.side in sides)

    @property
    def score(self) -> float:
        """The first player's share of the points."""
        return self.points(*Side) / len(self.games)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the score.

        It takes the games for independent. Two games on one board are less than that, most often
        in opposite directions, and draws vary less than wins, so it is rather too wide.
        """
        count, squared = len(self.games), NORMAL_95**2
        middle = (self.score + squared / (2 * count)) / (1 + squared / count)
        variance = self.score * (1 - self.score) / count + squared / (4 * count**2)
        half = NORMAL_95 * math.sqrt(variance) / (1 + squared / count)
        return middle - half, middle + half


# --- Players --------------------------------------------------------------------------------


def by_level(
    position: Position, seed: int, *, level: int, scale: float = 1.0, seconds: float | None = None
) -> int:
    """Play as a level does."""
    return choose(position, level, seed=seed, scale=scale, seconds=seconds)


def by_uct(position: Position, seed: int, *, seconds: float) -> int:
    """Play the move that plain UCT has tried most often when its time is over."""
    moment = time.perf_counter() + seconds
    tree = PlayoutTree(position, seed, prove=False)
    tree.grow_until(moment)
    visits = tree.visits()
    return max(visits, key=lambda cell: (visits[cell], -cell))


# --- Matches --------------------------------------------------------------------------------


def play(
    layout: Layout, players: dict[Side, Player], clocks: dict[Side, Clock], rng: Random
) -> Side | None:
    """Play one game to its end and return the winner."""
    position = Position(layout)
    while (result := outcome(position)) is None:
        legal, seed = legal_cells(position), rng.getrandbits(32)
        if len(legal) == 1:
            position = position.after(legal[0])
            continue
        with clocks[position.turn].running():
            cell = players[position.turn](position, seed)
        position = position.after(cell)
    return result.winner


def play_match(first: Player, second: Player, boards: int, name: str) -> Match:
    """Play some boards from both sides."""
    match = Match()
    for number in range(boards):
        layout = Layout.shuffled(FIRST_BOARD + number)
        for side in Side:
            winner = play(
                layout,
                {side: first, side.other: second},
                dict(zip((side, side.other), match.clocks, strict=True)),
                Random(2 * number + (side is Side.WHITE)),
            )
            score = 0.5 if winner is None else float(winner is side)
            match.games.append(Game(score, side))
        games = len(match.games)
        print(f"{name}: {match.points(*Side)} of {games}", file=sys.stderr, flush=True)
    return match


def matches(options: argparse.Namespace) -> Iterator[tuple[str, Match]]:
    """Play all that is asked for."""
    for asked in options.matches:
        first: Player
        second: Player
        if asked == UCT:
            name = f"level 8 against plain UCT, {options.movetime} s a move each"
            first = partial(by_level, level=8, seconds=options.movetime)
            second = partial(by_uct, seconds=options.movetime)
        else:
            level = int(asked)
            name = f"level {level} against level {level - 1}"
            first = partial(by_level, level=level, scale=options.scale)
            second = partial(by_level, level=level - 1, scale=options.scale)
        for player in (first, second):
            player(Position(Layout.shuffled(0)), 0)  # compiles
        yield name, play_match(first, second, options.boards, name)


def in_figures(name: str, match: Match) -> str:
    """Write one row of the table."""
    low, high = match.interval
    games = len(match.games)
    draws = sum(game.score not in {0.0, 1.0} for game in match.games)
    cells = [
        name,
        f"{games // 2}",
        f"{match.score:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{match.points(Side.BLACK) / (games // 2):.0%}",
        f"{match.points(Side.WHITE) / (games // 2):.0%}",
        f"{draws}",
        *map(str, match.clocks),
    ]
    return "| " + " | ".join(cells) + " |"


# --- The command line -----------------------------------------------------------------------


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
    parser.add_argument("--scale", type=float, default=0.25, help="of the levels' budgets")
    options = parser.parse_args(arguments)
    print(f"Budgets of levels scaled by {options.scale}; mean times of moves not forced.\n")
    heads = ["match", "boards", "score", "95 % interval", "as Black", "as White", "draws"]
    heads += ["a move, wall (CPU)", "the opponent's"]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    for name, match in matches(options):
        print(in_figures(name, match), flush=True)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n{time.strftime('%Y-%m-%d %H:%M')}, load {load}")


if __name__ == "__main__":
    main()
