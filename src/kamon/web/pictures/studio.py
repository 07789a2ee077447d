"""Pictures and films of any position line, for whoever asks; the question is all in the address.

Nothing is stored, and the same address always gives the same bytes. So whatever was drawn is kept,
here for a while and by whoever asked for a day. Pixels are drawn in processes of their own with a
low priority: people who play do not notice. There are two of them, of which one address keeps at
most one busy, and the seconds come from its budget.
"""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from kamon.web.engine.fairness import Average, Places, Turns
from kamon.web.engine.workers import Threads, Worker
from kamon.web.errors import ApiError, too_many
from kamon.web.limits import Budgets
from kamon.web.pictures import qr_codes, rasters
from kamon.web.pictures.rasters import Kind, Question

CACHE_LIMIT: Final = 64 * 1024 * 1024
WAITING_LIMIT: Final = 8
# So many pictures of one address wait or are drawn at a time.
PLACES_PER_CLIENT: Final = 3
TIME_LIMIT: Final = 20.0
PAINTERS: Final = 2
# How many seconds a drawing takes before any of its kind has been measured.
_FIRST_ESTIMATES: Final[dict[Kind, float]] = {
    "picture.png": 0.1,
    "card.png": 0.3,
    "film.gif": 2.0,
    "film.webp": 2.0,
}
_log = logging.getLogger(__name__)


# --- The process that draws -----------------------------------------------------------------


class _Painter(Worker):
    """A process that draws."""

    def __init__(self) -> None:
        super().__init__(rasters.work)

    def ask(self, question: Question) -> bytes:
        """Ask, and wait. Who has died since the last question is replaced, and asked again."""
        for _ in range(2):
            try:
                self.send(question)
                return bytes(self.receive(TIME_LIMIT))
            except TimeoutError:
                _log.warning("a picture has taken too long: %s", question)
                break
            except (EOFError, OSError):
                if not self.closed:
                    _log.warning("the process that draws has died, and is replaced")
        raise ApiError("too-slow")


# --- What was drawn -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a file, and a name that no other bytes have."""

    content: bytes
    tag: str

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Name some bytes."""
        return cls(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


class Cache:
    """The pictures that were asked for last, as many as there is room for."""

    def __init__(self, limit: int = CACHE_LIMIT) -> None:
        self.size = 0
        self._limit = limit
        self._pictures: OrderedDict[Question, Picture] = OrderedDict()

    def get(self, question: Question) -> Picture | None:
        """Find a picture, which is the newest from now on."""
        found = self._pictures.get(question)
        if found is not None:
            self._pictures.move_to_end(question)
        return found

    def put(self, question: Question, picture: Picture) -> None:
        """Keep a picture, and forget the oldest beyond the limit."""
        self._forget(self._pictures.pop(question, None))
        self._pictures[question] = picture
        self.size += len(picture.content)
        while self.size > self._limit:
            self._forget(self._pictures.popitem(last=False)[1])

    def _forget(self, picture: Picture | None) -> None:
        self.size -= len(picture.content) if picture else 0


class Studio:
    """Draws what is asked for, once. A process starts with the first picture that needs it."""

    def __init__(
        self, budgets: Budgets | None = None, painters: Sequence[_Painter] | None = None
    ) -> None:
        self.cache = Cache()
        self._budgets = budgets or Budgets()
        self.workers = painters or [_Painter() for _ in range(PAINTERS)]
        self._turns: Turns[_Painter] = Turns(self.workers, WAITING_LIMIT)
        self._lengths = {kind: Average(first) for kind, first in _FIRST_ESTIMATES.items()}
        # One for each process, and some for what is drawn at once.
        self._threads = Threads(PAINTERS + 3, "studio")
        self._closed = False
        self._places = Places(PLACES_PER_CLIENT, "pictures")
        self._under_way: dict[Question, asyncio.Task[Picture]] = {}

    async def picture(self, question: Question, client: str = "") -> Picture:
        """Find a picture, or draw it; an ``ApiError`` where too many wait already."""
        found = self.cache.get(question)
        if found is not None:
            return found
        if question.kind == "picture.svg":
            # A few milliseconds: for that nobody needs to wait for the process.
            return self._keep(question, await self._threads.run(rasters.draw, question))
        task = self._under_way.get(question) or self._begin(question, client)
        # Others may wait for the same picture: who goes away does not end it.
        return await asyncio.shield(task)

    async def qr_code(self, address: str) -> str:
        """Draw an address as a QR code."""
        return await self._threads.run(qr_codes.draw, address)

    def close(self) -> None:
        """End the processes; whoever still waits is refused."""
        self._closed = True
        for worker in self.workers:
            worker.close()
        self._threads.close()

    def _begin(self, question: Question, client: str) -> asyncio.Task[Picture]:
        if len(self._under_way) >= WAITING_LIMIT:
            raise too_many("pictures", 2)
        estimate = self._lengths[question.kind].seconds
        self._budgets.require(client, "drawing", estimate)
        self._places.take(client)
        self._budgets.charge(client, "drawing", estimate)
        task = asyncio.create_task(self._draw(question, client, estimate))
        task.add_done_callback(lambda _: self._places.give_back(client))
        self._under_way[question] = task
        task.add_done_callback(partial(self._end, question))
        return task

    async def _draw(self, question: Question, client: str, estimate: float) -> Picture:
        """Draw when it is the client's turn, and charge the seconds that it really takes."""
        worker = await self._turns.ask(client)
        started = time.monotonic()
        try:
            if self._closed:
                raise ApiError("too-slow")
            return self._keep(question, await self._threads.run(worker.ask, question))
        finally:
            used = time.monotonic() - started
            self._lengths[question.kind].note(used)
            self._budgets.charge(client, "drawing", used - estimate)
            self._turns.give_back(client, worker)

    def _end(self, question: Question, task: asyncio.Task[Picture]) -> None:
        del self._under_way[question]
        if not task.cancelled():
            # Looked at, so that nothing complains where everybody has gone away.
            task.exception()

    def _keep(self, question: Question, content: bytes) -> Picture:
        picture = Picture.of(content)
        self.cache.put(question, picture)
        return picture
