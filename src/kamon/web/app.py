"""Puts the parts of a server together, and nothing else."""

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from kamon import __version__
from kamon.web import answers, contract
from kamon.web.cluster.leases import Leases
from kamon.web.cluster.members import Members, forget_old
from kamon.web.connections import Connections
from kamon.web.database import Database
from kamon.web.days import routes as day_routes
from kamon.web.days.store import Days
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.engine.thinkers import Thinkers
from kamon.web.games import routes as game_routes
from kamon.web.games.desk import Desk
from kamon.web.games.following import Following
from kamon.web.games.people import People
from kamon.web.games.rooms import Event, Room
from kamon.web.games.socket import Sockets
from kamon.web.games.store import Games
from kamon.web.health import Health
from kamon.web.identity import Secrets
from kamon.web.learn import lessons, rulebook
from kamon.web.limits import Budgets
from kamon.web.memory import ServerMemory
from kamon.web.metrics import Metrics
from kamon.web.overload import Overload
from kamon.web.pages import routes as page_routes
from kamon.web.pages.assets import STATIC, assets_router, stamped
from kamon.web.pages.kept import OPENAPI, KeptFiles
from kamon.web.pictures import routes as picture_routes
from kamon.web.pictures.studio import Studio
from kamon.web.puzzles import routes as puzzle_routes
from kamon.web.puzzles.book import Book
from kamon.web.puzzles.searching import Searching
from kamon.web.puzzles.store import PuzzleStore
from kamon.web.security import Guard, RequestCosts
from kamon.web.server_time import ServerTime
from kamon.web.services import Puzzles, Services
from kamon.web.settings import Settings
from kamon.web.studies import routes as study_routes
from kamon.web.studies.store import Studies
from kamon.web.writer import Writer

DAY: Final = 24 * 3600 * 1000
HOUR: Final = 3600.0
# How often the server looks whether it is night.
NIGHT_PAUSE: Final = 600.0
# How long the event loop waits for Python while a thread reads a long text; 5 ms by default.
SWITCH_SECONDS: Final = 0.001
# Games that never began wait this long.
ABANDONED_DAYS: Final = 14


class State(TypedDict):
    """What the server hands to every request."""

    services: Services


