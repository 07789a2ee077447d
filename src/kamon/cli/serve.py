"""``kamon serve``: the web page, for this machine or for the world."""

import asyncio
import contextlib
import ipaddress
import logging
import os
import re
import signal
import socket
import sqlite3
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import SplitResult, urlsplit

import typer

from kamon.cli.databases import opening

if TYPE_CHECKING:
    from kamon.web.connections import Network
    from kamon.web.database import Database
    from kamon.web.settings import Settings

# Connections that wait to be accepted. asyncio accepts that many in a row before it does anything
# else, so a long queue would let one visitor hold up everybody.
BACKLOG: Final = 50
# Seconds for requests that are in progress when the server has to stop.
GRACE: Final = 3
MOST_CONNECTIONS: Final = 50_000
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
USUAL_PORT: Final = 443
FILES_OF_OUR_OWN: Final = 100
_HOURS: Final = 24
# What uvicorn says of something that a client has sent.
_NOT_OUR_FAULT: Final = frozenset(
    {"Invalid HTTP request received.", "Invalid UTF-8 sequence received from client."}
)

EXAMPLES = """Examples:

\b
  kamon serve --open                     play on this machine
  kamon serve --host 0.0.0.0 --port 80   host a server; see docs/hosting.md
  kamon serve --copy-to backup.sqlite    copy the database, even while in use"""


def run(  # noqa: PLR0913 - each is an option that a host sets
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port to listen on; 0 takes any free one."
        ),
    ] = 8037,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Database URL; by default, a file in your data folder."),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address at which people reach the server."),
    ] = None,
    trusted_proxy: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESSES",
            help="Trust X-Forwarded-* headers from these addresses, separated by commas.",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=64, help="Number of processes for the computer's moves."
        ),
    ] = 2,
    analysts: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=64, help="Number of processes for studies and reviews."
        ),
    ] = 2,
    keep_days: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            min=1,
            help="Delete games and studies not changed for this many days.",
        ),
    ] = None,
    moment: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, max=10, help="Minimum time for a computer move."),
    ] = 0.6,
    night: Annotated[
        str,
        typer.Option(
            metavar="HOURS", help="Hours for finding puzzles in finished games, or never."
        ),
    ] = "1-5",
    copy_to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Copy the database to a new file and exit.", dir_okay=False
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=1, max=65535, help="Serve metrics for Prometheus on this port."
        ),
    ] = None,
    metrics_host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to serve the metrics on.")
    ] = "127.0.0.1",
    log_format: Annotated[
        Literal["lines", "json"], typer.Option(help="Format of the log.")
    ] = "lines",
    log_level: Annotated[
        Literal["info", "warning"],
        typer.Option(help="What to log; info adds refused attempts."),
    ] = "warning",
    clock_is_right: Annotated[
        bool,
        typer.Option(
            "--clock-is-right",
            help="Trust this machine's clock, even if the database has seen another time.",
        ),
    ] = False,
    web: Annotated[
        bool,
        typer.Option(
            "--web/--no-web", help="Serve the page, or only run the engine for other servers."
        ),
    ] = True,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Run the web server, for yourself or for others."""
    # The other commands must not pay for the server.
    import uvicorn  # noqa: PLC0415

    from kamon.web import logs  # noqa: PLC0415
    from kamon.web.app import create_app  # noqa: PLC0415
    from kamon.web.connections import (  # noqa: PLC0415
        Connections,
        RequestTracker,
        protocols,
    )
    from kamon.web.settings import Settings, default_database  # noqa: PLC0415

    if public_url is not None:
        public_url = _origin(public_url)
    proxies = _proxies(trusted_proxy)
    settings = Settings(
        database or default_database(),
        public_url,
        trusted_proxy,
        workers=workers,
        analysts=analysts,
        keep_days=keep_days,
        metrics_host=metrics_host,
        metrics_port=metrics_port,
        moment=moment,
        night=parse_night(night),
    )
    if copy_to is not None:
        _copy(settings.database, copy_to)
        return
    logs.set_up(log_format, log_level)
    if not web:
        _think(settings, clock_is_right=clock_is_right)
        return
    try:
        listener = bind(host, port)
    except OSError as error:
        raise typer.BadParameter(f"cannot listen on {host}:{port}: {error.strerror}") from None
    opened = _open(settings.database, clock_is_right=clock_is_right)
    _warn_of_root(host)
    _warn_without_proxy(host, trusted_proxy)
    # From now on a browser that comes early waits, instead of being refused.
    listener.listen(BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    address = public_url or f"http://{shown}:{listener.getsockname()[1]}"
    typer.echo(f"Kamon is at {address} (press Ctrl-C to stop)")
    if open_browser:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    connections = Connections(_most_connections(), proxies)
    http, websocket = protocols(connections)
    config = uvicorn.Config(
        RequestTracker(create_app(settings, opened, connections), connections),
        # Its loggers write as ours do.
        log_config=None,
        log_level="warning",
        http=http,
        ws=websocket,
        backlog=BACKLOG,
        ws_per_message_deflate=False,
        ws_max_size=4096,
        proxy_headers=trusted_proxy is not None,
        forwarded_allow_ips=trusted_proxy,
        server_header=False,
        # When the server stops, it closes connections that need longer than this.
        timeout_graceful_shutdown=GRACE,
    )
    logging.getLogger("uvicorn.error").addFilter(_shorten)
    uvicorn.Server(config).run(sockets=[listener])


def _think(settings: "Settings", *, clock_is_right: bool) -> None:
    """Run the engine for the servers that share a database, until Ctrl-C or SIGTERM."""
    from kamon.web.app import think  # noqa: PLC0415 - see above

    database = _open(settings.database, clock_is_right=clock_is_right)
    if not database.shared:
        database.close()
        raise typer.BadParameter(
            "--no-web works only for servers that share a database: "
            "name theirs, for example postgresql://me@localhost/kamon",
            param_hint="--database",
        )

    async def until_stopped() -> None:
        ended = asyncio.Event()
        for signum in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signum, ended.set)
        typer.echo(f"Kamon runs the engine for {database.name} (press Ctrl-C to stop)")
        await think(settings, database, ended)

    asyncio.run(until_stopped())


def bind(host: str, port: int) -> socket.socket:
    """Take an address and a port to listen on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, because asyncio sends small answers immediately only if it knows that this is TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def parse_night(text: str) -> tuple[int, int] | None:
    """Read the hours of the night, as in ``1-5`` or ``22-4``."""
    if text == "never":
        return None
    match = re.fullmatch(r"(\d{1,2})-(\d{1,2})", text)
    if match is None or max(int(match[1]), int(match[2])) > _HOURS:
        raise typer.BadParameter(f"--night must be hours such as 1-5, or never, not {text!r}")
    return int(match[1]), int(match[2])


