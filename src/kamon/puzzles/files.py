"""Files of puzzles: one line each, as CSV, with the version of the format above them.

    # kamon puzzles 1
    id,line,solution,value,rating,themes,refutations

``line`` is the position line of the game up to the puzzle. ``solution`` has the moves to the end;
with the theme ``defend`` it is one move, and the game goes on.
``themes`` are separated by spaces. ``refutations`` has the wrong moves of each of the solver's
turns, turns separated by `` / ``: ``c4:d5-6`` says that c4 is answered by d5 and loses six plies
later, the reply among them, and ``c4:d5=8`` that it draws. A wrong move that ends the game itself
has no reply: ``c4:=0``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kamon import rules
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, WIN
from kamon.errors import FormatError, KamonError, quote
from kamon.notation import format_cell, format_layout, parse_cell, parse_line
from kamon.position import Position
from kamon.puzzles.puzzle import FEWEST_TURNS, MOST_TURNS, Puzzle, Refutation
from kamon.puzzles.themes import THEMES

COLUMNS: Final = ("id", "line", "solution", "value", "rating", "themes", "refutations")
_HEAD: Final = "# kamon puzzles "
_VERSION: Final = 1
_TURNS: Final = " / "
_REFUTATION: Final = re.compile(r"([a-g][1-7]):([a-g][1-7])?([-=])(\d{1,2})")
_SIGNS: Final = {LOSS: "-", DRAW: "="}
_VALUES: Final = {VALUE_NAMES[value]: value for value in (WIN, DRAW)}
_HIGHEST_RATING: Final = 4000


def to_fields(puzzle: Puzzle) -> dict[str, str]:
    """Write down a puzzle, column by column."""
    return {
        "id": puzzle.id,
        "line": " ".join([format_layout(puzzle.layout), *map(format_cell, puzzle.moves)]),
        "solution": " ".join(map(format_cell, puzzle.solution)),
        "value": VALUE_NAMES[puzzle.value],
        "rating": str(puzzle.rating),
        "themes": " ".join(puzzle.themes),
        "refutations": _TURNS.join(map(_format_turn, puzzle.refutations)),
    }


def _format_turn(turn: Mapping[int, Refutation]) -> str:
    return " ".join(
        f"{format_cell(cell)}:{'' if found.reply is None else format_cell(found.reply)}"
        f"{_SIGNS[found.value]}{found.plies}"
        for cell, found in turn.items()
    )


def from_fields(fields: Mapping[str, str]) -> Puzzle:
    """Read a puzzle, or say in a ``FormatError`` what is wrong with it.

    The moves are checked by the rules. Whether they are the only right ones is for ``checking``.
    """
    game = parse_line(fields["line"])
    if game is None or game.root.position.ply:
        raise FormatError("the line of a puzzle is a layout and the moves from an empty board")
    puzzle = Puzzle(
        game.layout,
        tuple(game.moves),
        tuple(map(parse_cell, fields["solution"].split())),
        _read_value(fields["value"]),
        tuple(map(_read_turn, fields["refutations"].split(_TURNS))),
        _read_themes(fields["themes"]),
        _read_rating(fields["rating"]),
    )
    _check_moves(puzzle)
    if fields["id"] != puzzle.id:
        raise FormatError(f"the id of this puzzle is {puzzle.id}, not {quote(fields['id'])}")
    return puzzle


def _read_value(text: str) -> int:
    if text not in _VALUES:
        raise FormatError(f"the value of a puzzle is {' or '.join(_VALUES)}, not {quote(text)}")
    return _VALUES[text]


def _read_themes(text: str) -> tuple[str, ...]:
    themes = tuple(text.split())
    for theme in themes:
        if theme not in THEMES:
            raise FormatError(f"{quote(theme)} is no theme: expected {', '.join(THEMES)}")
    return themes


def _read_rating(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _HIGHEST_RATING:
        raise FormatError(f"a rating is a number from 0 to {_HIGHEST_RATING}, not {quote(text)}")
    return int(text)


def _read_turn(text: str) -> dict[int, Refutation]:
    turn = {}
    for word in text.split():
        match = _REFUTATION.fullmatch(word)
        if match is None:
            raise FormatError(f"{quote(word)} is no refutation: expected one such as c4:d5-6")
        cell, reply, sign, plies = match.groups()
        value = LOSS if sign == _SIGNS[LOSS] else DRAW
        answer = parse_cell(reply) if reply else None
        turn[parse_cell(cell)] = Refutation(answer, value, int(plies))
    return turn


def _check_moves(puzzle: Puzzle) -> None:
    """Check that the solution goes to the end of the game, and that each wrong move is refuted."""
    if not FEWEST_TURNS <= puzzle.turns <= MOST_TURNS:
        raise FormatError(
            f"a puzzle has {FEWEST_TURNS} to {MOST_TURNS} turns, and this one {puzzle.turns}"
        )
    if len(puzzle.refutations) != puzzle.turns:
        raise FormatError(
            f"expected the refutations of {puzzle.turns} turns, found {len(puzzle.refutations)}"
        )
    position = puzzle.position
    for place, cell in enumerate(puzzle.solution):
        after = rules.play(position, cell)
        if place % 2 == 0:
            _check_turn(position, cell, puzzle.refutations[place // 2])
        position = after
    if puzzle.is_defence:
        if puzzle.turns > 1 or rules.outcome(position) is not None:
            raise FormatError("a defence is one move after which the game goes on")
    elif rules.outcome(position) is None:
        raise FormatError("the solution ends before the game does")


def _check_turn(position: Position, right: int, refutations: Mapping[int, Refutation]) -> None:
    wrong = set(rules.legal_cells(position)) - {right}
    if refutations.keys() != wrong:
        names = " ".join(format_cell(cell) for cell in sorted(wrong)) or "none"
        raise FormatError(
            f"where {format_cell(right)} is right, the moves to refute are these: {names}"
        )
    for cell, found in refutations.items():
        if found.reply is not None:
            rules.play(position.after(cell), found.reply)


# --- Whole files ---


def format_row(puzzle: Puzzle) -> str:
    """Write the line of one puzzle."""
    return ",".join(to_fields(puzzle)[column] for column in COLUMNS)


def format_puzzles(puzzles: Iterable[Puzzle]) -> str:
    """Write a file."""
    # No field has a comma or a quotation mark, so none needs any quoting.
    rows = [f"{_HEAD}{_VERSION}", ",".join(COLUMNS), *map(format_row, puzzles)]
    return "\n".join([*rows, ""])


def parse_puzzles(text: str) -> Iterator[Puzzle]:
    """Read a file, puzzle by puzzle; an error tells the line."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(_HEAD):
        raise FormatError(f"this is no file of puzzles: expected '{_HEAD}{_VERSION}' at its top")
    version = lines[0].removeprefix(_HEAD).strip()
    if version != str(_VERSION):
        raise FormatError(
            f"this file has version {quote(version)} of the format, and this program reads "
            f"version {_VERSION}"
        )
    if len(lines) < 2 or lines[1] != ",".join(COLUMNS):  # noqa: PLR2004 - the head, the columns
        raise FormatError(f"the columns are not these: {', '.join(COLUMNS)}").at(line=2)
    for number, line in enumerate(lines[2:], 3):
        try:
            yield parse_row(line)
        except KamonError as error:
            raise error.at(line=number) from None


def parse_row(line: str) -> Puzzle:
    """Read the line of one puzzle."""
    return from_fields(split_row(line))


def split_row(line: str) -> dict[str, str]:
    """Split the line of one puzzle into its columns."""
    fields = line.split(",")
    if len(fields) != len(COLUMNS):
        raise FormatError(f"expected {len(COLUMNS)} columns, found {len(fields)}")
    return dict(zip(COLUMNS, fields, strict=True))


SHIPPED: Final = Path(__file__).with_name("shipped.csv")


def shipped_rows() -> list[str]:
    """Read the lines of the puzzles that come with the program. They have been checked."""
    return SHIPPED.read_text(encoding="utf-8").splitlines()[2:]
