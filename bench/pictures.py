"""Pictures over HTTP: how soon there is one that was drawn before, a new one, and a film.

The server runs in a process of its own and is asked over the loopback, one question after the
other. The machine may be busy with other things, which can only add.
"""

import argparse
import random
import statistics
import time
from typing import Final

import httpx

from bench.servers import Server
from kamon import Game, Layout, format_line, legal_cells

PATIENCE: Final = 60.0
PLIES: Final = 30
PERCENT: Final = 100


# --- What is asked for ----------------------------------------------------------------------


def long_line() -> str:
    """Play at random until there is a game of so many moves."""
    for seed in range(1000):
        choose = random.Random(seed).choice
        game = Game(Layout.shuffled(seed))
        while game.outcome is None and len(game.moves) < PLIES:
            game.play(choose(legal_cells(game.position)))
        if len(game.moves) == PLIES:
            return format_line(game)
    raise AssertionError


def ask(http: httpx.Client, path: str, **wishes: str | int) -> tuple[float, int]:
    """Ask for a picture, and tell the milliseconds and the bytes that it took."""
    started = time.perf_counter()
    answer = http.get(f"/api/{path}", params=wishes)
    took = time.perf_counter() - started
    answer.raise_for_status()
    return took * 1000, len(answer.content)


def row(what: str, measured: str, target: str = "") -> None:
    """Print a row of the table."""
    print(f"| {what} | {measured} | {target} |")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=500, help="for a picture drawn before")
    parser.add_argument("--new", type=int, default=10, help="how many pictures are drawn anew")
    given = parser.parse_args()
    line = long_line()
    with (
        Server() as server,
        httpx.Client(base_url=server.address, timeout=PATIENCE, trust_env=False) as http,
    ):
        first, _ = ask(http, "picture.png", line=line)
        cold = [ask(http, "picture.png", line=line, width=601 + at)[0] for at in range(given.new)]
        card, card_size = ask(http, "card.png", line=line)
        gif, gif_size = ask(http, "film.gif", line=line)
        webp, webp_size = ask(http, "film.webp", line=line)
        sizes = {kind: ask(http, kind, line=line)[1] for kind in ("picture.png", "picture.svg")}
        again = [ask(http, "picture.png", line=line)[0] for _ in range(given.requests)]
    cuts = statistics.quantiles(again, n=PERCENT, method="inclusive")
    print("| what | measured | target |\n|---|---|---|")
    row("a PNG drawn before, median", f"{cuts[49]:.1f} ms")
    row("a PNG drawn before, 99 of 100 within", f"{cuts[98]:.1f} ms", "20 ms")
    row("the first PNG of all, with the start of the process", f"{first:.0f} ms")
    row("a new PNG, median", f"{statistics.median(cold):.0f} ms")
    row("a new card", f"{card:.0f} ms, {card_size / 1000:.0f} kB")
    film = f"of {PLIES} moves"
    row(f"a new GIF {film}", f"{gif:.0f} ms, {gif_size / 1000:.0f} kB", "600 kB")
    row(f"a new WebP {film}", f"{webp:.0f} ms, {webp_size / 1000:.0f} kB")
    for kind, size in sizes.items():
        row(f"the size of {kind}", f"{size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
