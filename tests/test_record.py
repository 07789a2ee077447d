import io
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from build import LAYOUT, names
from kamon import (
    Game,
    KamonError,
    Layout,
    Node,
    OffBoard,
    Side,
    format_layout,
    format_position,
    format_record,
    legal_cells,
    parse_line,
    parse_record,
    read_records,
    split_records,
)
from kamon.record import NESTING_LIMIT, RECORD_LIMIT

TEXT = format_layout(LAYOUT)
TAG = f'[Layout "{TEXT}"]\n'
WON = (
    "B2F5B3C2/F1A6B1E4B6/D3B4F4D6--E6/D4C6D2C3D5B5A5/F6A1C1A3C4A2/C5E5E1F2E3/A4E2F3D1 "
    "g6 d2 e6 a2 b1 b5 b4 f3 b2 e2 c2 g7 e4 c6 g4 e5 d4 f5 d5 c5 g5 c4 e7 f6 c3"
)


def won() -> Game:
    game = parse_line(WON)
    assert game is not None
    return game


# --- Writing and reading --------------------------------------------------------------------


def test_a_record_holds_everything_and_reads_back_to_the_letter() -> None:
    text = (
        '[Event "Friday \\"cup\\""]\n'
        '[Black "Aoi"]\n'
        '[White "Ren \\\\ Mika"]\n'
        '[Result "1-0"]\n'
        '[TimeControl "300+5"]\n'
        '[Edition "2020"]\n'
        '[Termination "resignation"]\n'
        f'[Layout "{TEXT}"]\n'
        "\n"
        "{before the first move} 1. b1 $1 $40 {[%clk 0:04:58.250] good} 1... d2\n"
        "({instead} 1... e2 {matches too} 2. c4) (1... c4) 2. e2 1-0\n"
    )
    game = parse_record(text)
    assert format_record(game) == text
    assert game.tags == {
        "Event": 'Friday "cup"',
        "Black": "Aoi",
        "White": "Ren \\ Mika",
        "TimeControl": "300+5",
        "Edition": "2020",
    }
    first = game.main_line()[0]
    assert (first.glyphs, first.clock, first.comment) == ((1, 40), 298_250, "good")
    assert game.root.comment == "before the first move"
    assert first.children[1].intro == "instead"
    assert names(game.moves) == "b1 d2 e2"


def test_a_finished_game_says_how_it_ended() -> None:
    record = format_record(won())
    assert '[Result "1-0"]' in record
    assert '[Termination "connection"]' in record
    assert record.endswith(" 1-0\n")


def test_an_unfinished_game_has_a_star_and_no_termination() -> None:
    record = format_record(Game(LAYOUT))
    assert record == f'[Result "*"]\n[Layout "{TEXT}"]\n\n*\n'


@pytest.mark.parametrize(
    ("winner", "by", "result"),
    [
        (Side.BLACK, OffBoard.TIME, "1-0"),
        (Side.WHITE, OffBoard.RESIGNATION, "0-1"),
        (None, OffBoard.AGREEMENT, "1/2-1/2"),
    ],
)
def test_an_end_off_the_board_reads_back(winner: Side | None, by: OffBoard, result: str) -> None:
    game = Game(LAYOUT)
    game.end_off_board(winner, by)
    record = format_record(game)
    assert record.endswith(f"\n{result}\n")
    assert parse_record(record).result == game.result


def test_play_that_starts_from_a_position_says_so_and_numbers_go_on() -> None:
    start = parse_line(f"{TEXT} b1 d2 e2")
    assert start is not None
    game = Game(start.position)
    game.play(legal_cells(game.position)[0])
    record = format_record(game)
    assert f'[Position "{format_position(start.position)}"]' in record
    assert "\n\n2... " in record
    again = parse_record(record)
    assert again.root.position == start.position
    assert format_record(again) == record


def test_lines_of_a_record_are_no_longer_than_eighty_characters() -> None:
    game = won()
    for node in game.main_line():
        node.comment = "something worth saying about this move"
    assert all(len(line) <= 80 for line in format_record(game).splitlines()[3:])


