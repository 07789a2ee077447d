"""Logs for operators: lines or JSON, with the id of the request; no secrets, no addresses."""

import json
import logging
import math
import secrets
import time
from contextvars import ContextVar
from datetime import datetime
from typing import Final, Literal

Format = Literal["lines", "json"]
LINE: Final = "%(asctime)s %(levelname)s %(name)s [%(request)s]: %(message)s"
NO_REQUEST: Final = "-"

# The id of the request that is being answered.
request_id: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)
# Attempts that were refused: wrong secrets, foreign pages, other people's seats, spent budgets.
security: Final = logging.getLogger("kamon.security")
SECURITY_CODES: Final = frozenset(
    {"bad-secret", "bad-origin", "not-your-seat", "not-your-study", "bad-handover", "too-many"}
)


def new_request_id() -> str:
    """Make an id by which all lines about one request can be found."""
    return secrets.token_hex(6)


def note_refusal(code: str, where: str) -> None:
    """Write down an attempt that was refused, if it may be an attack."""
    if code in SECURITY_CODES:
        security.info("refused %s at %s", code, where)


class Seldom:
    """Lets a line be logged once in a while: a database that is away must not fill the disk."""

    def __init__(self, seconds: float = 10.0) -> None:
        self._seconds = seconds
        self._last = -math.inf

    def is_due(self) -> bool:
        """Return whether enough time has passed since it was last logged."""
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


class _RequestFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request = request_id.get()
        return True


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "request": getattr(record, "request", NO_REQUEST),
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


class _LineFormatter(logging.Formatter):
    """Says in which zone the time is, so that logs of several machines can be compared."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """Write the time with milliseconds and zone."""
        moment = datetime.fromtimestamp(record.created).astimezone()
        return moment.strftime(datefmt) if datefmt else moment.isoformat(" ", "milliseconds")


def set_up(style: Format, level: str) -> None:
    """Write logs to standard error; what is refused is written at the level ``info``."""
    handler = logging.StreamHandler()
    handler.addFilter(_RequestFilter())
    handler.setFormatter(_JsonFormatter() if style == "json" else _LineFormatter(LINE))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("kamon").setLevel(level.upper())
    # It warns of what it also raises, and we log that.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
