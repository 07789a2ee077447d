"""Records: games as PGN text, both ways (docs/notation.md).

A file of records is read as a stream, one record in memory at a time. A record that cannot be read
does not spoil the ones after it: ``split_records`` cuts the stream, ``parse_record`` reads a piece.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, Protocol

from kamon.errors import Defect, FormatError, KamonError, quote
from kamon.game import Game, Node, OffBoard, Result
from kamon.notation import (
    format_cell,
    format_layout,
    format_position,
    parse_cell,
    parse_layout,
    parse_position,
)
from kamon.position import Position, Side

# Bounds on what one record may ask of us.
RECORD_LIMIT: Final = 1 << 20
NESTING_LIMIT: Final = 100
_LINE_WIDTH: Final = 80

_RESULTS: Final = {"1-0": Side.BLACK, "0-1": Side.WHITE, "1/2-1/2": None}
_UNFINISHED: Final = "*"
_ON_BOARD: Final = ("connection", "loop", "connection+loop", "block", "full")
_OFF_BOARD: Final = tuple(by.value for by in OffBoard)
_EDITIONS: Final = ("2020", "2007")
TIME_CONTROL: Final = re.compile(
    r"-|[1-9]\d{0,6}\+\d{1,6}|0\+[1-9]\d{0,5}|1/[1-9]\d{0,7}", re.ASCII
)

# Written from the game itself, so they are not among its free tags.
_DERIVED_TAGS: Final = ("Result", "Termination", "Layout", "Position")
_FIRST_TAGS: Final = ("Event", "Site", "Date", "Round", "Black", "White")

_TAG: Final = re.compile(r'\s*\[\s*([A-Za-z0-9_]+)\s*"((?:[^"\\\n]|\\["\\])*)"\s*\]')
_CLOCK: Final = re.compile(
    r"\[%clk\s+(\d{1,5}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,3}))?\s*\]", re.ASCII
)
_LAST_GLYPH: Final = 255
_SUFFIX_GLYPHS: Final = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
_SYMBOL: Final = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>\{[^}]*\}|;[^\n]*)
      | (?P<open>\()
      | (?P<close>\))
      | (?P<glyph>\$\d{1,3}(?!\d)|[!?]{1,2})
      | (?P<result>1-0|0-1|1/2-1/2|\*)
      | (?P<number>\d{1,3}(?:\.+|(?=\s)))
      | (?P<word>[^\s{}();$!?]+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


# --- Reading --------------------------------------------------------------------------------


class Readable(Protocol):
    """What records are read from: an open text file, or whatever gives line after line."""

    def readline(self, limit: int, /) -> str:
        """Return the next line, or as much of it as the limit allows; nothing at the end."""


def read_records(stream: Readable) -> Iterator[Game]:
    """Read the games of a stream one by one; the first that cannot be read raises its error."""
    for line, text in split_records(stream):
        yield parse_record(text, first_line=line)


def split_records(stream: Readable) -> Iterator[tuple[int, str]]:
    """Cut a stream into the texts of its records, each with the number of its first line.

    A record begins with the first tag after moves. A longer one than ``RECORD_LIMIT`` is handed
    on cut off behind the limit, where ``parse_record`` refuses it, and never held whole.
    """
    lines: list[str] = []
    first, number, size, braces, in_moves = 1, 0, 0, False, False
    while line := stream.readline(RECORD_LIMIT):
        number += 1
        starts_with_tag = line.lstrip().startswith("[")
        if in_moves and not braces and starts_with_tag:
            yield first, "".join(lines)
            lines, first, size, in_moves = [], number, 0, False
        if size <= RECORD_LIMIT:
            lines.append(line)
        size += len(line)
        if in_moves or not starts_with_tag:
            in_moves = in_moves or bool(line.strip())
            braces = _ends_in_braces(line, braces=braces)
    if "".join(lines).strip():
        yield first, "".join(lines)


def parse_record(text: str, *, first_line: int = 1) -> Game:
    """Read one record. ``first_line`` is the line of a file on which the text begins."""
    game, error = parse_record_so_far(text, first_line=first_line)
    if error is not None:
        raise error
    return game


def parse_record_so_far(text: str, *, first_line: int = 1) -> tuple[Game, KamonError | None]:
    """Read one record as far as its moves can be read, and tell what was wrong with the next.

    Without a start there is nothing to read: an error in the tags is raised.
    """
    if len(text) > RECORD_LIMIT:
        defect = Defect("record-too-long", {"limit": RECORD_LIMIT})
        raise FormatError(defect).at(line=first_line)
    reader = _Reader(text.removeprefix("\ufeff"), first_line)
    tags, moves_start = reader.read_tags()
    game = Game(reader.read_start(tags))
    game.tags = {name: tag.value for name, tag in tags.items() if name not in _DERIVED_TAGS}
    error = None
    try:
        reader.read_moves(game, moves_start)
        reader.read_result(game, tags)
    except KamonError as found:
        error = found
    game.go_to((game.main_line() or [game.root])[-1])
    return game, error


def _ends_in_braces(line: str, *, braces: bool) -> bool:
    """Tell whether a comment in braces is open at the end of a line of moves."""
    at = 0
    while True:
        if braces:
            at = line.find("}", at)
            if at < 0:
                return True
            braces = False
        else:
            found = re.compile("[{;]").search(line, at)
            if found is None or found.group() == ";":
                return False
            at = found.start()
            braces = True
        at += 1


@dataclass(frozen=True, slots=True)
class _Tag:
    value: str
    offset: int


class _Reader:
    """One record's text, and the place of everything in it."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text = text
        self.first_line = first_line
        self.result: tuple[str, int] | None = None
        # For each open variation the move that it replaces, and where it was opened.
        self.opened: list[tuple[Node, int]] = []
        # Comments in a variation before its first move, which will own them.
        self.intro: list[str] = []
        # All that is said before and after each move, to be joined once: a record may say much.
        self.intros: dict[int, tuple[Node, list[str]]] = {}
        self.comments: dict[int, tuple[Node, list[str]]] = {}

    def placed(self, error: KamonError, offset: int) -> KamonError:
        """Tell an error the line and column of an offset into the text.

        A column that the error has already counts from the offset on, within a tag's value.
        """
        before = self.text[:offset]
        column = offset - (before.rfind("\n") + 1) + (error.column or 1)
        error.column = None
        return error.at(line=self.first_line + before.count("\n"), column=column)

    def bad(self, code: str, offset: int, **values: str | int) -> KamonError:
        return self.placed(FormatError(Defect(code, values)), offset)

    # --- Tags ---

    def read_tags(self) -> tuple[dict[str, _Tag], int]:
        tags: dict[str, _Tag] = {}
        at = 0
        while found := _TAG.match(self.text, at):
            name = found.group(1)
            if name in tags:
                raise self.bad("doubled-tag", found.start(1), text=quote(name))
            value = re.sub(r"\\(.)", r"\1", found.group(2))
            tags[name] = _Tag(value, found.start(2))
            at = found.end()
        at += len(self.text[at:]) - len(self.text[at:].lstrip())
        if self.text[at : at + 1] == "[":
            raise self.bad("bad-tag", at, text=quote(self.text[at : at + 30]))
        self._check_choice(tags, "Edition", _EDITIONS)
        self._check_choice(tags, "Termination", (*_ON_BOARD, *_OFF_BOARD))
        if (control := tags.get("TimeControl")) and not TIME_CONTROL.fullmatch(control.value):
            raise self.bad("bad-time-control", control.offset, text=quote(control.value))
        return tags, at

    def _check_choice(self, tags: dict[str, _Tag], name: str, choice: tuple[str, ...]) -> None:
        tag = tags.get(name)
        if tag is not None and tag.value not in choice:
            choices = ", ".join(choice)
            raise self.bad(
                "bad-tag-value", tag.offset, text=quote(tag.value), tag=name, choices=choices
            )

    def read_start(self, tags: dict[str, _Tag]) -> Position:
        if "Layout" not in tags:
            raise self.bad("no-layout-tag", 0)
        tag = tags["Layout"]
        try:
            layout = parse_layout(tag.value)
            if "Position" not in tags:
                return Position(layout)
            tag = tags["Position"]
            position = parse_position(tag.value)
        except KamonError as error:
            raise self.placed(error, tag.offset) from None
        if position.layout != layout:
            raise self.bad("layouts-differ", tag.offset)
        return position

    # --- Moves ---

    def read_moves(self, game: Game, start: int) -> None:
        """Grow the tree of a game up to the result, or as far as it goes."""
        try:
            self._read_symbols(game, start)
        finally:
            for node, texts in self.intros.values():
                node.intro = _joined(*texts)
            for node, texts in self.comments.values():
                node.comment = _joined(*texts)

    def _read_symbols(self, game: Game, start: int) -> None:
        for found in _SYMBOL.finditer(self.text, start):
            kind, text, at = found.lastgroup, found.group(), found.start()
            if kind in ("space", "number"):
                continue
            if self.result is not None:
                raise self.bad("text-after-result", at, text=quote(text))
            self._read_symbol(game, kind, text, at)
        if self.opened:
            raise self.bad("open-variation", self.opened[-1][1])
        if self.result is None:
            raise self.bad("no-result", len(self.text))

    def _read_symbol(self, game: Game, kind: str | None, text: str, at: int) -> None:
        if kind == "comment":
            self._read_comment(game, text)
        elif kind == "word":
            self._play(game, text, at)
        elif kind == "glyph":
            self._add_glyph(game, text, at)
        elif kind == "open":
            self._open(game, at)
        elif kind == "close" and self.opened:
            game.go_to(self.opened.pop()[0])
            self.intro = []
        elif kind == "result" and not self.opened:
            self.result = text, at
        else:
            raise self.bad("unexpected-text", at, text=quote(text))

    def _is_fresh(self, game: Game) -> bool:
        """Tell whether a variation has just been opened and has no move yet."""
        return bool(self.opened) and game.node is self.opened[-1][0].parent

    def _read_comment(self, game: Game, text: str) -> None:
        body = text[1:-1] if text.startswith("{") else text[1:]
        if self._is_fresh(game):
            self.intro.append(body)
            return
        clock = _CLOCK.search(body)
        if clock and game.node.parent is not None:
            hours, minutes, seconds, fraction = clock.groups()
            whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
            game.node.clock = whole * 1000 + int((fraction or "0").ljust(3, "0"))
            body = body[: clock.start()] + " " + body[clock.end() :]
        self.comments.setdefault(id(game.node), (game.node, []))[1].append(body)

    def _play(self, game: Game, text: str, at: int) -> None:
        try:
            cell = parse_cell(text)
        except FormatError:
            raise self.bad("unexpected-text", at, text=quote(text)) from None
        try:
            node = game.play(cell)
        except KamonError as error:
            raise self.placed(error, at) from None
        if self.intro:
            self.intros.setdefault(id(node), (node, []))[1].extend(self.intro)
            self.intro = []

    def _add_glyph(self, game: Game, text: str, at: int) -> None:
        glyph = int(text[1:]) if text.startswith("$") else _SUFFIX_GLYPHS[text]
        if game.node.parent is None or glyph > _LAST_GLYPH:
            raise self.bad("bad-glyph", at, text=quote(text), limit=_LAST_GLYPH)
        if glyph not in game.node.glyphs:
            game.node.glyphs += (glyph,)

    def _open(self, game: Game, at: int) -> None:
        if game.node.parent is None or self._is_fresh(game):
            raise self.bad("misplaced-variation", at)
        if len(self.opened) == NESTING_LIMIT:
            raise self.bad("deep-variation", at, limit=NESTING_LIMIT)
        self.opened.append((game.node, at))
        game.go_to(game.node.parent)

    # --- The result ---

    def read_result(self, game: Game, tags: dict[str, _Tag]) -> None:
        """Compare what the record says of its end with what the board says."""
        assert self.result is not None  # noqa: S101 - read_moves has raised otherwise
        text, at = self.result
        if (tag := tags.get("Result")) and tag.value != text:
            raise self.bad("results-differ", tag.offset, text=quote(tag.value), result=text)
        said = tags.get("Termination")
        on_board = game.result
        if on_board is not None:
            expected = _result_text(on_board)
            how = on_board.termination
            if text != expected:
                raise self.bad(
                    "wrong-result",
                    at,
                    result=text,
                    expected_result=expected,
                    expected_termination=how,
                )
            if said is not None and said.value != how:
                raise self.bad(
                    "wrong-termination",
                    said.offset,
                    termination=said.value,
                    expected_termination=how,
                )
        elif text == _UNFINISHED:
            if said is not None:
                raise self.bad("unfinished-termination", said.offset)
        else:
            self._read_off_board(game, said, _RESULTS[text], at)

    def _read_off_board(self, game: Game, said: _Tag | None, winner: Side | None, at: int) -> None:
        if said is None or said.value not in _OFF_BOARD:
            raise self.bad("not-ended", at if said is None else said.offset)
        try:
            game.end_off_board(winner, OffBoard(said.value))
        except KamonError as error:
            # The record contradicts itself, so to its reader this is bad text.
            raise self.placed(FormatError(error.defects[0]), said.offset) from None