def test_a_closing_brace_cannot_end_a_comment_early() -> None:
    game = Game(LAYOUT)
    game.root.comment = "a } b"
    assert parse_record(format_record(game)).root.comment == "a ) b"


# --- Reading what others write --------------------------------------------------------------


@pytest.mark.parametrize(
    "moves",
    [
        "1. b1 d2 2. e2 *",
        "1.b1 1...d2 2.e2 *",
        "b1 d2 e2 *",
        "1. b1 ; a comment to the end of the line\n d2 2. e2\n*",
        "1. b1! d2?? 2. e2!? *",
        "1. b1 (1. c1) 1... d2 (1... e2 (1... c4)) 2. e2 *",
        "1. b1 {a} {b} d2 {multi\nline} 2. e2 *\n\n",
    ],
)
def test_usual_ways_of_writing_moves_are_read(moves: str) -> None:
    assert names(parse_record(f"{TAG}\n{moves}").moves) == "b1 d2 e2"


def test_signs_behind_a_move_are_glyphs() -> None:
    game = parse_record(f"{TAG}\n1. b1! d2?? 2. e2!? $3 $3 *")
    assert [node.glyphs for node in game.main_line()] == [(1,), (4,), (5, 3)]


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse_record(f"\ufeff{TAG}\n*").moves == []


def test_comments_that_follow_each_other_are_joined() -> None:
    game = parse_record(f"{TAG}\n1. b1 {{one  two}} {{three}} *")
    assert game.node.comment == "one two three"


def test_comments_belong_to_the_move_that_they_follow_however_many_come_between() -> None:
    moves = "{a} {b} 1. b1 {c} $1 {d} ({e} {f} 1. c1 {g}) {h} *"
    game = parse_record(f"{TAG}\n{moves}")
    first, other = game.root.children
    assert game.root.comment == "a b"
    assert first.comment == "c d h"
    assert (other.intro, other.comment) == ("e f", "g")


def test_a_clock_before_the_first_move_is_only_a_comment() -> None:
    assert parse_record(f"{TAG}\n{{[%clk 1:00:00]}} *").root.comment == "[%clk 1:00:00]"


# --- Errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("*", "line 1, column 1: the Layout tag is missing"),
        ('[Layout "A1"]\n*', "line 1, column 10: not a layout: expected 7 rows"),
        (f"{TAG}[Layout", "line 2, column 1: '[Layout' is not a tag: expected [Name"),
        (f'{TAG}[Black "a"]\n[Black "b"]\n*', "line 3, column 2: the tag 'Black' appears twice"),
        (
            f'{TAG}[Edition "1999"]\n*',
            "line 2, column 11: '1999' is not a valid Edition: expected 2020",
        ),
        (
            f'{TAG}[Termination "boredom"]\n*',
            "line 2, column 15: 'boredom' is not a valid Termination",
        ),
        (f'{TAG}[TimeControl "soon"]\n*', "line 2, column 15: 'soon' is not a time control"),
        (f"{TAG}\n1. b1 d9 *", "line 3, column 7: 'd9' does not belong here: expected a move"),
        (f"{TAG}\n1. b1\na1 *", "line 4, column 1: a1 cannot be played: E5 has neither"),
        (f"{TAG}\n1. b1 (1. c1 *", "line 3, column 14: '*' does not belong here"),
        (f"{TAG}\n1. b1 (1. c1", "line 3, column 7: a variation is opened but never closed"),
        (f"{TAG}\n1. b1) *", "line 3, column 6: ')' does not belong here"),
        (f"{TAG}\n(1. b1) *", "line 3, column 1: a variation must follow the move"),
        (f"{TAG}\n1. b1 ((1. c1)) *", "line 3, column 8: a variation must follow the move"),
        (f"{TAG}\n1. b1 {{open", "line 3, column 7: '{' does not belong here"),
        (f"{TAG}\n$1 *", "line 3, column 1: '$1' is not a valid glyph"),
        (f"{TAG}\n1. b1 $256 *", "line 3, column 7: '$256' is not a valid glyph"),
        (f"{TAG}\n1. b1 $1000 *", "line 3, column 7: '$' does not belong here"),
        (f"{TAG}\n1. b1", "line 3, column 6: the result is missing"),
        (f"{TAG}\n1. b1 * d2", "line 3, column 9: 'd2' comes after the result"),
        (f"{TAG}\n1. b1 1-0", "line 3, column 7: the game is not over on the board"),
        (
            f'{TAG}[Termination "block"]\n\n1. b1 1-0',
            "line 2, column 15: the game is not over on the board",
        ),
        (
            f'{TAG}[Termination "agreement"]\n\n1. b1 1-0',
            "line 2, column 15: a game that ends by agreement is a draw",
        ),
        (
            f'{TAG}[Termination "time"]\n\n1. b1 *',
            "line 2, column 15: an unfinished game (*) cannot",
        ),
        (f'{TAG}[Result "1-0"]\n\n1. b1 *', "line 2, column 10: the Result tag says '1-0'"),
        (
            f'{TAG}[Position "{TEXT} nonsense -"]\n*',
            f"line 2, column {12 + len(TEXT) + 1}: 'nonsense' does not describe the stones",
        ),
        (
            (
                f'[Layout "{format_layout(Layout.shuffled(0))}"]\n[Position "{TEXT} '
                '..../...../....../......./....../...../.... -"]\n*'
            ),
            "line 2, column 12: the Position and Layout tags disagree",
        ),
    ],
)
def test_an_error_tells_line_and_column_and_what_was_expected(record: str, message: str) -> None:
    with pytest.raises(KamonError) as caught:
        parse_record(record)
    assert str(caught.value).startswith(message)


