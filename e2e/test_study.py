"""The study board: variations, values as they are proven, the review, and what to take away."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import CHAIN, CHAIN_SEED, PHONE, THOROUGH, Guest, Guests, Troubles
from kamon import (
    Layout,
    format_cell,
    format_layout,
    legal_cells,
    parse_line,
    parse_record,
)
from kamon.engine.limits import Budget, Limits
from kamon.engine.solver import Solver
from kamon.rules import By

DATA = Path(__file__).parents[1] / "tests" / "data"
BOARD = format_layout(Layout.shuffled(CHAIN_SEED))
# Solving takes its time where the machine is busy, and more for the first who asks.
LONG = 60_000
Audit = Callable[[Page], list[str]]


def line_of(name: str, number: int = 0) -> str:
    """Read a line of the tests' data."""
    return (DATA / name).read_text().splitlines()[number].partition(";")[0].strip()


def open_line(guest: Guest, line: str) -> None:
    guest.go(f"/study?line={quote(line)}")


def tree(guest: Guest) -> str:
    """Tell the moves as they are written."""
    return " ".join(guest.page.locator(".tree").inner_text().split())


def turn_to(guest: Guest, tab: str) -> None:
    """Open a tab beside the board."""
    guest.page.get_by_role("tab", name=tab).click()


def begin_study(guest: Guest) -> str:
    """Play something on a new board, and tell where."""
    guest.go("/study")
    first = guest.page.locator(".cell.legal").first
    cell = first.get_attribute("data-cell") or ""
    first.click()
    expect(guest.page.locator(".tree")).to_contain_text(cell)
    return cell


def test_every_move_gets_its_exact_value_as_it_is_proven(guest: Guest) -> None:
    line = line_of("ply20.txt")
    open_line(guest, line)
    moves = guest.page.locator(".values .value-move")
    expect(moves.first).to_be_visible(timeout=LONG)
    expect(guest.page.locator(".values .chance")).to_have_count(0, timeout=LONG)
    game = parse_line(line)
    assert game is not None
    solver = Solver(game.layout, Limits(memory=1 << 24))
    words = {1: "wins", 0: "draws", -1: "loses"}
    shown = dict(text.split(maxsplit=1) for text in moves.all_inner_texts())
    values = solver.values(game.position, Budget(Limits(memory=1 << 24)))
    assert len(shown) == len(values)
    for cell, value in values.items():
        assert value is not None
        assert shown[format_cell(cell)].startswith(words[value])
    expect(guest.page.locator(".verdict")).to_contain_text(re.compile(r"if both play perfectly\.$"))
    # On the board as well, for the eye and for the ear.
    best = moves.first.locator("strong").inner_text()
    expect(guest.page.locator(".value.best").first).to_be_visible()
    expect(guest.cell(best)).to_have_accessible_name(re.compile("wins|draws|loses"))


def test_the_line_that_proves_the_value_is_played_step_by_step(guest: Guest) -> None:
    open_line(guest, line_of("ply20.txt"))
    before = tree(guest)
    guest.button("Show how").click(timeout=LONG)
    expect(guest.page.locator(".tree")).not_to_have_text(before)
    while guest.button("One move forward").is_enabled():
        guest.press("One move forward")
        guest.page.wait_for_timeout(50)
    expect(guest.status).to_contain_text(re.compile(r"wins|draw"))


def test_thinking_is_stopped_and_taken_up_again(guest: Guest) -> None:
    open_line(guest, BOARD)
    expect(guest.page.locator(".values")).to_be_visible(timeout=LONG)
    guest.press("Stop")
    expect(guest.button("Stop")).to_be_hidden()
    # What is not proven has a chance, and the verdict says once that it is not.
    expect(guest.page.locator(".values .chance").first).to_have_text(re.compile(r"^\d+%$"))
    expect(guest.page.locator(".verdict")).to_have_text(re.compile(r"^Not proven yet\. \w\d looks"))
    guest.press("Think deeper")
    expect(guest.button("Stop")).to_be_visible()
    guest.page.get_by_role("switch", name="Computer analysis").uncheck()
    expect(guest.page.locator(".values")).to_have_count(0)


