"""The shell of every page: HTML in the visitor's language, which the page's modules fill."""

from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup

from kamon import __version__, i18n
from kamon.web.errors import ApiError
from kamon.web.identity import COOKIE, COOKIE_AGE, SECURE_COOKIE
from kamon.web.pages.assets import STATIC, stamped
from kamon.web.services import Services

LANGUAGE_COOKIE: Final = "kamon-language"
THEME_COOKIE: Final = "kamon-theme"
# Whoever has it has been through the tutorial, and is not shown the way there first.
LEARNT_COOKIE: Final = "kamon-learnt"

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
    autoescape=select_autoescape(),
    trim_blocks=True,
)


# The crest in the header is part of the page, so that it costs no request.
_ICON: Final = Markup(  # noqa: S704 - a file of ours
    (STATIC / "icon.svg")
    .read_text(encoding="utf-8")
    .replace("<svg ", '<svg class="crest-icon" aria-hidden="true" ', 1)
    .strip()
)


def language_of(request: Request) -> str:
    """Choose the language: the one that was clicked, else what the browser asks for."""
    chosen = i18n.find(request.cookies.get(LANGUAGE_COOKIE, ""))
    return chosen or i18n.negotiate(i18n.accepted(request.headers.get("accept-language", "")))


def render(
    request: Request,
    services: Services,
    name: str,
    status: int = 200,
    **values: Any,  # noqa: ANN401 - whatever the template shows
) -> HTMLResponse:
    """Fill a template, and give a browser that has none its secret."""
    language = language_of(request)
    theme = request.cookies.get(THEME_COOKIE, "")
    html = _templates.get_template(name).render(
        _=lambda text: i18n.translate(language, text),
        language=language,
        languages=i18n.LANGUAGES,
        theme=theme if theme in ("light", "dark") else "auto",
        version=__version__,
        static=stamped(),
        icon=_ICON,
        **values,
    )
    response = HTMLResponse(
        html,
        status,
        headers={
            "Cache-Control": "no-store",
            "Content-Language": language,
            "Vary": "Cookie, Accept-Language",
        },
    )
    secure = services.is_secure(request)
    secret = services.secrets.cookie(request.cookies, secure=secure) or services.secrets.new()
    set_secret(request, services, response, secret)
    return response


def set_secret(request: Request, services: Services, response: Response, secret: str) -> None:
    """Put a secret into a browser. Set with every page, it lasts as long as somebody comes back."""
    secure = services.is_secure(request)
    response.set_cookie(
        SECURE_COOKIE if secure else COOKIE,
        secret,
        max_age=COOKIE_AGE,
        httponly=True,
        samesite="lax",
        secure=secure,
    )
    if secure and COOKIE in request.cookies:
        # From before cookies had the safer name.
        response.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=True)


def problem(request: Request, services: Services, error: ApiError) -> Response:
    """Show on a page of its own why there is nothing else to show, in the visitor's language."""
    language = language_of(request)
    sentence = i18n.translate(language, error.kind.sentence).format(**error.values)
    # That something is not there is told without naming what: the address may be mistyped.
    missing = error.kind.status == 404  # noqa: PLR2004
    answer = render(
        request,
        services,
        "problem.html",
        error.kind.status,
        page="problem",
        sentence=None if missing else sentence,
    )
    if error.retry:
        answer.headers["Retry-After"] = str(error.retry)
    return answer
