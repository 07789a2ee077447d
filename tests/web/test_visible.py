"""Text that visitors write for others: what nobody sees is left out."""

import pytest

from kamon.web.games.messages import NewGame
from kamon.web.studies.tree import Branch, Study, read_anything, tree_of
from kamon.web.visible import visible_line, visible_text

LAYOUT = "B4B1D6E6/F6F5F3D3F2/B3A4C3E3D4E4/A1C5B2E1D1C2A5/E2D2B5F4E5C1/F1C4A2--C6/A3D5A6B6"


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("Ann", "Ann"),
        ("  Ann\tand\nBob ", "Ann and Bob"),
        ("\x1b[31mred\x07", "[31mred"),
        ("\u202eenilno\u202c", "enilno"),
        ("a\u2066b\u2069c\u200fd\ufeff", "abcd"),
        ("a\0b\x85c", "abc"),
        ("Zoë 市川 नमस्ते שלום", "Zoë 市川 नमस्ते שלום"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\ue000\ud800", ""),
        ("\u2028next", "next"),
    ],
)
def test_a_name_is_one_line_of_what_can_be_seen(written: str, seen: str) -> None:
    assert visible_line(written) == seen


def test_a_comment_keeps_its_lines() -> None:
    assert visible_text("one\ntwo\x1b\n") == "one\ntwo\n"


def test_names_and_studies_are_read_without_what_nobody_sees() -> None:
    assert NewGame(name="\u202eEve\x1b", moves=[]).name == "Eve"
    study = Study(
        start=LAYOUT,
        title="A\u202e title",
        comment="\x1b[2Jone\ntwo",
        children=[Branch(move="e7", comment="x\0y", glyphs=[], children=[])],
        tags={"White": "B\x07ob"},
    )
    assert (study.title, study.comment, study.tags) == ("A title", "[2Jone\ntwo", {"White": "Bob"})
    assert study.children[0].comment == "xy"


def test_a_record_that_is_pasted_is_read_so_too() -> None:
    game, _ = read_anything(
        f'[Event "\u202eA\x1b title"]\n[White "B\x07ob"]\n[Layout "{LAYOUT}"]\n\n1. e7 {{x\x1by}} *'
    )
    tree = tree_of(game)
    assert (tree["title"], tree["tags"]["White"]) == ("A title", "Bob")
    assert tree["children"][0]["comment"] == "xy"
