"""docs/protocol.md says what the code does: errors, routes, commands, events and budgets."""

import re
from pathlib import Path

from kamon.web.app import create_app
from kamon.web.errors import ERRORS
from kamon.web.games import rooms
from kamon.web.limits import BUDGETS
from kamon.web.settings import Settings

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([a-z-]+)` \|", text, flags=re.MULTILINE)


def test_every_error_is_in_the_document_with_its_status_and_its_sentence() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\d+) \| (.*) \|$", section("Errors"), flags=re.MULTILINE
    )
    assert [code for code, *_ in rows] == list(ERRORS)
    for code, status, text in rows:
        assert int(status) == ERRORS[code].status
        assert text.startswith(ERRORS[code].sentence), code


def test_every_route_is_in_the_document() -> None:
    table = section("Over HTTP")
    for path, methods in create_app(Settings("sqlite://")).openapi()["paths"].items():
        shown = re.sub(r"\{(\w+)\}", lambda found: _placeholder(found[1]), path)
        rows = [row for row in table.splitlines() if re.search(rf"`{re.escape(shown)}[`?]", row)]
        for method in methods:
            assert method.upper() in " ".join(rows), f"{method} {path}"


def _placeholder(name: str) -> str:
    return {"game": "ID", "name": "ID"}.get(name, name.upper())


def test_every_command_and_every_event_is_in_the_document() -> None:
    assert set(first_cells(section("Commands"))) - {"do"} == rooms.CLIENT_COMMANDS
    assert set(first_cells(section("Events"))) == {"created", *rooms._EVOLUTIONS}


def test_every_budget_is_in_the_document() -> None:
    rows = re.findall(r"^\| (\w+) \| ([\d,]+) \|", section("Budgets"), flags=re.MULTILINE)
    assert {name: float(burst.replace(",", "")) for name, burst in rows} == {
        name: budget.burst for name, budget in BUDGETS.items()
    }
