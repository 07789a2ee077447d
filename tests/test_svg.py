import re
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from kamon import rules
from kamon.editions import COSMOLUDO_2020, EDITIONS, JACTALEA_2007, Edition
from kamon.geometry import AROUND, CELL_NAMES, CELLS, Pair
from kamon.layout import Layout
from kamon.notation import parse_cell, parse_line
from kamon.position import Position, Side
from kamon.render import svg
from kamon.render.palette import DARK, LIGHT
from kamon.render.svg import Theme, measures
from kamon.tokens import TOKENS, Token

NAMESPACE = "{http://www.w3.org/2000/svg}"
GAMES = (Path(__file__).parent / "data" / "games.txt").read_text().splitlines()
START = Position(Layout.shuffled(7))
HARMLESS = {"svg", "title", "desc", "defs", "g", "use", "text"} | {
    "path",
    "rect",
    "polygon",
    "circle",
    "ellipse",
}
THEMES: tuple[Theme, ...] = ("light", "dark")
BOTH_EDITIONS = pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)
BOTH_THEMES = pytest.mark.parametrize("theme", THEMES)


def ended(how: str) -> Position:
    game = parse_line(next(line for line in GAMES if line.endswith(how)))
    assert game is not None
    return game.position


def after(*names: str) -> Position:
    position = START
    for name in names:
        position = rules.play(position, parse_cell(name))
    return position


def read(picture: str) -> ET.Element:
    return ET.fromstring(picture)  # noqa: S314 - our own picture


def words(picture: str, tag: str) -> str:
    return read(picture).findtext(f"{NAMESPACE}{tag}") or ""


def body(picture: str) -> str:
    """Return what is drawn, without the words about it."""
    return picture.partition("<defs>")[2]


def groups(picture: str) -> dict[str, ET.Element]:
    """Find the group of each cell by its place."""
    found = {}
    for group in read(picture).findall(f"{NAMESPACE}g"):
        if numbers := re.fullmatch(r"translate\((\S+) (\S+)\)", group.get("transform", "")):
            place = float(numbers[1]), float(numbers[2])
            for cell in CELLS:
                if svg.centre(cell) == pytest.approx(place, abs=0.06):
                    found[CELL_NAMES[cell]] = group
    return found


def lines(root: ET.Element) -> list[str]:
    """Find the lines of chains and rings; what is filled is something else."""
    paths = root.findall(f"{NAMESPACE}path")
    return [path.get("d", "") for path in paths if path.get("fill") == "none"]


def cells_filled(picture: str, colour: str) -> set[str]:
    """Find the cells whose ground has a colour, by the corner at the top of each."""
    paths = [
        path.get("d", "")
        for path in read(picture).findall(f"{NAMESPACE}path")
        if path.get("fill") == colour
    ]
    tops = {CELL_NAMES[cell]: svg._polygon(6, 47, at=svg.centre(cell)) for cell in CELLS}
    return {name for name, outline in tops.items() if any(outline in path for path in paths)}


def inside(group: ET.Element) -> str:
    return ET.tostring(group, encoding="unicode")


def stroked(picture: str, colour: str, width: str) -> set[str]:
    """Name the cells that have a line of a colour and a width."""
    return {
        name
        for name, group in groups(picture).items()
        if any(
            part.get("stroke") == colour and part.get("stroke-width") == width
            for part in group.iter()
        )
    }


POSITIONS = {
    "start": START,
    "midway": after("c1", "a2", "f7"),
    **{
        how: ended(how)
        for how in ("black connection", "black loop", "connection+loop", "block", "full")
    },
}
EVERY_POSITION = pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)


# --- The picture as a document --------------------------------------------------------------


@EVERY_POSITION
@BOTH_EDITIONS
@BOTH_THEMES
def test_a_picture_is_well_formed_and_needs_nothing_from_outside(
    position: Position, edition: Edition, theme: Theme
) -> None:
    picture = svg.draw(
        position, edition=edition, theme=theme, coordinates=True, legal=True, labels={3: "9"}
    )
    root = read(picture)
    assert root.tag == f"{NAMESPACE}svg"
    drawn = {element.tag.removeprefix(NAMESPACE) for element in root.iter()}
    assert drawn <= HARMLESS
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "url(" not in value
            if "href" in name:
                assert value.removeprefix("#") in ids
    assert "://" not in picture.replace('xmlns="http://www.w3.org/2000/svg"', "")