def test_variations_comments_and_the_main_line_are_kept_and_shared(guests: Guests) -> None:
    owner, reader = guests.come(), guests.come()
    open_line(owner, f"{BOARD} {' '.join(CHAIN[:3])}")
    owner.press("One move back")
    owner.press("One move back")
    owner.cell("d4").click()
    expect(owner.page.locator(".variation")).to_contain_text("d4")
    turn_to(owner, "Moves")
    owner.page.get_by_label("Comment").fill("Another way <b>to go</b>")
    owner.page.locator(".status").click()
    expect(owner.page.locator(".said")).to_have_text("Another way <b>to go</b>")
    owner.press("Make it the main line")
    expect(owner.page.locator(".tree")).to_have_text(re.compile(rf"^\s*1\.\s*{CHAIN[0]}\s*d4"))
    turn_to(owner, "More")
    owner.page.get_by_label("Title").fill("Mine")
    owner.press("Save this study")
    owner.page.wait_for_url("**/study/*")
    address = owner.page.url
    reader.go(address)
    expect(reader.status).to_have_text("Mine")
    expect(reader.page.locator(".said")).to_have_text("Another way <b>to go</b>")
    # Somebody else's study cannot be changed, but copied.
    turn_to(reader, "More")
    reader.press("Save my own copy")
    reader.page.wait_for_function("before => location.href !== before", arg=address)
    owner.reload()
    assert tree(owner).startswith(f"1. {CHAIN[0]} d4")
    owner.press("One move forward")
    owner.press("One move forward")
    turn_to(owner, "Moves")
    owner.press("Delete from here")
    assert "d4" not in tree(owner)


def test_a_draft_is_not_lost_by_a_reload(guest: Guest) -> None:
    cell = begin_study(guest)
    guest.go("/study")
    expect(guest.page.locator(".tree")).to_contain_text(cell)


def test_changes_to_a_kept_study_are_not_lost_and_it_is_found_again(guest: Guest) -> None:
    open_line(guest, f"{BOARD} {CHAIN[0]}")
    turn_to(guest, "More")
    guest.page.get_by_label("Title").fill("Openings")
    guest.press("Save this study")
    guest.page.wait_for_url("**/study/*")
    guest.cell(CHAIN[1]).click()
    expect(guest.page.locator(".tree")).to_contain_text(CHAIN[1])
    guest.page.reload()
    expect(guest.page.locator(".tree")).to_contain_text(CHAIN[1])
    turn_to(guest, "More")
    expect(guest.page.get_by_text("not saved yet")).to_be_visible()
    guest.press("Save")
    expect(guest.page.get_by_text("not saved yet")).to_have_count(0)
    guest.go("/games")
    guest.page.get_by_role("link", name=re.compile("Openings")).click()
    expect(guest.status).to_have_text("Openings")
    assert tree(guest) == f"1. {CHAIN[0]} {CHAIN[1]}"


def test_whoever_opens_another_position_can_go_back_to_the_study_before(guest: Guest) -> None:
    cell = begin_study(guest)
    turn_to(guest, "More")
    guest.page.locator("#pasted").fill(f"{BOARD} {' '.join(CHAIN[:3])}")
    guest.press("Open")
    expect(guest.page.locator(".tree")).to_contain_text(CHAIN[2])
    turn_to(guest, "More")
    guest.press("Back to the previous study")
    expect(guest.page.locator(".tree")).to_have_text(re.compile(rf"^\s*1\. {cell}\s*$"))


def test_keeping_one_study_does_not_lose_the_draft_of_another(guest: Guest) -> None:
    cell = begin_study(guest)
    open_line(guest, f"{BOARD} {CHAIN[0]}")
    turn_to(guest, "More")
    guest.press("Save this study")
    guest.page.wait_for_url("**/study/*")
    guest.go("/study")
    expect(guest.page.locator(".tree")).to_have_text(re.compile(rf"^\s*1\. {cell}\s*$"))