def create_app(
    settings: Settings, database: Database | None = None, connections: Connections | None = None
) -> FastAPI:
    """Build a server. Unless a database is given that is open, it is opened when it starts.

    ``connections`` are those that the server accepts, if somebody counts them.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with _running(settings, database, connections) as services:
            yield {"services": services}

    app = FastAPI(
        title="Kamon",
        version=__version__,
        description="Play Kamon. See docs/protocol.md for the WebSocket.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=OPENAPI,
        # A redirection would repeat whatever host the request names.
        redirect_slashes=False,
    )
    app.include_router(game_routes.router)
    app.include_router(day_routes.router)
    app.include_router(lessons.router)
    app.include_router(study_routes.router)
    app.include_router(picture_routes.router)
    app.include_router(puzzle_routes.router)
    app.include_router(page_routes.router)
    app.include_router(rulebook.router)
    app.include_router(assets_router())
    app.mount(stamped(), StaticFiles(directory=STATIC))
    # Icons are also asked for by systems that have installed the page, under a name that stays.
    app.mount("/static", StaticFiles(directory=STATIC))
    # Before the others: what is added first is innermost.
    answers.add_error_handlers(app)
    app.add_middleware(KeptFiles)
    app.add_middleware(RequestCosts)
    app.add_middleware(GZipMiddleware, minimum_size=500)
    secure = (settings.public_url or "").startswith("https:")
    app.add_middleware(Guard, secure=secure)
    app.add_middleware(Sockets)
    contract.describe(app)
    return app


@dataclass(frozen=True, slots=True)
class _Core:
    """The parts of a server that play: those of a server without a page too."""

    health: Health
    metrics: Metrics
    secrets: Secrets
    now: ServerTime
    desk: Desk
    people: People
    budgets: Budgets
    thinkers: Thinkers
    memory: ServerMemory
    following: Following | None


@contextlib.asynccontextmanager
async def _playing(
    settings: Settings, database: Database | None, *, web: bool
) -> AsyncIterator[_Core]:
    """Start what is needed to play; end it in the opposite order."""
    health, metrics = Health(), Metrics()
    if database is None:
        database = Database(settings.database)
        await asyncio.to_thread(database.open)
    writer = Writer(database, health, metrics)
    # A SQLite file has one writer, whatever is written.
    notes = Writer(database, health, metrics, notes=True) if database.shared else writer
    games = Games(database)
    memory = ServerMemory(database, writer)
    now = ServerTime(await asyncio.to_thread(games.latest_change))
    if database.shared:
        now.set(await asyncio.to_thread(games.time))
    people, budgets = People(now), Budgets(scale=settings.budget_scale)
    members = Members(notes, now, web=web) if database.shared else None
    desk = Desk(games, writer, now, health, None if members is None else members.id)
    leases = None if members is None else Leases(notes, members.id, now)
    following = None
    async with contextlib.AsyncExitStack() as parts:
        # What the first server puts right must be done before the second one plays.
        async with database.starting_alone():
            secrets = await memory.secrets()
            away = await memory.time_away(now())
            await parts.enter_async_context(desk.running(away))
            if members is not None:
                following = Following(
                    desk, members, people, budgets, memory, notes, now=now, metrics=metrics
                )
                await parts.enter_async_context(following.running())
        thinkers = await parts.enter_async_context(
            Thinkers(
                desk,
                settings.workers,
                health,
                metrics,
                budgets,
                moment=settings.moment,
                leases=leases,
            )
        )
        if following is not None:
            following.wants_thought = thinkers.look_for_work
        core = _Core(
            health, metrics, secrets, now, desk, people, budgets, thinkers, memory, following
        )
        tasks = []
        if following is None:
            # Servers that share a database note it themselves, and more often.
            tasks.append(asyncio.create_task(memory.keep_alive(health, now)))
        stop_metrics = _serve_metrics(core, settings)
        yield core
        await asyncio.to_thread(stop_metrics)
        await _cancel(tasks)
    if not desk.paused:
        await memory.note_alive(now())
    for each in {writer, notes}:
        each.close()
    database.close()


@contextlib.asynccontextmanager
async def _running(
    settings: Settings, database: Database | None, connections: Connections | None
) -> AsyncIterator[Services]:
    """Start the parts of a server; end them in the opposite order."""
    async with (
        _playing(settings, database, web=True) as core,
        Analysts(settings.analysts, core.budgets) as analysts,
    ):
        writer, studio = core.desk.writer, Studio(core.budgets)
        reviews = Reviews(writer, analysts)
        services = Services(
            settings=settings,
            health=core.health,
            metrics=core.metrics,
            secrets=core.secrets,
            budgets=core.budgets,
            overload=Overload(lambda: core.desk.commits.waiting, core.metrics),
            desk=core.desk,
            people=core.people,
            days=Days(writer, core.now),
            studies=Studies(writer.database, writer),
            thinkers=core.thinkers,
            analysts=analysts,
            reviews=reviews,
            studio=studio,
            puzzles=_puzzles(core, analysts, reviews),
            following=core.following,
        )
        _show_numbers(services)
        _calm_collector()
        sys.setswitchinterval(SWITCH_SECONDS)
        clearing = core.health.repeat("clearing", lambda: _clear_old(services), HOUR)
        searching = core.health.repeat(
            "puzzles", lambda: services.puzzles.searching.at_night(settings.night), NIGHT_PAUSE
        )
        works = [clearing, searching, services.overload.watch()]
        if connections is not None:
            works.append(connections.watch())
            connections.on_refused = lambda reason: core.metrics.cut_off.labels(reason).inc()
        tasks = [asyncio.create_task(work) for work in works]
        yield services
        await _cancel(tasks)
        await services.reviews.close()
        studio.close()


def _puzzles(core: _Core, analysts: Analysts, reviews: Reviews) -> Puzzles:
    database = core.desk.writer.database
    book, store = Book(database), PuzzleStore(database, core.desk.writer)
    searching = Searching(store, book, core.desk, analysts, reviews, core.memory)
    return Puzzles(book, store, searching)


async def think(settings: Settings, database: Database, ended: asyncio.Event) -> None:
    """Serve no page; think for the servers that share a database, until the event comes."""
    async with _playing(settings, database, web=False):
        await ended.wait()


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _serve_metrics(core: _Core, settings: Settings) -> Callable[[], None]:
    """Read the numbers from the parts that have them; serve them, if there is a port for that."""
    metrics, desk, thinkers = core.metrics, core.desk, core.thinkers

    async def count(_: Room, events: Sequence[Event]) -> None:
        for event in events:
            metrics.events.labels(event.kind).inc()

    desk.listeners.append(count)
    metrics.gauge("rooms_in_memory", "Games in memory.", lambda: len(desk.tables))
    metrics.gauge("engine_busy", "Thoughts under way.", lambda: thinkers.busy)
    metrics.gauge("engine_queue", "Games that wait for a thought.", lambda: thinkers.waiting)
    metrics.gauge("commits_queue", "Commands that wait for the disk.", lambda: desk.commits.waiting)
    metrics.gauge("problems", "Parts that do not work.", lambda: len(core.health.problems))
    desk.met_conflict = metrics.conflicts.inc
    following, leases = core.following, thinkers.leases
    if following is not None:
        metrics.gauge(
            "servers",
            "Servers with a page on this database.",
            lambda: following.members.on_the_web,
        )
    if leases is not None:
        metrics.gauge("leases", "Games that this server thinks about.", lambda: len(leases.held))
    port = settings.metrics_port
    return (lambda: None) if port is None else metrics.serve(settings.metrics_host, port)


def _show_numbers(services: Services) -> None:
    """Show the numbers of a server with a page."""
    metrics = services.metrics
    metrics.gauge("sockets", "WebSockets that are open.", lambda: services.budgets.sockets)
    metrics.gauge("analysts_queue", "Studies that wait.", lambda: services.analysts.waiting)
    metrics.gauge("overload", "What is refused, from 0 to 3.", lambda: services.overload.level)


def _calm_collector() -> None:
    """Let the garbage collector pass over what lives as long as the server, and come less often.

    It stops everything while it looks: 700 ms with 5,000 games in memory.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _clear_old(services: Services) -> None:
    """Remove games and studies that nobody will come back to."""
    now, keep_days = services.desk.now(), services.settings.keep_days
    await services.desk.clear(now - ABANDONED_DAYS * DAY, ["waiting", "aborted"])
    if services.following is not None:
        await services.desk.writer.write(lambda each: forget_old(each, now - DAY))
    if keep_days is not None:
        before = now - keep_days * DAY
        await services.desk.clear(before, ["over", "playing"])
        await services.studies.clear(before)
        await services.reviews.clear(before)