@pytest.mark.parametrize("size", [50, 600, 5000])
def test_a_picture_is_as_wide_as_asked_and_keeps_its_shape(size: int) -> None:
    root = read(svg.draw(START, size=size))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert root.get("width") == str(size)
    assert float(root.get("height", "")) == pytest.approx(size * height / width, abs=0.5)


@EVERY_POSITION
@BOTH_EDITIONS
def test_nothing_is_drawn_beyond_the_edge(position: Position, edition: Edition) -> None:
    root = read(svg.draw(position, edition=edition))
    left, top, width, height = map(float, root.get("viewBox", "").split())
    for polygon in root.iter(f"{NAMESPACE}polygon"):
        for point in polygon.get("points", "").split():
            x, y = map(float, point.split(","))
            assert left <= x <= left + width
            assert top <= y <= top + height


@EVERY_POSITION
def test_the_same_position_gives_the_same_picture(position: Position) -> None:
    twin = Position(Layout(position.layout.tokens), position.black, position.white, position.last)
    assert svg.draw(position, legal=True) == svg.draw(twin, legal=True)


def test_a_notebook_shows_a_position_as_its_picture() -> None:
    assert START._repr_svg_() == svg.draw(START)


def test_no_two_cells_meet_and_neighbours_are_one_step_apart() -> None:
    step = svg.RADIUS * 3**0.5
    for cell, other in product(CELLS, CELLS):
        (x, y), (u, v) = svg.centre(cell), svg.centre(other)
        apart = ((x - u) ** 2 + (y - v) ** 2) ** 0.5
        assert (apart == pytest.approx(step)) == (other in AROUND[cell])
        assert cell == other or apart > step - 0.01


def test_d4_is_in_the_middle() -> None:
    assert svg.centre(parse_cell("d4")) == pytest.approx((0, 0))


# --- Words for screen readers ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("start", "Kamon after 0 moves, black to play"),
        ("midway", "Kamon after 3 moves, white to play"),
        ("black connection", "Kamon after 25 moves, black has won by connection"),
        ("black loop", "black has won by loop"),
        ("connection+loop", "has won by connection and loop"),
        ("block", "has won by block"),
        ("full", "Kamon after 36 moves, a draw: the board is full"),
    ],
)
def test_the_title_tells_how_the_game_stands(name: str, title: str) -> None:
    picture = svg.draw(POSITIONS[name])
    assert title in words(picture, "title")
    assert read(picture).get("aria-label") == words(picture, "title")
    assert read(picture).get("role") == "img"


def test_the_description_tells_stones_last_move_and_legal_cells() -> None:
    legal = " ".join(CELL_NAMES[cell] for cell in rules.legal_cells(after("c1", "a2")))
    assert words(svg.draw(after("c1", "a2")), "desc") == (
        "Black: c1. White: a2. Last move a2, green door: to match it, play any door, or "
        f"anything green. Legal: {legal}."
    )


def test_the_description_speaks_the_words_of_the_edition() -> None:
    picture = svg.draw(after("c1"), edition=JACTALEA_2007)
    need = "any ankh, or anything printed six times"
    assert f"Last move c1, six ankhs: to match it, play {need}." in words(picture, "desc")


def test_the_description_of_an_empty_board_says_so() -> None:
    assert words(svg.draw(START), "desc") == (
        "Black: none. White: none. Legal: b1 c1 a2 e2 a3 f3 b5 g5 c6 g6 e7 f7."
    )


def test_nothing_is_legal_in_the_description_of_a_finished_game() -> None:
    assert words(svg.draw(POSITIONS["black loop"]), "desc").endswith("Legal: none.")


# --- The options ----------------------------------------------------------------------------


@BOTH_EDITIONS
@BOTH_THEMES
def test_legal_cells_have_a_rim_and_the_others_fade(edition: Edition, theme: Theme) -> None:
    palette = LIGHT if theme == "light" else DARK
    position = after("c1", "a2")
    picture = svg.draw(position, edition=edition, theme=theme, legal=True)
    legal = {CELL_NAMES[cell] for cell in rules.legal_cells(position)}
    assert stroked(picture, palette.legal, "3") == legal
    faded = {
        name
        for name, group in groups(picture).items()
        if any(part.get("opacity") == str(palette.faded) for part in group)
    }
    assert faded == set(CELL_NAMES) - legal - {"c1", "a2"}


def test_legal_cells_are_unmarked_unless_asked_for() -> None:
    picture = svg.draw(after("c1"))
    assert stroked(picture, LIGHT.legal, "3") == set()
    assert str(LIGHT.faded) not in body(picture)


