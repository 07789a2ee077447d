"""Puts the parts of a server together, and nothing else."""

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, TypedDict

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from kamon import __version__
from kamon.web import answers, contract
from kamon.web.database import Database
from kamon.web.engine.analysts import Analysts
from kamon.web.engine.reviews import Reviews
from kamon.web.engine.thinkers import Thinkers
from kamon.web.games import routes as game_routes
from kamon.web.games.desk import Desk
from kamon.web.games.listings import Listings
from kamon.web.games.people import People
from kamon.web.games.rooms import Event, Room
from kamon.web.games.socket import serve_socket
from kamon.web.games.store import Games
from kamon.web.health import Health
from kamon.web.learn import lessons, rulebook
from kamon.web.limits import Budgets
from kamon.web.memory import ServerMemory
from kamon.web.metrics import Metrics
from kamon.web.overload import Overload
from kamon.web.pages import routes as page_routes
from kamon.web.pages.assets import STATIC, assets_router, stamped
from kamon.web.pictures import routes as picture_routes
from kamon.web.pictures.studio import Studio
from kamon.web.security import Guard
from kamon.web.server_time import ServerTime
from kamon.web.services import Services
from kamon.web.settings import Settings
from kamon.web.studies import routes as study_routes
from kamon.web.studies.store import Studies
from kamon.web.writer import Writer

DAY: Final = 24 * 3600 * 1000
HOUR: Final = 3600.0
# How long the event loop waits for Python while a thread reads a long text; 5 ms by default.
SWITCH_SECONDS: Final = 0.001
# Games that never began wait this long.
ABANDONED_DAYS: Final = 14


class State(TypedDict):
    """What the server hands to every request."""

    services: Services


def create_app(settings: Settings, database: Database | None = None) -> FastAPI:
    """Build a server. Unless a database is given that is open, it is opened when it starts."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with _running(settings, database) as services:
            yield {"services": services}

    app = FastAPI(
        title="Kamon",
        version=__version__,
        description="Play Kamon. See docs/protocol.md for the WebSocket.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        # A redirection would repeat whatever host the request names.
        redirect_slashes=False,
    )
    app.include_router(game_routes.router)
    app.include_router(lessons.router)
    app.include_router(study_routes.router)
    app.include_router(picture_routes.router)
    app.include_router(page_routes.router)
    app.include_router(rulebook.router)
    app.include_router(assets_router())
    app.add_api_websocket_route("/ws", serve_socket)
    app.mount(stamped(), StaticFiles(directory=STATIC))
    # Icons are also asked for by systems that have installed the page, under a name that stays.
    app.mount("/static", StaticFiles(directory=STATIC))
    # Before the others: what is added first is innermost.
    answers.add_error_handlers(app)
    app.add_middleware(GZipMiddleware, minimum_size=500)
    secure = (settings.public_url or "").startswith("https:")
    app.add_middleware(Guard, secure=secure)
    contract.describe(app)
    return app


@contextlib.asynccontextmanager
async def _running(settings: Settings, database: Database | None) -> AsyncIterator[Services]:
    """Start the parts of a server; end them in the opposite order."""
    health, metrics = Health(), Metrics()
    if database is None:
        database = Database(settings.database)
        await asyncio.to_thread(database.open)
    writer = Writer(database, health, metrics)
    games = Games(database)
    memory = ServerMemory(database, writer)
    secrets = await memory.secrets()
    now = ServerTime(await asyncio.to_thread(games.latest_change))
    away = await memory.time_away(now())
    budgets = Budgets(scale=settings.budget_scale)
    studio = Studio(budgets)
    async with (
        Desk(games, writer, now, health).running(away) as desk,
        Thinkers(
            desk, settings.workers, health, metrics, budgets, moment=settings.moment
        ) as thinkers,
        Analysts(settings.analysts, budgets) as analysts,
    ):
        services = Services(
            settings=settings,
            health=health,
            metrics=metrics,
            secrets=secrets,
            budgets=budgets,
            overload=Overload(lambda: desk.commits.waiting, metrics),
            desk=desk,
            listings=Listings(desk),
            people=People(now),
            studies=Studies(database, writer),
            thinkers=thinkers,
            analysts=analysts,
            reviews=Reviews(writer, analysts),
            studio=studio,
        )
        _calm_collector()
        sys.setswitchinterval(SWITCH_SECONDS)
        stop_metrics = _serve_metrics(services)
        tasks = [
            asyncio.create_task(memory.keep_alive(health, now)),
            asyncio.create_task(services.overload.watch()),
            asyncio.create_task(health.repeat("clearing", lambda: _clear_old(services), HOUR)),
        ]
        yield services
        await asyncio.to_thread(stop_metrics)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        studio.close()
    await memory.note_alive(now())
    writer.close()
    database.close()


def _serve_metrics(services: Services) -> Callable[[], None]:
    """Read the numbers from the parts that have them; serve them, if there is a port for that."""
    metrics, desk = services.metrics, services.desk

    async def count(_: Room, events: Sequence[Event]) -> None:
        for event in events:
            metrics.events.labels(event.kind).inc()

    desk.listeners.append(count)
    metrics.gauge("sockets", "WebSockets that are open.", lambda: services.budgets.sockets)
    metrics.gauge("rooms_in_memory", "Games in memory.", lambda: len(desk.tables))
    metrics.gauge("engine_busy", "Thoughts under way.", lambda: services.thinkers.busy)
    metrics.gauge(
        "engine_queue", "Games that wait for a thought.", lambda: services.thinkers.waiting
    )
    metrics.gauge("analysts_queue", "Studies that wait.", lambda: services.analysts.waiting)
    metrics.gauge("commits_queue", "Commands that wait for the disk.", lambda: desk.commits.waiting)
    metrics.gauge("overload", "What is refused, from 0 to 3.", lambda: services.overload.level)
    metrics.gauge("problems", "Parts that do not work.", lambda: len(services.health.problems))
    port = services.settings.metrics_port
    return (lambda: None) if port is None else metrics.serve(services.settings.metrics_host, port)


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
    if keep_days is not None:
        before = now - keep_days * DAY
        await services.desk.clear(before, ["over", "playing"])
        await services.studies.clear(before)
        await services.reviews.clear(before)
