"""The board of the day: one for everybody, results of everybody, and the truth a day later."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from alembic import command as alembic
from fastapi import FastAPI
from sqlalchemy import func, insert, select
from starlette.types import Receive, Scope, Send

from kamon import Layout, format_layout, rules
from kamon.notation import format_cell
from kamon.position import Side
from kamon.web import database as database_module
from kamon.web.answers import add_error_handlers
from kamon.web.database import Database, board_days, day_games, puzzle_tries
from kamon.web.database import played_days as played_days_table
from kamon.web.days import played, routes
from kamon.web.days.boards import SolvedBoard, board_on, solved_boards
from kamon.web.days.store import Days
from kamon.web.games import routes as game_routes
from kamon.web.games.desk import Desk
from kamon.web.games.people import People
from kamon.web.games.rooms import Command
from kamon.web.games.store import Games
from kamon.web.health import Health
from kamon.web.identity import Secrets, hashed
from kamon.web.ids import new_id
from kamon.web.limits import Budgets
from kamon.web.metrics import Metrics
from kamon.web.overload import Overload
from kamon.web.puzzles.store import PuzzleStore
from kamon.web.services import Services
from kamon.web.settings import Settings
from kamon.web.writer import Writer

BOTH = frozenset(Side)
ONE_DAY = 24 * 3600 * 1000
NOON = int(datetime(2026, 11, 15, 12, tzinfo=UTC).timestamp() * 1000)
TODAY, TOMORROW = "2026-11-15", "2026-11-16"

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that a test can put forward."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> int:
        return self.time


class Thinkers:
    """Stands for the computer, which a test moves by hand."""

    def require_time(self, client: str, level: int) -> None:
        assert client
        assert level

    def asked_by(self, game: str, client: str) -> None:
        assert game
        assert client


@dataclass
class Server:
    """A server whose clock can be moved, and people who play on it."""

    clock: Clock
    services: Services
    http: httpx.AsyncClient

    @property
    def desk(self) -> Desk:
        return self.services.desk

    def somebody(self) -> dict[str, str]:
        """Return what identifies a new visitor."""
        return {"Authorization": f"Bearer {self.services.secrets.new()}"}

    async def day(self, date: str | None = None, who: dict[str, str] | None = None) -> Any:  # noqa: ANN401
        params = {} if date is None else {"date": date}
        answer = await self.http.get("/api/day", params=params, headers=who)
        return answer.json()

    async def play(self, who: dict[str, str], **wishes: object) -> httpx.Response:
        wish = {"against": "computer", "day": True, **wishes}
        return await self.http.post("/api/games", json=wish, headers=who)

    async def new(self, who: dict[str, str], **wishes: object) -> str:
        answer = await self.play(who, **wishes)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def move(self, game: str, times: int) -> None:
        """Play the first legal cell for whoever is to move."""
        for _ in range(times):
            room = (await self.desk.table(game)).room
            cell = format_cell(rules.legal_cells(room.position)[0])
            await self.desk.submit(game, Command("move", BOTH, {"cell": cell}))

    async def resign(self, game: str, side: Side) -> None:
        await self.desk.submit(game, Command("resign", frozenset({side})))


@contextlib.asynccontextmanager
async def serving(url: str, clock: Clock) -> AsyncIterator[Server]:
    database = Database(url)
    await asyncio.to_thread(database.open)
    writer = Writer(database)
    desk = Desk(Games(database), writer, clock, server=new_id() if database.shared else None)
    nobody = cast(Any, None)
    services = Services(
        settings=Settings(url),
        health=Health(),
        metrics=Metrics(),
        secrets=Secrets(b"key"),
        budgets=Budgets(scale=1000),
        overload=Overload(lambda: 0),
        desk=desk,
        people=People(clock),
        days=Days(writer, clock),
        studies=nobody,
        thinkers=cast(Any, Thinkers()),
        analysts=nobody,
        reviews=nobody,
        studio=nobody,
        puzzles=nobody,
    )
    app = FastAPI()
    app.include_router(game_routes.router)
    app.include_router(routes.router)
    add_error_handlers(app)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"services": services}}, receive, send)

    transport = httpx.ASGITransport(serve)
    async with (
        desk.running(),
        httpx.AsyncClient(transport=transport, base_url="http://kamon") as http,
    ):
        yield Server(clock, services, http)
    writer.close()
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'kamon.sqlite'}"


@pytest.fixture
async def server(url: str) -> AsyncIterator[Server]:
    async with serving(url, Clock()) as made:
        yield made


# --- Which board ----------------------------------------------------------------------------


async def test_a_day_has_one_board_for_everybody(server: Server) -> None:
    told = await server.day()
    seed = board_on(date.fromisoformat(TODAY).toordinal(), solved_boards())
    assert told["date"] == TODAY
    assert told["board"] == (await server.day(TODAY, server.somebody()))["board"]
    view = (await server.play(server.somebody())).json()
    assert view["layout"] == format_layout(Layout.shuffled(seed))
    assert view["board"]["tokens"] == told["board"]["tokens"]
    assert view["day"] == TODAY


async def test_a_later_version_with_more_boards_does_not_change_the_past(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await server.day()
    more = {seed: SolvedBoard(seed, "win") for seed in range(1_000, 1_100)}
    monkeypatch.setattr("kamon.web.days.store.solved_boards", lambda: more)
    again = Days(server.services.desk.writer, server.clock)
    today = date.fromisoformat(TODAY)
    assert await again.seed_of(today) == await server.services.days.seed_of(today)
    assert (await server.day())["board"] == before["board"]
    server.clock.time += ONE_DAY
    assert await again.seed_of(again.today()) in more


async def test_many_who_ask_first_get_the_same_board(server: Server) -> None:
    days = [Days(server.services.desk.writer, server.clock) for _ in range(8)]
    seeds = await asyncio.gather(*(each.seed_of(each.today()) for each in days))
    assert len(set(seeds)) == 1


async def test_a_day_begins_at_midnight_of_utc(server: Server) -> None:
    server.clock.time = NOON + ONE_DAY // 2 - 1
    assert (await server.day())["date"] == TODAY
    server.clock.time += 1
    assert (await server.day())["date"] == TOMORROW


async def test_days_lead_to_those_before_and_after_them(server: Server) -> None:
    only = await server.day()
    assert (only["previous"], only["next"]) == (None, None)
    server.clock.time += 2 * ONE_DAY
    told = await server.day()
    assert (told["previous"], told["next"]) == (TOMORROW, None)
    # Nobody has asked for it on the day itself, and it has a board all the same.
    told = await server.day(TOMORROW)
    assert (told["previous"], told["next"]) == (TODAY, "2026-11-17")
    assert (await server.day(TODAY))["previous"] is None


@pytest.mark.parametrize("day", ["2026-11-14", "2026-11-16", "2026-02-30", "0000-00-00"])
async def test_other_days_have_no_board(server: Server, day: str) -> None:
    await server.day()
    answer = await server.http.get("/api/day", params={"date": day})
    assert (answer.status_code, answer.json()["code"]) == (404, "no-such-day")


async def test_what_is_no_date_is_not_understood(server: Server) -> None:
    answer = await server.http.get("/api/day", params={"date": "yesterday"})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-message")


# --- Results --------------------------------------------------------------------------------


async def test_results_are_told_for_each_level(server: Server) -> None:
    ann, bob = server.somebody(), server.somebody()
    long = await server.new(ann, level=3, side="black")
    await server.move(long, 6)
    await server.resign(long, Side.WHITE)
    server.clock.time += 1
    short = await server.new(ann, level=3, side="white")
    await server.move(short, 4)
    await server.resign(short, Side.BLACK)
    lost = await server.new(bob, level=3, side="white")
    await server.resign(lost, Side.WHITE)
    other = await server.new(bob, level=5, side="black")
    await server.resign(other, Side.BLACK)
    await server.new(bob, level=7)
    told = await server.day(who=ann)
    assert told["results"] == [
        {"level": 3, "games": 3, "wins": 2, "shortest": 4},
        {"level": 5, "games": 1, "wins": 0, "shortest": None},
    ]
    assert [each["id"] for each in told["mine"]] == [short, long]
    assert [each["result"]["winner"] for each in told["mine"]] == ["white", "black"]
    assert len((await server.day(who=bob))["mine"]) == 3
    assert (await server.day())["mine"] == []


async def test_a_draw_counts_as_a_game_and_not_as_a_win(server: Server) -> None:
    game = await server.new(server.somebody(), level=2, side="black")
    for do, side in (("offer", Side.WHITE), ("accept", Side.BLACK)):
        await server.desk.submit(game, Command(do, frozenset({side}), {"what": "draw"}))
    assert (await server.day())["results"] == [
        {"level": 2, "games": 1, "wins": 0, "shortest": None}
    ]


async def test_a_game_counts_for_the_day_on_which_it_was_set_up(server: Server) -> None:
    ann = server.somebody()
    game = await server.new(ann, side="black")
    server.clock.time += ONE_DAY
    await server.resign(game, Side.BLACK)
    assert (await server.day(TODAY))["results"][0]["games"] == 1
    assert (await server.day(TOMORROW))["results"] == []
    assert (await server.day(TOMORROW, ann))["mine"] == []


async def test_a_result_counts_whichever_server_ends_the_game(postgres_url: str) -> None:
    async with serving(postgres_url, Clock()) as one, serving(postgres_url, Clock()) as other:
        game = await one.new(one.somebody(), level=4, side="black")
        await other.move(game, 2)
        await other.resign(game, Side.WHITE)
        told = await one.day()
    assert told["results"] == [{"level": 4, "games": 1, "wins": 1, "shortest": 2}]


async def test_what_happens_after_the_end_changes_no_result(server: Server) -> None:
    game = await server.new(server.somebody(), side="black")
    await server.move(game, 2)
    await server.resign(game, Side.WHITE)
    before = (await server.day())["results"]
    black = frozenset({Side.BLACK})
    await server.desk.submit(game, Command("offer", black, {"what": "rematch", "board": "same"}))
    assert (await server.day())["results"] == before


async def test_a_game_that_is_cleared_away_takes_its_result_along(server: Server) -> None:
    game = await server.new(server.somebody(), side="black")
    await server.resign(game, Side.BLACK)
    await server.desk.clear(server.clock.time + 1, ["over"])
    assert (await server.day())["results"] == []
    with server.desk.writer.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(day_games)).scalar_one() == 0


async def test_other_games_on_the_same_board_do_not_count(server: Server) -> None:
    layout = (await server.play(server.somebody())).json()["layout"]
    game = await server.new(server.somebody(), day=False, layout=layout, side="black")
    await server.resign(game, Side.BLACK)
    assert (await server.day())["results"] == []


@pytest.mark.parametrize(
    "wish",
    [{"seed": "7"}, {"layout": "A1"}, {"moves": ["b1"]}, {"against": "self"}],
    ids=lambda wish: next(iter(wish)),
)
async def test_the_board_of_the_day_goes_with_no_other_wish(
    server: Server, wish: dict[str, object]
) -> None:
    answer = await server.play(server.somebody(), **wish)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-message")


# --- The truth ------------------------------------------------------------------------------


async def test_the_truth_is_told_from_the_next_day_on(server: Server) -> None:
    assert (await server.day())["truth"] is None
    server.clock.time += ONE_DAY
    assert (await server.day())["truth"] is None
    told = await server.day(TODAY)
    seed = await server.services.days.seed_of(date.fromisoformat(TODAY))
    board, truth = solved_boards()[seed], told["truth"]
    assert truth["winner"] == {"win": "black", "draw": None, "loss": "white"}[board.value]
    assert truth["line"] == [format_cell(cell) for cell in board.line]
    first_moves = truth["winning"] + truth["not_winning"] + truth["unsettled"]
    assert sorted(first_moves) == sorted(told["board"]["legal"])


async def test_a_board_that_is_not_shipped_any_more_has_no_truth(server: Server) -> None:
    with server.desk.writer.database.writing() as connection:
        connection.execute(insert(board_days).values(date="2026-11-14", seed=123_456_789))
    told = await server.day("2026-11-14")
    assert told["board"]["tokens"][0] == format_layout(Layout.shuffled(123_456_789))[:2]
    assert told["truth"] is None


# --- Fair boards ----------------------------------------------------------------------------


async def test_fair_boards_tell_how_many_first_moves_win_and_not_which(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_moves = solved_boards()[2].first_moves
    board = SolvedBoard(2, "win", first_moves[:2], first_moves[2:], complete=True, fairness=0.8)
    monkeypatch.setattr(routes, "solved_boards", lambda: {2: board, 3: SolvedBoard(3, "win")})
    told = (await server.http.get("/api/fair-boards")).json()
    assert told == {"boards": [{"seed": "2", "winner": "black", "winning": 2, "first_moves": 12}]}


# --- The days on which somebody plays ---------------------------------------------------------


def holder_of(who: dict[str, str]) -> str:
    return hashed(who["Authorization"].removeprefix("Bearer "))


def played_days(server: Server, who: dict[str, str], day: str) -> tuple[int, int]:
    """Return on how many days of a month somebody has played, and of their best month."""
    counted = played.days_of(server.desk.writer.database, holder_of(who), date.fromisoformat(day))
    return counted["this_month"], counted["best_month"]


async def test_a_day_on_which_games_end_is_counted_once_for_each_player(server: Server) -> None:
    one, other = server.somebody(), server.somebody()
    for _ in range(2):
        game = await server.new(one, side="black")
        await server.move(game, 2)
        assert played_days(server, other, TODAY) == (0, 0)
        await server.resign(game, Side.BLACK)
    assert played_days(server, one, TODAY) == (1, 1)
    assert played_days(server, other, TODAY) == (0, 0)
    server.clock.time += ONE_DAY
    await server.resign(await server.new(one, side="black"), Side.BLACK)
    assert played_days(server, one, TODAY) == (2, 2)


async def test_a_month_without_play_takes_nothing_away(server: Server) -> None:
    who = server.somebody()
    for _ in range(3):
        await server.resign(await server.new(who, side="black"), Side.BLACK)
        server.clock.time += ONE_DAY
    assert played_days(server, who, "2027-02-01") == (0, 3)


async def test_a_game_that_is_not_over_counts_for_no_day(server: Server) -> None:
    who = server.somebody()
    await server.move(await server.new(who, side="black"), 2)
    assert played_days(server, who, TODAY) == (0, 0)


async def test_who_is_forgotten_has_played_on_no_day(server: Server) -> None:
    who = server.somebody()
    await server.resign(await server.new(who, side="black"), Side.BLACK)
    database, writer = server.desk.writer.database, server.desk.writer
    await PuzzleStore(database, writer).let_go(holder_of(who))
    assert played_days(server, who, TODAY) == (0, 0)


def test_tries_from_before_the_table_count_for_the_day_on_which_they_were_made(url: str) -> None:
    database = Database(url)
    config = database_module._migrations()
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic.upgrade(config, "0007")
        # At the first and at the last minute of a day.
        tries = [
            {"holder": "a" * 64, "puzzle": name, "at": at, "solved": True}
            for name, at in (("early", 100 * ONE_DAY + 1), ("late", 101 * ONE_DAY - 1))
        ]
        connection.execute(insert(puzzle_tries), tries)
    database.open()
    with database.reading() as connection:
        assert connection.execute(select(played_days_table)).all() == [("a" * 64, 100)]
    database.close()
