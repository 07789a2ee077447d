"""Studies and reviews: how long until everything is proven, and whether the page stays quick.

The solver is timed in this process, on one thread, as an analyst uses it. The page is timed in a
real Chromium: from a click on a move until the board shows it, while the solver thinks about it.
"""

import argparse
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from bench.servers import Server
from kamon import parse_line
from kamon.engine.analysis import Insight, study
from kamon.engine.limits import MIB, Limits
from kamon.engine.review import Review, review
from kamon.engine.solver import Solver, warm_up

DATA = Path(__file__).parents[1] / "tests" / "data"
TABLE = 128 * MIB
PATIENCE = 60.0
REVIEW_PATIENCE = 240.0
STEP = """async () => {
    const shown = () => document.querySelectorAll(".table .stone").length;
    const before = shown(), start = performance.now();
    document.querySelector(STEPPER).click();
    while (shown() === before) await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""


def lines(name: str, count: int) -> list[str]:
    """Read the first lines of a file of the tests."""
    found = (DATA / name).read_text().splitlines()[:count]
    return [line.partition(";")[0].strip() for line in found]


def seconds_to_know(line: str) -> tuple[float, float]:
    """Time until every legal move of a position has its exact value, and then its length."""
    game = parse_line(line)
    assert game is not None  # noqa: S101 - the files hold positions
    solver = Solver(game.layout, Limits(memory=TABLE))
    start = time.perf_counter()
    valued = measured = PATIENCE

    def tell(insight: Insight) -> None:
        nonlocal valued, measured
        now = time.perf_counter() - start
        if all(move.value is not None for move in insight.moves):
            valued = min(valued, now)
        if all(move.distance is not None for move in insight.moves):
            measured = min(measured, now)

    study(solver, game.position, tell, seconds=PATIENCE)
    return valued, measured


def seconds_to_review(line: str, plies: Sequence[int], threads: int) -> list[float]:
    """Time until every position of a game is proven, from each of some plies on."""
    game = parse_line(line)
    assert game is not None  # noqa: S101 - the files hold games
    start = time.perf_counter()
    times = dict.fromkeys(plies, REVIEW_PATIENCE)

    def tell(found: Review) -> None:
        first = min((turn.ply for turn in found.turns if turn.before is not None), default=99)
        for ply in plies:
            if first <= ply:
                times[ply] = min(times[ply], time.perf_counter() - start)

    limits = Limits(seconds=REVIEW_PATIENCE, memory=512 * MIB, threads=threads)
    review(
        game,
        limits,
        tell=tell,
        cancelled=lambda: max(times.values()) < REVIEW_PATIENCE,
    )
    return list(times.values())


def clicks(page: Page, address: str, line: str) -> list[float]:
    """Step through a game to and fro while the solver thinks, and time each step."""
    page.goto(f"{address}/study?line={quote(line)}")
    page.wait_for_selector(".tree .move")
    found = []
    back = STEP.replace("STEPPER", "'.study .step:nth-child(2)'")
    for _ in range(2):
        for _ in range(len(line.split()) - 1):
            found.append(float(page.evaluate(back)))
            page.wait_for_timeout(120)
        page.locator(".study .step").nth(3).click()
        page.wait_for_timeout(300)
    return found


def page_times() -> list[float]:
    """Serve, open a browser, and step through games."""
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        return [
            each for line in lines("games.txt", 4) for each in clicks(page, server.address, line)
        ]


def main() -> None:
    """Print the table of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=30, help="of each file")
    parser.add_argument("--games", type=int, default=10, help="to review")
    options = parser.parse_args()
    warm_up()
    print("| what | measured | target |\n|---|---|---|")
    for ply, target in ((12, "1 s"), (10, "10 s")):
        known = [seconds_to_know(line) for line in lines(f"ply{ply}.txt", options.positions)]
        for what, times in (
            ("value", [each[0] for each in known]),
            ("length", [each[1] for each in known]),
        ):
            told = f"{median(times):.2f} s, the longest {max(times):.1f} s"
            goal = target if what == "value" else ""
            print(f"| ply {ply}, the {what} of every legal move, median | {told} | {goal} |")
    goals = {6: "60 s", 4: "3 min"}
    reviews = [
        seconds_to_review(line, list(goals), 2) for line in lines("games.txt", options.games)
    ]
    for at, (ply, goal) in enumerate(goals.items()):
        found = [each[at] for each in reviews]
        told = f"{median(found):.1f} s, the longest {max(found):.1f} s"
        what = f"a game reviewed by two threads, proven from ply {ply} on, median"
        print(f"| {what} | {told} | {goal} |", flush=True)
    steps = page_times()
    told = f"{median(steps):.0f} ms, {quantiles(steps, n=100)[98]:.0f} ms"
    print(f"| a click on the study page while the solver thinks, p50 and p99 | {told} | 50 ms |")


if __name__ == "__main__":
    main()
