"""The computer's seat: engine work in processes of its own, bounded, and dropped when it is moot.

Processes rather than threads, and of low priority: however hard the engine thinks, the event
loop and the disk keep their core. A process that dies or takes too long is replaced. Clients take
turns, and the seconds that are thought for a client come from its budget.
"""

import asyncio
import contextlib
import logging
import time
import zlib
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.notation import format_cell, format_position
from kamon.web.cluster.leases import LOOK_EVERY, RETRY, Leases
from kamon.web.engine import playing
from kamon.web.engine.fairness import Average, FairQueue, share_of
from kamon.web.engine.workers import Threads, Worker
from kamon.web.errors import ApiError
from kamon.web.games.desk import Desk
from kamon.web.games.rooms import Command, Event, Room
from kamon.web.health import Health
from kamon.web.limits import Budgets
from kamon.web.metrics import Metrics, timed

# Long enough for a thought on a slow machine, and for compiling the engine there.
TIME_LIMIT: Final = 90.0
COMPILE_LIMIT: Final = 300.0
# Where a thought fails, or its move cannot be written, it is tried so often again.
TRIES: Final = 6
FIRST_PAUSE: Final = 1.0
QUEUE_LIMIT: Final = 1_000
CLIENTS_REMEMBERED: Final = 10_000
# How many seconds a thought takes, by level, before any has been measured.
_FIRST_ESTIMATE: Final = 0.1
_FIRST_ESTIMATES: Final = {STRONGEST: playing.ORACLE_SECONDS}

_log = logging.getLogger(__name__)


Question = tuple[str, int, int]


class _Thinker(Worker):
    """A process that plays."""

    def __init__(self) -> None:
        super().__init__(playing.work)
        self._asked: Question | None = None

    def ask(self, question: Question) -> int:
        """Ask, and wait."""
        with self._sending:
            self._asked = question
            self.send(question)
        return int(self.receive(TIME_LIMIT))

    def cancel(self, question: Question) -> None:
        """End the thought about a question, unless it has been asked another one since."""
        with self._sending:
            if self._asked is question:
                self.rest()

    def rest(self) -> None:
        """Let it think about nothing while others have a question."""
        if self.process is not None:
            with contextlib.suppress(OSError, EOFError):
                self.send(None)


@dataclass(slots=True, eq=False)
class _Job:
    """A room in which the computer is to move, and for whom it thinks there.

    ``charged`` is how many seconds of the client's budget have been taken for it.
    """

    room: Room
    client: str
    charged: float
    worker: _Thinker | None = None
    question: Question | None = None
    moot: bool = False

    @property
    def level(self) -> int:
        return self.room.seat(self.room.position.turn).level