def _origin(address: str) -> str:
    """Check the address under which people reach us: pages compare it with what browsers send."""
    parts = urlsplit(address)
    plain = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain or not _port(parts):
        raise typer.BadParameter(
            f"{address!r} is not a server's address: expected a scheme and a host without a path, "
            "for example https://kamon.example",
            param_hint="--public-url",
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _open(url: str, *, clock_is_right: bool) -> "Database":
    """Open the database, or say what is wrong with it before anything else is started."""
    from kamon.web.clock_check import ClockError, believe_clock, check_clock  # noqa: PLC0415
    from kamon.web.database import Database  # noqa: PLC0415
    from kamon.web.games.store import Games  # noqa: PLC0415
    from kamon.web.server_time import wall_time  # noqa: PLC0415

    with opening(url, "--database"):
        database = Database(url)
        database.open()
        # Servers that share a database all go by its clock.
        now = Games(database).time() if database.shared else wall_time()
        if clock_is_right:
            believe_clock(database, now)
        try:
            check_clock(database, now)
        except ClockError as error:
            database.close()
            raise typer.BadParameter(str(error), param_hint="the clock") from None
    return database


def _most_connections() -> int:
    """Open as many files as we may, and leave some of them to the database and the engine."""
    try:
        import resource  # noqa: PLC0415 - Windows has none, and no such limit
    except ImportError:
        return MOST_CONNECTIONS
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        # Refused if the system does not take "unlimited" as a number.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        files = most
    return max(FILES_OF_OUR_OWN, min(MOST_CONNECTIONS, files - FILES_OF_OUR_OWN))


def _proxies(text: str | None) -> list["Network"]:
    """Read the addresses of proxies. A slip would put all visitors behind one budget."""
    parts = [] if text is None else text.split(",")
    try:
        return [ipaddress.ip_network(part.strip(), strict=False) for part in parts]
    except ValueError as error:
        raise typer.BadParameter(
            f"{error}: expected one or more addresses such as 127.0.0.1, separated by commas",
            param_hint="--trusted-proxy",
        ) from None


def _warn_without_proxy(host: str, trusted_proxy: str | None) -> None:
    """Warn if others reach the server without a proxy."""
    if host not in LOOPBACK and trusted_proxy is None:
        typer.echo(
            "Everybody on your network can reach this server. That is fine at home, in a club or "
            "in a school. On the internet, put nginx in front of it: see docs/hosting.md",
            err=True,
        )


def _warn_of_root(host: str) -> None:
    """Warn if a server for others runs as root."""
    if host not in LOOPBACK and getattr(os, "geteuid", lambda: 1)() == 0:
        typer.echo(
            "warning: this server runs as root; docs/hosting.md shows how to avoid that", err=True
        )


def _shorten(record: logging.LogRecord) -> bool:
    """Log one line, and no traceback, for nonsense from clients and for what the end cuts off."""
    cancelled = record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    if cancelled or record.msg in _NOT_OUR_FAULT:
        record.exc_info = None
    return True


def _port(parts: SplitResult) -> int | None:
    """Return the port of an address, or the usual one; None for a number that is not a port."""
    try:
        return parts.port or USUAL_PORT
    except ValueError:
        return None


def _copy(database: str, target: Path) -> None:
    """Copy an embedded database whole, whether or not a server is using it."""
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - see above

    from kamon.web.database import Database, DatabaseError  # noqa: PLC0415

    try:
        source = Database(database)
        file = source.file()
        if file is None:
            raise typer.BadParameter(
                "--copy-to works only with SQLite; use the tools of your database, or kamon copy"
            )
        if not file.exists():
            raise typer.BadParameter(f"there is no database at {database}")
        source.copy_to(target)
    except FileExistsError:
        raise typer.BadParameter(f"{target} already exists") from None
    except (DatabaseError, sqlite3.Error, SQLAlchemyError, OSError) as error:
        raise typer.BadParameter(f"{database} cannot be copied to {target}: {error}") from None
    source.close()
    typer.echo(f"copied to {target}")
