"""``kamon admin``: what a host may see of a server, and change, from its machine."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kamon.cli.databases import opening
from kamon.notation import format_cell
from kamon.position import Side

if TYPE_CHECKING:
    from kamon.web.administration import Administration, GameSummary
    from kamon.web.games.rooms import Room

EXAMPLES = """Examples:

\b
  kamon admin games                        games in progress or waiting for an opponent
  kamon admin rename per1n8zbfffa white    remove a player's name
  kamon admin close per1n8zbfffa           end a game, without a winner
  kamon admin --database postgresql://me@localhost/kamon visitors

On SQLite, stop the server before you change anything. You can look at any time."""

_MANY: Final = 100_000
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=EXAMPLES,
    help="Manage a server: its games, visitors, budgets and studies.",
)

LimitOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=_MANY, help="Maximum number of rows to list.")
]
GameArgument = Annotated[
    str, typer.Argument(metavar="ID", help="ID of the game, as in its address.")
]


@app.callback()
def _admin(
    context: typer.Context,
    *,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Database URL; by default, a file in your data folder."),
    ] = None,
) -> None:
    from kamon.web.settings import default_database  # noqa: PLC0415 - it takes a while to load

    context.obj = database or default_database()


# --- Looking ----------------------------------------------------------------------------------


@app.command("games")
def _games(
    context: typer.Context,
    *,
    every: Annotated[bool, typer.Option("--all", help="Include games that are over.")] = False,
    limit: LimitOption = 50,
) -> None:
    """List games in progress or waiting for an opponent."""
    from kamon.web.administration import RUNNING  # noqa: PLC0415 - it takes a while to load

    statuses = (*RUNNING, "over", "aborted") if every else RUNNING
    with _looking_after(context) as administration:
        found = administration.games(statuses, limit)
        unreadable = administration.unreadable
    rows = [_game_row(summary) for summary in found]
    _echo_table(("id", "status", "age", "idle", "moves", "black", "white"), rows)
    for error in unreadable:
        typer.echo(f"warning: {error}", err=True)


@app.command("game")
def _game(context: typer.Context, game: GameArgument) -> None:
    """Show one game and everything that happened in it."""
    with _looking_after(context) as administration:
        summary, events = administration.game(game)
    room = summary.room
    _echo_table(("id", "status", "age", "idle", "moves", "black", "white"), [_game_row(summary)])
    typer.echo(f"time  {room.control}")
    typer.echo(f"moves {' '.join(format_cell(cell) for cell in room.moves)}")
    start = events[0].at
    for event in events:
        data = " ".join(f"{name}={_printable(str(value))}" for name, value in event.data.items())
        typer.echo(f"{event.number:>4}  +{_duration(event.at - start):<8}  {event.kind}  {data}")


@app.command("visitors")
def _visitors(context: typer.Context) -> None:
    """Show how many people are online, and on which servers."""
    with _looking_after(context) as administration:
        if not administration.shared:
            _echo_last_alive(administration.last_alive())
            return
        found = administration.servers()
    rows = [
        (each.id, "page" if each.web else "engine", _ago(each.alive), str(each.people))
        for each in found
    ]
    _echo_table(("server", "kind", "seen", "people"), rows)
    typer.echo(f"{sum(each.people for each in found)} people on {len(found)} servers")


@app.command("budgets")
def _budgets(context: typer.Context, *, limit: LimitOption = 50) -> None:
    """List the clients who spent the most, shown as pseudonyms."""
    with _looking_after(context) as administration:
        if not administration.shared:
            typer.echo(
                "A server on SQLite keeps its budgets in memory. Its metrics show how often it has "
                "refused requests (kamon serve --metrics-port)."
            )
            return
        found = administration.spent(limit)
    _echo_table(
        ("client", "budget", "spent"),
        [(each.client, each.what, f"{each.amount:.1f}") for each in found],
    )


@app.command("studies")
def _studies(context: typer.Context, *, limit: LimitOption = 50) -> None:
    """List the most recently saved studies."""
    with _looking_after(context) as administration:
        found = administration.studies(limit)
    rows = [(each.id, _ago(each.updated), str(each.moves), each.title) for each in found]
    _echo_table(("id", "saved", "moves", "title"), rows)


# --- Changing ---------------------------------------------------------------------------------


@app.command("close")
def _close(context: typer.Context, game: GameArgument) -> None:
    """End a game without a winner."""
    with _looking_after(context, changing=True) as administration:
        administration.close(game)
    typer.echo(f"closed {game}")


@app.command("rename")
def _rename(
    context: typer.Context,
    game: GameArgument,
    side: Annotated[Side, typer.Argument(metavar="SIDE", help="Side of the player.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="New name; leave it out to remove the old one.")
    ] = "",
) -> None:
    """Change or remove the name of a player."""
    with _looking_after(context, changing=True) as administration:
        administration.rename(game, side, name)
    typer.echo(f"renamed {side.value} in {game}" if name else f"removed a name from {game}")


@app.command("remove-game")
def _remove_game(context: typer.Context, game: GameArgument) -> None:
    """Delete a game and everything that happened in it."""
    with _looking_after(context, changing=True) as administration:
        administration.remove_game(game)
    typer.echo(f"removed {game}")


@app.command("remove-study")
def _remove_study(
    context: typer.Context,
    study: Annotated[str, typer.Argument(metavar="ID", help="ID of the study, as in its address.")],
) -> None:
    """Delete a study."""
    with _looking_after(context, changing=True) as administration:
        administration.remove_study(study)
    typer.echo(f"removed {study}")


@contextlib.contextmanager
def _looking_after(context: typer.Context, *, changing: bool = False) -> "Iterator[Administration]":
    """Open the database, and say in plain words what is wrong with it."""
    from kamon.web.administration import looking_after  # noqa: PLC0415 - see above

    with (
        opening(context.obj, "--database"),
        looking_after(context.obj, changing=changing) as opened,
    ):
        yield opened


# --- Words ------------------------------------------------------------------------------------


def _game_row(summary: "GameSummary") -> tuple[str, ...]:
    room = summary.room
    times = _ago(summary.created), _ago(summary.updated)
    names = (_player(room, side) for side in Side)
    return (room.id, room.status, *times, str(len(room.moves)), *names)


def _player(room: "Room", side: Side) -> str:
    seat = room.seat(side)
    if seat.kind == "computer":
        return f"(level {seat.level})"
    return "(nobody)" if seat.kind == "open" else seat.name or "(no name)"


def _echo_last_alive(alive: int | None) -> None:
    seen = "No server has used this database."
    if alive is not None:
        seen = f"A server last used this database {_ago(alive)} ago."
    typer.echo(
        f"{seen} On SQLite, only the server itself knows how many people are online: "
        "see its home page or its metrics (kamon serve --metrics-port)."
    )


def _ago(moment: int) -> str:
    from kamon.web.server_time import wall_time  # noqa: PLC0415 - it takes a while to load

    return _duration(wall_time() - moment)


def _duration(milliseconds: int) -> str:
    """Write a duration in the largest unit that fits."""
    seconds = max(0, milliseconds) // 1000
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds // size} {unit}"


def _echo_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows under each other. What people have typed must not control the terminal."""
    table = [tuple(map(_printable, row)) for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)
