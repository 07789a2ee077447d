"""``kamon admin``: what a host sees, and changes, on both kinds of databases."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, insert, select, text, update
from typer.testing import CliRunner, Result

from filled_database import fill
from kamon import Side
from kamon.cli import app as program
from kamon.web import administration
from kamon.web.administration import AdministrationError, looking_after
from kamon.web.database import Database, events, games, servers, spending, studies, thoughts
from kamon.web.games import rooms, store
from kamon.web.games.rooms import Command, Event, Room
from kamon.web.games.store import Change, Games
from kamon.web.server_time import wall_time


def kamon(*arguments: str) -> Result:
    result = CliRunner().invoke(program.app, arguments)
    assert result.exception is None or isinstance(
        result.exception, SystemExit | AdministrationError
    ), result.exception
    return result


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind with a little of everything."""
    if request.param == "sqlite":
        made = f"sqlite:///{tmp_path / 'kamon.sqlite'}"
    else:
        made = str(request.getfixturevalue("postgres_url"))
    with closing(Database(made)) as database:
        database.open()
        fill(database)
    return made


def room_of(url: str, game: str) -> Room:
    return rooms.create(game, events_of(url, game))


def events_of(url: str, game: str) -> Sequence[Event]:
    with closing(Database(url)) as database:
        return Games(database).load(game)[0]


def game_with(url: str, status: str) -> str:
    with closing(Database(url)) as database, database.reading() as connection:
        query = select(games.c.id).where(games.c.status == status).order_by(games.c.id)
        return str(connection.execute(query).scalars().first())


@contextmanager
def writing(url: str) -> Iterator[Connection]:
    with closing(Database(url)) as database, database.writing() as connection:
        yield connection


# --- Looking ----------------------------------------------------------------------------------


def test_running_games_are_listed_with_their_players(url: str) -> None:
    result = kamon("admin", "--database", url, "games")
    assert result.exit_code == 0
    head, *rows = result.stdout.splitlines()
    assert head.split() == ["id", "status", "age", "idle", "moves", "black", "white"]
    with closing(Database(url)) as database, database.reading() as connection:
        found = connection.execute(select(games.c.id, games.c.status)).all()
    running = {row.id for row in found if row.status in ("waiting", "playing")}
    assert {row.split()[0] for row in rows} == running
    assert "(nobody)" in result.stdout
    everything = kamon("admin", "--database", url, "games", "--all")
    assert len(everything.stdout.splitlines()) == len(found) + 1


def test_what_people_have_typed_does_not_control_the_terminal(url: str) -> None:
    with writing(url) as connection:
        connection.execute(update(studies).values(title="\x1b[2Jgone"))
    result = kamon("admin", "--database", url, "studies", "--limit", "2")
    assert "\x1b" not in result.stdout
    assert result.stdout.count("�[2Jgone") == 2


def test_one_game_is_shown_with_all_its_events(url: str) -> None:
    game = game_with(url, "over")
    result = kamon("admin", "--database", url, "game", game)
    assert result.exit_code == 0
    for event in events_of(url, game):
        assert f"{event.number:>4}  +" in result.stdout
    assert "ended  winner=black by=connection" in result.stdout


def test_a_game_that_is_not_there_is_an_error(url: str) -> None:
    for words in (["game", "nowhere"], ["close", "nowhere"], ["rename", "nowhere", "black"]):
        result = kamon("admin", "--database", url, *words)
        assert result.exit_code == 1
        assert str(result.exception) == "there is no game 'nowhere'"


def test_visitors_are_counted_over_all_servers(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        database.open()
    now = wall_time()
    with writing(postgres_url) as connection:
        for name, people, web in (("one", 3, True), ("two", 4, True), ("deep", 0, False)):
            row = {"id": name, "alive": now - 1_500, "people": people, "web": web}
            connection.execute(insert(servers).values(**row))
    result = kamon("admin", "--database", postgres_url, "visitors")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()[1:-1]] == [
        ["deep", "engine", "1", "s", "0"],
        ["one", "page", "1", "s", "3"],
        ["two", "page", "1", "s", "4"],
    ]
    assert result.stdout.splitlines()[-1] == "7 people on 3 servers"


