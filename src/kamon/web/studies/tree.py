"""A study as the page has it, a tree in JSON, and as it is kept, a record. ``Game`` is between."""

from typing import Annotated, Final, Literal, cast

from pydantic import AfterValidator, Field, StringConstraints
from typing_extensions import TypedDict

from kamon.errors import IllegalMoveError, KamonError, LayoutError, PositionError
from kamon.game import Game, Node, OffBoard
from kamon.notation import format_cell, format_layout, format_position, parse_cell, parse_line
from kamon.position import Side
from kamon.record import format_record, parse_record, parse_record_so_far
from kamon.web.errors import ApiError
from kamon.web.schemas import DefectView, Line, SideName, Strict
from kamon.web.visible import visible_line, visible_text

TEXT_LIMIT: Final = 60_000
# A tree is no larger than a record of it can be.
NODES_LIMIT: Final = 2_000
TAGS_LIMIT: Final = 30
# What a record can tell: less than 100,000 hours.
CLOCK_LIMIT: Final = 99_999 * 3_600_000

# Whatever can be read can be kept.
Comment = Annotated[str, StringConstraints(max_length=TEXT_LIMIT), AfterValidator(visible_text)]
Title = Annotated[
    str,
    StringConstraints(max_length=200, strip_whitespace=True),
    AfterValidator(visible_line),
]


class Branch(Strict):
    """A move with what was said about it, and the moves after it, the main one first."""

    move: Annotated[str, StringConstraints(max_length=2)]
    comment: Comment = ""
    glyphs: Annotated[
        list[Annotated[int, Field(ge=0, le=255)]], Field(max_length=256, default_factory=list)
    ]
    # The mover's time left, in milliseconds.
    clock: Annotated[int, Field(ge=0, le=CLOCK_LIMIT)] | None = None
    children: Annotated[list["Branch"], Field(max_length=36, default_factory=list)]


class End(Strict):
    """How a game ended off the board, after so many moves of the main line."""

    winner: SideName | None
    by: Literal["resignation", "time", "agreement"]
    after: Annotated[int, Field(ge=0, le=36)]


class Study(Strict):
    """A start, as a layout or as the three fields of a position, and what was played from it."""

    start: Line
    title: Title = ""
    comment: Comment = ""
    children: Annotated[list[Branch], Field(max_length=36, default_factory=list)]
    # The tags of the record that it came from, but for the title and what follows from the moves.
    tags: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,40}$")],
        Title,
    ] = Field(max_length=TAGS_LIMIT, default_factory=dict)
    end: End | None = None


class EditedStudy(Study):
    """A study to be kept again. ``seen`` is when it was last changed, as far as the page knows."""

    seen: Annotated[int, Field(ge=0, le=2**53)] | None = None


class Pasted(Strict):
    """Something that somebody has: a record, a position line, a position, a layout."""

    text: Annotated[str, StringConstraints(max_length=TEXT_LIMIT)]


class BranchView(TypedDict):
    """A move as the page gets it."""

    move: str
    comment: str
    glyphs: list[int]
    clock: int | None
    children: list["BranchView"]


class EndView(TypedDict):
    """How a game ended off the board, as the page gets it."""

    winner: SideName | None
    by: str
    after: int


class StudyView(TypedDict):
    """A study as the page gets it."""

    start: str
    title: str
    comment: str
    children: list[BranchView]
    tags: dict[str, str]
    end: EndView | None


class ProblemView(TypedDict):
    """What is wrong with a text that was read only in part, and where."""

    message: str
    defects: list[DefectView]
    line: int | None
    column: int | None


class ReadStudy(StudyView):
    """A study made of some text, and where the text stopped making sense."""

    problem: ProblemView | None


# --- Between the page and the record --------------------------------------------------------


def tree_of(game: Game) -> StudyView:
    """Tell a game as the page has it."""
    start = game.root.position
    return {
        "start": format_position(start) if start.ply else format_layout(start.layout),
        "title": visible_line(game.tags.get("Event", ""))[:200],
        "comment": visible_text(game.root.comment),
        "children": [_branch(node) for node in game.root.children],
        "tags": _short_tags(game),
        "end": _end_of(game),
    }


def _short_tags(game: Game) -> dict[str, str]:
    """Choose what a study keeps of a record's tags; there may be any number of any length."""
    tags = {name: visible_line(value)[:200] for name, value in game.tags.items() if name != "Event"}
    return dict([each for each in tags.items() if len(each[0]) <= 40][:TAGS_LIMIT])  # noqa: PLR2004


def _end_of(game: Game) -> EndView | None:
    found = game.off_board
    if found is None:
        return None
    winner: SideName | None = None if found.winner is None else found.winner.value
    return {"winner": winner, "by": found.termination, "after": len(game.main_line())}


def _branch(node: Node) -> BranchView:
    said = " ".join(part for part in (node.intro, node.comment) if part)
    return {
        "move": format_cell(node.cell or 0),
        "comment": visible_text(said),
        "glyphs": list(node.glyphs),
        "clock": node.clock,
        "children": [_branch(child) for child in node.children],
    }


def game_of(study: Study) -> Game:
    """Turn what the page has into a game, every move of which is legal."""
    game = game_on(study.start)
    game.tags = {"Event": study.title} if study.title else {}
    game.tags |= {name: value for name, value in study.tags.items() if name != "Event"}
    game.root.comment = study.comment
    grown = _grow(game, game.root, study.children, 0)
    if grown > NODES_LIMIT:
        raise ApiError("too-large", detail=f"a study has at most {NODES_LIMIT} moves")
    end = study.end
    # Whoever plays on from where a game was resigned has a game that goes on.
    if end is not None and game.result is None and end.after == len(game.main_line()):
        game.end_off_board(None if end.winner is None else Side(end.winner), OffBoard(end.by))
    game.go_to((game.main_line() or [game.root])[-1])
    return game


def record_of(game: Game) -> str:
    """Write a study as a record that can be read again."""
    record = format_record(game)
    try:
        parse_record(record)
    except KamonError as error:
        raise ApiError("bad-text", because=error) from None
    return record


def game_on(line: str) -> Game:
    """Read a position line, or say what is wrong with it."""
    try:
        game = parse_line(line)
    except KamonError as error:
        raise refused(error) from None
    if game is None:
        raise ApiError("bad-text", detail="the line is empty: expected a layout, and moves")
    return game


def refused(error: KamonError) -> ApiError:
    """Say what a text that cannot be read was meant to be."""
    codes: dict[type[KamonError], str] = {
        LayoutError: "bad-layout",
        PositionError: "bad-position",
        IllegalMoveError: "illegal-move",
    }
    return ApiError(codes.get(type(error), "bad-text"), because=error)


def problem_view(error: KamonError) -> ProblemView:
    """Tell what is wrong with a text that was read up to an error."""
    return cast(ProblemView, {"message": str(error), **error.data()})


def _grow(game: Game, parent: Node, branches: list[Branch], grown: int) -> int:
    for branch in branches:
        game.go_to(parent)
        try:
            node = game.play(parse_cell(branch.move))
        except KamonError as error:
            raise refused(error) from None
        node.comment, node.glyphs = branch.comment, tuple(branch.glyphs)
        node.clock = branch.clock
        grown = _grow(game, node, branch.children, grown + 1)
        if grown > NODES_LIMIT:
            break
    return grown


def read_anything(text: str) -> tuple[Game, KamonError | None]:
    """Read a record, a position line, a position or a layout; a record as far as it goes."""
    stripped = text.strip()
    if stripped.startswith("["):
        return parse_record_so_far(stripped)
    return game_on(stripped), None
