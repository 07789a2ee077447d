"""The table of errors: every refusal has its sentence, and every sentence its refusal."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import kamon.web
from kamon.errors import Defect, FormatError
from kamon.web.answers import json_error
from kamon.web.errors import ERRORS, ApiError, ErrorKind, storage_failed, too_many
from kamon.web.schemas import ERROR_ANSWERS

SOURCES = sorted(Path(kamon.web.__file__).parent.rglob("*.py"))
# What an error takes besides the values of its sentence.
REMARKS = {"because", "detail"}


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Find where errors are made: the place, the code, and the names of the values."""
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        functions += [each for each in ast.walk(tree) if isinstance(each, ast.AsyncFunctionDef)]  # type: ignore[misc]
        for function in functions:
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or not _makes_an_error(call):
                    continue
                values = {word.arg for word in call.keywords if word.arg} - REMARKS
                # A code that is computed comes from a table in the same function.
                plain = isinstance(call.args[0], (ast.Constant, ast.IfExp))
                for code in _texts(call.args[0]) if plain else _texts(function):
                    if plain or code in ERRORS:
                        yield f"{path.name}:{call.lineno}", code, values


def _makes_an_error(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "ApiError"


def _texts(node: ast.AST) -> set[str]:
    if isinstance(node, ast.IfExp):
        return _texts(node.body) | _texts(node.orelse)
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


RAISED = list(raised())


# --- The table ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ERRORS)
def test_a_code_has_a_sentence_a_status_and_a_name_of_small_letters(code: str) -> None:
    kind = ERRORS[code]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert kind.sentence[0].isupper()
    assert kind.sentence.endswith(".")
    assert "'" not in kind.sentence
    assert kind.status in ERROR_ANSWERS


def test_no_two_codes_have_one_sentence() -> None:
    assert len({kind.sentence for kind in ERRORS.values()}) == len(ERRORS)


def test_the_values_of_a_sentence_are_the_names_in_it() -> None:
    assert ErrorKind(409, "You have {limit} of {what}.").values == {"limit", "what"}
    assert ErrorKind(409, "Nothing.").values == frozenset()


def test_every_code_that_is_raised_is_in_the_table() -> None:
    assert len(RAISED) > 40
    assert [(place, code) for place, code, _ in RAISED if code not in ERRORS] == []


def test_every_code_in_the_table_is_raised_somewhere() -> None:
    assert set(ERRORS) - {code for _, code, _ in RAISED} == set()


def test_whoever_raises_an_error_gives_the_values_of_its_sentence_and_no_others() -> None:
    wrong = [
        (place, code, values) for place, code, values in RAISED if values != ERRORS[code].values
    ]
    assert wrong == []


# --- One error ------------------------------------------------------------------------------


def test_an_error_is_told_with_its_values() -> None:
    error = ApiError("too-many-studies", limit=500)
    assert error.answer() == {
        "code": "too-many-studies",
        "message": "You have 500 studies. Delete one to save another.",
        "values": {"limit": 500},
    }
    assert error.retry is None


def test_a_remark_stands_behind_the_sentence_for_whoever_writes_a_program() -> None:
    error = ApiError("too-large", detail="a request has at most 9 bytes")
    assert str(error) == "That is too long. (a request has at most 9 bytes)"
    assert set(error.answer()) == {"code", "message"}


def test_what_is_wrong_with_a_text_is_told_with_its_place() -> None:
    reason = FormatError(Defect("bad-cell", {"text": "'z9'"})).at(line=3, column=7)
    answer = ApiError("bad-text", because=reason).answer()
    assert answer["defects"] == [{"code": "bad-cell", "values": {"text": "'z9'"}}]
    assert (answer["line"], answer["column"]) == (3, 7)
    assert "line 3, column 7" in answer["message"]


@pytest.mark.parametrize(("seconds", "told"), [(0.0, 1), (0.4, 1), (2.6, 3), (30, 30)])
def test_a_limit_says_when_to_try_again(seconds: float, told: int) -> None:
    error = too_many("pictures", seconds)
    assert error.retry == told
    answer = json_error(error)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == str(told)
    assert f'"retry":{told}'.encode() in answer.body


def test_an_answer_holds_only_what_there_is_to_tell() -> None:
    answer = json_error(storage_failed())
    assert answer.status_code == 503
    assert set(re.findall(rb'"(\w+)":', answer.body)) == {b"code", b"message"}
    assert "retry-after" not in answer.headers
