"""The computer's seat: engine work in processes of its own, bounded, and dropped when it is moot.

Processes rather than threads, and less favoured ones: however hard the engine thinks, the event
loop and the disk keep their core. A process that dies or takes too long is replaced.
"""

import asyncio
import contextlib
import logging
import zlib
from collections.abc import Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Final, Self

from kamon.errors import EngineMissingError
from kamon.notation import format_cell, format_position, parse_position
from kamon.web.bus import Bus, StorageError
from kamon.web.rooms import Command, Event, Room, RoomError
from kamon.web.workers import Worker, be_modest

# Long enough for a first thought on a slow machine, before which the engine is compiled.
TIME_LIMIT: Final = 90.0
# Where a thought fails, or its move cannot be written, it is tried so often again.
TRIES: Final = 6
FIRST_PAUSE: Final = 1.0
QUEUE_LIMIT: Final = 1_000

_log = logging.getLogger(__name__)


def _work(pipe: Connection) -> None:
    """Answer questions until the pipe closes: a position, a level and a seed in, a cell out."""
    be_modest()
    # Only the worker pays for the engine.
    from kamon.engine import levels  # noqa: PLC0415
    from kamon.engine.strengths import strongest_plain_level  # noqa: PLC0415

    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            text, level, seed = pipe.recv()
            position = parse_position(text)
            try:
                cell = levels.choose(position, level, seed=seed)
            except EngineMissingError:
                cell = levels.choose(position, strongest_plain_level(), seed=seed)
            pipe.send(cell)


class _Thinker(Worker):
    """A process that plays."""

    def __init__(self) -> None:
        super().__init__(_work)

    def ask(self, question: tuple[str, int, int]) -> int:
        """Ask, and wait."""
        self.send(question)
        return int(self.receive(TIME_LIMIT))


class Thinkers:
    """A few workers and a queue of rooms in which the computer is to move."""

    def __init__(self, bus: Bus, workers: int) -> None:
        self.bus = bus
        self.busy = 0
        self._workers = [_Thinker() for _ in range(workers)]
        self._queue: asyncio.Queue[Room] = asyncio.Queue(QUEUE_LIMIT)
        self._wanted: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._failures: dict[str, int] = {}
        self._retries: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self.bus.listeners.append(self._listen)
        self._tasks = [asyncio.create_task(self._serve(worker)) for worker in self._workers]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in (*self._tasks, *self._retries):
            task.cancel()
        for worker in self._workers:
            worker.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self, room: Room, _: Sequence[Event]) -> None:
        self.consider(room)

    def consider(self, room: Room) -> None:
        """Think about a room if it is the computer's turn; one thought a room at a time."""
        if not room.computer_to_move():
            self._wanted.pop(room.id, None)
            self._failures.pop(room.id, None)
            return
        if self._wanted.get(room.id) == room.board_number:
            return
        self._wanted[room.id] = room.board_number
        try:
            self._queue.put_nowait(room)
        except asyncio.QueueFull:
            # Whoever looks at the game next asks again.
            del self._wanted[room.id]

    async def _serve(self, worker: _Thinker) -> None:
        while True:
            room = await self._queue.get()
            # The game may have ended or gone back while it stood in the queue.
            if self._wanted.get(room.id) != room.board_number:
                continue
            self.busy += 1
            try:
                await self._think(worker, room)
                self._failures.pop(room.id, None)
            except (EOFError, OSError):
                _log.warning("a thinker has died over game %s, and is replaced", room.id)
                self._try_again(room.id)
            except StorageError:
                self._try_again(room.id)
            finally:
                self.busy -= 1
                if self._wanted.get(room.id) == room.board_number:
                    del self._wanted[room.id]

    async def _think(self, worker: _Thinker, room: Room) -> None:
        turn = room.turn
        if turn is None:
            return
        seed = zlib.crc32(f"{room.id}/{room.board_number}".encode())
        question = format_position(room.position), room.seat(turn).level, seed
        cell = await asyncio.to_thread(worker.ask, question)
        move = Command(
            "move",
            frozenset({turn}),
            {"cell": format_cell(cell)},
            after=room.board_number,
            # No client can use this id: a colon is not allowed in theirs.
            id=f"computer:{room.board_number}",
        )
        try:
            await self.bus.submit(room.id, move)
        except StorageError:
            raise
        except RoomError:
            # It comes too late, after a take-back or a resignation.
            _log.debug("a move for game %s came too late", room.id)

    def _try_again(self, game: str) -> None:
        """Think about a game once more, a little later each time."""
        failures = self._failures[game] = self._failures.get(game, 0) + 1
        if failures > TRIES:
            # Whoever looks at the game next asks again.
            del self._failures[game]
            return

        async def reconsider() -> None:
            await asyncio.sleep(FIRST_PAUSE * 2 ** (failures - 1))
            with contextlib.suppress(RoomError):
                self.consider((await self.bus.table(game)).room)

        task = asyncio.create_task(reconsider())
        self._retries.add(task)
        task.add_done_callback(self._retries.discard)