def test_a_result_that_the_board_contradicts_is_refused() -> None:
    record = format_record(won())
    with pytest.raises(KamonError, match="the result is 0-1, but the game ended by connection"):
        parse_record(record.replace("1-0", "0-1"))
    with pytest.raises(KamonError, match="the Termination tag says block, but the game ended"):
        parse_record(record.replace('"connection"', '"block"'))


def test_a_move_after_the_end_of_the_game_is_an_error() -> None:
    with pytest.raises(KamonError, match="the game is over"):
        parse_record(format_record(won()).replace(" 1-0\n", " d3 1-0\n"))


def test_variations_nested_beyond_reason_are_refused() -> None:
    # Each "(1. b1" replaces the move before it, so this is legal PGN, only absurd.
    deep = "1. b1 " + "(1. c1 " * (NESTING_LIMIT + 1)
    with pytest.raises(KamonError, match="nested more than 100 deep"):
        parse_record(f"{TAG}\n{deep}")


def test_a_record_of_megabytes_is_refused() -> None:
    with pytest.raises(KamonError, match="more than 1048576 characters"):
        parse_record(TAG + "{" + "x" * RECORD_LIMIT)


# --- Streams --------------------------------------------------------------------------------


def test_a_stream_of_records_is_read_one_by_one() -> None:
    texts = [format_record(won()), format_record(Game(LAYOUT)), format_record(won())]
    stream = io.StringIO("\n".join(texts))
    assert [format_record(game) for game in read_records(stream)] == texts


def test_an_empty_stream_has_no_records() -> None:
    assert list(read_records(io.StringIO(""))) == []
    assert list(read_records(io.StringIO("\n \n"))) == []


def test_brackets_inside_a_comment_begin_no_record() -> None:
    text = f'{TAG}\n1. b1 {{a comment\n[Event "no tag"]\n}} ; {{ no brace\n*\n'
    records = list(split_records(io.StringIO(text + TAG + "\n*\n")))
    assert [line for line, _ in records] == [1, 7]
    assert [len(parse_record(record).moves) for _, record in records] == [1, 0]


