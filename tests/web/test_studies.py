"""Studies: between the page's tree and the record, and from whatever somebody pastes."""

import pytest
from pydantic import ValidationError

from kamon import Game, Layout, format_cell, format_record, legal_cells, parse_cell, parse_record
from kamon.errors import KamonError
from kamon.game import OffBoard
from kamon.notation import format_layout, format_position
from kamon.position import Side
from kamon.web.errors import ApiError
from kamon.web.studies.tree import (
    NODES_LIMIT,
    Branch,
    Study,
    game_of,
    game_on,
    problem_view,
    read_anything,
    record_of,
    tree_of,
)
from web_server import CHAIN, CHAIN_SEED

LAYOUT = Layout.shuffled(int(CHAIN_SEED))


def branch(move: str, *children: Branch, comment: str = "") -> Branch:
    return Branch(move=move, comment=comment, glyphs=[], children=list(children))


def study(*children: Branch, start: str = format_layout(LAYOUT)) -> Study:
    return Study(start=start, title="Mine", comment="At first", children=list(children))


def test_a_tree_survives_the_way_to_a_record_and_back() -> None:
    first = branch(CHAIN[0], branch(CHAIN[1], comment="so"), branch("d4"), comment="{well}")
    made = game_of(study(first, branch("b1")))
    again = tree_of(parse_record(format_record(made)))
    assert [child["move"] for child in again["children"]] == [CHAIN[0], "b1"]
    assert [child["move"] for child in again["children"][0]["children"]] == [CHAIN[1], "d4"]
    assert again["title"] == "Mine"
    assert again["comment"] == "At first"


def test_who_played_and_how_it_ended_survive() -> None:
    game = Game(LAYOUT, map(parse_cell, CHAIN[:4]))
    game.tags = {"Event": "A match", "Black": "Ann", "White": 'Bea "B"', "TimeControl": "300+5"}
    for at, node in enumerate(game.main_line()):
        node.clock = 300_000 - 1000 * at
    game.end_off_board(Side.BLACK, OffBoard.RESIGNATION)
    record = format_record(game)
    again = Study.model_validate(tree_of(parse_record(record)))
    assert record_of(game_of(again)) == record
    # Who plays on from there has a game that goes on.
    again.children[0].children[0].children[0].children[0].children.append(branch(CHAIN[4]))
    assert '[Result "*"]' in record_of(game_of(again))


def test_a_study_that_could_not_be_read_again_is_refused() -> None:
    made = study(branch(CHAIN[0])).model_copy(update={"tags": {"TimeControl": "whenever"}})
    with pytest.raises(ApiError, match="time control"):
        record_of(game_of(made))


def test_any_tags_of_a_record_can_be_read_and_kept() -> None:
    tags = "".join(f'[A{"b" * number} "{"c" * 10 * number}"]\n' for number in range(60))
    record = (
        f'{tags}[Event "{"d" * 300}"]\n[Layout "{format_layout(LAYOUT)}"]\n\n{{{"e" * 5000}}} *'
    )
    again = record_of(game_of(Study.model_validate(tree_of(parse_record(record)))))
    assert "e" * 5000 in again


def test_a_study_may_start_in_the_middle_of_a_game() -> None:
    game = Game(LAYOUT, map(parse_cell, CHAIN[:4]))
    start = format_position(game.position)
    made = game_of(study(branch(CHAIN[4]), start=start))
    assert made.root.position == game.position
    assert tree_of(made)["start"] == start


