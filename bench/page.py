"""The pages on a first visit: what is sent, how soon there is something, and whether it moves.

A Chromium with an empty cache and a slowed processor opens each page, and in a game makes a move.
The machine may be busy with other things, which can only add: of some runs the best is told first.
"""

import argparse
import json
import shutil
import statistics
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from bench.servers import Server

PATIENCE: Final = 30.0
FILLED: Final = "#ways input:enabled"
PLAYABLE: Final = ".board.playable"
LEGAL: Final = ".table .cell.legal"
# What each page shows when it is filled. A game is set up first.
PAGES: Final = {
    "home": ("/", FILLED),
    "a game": ("", PLAYABLE),
    "my games": ("/games", "#games > :not(.loading)"),
    "tutorial": ("/learn", ".lesson h2"),
    "rules": ("/rules", ".rules h1"),
    "study": ("/study", ".table .board"),
}
# Kilobytes and requests.
TARGETS: Final = {"home": (95, 15), "a game": (115, 20)}
# Text and pictures: when the largest was painted, when the board could be played on, what moved,
# and when a stone was on the cell that was clicked.
OBSERVE: Final = """
    window.paints = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        window.paints.push([entry.startTime, entry.size, entry.element?.outerHTML.slice(0, 60)]);
    }).observe({type: "largest-contentful-paint", buffered: true});
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
    addEventListener("click", (event) => {
      const name = event.target.closest("[data-cell]")?.dataset.cell;
      if (!name) return;
      const stone = `[data-cell=${name}] :is(.stone, .pawn, [class*=ghost])`;
      const observer = new MutationObserver(() => {
        if (!document.querySelector(stone)) return;
        observer.disconnect();
        requestAnimationFrame(() => { window.stone = performance.now() - event.timeStamp; });
      });
      observer.observe(document, {subtree: true, childList: true, attributes: true});
    }, true);
    new MutationObserver(() => {
      if (!window.playable && document.querySelector(".board.playable"))
        window.playable = performance.now();
    }).observe(document, {subtree: true, childList: true, attributes: true});
"""


# --- What is sent ---------------------------------------------------------------------------


@dataclass
class Sent:
    """One request: what came over the wire, headers included, and what that was unpacked."""

    url: str
    method: str = "GET"
    wire: int = 0
    raw: int = 0
    encoding: str = ""
    known: bool = False  # the browser had it, and asked whether it still holds


class Traffic:
    """Everything that a page asks for, as the browser counts it."""

    def __init__(self, session: CDPSession) -> None:
        self._all: dict[str, Sent] = {}
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.responseReceived", self._answered)
        session.on("Network.responseReceivedExtraInfo", self._confirmed)
        session.on("Network.dataReceived", self._came)
        session.on("Network.loadingFinished", self._ended)
        session.on("Network.webSocketCreated", self._opened)
        session.on("Network.webSocketFrameReceived", self._pushed)
        session.send("Network.enable")

    def _asked(self, event: dict[str, Any]) -> None:
        request = event["request"]
        if not request["url"].startswith("data:"):
            self._all[event["requestId"]] = Sent(request["url"], request["method"])

    def _answered(self, event: dict[str, Any]) -> None:
        if sent := self._all.get(event["requestId"]):
            headers = {key.lower(): value for key, value in event["response"]["headers"].items()}
            sent.encoding = headers.get("content-encoding", "")

    def _confirmed(self, event: dict[str, Any]) -> None:
        if sent := self._all.get(event["requestId"]):
            sent.known = event["statusCode"] == httpx.codes.NOT_MODIFIED

    def _came(self, event: dict[str, Any]) -> None:
        if sent := self._all.get(event["requestId"]):
            sent.raw += event["dataLength"]

    def _ended(self, event: dict[str, Any]) -> None:
        if sent := self._all.get(event["requestId"]):
            sent.wire = int(event["encodedDataLength"])

    def _opened(self, event: dict[str, Any]) -> None:
        self._all[event["requestId"]] = Sent(event["url"], "socket")

    def _pushed(self, event: dict[str, Any]) -> None:
        if sent := self._all.get(event["requestId"]):
            size = len(event["response"]["payloadData"].encode())
            sent.wire, sent.raw = sent.wire + size, sent.raw + size

    def over_the_wire(self) -> list[Sent]:
        """List what the browser did not find in its cache."""
        for sent in self._all.values():
            if sent.known:
                sent.raw, sent.encoding = 0, "known"
        return [sent for sent in self._all.values() if sent.wire]


# --- How soon -------------------------------------------------------------------------------


@dataclass
class Visits:
    """What several first visits to one page have shown; times in milliseconds."""

    sent: list[Sent] = field(default_factory=list)
    painted: list[float] = field(default_factory=list)
    largest: str = ""
    shifts: list[float] = field(default_factory=list)
    playable: list[float] = field(default_factory=list)
    stones: list[float] = field(default_factory=list)

    @property
    def kilobytes(self) -> float:
        """What came over the wire."""
        return sum(sent.wire for sent in self.sent) / 1000