class Thinkers:
    """A few workers and a queue of rooms in which the computer is to move.

    ``compiling`` is true while the engine is compiled, once on a machine. Levels that need no
    engine play meanwhile, and the others wait. ``moment`` is how many seconds pass at least between
    a position and the computer's answer.
    """

    def __init__(  # noqa: PLR0913 - the parts of a server that it works with
        self,
        desk: Desk,
        workers: int,
        health: Health | None = None,
        metrics: Metrics | None = None,
        budgets: Budgets | None = None,
        *,
        moment: float = 0.0,
        leases: Leases | None = None,
    ) -> None:
        self.desk = desk
        # Where servers share their games, they also share the work.
        self.leases = leases
        self._may_lease = asyncio.Event()
        self.moment = moment
        self.busy = 0
        self.compiling = True
        self._health = health or Health()
        self._metrics = metrics or Metrics()
        self._budgets = budgets or Budgets()
        self._compiler = Worker(playing.compile_engine)
        # One for the answer of each worker, one for the compiler, and two to end thoughts.
        self._threads = Threads(workers + 3, "thinkers")
        self._workers = [_Thinker() for _ in range(workers)]
        self._idle = list(self._workers)
        self._has_idle = asyncio.Event()
        self._has_idle.set()
        self._queue: FairQueue[_Job] = FairQueue(QUEUE_LIMIT, share_of(workers))
        # The newest thought about each game that is under way.
        self._under_way: dict[str, _Job] = {}
        self._lengths = {
            strength.level: Average(_FIRST_ESTIMATES.get(strength.level, _FIRST_ESTIMATE))
            for strength in STRENGTHS
        }
        # Who asked last for something in a game: everybody's games take turns.
        self._asked_by: OrderedDict[str, str] = OrderedDict()
        self._waiting_for_engine: list[Room] = []
        # Which worker has thought about a game before.
        self._known_by: OrderedDict[str, _Thinker] = OrderedDict()
        self._wanted: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        self.desk.listeners.append(self._listen)
        works = [self._compile(), self._dispatch()]
        # What was to be thought about when a server stopped is in the database.
        works.append(self._take_up() if self.leases is None else self._lease(self.leases))
        for work in works:
            self._health.watch("thinkers", self._begin(work))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        for worker in (*self._workers, self._compiler):
            worker.close()
        self._threads.close()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _compile(self) -> None:
        """See to it that the engine is compiled, and let those go on who wait for it."""

        def compile_and_wait() -> None:
            self._compiler.send(None)
            self._compiler.receive(COMPILE_LIMIT)
            self._compiler.stop()

        try:
            await self._threads.run(compile_and_wait)
        except (EOFError, OSError):
            # Then the first thought compiles what is missing.
            _log.warning("the engine could not be compiled ahead")
        self.compiling = False
        waiting, self._waiting_for_engine = self._waiting_for_engine, []
        for room in waiting:
            self._wanted.pop(room.id, None)
            self.consider(room)

    async def _listen(self, room: Room, _: Sequence[Event]) -> None:
        if self.leases is None or not room.computer_to_move():
            self.consider(room)
        else:
            # It has been written down with the move, for whoever has a free worker.
            self.look_for_work()

    async def _take_up(self) -> None:
        """Go on with the games in which the computer was to move when the server stopped."""
        for game in await asyncio.to_thread(self.desk.games.waiting_for_computer):
            try:
                self.consider((await self.desk.table(game)).room)
            except Exception:  # noqa: BLE001 - the others must go on
                _log.exception("game %s cannot be taken up", game)

    # --- Work that servers share ---

    def look_for_work(self) -> None:
        """Look soon for games that wait for the computer."""
        self._may_lease.set()

    async def _lease(self, leases: Leases) -> None:
        """Take games to think about whenever a worker is free."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._may_lease.wait()
            if not self._may_lease.is_set() and leases.idle:
                continue
            self._may_lease.clear()
            free = 0 if self.compiling else len(self._idle) - len(self._queue)
            try:
                for game, client in await leases.take(free, self._wanted):
                    self.asked_by(game, client)
                    await self._begin_leased(leases, game)
            except ApiError:
                _log.debug("no work can be taken while the database is away")
            except Exception:  # noqa: BLE001 - what was not begun is free when its lease ends
                _log.exception("a game cannot be thought about")

    async def _begin_leased(self, leases: Leases, game: str) -> None:
        try:
            room = (await self.desk.newest(game)).room
        except ApiError:
            await leases.give_back(game, after=RETRY)
            return
        if not room.computer_to_move():
            await leases.drop(game, room.number)
        self.consider(room)

    @property
    def waiting(self) -> int:
        """How many games wait for a thought."""
        return len(self._queue) + len(self._waiting_for_engine)

    def asked_by(self, game: str, client: str) -> None:
        """Note for whom the computer will think in a game."""
        self._asked_by[game] = client
        self._asked_by.move_to_end(game)
        while len(self._asked_by) > CLIENTS_REMEMBERED:
            self._asked_by.popitem(last=False)

    def require_time(self, client: str, level: int) -> None:
        """Raise an ``ApiError`` unless a client's budget has the seconds for a thought."""
        self._budgets.require(client, "thinking", self._lengths[level].seconds)

    def consider(self, room: Room) -> None:
        """Think about a room if it is the computer's turn; one thought a room at a time."""
        self._cancel_moot(room)
        if not room.computer_to_move():
            self._wanted.pop(room.id, None)
            self._failures.pop(room.id, None)
            return
        if self._wanted.get(room.id) == room.board_number:
            return
        if self.leases is not None and room.id not in self.leases.held:
            self.leases.ensure(room.id, room.board_number)
            self.look_for_work()
            return
        self._wanted[room.id] = room.board_number
        if self.compiling and _needs_engine(room):
            self._waiting_for_engine.append(room)
            return
        try:
            self._put(room)
        except asyncio.QueueFull:
            # Whoever looks at the game next asks again, or another server has time for it.
            del self._wanted[room.id]
            if self.leases is not None:
                self._begin(self.leases.give_back(room.id, after=RETRY))

    def _put(self, room: Room) -> None:
        """Queue a room, and take the seconds from the client's budget that it may need."""
        client, level = self._asked_by.get(room.id, ""), room.seat(room.position.turn).level
        job = _Job(room, client, self._lengths[level].seconds)
        self._queue.put(client, job)
        self._budgets.charge(client, "thinking", job.charged)

    def _cancel_moot(self, room: Room) -> None:
        """End a thought about a board that no longer stands."""
        job = self._under_way.get(room.id)
        if job is None or job.moot:
            return
        job.moot = not room.computer_to_move() or room.board_number != job.room.board_number
        if job.moot and job.worker is not None and job.question is not None:
            self._threads.begin(job.worker.cancel, job.question)

    async def _dispatch(self) -> None:
        """Give one room after another to a worker that has nothing to do."""
        while True:
            job = await self._queue.get()
            await self._has_idle.wait()
            # The game may have ended or gone back while it stood in the queue.
            if self._wanted.get(job.room.id) == job.room.board_number:
                self._begin(self._serve(self._take_worker(job.room.id), job))
            else:
                self._settle(job, 0.0)

    def _settle(self, job: _Job, used: float) -> None:
        """Let the client's next game have its turn, and charge what was really used."""
        self._queue.done(job.client)
        self._budgets.charge(job.client, "thinking", used - job.charged)

    def _take_worker(self, game: str) -> _Thinker:
        """Take an idle worker: the one that knows the game, if it is among them."""
        known = self._known_by.pop(game, None)
        running = (worker for worker in self._idle if worker.process is not None)
        worker = known if known in self._idle else next(running, self._idle[0])
        assert worker is not None  # noqa: S101 - one of the idle ones
        self._idle.remove(worker)
        if not self._idle:
            self._has_idle.clear()
        self._known_by[game] = worker
        while len(self._known_by) > QUEUE_LIMIT:
            self._known_by.popitem(last=False)
        return worker

    async def _serve(self, worker: _Thinker, job: _Job) -> None:
        room = job.room
        try:
            cell = await self._think(worker, job)
            if job.moot:
                return
            # No worker waits meanwhile.
            await asyncio.sleep(self.moment - (self.desk.now() - room.updated) / 1000)
            await self._play(room, cell)
            self._failures.pop(room.id, None)
        except (EOFError, OSError):
            _log.warning("a thinker has died over game %s, and is replaced", room.id)
            self._try_again(room.id)
        except ApiError:
            # It could not be written.
            self._try_again(room.id)
        finally:
            if self._wanted.get(room.id) == room.board_number:
                del self._wanted[room.id]
            if self.leases is not None:
                self.look_for_work()

    async def _think(self, worker: _Thinker, job: _Job) -> int:
        """Let a worker choose a move, and take the worker back."""
        self.busy += 1
        room, level = job.room, job.level
        self._under_way[room.id] = job
        started = time.monotonic()
        try:
            # A copy: workers come and go while each of them is waited for.
            for other in list(self._idle):
                await self._threads.run(other.rest)
            seed = zlib.crc32(f"{room.id}/{room.board_number}".encode())
            job.worker, job.question = worker, (format_position(room.position), level, seed)
            started = time.monotonic()
            with timed(self._metrics.thought_seconds.labels(str(level))):
                return await self._threads.run(worker.ask, job.question)
        finally:
            used = time.monotonic() - started
            self._lengths[level].note(used)
            self._settle(job, used)
            if self._under_way.get(room.id) is job:
                del self._under_way[room.id]
            self.busy -= 1
            self._idle.append(worker)
            self._has_idle.set()

    async def _play(self, room: Room, cell: int) -> None:
        turn = room.position.turn
        move = Command(
            "move",
            frozenset({turn}),
            {"cell": format_cell(cell)},
            after=room.board_number,
            # No client can use this id: a colon is not allowed in theirs.
            id=f"computer:{room.board_number}",
        )
        try:
            await self.desk.submit(room.id, move)
        except ApiError as error:
            if error.code == "storage":
                raise
            # It comes too late, after a take-back or a resignation.
            _log.debug("a move for game %s came too late", room.id)

    def _try_again(self, game: str) -> None:
        """Think about a game once more, a little later each time."""
        failures = self._failures[game] = self._failures.get(game, 0) + 1
        if failures > TRIES:
            # Whoever looks at the game next asks again, or another server does better.
            del self._failures[game]
            if self.leases is not None:
                self._begin(self.leases.give_back(game, after=RETRY))
            return

        async def reconsider() -> None:
            await asyncio.sleep(FIRST_PAUSE * 2 ** (failures - 1))
            with contextlib.suppress(ApiError):
                self.consider((await self.desk.table(game)).room)

        self._begin(reconsider())


def _needs_engine(room: Room) -> bool:
    return room.turn is not None and STRENGTHS[room.seat(room.turn).level - 1].needs_kernel
