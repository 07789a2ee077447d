"""The computer's seat: an answer for every board that still stands, and for no other."""

import asyncio
import multiprocessing
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from kamon import Layout, rules
from kamon.engine.strengths import STRONGEST
from kamon.notation import format_cell, format_position, parse_position
from kamon.position import Position, Side
from kamon.web.database import Database
from kamon.web.engine import playing
from kamon.web.engine import thinkers as thinkers_module
from kamon.web.engine.thinkers import TRIES, Thinkers, _Thinker
from kamon.web.engine.workers import Worker
from kamon.web.errors import ApiError, storage_failed
from kamon.web.games.clocks import Control
from kamon.web.games.desk import Desk
from kamon.web.games.rooms import Command, Seat, set_up
from kamon.web.games.store import Games
from kamon.web.games.tables import Table
from kamon.web.limits import BUDGETS, Budgets
from kamon.web.server_time import ServerTime
from kamon.web.writer import Writer
from web_server import PATIENCE

BLACK, WHITE = Side.BLACK, Side.WHITE
ME = frozenset({BLACK})
SEATS = {BLACK: Seat("person"), WHITE: Seat("computer", "", 1)}

pytestmark = pytest.mark.anyio


class Brain:
    """Stands for a worker's process: plays the first legal cell, when it is allowed to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.free = threading.Event()
        self.free.set()
        self.failures: list[Exception] = []

    def ask(self, question: tuple[str, int, int]) -> int:
        self.asked.append(question[0])
        assert self.free.wait(PATIENCE)
        if self.failures:
            raise self.failures.pop(0)
        return rules.legal_cells(parse_position(question[0]))[0]


@pytest.fixture
def brain(monkeypatch: pytest.MonkeyPatch) -> Iterator[Brain]:
    made = Brain()
    monkeypatch.setattr(_Thinker, "ask", lambda _, question: made.ask(question))
    yield made
    made.free.set()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    writer = Writer(database)
    async with Desk(Games(database), writer, ServerTime()).running() as running:
        yield running
    writer.close()
    database.close()


async def new(desk: Desk, mine: Side = BLACK) -> Table:
    seats = {mine: SEATS[BLACK], mine.other: SEATS[WHITE]}
    first = set_up(Layout.shuffled(1), Control(), seats, desk.now())
    return await desk.table((await desk.create(first, [(mine, "a" * 64)])).id)


async def move(desk: Desk, table: Table) -> None:
    cell = format_cell(rules.legal_cells(table.room.position)[0])
    await desk.submit(table.room.id, Command("move", ME, {"cell": cell}))


async def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < limit
        await asyncio.sleep(0.005)


async def settled(thinkers: Thinkers) -> None:
    await until(lambda: not thinkers.busy and not len(thinkers._queue) and not thinkers._wanted)


async def test_the_computer_answers_a_move_and_begins_as_black(desk: Desk, brain: Brain) -> None:
    async with Thinkers(desk, 1) as thinkers:
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)
        other = await new(desk, WHITE)
        await until(lambda: len(other.room.moves) == 1)
        await settled(thinkers)
    assert len(brain.asked) == 2


async def test_one_board_is_thought_about_once_however_many_look(desk: Desk, brain: Brain) -> None:
    brain.free.clear()
    async with Thinkers(desk, 2) as thinkers:
        table = await new(desk)
        await move(desk, table)
        for _ in range(5):
            thinkers.consider(table.room)
        brain.free.set()
        await until(lambda: len(table.room.moves) == 2)
        await settled(thinkers)
    assert len(brain.asked) == 1


async def test_a_thought_about_a_board_that_was_taken_back_is_dropped(
    desk: Desk, brain: Brain
) -> None:
    brain.free.clear()
    async with Thinkers(desk, 1) as thinkers:
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(brain.asked) == 1)
        await desk.submit(table.room.id, Command("offer", ME, {"what": "takeback"}))
        brain.free.set()
        await settled(thinkers)
        assert table.room.moves == ()
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)


async def test_a_thought_that_became_moot_is_cancelled_at_once(
    desk: Desk, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []

    def cancel(_: _Thinker, question: tuple[str, int, int]) -> None:
        cancelled.append(question[0])
        brain.free.set()

    monkeypatch.setattr(_Thinker, "cancel", cancel)
    brain.free.clear()
    async with Thinkers(desk, 1) as thinkers:
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(brain.asked) == 1)
        # Somebody who looks at the game changes nothing.
        thinkers.consider(table.room)
        assert cancelled == []
        await desk.submit(table.room.id, Command("resign", ME))
        await settled(thinkers)
    assert cancelled == brain.asked
    assert len(table.room.moves) == 1


def test_a_word_from_outside_ends_a_long_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "ORACLE_SECONDS", 10 * PATIENCE)
    monkeypatch.setattr(playing, "AHEAD_SECONDS", 0.01)
    monkeypatch.setattr(playing, "lower_priority", lambda: None)
    ours, theirs = multiprocessing.Pipe()
    worker = threading.Thread(target=playing.work, args=(theirs,))
    worker.start()
    position = Position(Layout.shuffled(1))
    ours.send((format_position(position), STRONGEST, 1))
    # It has begun, and does not end by itself.
    assert not ours.poll(0.5)
    ours.send(None)
    assert ours.poll(PATIENCE)
    assert ours.recv() in rules.legal_cells(position)
    ours.close()
    worker.join(PATIENCE)
    assert not worker.is_alive()


def test_a_cancelled_question_is_not_taken_for_a_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    thinker = _Thinker()
    said: list[object] = []
    monkeypatch.setattr(thinker, "send", said.append)
    monkeypatch.setattr(thinker, "rest", lambda: said.append(None))
    monkeypatch.setattr(thinker, "receive", lambda _: 7)
    first, second = ("position", 12, 1), ("position", 12, 2)
    assert thinker.ask(first) == 7
    thinker.cancel(first)
    thinker.ask(second)
    thinker.cancel(first)
    assert said == [first, None, second]


async def test_seconds_are_charged_to_whoever_asked(desk: Desk, brain: Brain) -> None:
    budgets, burst = Budgets(lambda: 0.0), BUDGETS["thinking"].burst
    brain.free.clear()
    async with Thinkers(desk, 1, budgets=budgets) as thinkers:
        table = await new(desk)
        thinkers.asked_by(table.room.id, "ann")
        await move(desk, table)
        await until(lambda: len(brain.asked) == 1)
        # An estimate is charged before.
        with pytest.raises(ApiError):
            budgets.require("ann", "thinking", burst)
        await asyncio.sleep(0.3)
        brain.free.set()
        await settled(thinkers)
        budgets.require("ann", "thinking", burst - PATIENCE)
        with pytest.raises(ApiError):
            budgets.require("ann", "thinking", burst - 0.3)
        budgets.require("", "thinking", burst)
        budgets.charge("ann", "thinking", burst)
        with pytest.raises(ApiError) as refused:
            thinkers.require_time("ann", 1)
        assert refused.value.code == "too-many"
        thinkers.require_time("bob", STRONGEST)


async def test_a_thought_that_never_begins_costs_nothing(desk: Desk, brain: Brain) -> None:
    budgets, burst = Budgets(lambda: 0.0), BUDGETS["thinking"].burst
    brain.free.clear()
    async with Thinkers(desk, 1, budgets=budgets) as thinkers:
        first, second = await new(desk), await new(desk)
        await move(desk, first)
        await until(lambda: len(brain.asked) == 1)
        thinkers.asked_by(second.room.id, "ann")
        await move(desk, second)
        with pytest.raises(ApiError):
            budgets.require("ann", "thinking", burst)
        await desk.submit(second.room.id, Command("resign", ME))
        brain.free.set()
        await settled(thinkers)
    budgets.require("ann", "thinking", burst)


async def test_one_address_leaves_a_worker_for_others(desk: Desk, brain: Brain) -> None:
    brain.free.clear()
    async with Thinkers(desk, 2) as thinkers:
        mine, other, hers = [await new(desk) for _ in range(3)]
        for table, client in ((mine, "eve"), (other, "eve"), (hers, "ann")):
            thinkers.asked_by(table.room.id, client)
            await move(desk, table)
        await until(lambda: thinkers.busy == 2)
        assert set(thinkers._under_way) == {mine.room.id, hers.room.id}
        brain.free.set()
        await settled(thinkers)
        assert [len(table.room.moves) for table in (mine, other, hers)] == [2, 2, 2]


async def test_an_answer_takes_a_moment_in_which_the_worker_serves_others(
    desk: Desk, brain: Brain
) -> None:
    async with Thinkers(desk, 1, moment=0.3) as thinkers:
        tables = [await new(desk), await new(desk)]
        begun = time.monotonic()
        for table in tables:
            await move(desk, table)
        await until(lambda: len(brain.asked) == 2 and not thinkers.busy)
        assert [len(table.room.moves) for table in tables] == [1, 1]
        await until(lambda: all(len(table.room.moves) == 2 for table in tables))
        assert 0.3 <= time.monotonic() - begun < 0.6
        await settled(thinkers)


async def test_nobody_thinks_about_a_game_that_ended_in_the_queue(desk: Desk, brain: Brain) -> None:
    brain.free.clear()
    async with Thinkers(desk, 1) as thinkers:
        first, second = await new(desk), await new(desk)
        await move(desk, first)
        await until(lambda: len(brain.asked) == 1)
        await move(desk, second)
        await desk.submit(second.room.id, Command("resign", ME))
        brain.free.set()
        await settled(thinkers)
    assert len(brain.asked) == 1
    assert len(second.room.moves) == 1


@pytest.mark.parametrize("failure", [EOFError(), BrokenPipeError(), TimeoutError()])
async def test_after_a_worker_has_failed_the_game_goes_on_by_itself(
    desk: Desk, brain: Brain, failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinkers_module, "FIRST_PAUSE", 0.01)
    brain.failures = [failure, failure]
    async with Thinkers(desk, 1):
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)
    assert len(brain.asked) == 3


async def test_a_move_that_cannot_be_written_is_played_later(
    desk: Desk, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinkers_module, "FIRST_PAUSE", 0.01)
    failures = [storage_failed()]
    submit = desk.submit

    async def fails_first(game: str, command: Command) -> object:
        if command.id is not None and command.id.startswith("computer") and failures:
            raise failures.pop()
        return await submit(game, command)

    async with Thinkers(desk, 1):
        table = await new(desk)
        monkeypatch.setattr(desk, "submit", fails_first)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)
    assert not failures
    assert len(brain.asked) == 2


async def test_a_worker_that_always_fails_is_given_up_until_somebody_looks(
    desk: Desk, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinkers_module, "FIRST_PAUSE", 0.0)
    brain.failures = [EOFError()] * (TRIES + 1)
    async with Thinkers(desk, 1) as thinkers:
        table = await new(desk)
        await move(desk, table)
        await until(lambda: not brain.failures)
        await settled(thinkers)
        assert len(table.room.moves) == 1
        thinkers.consider(table.room)
        await until(lambda: len(table.room.moves) == 2)


async def test_a_move_that_was_not_answered_is_answered_in_the_next_life(
    desk: Desk, brain: Brain
) -> None:
    async with Thinkers(desk, 1):
        table = await new(desk)
    await move(desk, table)
    assert not brain.asked
    # In the next life of the server whoever looks reminds it.
    async with Thinkers(desk, 1) as thinkers:
        thinkers.consider(table.room)
        await until(lambda: len(table.room.moves) == 2)


async def test_easy_levels_play_while_the_engine_is_compiled_and_the_others_wait(
    desk: Desk, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = threading.Event()
    monkeypatch.setattr(Worker, "send", lambda *_: None)
    monkeypatch.setattr(Worker, "receive", lambda *_: compiled.wait(PATIENCE))
    async with Thinkers(desk, 1) as thinkers:
        strong = {BLACK: Seat("person"), WHITE: Seat("computer", "", 9)}
        first = set_up(Layout.shuffled(1), Control(), strong, desk.now())
        hard = await desk.table((await desk.create(first, [(BLACK, "a" * 64)])).id)
        easy = await new(desk)
        await move(desk, hard)
        await move(desk, easy)
        await until(lambda: len(easy.room.moves) == 2)
        assert thinkers.compiling
        assert len(hard.room.moves) == 1
        compiled.set()
        await until(lambda: len(hard.room.moves) == 2)
        assert not thinkers.compiling
    assert len(brain.asked) == 2


async def test_where_the_engine_cannot_be_compiled_the_game_goes_on(
    desk: Desk, brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise EOFError

    monkeypatch.setattr(Worker, "send", fail)
    async with Thinkers(desk, 1) as thinkers:
        await until(lambda: not thinkers.compiling)
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)
    assert brain.asked


async def test_a_game_stays_with_the_worker_that_knows_it(desk: Desk, brain: Brain) -> None:
    async with Thinkers(desk, 3) as thinkers:
        tables = [await new(desk) for _ in range(3)]
        for table in tables:
            await move(desk, table)
            await until(lambda table=table: len(table.room.moves) == 2)  # type: ignore[misc]
        known = dict(thinkers._known_by)
        for table in reversed(tables):
            await move(desk, table)
            await until(lambda table=table: len(table.room.moves) == 4)  # type: ignore[misc]
        assert dict(thinkers._known_by) == known
    assert len(brain.asked) == 6


def test_a_player_remembers_a_few_games_and_thinks_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "ORACLE_SECONDS", 0.1)
    monkeypatch.setattr(playing, "AHEAD_SECONDS", 30.0)
    player = playing._Player()
    for seed in range(3):
        position = Position(Layout.shuffled(seed))
        cell = player.choose(position, STRONGEST, seed, lambda: False)
        assert cell in rules.legal_cells(position)
        started = time.monotonic()
        disturbed = started + 0.2
        player.think_ahead(
            position.after(cell),
            STRONGEST,
            lambda end=disturbed: time.monotonic() > end,  # type: ignore[misc]
        )
        assert time.monotonic() - started < 5
    assert len(player._oracles) == playing.GAMES_REMEMBERED
    # Nobody thinks ahead for an easy level, nor about what is not known.
    player.think_ahead(Position(Layout.shuffled(9)), STRONGEST, lambda: False)
    player.think_ahead(position.after(cell), 1, lambda: False)


async def test_a_real_worker_answers_and_one_that_was_killed_is_replaced(desk: Desk) -> None:
    async with Thinkers(desk, 1) as thinkers:
        table = await new(desk)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 2)
        worker = thinkers._workers[0].process
        assert worker is not None
        worker.kill()
        await asyncio.to_thread(worker.join)
        await move(desk, table)
        await until(lambda: len(table.room.moves) == 4)
    assert thinkers._workers[0].process is None
