"""Files of puzzles: what is written reads back, and a mistake is named with its line."""

import hashlib
import re
from pathlib import Path

import pytest

from kamon.errors import KamonError
from kamon.puzzles.files import (
    COLUMNS,
    SHIPPED,
    format_puzzles,
    from_fields,
    parse_puzzles,
    to_fields,
)
from shipped_puzzles import shipped_fields

FIELDS = next(each for each in shipped_fields() if each["solution"].count(" ") == 4)


def test_what_is_written_reads_back() -> None:
    puzzles = [from_fields(fields) for fields in shipped_fields()[:20]]
    assert list(parse_puzzles(format_puzzles(puzzles))) == puzzles
    assert [to_fields(puzzle) for puzzle in puzzles] == list(shipped_fields()[:20])


def test_the_shipped_file_is_as_it_would_be_written() -> None:
    head, columns, *rows = SHIPPED.read_text(encoding="utf-8").splitlines()
    assert len(rows) >= 3_000
    # Reading them all would take a while.
    text = "\n".join([head, columns, *rows[::20], ""])
    assert format_puzzles(parse_puzzles(text)) == text


def test_the_data_card_is_that_of_the_file() -> None:
    card = Path(__file__).parents[2] / "data" / "puzzles"
    digest = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    assert (card / "SHA256SUMS").read_text().startswith(digest)
    count = len(shipped_fields())
    assert f"{count:,} positions" in (card / "README.md").read_text()
    document = card.parents[1] / "docs" / "puzzles.md"
    assert f"comes with {count:,} puzzles" in document.read_text()


@pytest.mark.parametrize(
    ("column", "text", "said"),
    [
        ("line", "", "a layout and the moves"),
        ("line", "A1A1", "layout"),
        ("solution", "", "1 to 6 turns"),
        ("solution", "h9", "h9"),
        ("value", "loss", "win or draw, not 'loss'"),
        ("rating", "many", "a number from 0 to 4000, not 'many'"),
        ("rating", "4001", "a number from 0 to 4000"),
        ("rating", "٣", "a number from 0 to 4000"),
        ("themes", "link beauty", "'beauty' is no theme: expected link"),
        ("refutations", "c4", "'c4' is no refutation: expected one such as c4:d5-6"),
        ("refutations", "", "expected the refutations of"),
        ("id", "aaaaaaaa", f"the id of this puzzle is {FIELDS['id']}, not 'aaaaaaaa'"),
    ],
)
def test_a_mistake_is_named(column: str, text: str, said: str) -> None:
    with pytest.raises(KamonError, match=re.escape(said)):
        from_fields({**FIELDS, column: text})


def test_a_solution_that_stops_early_is_refused() -> None:
    moves = FIELDS["solution"].split()
    turns = FIELDS["refutations"].split(" / ")
    short = {"solution": " ".join(moves[:-2]), "refutations": " / ".join(turns[:-1])}
    with pytest.raises(KamonError, match="the solution ends before the game does"):
        from_fields({**FIELDS, **short})


def test_a_wrong_move_without_refutation_is_refused() -> None:
    first, *others = FIELDS["refutations"].split(" / ")
    missing = " / ".join([first.partition(" ")[2], *others])
    with pytest.raises(KamonError, match="the moves to refute are these"):
        from_fields({**FIELDS, "refutations": missing})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no file of puzzles"),
        ("id,line", "no file of puzzles"),
        ("# kamon puzzles 2\n", "version '2' of the format, and this program reads version 1"),
        ("# kamon puzzles 1\nid,line\n", "line 2: the columns are not these"),
        (f"# kamon puzzles 1\n{','.join(COLUMNS)}\na,b\n", "line 3: expected 7 columns, found 2"),
        (
            f"# kamon puzzles 1\n{','.join(COLUMNS)}\na,b,c,d,e,f,g\n",
            "line 3, column 1",
        ),
    ],
)
def test_a_bad_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(KamonError, match=re.escape(said)):
        list(parse_puzzles(text))
