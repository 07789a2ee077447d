"""Identity: who may play for a side, and what a cookie may not do on its own."""

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kamon.position import Side
from kamon.web.identity import COOKIE, Visitor, hashed, new_secret, require_origin, visitor
from kamon.web.rooms import RoomError

OURS = ["https://kamon.example", "http://127.0.0.1:8037"]
BY_COOKIE = Visitor("0" * 64, by_cookie=True)


def refusal(headers: dict[str, str], allowed: list[str]) -> str:
    with pytest.raises(RoomError) as caught:
        require_origin(BY_COOKIE, headers, allowed)
    return caught.value.code


# --- Secrets --------------------------------------------------------------------------------


def test_a_secret_has_256_bits_and_no_two_are_the_same() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(base64.urlsafe_b64decode(each + "=")) == 32 for each in made)


def test_only_the_hash_of_a_secret_is_known() -> None:
    secret = new_secret()
    assert visitor({}, {COOKIE: secret}) == Visitor(hashed(secret), by_cookie=True)
    assert visitor({"authorization": f"Bearer {secret}"}, {}) == Visitor(
        hashed(secret), by_cookie=False
    )
    assert secret not in repr(visitor({}, {COOKIE: secret}))
    assert len(hashed(secret)) == 64


def test_a_header_goes_before_a_cookie() -> None:
    header, cookie = new_secret(), new_secret()
    found = visitor({"authorization": f"bearer {header}"}, {COOKIE: cookie})
    assert found == Visitor(hashed(header), by_cookie=False)


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer short",
        "Bearer " + "a" * 42,
        "Bearer " + "a" * 44,
        "Bearer " + "a" * 42 + "!",
        "Bearer " + "a" * 42 + "é",
        "Basic " + "a" * 43,
        "Bearer " + "a" * 43 + " " + "b" * 43,
        "a" * 43,
    ],
)
def test_a_malformed_header_is_refused_even_beside_a_good_cookie(header: str) -> None:
    with pytest.raises(RoomError) as caught:
        visitor({"authorization": header}, {COOKIE: new_secret()})
    assert caught.value.code == "bad-secret"


@pytest.mark.parametrize(
    "cookie", ["", "short", "a" * 42, "a" * 44, "a" * 42 + "=", "a" * 42 + "\n"]
)
def test_a_malformed_cookie_is_nobody(cookie: str) -> None:
    assert visitor({}, {COOKIE: cookie}) == Visitor(None, by_cookie=True)


def test_without_anything_one_is_nobody() -> None:
    assert visitor({}, {}) == Visitor(None, by_cookie=True)


@given(st.text())
def test_no_header_whatever_breaks_us(header: str) -> None:
    with contextlib.suppress(RoomError):
        found = visitor({"authorization": header}, {})
        assert found.holder is None or not found.by_cookie


# --- Seats ----------------------------------------------------------------------------------


def test_a_visitor_plays_for_the_sides_they_hold() -> None:
    ann, bob = "a" * 64, "b" * 64
    holders = [(Side.BLACK, ann), (Side.WHITE, bob), (Side.WHITE, ann)]
    assert Visitor(ann, by_cookie=True).sides(holders) == set(Side)
    assert Visitor(bob, by_cookie=True).sides(holders) == {Side.WHITE}
    assert Visitor("c" * 64, by_cookie=True).sides(holders) == set()
    assert Visitor(None, by_cookie=True).sides(holders) == set()


# --- Origins --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin", ["https://kamon.example", "https://KAMON.example:443", "http://127.0.0.1:8037"]
)
def test_a_cookie_acts_from_our_own_page(origin: str) -> None:
    require_origin(BY_COOKIE, {"origin": origin}, OURS)


@pytest.mark.parametrize(
    "origin",
    [
        "http://kamon.example",
        "https://kamon.example:8443",
        "https://kamon.example.evil.example",
        "https://evil.example",
        "https://evil.example/https://kamon.example",
        "https://kamon.example@evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:80370",
        "http://localhost:8037",
        "null",
        "kamon.example",
        "//kamon.example",
        "https:",
        "https://",
        "http://[",
        "http://127.0.0.1:port",
        "http://127.0.0.1:99999",
        "",
        " ",
    ],
)
def test_a_cookie_does_nothing_from_anywhere_else(origin: str) -> None:
    assert refusal({"origin": origin}, OURS) == "bad-origin"


def test_a_cookie_does_nothing_without_an_origin() -> None:
    assert refusal({}, OURS) == "bad-origin"


@pytest.mark.parametrize("origin", ["http://[", "http://127.0.0.1:port", "null", "http://", ""])
def test_a_malformed_origin_is_refused_even_where_our_own_name_is_malformed(origin: str) -> None:
    # Our own name may come from a Host header, which is no better than who sent it.
    assert refusal({"origin": origin}, [origin, "http://[", "https://x:port"]) == "bad-origin"


def test_where_nothing_is_ours_every_origin_is_refused() -> None:
    assert refusal({"origin": "https://kamon.example"}, []) == "bad-origin"


def test_a_nobody_needs_an_origin_too() -> None:
    with pytest.raises(RoomError):
        require_origin(Visitor(None, by_cookie=True), {}, OURS)


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "https://evil.example"}, {"origin": "http://["}]
)
def test_a_secret_in_a_header_needs_no_origin(headers: dict[str, str]) -> None:
    require_origin(Visitor("0" * 64, by_cookie=False), headers, OURS)


@given(st.text())
def test_no_origin_whatever_breaks_us(origin: str) -> None:
    with pytest.raises(RoomError):
        require_origin(BY_COOKIE, {"origin": origin}, OURS)