def _joined(*texts: str) -> str:
    """Join texts with every run of white space made one space."""
    return " ".join(" ".join(texts).split())


# --- Writing --------------------------------------------------------------------------------


def format_record(game: Game) -> str:
    """Write a game as a record that ends with a line break."""
    result = game.result
    tags: dict[str, str] = {name: game.tags[name] for name in _FIRST_TAGS if name in game.tags}
    tags["Result"] = _result_text(result)
    tags |= {name: value for name, value in game.tags.items() if name not in _DERIVED_TAGS}
    if result is not None:
        tags["Termination"] = result.termination
    tags["Layout"] = format_layout(game.layout)
    if game.root.position.ply:
        tags["Position"] = format_position(game.root.position)
    head = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in tags.items())
    words = [*_comment_words(game.root), *_line_words(game.root), _result_text(result)]
    body = wrap(" ".join(words), _LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{head}\n" + "\n".join(body) + "\n"


def _result_text(result: Result | None) -> str:
    if result is None:
        return _UNFINISHED
    return next(text for text, winner in _RESULTS.items() if winner is result.winner)


def _escaped(value: str) -> str:
    return _joined(value).replace("\\", "\\\\").replace('"', '\\"')


def _line_words(node: Node) -> Iterator[str]:
    """Write what follows a node: each move, its variations behind it, then the line goes on.

    The number is repeated wherever a comment or a variation has come between.
    """
    numbered = True
    while node.children:
        main, *others = node.children
        yield from _move_words(main, numbered=numbered)
        for other in others:
            first, *rest = [*_move_words(other, numbered=True), *_line_words(other)]
            *body, last = [f"({first}", *rest]
            yield from (*body, f"{last})")
        numbered = bool(others or main.comment or main.clock is not None)
        node = main


def _move_words(node: Node, *, numbered: bool) -> Iterator[str]:
    assert node.cell is not None  # noqa: S101 - only the root has none, and it is no move
    if node.intro:
        yield from _braces(node.intro)
    ply = node.position.ply
    if ply % 2:
        yield f"{(ply + 1) // 2}."
    elif numbered or node.intro:
        yield f"{ply // 2}..."
    yield format_cell(node.cell)
    yield from (f"${glyph}" for glyph in node.glyphs)
    yield from _comment_words(node)


def _comment_words(node: Node) -> Iterator[str]:
    texts = [node.comment]
    if node.clock is not None:
        seconds, fraction = divmod(node.clock, 1000)
        text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        texts.insert(0, f"[%clk {text}.{fraction:03}]" if fraction else f"[%clk {text}]")
    if comment := _joined(*texts):
        yield from _braces(comment)


def _braces(comment: str) -> Iterator[str]:
    # PGN knows no way to write a closing brace in a comment.
    yield from ("{" + comment.replace("}", ")") + "}").split()