def test_a_choice_of_cells_can_be_marked_instead() -> None:
    picture = svg.draw(START, legal=[parse_cell("d4"), parse_cell("a1"), parse_cell("d4")])
    assert stroked(picture, LIGHT.legal, "3") == {"a1", "d4"}


def test_the_last_move_has_a_golden_hexagon_in_2020() -> None:
    position = after("c1", "a2")
    assert stroked(svg.draw(position), LIGHT.gold, "6") == {"a2"}
    assert stroked(svg.draw(position, last=False), LIGHT.gold, "6") == set()


def test_the_last_move_has_a_dotted_circle_and_a_pile_in_2007() -> None:
    position = after("c1", "a2")
    marked = svg.draw(position, edition=JACTALEA_2007)
    unmarked = svg.draw(position, edition=JACTALEA_2007, last=False)
    assert stroked(marked, LIGHT.gold, "4") == {"a2"}
    assert stroked(unmarked, LIGHT.gold, "4") == set()
    assert "data-token" in marked
    assert "data-token" not in unmarked


def test_a_chain_is_drawn_over_its_cells_and_its_edges_are_gilded() -> None:
    position = POSITIONS["black connection"]
    outcome = rules.outcome(position)
    assert outcome is not None
    points = "L".join("{:.1f},{:.1f}".format(*svg.centre(cell)) for cell in outcome.links[0].chain)
    root = read(svg.draw(position))
    drawn = lines(root)
    assert len(drawn) == 2 * len(outcome.links)
    # It goes on into the frame at both ends.
    ends = r"-?\d+\.\d,-?\d+\.\d"
    assert all(re.fullmatch(f"M{ends}L{re.escape(points)}L{ends}", line) for line in drawn)
    gilded = [part for part in root.iter(f"{NAMESPACE}polygon") if part.get("stroke") == LIGHT.gold]
    assert len(gilded) == 2 * len(outcome.links)


def test_a_chain_between_corners_runs_into_the_edges_of_each_pair() -> None:
    line = (
        "A3A1B5D5/D6C6A4E3F4/--A5A2B1E6E2/B6D4F6C4D3D2A6/F5D1B2E5F1F3/C2B4E1C1C5/B3C3E4F2 "
        "e7 g5 g7 e2 d4 c6 f6 b1 a1 c2 c3 f3 e5 g6 b2"
    )
    game = parse_line(line)
    assert game is not None
    outcome = rules.outcome(game.position)
    assert outcome is not None
    assert [link.pair for link in outcome.links] == [Pair.GREEN, Pair.YELLOW]
    green, yellow = dict.fromkeys(lines(read(svg.draw(game.position))))
    x, y = svg.centre(CELL_NAMES.index("a1"))

    def end_at_a1(path: str) -> list[float]:
        points = [[float(each) for each in point.split(",")] for point in path[1:].split("L")]
        return min(points[0], points[-1])

    # From a1 the green line goes straight up, and the yellow one out to the left.
    up, left = end_at_a1(green), end_at_a1(yellow)
    assert abs(up[0] - x) < 0.1
    assert up[1] < y - 10
    assert left[0] < x - 10


def test_a_ring_is_drawn_closed_and_what_it_encloses_is_tinted() -> None:
    position = POSITIONS["black loop"]
    outcome = rules.outcome(position)
    assert outcome is not None
    picture = svg.draw(position)
    drawn = lines(read(picture))
    assert len(drawn) == 2
    assert all(line.endswith("Z") and line.count("L") == len(outcome.ring) - 1 for line in drawn)
    assert cells_filled(picture, LIGHT.enclosed) == {CELL_NAMES[cell] for cell in outcome.enclosed}


def test_a_chain_and_a_ring_are_drawn_together() -> None:
    drawn = lines(read(svg.draw(POSITIONS["connection+loop"])))
    closed = [line.endswith("Z") for line in drawn]
    assert True in closed
    assert False in closed


@pytest.mark.parametrize("how", ["black connection", "black loop", "connection+loop"])
def test_the_proof_can_be_left_out_but_is_still_told(how: str) -> None:
    picture = svg.draw(POSITIONS[how], winning=False)
    assert lines(read(picture)) == []
    assert LIGHT.enclosed not in picture
    assert "has won by" in words(picture, "title")


def test_labels_stand_on_their_cells() -> None:
    picture = svg.draw(START, labels={parse_cell("d4"): "12"})
    (label,) = read(picture).iter(f"{NAMESPACE}text")
    assert label.text == "12"
    x, y = svg.centre(parse_cell("d4"))
    assert f'<g transform="translate({x:.1f} {y + 28:.1f})"><rect' in picture


