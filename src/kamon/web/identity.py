"""Who somebody is: a secret that only their browser or program has. We keep its hash.

A browser sends it in a cookie that no script can read, and must also show by its Origin that our
own page is asking. Other programs send it in an Authorization header and need no Origin.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kamon.position import Side
from kamon.web.rooms import RoomError

COOKIE: Final = "kamon"
COOKIE_AGE: Final = 400 * 24 * 3600
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    """Make a secret of 256 bits."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """Return what is stored of a secret. It is random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a secret (its hash), and whether it came by cookie."""

    holder: str | None
    by_cookie: bool

    def keeps(self, holder: str) -> bool:
        """Tell whether something with this hash is the visitor's."""
        return self.holder is not None and hmac.compare_digest(self.holder, holder)

    def sides(self, holders: Iterable[tuple[Side, str]]) -> frozenset[Side]:
        """Return the sides that this visitor may play for."""
        return frozenset(side for side, holder in holders if self.keeps(holder))


def visitor(headers: Mapping[str, str], cookies: Mapping[str, str]) -> Visitor:
    """Find out who asks."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer" or not _SECRET.fullmatch(token.strip()):
            raise RoomError("bad-secret", "the Authorization header holds no secret of ours")
        return Visitor(hashed(token.strip()), by_cookie=False)
    secret = cookies.get(COOKIE, "")
    return Visitor(hashed(secret) if _SECRET.fullmatch(secret) else None, by_cookie=True)


def require_origin(visitor: Visitor, headers: Mapping[str, str], allowed: Iterable[str]) -> None:
    """Refuse what a cookie does where it is not our own page that asks."""
    if not visitor.by_cookie:
        return
    origin = _origin(headers.get("origin", ""))
    if origin is None or origin not in {_origin(each) for each in allowed}:
        raise RoomError("bad-origin", "this can only be done from our own page")


def _origin(url: str) -> tuple[str, str, int] | None:
    """Take an origin apart: scheme, host and port; None for what is none of the web."""
    ports = {"http": 80, "https": 443}
    try:
        parts = urlsplit(url)
        if parts.scheme not in ports or not parts.hostname:
            return None
        return parts.scheme, parts.hostname, parts.port or ports[parts.scheme]
    except ValueError:
        return None
