import copy
import json
import pickle
from collections.abc import Callable
from functools import partial
from string import Formatter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from build import LAYOUT, mask
from kamon import (
    Game,
    Layout,
    OffBoard,
    Position,
    Side,
    Token,
    check,
    format_layout,
    parse_cell,
    parse_layout,
    parse_line,
    parse_position,
    parse_record,
    parse_token,
    play,
)
from kamon.errors import (
    SENTENCES,
    Defect,
    EngineMissingError,
    FormatError,
    IllegalMoveError,
    KamonError,
    LayoutError,
    PositionError,
    quote,
)
from kamon.layout import SEED_LIMIT
from kamon.notation import LINE_LIMIT
from kamon.record import NESTING_LIMIT, RECORD_LIMIT

TEXT = format_layout(LAYOUT)
TAG = f'[Layout "{TEXT}"]\n'
NO_PIECES = "..../...../....../......./....../...../...."
RING = "d3 e4 e5 d5 c4 c3"
WON = (
    "B2F5B3C2/F1A6B1E4B6/D3B4F4D6--E6/D4C6D2C3D5B5A5/F6A1C1A3C4A2/C5E5E1F2E3/A4E2F3D1 "
    "g6 d2 e6 a2 b1 b5 b4 f3 b2 e2 c2 g7 e4 c6 g4 e5 d4 f5 d5 c5 g5 c4 e7 f6 c3"
)
WON_LAYOUT, _, WON_MOVES = WON.partition(" ")
WON_TAG = f'[Layout "{WON_LAYOUT}"]\n'

# What a quotation of forty characters comes to where each is written as \U0010ffff.
VALUE_LIMIT = 402


def stones(black: str = "", white: str = "", last: str | None = None) -> Position:
    last_cell = None if last is None else parse_cell(last)
    return check(Position(LAYOUT, mask(black), mask(white), last_cell))


def fail_to_load() -> None:
    raise EngineMissingError("libLLVM.so is missing")


def fail_to_find() -> None:
    raise EngineMissingError


# For each code what raises it.
BAD: dict[str, Callable[[], object]] = {
    "row-count": partial(parse_layout, "A1"),
    "row-length": partial(parse_layout, TEXT.replace("E5B1C3C2/", "E5B1C3/C2")),
    "bad-tokens": partial(parse_layout, TEXT.replace("E5", "e5")),
    "token-count": partial(Layout, LAYOUT.tokens[1:]),
    "missing-tokens": partial(parse_layout, TEXT.replace("E5", "F3")),
    "doubled-tokens": partial(parse_layout, TEXT.replace("E5", "F3")),
    "unknown-tokens": partial(Layout, (Token("G", 9), *LAYOUT.tokens[1:])),
    "bad-seed": partial(Layout.shuffled, SEED_LIMIT),
    "shared-cell": partial(stones, "b1", "b1", "b1"),
    "stone-off-board": partial(check, Position(LAYOUT, 1 << 37, 0, 37)),
    "stone-counts": partial(stones, "b1 c1", "", "c1"),
    "neutral-stone": partial(stones, "d6", "", "d6"),
    "no-last": partial(stones, "b1"),
    "last-off-board": partial(check, Position(LAYOUT, 1, 0, 99)),
    "last-not-theirs": partial(stones, "b1", "", "c1"),
    "waiting-side-won": partial(stones, RING, "a1 d1 a4 g4 d7 g7", "a1"),
    "early-win": partial(stones, f"{RING} a1", "d1 a4 g4 d7 g7 b5", "a1"),
    "no-such-cell": partial(play, Position(LAYOUT), 37),
    "game-over": partial(parse_line, f"{WON} d3"),
    "occupied": partial(parse_line, f"{TEXT} b1 b1"),
    "neutral-cell": partial(parse_line, f"{TEXT} d6"),
    "corner-start": partial(parse_line, f"{TEXT} a1"),
    "inside-start": partial(parse_line, f"{TEXT} d4"),
    "no-match": partial(parse_line, f"{TEXT} b1 a1"),
    "start-removed": lambda: (game := Game(LAYOUT)).remove(game.root),
    "ended-already": lambda: parse_record(f'{TAG}[Termination "time"]\n1-0').end_off_board(
        Side.WHITE, OffBoard.TIME
    ),
    "agreement-is-draw": partial(parse_record, f'{TAG}[Termination "agreement"]\n1-0'),
    "bad-cell": partial(parse_cell, "C4"),
    "bad-token": partial(parse_token, "c4"),
    "bad-pieces": partial(parse_position, f"{TEXT} ... -"),
    "field-count": partial(parse_position, TEXT),
    "no-last-field": partial(parse_line, f"{TEXT} {NO_PIECES}"),
    "line-too-long": partial(parse_line, "x" * (LINE_LIMIT + 1)),
    "record-too-long": partial(parse_record, "x" * (RECORD_LIMIT + 1)),
    "bad-tag": partial(parse_record, "[Layout"),
    "doubled-tag": partial(parse_record, TAG * 2),
    "bad-tag-value": partial(parse_record, f'{TAG}[Edition "1999"]\n*'),
    "bad-time-control": partial(parse_record, f'{TAG}[TimeControl "soon"]\n*'),
    "no-layout-tag": partial(parse_record, "*"),
    "layouts-differ": partial(parse_record, f'{WON_TAG}[Position "{TEXT} {NO_PIECES} -"]\n*'),
    "unexpected-text": partial(parse_record, f"{TAG}\n1. d9 *"),
    "bad-glyph": partial(parse_record, f"{TAG}\n1. b1 $256 *"),
    "misplaced-variation": partial(parse_record, f"{TAG}\n(1. b1) *"),
    "deep-variation": partial(parse_record, f"{TAG}\n1. b1" + " (1. c1" * (NESTING_LIMIT + 1)),
    "open-variation": partial(parse_record, f"{TAG}\n1. b1 (1. c1"),
    "text-after-result": partial(parse_record, f"{TAG}\n* b1"),
    "no-result": partial(parse_record, f"{TAG}\n1. b1"),
    "results-differ": partial(parse_record, f'{TAG}[Result "1-0"]\n*'),
    "wrong-result": partial(parse_record, f"{WON_TAG}\n{WON_MOVES} 0-1"),
    "wrong-termination": partial(parse_record, f'{WON_TAG}[Termination "loop"]\n{WON_MOVES} 1-0'),
    "unfinished-termination": partial(parse_record, f'{TAG}[Termination "time"]\n*'),
    "not-ended": partial(parse_record, f"{TAG}\n1-0"),
    "numba-missing": fail_to_find,
    "numba-broken": fail_to_load,
}