def test_labels_cannot_bring_markup_in() -> None:
    wicked = """</text><script>alert("1")</script>&amp;'"""
    picture = svg.draw(START, labels={0: wicked})
    (label,) = read(picture).iter(f"{NAMESPACE}text")
    assert label.text == wicked
    assert "<script" not in picture


@BOTH_EDITIONS
def test_coordinates_name_every_cell(edition: Edition) -> None:
    position = after("c1", "a2")
    picture = svg.draw(position, edition=edition, coordinates=True)
    named = {name: group.findtext(f"{NAMESPACE}text") for name, group in groups(picture).items()}
    assert named == {name: name for name in CELL_NAMES}
    assert "<text" not in svg.draw(position, edition=edition)


def test_coordinates_on_stones_take_the_ink_of_the_stone() -> None:
    cells = groups(svg.draw(after("c1", "a2"), coordinates=True))
    inks = {name: cells[name].find(f"{NAMESPACE}text") for name in ("c1", "a2", "d4")}
    assert {name: ink.get("fill") for name, ink in inks.items() if ink is not None} == {
        "c1": LIGHT.stones[Side.BLACK].ink,
        "a2": LIGHT.stones[Side.WHITE].ink,
        "d4": LIGHT.text,
    }


@BOTH_EDITIONS
def test_each_theme_has_its_paper(edition: Edition) -> None:
    for theme, palette in (("light", LIGHT), ("dark", DARK)):
        paper = read(svg.draw(START, edition=edition, theme=theme)).find(f"{NAMESPACE}rect")  # type: ignore[arg-type]
        assert paper is not None
        assert paper.get("fill") == palette.paper


@pytest.mark.parametrize(
    "option",
    [
        {"legal": True},
        {"last": False},
        {"winning": False},
        {"labels": {0: "x"}},
        {"coordinates": True},
        {"theme": "dark"},
        {"edition": JACTALEA_2007},
    ],
    ids=lambda option: next(iter(option)),
)
@EVERY_POSITION
def test_an_option_changes_the_picture_exactly_where_it_has_something_to_say(
    position: Position, option: dict[str, Any]
) -> None:
    outcome = rules.outcome(position)
    silent = {
        "legal": outcome is not None,
        "last": position.last is None,
        "winning": outcome is None or not (outcome.links or outcome.ring),
    }
    (name,) = option
    unchanged = body(svg.draw(position, **option)) == body(svg.draw(position))
    assert unchanged == silent.get(name, False)


# --- Tokens, stones and the pile ------------------------------------------------------------


@BOTH_EDITIONS
@BOTH_THEMES
def test_no_two_tokens_look_alike(edition: Edition, theme: Theme) -> None:
    drawn = {body(svg.draw_token(token, edition=edition, theme=theme)) for token in TOKENS}
    assert len(drawn) == 36


@BOTH_EDITIONS
@BOTH_THEMES
def test_no_two_tokens_look_alike_without_colour(edition: Edition, theme: Theme) -> None:
    drawn = {
        re.sub("#[0-9a-f]{6}", "", body(svg.draw_token(token, edition=edition, theme=theme)))
        for token in TOKENS
    }
    assert len(drawn) == 36


@BOTH_THEMES
@pytest.mark.parametrize("token", TOKENS, ids=str)
def test_a_token_looks_different_in_each_edition(token: Token, theme: Theme) -> None:
    one, other = (svg.draw_token(token, edition=each, theme=theme) for each in EDITIONS.values())
    assert body(one) != body(other)


@BOTH_EDITIONS
@BOTH_THEMES
@pytest.mark.parametrize("token", [*TOKENS, None], ids=str)
def test_a_token_alone_is_a_whole_picture(
    token: Token | None, edition: Edition, theme: Theme
) -> None:
    picture = svg.draw_token(token, edition=edition, theme=theme, size=96)
    root = read(picture)
    assert (root.get("width"), root.get("height")) == ("96", "96")
    assert words(picture, "title") == root.get("aria-label") == edition.describe(token)
    used = {part.get("href", "").removeprefix("#") for part in root.iter(f"{NAMESPACE}use")}
    assert used == {part.get("id") for part in root.iter(f"{NAMESPACE}path") if part.get("id")}


