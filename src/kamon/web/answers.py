"""How every failure is answered: a page for people, JSON for programs, both from one table."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kamon.web.errors import ApiError, cause_of, storage_failed
from kamon.web.logs import note_refusal
from kamon.web.pages import shell
from kamon.web.schemas import ErrorAnswer
from kamon.web.services import Services, services_of

_log = logging.getLogger(__name__)


def add_error_handlers(app: FastAPI) -> None:
    """Have every kind of failure answered."""
    app.add_exception_handler(ApiError, _refused)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(SQLAlchemyError, _database_error)
    app.add_middleware(_AnswerUnexpected)


def json_error(error: ApiError) -> JSONResponse:
    """Tell an error to a program."""
    headers = {"Retry-After": str(error.retry)} if error.retry else None
    answer = ErrorAnswer(**error.answer()).model_dump(exclude_none=True, exclude_defaults=True)
    return JSONResponse(answer, error.kind.status, headers=headers)


def validation_error(error: RequestValidationError | ValidationError) -> ApiError:
    """Say which part of a request is not as it should be."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    detail = f"{place}: {first['msg']}" if place else str(first["msg"])
    return ApiError("bad-message", detail=detail)


def is_for_programs(path: str) -> bool:
    """Tell whether a program reads what is at a path, and not a person."""
    return path in ("/api", "/static") or path.startswith(("/api/", "/static/"))


def note_refused(services: Services, error: ApiError, where: str) -> None:
    """Count something that was refused, and log it if it may be an attack."""
    note_refusal(error.code, where)
    services.metrics.refused.labels(error.code).inc()


async def answer_to(request: Request, error: ApiError) -> Response:
    """Answer a request that is refused or has failed, as a program or a person reads it."""
    if is_for_programs(request.url.path):
        return json_error(error)
    return shell.problem(request, await services_of(request), error)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - it is registered for these
    note_refused(await services_of(request), error, request.url.path)
    return await answer_to(request, error)


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for these
    # What is wrong in the address of a page leads nowhere.
    program = is_for_programs(request.url.path)
    return await answer_to(request, validation_error(error) if program else ApiError("not-found"))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    codes = {404: "not-found", 405: "bad-method"}
    code = codes.get(error.status_code, "bad-message")
    detail = "" if code in codes.values() else str(error.detail)
    answer = await answer_to(request, ApiError(code, detail=detail))
    answer.headers.update(error.headers or {})
    return answer


async def _database_error(request: Request, error: Exception) -> Response:
    _log.error("the database does not answer: %s", cause_of(error))
    return await answer_to(request, storage_failed())


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
            answer = await _unexpected(Request(scope), error)
            await answer(scope, receive, send)


async def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("a request failed", exc_info=error)
    return await answer_to(request, ApiError("failed"))
