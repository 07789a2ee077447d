import copy
import pickle

import pytest

from kamon.errors import (
    FormatError,
    IllegalMoveError,
    KamonError,
    LayoutError,
    PositionError,
    quote,
)


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
    error = kind(["one thing", "another"])
    assert error.defects == ("one thing", "another")
    assert str(error) == f"{what}: one thing; another"


@pytest.mark.parametrize(
    "error",
    [FormatError("no"), IllegalMoveError("no"), LayoutError(["a", "b"]), PositionError(["a"])],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_way_to_another_process(error: KamonError) -> None:
    error.at(line=3, column=5)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def test_a_quotation_is_escaped() -> None:
    assert quote("a\x00b\n\x1b[31m") == r"'a\x00b\n\x1b[31m'"


def test_forty_characters_are_quoted_whole() -> None:
    assert quote("x" * 40) == repr("x" * 40)


def test_a_flood_is_cut_to_forty_characters() -> None:
    assert quote("x" * 41) == repr("x" * 39 + "…")
