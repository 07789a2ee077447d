import re
from pathlib import Path

import pytest

from kamon import rules
from kamon.editions import COSMOLUDO_2020, EDITIONS, JACTALEA_2007, Edition
from kamon.geometry import CELL_NAMES, CELLS, COORDINATES
from kamon.layout import Layout
from kamon.notation import format_token, parse_cell, parse_line
from kamon.position import Position
from kamon.render import text

GAMES = (Path(__file__).parent / "data" / "games.txt").read_text().splitlines()
START = Position(Layout.shuffled(7))
BOTH = pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)


def position_of(line: str) -> Position:
    game = parse_line(line)
    assert game is not None
    return game.position


def after(*names: str) -> Position:
    position = START
    for name in names:
        position = rules.play(position, parse_cell(name))
    return position


def plain(drawing: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", drawing)


def place(cell: int) -> tuple[int, int]:
    """Return line and column of a cell's token: a step right is six columns, a row down three."""
    letter, row = COORDINATES[cell]
    return 1 + 2 * row, 15 + 6 * letter - 3 * row


def shown(drawing: str, name: str) -> str:
    """Return the four characters of a cell: the mark before, the token and the mark behind."""
    line, column = place(parse_cell(name))
    return drawing.splitlines()[line].ljust(60)[column - 1 : column + 3]


LOOP = position_of(next(line for line in GAMES if line.endswith("black loop")))
LINK = position_of(next(line for line in GAMES if line.endswith("white connection")))
DRAW = position_of(next(line for line in GAMES if line.endswith("draw full")))


def test_the_board_of_seed_7_looks_so() -> None:
    assert text.draw(after("c1")) == "\n".join(  # noqa: FLY002 - a picture in rows
        [
            "             ─────────green──────────",
            "           ╱   B4    B1   ●D6<  (E6) ╲",
            "           ╱   a1    b1    c1    d1  ╲",
            "        ╱  (F6)   F5    F3   (D3)   F2  ╲",
            "        ╱   a2    b2    c2    d2    e2  ╲",
            "     ╱   B3    A4    C3    E3   (D4)   E4  ╲",
            "     ╱   a3    b3    c3    d3    e3    f3  ╲",
            "      A1    C5    B2    E1   (D1)   C2    A5",
            "      a4    b4    c4    d4    e4    f4    g4",
            "     ╲   E2   (D2)   B5    F4    E5    C1  ╱",
            "     ╲   b5    c5    d5    e5    f5    g5  ╱",
            "        ╲   F1    C4    A2    --   (C6) ╱",
            "        ╲   c6    d6    e6    f6    g6  ╱",
            "           ╲   A3   (D5)  (A6)  (B6) ╱",
            "           ╲   d7    e7    f7    g7  ╱",
            "             ─────────green──────────",
        ]
    )


@BOTH
@pytest.mark.parametrize("position", [START, after("c1"), LOOP, DRAW])
def test_every_cell_stands_in_its_column(position: Position, edition: Edition) -> None:
    rows = text.draw(position, edition=edition).splitlines()
    for cell in CELLS:
        line, column = place(cell)
        lifted = edition.lifts_tokens and position.owner(cell) is not None
        token = "  " if lifted else format_token(position.layout.tokens[cell])
        assert rows[line].ljust(60)[column : column + 2] == token
        assert rows[line + 1][column : column + 2] == CELL_NAMES[cell]


@BOTH
@pytest.mark.parametrize("position", [START, after("c1"), LOOP, LINK, DRAW])
def test_colour_changes_nothing_but_the_colour(position: Position, edition: Edition) -> None:
    painted = text.draw(position, edition=edition, colour=True)
    assert "\x1b[" in painted
    assert plain(painted) == text.draw(position, edition=edition)


def test_without_colour_there_is_no_escape_code() -> None:
    assert "\x1b" not in text.draw(LOOP)


def test_colour_does_not_run_over_the_end_of_a_line() -> None:
    for line in text.draw(LOOP, colour=True).splitlines():
        codes = re.findall(r"\x1b\[([0-9;]*)m", line)
        assert codes[-1:] in ([], ["0"])


@BOTH
def test_no_line_ends_in_blanks(edition: Edition) -> None:
    for line in text.draw(after("c1"), edition=edition).splitlines():
        assert line == line.rstrip()


def test_stones_are_black_and_white_and_the_last_has_an_arrow() -> None:
    drawing = text.draw(after("c1", "a2"))
    assert shown(drawing, "c1") == "●D6 "
    assert shown(drawing, "a2") == "○F6<"
    assert drawing.count("<") == 1


def test_legal_cells_are_in_brackets_and_no_others() -> None:
    position = after("c1")
    drawing = text.draw(position)
    bracketed = {name for name in CELL_NAMES if shown(drawing, name)[::3] == "()"}
    assert bracketed == {CELL_NAMES[cell] for cell in rules.legal_cells(position)}


def test_brackets_can_be_left_out() -> None:
    assert "(" not in text.draw(after("c1"), legal=False)


def test_the_neutral_is_two_dashes_in_both_editions() -> None:
    assert shown(text.draw(START), "f6") == " -- "
    assert shown(text.draw(START, edition=JACTALEA_2007), "f6") == " -- "


def test_the_stones_of_a_ring_have_stars_but_for_the_last() -> None:
    outcome = rules.outcome(LOOP)
    assert outcome is not None
    drawing = text.draw(LOOP)
    starred = {name for name in CELL_NAMES if shown(drawing, name).endswith("*")}
    assert starred == {CELL_NAMES[cell] for cell in outcome.ring if cell != LOOP.last}


def test_the_stones_of_a_chain_have_stars_but_for_the_last() -> None:
    outcome = rules.outcome(LINK)
    assert outcome is not None
    drawing = text.draw(LINK)
    starred = {name for name in CELL_NAMES if shown(drawing, name).endswith("*")}
    chains = {cell for link in outcome.links for cell in link.chain}
    assert starred == {CELL_NAMES[cell] for cell in chains if cell != LINK.last}


def test_a_draw_has_no_stars() -> None:
    assert "*" not in text.draw(DRAW)


def test_the_edition_of_2007_lifts_the_tokens_and_names_the_top_of_the_pile() -> None:
    drawing = text.draw(after("c1", "a2"), edition=JACTALEA_2007)
    assert shown(drawing, "c1") == "●   "
    assert shown(drawing, "a2") == "○  <"
    assert drawing.splitlines()[-1] == "    on the pile: F6, six waves"


def test_there_is_no_pile_before_the_first_move() -> None:
    assert len(text.draw(START, edition=JACTALEA_2007).splitlines()) == 16


def test_the_edition_of_2020_has_no_pile() -> None:
    assert len(text.draw(after("c1"), edition=COSMOLUDO_2020).splitlines()) == 16


def test_opposite_edges_are_alike_and_neighbouring_ones_differ() -> None:
    rows = [line.strip() for line in text.draw(START, legal=False).splitlines()]
    assert rows[0] == rows[15]
    assert {(row[0], row[-1]) for row in rows[1:7]} == {("╱", "╲")}
    assert {(row[0], row[-1]) for row in rows[9:15]} == {("╲", "╱")}


def test_the_edges_carry_the_names_of_the_edition() -> None:
    assert "snake" in text.draw(START, edition=JACTALEA_2007).splitlines()[0]


def test_the_legend_says_what_letters_digits_and_edges_stand_for() -> None:
    assert text.legend(JACTALEA_2007).splitlines() == [
        "symbols: A leaf, B cup, C eye, D ankh, E sun, F wave",
        "suits:   1 one, 2 two, 3 three, 4 four, 5 five, 6 six",
        "edges:   ─ snake, ╲ ibis, ╱ frog",
    ]
    assert "C bird" in text.legend()


def test_the_signs_of_the_legend_are_those_of_the_edges() -> None:
    rows = [line.strip() for line in text.draw(START).splitlines()]
    edges = text.legend().splitlines()[2]
    assert f"{rows[0][0]} green" in edges
    assert f"{rows[1][-1]} blue" in edges
    assert f"{rows[1][0]} yellow" in edges