def test_comments_of_a_record_before_and_behind_a_move_are_one() -> None:
    record = f'[Layout "{format_layout(LAYOUT)}"]\n\n1. {CHAIN[0]} ({{before}} b1 {{behind}}) *'
    (_, other) = tree_of(parse_record(record))["children"]
    assert other["comment"] == "before behind"


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (study(start="rubbish"), "bad-layout"),
        (study(start="; nothing"), "bad-text"),
        (study(start=f"{format_layout(LAYOUT)} d4"), "illegal-move"),
        (study(branch("d4")), "illegal-move"),
        (study(branch("z9")), "bad-text"),
        (study(branch(CHAIN[0], branch(CHAIN[0]))), "illegal-move"),
    ],
)
def test_what_cannot_be_played_is_refused(made: Study, code: str) -> None:
    with pytest.raises(ApiError) as refused:
        game_of(made)
    assert refused.value.code == code


def test_a_tree_has_a_limit() -> None:
    def bush(game: Game, depth: int) -> list[Branch]:
        if depth == 0:
            return []
        return [
            branch(format_cell(cell), *bush(Game(game.position.after(cell)), depth - 1))
            for cell in legal_cells(game.position)
        ]

    grown = bush(Game(LAYOUT), 4)
    with pytest.raises(ApiError) as refused:
        game_of(study(*grown))
    assert refused.value.code == "too-large"
    assert str(NODES_LIMIT) in refused.value.message


@pytest.mark.parametrize(
    "bad",
    [
        {"start": "x" * 401},
        {"start": "", "title": "x" * 201},
        {"start": "", "comment": "x" * 60_001},
        {"start": "", "tags": {"A b": "c"}},
        {"start": "", "tags": {"A": "c" * 201}},
        {"start": "", "tags": {f"A{n}": "c" for n in range(31)}},
        {"start": "", "end": {"winner": "black", "by": "connection", "after": 3}},
        {"start": "", "children": [{"move": "a1", "clock": -1}]},
        {"start": "", "children": [{"move": "abc"}]},
        {"start": "", "children": [{"move": "a1", "glyphs": [256]}]},
        {"start": "", "more": 1},
    ],
)
def test_what_is_too_much_is_no_study(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Study.model_validate(bad)


def test_whatever_somebody_has_can_be_read() -> None:
    game = Game(LAYOUT, map(parse_cell, CHAIN[:3]))
    layout, line = format_layout(LAYOUT), f"{format_layout(LAYOUT)} {' '.join(CHAIN[:3])}"
    for text in (layout, line, f"  {line}\n", format_position(game.position), format_record(game)):
        found, problem = read_anything(text)
        assert problem is None
        assert found.layout == LAYOUT


def test_a_record_with_an_error_opens_up_to_the_error() -> None:
    record = f'[Layout "{format_layout(LAYOUT)}"]\n\n1. {CHAIN[0]} {CHAIN[1]}\n2. {CHAIN[0]} *'
    game, problem = read_anything(record)
    assert len(game.moves) == 2
    assert problem is not None
    assert (problem.line, problem.column) == (4, 4)


def test_a_record_without_a_board_cannot_be_opened() -> None:
    with pytest.raises(KamonError):
        read_anything('[Event "Nothing"] *')


def test_a_line_says_what_is_wrong_with_it() -> None:
    with pytest.raises(ApiError, match="d4"):
        game_on(f"{format_layout(LAYOUT)} d4")


def test_a_program_is_told_what_is_wrong_with_a_text() -> None:
    with pytest.raises(ApiError) as refused:
        game_on(f"{format_layout(LAYOUT)} d4")
    told = refused.value.answer()
    assert told["code"] == "illegal-move"
    assert [defect["code"] for defect in told["defects"]] == ["inside-start"]
    assert told["defects"][0]["values"]["cell"] == "d4"


def test_the_problem_of_a_text_that_was_read_in_part_is_told_with_its_place() -> None:
    record = f'[Layout "{format_layout(LAYOUT)}"]\n\n1. {CHAIN[0]} {CHAIN[0]} *'
    _, problem = read_anything(record)
    assert problem is not None
    told = problem_view(problem)
    assert (told["line"], told["column"]) == (3, 7)
    assert [defect["code"] for defect in told["defects"]] == ["occupied"]
    assert CHAIN[0] in told["message"]
