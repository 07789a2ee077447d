from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from build import LAYOUT, names, position
from kamon import (
    FormatError,
    KamonError,
    Layout,
    LayoutError,
    Position,
    PositionError,
    Token,
    format_cell,
    format_layout,
    format_line,
    format_position,
    format_token,
    legal_cells,
    outcome,
    outcome_data,
    parse_cell,
    parse_layout,
    parse_line,
    parse_position,
    parse_token,
)
from kamon.geometry import CELL_NAMES, CELLS
from kamon.notation import LINE_LIMIT
from kamon.tokens import TOKENS

TEXT = format_layout(LAYOUT)
NO_PIECES = "..../...../....../......./....../...../...."
printable = st.text(st.sampled_from("abcgABCF1234567-/ ;xo."), max_size=120)


def test_every_cell_reads_and_writes() -> None:
    assert [parse_cell(format_cell(cell)) for cell in CELLS] == list(CELLS)
    assert [format_cell(parse_cell(name)) for name in CELL_NAMES] == list(CELL_NAMES)


def test_every_token_reads_and_writes() -> None:
    for token in (*TOKENS, None):
        assert parse_token(format_token(token)) == token
    assert parse_token("C4") == Token("C", 4)
    assert parse_token("--") is None


@pytest.mark.parametrize("text", ["", "C4", "c", "c44", "e1", "a5", "h1", "c 4", "ｃ4", "c４"])
def test_what_is_no_cell_is_quoted(text: str) -> None:
    with pytest.raises(FormatError, match="is not a space: use a small letter and a digit"):
        parse_cell(text)


@pytest.mark.parametrize("text", ["", "c4", "C7", "G1", "C0", "-", "C44"])
def test_what_is_no_token_is_quoted(text: str) -> None:
    with pytest.raises(FormatError, match="is not a token: use a letter from A to F"):
        parse_token(text)


@given(st.integers(min_value=0, max_value=2**64 - 1))
def test_layouts_read_and_write(seed: int) -> None:
    layout = Layout.shuffled(seed)
    assert parse_layout(format_layout(layout)) == layout


def test_the_layout_of_the_rules_reads_as_it_is_drawn() -> None:
    assert parse_cell("a1") == 0
    assert format_token(LAYOUT.tokens[parse_cell("d4")]) == "E4"
    assert format_token(LAYOUT.tokens[parse_cell("d6")]) == "--"
    assert format_token(LAYOUT.tokens[parse_cell("g7")]) == "F3"


@pytest.mark.parametrize(
    ("text", "defects"),
    [
        (TEXT.replace("E5", "e5"), ("these are not tokens: 'e5'", "missing: E5")),
        (TEXT.replace("E5", "F3"), ("missing: E5", "more than once: F3")),
        (TEXT.replace("--", "A1"), ("missing: --", "more than once: A1")),
        (
            "hello",
            (
                "expected 7 rows, found 1",
                "expected 4 tokens in row 1, found 3",
                "these are not tokens: 'he ll o'",
            ),
        ),
        (
            TEXT.replace("E5B1C3C2/", "E5B1C3/C2"),
            ("expected 4 tokens in row 1, found 3", "expected 5 tokens in row 2, found 6"),
        ),
        (
            TEXT.replace("E5B1C3C2/", "").replace("F3", "f"),
            (
                "expected 7 rows, found 6",
                "expected 4 tokens in row 1, found 5",
                "expected 5 tokens in row 2, found 6",
                "expected 6 tokens in row 3, found 7",
                "expected 7 tokens in row 4, found 6",
                "expected 6 tokens in row 5, found 5",
                "expected 5 tokens in row 6, found 4",
                "these are not tokens: 'f'",
                "missing: B1 C2 C3 E5 F3",
            ),
        ),
    ],
)
def test_all_defects_of_a_layouts_text_are_told_at_once(
    text: str, defects: tuple[str, ...]
) -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout(text)
    assert tuple(map(str, caught.value.defects)) == defects


def test_words_that_are_no_tokens_are_quoted_together_and_cut() -> None:
    with pytest.raises(LayoutError) as caught:
        parse_layout("e5" * 1000)
    assert caught.value.defects[2].values == {"text": repr(("e5 " * 13) + "…")}


# --- Position lines -------------------------------------------------------------------------


def test_a_line_is_a_layout_and_its_moves() -> None:
    game = parse_line(f"{TEXT} b1 d2 e2 ; a comment")
    assert game is not None
    assert names(game.moves) == "b1 d2 e2"
    assert format_line(game) == f"{TEXT} b1 d2 e2"


@pytest.mark.parametrize("text", ["", "   ", "\n", "; only a comment", "  ; b1"])
def test_a_line_that_says_nothing_is_none(text: str) -> None:
    assert parse_line(text) is None


