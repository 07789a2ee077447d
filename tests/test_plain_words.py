"""Help texts and errors are in plain English: none of the phrases that sound translated."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import kamon.cli
from kamon.cli.app import app
from kamon.errors import SENTENCES
from kamon.web.errors import ERRORS

TELLTALES = re.compile(
    r"""
      \btells?\b | \btold\b               # shows, reports, returns
    | \bso\ many\b | \bso\ long\b         # this many, for this many days
    | \bwhoever\b                         # the player, the visitor
    | \bthere\ already\b                  # already exists
    | \bthat\ (is|are)\ there\b           # existing
    | (?<!there)\ (is|are)\ no\ (?!longer\b)  # is not a
    | \band\ leave\b(?!\ \w)              # and exit
    | \bwhere\ (none|no|nothing)\b        # if
    | \bexclude\ each\ other\b            # cannot be used together
    | \bgo(es)?\ on\b                     # continue
    | \bare\ the\ most\b                  # limit
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Players read space, edge, colour, stone, token and computer.
NOT_FOR_PLAYERS = re.compile(
    r"\b(cells?|borders?|sides?|suits?|pieces?|crests?|signed in)\b", re.IGNORECASE
)
PLACEHOLDER = re.compile(r"\{\w+\}")
# A terminal of 80 columns must show the summary of every command whole; help leaves two free.
WIDTH = 78

CLI_SOURCES = sorted(Path(kamon.cli.__file__).parent.glob("*.py"))
PLAYERS_TEXTS = {
    **SENTENCES,
    **{f"api {code}": kind.sentence for code, kind in ERRORS.items()},
}


def walk(command: Any, name: str = "kamon") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - Typer has its own copy of Click's classes
    """Yield every command with its full name, groups before their members."""
    yield name, command
    for word, member in getattr(command, "commands", {}).items():
        yield from walk(member, f"{name} {word}")


COMMANDS = dict(walk(typer.main.get_command(app)))
GROUPS = [name for name, command in COMMANDS.items() if hasattr(command, "commands")]


def help_texts(name: str) -> list[str]:
    """Return all that the help page of a command says: its text, examples and parameters."""
    command = COMMANDS[name]
    texts = [command.help, command.epilog, *(param.help for param in command.params)]
    return [text for text in texts if text]


def string_constants(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def telltales(texts: list[str]) -> list[str]:
    joined = (re.sub(r"\s+", " ", text) for text in texts)
    return [text for text in joined if TELLTALES.search(text)]


# --- The search itself ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Show the version and leave.",
        "Tell turn, legal cells and outcome as JSON.",
        "clients are told by pseudonyms",
        "So many positions, of each ply as many",
        "not changed for so long",
        "Whoever asks",
        "Overwrite a file that is there.",
        "board.svg is there already",
        "'z9' is no cell",
        "'9-1' are no seeds",
        "standard input where none is named",
        "--seed and --resume exclude each other",
        "The same command goes on.",
        "4096 are the most",
    ],
)
def test_a_translated_phrase_is_found(text: str) -> None:
    assert telltales([text]) == [text]


@pytest.mark.parametrize(
    "text",
    ["There is no such game.", "This offer is no longer open.", "there are no puzzles"],
)
def test_plain_english_is_not_mistaken_for_it(text: str) -> None:
    assert telltales([text]) == []


# --- The command line -------------------------------------------------------------------------


def test_all_commands_are_found() -> None:
    assert len(COMMANDS) > 25
    assert {"kamon play", "kamon admin rename", "kamon census boards"} <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_plain(name: str) -> None:
    assert COMMANDS[name].help
    assert telltales(help_texts(name)) == []


@pytest.mark.parametrize("path", CLI_SOURCES, ids=lambda path: path.stem)
def test_what_the_commands_print_is_plain(path: Path) -> None:
    assert telltales(string_constants(path)) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_a_help_text(name: str) -> None:
    assert [param.name for param in COMMANDS[name].params if not param.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_named_in_capitals(name: str) -> None:
    named = [param.metavar for param in COMMANDS[name].params if param.metavar is not None]
    assert [metavar for metavar in named if not re.fullmatch("[A-Z]+", metavar)] == []
    arguments = [each for each in COMMANDS[name].params if each.param_type_name == "argument"]
    assert [each.name for each in arguments if each.metavar is None] == []


@pytest.mark.parametrize("name", GROUPS)
def test_no_summary_is_cut_in_the_list_of_commands(name: str) -> None:
    group = COMMANDS[name]
    context = group.make_context(name, [], resilient_parsing=True, terminal_width=WIDTH)
    listed = group.get_help(context).partition("Commands:\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) == len(group.commands)
    assert "..." not in listed


# --- Errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", PLAYERS_TEXTS.values(), ids=PLAYERS_TEXTS)
def test_an_error_is_plain_and_in_the_words_of_the_page(text: str) -> None:
    assert telltales([text]) == []
    assert NOT_FOR_PLAYERS.findall(PLACEHOLDER.sub("", text)) == []