def caught(raiser: Callable[[], object]) -> KamonError:
    with pytest.raises(KamonError) as found:
        raiser()
    return found.value


def assert_is_in_the_table(defect: Defect) -> None:
    named = {name for _, name, _, _ in Formatter().parse(SENTENCES[defect.code]) if name}
    assert set(defect.values) == named
    assert all(len(str(value)) <= VALUE_LIMIT for value in defect.values.values())


# --- The tree -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [FormatError, LayoutError, PositionError, IllegalMoveError])
def test_every_error_is_a_kamon_error_and_a_value_error(kind: type[Exception]) -> None:
    assert issubclass(kind, KamonError)
    assert issubclass(kind, ValueError)


def test_bad_text_and_an_illegal_move_are_different_errors() -> None:
    assert not issubclass(FormatError, IllegalMoveError)
    assert not issubclass(IllegalMoveError, FormatError)


def test_an_error_without_a_place_is_its_sentence() -> None:
    assert str(FormatError("no such thing")) == "no such thing"


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        (3, 5, "line 3, column 5: no"),
        (3, None, "line 3: no"),
        (None, 5, "column 5: no"),
        (None, None, "no"),
    ],
)
def test_a_place_stands_before_the_sentence(
    line: int | None, column: int | None, expected: str
) -> None:
    assert str(KamonError("no").at(line=line, column=column)) == expected


def test_the_closest_reader_has_the_word_on_the_place() -> None:
    error = FormatError("no").at(column=5)
    assert error.at(line=3, column=99) is error
    assert (error.line, error.column) == (3, 5)
    assert error.at(line=99).line == 3


@pytest.mark.parametrize(
    ("kind", "what"), [(LayoutError, "not a layout"), (PositionError, "not a position")]
)
def test_every_defect_is_told_at_once(
    kind: type[LayoutError] | type[PositionError], what: str
) -> None:
    defects = Defect("shared-cell"), Defect("neutral-stone", {"cell": "d6"})
    error = kind(defects)
    assert error.defects == defects
    assert str(error) == (
        f"{what}: a black and a white stone are on the same space; "
        "there is a stone on d6, the neutral space"
    )