def visit(browser: Browser, address: str, name: str, given: argparse.Namespace) -> Visits:
    """Open a page some times, each time in a browser that has never been here."""
    seen = Visits()
    for _ in range(given.runs):
        # What a worker does in the background is measured by itself.
        context = browser.new_context(locale=given.locale, service_workers="block")
        context.add_init_script(OBSERVE)
        look(context, address, name, given.slowdown, seen)
        context.close()
    return seen


def look(context: BrowserContext, address: str, name: str, slowdown: float, seen: Visits) -> None:
    """Open a page, and note what happens."""
    path, ready = PAGES[name]
    path = path or new_game(context, address)
    page = context.new_page()
    session = context.new_cdp_session(page)
    traffic = Traffic(session)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    page.goto(address + path)
    page.locator(ready).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    seen.sent = traffic.over_the_wire()
    painted, _, seen.largest = page.evaluate("window.paints.at(-1)")
    seen.painted.append(float(painted))
    seen.shifts.append(float(page.evaluate("window.shift")))
    if ready == PLAYABLE:
        seen.playable.append(float(page.evaluate("window.playable")))
        seen.stones.append(tap(page))


def new_game(context: BrowserContext, address: str) -> str:
    """Set up a game that can be played at once; what is asked for like this fills no cache."""
    context.request.get(f"{address}/games")
    answer = context.request.post(
        f"{address}/api/games", headers={"origin": address}, data={"against": "self"}
    )
    return f"/game/{answer.json()['id']}"


def tap(page: Page) -> float:
    """Play a stone, and tell how long it took to be seen."""
    page.locator(LEGAL).first.click()
    page.wait_for_function("window.stone !== undefined")
    return float(page.evaluate("window.stone"))


# --- In the background ----------------------------------------------------------------------


def kept_for_later(address: str) -> float:
    """Tell how many kilobytes a browser fetches more, to open pages without a network."""
    with httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as client:
        script = client.get("/service-worker.js").text
        told = json.loads(script.partition(" = ")[2].partition(";\n")[0])
        size = 0
        for path in ("/service-worker.js", *told["pages"]):
            with client.stream("GET", path) as answer:
                size += sum(map(len, answer.iter_raw()))
    return size / 1000


# --- The table ------------------------------------------------------------------------------


def print_list(name: str, requests: list[Sent]) -> None:
    """Print every request."""
    print(f"\n{name}:\n\n| request | on the wire | unpacked | |\n|---|---|---|---|")
    for sent in sorted(requests, key=lambda each: -each.wire):
        path = urlsplit(sent.url).path
        print(f"| {sent.method} {path} | {sent.wire:,} | {sent.raw:,} | {sent.encoding} |")


def best_and_middle(times: list[float]) -> str:
    """Write down the best time and the middle one."""
    return f"{min(times):.0f} ms (median {statistics.median(times):.0f} ms)"


def print_tables(seen: dict[str, Visits], kept: float, slowdown: float) -> None:
    """Print the tables of docs/benchmarks.md, with what is asked for in brackets."""
    print(
        "| page | on the wire | requests | largest paint [1 s] | which is | layout shift [0.02] |"
    )
    print("|---|---|---|---|---|---|")
    for name, visits in seen.items():
        kilobytes, requests = TARGETS.get(name, ("", ""))
        print(
            f"| {name} | {visits.kilobytes:.1f} kB {_asked(kilobytes, ' kB')}"
            f"| {len(visits.sent)} {_asked(requests)}"
            f"| {best_and_middle(visits.painted)} "
            f"| `{visits.largest.partition('>')[0]}>` | {max(visits.shifts):.3f} |"
        )
    game = seen["a game"]
    print("\n| what | measured | target |\n|---|---|---|")
    slowed = f"at a processor slowed {slowdown:g} times"
    print(f"| a game, {slowed}: until it can be played | {best_and_middle(game.playable)} | |")
    stones = best_and_middle(game.stones)
    print(f"| a game, {slowed}: from the tap to the stone | {stones} | 50 ms |")
    print(f"| kept in the background for the time without a network | {kept:.1f} kB | |")


def _asked(target: float | str, unit: str = "") -> str:
    return f"[{target}{unit}] " if target else ""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="how often each page is opened")
    parser.add_argument("--slowdown", type=float, default=4, help="of the browser's processor")
    parser.add_argument("--locale", default="en-GB", help="of the browser; others need words too")
    parser.add_argument("--list", action="store_true", help="print every request as well")
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    given = parser.parse_args()
    with Server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=given.chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        seen = {name: visit(browser, server.address, name, given) for name in PAGES}
        browser.close()
        kept = kept_for_later(server.address)
    print_tables(seen, kept, given.slowdown)
    if given.list:
        for name, visits in seen.items():
            print_list(name, visits.sent)


if __name__ == "__main__":
    main()