def test_budgets_are_added_up_over_all_servers(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        database.open()
    with writing(postgres_url) as connection:
        for name, client, amount in (("one", "aaa", 2.0), ("two", "aaa", 3.25), ("one", "bbb", 9)):
            row = {"server": name, "client": client, "what": "games", "round": 1, "amount": amount}
            connection.execute(insert(spending).values(**row))
    result = kamon("admin", "--database", postgres_url, "budgets")
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["bbb", "games", "9.0"],
        ["aaa", "games", "5.2"],
    ]


def test_on_sqlite_it_says_who_knows_the_rest(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kamon.sqlite'}"
    with closing(Database(url)) as database:
        database.open()
    told = kamon("admin", "--database", url, "visitors")
    assert told.stdout.startswith("No server has used this database. On SQLite, only the server")
    with closing(Database(url)) as database:
        fill(database, 1)
    told = kamon("admin", "--database", url, "visitors")
    assert told.stdout.startswith("A server last used this database ")
    told = kamon("admin", "--database", url, "budgets")
    assert "--metrics-port" in told.stdout


# --- Changing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["waiting", "playing"])
def test_a_game_can_be_closed_once(url: str, status: str) -> None:
    game = game_with(url, status)
    before = events_of(url, game)
    assert kamon("admin", "--database", url, "close", game).stdout == f"closed {game}\n"
    assert room_of(url, game).status == "aborted"
    assert [event.kind for event in events_of(url, game)[len(before) :]] == ["aborted"]
    assert game_with(url, "aborted") == game
    again = kamon("admin", "--database", url, "close", game)
    assert again.exit_code == 1
    assert str(again.exception) == f"the game {game!r} is already over"
    assert len(events_of(url, game)) == len(before) + 1


def test_a_closed_game_is_not_thought_about(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        database.open()
        fill(database)
    with writing(postgres_url) as connection:
        assert connection.execute(select(thoughts.c.game)).scalar() == "game0"
        connection.execute(update(thoughts).values(game=game_with(postgres_url, "playing")))
    kamon("admin", "--database", postgres_url, "close", game_with(postgres_url, "playing"))
    with writing(postgres_url) as connection:
        assert connection.execute(select(thoughts.c.game)).all() == []


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("name", ["", "Somebody"])
def test_a_name_is_changed_and_the_one_before_is_nowhere_any_more(
    url: str, side: Side, name: str
) -> None:
    game = game_with(url, "over")
    before = room_of(url, game)
    assert before.seat(side).name
    words = ["rename", game, side.value, name] if name else ["rename", game, side.value]
    result = kamon("admin", "--database", url, *words)
    assert result.exit_code == 0
    after = room_of(url, game)
    assert after.seat(side).name == name
    assert after.seat(side.other) == before.seat(side.other)
    assert (after.moves, after.status) == (before.moves, before.status)
    stored = [str(event.data) for event in events_of(url, game)]
    assert not any(before.seat(side).name in data for data in stored)


def test_only_a_person_can_be_renamed(url: str) -> None:
    game = game_with(url, "waiting")
    before = events_of(url, game)
    result = kamon("admin", "--database", url, "rename", game, "white")
    assert (result.exit_code, str(result.exception)) == (
        1,
        f"white is not played by a person in the game {game!r}",
    )
    result = kamon("admin", "--database", url, "rename", game, "black", "x" * 41)
    assert (result.exit_code, str(result.exception)) == (1, "a name has at most 40 characters")
    assert events_of(url, game) == before


def test_a_study_can_be_removed(url: str) -> None:
    assert kamon("admin", "--database", url, "remove-study", "study3").exit_code == 0
    assert "study3" not in kamon("admin", "--database", url, "studies").stdout
    again = kamon("admin", "--database", url, "remove-study", "study3")
    assert (again.exit_code, str(again.exception)) == (1, "there is no study 'study3'")


def test_servers_hear_of_a_change(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        database.open()
        fill(database)
    game = game_with(postgres_url, "playing")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("LISTEN kamon")
        kamon("admin", "--database", postgres_url, "close", game)
        heard = [each.payload for each in connection.notifies(timeout=5, stop_after=1)]
    assert heard == [f"admin {game}:{room_of(postgres_url, game).number}"]


def test_a_change_is_decided_again_where_a_server_was_faster(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Database(postgres_url)) as database:
        database.open()
        fill(database)
    game = game_with(postgres_url, "playing")
    number = room_of(postgres_url, game).number

    def offer_first(connection: Connection, changes: Sequence[Change]) -> set[str]:
        """Let a player offer a draw just before the host's command is written."""
        monkeypatch.setattr(store, "moved_on", moved_on)
        room = room_of(postgres_url, game)
        command = Command("offer", frozenset({Side.BLACK}), {"what": "draw"})
        happened = rooms.decide(room, command, 2_000)
        change = Change(game, happened, "playing", listed=True, flag=None)
        with closing(Database(postgres_url)) as other, other.writing() as faster:
            store.commit(faster, [change])
        return moved_on(connection, changes)

    moved_on: Callable[[Connection, Sequence[Change]], set[str]] = store.moved_on
    monkeypatch.setattr(store, "moved_on", offer_first)
    assert kamon("admin", "--database", postgres_url, "close", game).exit_code == 0
    added = [event.kind for event in events_of(postgres_url, game)[number:]]
    assert added == ["offered", "aborted"]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_change_that_is_always_too_late_is_given_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_with(url, "playing")
    before = events_of(url, game)
    monkeypatch.setattr(store, "moved_on", lambda *_: {game})
    monkeypatch.setattr(administration, "_TRIES", 3)
    result = kamon("admin", "--database", url, "close", game)
    assert (result.exit_code, "is changing too fast" in str(result.exception)) == (1, True)
    assert events_of(url, game) == before


# --- What is refused --------------------------------------------------------------------------


def test_a_file_that_a_server_uses_can_be_looked_at_but_not_changed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kamon.sqlite'}"
    with closing(Database(url)) as database:
        database.open()
        fill(database)
        game = game_with(url, "playing")
        assert kamon("admin", "--database", url, "game", game).exit_code == 0
        for words in (["close", game], ["rename", game, "black"], ["remove-study", "study1"]):
            result = kamon("admin", "--database", url, *words)
            assert result.exit_code == 2
            assert "another server is using" in result.stderr
    assert room_of(url, game).status == "playing"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.sqlite"
    result = kamon("admin", "--database", f"sqlite:///{path}", "close", "one")
    assert result.exit_code == 2
    assert "there is no database at" in result.stderr
    assert not path.exists()


def test_a_database_of_another_version_is_left_alone(url: str) -> None:
    with writing(url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
    result = kamon("admin", "--database", url, "games")
    assert result.exit_code == 2
    assert "start a server on it first" in result.stderr
    with writing(url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    result = kamon("admin", "--database", url, "games")
    assert result.exit_code == 2
    assert "newer version" in result.stderr


def test_events_of_other_kinds_keep_their_words(url: str) -> None:
    game = game_with(url, "over")
    before = {event.number: event for event in events_of(url, game)}
    with looking_after(url, changing=True) as host:
        host.rename(game, Side.BLACK, "Ann II")
    with closing(Database(url)) as database, database.reading() as connection:
        rows = connection.execute(select(events).where(events.c.game == game)).all()
    for row in rows:
        if row.kind in ("moved", "ended"):
            assert json.loads(row.data) == before[row.number].data