@pytest.mark.parametrize(
    "error",
    [
        FormatError("no"),
        IllegalMoveError(Defect("occupied", {"cell": "b1"})),
        LayoutError([Defect("row-count", {"found": 1, "expected": 7}), Defect("no-last")]),
        PositionError([Defect("no-last")]),
        EngineMissingError("libLLVM.so is missing"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_way_to_another_process(error: KamonError) -> None:
    error.at(line=3, column=5)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


# --- Defects --------------------------------------------------------------------------------


def test_every_code_of_the_table_has_something_that_raises_it() -> None:
    assert list(BAD) == list(SENTENCES)


@pytest.mark.parametrize("code", BAD)
def test_a_defect_has_its_code_and_the_values_of_its_sentence(code: str) -> None:
    error = caught(BAD[code])
    assert code in [defect.code for defect in error.defects]
    for defect in error.defects:
        assert_is_in_the_table(defect)
        assert str(defect) in error.message


@pytest.mark.parametrize("code", BAD)
def test_an_error_turns_into_plain_values(code: str) -> None:
    error = caught(BAD[code])
    data = json.loads(json.dumps(error.data()))
    assert data["defects"] == [
        {"code": defect.code, "values": dict(defect.values)} for defect in error.defects
    ]
    assert (data["line"], data["column"]) == (error.line, error.column)


def test_the_values_of_an_illegal_move_name_cells_and_tokens() -> None:
    assert caught(BAD["no-match"]).data() == {
        "defects": [
            {
                "code": "no-match",
                "values": {"cell": "a1", "last": "b1", "token": "E5", "last_token": "B1"},
            }
        ],
        "line": None,
        "column": len(TEXT) + 5,
    }


def test_numbers_stay_exact_in_a_browser() -> None:
    for raiser in BAD.values():
        for defect in caught(raiser).defects:
            for value in defect.values.values():
                assert isinstance(value, str) or value < 1 << 53


def test_no_two_defects_have_the_same_sentence() -> None:
    assert len(set(SENTENCES.values())) == len(SENTENCES)


def test_codes_are_words_joined_by_hyphens() -> None:
    assert all(word.isalpha() and word.islower() for code in SENTENCES for word in code.split("-"))


def test_defects_are_values() -> None:
    defect = Defect("occupied", {"cell": "b1"})
    assert defect == Defect("occupied", {"cell": "b1"})
    assert defect != Defect("occupied", {"cell": "c1"})
    assert len({defect, Defect("occupied", {"cell": "b1"})}) == 1
    assert eval(repr(defect), {"Defect": Defect}) == defect  # noqa: S307 - our own


def test_a_sentence_of_its_own_has_no_defects() -> None:
    assert FormatError("no").data() == {"defects": [], "line": None, "column": None}


pieces = st.lists(
    st.sampled_from(
        [
            *["x", "o", ".", "/", "-", " ", "b1", "d2", "E5", TEXT, NO_PIECES, TAG, "[", "]", '"'],
            *["*", "1-0", "(", ")", "{", "}", "$1", "\n", "\U0010ffff", "\ud800"],
        ]
    ),
    max_size=20,
).map("".join)


@example("\U0010ffff" * 50)
@example(f"{TEXT} {NO_PIECES.replace('.', 'x')} -")
@given(st.text(max_size=300) | pieces)
def test_whatever_text_comes_its_defects_are_in_the_table(text: str) -> None:
    readers: list[Callable[[str], object]] = [
        *(parse_cell, parse_token, parse_layout, parse_line, parse_position, parse_record),
        lambda moves: parse_record(f"{TAG}\n{moves}"),
        lambda stones: parse_position(f"{TEXT} {stones}"),
    ]
    for reader in readers:
        try:
            reader(text)
        except KamonError as error:
            assert error.defects  # noqa: PT017 - either is fine, and an error must say why
            for defect in error.defects:
                assert_is_in_the_table(defect)


# --- Quotations -----------------------------------------------------------------------------


def test_a_quotation_is_escaped() -> None:
    assert quote("a\x00b\n\x1b[31m") == r"'a\x00b\n\x1b[31m'"


def test_forty_characters_are_quoted_whole() -> None:
    assert quote("x" * 40) == repr("x" * 40)


def test_a_flood_is_cut_to_forty_characters() -> None:
    assert quote("x" * 41) == repr("x" * 39 + "…")
