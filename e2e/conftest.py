"""A real server and a real browser: what the tests of the page share.

Everything that a page logs as an error, or throws, fails the test in which it happened.
"""

import itertools
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    StorageState,
    WebError,
    expect,
    sync_playwright,
)

from web_server import Client, Server, serving

AXE: Final = Path(__file__).parents[1] / "tests" / "vendor" / "axe.min.js"
NO_CHROMIUM: Final = (
    "The browser tests need Chromium, and there is none on the PATH: "
    "install the Debian package `chromium`."
)
LAPTOP: Final = (1280, 900)
PHONE: Final = (360, 740)
# The machine may be busy with other things; nothing here waits that long when all is well.
PATIENCE: Final = 10_000


def _game(moves: str) -> list[str]:
    return moves.split()


# Boards by number, and whole games on them that Black wins.
CHAIN_SEED, CHAIN = 2162, _game("g6 d7 b4 g4 e4 f4 e6 c6 f6 b2 d5 f7 c5 d3 a3")
RING_SEED, RING = 2717, _game("g6 d3 a4 g7 c1 e4 c5 e6 a3 c6 b3 e3 b5 e5 d1 f5 c4")
BLOCK_SEED, BLOCK = 1763, _game("f7 g5 d4 b5 b4 f3 g7 a3 e7 c4 d2 f6 e2 f5 d3 g4 c6 d7 d5")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the browser come last: while it is open, no other test can have an event loop."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


# --- The server -----------------------------------------------------------------------------


# For `make thorough` alone: the same check again in another size, language or theme.
THOROUGH: Final = pytest.mark.thorough


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of nearly all tests."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may ill-treat."""
    with serving(tmp_path) as running:
        yield running


# --- Programs that play on it -----------------------------------------------------------------


@pytest.fixture
def ann(server: Server) -> Iterator[Client]:
    """Somebody who plays."""
    with Client(server) as client:
        yield client


@pytest.fixture
def bob(server: Server) -> Iterator[Client]:
    """Somebody else who plays."""
    with Client(server) as client:
        yield client


@pytest.fixture
def eve(server: Server) -> Iterator[Client]:
    """Somebody who has no business here."""
    with Client(server) as client:
        yield client


# --- The browser ----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests. Without it they fail, and say what to install."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail(NO_CHROMIUM, pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        launched.close()


@dataclass
class Troubles:
    """What pages have complained about, but for what a test expects."""

    found: list[str] = field(default_factory=list)
    # What Playwright says itself where it keeps a page from having a service worker.
    expected: list[str] = field(
        default_factory=lambda: ["Service Worker registration blocked by Playwright"]
    )

    def expect(self, pattern: str) -> None:
        """Say that an error is part of the test."""
        self.expected.append(pattern)

    def watch(self, context: BrowserContext) -> None:
        """Listen to all pages of a context."""
        context.on("console", self._said)
        context.on("weberror", self._thrown)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def _thrown(self, error: WebError) -> None:
        self.found.append(f"thrown: {error.error}")

    @property
    def unexpected(self) -> list[str]:
        """Those that no test has announced."""
        return [
            each
            for each in self.found
            if not any(re.search(pattern, each) for pattern in self.expected)
        ]


@pytest.fixture
def troubles() -> Iterator[Troubles]:
    """Collect errors, and fail the test that has had any."""
    collected = Troubles()
    yield collected
    assert not collected.unexpected, "\n".join(collected.unexpected)