def test_a_finished_game_is_reviewed_and_the_better_move_played(guest: Guest, audit: Audit) -> None:
    layout, *moves = line_of("games.txt", 3).split()
    guest.go(guest.set_up("self", moves, layout=layout))
    guest.press("Review this game")
    guest.page.wait_for_url("**/study?game=*")
    graph = guest.page.locator(".graph")
    expect(graph).to_be_visible(timeout=LONG)
    # What decided the game comes first.
    story = guest.page.locator(".review .story")
    expect(story).to_contain_text(re.compile("gave the game to|made it a draw"), timeout=LONG)
    expect(guest.page.locator(".review ul.plain li")).to_have_count(2)
    guest.page.get_by_text("Move by move").click()
    expect(guest.page.locator(".standings li")).to_have_count(len(moves))
    assert audit(guest.page) == []
    points = guest.page.locator(".turning-points li")
    expect(points.first).to_contain_text("could still", timeout=LONG)
    text = points.first.inner_text()
    found = re.search(
        r"Move \d+: \w+ plays (\w\d), which turns .*could still have .*?(?:with|was) (\w\d)\.",
        text,
    )
    assert found, text
    points.first.get_by_role("button", name="Show the better line").click()
    expect(guest.page.locator(".variation").first).to_contain_text(found[2])
    guest.button("Add the review to the game").click(timeout=LONG)
    expect(guest.page.locator(".tree")).to_contain_text("??")
    with guest.page.expect_download() as saved:
        turn_to(guest, "More")
        guest.press("Save as PGN")
    record = parse_record(Path(saved.value.path()).read_text())
    assert len(record.main_line()) == len(moves)
    assert any(node.comment for node in record.main_line())
    turn_to(guest, "Review")
    points.first.get_by_role("button", name="Try it against the computer").click()
    guest.arrive()
    expect(guest.page.locator(".table .stone").first).to_be_visible()


def test_every_claim_of_a_review_is_true_by_the_solver(guest: Guest) -> None:
    claims = 0
    # Games whose mistakes are proven within seconds.
    for number in (3, 7):
        line = line_of("games.txt", number)
        layout, *moves = line.split()
        open_line(guest, line)
        turn_to(guest, "Review")
        guest.press("Review this game")
        told = guest.page.locator(".turning-points li p")
        expect(told.filter(has_text="could still").first).to_be_visible(timeout=LONG)
        guest.press("Stop")
        for text in guest.page.locator(".turning-points li p").all_inner_texts():
            if "could still" not in text:
                # Doubts are marked as such, and advice that has not come yet is no claim.
                assert "That is an estimate." in text or "which turns" in text
                continue
            claims += 1
            found = re.search(
                r"Move (\d+): (Black|White) plays (\w\d), which turns a (win|draw) into a "
                r"(draw|loss)\. \w+ could still have (won|drawn)"
                r"(?: with|\. The quickest way was) (\w\d)\.",
                text,
            )
            assert found, text
            ply = 2 * (int(found[1]) - 1) + (found[2] == "White")
            assert moves[ply] == found[3]
            value = {"win": 1, "draw": 0, "loss": -1}
            for move, expected in ((found[3], found[5]), (found[7], found[4])):
                game = parse_line(" ".join([layout, *moves[:ply], move]))
                assert game is not None
                solver = Solver(game.layout, Limits(memory=1 << 26))
                assert -(solver.value(game.position) or 0) == value[expected], text
            better = parse_line(" ".join([layout, *moves[:ply], found[7]]))
            assert better is not None
            by = better.outcome.by if better.outcome else ()
            assert ("connecting two opposite edges" in text) == (by == (By.CONNECTION,))
            assert ("closing a loop" in text) == (by == (By.LOOP,))
            assert ("no move." in text) == (by == (By.BLOCK,))
            left = [format_cell(cell) for cell in legal_cells(better.position)]
            only = re.search(r"leaves \w+ only:? ([^.]*)\.", text)
            named = re.findall(r"\b[a-g]\d\b", only[1]) if only else []
            assert named == (left if len(left) <= 3 else [])
    assert claims > 2


def test_pictures_and_films_are_taken_away(guest: Guest) -> None:
    open_line(guest, f"{BOARD} {' '.join(CHAIN[:4])}")
    turn_to(guest, "More")
    signatures = {"SVG": b"<svg", "PNG": b"\x89PNG", "GIF": b"GIF89a", "WebP": b"RIFF"}
    for what, signature in signatures.items():
        with guest.page.expect_download(timeout=LONG) as saved:
            guest.press(what)
        assert Path(saved.value.path()).read_bytes().startswith(signature)


