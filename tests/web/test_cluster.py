"""Servers that share a PostgreSQL database: two of them here, in one event loop."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, event, select, text, update

from kamon import Layout, rules
from kamon.notation import format_cell
from kamon.position import Side
from kamon.web.cluster import news
from kamon.web.cluster.leases import LEASE, Leases
from kamon.web.cluster.members import DEAD_AFTER, Members, forget_old
from kamon.web.cluster.news import PAYLOAD_LIMIT, Hint
from kamon.web.database import Database, DatabaseError, presence, servers, thoughts
from kamon.web.engine.thinkers import Thinkers
from kamon.web.errors import ApiError
from kamon.web.games.clocks import Control
from kamon.web.games.desk import Desk
from kamon.web.games.following import Following
from kamon.web.games.people import People
from kamon.web.games.rooms import Command, Room, Seat, set_up
from kamon.web.games.store import Games
from kamon.web.games.tables import Table, Watcher
from kamon.web.health import Health
from kamon.web.limits import BUDGETS, Budgets
from kamon.web.memory import ServerMemory
from kamon.web.metrics import Metrics
from kamon.web.server_time import ServerTime, wall_time
from kamon.web.writer import Writer
from postgres_wire import wired
from web_server import PATIENCE

BLACK, WHITE = Side.BLACK, Side.WHITE
BOTH = frozenset(Side)
ANN, BOB, EVE = "a" * 64, "b" * 64, "e" * 64
SEATS = {BLACK: Seat("person", "Ann"), WHITE: Seat("person", "Bob")}
AGAINST_COMPUTER = {BLACK: Seat("person", "Ann"), WHITE: Seat("computer", level=1)}
HOLDERS = [(BLACK, ANN), (WHITE, BOB)]

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """The parts of a server that share."""

    database: Database
    desk: Desk
    members: Members
    following: Following
    leases: Leases
    budgets: Budgets
    now: ServerTime
    metrics: Metrics


@contextlib.asynccontextmanager
async def serving(url: str, *, deaf: bool = False, blind: bool = False) -> AsyncIterator[Server]:
    """Run a server; one that is deaf hears no notifications, and one that is blind never looks."""
    database = Database(url)
    await asyncio.to_thread(database.open)
    health, metrics = Health(), Metrics()
    writer, games = Writer(database, health), Games(database)
    notes = Writer(database, health, notes=True)
    now = ServerTime()
    now.set(games.time())
    members, people, budgets = Members(notes, now), People(now), Budgets()
    desk = Desk(games, writer, now, health, members.id)
    memory = ServerMemory(database, writer)
    following = Following(desk, members, people, budgets, memory, notes, now=now, metrics=metrics)
    if deaf:
        following.hear = lambda hints: None  # type: ignore[method-assign] # noqa: ARG005
    if blind:
        following.look = lambda: asyncio.sleep(0)  # type: ignore[method-assign]
    async with desk.running(), following.running():
        leases = Leases(notes, members.id, now)
        yield Server(database, desk, members, following, leases, budgets, now, metrics)
    for each in (writer, notes):
        each.close()
    database.close()
    assert not health.problems


@pytest.fixture
async def one(postgres_url: str) -> AsyncIterator[Server]:
    async with serving(postgres_url) as server:
        yield server


@pytest.fixture
async def two(postgres_url: str, one: Server) -> AsyncIterator[Server]:
    assert one is not None
    async with serving(postgres_url) as server:
        yield server


async def new(server: Server, control: str = "-", seats: dict[Side, Seat] = SEATS) -> str:
    first = set_up(Layout.shuffled(1), Control.parse(control), seats, server.now())
    holders = [each for each in HOLDERS if seats[each[0]].kind == "person"]
    return (await server.desk.create(first, holders, client="somebody")).id


async def play(server: Server, game: str, command: str | None = None) -> Room:
    room = (await server.desk.table(game)).newest
    cell = format_cell(rules.legal_cells(room.position)[0])
    move = Command("move", BOTH, {"cell": cell}, after=room.number, id=command)
    return (await server.desk.submit(game, move))[0]


async def watch(
    server: Server, game: str, sides: Iterable[Side] = (), holder: str | None = None
) -> tuple[Table, Watcher]:
    table = await server.desk.table(game)
    return table, server.desk.presence.watch(table, frozenset(sides), holder)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.005)


async def code_of(doing: Awaitable[object]) -> str:
    try:
        await doing
    except ApiError as error:
        return error.code
    return "obeyed"


def assert_whole(server: Server, game: str) -> None:
    """Look for gaps: the events of a game have the numbers from 1 on."""
    events, _ = server.desk.games.load(game)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert all(before.at <= after.at for before, after in pairwise(events))


# --- What servers tell each other -----------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.text("abcdef0123456789", min_size=1, max_size=16), st.integers(1, 9999)),
        max_size=1500,
    )
)
def test_hints_survive_the_payloads_however_many_there_are(pairs: list[tuple[str, int]]) -> None:
    hints = [Hint(game, str(number)) for game, number in pairs]
    payloads = list(news._payloads("me", hints))
    assert all(len(payload) <= PAYLOAD_LIMIT + 64 for payload in payloads)
    parsed = [news.parse(payload) for payload in payloads]
    assert all(server == "me" for server, _ in parsed)
    assert [hint for _, found in parsed for hint in found] == hints


def test_words_that_are_no_hints_are_passed_over() -> None:
    server, hints = news.parse("admin x one:3 two:seats")
    assert server == "admin"
    assert [hint.number for hint in hints] == [3, None]


async def test_a_move_on_one_server_is_seen_on_the_other(one: Server, two: Server) -> None:
    game = await new(one)
    table, _ = await watch(two, game)
    room = await play(one, game)
    await until(lambda: table.room.number == room.number)
    assert table.room == room
    assert [event.number for event in table.events] == [1, 2]


async def test_a_move_that_no_notification_tells_of_is_found_within_a_second_or_so(
    one: Server, postgres_url: str
) -> None:
    game = await new(one)
    async with serving(postgres_url, deaf=True) as deaf:
        table, _ = await watch(deaf, game)
        room = await play(one, game)
        await until(lambda: table.room.number == room.number)
        assert deaf.metrics.lost_notifications._value.get() == 1


async def test_a_connection_that_was_cut_is_made_again_and_nothing_is_missed(
    one: Server, two: Server
) -> None:
    game = await new(one)
    table, _ = await watch(two, game)
    with one.database.engine.begin() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query = 'LISTEN kamon'"
            )
        )
    for _ in range(5):
        room = await play(one, game)
    await until(lambda: table.room.number == room.number)
    assert_whole(one, game)


async def test_a_game_that_nobody_watches_is_never_out_of_date(one: Server, two: Server) -> None:
    game = await new(one)
    assert (await two.desk.table(game)).room.number == 1
    await play(one, game)
    assert (await two.desk.table(game)).room.number == 2
    assert [each.room.number for each in await two.desk.several([game, "none"])] == [2]


async def test_a_game_that_was_cleared_away_on_one_server_is_gone_on_the_other(
    one: Server, two: Server
) -> None:
    game = await new(one)
    await two.desk.table(game)
    await one.desk.clear(one.now() + 1, ["playing"])
    assert await code_of(two.desk.table(game)) == "no-such-game"


# --- Commands at the same time --------------------------------------------------------------


async def test_of_many_who_sit_down_at_once_on_two_servers_one_does(
    one: Server, two: Server
) -> None:
    game = await new(one, seats={BLACK: Seat("person", "Ann"), WHITE: Seat()})
    joins = [
        server.desk.submit(game, Command("join", data={"name": f"{n}"}), [(WHITE, f"{n:064}")])
        for n in range(5)
        for server in (one, two)
    ]
    codes = await asyncio.gather(*map(code_of, joins))
    assert sorted(codes) == ["obeyed"] + ["seat-taken"] * 9
    events, holders = one.desk.games.load(game)
    assert [event.kind for event in events] == ["created", "joined"]
    assert [side for side, _ in holders].count(WHITE) == 1


async def test_a_command_that_comes_twice_through_two_servers_is_obeyed_once(
    one: Server, two: Server
) -> None:
    game = await new(one)
    rooms = await asyncio.gather(play(one, game, "same"), play(two, game, "same"))
    assert [room.number for room in rooms] == [2, 2]
    assert_whole(one, game)


async def test_servers_that_contend_for_one_game_all_get_their_turn(
    one: Server, two: Server
) -> None:
    game = await new(one)
    met = 0

    def meet() -> None:
        nonlocal met
        met += 1

    one.desk.met_conflict = two.desk.met_conflict = meet

    async def pester(server: Server, side: Side) -> None:
        for _ in range(12):
            sides = frozenset({side})
            await code_of(server.desk.submit(game, Command("offer", sides, {"what": "draw"})))
            await code_of(
                server.desk.submit(
                    game, Command("decline", frozenset({side.other}), {"what": "draw"})
                )
            )

    await asyncio.gather(pester(one, BLACK), pester(two, WHITE))
    assert_whole(one, game)
    assert met > 0


async def test_a_batch_with_a_late_command_writes_the_others(
    one: Server, postgres_url: str
) -> None:
    async with serving(postgres_url, deaf=True, blind=True) as behind:
        late, other = await new(behind), await new(behind)
        table, _ = await watch(behind, late)
        await play(one, late)
        assert table.room.number == 1
        resign = Command("resign", frozenset({WHITE}))
        await asyncio.gather(behind.desk.submit(late, resign), play(behind, other))
        events = behind.desk.games.load(late)[0]
        assert [event.kind for event in events] == ["created", "moved", "ended"]
        assert len(behind.desk.games.load(other)[0]) == 2


async def test_a_command_is_not_decided_again_for_ever(
    one: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = await new(one)
    table, _ = await watch(one, game)
    # Whatever is decided, the game seems to have moved on.
    monkeypatch.setattr("kamon.web.games.store.moved_on", lambda *_: {game})
    assert await code_of(play(one, game)) == "storage"
    assert table.room.number == 1


async def test_a_server_of_the_release_before_may_go_on_beside_a_new_one(one: Server) -> None:
    """The statements are those of release 0.2.0, which knows neither notifications nor locks."""
    game = await new(one)
    table, _ = await watch(one, game)
    old = create_engine(one.database.engine.url)
    with old.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO events (game, number, at, kind, data, command) VALUES "
                "(:game, 2, :at, 'moved', :data, 'old')"
            ),
            {"game": game, "at": one.now(), "data": '{"cell":"b1"}'},
        )
        connection.execute(
            text(
                "UPDATE games SET updated = :at, status = 'playing', listed = false, flag = NULL "
                "WHERE id = :game"
            ),
            {"game": game, "at": one.now()},
        )
        connection.execute(
            text(
                "INSERT INTO games (id, created, updated, status, listed, flag) VALUES "
                "('old', 1, 1, 'waiting', true, NULL)"
            )
        )
    old.dispose()
    room, _ = await one.desk.submit(game, Command("resign", frozenset({WHITE})))
    assert room.number == table.room.number == 3
    assert_whole(one, game)
    assert ("old", None) in one.desk.games.open_games(10)


async def test_a_server_goes_on_while_a_later_version_changes_the_tables(
    one: Server, postgres_url: str
) -> None:
    game = await new(one)
    with one.database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE games ADD COLUMN later text DEFAULT 'x' NOT NULL"))
        connection.execute(text("CREATE TABLE later (id text PRIMARY KEY)"))
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert (await play(one, game)).number == 2
    assert (await one.desk.table(await new(one))).room.number == 1
    with pytest.raises(DatabaseError, match="belongs to a newer version"):
        Database(postgres_url).open()


# --- Seats ----------------------------------------------------------------------------------


async def test_a_link_is_spent_once(one: Server, two: Server) -> None:
    game = await new(one)
    await one.desk.hand_over("t" * 64, game, BLACK, one.now() + 60_000)
    taken = await asyncio.gather(
        *(server.desk.take_over("t" * 64, f"{n:064}") for n, server in enumerate((one, two) * 4))
    )
    assert sorted(map(str, taken)) == sorted([game] + ["None"] * 7)


async def test_a_seat_that_was_taken_away_on_one_server_is_gone_on_the_other(
    one: Server, two: Server
) -> None:
    game = await new(one)
    table, watcher = await watch(two, game, [BLACK], EVE)
    table.holders.append((BLACK, EVE))
    await one.desk.keep_only(await one.desk.table(game), BLACK, ANN)
    await until(lambda: (BLACK, EVE) not in table.holders)
    assert not watcher.sides


# --- Who is there ---------------------------------------------------------------------------


async def test_whoever_is_there_through_another_server_is_there(one: Server, two: Server) -> None:
    game = await new(one, "60+0")
    table, _ = await watch(one, game, [BLACK], ANN)
    _, bob = await watch(two, game, [WHITE], BOB)
    await watch(two, game)
    await until(lambda: one.desk.presence.present(table, WHITE))
    await until(lambda: one.desk.presence.spectators(table) == 1)
    assert one.desk.presence.absent_since(table, WHITE) is None
    left = two.now()
    two.desk.leave(await two.desk.table(game), bob)
    await until(lambda: not one.desk.presence.present(table, WHITE))
    since = one.desk.presence.absent_since(table, WHITE)
    assert since is not None
    assert abs(since - left) < 1_000


async def test_whoever_was_there_through_a_server_that_died_has_left(one: Server) -> None:
    game = await new(one)
    table, _ = await watch(one, game, [BLACK], ANN)
    dead = Members(one.desk.writer, one.now)
    await dead.beat(7)
    row = {"game": game, "server": dead.id, "changed": 1, "watchers": 3}
    with one.database.writing() as connection:
        connection.execute(presence.insert().values(**row, black=False, white=True))
        news.tell(connection, dead.id, [Hint(game, news.PRESENCE)])
    await until(lambda: one.desk.presence.present(table, WHITE))
    assert one.following._people.elsewhere in (0, 7)
    alive = one.now() - DEAD_AFTER - 1
    with one.database.writing() as connection:
        connection.execute(update(servers).where(servers.c.id == dead.id).values(alive=alive))
    await until(lambda: not one.desk.presence.present(table, WHITE))
    assert one.desk.presence.absent_since(table, WHITE) == alive
    assert one.desk.presence.spectators(table) == 0
    # It was only stopped for a while, and finds out.
    beat = await dead.beat(7)
    assert (beat.anew, beat.missing) == (True, False)


async def test_a_server_that_was_given_up_tells_again_who_is_there(
    one: Server, two: Server
) -> None:
    game = await new(one)
    table, _ = await watch(one, game, [BLACK], ANN)
    await watch(two, game, [WHITE], BOB)
    await until(lambda: one.desk.presence.present(table, WHITE))

    def is_written() -> bool:
        query = select(presence.c.white).where(presence.c.server == two.members.id)
        with one.database.reading() as connection:
            return bool(connection.execute(query).scalar_one())

    await two.members.leave()
    assert not is_written()
    await until(is_written)
    with one.database.reading() as connection:
        assert len(connection.execute(select(servers)).all()) == 2


# --- Time -----------------------------------------------------------------------------------


async def test_a_clock_that_runs_out_is_seen_to_by_any_server(
    one: Server, postgres_url: str
) -> None:
    async with serving(postgres_url) as dies:
        game = await new(dies, "1+0")
        for _ in range(2):
            await play(dies, game)
    table, _ = await watch(one, game)
    await until(lambda: table.room.status == "over")
    assert table.room.result is not None
    assert table.room.result.termination == "time"


def test_a_clock_that_is_wrong_comes_nearer_to_the_right_one_and_never_goes_back() -> None:
    now = ServerTime()
    fast = now() + 2_000
    now.set(fast)
    told = [now()]
    for _ in range(30):
        now.correct(fast - 2_000)
        told.append(now())
    assert told == sorted(told)
    assert now._reckoned() - (fast - 2_000) < 500
    for _ in range(50):
        now.correct(fast + 2_000)
    assert abs(now() - fast - 2_000) < 500


async def test_servers_whose_machines_disagree_about_the_time_agree_about_the_clocks(
    one: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kamon.web.server_time.wall_time", lambda: wall_time() + 2_000)
    async with serving(postgres_url) as ahead:
        assert abs(ahead.now() - one.now()) < 500
        game = await new(one, "60+0")
        for server in (one, ahead, one, ahead):
            room = await play(server, game)
        assert_whole(one, game)
        clock = room.clock
        assert min(clock.black, clock.white) > 50_000


async def test_a_second_server_gives_nobody_time_for_the_first_one_was_there(
    one: Server, two: Server
) -> None:
    await one.members.beat(0)
    memory = ServerMemory(two.database, two.desk.writer)
    await memory.note_alive(one.now() - 60_000)
    assert await memory.time_away(two.now()) == 0


async def test_time_for_which_the_database_was_away_is_given_back_once(
    one: Server, two: Server
) -> None:
    game = await new(one, "60+0")
    for _ in range(2):
        await play(one, game)
    for server in (one, two):
        server.desk.paused = True
    assert await code_of(play(one, game)) == "storage"
    with one.database.writing() as connection:
        connection.execute(update(servers).values(alive=one.now() - 30_000))
    await until(lambda: not one.desk.paused and not two.desk.paused)
    kinds = [event.kind for event in one.desk.games.load(game)[0]]
    assert kinds == ["created", "moved", "moved", "resumed"]
    assert (await play(two, game)).number == 5


async def test_servers_that_start_together_have_one_key(postgres_url: str) -> None:
    async def start() -> str:
        database = Database(postgres_url)
        await asyncio.to_thread(database.open)
        writer = Writer(database)
        async with database.starting_alone():
            secrets = await ServerMemory(database, writer).secrets()
        writer.close()
        database.close()
        return secrets.pseudonym("somebody")

    assert len(set(await asyncio.gather(*(start() for _ in range(4))))) == 1


# --- The computer's moves -------------------------------------------------------------------


async def wait_for_computer(server: Server) -> str:
    game = await new(server, seats=AGAINST_COMPUTER)
    await play(server, game)
    return game


async def test_a_game_that_waits_for_the_computer_is_leased_by_one_server(
    one: Server, two: Server
) -> None:
    game = await wait_for_computer(one)
    taken = await asyncio.gather(one.leases.take(1, []), two.leases.take(1, []))
    assert sorted(map(len, taken)) == [0, 1]
    assert game in one.leases.held | two.leases.held


async def test_a_lease_that_is_not_renewed_is_taken_by_another(one: Server, two: Server) -> None:
    moment = one.now()
    first, second = (
        Leases(server.desk.writer, server.members.id, lambda: moment) for server in (one, two)
    )
    game = await wait_for_computer(one)
    assert await first.take(1, []) == [(game, "")]
    moment += LEASE - 1
    assert await second.take(1, []) == []
    await first.take(0, [game])
    moment += LEASE - 1
    assert await second.take(1, []) == []
    moment += 2
    assert await second.take(1, []) == [(game, "")]
    await first.take(0, [game])
    assert not first.held


async def test_a_game_that_is_held_and_not_thought_about_is_soon_free(
    one: Server, two: Server
) -> None:
    """A thought may be lost on the way, for instance while the database was away."""
    moment = one.now()
    first, second = (
        Leases(server.desk.writer, server.members.id, lambda: moment) for server in (one, two)
    )
    game = await wait_for_computer(one)
    await first.take(1, [])
    moment += LEASE - 1
    await first.take(1, [])
    moment += 2
    assert await second.take(1, []) == [(game, "")]


async def test_a_thought_is_dropped_only_if_it_is_not_newer_than_what_we_know(one: Server) -> None:
    game = await wait_for_computer(one)
    await one.leases.take(1, [])
    await one.leases.drop(game, 1)
    await one.leases.give_back(game)
    assert await one.leases.take(1, []) == [(game, "")]
    await one.leases.drop(game, 2)
    assert await one.leases.take(1, []) == []


async def test_what_was_spent_before_a_server_came_is_not_charged_there(
    one: Server, two: Server, postgres_url: str
) -> None:
    await until(lambda: one.budgets.servers == two.budgets.servers == 2)
    one.budgets.spend("eve", "kilobytes", 1_000)
    await until(lambda: two.budgets.delay("eve", "kilobytes", 900) > 0)
    async with serving(postgres_url) as three:
        await asyncio.sleep(2.5)
        assert three.budgets.delay("eve", "kilobytes", 900) == 0


async def test_a_server_that_leaves_hands_its_leases_back(one: Server, two: Server) -> None:
    game = await wait_for_computer(one)
    await one.leases.take(1, [])
    await one.members.leave()
    assert await two.leases.take(1, []) == [(game, "")]
    await two.leases.give_back(game)
    assert await one.leases.take(1, []) == [(game, "")]


async def test_a_game_that_could_not_be_thought_about_waits_a_little(one: Server) -> None:
    game = await wait_for_computer(one)
    await one.leases.take(1, [])
    await one.leases.give_back(game, after=60_000)
    assert await one.leases.take(1, []) == []


async def test_clients_take_turns(one: Server) -> None:
    waiting = [await wait_for_computer(one) for _ in range(3)]
    with one.database.writing() as connection:
        for since, (game, client) in enumerate(zip(waiting, "aab", strict=True)):
            known = update(thoughts).where(thoughts.c.game == game)
            connection.execute(known.values(client=client, since=since))
    assert [(await one.leases.take(1, []))[0][0] for _ in waiting] == [
        waiting[n] for n in (0, 2, 1)
    ]


async def test_the_answer_ends_the_lease_and_a_game_that_moves_on_too(one: Server) -> None:
    game = await wait_for_computer(one)
    await one.leases.take(1, [])
    await play(one, game)
    await one.leases.take(1, [])
    assert not one.leases.held


async def test_a_game_from_elsewhere_is_thought_about_when_somebody_looks(one: Server) -> None:
    game = await wait_for_computer(one)
    with one.database.writing() as connection:
        connection.execute(thoughts.delete())
    one.leases.ensure(game, 2)
    one.leases.ensure("none", 2)
    assert await one.leases.take(5, []) == [(game, "")]


async def test_a_hint_of_a_thought_wakes_the_thinkers_of_another_server(
    one: Server, two: Server
) -> None:
    woken: list[float] = []
    two.following.wants_thought = lambda: woken.append(time.monotonic())
    await asyncio.sleep(0.2)
    woken.clear()
    await wait_for_computer(one)
    await until(lambda: bool(woken))


# --- Budgets --------------------------------------------------------------------------------


async def test_what_a_client_spends_through_two_servers_is_at_most_twice_its_budget(
    one: Server, two: Server
) -> None:
    await until(lambda: one.budgets.servers == two.budgets.servers == 2)
    spent = 0
    started = time.monotonic()
    while time.monotonic() - started < 4:
        for server in (one, two):
            with contextlib.suppress(ApiError):
                server.budgets.spend("eve", "games")
                spent += 1
        await asyncio.sleep(0.001)
    budget = BUDGETS["games"]
    assert budget.burst < spent <= 2 * budget.burst
    with pytest.raises(ApiError):
        one.budgets.spend("eve", "games")
    one.budgets.spend("ann", "games")


async def test_what_was_spent_at_one_server_is_charged_once_at_the_other(
    one: Server, two: Server
) -> None:
    await until(lambda: one.budgets.servers == two.budgets.servers == 2)
    one.budgets.spend("eve", "kilobytes", 1_000)
    await until(lambda: two.budgets.delay("eve", "kilobytes", 900) > 0)
    left = two.budgets._left_of("eve", "kilobytes")
    await asyncio.sleep(2.5)
    assert two.budgets._left_of("eve", "kilobytes") >= left


async def test_the_computer_answers_through_whichever_server_has_a_free_worker(
    one: Server, two: Server
) -> None:
    game = await wait_for_computer(one)
    async with Thinkers(two.desk, 1, leases=two.leases) as thinkers:
        two.following.wants_thought = thinkers.look_for_work
        table, _ = await watch(one, game)
        await until(lambda: len(table.room.moves) == 2)
        # The answer has ended the lease, and the next question makes another one.
        await play(one, game)
        await until(lambda: len(table.room.moves) == 4)
        await until(lambda: not two.leases.held)


async def test_what_is_known_of_who_was_where_is_forgotten_but_not_who_is_there(
    one: Server,
) -> None:
    empty, attended = await new(one), await new(one)
    for game, sides in ((empty, []), (attended, [BLACK])):
        table, watcher = await watch(one, game, sides, ANN)
        if not sides:
            one.desk.leave(table, watcher)
    await one.following.attendance.tell()
    with one.database.writing() as connection:
        forget_old(connection, one.now() + 1_000)
        assert connection.execute(select(presence.c.game)).scalars().all() == [attended]


# --- What the database is asked ---------------------------------------------------------------


async def test_a_move_waits_for_the_database_twice(postgres_url: str) -> None:
    """Once to lock the game, and once for everything that is written, the commit included."""
    with wired(postgres_url) as (url, wire):
        async with serving(url) as server:
            game = await new(server)
            await watch(server, game)
            await play(server, game)
            before, moves, started = wire.round_trips, 12, time.monotonic()
            for _ in range(moves):
                await play(server, game)
            # Besides, a server notes once a second that it is alive, and looks at what is watched.
            others = 4 * (2 + time.monotonic() - started)
            assert wire.round_trips - before <= 2 * moves + others


async def test_a_move_does_not_wait_for_a_heartbeat(one: Server) -> None:
    game = await new(one)
    await watch(one, game)
    hold = threading.Event()
    holding = asyncio.create_task(one.members._writer.write(lambda _: hold.wait(PATIENCE)))
    await asyncio.sleep(0.05)
    await asyncio.wait_for(play(one, game), PATIENCE / 2)
    assert not holding.done()
    hold.set()
    await holding


async def test_an_idle_server_asks_the_database_twice_a_second_at_most(
    postgres_url: str,
) -> None:
    async with serving(postgres_url) as server:
        asked: list[str] = []
        for engine in (server.database.engine, server.database._notes):
            event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
        await asyncio.sleep(0.5)
        asked.clear()
        await asyncio.sleep(3)
        assert 2 <= len(asked) <= 6, asked


# --- What a page has seen elsewhere -----------------------------------------------------------


async def test_a_server_shows_no_less_than_a_page_has_seen_elsewhere(
    one: Server, postgres_url: str
) -> None:
    game = await new(one)
    async with serving(postgres_url, deaf=True, blind=True) as deaf:
        # Somebody watches there, so that the game is not read again for everybody who comes.
        await watch(deaf, game)
        for _ in range(5):
            seen = (await play(one, game)).number
            table = await deaf.desk.table(game, seen)
            assert table.room.number >= seen


async def test_a_move_that_follows_what_was_seen_elsewhere_is_not_refused(
    one: Server, postgres_url: str
) -> None:
    game = await new(one)
    async with serving(postgres_url, deaf=True, blind=True) as deaf:
        await watch(deaf, game)
        for server in (one, deaf, one, deaf):
            room = (await one.desk.newest(game)).room
            turn = room.position.turn
            cell = format_cell(rules.legal_cells(room.position)[0])
            command = Command("move", frozenset({turn}), {"cell": cell}, after=room.number)
            after, _ = await server.desk.submit(game, command)
            assert after.number > room.number