class Guest:
    """A person at a browser, on a page of ours."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    # --- Finding the way ---

    def go(self, path: str) -> None:
        """Open one of our pages and wait until its module has filled it."""
        url = path if path.startswith("http") else self.address + path
        answer = self.page.goto(url, wait_until="domcontentloaded")
        assert answer is None or answer.ok, f"{url}: {answer.status}"
        self.ready()

    def ready(self) -> None:
        """Wait until a page has something to show."""
        filled = "#ways input:enabled, .table .board, #games > *, #handover > *, main .error"
        self.page.locator(f":is({filled}):not(.loading)").first.wait_for()

    def reload(self) -> None:
        """Load the page again."""
        self.page.reload(wait_until="domcontentloaded")
        self.ready()

    def press(self, name: str) -> None:
        """Click a button or a link by its words."""
        self.button(name).click()

    def button(self, name: str) -> Locator:
        """Find a button or a link by its words."""
        role = self.page.get_by_role("button", name=name, exact=True)
        return role.or_(self.page.get_by_role("link", name=name, exact=True)).first

    def settings(self) -> Locator:
        """Open the settings."""
        self.page.locator("#open-settings").click()
        dialog = self.page.locator("#settings")
        expect(dialog).to_be_visible()
        return dialog

    def set(self, **choices: str | bool) -> None:
        """Change settings by name, and close them again."""
        dialog = self.settings()
        for name, value in choices.items():
            control = dialog.locator(f"[name={name}]")
            if isinstance(value, bool):
                control.set_checked(value)
            else:
                control.select_option(value)
        dialog.locator("button.primary").click()
        expect(dialog).to_be_hidden()

    def wish(self, *, side: str | None = None, seed: int | None = None) -> None:
        """Open the choices on the home page, and choose."""
        details = self.page.locator("#ways details")
        if details.get_attribute("open") is None:
            # Not under the bar at the foot of a phone.
            summary = details.locator("summary")
            summary.evaluate("each => each.scrollIntoView({block: 'center'})")
            summary.click()
            expect(details.locator("input[name=side]")).to_have_count(3)
        if side is not None:
            self.choose("side", side)
        if seed is not None:
            self.choose("board", "seed")
            details.locator("input[inputmode=numeric]").fill(str(seed))

    def choose(self, name: str, value: str) -> None:
        """Choose one of the pills on the home page."""
        pill = self.page.locator(f"input[name={name}][value={value}]")
        pill.evaluate("each => each.scrollIntoView({block: 'center'})")
        pill.check(force=True)

    def start(self, way: str, *, side: str | None = None, seed: int | None = None) -> str:
        """Set a game up from the home page, and tell its address."""
        self.go("/")
        if side is not None or seed is not None:
            self.wish(side=side, seed=seed)
        self.press(way)
        return self.arrive()

    def arrive(self) -> str:
        """Wait for a page with a game, and tell its address."""
        self.page.wait_for_url("**/game/*", wait_until="domcontentloaded")
        self.ready()
        return self.page.url

    # --- Behind the page ---

    @contextmanager
    def late(self, pattern: str) -> Iterator[None]:
        """Hold the first answer back until the end of the block."""
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        self.page.route(pattern, hold, times=1)
        yield
        with self.page.expect_response(pattern):
            held[0].continue_()
        # Time to show it, if the page is going to.
        self.page.wait_for_timeout(300)

    def ask(self, path: str, body: object = None) -> dict[str, Any]:
        """Ask the server as the page does, with its seat, but without loading a page."""
        request = self.page.context.request
        if not self.page.context.cookies():
            request.get("/games")
        if body is None:
            answer = request.get(path)
        else:
            answer = request.post(path, data=body, headers={"Origin": self.address})
        told: dict[str, Any] = answer.json()
        return told

    def command(self, game: str, do: str, **data: str) -> dict[str, Any]:
        """Do something in a game."""
        body = {"do": do, "id": secrets.token_hex(8), "data": data}
        return self.ask(f"/api/games/{game}/commands", body)

    def set_up(self, against: str, moves: Sequence[str] = (), **wish: str | int) -> str:
        """Set a game up, and make moves in it. Tell its path."""
        game = self.ask("/api/games", {"against": against, "side": "black", **wish})["id"]
        for cell in moves:
            answer = self.command(game, "move", cell=cell)
            assert "number" in answer, answer
        return f"/game/{game}"

    # --- The game ---

    @property
    def status(self) -> Locator:
        """The line that says how things stand."""
        return self.page.locator("p.status")

    @property
    def live(self) -> Locator:
        """What a screen reader is told."""
        return self.page.locator("#live")

    @property
    def alert(self) -> Locator:
        """An error in words."""
        return self.page.locator("main .error")

    def cell(self, name: str) -> Locator:
        """Find a cell."""
        return self.page.locator(f".table [data-cell={name}]")

    def legal(self) -> list[str]:
        """List the cells that are marked as playable."""
        found = self.page.locator(".table .cell.legal").evaluate_all(
            "cells => cells.map(cell => cell.dataset.cell)"
        )
        return [str(each) for each in found]

    def moves(self) -> list[str]:
        """List the moves that the page shows."""
        return self.page.locator(".ledger .move").all_inner_texts()

    def stones(self) -> dict[str, str]:
        """Tell which cells have a stone or a pawn, and whose; not those that are on their way."""
        pieces = self.page.locator(".table .cell:not(.ghost) :is(.stone, .pawn)").evaluate_all(
            "all => all.map(one => [one.closest('.cell').dataset.cell,"
            " one.classList.contains('white') ? 'white' : 'black'])"
        )
        return {str(cell): str(side) for cell, side in pieces}

    def sees(self, moves: list[str]) -> None:
        """Check that the page shows exactly these moves, in the list and on the board."""
        expect(self.page.locator(".ledger .move")).to_have_text(moves)
        sides = itertools.cycle(("black", "white"))
        assert self.stones() == dict(zip(moves, sides, strict=False))

    def click(self, cell: str) -> None:
        """Click a cell, whatever comes of it."""
        self.cell(cell).click()

    def play(self, cell: str) -> None:
        """Play by a click, and wait until the move is there."""
        expect(self.cell(cell)).to_have_class(re.compile(r"\blegal\b"))
        self.click(cell)
        stored = f".table .cell:not(.ghost)[data-cell={cell}]"
        expect(self.page.locator(stored).locator(".stone, .pawn")).to_be_attached()

    def wait_for_turn(self) -> bool:
        """Wait until this guest may play, or the game has ended. Tell whether there is play."""
        self.page.locator(".board.playable, .status.over").first.wait_for()
        return not self.page.locator(".status.over").count()


@dataclass
class Guests:
    """The way in: every guest has a browser context, and so a seat, of their own."""

    browser: Browser
    server: Server
    troubles: Troubles
    contexts: list[BrowserContext] = field(default_factory=list)

    def come(self, size: tuple[int, int] = LAPTOP, **options: Any) -> Guest:  # noqa: ANN401
        """Let somebody come with a browser that has never been here."""
        number = next(_NUMBERS)
        context = self.browser.new_context(
            base_url=self.server.address,
            viewport={"width": size[0], "height": size[1]},
            locale=options.pop("locale", "en-GB"),
            # What a worker fetches cannot be held back or counted by a test.
            service_workers=options.pop("service_workers", "block"),
            extra_http_headers={"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"},
            **options,
        )
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        self.troubles.watch(context)
        return Guest(context.new_page(), self.server.address)

    def leave(self) -> None:
        """Close everything."""
        for context in self.contexts:
            context.close()


# No two guests of a session come from the same address.
_NUMBERS: Final = itertools.count(1)
expect.set_options(timeout=PATIENCE)


@pytest.fixture
def guests(browser: Browser, server: Server, troubles: Troubles) -> Iterator[Guests]:
    """Everybody who comes to the server in one test."""
    company = Guests(browser, server, troubles)
    yield company
    company.leave()


@pytest.fixture
def guest(guests: Guests) -> Guest:
    """A guest who is alone."""
    return guests.come()


def play_out(players: Sequence[Guest], moves: Sequence[str]) -> None:
    """Let players move in turn by clicks."""
    for player, cell in zip(itertools.cycle(players), moves, strict=False):
        player.play(cell)


@pytest.fixture
def pair(guests: Guests) -> tuple[Guest, Guest]:
    """Black and White at two browsers, in a game on the board of ``CHAIN`` that has just begun."""
    black, white = guests.come(), guests.come()
    game = black.set_up("friend", seed=str(CHAIN_SEED))
    black.go(game)
    white.go(game)
    white.press("Join the game")
    expect(black.status).to_have_text("Your turn.")
    expect(white.status).to_have_text("Your opponent’s turn.")
    return black, white


LONG_NAMES: Final = (
    "Marie-Antoinette von Habsburg-Lothringen",
    "Wolfgang Amadé Theophilus Mozart junior.",
)


@dataclass(frozen=True, slots=True)
class Regular:
    """Somebody who has played here: what their browser keeps, and the paths of their games."""

    state: StorageState
    playing: str
    computer: str
    over: str
    waiting: str


@pytest.fixture(scope="session")
def regular(browser: Browser, server: Server) -> Regular:
    """A guest with a game of each kind, and as much to read in them as there can be."""
    company = Guests(browser, server, Troubles())
    black, white = company.come(), company.come()
    name, other = LONG_NAMES
    playing = black.set_up("friend", seed=str(CHAIN_SEED), control="900+10", name=name)
    game = playing.rsplit("/", 1)[1]
    white.command(game, "join", name=other)
    for mover, cell in zip(itertools.cycle((black, white)), CHAIN[:4], strict=False):
        mover.command(game, "move", cell=cell)
    for what in ("draw", "takeback"):
        white.command(game, "offer", what=what)
    made = Regular(
        black.page.context.storage_state(),
        playing,
        black.set_up("computer", level=12),
        black.set_up("self", CHAIN, seed=str(CHAIN_SEED)),
        black.set_up("anyone", control="1/604800", name=name),
    )
    company.leave()
    assert company.troubles.unexpected == []
    return made


@pytest.fixture(scope="session")
def audit() -> Callable[[Page], list[str]]:
    """Tell what axe finds wrong with a page as it stands, by WCAG 2.2 AA."""
    source = AXE.read_text(encoding="utf-8")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

    def violations(page: Page) -> list[str]:
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(source)
        found = page.evaluate(
            "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", tags
        )
        return [
            f"{page.url} {each['id']}: {node['target']}: {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    return violations