def test_a_link_has_a_picture_where_it_is_shared(guest: Guest) -> None:
    path = guest.set_up("self", CHAIN[:2], seed=str(CHAIN_SEED))
    for address in (path, f"/study?line={quote(BOARD)}"):
        page = httpx.get(guest.address + address).text
        found = re.search(r'property="og:image" content="([^"]+)"', page)
        assert found, page
        picture = httpx.get(found[1].replace("&amp;", "&"), timeout=60)
        assert picture.status_code == 200
        assert picture.content.startswith(b"\x89PNG")
    assert "og:image" not in httpx.get(f"{guest.address}/study?line=rubbish").text


def test_what_somebody_pastes_is_opened_up_to_an_error(guest: Guest, troubles: Troubles) -> None:
    guest.go("/study")
    turn_to(guest, "More")
    pasted = guest.page.locator("#pasted")
    record = f'[Layout "{BOARD}"]\n\n1. {CHAIN[0]} {CHAIN[1]} 2. {CHAIN[0]} *'
    pasted.fill(record)
    guest.press("Open")
    expect(guest.page.locator(".misread")).to_contain_text("line 3, column")
    assert tree(guest) == f"1. {CHAIN[0]} {CHAIN[1]}"
    troubles.expect("422")
    turn_to(guest, "More")
    pasted.fill("rubbish")
    guest.press("Open")
    expect(guest.page.locator(".error").last).to_contain_text("not the 37 tokens")
    pasted.fill("x" * 70_000)
    guest.press("Open")
    expect(guest.page.locator(".error").last).to_contain_text("too long")


def test_a_position_is_arranged_by_hand(guest: Guest, troubles: Troubles) -> None:
    open_line(guest, BOARD)
    turn_to(guest, "More")
    guest.press("Arrange by hand")
    guest.cell("b1").click()
    guest.cell("c3").click()
    guest.cell("c3").click()
    expect(guest.page.get_by_role("combobox", name="Last move")).to_have_value("c3")
    guest.press("Study this position")
    expect(guest.status).to_have_text("Black to play.")
    expect(guest.page.locator(".table .stone")).to_have_count(2)
    troubles.expect("422")
    turn_to(guest, "More")
    guest.press("Arrange by hand")
    guest.cell("d4").click()
    guest.cell("e4").click()
    guest.cell("f4").click()
    guest.press("Study this position")
    expect(guest.page.locator(".error")).to_be_visible()
    guest.press("Cancel")
    expect(guest.page.locator(".table .stone")).to_have_count(2)


def test_a_study_that_is_not_there_says_so(guest: Guest, troubles: Troubles) -> None:
    troubles.expect("404")
    answer = guest.page.goto(f"{guest.address}/study/000000000000")
    assert answer is not None
    assert answer.status == 404
    guest.page.goto(f"{guest.address}/study?game=000000000000")
    expect(guest.page.get_by_role("alert")).to_contain_text("There is no such game.")


def test_a_study_is_made_by_keyboard(guest: Guest) -> None:
    open_line(guest, BOARD)
    guest.cell("d4").focus()
    for key in CHAIN[0]:
        guest.page.keyboard.press(key)
    guest.page.keyboard.press("Enter")
    expect(guest.page.locator(".tree")).to_contain_text(CHAIN[0])


@THOROUGH
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_a_phone_shows_the_board(
    guests: Guests, audit: Audit, theme: str
) -> None:
    guest = guests.come(PHONE, color_scheme=theme, has_touch=True, is_mobile=True)
    open_line(guest, line_of("ply20.txt"))
    expect(guest.page.locator(".verdict")).to_be_visible(timeout=LONG)
    expect(guest.page.locator(".board")).to_be_in_viewport(ratio=1)
    for tab in ("Moves", "Review", "More"):
        turn_to(guest, tab)
        assert audit(guest.page) == []
    assert guest.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_record_that_is_read_late_does_not_replace_a_newer_one(guest: Guest) -> None:
    guest.go("/study")
    turn_to(guest, "More")
    pasted = guest.page.locator("#pasted")
    moves = guest.page.locator(".tree")
    with guest.late("**/api/studies/read"):
        pasted.fill(f"{BOARD} {CHAIN[0]}")
        guest.press("Open")
        pasted.fill(f"{BOARD} {CHAIN[0]} {CHAIN[1]}")
        guest.press("Open")
        expect(moves).to_contain_text(CHAIN[1])
    expect(moves).to_contain_text(CHAIN[1])
