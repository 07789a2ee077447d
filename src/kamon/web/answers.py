"""How every failure is answered: a page for people, JSON for programs, both from one table.

``answer_for`` turns any error into an ``ApiError``, for requests and for sockets alike. It also
counts and logs the error, so nobody else has to.
"""

import asyncio
import contextlib
import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kamon.web.errors import ApiError, cause_of, storage_failed
from kamon.web.logs import Seldom, note_refusal
from kamon.web.pages import shell
from kamon.web.schemas import ErrorAnswer
from kamon.web.services import Services, services_of

_log = logging.getLogger(__name__)
_unanswered = Seldom()


def answer_for(services: Services, error: Exception, where: str) -> ApiError:
    """Return what to answer after any error. It is counted, and logged if an operator needs it."""
    found = _translated(error)
    if found is None:
        _log.error("%s failed", where, exc_info=error)
        found = ApiError("failed")
    elif isinstance(error, SQLAlchemyError):
        if _unanswered.is_due():
            _log.error("the database does not answer: %s", cause_of(error))
    else:
        note_refusal(found.code, where)
    services.metrics.refused.labels(found.code).inc()
    return found


def _translated(error: Exception) -> ApiError | None:
    """Return an error as we say it; None for one that nobody expected."""
    match error:
        case ApiError():
            return error
        case RequestValidationError() | ValidationError():
            return _validation_error(error)
        case HTTPException():
            return _http_error(error)
        case SQLAlchemyError():
            return storage_failed()
    return None


def _http_error(error: HTTPException) -> ApiError:
    """Say what Starlette itself refuses."""
    codes = {404: "not-found", 405: "bad-method"}
    code = codes.get(error.status_code)
    return ApiError("bad-message", detail=str(error.detail)) if code is None else ApiError(code)


def _validation_error(error: RequestValidationError | ValidationError) -> ApiError:
    """Say which part of a request is not as it should be."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    detail = f"{place}: {first['msg']}" if place else str(first["msg"])
    return ApiError("bad-message", detail=detail)


# --- Over HTTP ------------------------------------------------------------------------------


def add_error_handlers(app: FastAPI) -> None:
    """Have every kind of failure answered."""
    for kind in (ApiError, RequestValidationError, HTTPException, SQLAlchemyError):
        app.add_exception_handler(kind, _answered)
    app.add_middleware(_AnswerUnexpected)


def json_error(error: ApiError) -> JSONResponse:
    """Tell an error to a program."""
    headers = {"Retry-After": str(error.retry)} if error.retry else None
    answer = ErrorAnswer(**error.answer()).model_dump(exclude_none=True, exclude_defaults=True)
    return JSONResponse(answer, error.kind.status, headers=headers)


def is_for_programs(path: str) -> bool:
    """Return whether a program reads what is at a path, and not a person."""
    return path in ("/api", "/static") or path.startswith(("/api/", "/static/"))


async def _answered(request: Request, error: Exception) -> Response:
    """Answer a request that is refused or has failed, as a program or a person reads it."""
    services, path = await services_of(request), request.url.path
    found = answer_for(services, error, path)
    if is_for_programs(path):
        answer: Response = json_error(found)
    else:
        if isinstance(error, RequestValidationError):
            # What is wrong in the address of a page leads nowhere.
            found = ApiError("not-found")
        answer = shell.problem(request, services, found)
    if isinstance(error, HTTPException):
        answer.headers.update(error.headers or {})
    return answer


async def refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request outside of the app's own handlers."""
    answer = await _answered(Request(scope), error)
    await answer(scope, receive, send)


async def leaves_within(seconds: float, receive: Receive) -> bool:
    """Wait, and return whether the client has gone away meanwhile. What it sends is not kept."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not (await receive())["type"].endswith(".disconnect"):
                pass
            return True
    return False


class _AnswerUnexpected:
    """Answers what nobody expected, inside of the guard, so that this answer is guarded too.

    A handler for ``Exception`` would be outside of all middleware: Starlette puts it there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except Exception as error:
            if started:
                raise
            await refuse(error, scope, receive, send)
