"""Who somebody is: a secret that only their browser or program has. We keep its hash.

A browser sends it in a cookie that no script can read, and must also show by its Origin that our
own page is asking. Other programs send it in an Authorization header and need no Origin.

The server signs the secrets that it makes, so it need store nothing for people who only look, and
takes none that somebody has made up. A genuine one could still be planted in a cookie: over TLS the
name of the cookie prevents that, over plain HTTP nothing does.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kamon.position import Side
from kamon.web.errors import ApiError

COOKIE: Final = "kamon"
# Browsers take a cookie of such a name only over TLS, from the host itself and for all of it.
SECURE_COOKIE: Final = "__Host-kamon"
COOKIE_AGE: Final = 400 * 24 * 3600
_RANDOM_LENGTH: Final = 43
_SIGNATURE_BYTES: Final = 16
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}([A-Za-z0-9_-]{22})?")


def new_token() -> str:
    """Make 256 random bits, as text."""
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

    def require(self) -> str:
        """Return the hash of the visitor's secret, or say that there is none."""
        if self.holder is None:
            raise ApiError("no-secret")
        return self.holder


class Secrets:
    """Makes secrets and knows its own. ``unsigned`` are hashes from before they were signed."""

    def __init__(self, key: bytes, unsigned: frozenset[str] = frozenset()) -> None:
        self._key = key
        self._unsigned = unsigned

    def new(self) -> str:
        """Make a secret of 256 bits, and its signature."""
        random = new_token()
        return random + self._signature(random)

    def knows(self, secret: str) -> bool:
        """Tell whether this server has made a secret."""
        if not _SECRET.fullmatch(secret):
            return False
        random, signature = secret[:_RANDOM_LENGTH], secret[_RANDOM_LENGTH:]
        if not signature:
            return hashed(secret) in self._unsigned
        return hmac.compare_digest(signature, self._signature(random))

    def _signature(self, random: str) -> str:
        digest = hmac.digest(self._key, random.encode(), "sha256")[:_SIGNATURE_BYTES]
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def pseudonym(self, client: str) -> str:
        """Name an address so that only somebody with our key could find out which one it is."""
        return hmac.digest(self._key, f"client {client}".encode(), "sha256")[:8].hex()

    def visitor(
        self, headers: Mapping[str, str], cookies: Mapping[str, str], *, secure: bool = False
    ) -> Visitor:
        """Find out who asks; ``secure`` tells that they have come over TLS."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # Any other scheme, such as Basic, was meant for a proxy that protects the whole server.
        if scheme.lower() == "bearer":
            if not self.knows(token.strip()):
                raise ApiError("bad-secret")
            return Visitor(hashed(token.strip()), by_cookie=False)
        secret = self.cookie(cookies, secure=secure)
        return Visitor(None if secret is None else hashed(secret), by_cookie=True)

    def cookie(self, cookies: Mapping[str, str], *, secure: bool = False) -> str | None:
        """Return the secret in somebody's cookies, if it is one of ours.

        Over TLS a cookie of the plain name may have been planted by a neighbouring site, with a
        secret that this site knows. Only those from before secrets were signed are taken.
        """
        protected, plain = cookies.get(SECURE_COOKIE, ""), cookies.get(COOKIE, "")
        if self.knows(protected):
            return protected
        if self.knows(plain) and (not secure or len(plain) == _RANDOM_LENGTH):
            return plain
        return None

    def forget(self, holder: str) -> None:
        """Take no unsigned secret with this hash any more."""
        self._unsigned = self._unsigned - {holder}


def require_origin(visitor: Visitor, headers: Mapping[str, str], allowed: Iterable[str]) -> None:
    """Refuse what a cookie does where it is not our own page that asks."""
    if visitor.by_cookie:
        _require_own(headers.get("origin", ""), allowed)


def refuse_foreign_pages(headers: Mapping[str, str], allowed: Iterable[str]) -> None:
    """Refuse what another site's page asks for; programs, which name no origin, may ask."""
    origin = headers.get("origin")
    if origin is not None:
        _require_own(origin, allowed)


def _require_own(origin: str, allowed: Iterable[str]) -> None:
    found = _origin(origin)
    if found is None or found not in {_origin(each) for each in allowed}:
        raise ApiError("bad-origin")


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