@pytest.mark.parametrize("suit", range(1, 7))
def test_a_sign_of_2007_is_printed_as_often_as_its_suit_says(suit: int) -> None:
    picture = svg.draw_token(Token("B", suit), edition=JACTALEA_2007)
    assert picture.count("<use ") == suit


def test_the_neutral_is_blank_in_2020_and_absent_in_2007() -> None:
    neutral = CELL_NAMES[START.layout.neutral]
    printed = groups(svg.draw(START))[neutral]
    lifted = groups(svg.draw(START, edition=JACTALEA_2007))[neutral]
    assert len(printed.findall(f".//{NAMESPACE}circle")) == 2
    assert "<use" not in inside(printed)
    assert len(lifted) == 0


def test_a_token_under_a_stone_keeps_its_shape_and_the_last_one_its_colour() -> None:
    position = after("c1", "a2")
    picture = svg.draw(position)
    first, last = (groups(picture)[name] for name in ("c1", "a2"))
    fan, door = (first.find(f".//{NAMESPACE}use"), last.find(f".//{NAMESPACE}use"))
    assert fan is not None
    assert door is not None
    assert (fan.get("href"), door.get("href")) == ("#kamon-fan", "#kamon-door")
    # The colour of a token belongs to what can be played, or must be matched.
    assert fan.get("fill") == LIGHT.stones[Side.BLACK].engraved
    assert LIGHT.suits[6].fill not in inside(first)
    assert LIGHT.suits[6].fill in inside(last)
    full = groups(svg.draw(position, covered=True))["c1"]
    assert LIGHT.suits[6].fill in inside(full)


def test_a_small_picture_shows_stones_and_no_tokens() -> None:
    small, large = (svg.draw(after("c1"), size=size) for size in (svg.SMALL - 1, svg.SMALL))
    assert "<use" not in body(small).partition("</defs>")[2]
    assert "<use" in body(large).partition("</defs>")[2]
    assert LIGHT.stones[Side.BLACK].fill in small
    assert LIGHT.gold in small


def test_a_token_leaves_the_board_for_the_pile_in_2007() -> None:
    picture = svg.draw(after("c1"), edition=JACTALEA_2007)
    pawn = groups(picture)["c1"]
    assert pawn.find(f".//{NAMESPACE}use") is None
    assert LIGHT.stones[Side.BLACK].fill in inside(pawn)
    pile = read(picture).find(f"{NAMESPACE}g[@data-token='D6']")
    assert pile is not None
    assert len(pile.findall(f"{NAMESPACE}use[@href='#kamon-ankh']")) == 6


def test_the_pile_grows_with_the_game_up_to_five_tokens() -> None:
    names = [CELL_NAMES[cell] for cell in _any_moves(7)]
    discs = []
    for count in range(1, 8):
        root = read(svg.draw(after(*names[:count]), edition=JACTALEA_2007))
        pile = root.find(f"{NAMESPACE}g[@data-token]")
        assert pile is not None
        discs.append(sum(disc.get("r") == "33" for disc in pile.findall(f"{NAMESPACE}circle")))
    assert discs == [1, 2, 3, 4, 5, 5, 5]


def _any_moves(count: int) -> list[int]:
    moves: list[int] = []
    position = START
    for _ in range(count):
        moves.append(rules.legal_cells(position)[0])
        position = position.after(moves[-1])
    return moves


def test_there_is_no_pile_on_an_empty_board_nor_in_2020() -> None:
    assert "data-token" not in svg.draw(START, edition=JACTALEA_2007)
    assert "data-token" not in svg.draw(after("c1"), edition=COSMOLUDO_2020)


@pytest.mark.parametrize("edition", [COSMOLUDO_2020, JACTALEA_2007], ids=["2020", "2007"])
def test_opposite_edges_are_marked_alike_by_more_than_colour(edition: Edition) -> None:
    root = read(svg.draw(START, edition=edition))
    _tray, *bands = root.findall(f"{NAMESPACE}polygon")
    children = list(root)
    marks = [
        [part.attrib for part in children[children.index(band) + 1].iter()][1:] for band in bands
    ]
    assert len(bands) == 6
    assert marks[:3] == marks[3:]
    assert marks[0] != marks[1] != marks[2] != marks[0]


def test_the_measures_for_a_page_name_every_cell_and_suit() -> None:
    found = measures()
    assert isinstance(found["centres"], dict)
    assert len(found["centres"]) == 37
    assert found["centres"]["d4"] == [0, 0]
    assert isinstance(found["enclosures"], dict)
    assert set(found["enclosures"]) == {1, 2, 3, 4, 5, 6}