def test_errors_in_a_stream_tell_the_line_of_the_stream() -> None:
    stream = io.StringIO(f"{TAG}\n*\n\n{TAG}\n1. zz *\n")
    records = read_records(stream)
    next(records)
    with pytest.raises(KamonError, match="line 7, column 4: 'zz'"):
        next(records)


def test_a_record_that_never_ends_is_cut_and_the_next_one_read() -> None:
    endless = TAG + "\n" + "1. b1 c3\n" * (RECORD_LIMIT // 8)
    records = list(split_records(io.StringIO(f"{endless}{TAG}\n*\n")))
    assert [len(text) <= 2 * RECORD_LIMIT for _, text in records] == [True, True]
    with pytest.raises(KamonError, match="the record is too long"):
        parse_record(records[0][1])
    assert parse_record(records[1][1]).moves == []


def test_a_million_games_never_stand_in_memory() -> None:
    class Endless(io.StringIO):
        lines_read = 0

        def readline(self, _: int | None = -1) -> str:  # type: ignore[override]
            self.lines_read += 1
            return TAG if self.lines_read % 2 else "*\n"

    stream = Endless()
    records = split_records(stream)
    for _ in range(1000):
        next(records)
    assert stream.lines_read == 2001


# --- Whatever comes -------------------------------------------------------------------------

symbols = st.sampled_from(
    [
        *["1.", "1...", "b1", "d2", "e2", "c1", "(", ")", "{", "}", ";", "\n", "$1", "!", "*"],
        *["1-0", "[%clk 0:00:01]", TAG, "[", "]", '"', "\\", "\x00", "²", "١"],
    ]
)


@settings(max_examples=300)
@example("1.(")
@given(st.lists(symbols, max_size=30).map(" ".join) | st.text(max_size=200))
def test_whatever_moves_come_give_a_game_or_one_of_our_errors(moves: str) -> None:
    try:
        game = parse_record(f"{TAG}\n{moves}")
    except KamonError as error:
        assert (error.line or 0) >= 1  # noqa: PT017 - either is fine, and an error tells its place
    else:
        record = format_record(game)
        assert format_record(parse_record(record)) == record


@given(st.binary(max_size=400))
def test_whatever_bytes_come_the_stream_is_cut_without_loss(data: bytes) -> None:
    text = data.decode("latin-1").replace("\r", "")
    records = [record for _, record in split_records(io.StringIO(text))]
    assert "".join(records).split() == text.split()
    for record in records:
        with pytest.raises(KamonError):
            parse_record(record)


def grow(game: Game, rng: Random) -> Iterator[Node]:
    """Add up to thirty random moves anywhere in the tree."""
    nodes = [game.root]
    for _ in range(rng.randrange(30)):
        game.go_to(rng.choice(nodes))
        if legal := legal_cells(game.position):
            node = game.play(rng.choice(legal))
            nodes.append(node)
            yield node


words = st.text(st.characters(exclude_characters="{}", exclude_categories=["C", "Z"]), max_size=9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.lists(words, min_size=5, max_size=5))
def test_trees_with_comments_glyphs_and_clocks_survive(seed: int, texts: list[str]) -> None:
    rng = Random(seed)
    game = Game(Layout.shuffled(seed))
    for node in grow(game, rng):
        node.comment = " ".join(rng.choice(texts).replace("[%clk", "").split())
        node.glyphs = tuple(sorted(rng.sample(range(256), rng.randrange(3))))
        node.clock = rng.choice([None, 0, 999, 3_600_000, 90_061_001])
    again = parse_record(format_record(game))
    assert format_record(again) == format_record(game)
    assert shape(again.root) == shape(game.root)


def shape(node: Node) -> object:
    below = [shape(child) for child in node.children]
    return node.cell, node.comment, node.glyphs, node.clock, below


# --- Golden playthroughs --------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parent / "data" / "playthroughs").glob("*.pgn")),
    ids=lambda p: p.stem,
)
def test_golden_playthroughs_read_and_write_to_the_letter(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    game = parse_record(text)
    assert format_record(game) == text
    assert game.result is not None
    assert game.result.termination == path.stem.partition("-")[0].replace("and", "+")
