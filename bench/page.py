"""The page on its first visit: what is sent, how often is asked, and how soon there is something.

A Chromium with an empty cache opens the home page, starts a game at one screen, and may play. Then,
with a slowed processor, browsers that have never been here open either page. The machine may be
busy with other things, which can only add: of some runs the best is told first.
"""

import argparse
import gzip
import shutil
import statistics
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.servers import Server

PATIENCE: Final = 30.0
FILLED: Final = "#ways input"
PLAYABLE: Final = ".board.playable"
WAY: Final = "#ways .others button >> nth=0"  # two at this screen
# Headers and frames of one request are not worth a difference; a text that is not compressed is.
WORTHWHILE: Final = 400
# Text and pictures: when the largest was painted, and when the board could be played on.
OBSERVE: Final = """
    window.paints = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        window.paints.push([entry.startTime, entry.size, entry.element?.outerHTML.slice(0, 60)]);
    }).observe({type: "largest-contentful-paint", buffered: true});
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


def packed(sent: Sent) -> int:
    """Tell what a request would take with gzip, where it has come without."""
    if sent.encoding or sent.method != "GET" or sent.raw < WORTHWHILE:
        return sent.wire
    plain = {"accept-encoding": "identity"}
    body = httpx.get(sent.url, headers=plain, timeout=PATIENCE, trust_env=False).content
    return min(sent.wire, sent.wire - sent.raw + len(gzip.compress(body)))


def first_visit(browser: Browser, address: str, locale: str) -> tuple[list[Sent], list[Sent]]:
    """Open the home page and go on to a game; tell what was sent for each."""
    context = browser.new_context(locale=locale)
    page = context.new_page()
    traffic = Traffic(context.new_cdp_session(page))
    page.goto(address)
    page.locator(FILLED).first.wait_for()
    page.wait_for_load_state("networkidle")
    at_home = traffic.over_the_wire()
    start(page)
    page.wait_for_load_state("networkidle")
    in_all = traffic.over_the_wire()
    context.close()
    return at_home, [sent for sent in in_all if sent not in at_home]


def start(page: Page) -> None:
    """Start a game from the home page, and wait until it can be played."""
    page.locator(WAY).click()
    page.locator(PLAYABLE).first.wait_for()


# --- How soon -------------------------------------------------------------------------------


@dataclass
class Seen:
    """When the largest piece of text or picture was painted, what it is; when one could play."""

    painted: float
    what: str
    playable: float


def look(browser: Browser, address: str, given: argparse.Namespace, *, game: bool) -> Seen:
    """Open a page in a browser with an empty cache, on a slowed processor."""
    context = browser.new_context(locale=given.locale)
    context.add_init_script(OBSERVE)
    page = context.new_page()
    target, ready = address, FILLED
    if game:
        # Who has set a game up may play at once. What is asked for like this fills no cache.
        context.request.get(address)
        answer = context.request.post(
            f"{address}/api/games", headers={"origin": address}, data={"against": "self"}
        )
        target, ready = f"{address}/game/{answer.json()['id']}", PLAYABLE
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": given.slowdown})
    page.goto(target)
    page.locator(ready).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    painted, _, what = page.evaluate("window.paints.at(-1)")
    playable = page.evaluate("window.playable ?? 0")
    context.close()
    return Seen(float(painted), str(what), float(playable))


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


def main() -> None:
    """Print the table of docs/benchmarks.md."""
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
        home, game = first_visit(browser, server.address, given.locale)
        everything = [*home, *game]
        at_best = sum(map(packed, everything))
        looks = {
            name: [look(browser, server.address, given, game=at) for _ in range(given.runs)]
            for name, at in (("home", False), ("a game", True))
        }
        browser.close()
    wire, raw = sum(sent.wire for sent in everything), sum(sent.raw for sent in everything)
    print("| what | measured | target |")
    print("|---|---|---|")
    print(f"| home alone, on the wire | {sum(sent.wire for sent in home) / 1000:.1f} kB | |")
    print(f"| home and a game, on the wire | {wire / 1000:.1f} kB | at most 120 kB |")
    print(f"| the same, unpacked | {raw / 1000:.1f} kB | |")
    print(f"| the same, if all were sent with gzip | {at_best / 1000:.1f} kB | at most 120 kB |")
    print(f"| requests for home | {len(home)} | |")
    print(f"| requests until the game can be played | {len(everything)} | at most 20 |")
    slowed = f"with an empty cache and a processor slowed {given.slowdown:g} times"
    for name, seen in looks.items():
        what = min(seen, key=lambda each: each.painted).what
        painted = best_and_middle([each.painted for each in seen])
        print(f"| {name}, {slowed}: largest contentful paint | {painted} | within 1 s |")
        print(f"| … which is | `{what}` | |")
    playable = best_and_middle([each.playable for each in looks["a game"]])
    print(f"| a game, {slowed}: until it can be played | {playable} | |")
    if given.list:
        print_list("Home", home)
        print_list("Then the game", game)


if __name__ == "__main__":
    main()