@pytest.mark.parametrize(
    ("moves", "offset", "message"),
    [
        ("b1 zz", 3, "'zz' is not a space"),
        ("a1", 0, "a1 cannot be played: Black begins on an edge space"),
        ("b1 b1", 3, "b1 cannot be played: there is already a stone on it"),
        ("b1  a1", 4, "a1 cannot be played: E5 has neither"),
    ],
)
def test_a_bad_move_is_told_with_its_column(moves: str, offset: int, message: str) -> None:
    with pytest.raises(KamonError) as caught:
        parse_line(f"{TEXT} {moves}")
    assert caught.value.column == len(TEXT) + 2 + offset
    assert str(caught.value).startswith(f"column {caught.value.column}: {message}")


def test_a_move_after_the_end_of_the_game_is_an_error() -> None:
    won = (
        "B2F5B3C2/F1A6B1E4B6/D3B4F4D6--E6/D4C6D2C3D5B5A5/F6A1C1A3C4A2/C5E5E1F2E3/A4E2F3D1 "
        "g6 d2 e6 a2 b1 b5 b4 f3 b2 e2 c2 g7 e4 c6 g4 e5 d4 f5 d5 c5 g5 c4 e7 f6 c3"
    )
    assert parse_line(won) is not None
    with pytest.raises(KamonError, match="the game is over"):
        parse_line(f"{won} d3")


def test_a_line_may_begin_with_the_three_fields_of_a_position() -> None:
    later = parse_line(f"{TEXT} b1 d2")
    assert later is not None
    game = parse_line(f"{format_position(later.position)} e2")
    assert game is not None
    assert names(game.moves) == "e2"
    assert game.position.ply == 3
    assert format_line(game) == f"{format_position(later.position)} e2"


def test_pieces_without_a_last_cell_are_an_error() -> None:
    with pytest.raises(FormatError, match="the last move is missing"):
        parse_line(f"{TEXT} {NO_PIECES}")


def test_a_line_of_megabytes_is_refused() -> None:
    with pytest.raises(FormatError, match=r"\(limit 4096\)"):
        parse_line("x" * (LINE_LIMIT + 1))


# --- Positions without history --------------------------------------------------------------


def test_the_empty_board_as_three_fields() -> None:
    assert format_position(Position(LAYOUT)) == f"{TEXT} {NO_PIECES} -"
    assert parse_position(f"{TEXT} {NO_PIECES} -") == Position(LAYOUT)


def test_pieces_are_written_in_reading_order() -> None:
    text = format_position(position("b1 e2", "d2", last="e2"))
    assert text == f"{TEXT} .x../...ox/....../......./....../...../.... e2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 3 fields .* found 0"),
        (TEXT, "expected 3 fields .* found 1"),
        (f"{TEXT} {NO_PIECES} - -", "expected 3 fields .* found 4"),
        (f"{TEXT} {NO_PIECES.replace('.', 'z')} -", "does not describe the stones: use x, o or ."),
        (f"{TEXT} ... -", "does not describe the stones"),
        (f"{TEXT} {NO_PIECES} c9", "'c9' is not a space"),
        (f"nonsense {NO_PIECES} -", "column 1: not a layout"),
    ],
)
def test_bad_fields_are_told(text: str, message: str) -> None:
    with pytest.raises(KamonError, match=message):
        parse_position(text)


def test_an_impossible_position_is_refused() -> None:
    with pytest.raises(PositionError, match="the last move is not given"):
        parse_position(f"{TEXT} x{NO_PIECES[1:]} -")


# --- Whatever comes -------------------------------------------------------------------------


@example("\x00")
@example("\ud800")
@example("/" * 4000)
@example(f"{TEXT} {'b1 ' * 1000}")
@given(st.text(max_size=300) | printable)
def test_whatever_text_comes_gives_a_value_or_one_of_our_errors(text: str) -> None:
    for reader in (parse_cell, parse_token, parse_layout, parse_line, parse_position):
        try:
            reader(text)
        except KamonError as error:
            assert str(error)  # noqa: PT017 - either is fine, and an error must speak


@given(st.integers(min_value=0, max_value=2**64 - 1), st.data())
def test_a_line_with_one_character_changed_reads_or_is_refused(
    seed: int, data: st.DataObject
) -> None:
    layout, rng = Layout.shuffled(seed), Random(seed)
    current, moves = Position(layout), []
    for _ in range(8):
        moves.append(rng.choice(legal_cells(current)))
        current = current.after(moves[-1])
    line = " ".join([format_layout(layout), *map(format_cell, moves)])
    at = data.draw(st.integers(0, len(line) - 1))
    changed = line[:at] + data.draw(st.characters()) + line[at + 1 :]
    try:
        game = parse_line(changed)
    except KamonError:
        return
    assert game is None or parse_line(format_line(game)) is not None


def test_an_outcome_turns_into_plain_values() -> None:
    result = outcome(position("d3 e4 e5 d5 c4 c3", last="d3"))
    assert result is not None
    assert outcome_data(result) == {
        "winner": "black",
        "by": ["loop"],
        "links": [],
        "ring": ["d3", "c3", "c4", "d5", "e5", "e4"],
        "enclosed": ["d4"],
        "needed": None,
    }
