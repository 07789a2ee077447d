"""The page in WebKit, the engine of every browser on an iPhone: a short round of each kind of page.

Debian's WebKitGTK is driven through WebDriver, on a screen of its own (Xvfb).
"""

import contextlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

import pytest
from selenium.webdriver import WebKitGTK, WebKitGTKOptions
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait
from selenium.webdriver.webkitgtk.service import Service

from e2e.conftest import CHAIN, CHAIN_SEED, LAPTOP, PATIENCE, THOROUGH
from kamon import format_cell
from kamon.web.puzzles.book import shipped
from web_server import Server

# Selenium's own class for WebKitGTK still calls what Selenium has deprecated.
pytestmark = [
    THOROUGH,
    pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning"),
]

DATA: Final = Path(__file__).parents[1] / "tests" / "data"
DRIVER: Final = "/usr/bin/WebKitWebDriver"
SCREEN: Final = "/usr/bin/Xvfb"
BUS: Final = "/usr/bin/dbus-daemon"
MISSING: Final = (
    "The tests in WebKit need Debian's packages webkit2gtk-driver, xvfb and dbus; "
    "`make thorough` as root installs them."
)
# Not on the PATH; the folder is named for the version of GTK and the machine.
_MINI_BROWSER: Final = "webkit2gtk-4*/MiniBrowser"
Found = TypeVar("Found")


def mini_browser() -> Path:
    found = sorted(Path("/usr/lib").glob(f"*/{_MINI_BROWSER}"))
    if not found or not all(Path(name).exists() for name in (DRIVER, SCREEN, BUS)):
        pytest.fail(MISSING, pytrace=False)
    return found[-1]


@contextlib.contextmanager
def screen() -> Iterator[str]:
    """Run a screen that nobody sees, and yield its name."""
    read, write = os.pipe()
    size = f"{LAPTOP[0] + 100}x{LAPTOP[1] + 200}x24"
    with (
        os.fdopen(read) as number,
        subprocess.Popen(
            [SCREEN, "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"],
            pass_fds=[write],
            stderr=subprocess.DEVNULL,
        ) as xvfb,
    ):
        os.close(write)
        try:
            yield f":{number.readline().strip()}"
        finally:
            xvfb.terminate()


@contextlib.contextmanager
def message_bus() -> Iterator[str]:
    """Run the message bus that GTK wants, and yield its address."""
    with subprocess.Popen(
        [BUS, "--session", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as bus:
        assert bus.stdout is not None
        try:
            yield bus.stdout.readline().strip()
        finally:
            bus.terminate()


class Visitor:
    """A person at a WebKit browser."""

    def __init__(self, driver: WebKitGTK, address: str) -> None:
        self.driver = driver
        self.address = address

    def go(self, path: str) -> None:
        self.driver.get(self.address + path)

    def wait(self, found: Callable[[], Found]) -> Found:
        """Wait until something can be found, and return it."""
        patient = WebDriverWait(self.driver, PATIENCE / 1000)
        return patient.until(lambda _: found())

    def find(self, selector: str) -> WebElement:
        """Wait for the first element that matches."""
        return self.wait(lambda: self.all(selector))[0]

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str, expected: str) -> None:
        """Wait until an element contains a text."""
        self.wait(lambda: expected in self.find(selector).text)

    def click_text(self, tag: str, words: str) -> None:
        """Click an element by its words."""
        path = f"//{tag}[contains(normalize-space(.), '{words}')]"
        self.wait(lambda: self.driver.find_elements(By.XPATH, path))[0].click()

    def click_cell(self, cell: str) -> None:
        """Point at a legal cell and click: this driver cannot click a part of a picture."""
        element = self.find(f".table .cell.legal[data-cell={cell}]")
        x, y = self.driver.execute_script(
            """arguments[0].scrollIntoView({ block: "center" });
            const box = arguments[0].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""",
            element,
        )
        actions = ActionBuilder(self.driver)
        mouse = actions.pointer_action
        mouse.move_to_location(int(x), int(y))  # type: ignore[no-untyped-call]
        mouse.click()
        actions.perform()

    def play(self, cell: str) -> None:
        """Click a legal cell, and wait until its stone is stored."""
        self.click_cell(cell)
        self.find(f".table .cell:not(.ghost)[data-cell={cell}] .stone")

    def has_no_sideways_scrolling(self) -> bool:
        return bool(
            self.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        )


@pytest.fixture(scope="module")
def webkit() -> Iterator[WebKitGTK]:
    """One WebKit for all tests of this file."""
    options = WebKitGTKOptions()
    options.binary_location = str(mini_browser())
    options.add_argument("--automation")
    with screen() as display, message_bus() as bus:
        environment = {
            **os.environ,
            "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": bus,
            "GDK_BACKEND": "x11",
            # A container gives no rights for its sandbox; only our own pages are opened.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "LANG": "en_GB.UTF-8",
        }
        driver = WebKitGTK(options=options, service=Service(DRIVER, env=environment))
        driver.set_window_size(*LAPTOP)
        yield driver
        driver.quit()


@pytest.fixture
def visitor(webkit: WebKitGTK, server: Server) -> Visitor:
    webkit.delete_all_cookies()
    return Visitor(webkit, server.address)


def test_home_leads_to_a_game_against_the_computer(visitor: Visitor) -> None:
    visitor.go("/")
    assert visitor.has_no_sideways_scrolling()
    visitor.find("#ways input:enabled")
    visitor.click_text("button", "Play against the computer")
    cell = visitor.find(".table .cell.legal").get_attribute("data-cell")
    visitor.play(str(cell))
    visitor.wait(lambda: len(visitor.all(".ledger .move")) >= 2)
    assert visitor.has_no_sideways_scrolling()


def test_a_game_is_played_to_its_golden_end(visitor: Visitor) -> None:
    visitor.go("/games")
    board = {"against": "self", "seed": str(CHAIN_SEED)}
    game = visitor.driver.execute_async_script(
        """const [body, done] = arguments;
        const headers = { "Content-Type": "application/json" };
        fetch("/api/games", { method: "POST", headers, body: JSON.stringify(body) })
          .then((answer) => answer.json()).then(done);""",
        board,
    )
    visitor.go(f"/game/{game['id']}")
    for cell in CHAIN:
        visitor.play(cell)
    visitor.text("p.status", "Black wins")
    assert [each.text for each in visitor.all(".ledger .move")] == list(CHAIN)


def test_a_puzzle_is_solved(visitor: Visitor) -> None:
    puzzle = next(read for listed in shipped().values() if (read := listed.read()).turns == 2)
    visitor.go(f"/puzzles/{puzzle.id}")
    for count, cell in enumerate(puzzle.solution[::2], 1):
        visitor.click_cell(format_cell(cell))
        visitor.find(f".dots > .learnt:nth-child({count})")
    visitor.text("main", "Solved!")


def test_the_study_board_proves_every_move(visitor: Visitor) -> None:
    line = (DATA / "ply20.txt").read_text().splitlines()[0].partition(";")[0].strip()
    visitor.go(f"/study?line={quote(line)}")
    visitor.text(".verdict", "if both play perfectly")
    values = visitor.all(".values .value-move")
    assert values
    assert all(re.search("wins|draws|loses", each.text) for each in values)
