"""One WebSocket per page: what happens is pushed, and commands are answered by their id."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, cast

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from kamon.web.answers import answer_for, leaves_within
from kamon.web.engine.analysts import DEEPER_FACTOR, STUDY_SECONDS
from kamon.web.errors import ApiError
from kamon.web.games.messages import (
    Analyse,
    Do,
    ErrorMessage,
    RoomMessage,
    SocketAnswer,
    SocketMessage,
    Stop,
    Watch,
    events_view,
)
from kamon.web.games.rooms import Event, Room
from kamon.web.games.tables import Table, Watcher
from kamon.web.identity import Visitor
from kamon.web.limits import REFUSAL_SECONDS
from kamon.web.logs import new_request_id, request_id
from kamon.web.metrics import timed
from kamon.web.services import Services, services_of
from kamon.web.studies.tree import game_on

PATH: Final = "/ws"
FRAME_LIMIT: Final = 2_048
# What opening a socket costs of the budget "requests".
HANDSHAKE_COST: Final = 4.0
# After a refusal the next message is read a little later, and after many of them none is.
REFUSAL_PAUSE: Final = 0.01
PAUSES_LIMIT: Final = 3
REFUSALS_LIMIT: Final = 500
_ID_LIMIT: Final = 64
_messages: Final[TypeAdapter[SocketMessage]] = TypeAdapter(SocketMessage)

_log = logging.getLogger(__name__)


class Sockets:
    """Serves WebSockets before all that is about requests.

    Each layer that a socket passes through is kept as long as the socket is open. They took 7 KiB.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, or pass on whatever else it is."""
        if scope["type"] == "websocket" and scope["path"] == PATH:
            await serve_socket(WebSocket(scope, receive, send))
        else:
            await self._app(scope, receive, send)


async def serve_socket(socket: WebSocket) -> None:
    """Serve one page until it goes away."""
    services = await services_of(socket)
    client = services.client(socket)
    request_id.set(new_request_id())
    request = HTTPConnection(socket.scope)
    # What was asked for at the beginning, secrets among it, is not kept for as long as the page is.
    socket.scope = {**socket.scope, "headers": []}
    try:
        services.budgets.spend(client, "requests", HANDSHAKE_COST)
    except ApiError as error:
        answer_for(services, error, PATH)
        if not await leaves_within(REFUSAL_SECONDS, socket.receive):
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await socket.close()
        return
    try:
        visitor = services.visitor(request, changes=True)
        services.budgets.open_socket(client)
        services.people.connect(visitor.holder)
    except Exception as error:  # noqa: BLE001 - every failure is answered
        # A refusal before the handshake cannot be read by a page, so it is sent after it.
        await socket.accept()
        await _send(socket, _error_message(answer_for(services, error, PATH), None))
        await socket.close(1008)
        return
    connection = _Connection(socket, services, visitor, client)
    try:
        await socket.accept()
        await connection.read()
    except (WebSocketDisconnect, RuntimeError):
        # The page has gone away.
        pass
    finally:
        connection.close()
        connection.stop_analysis()
        services.budgets.close_socket(client)
        services.people.disconnect(visitor.holder)


class _Connection:
    """A page that watches at most one game at a time."""

    __slots__ = (
        "analysis",
        "client",
        "feed",
        "refusals",
        "services",
        "socket",
        "told",
        "visitor",
    )

    def __init__(
        self, socket: WebSocket, services: Services, visitor: Visitor, client: str
    ) -> None:
        self.socket = socket
        self.services = services
        self.visitor = visitor
        self.client = client
        self.feed: _Feed | None = None
        # The last event of the watched game that this page has been told.
        self.told = 0
        self.refusals = 0
        self.analysis: asyncio.Task[None] | None = None

    async def read(self) -> None:
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            try:
                self.services.budgets.spend(self.client, "messages")
                await self._obey(_parse(text))
            except Exception as error:  # noqa: BLE001 - every failure is answered
                # What a page has sent before it went away is not worth reading.
                if not await self.send_error(error, _id_of(text)) or not await self._forgive():
                    return

    async def send_error(self, error: Exception, reply_to: str | None) -> bool:
        """Answer something that was refused or has failed; return whether the page is there."""
        found = answer_for(self.services, error, PATH)
        return await _send(self.socket, _error_message(found, reply_to))

    async def _forgive(self) -> bool:
        """Let a client wait whose message was refused; who goes on is cut off."""
        self.refusals += 1
        if self.refusals > REFUSALS_LIMIT:
            await self.socket.close(1008)
            return False
        await asyncio.sleep(REFUSAL_PAUSE * min(self.refusals, PAUSES_LIMIT))
        return True

    async def _obey(self, message: SocketMessage) -> None:
        if isinstance(message, Watch):
            await self._watch(message)
        elif isinstance(message, Do):
            table = await self.services.desk.table(message.game, message.after or 0)
            with timed(self.services.metrics.command_seconds):
                room, events = await self.services.obey(table, self.visitor, message, self.client)
            if message.do == "join" and self.feed and self.feed.table is table:
                # The watcher has a seat now, and must be seen as its player.
                await self._watch(Watch(type="watch", game=message.game, after=self.told))
            await _send(self.socket, {"type": "done", "id": message.id, "number": room.number})
            if events:
                return
        elif isinstance(message, Analyse):
            self._analyse(message)
        elif isinstance(message, Stop):
            self.stop_analysis()
        else:
            await _send(self.socket, {"type": "pong"})
        # Nothing had to be written, which would have let others have their turn.
        await asyncio.sleep(0)

    def _analyse(self, message: Analyse) -> None:
        """Begin to study or review; what was under way for this page ends."""
        self.stop_analysis()
        self.services.overload.require("studies")
        game_on(message.line)
        if message.type == "review":
            work = self.services.reviews.work(message.line, self.client)
        else:
            seconds = STUDY_SECONDS * DEEPER_FACTOR**message.deep
            work = self.services.analysts.work(
                {"kind": "study", "line": message.line, "seconds": seconds}, self.client
            )
        self.analysis = asyncio.create_task(self._think_aloud(message, work))

    async def _think_aloud(
        self, message: Analyse, work: AsyncGenerator[dict[str, Any], None]
    ) -> None:
        answer: dict[str, Any] = {"type": message.type, "line": message.line}
        try:
            async with contextlib.aclosing(work) as told:
                async for each in told:
                    await _send(self.socket, cast(SocketAnswer, {**answer, **each}))
            await _send(self.socket, cast(SocketAnswer, {**answer, "end": True}))
        except Exception as error:  # noqa: BLE001 - every failure is answered
            await self.send_error(error, None)

    def stop_analysis(self) -> None:
        """Let the engine go."""
        if self.analysis is not None:
            self.analysis.cancel()
            self.analysis = None

    async def _watch(self, message: Watch) -> None:
        self.close()
        desk = self.services.desk
        table = await desk.table(message.game, message.after)
        was_watched = bool(table.watchers)
        # Before anything is awaited: a table that nobody watches may be forgotten meanwhile.
        sides = self.visitor.sides(table.holders)
        watcher = desk.presence.watch(table, sides, self.visitor.holder)
        try:
            if not was_watched:
                await self.services.look_at([table])
        except BaseException:
            desk.leave(table, watcher)
            raise
        self.told = message.after
        missed = [event for event in table.events if event.number > message.after]
        await self.tell(table, watcher, table.room, missed)
        self.feed = _Feed(self, table, watcher)
        self.services.thinkers.consider(table.room)

    async def tell(
        self, table: Table, watcher: Watcher, room: Room, events: Sequence[Event]
    ) -> None:
        """Tell a room as it was after these events, and never a later one.

        A page that comes back asks for the events after the number of the view it has seen.
        """
        self.told = max(self.told, room.number)
        first = events[0].number if events else 0
        key = (room.number, first, watcher.sides)
        text = table.encoded.get(key, self.services.desk.now())
        if text is None:
            message: RoomMessage = {
                "type": "room",
                "game": room.id,
                "view": self.services.view(table, watcher.sides, room),
                "events": events_view(events),
            }
            text = _encode(message)
            if len(table.watchers) > 1:
                table.encoded.put(key, self.services.desk.now(), text)
        await _send_text(self.socket, text)

    def close(self) -> None:
        if self.feed is not None:
            self.feed.stop()
            self.services.desk.leave(self.feed.table, self.feed.watcher)
            self.feed = None


class _Feed:
    """Tells a page what happens to a game, in a task that lives while there is something to tell.

    Most pages wait most of the time, and a task that waits takes memory.
    """

    __slots__ = ("connection", "table", "task", "watcher")

    def __init__(self, connection: _Connection, table: Table, watcher: Watcher) -> None:
        self.connection = connection
        self.table = table
        self.watcher = watcher
        self.task: asyncio.Task[None] | None = None
        watcher.queue.wake = self._wake
        if not watcher.queue.empty():
            self._wake()

    def stop(self) -> None:
        """Tell nothing any more."""
        self.watcher.queue.wake = None
        if self.task is not None:
            self.task.cancel()

    def _wake(self) -> None:
        if self.task is None:
            self.task = asyncio.create_task(self._push())

    async def _push(self) -> None:
        queue = self.watcher.queue
        while not queue.empty():
            news = queue.get_nowait()
            if news is None:
                # This page did not keep up. It comes back by itself and gets what it missed.
                with contextlib.suppress(RuntimeError):
                    await self.connection.socket.close(1013)
                return
            try:
                await self.connection.tell(self.table, self.watcher, *news)
            except Exception:  # noqa: BLE001 - a page that hears nothing more must know
                _log.exception("game %s cannot be shown", self.table.room.id)
                # The page connects again, and asks for what it has missed.
                with contextlib.suppress(RuntimeError):
                    await self.connection.socket.close(1011)
                return
        self.task = None


def _error_message(error: ApiError, reply_to: str | None) -> ErrorMessage:
    return cast(ErrorMessage, {"type": "error", "id": reply_to, **error.answer()})


def _encode(message: SocketAnswer) -> str:
    return to_json(message).decode()


async def _send(socket: WebSocket, message: SocketAnswer) -> bool:
    return await _send_text(socket, _encode(message))


async def _send_text(socket: WebSocket, text: str) -> bool:
    """Send a text, and return whether the page is still there."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(text)
        return True
    return False


def _parse(text: str | None) -> SocketMessage:
    if text is None:
        raise ApiError("bad-message", detail="a message is text, not bytes")
    if len(text) > FRAME_LIMIT:
        raise ApiError("too-large", detail=f"a message has at most {FRAME_LIMIT} characters")
    return _messages.validate_json(text)


def _id_of(text: str | None) -> str | None:
    """Find the id that an answer must name, even where the rest is wrong."""
    if text is None or len(text) > FRAME_LIMIT:
        return None
    try:
        data = from_json(text)
    except ValueError:
        return None
    found = data.get("id") if isinstance(data, dict) else None
    return found if isinstance(found, str) and len(found) <= _ID_LIMIT else None
