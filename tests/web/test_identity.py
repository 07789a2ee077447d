"""Identity: who may play for a side, and what a cookie may not do on its own."""

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kamon.position import Side
from kamon.web.errors import ApiError
from kamon.web.identity import (
    COOKIE,
    SECURE_COOKIE,
    Secrets,
    Visitor,
    hashed,
    new_token,
    refuse_foreign_pages,
    require_origin,
)

SECRETS = Secrets(b"the key of this server")
# A good one that is the same in every run: the names of tests are made of it.
GOOD = "g" * 43 + SECRETS._signature("g" * 43)
OURS = ["https://kamon.example", "http://127.0.0.1:8037"]
BY_COOKIE = Visitor("0" * 64, by_cookie=True)


def refusal(headers: dict[str, str], allowed: list[str]) -> str:
    with pytest.raises(ApiError) as caught:
        require_origin(BY_COOKIE, headers, allowed)
    return caught.value.code


# --- Secrets --------------------------------------------------------------------------------


def test_a_secret_has_256_bits_and_no_two_are_the_same() -> None:
    made = {SECRETS.new() for _ in range(100)}
    assert len({each[:43] for each in made}) == 100
    assert all(len(base64.urlsafe_b64decode(each[:43] + "=")) == 32 for each in made)


def test_a_token_for_a_link_has_256_bits_and_no_two_are_the_same() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(len(base64.urlsafe_b64decode(each + "=")) == 32 for each in made)


def test_only_the_hash_of_a_secret_is_known() -> None:
    secret = SECRETS.new()
    assert SECRETS.visitor({}, {COOKIE: secret}) == Visitor(hashed(secret), by_cookie=True)
    assert SECRETS.visitor({"authorization": f"Bearer {secret}"}, {}) == Visitor(
        hashed(secret), by_cookie=False
    )
    assert secret not in repr(SECRETS.visitor({}, {COOKIE: secret}))
    assert len(hashed(secret)) == 64


def test_a_header_goes_before_a_cookie() -> None:
    header, cookie = SECRETS.new(), SECRETS.new()
    found = SECRETS.visitor({"authorization": f"bearer {header}"}, {COOKIE: cookie})
    assert found == Visitor(hashed(header), by_cookie=False)


MALFORMED = [
    "short",
    "a" * 42,
    "a" * 43,
    "a" * 44,
    "a" * 64,
    "a" * 65,
    "a" * 66,
    "a" * 42 + "!",
    "a" * 42 + "é",
    "a" * 42 + "=",
    "a" * 42 + "\n",
    "a" * 43 + "!" * 22,
]


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        *(f"Bearer {each}" for each in MALFORMED),
        "Bearer " + GOOD + " " + GOOD,
    ],
)
def test_a_malformed_header_is_refused_even_beside_a_good_cookie(header: str) -> None:
    with pytest.raises(ApiError) as caught:
        SECRETS.visitor({"authorization": header}, {COOKIE: SECRETS.new()})
    assert caught.value.code == "bad-secret"


@pytest.mark.parametrize("header", ["Basic " + GOOD, "Basic YTpi", "Digest x", GOOD])
def test_what_a_proxy_asked_for_is_no_concern_of_ours(header: str) -> None:
    cookie = SECRETS.new()
    found = SECRETS.visitor({"authorization": header}, {COOKIE: cookie})
    assert found == Visitor(hashed(cookie), by_cookie=True)


@pytest.mark.parametrize("cookie", ["", *MALFORMED, GOOD + "\n", " " + GOOD])
@pytest.mark.parametrize("name", [COOKIE, SECURE_COOKIE])
def test_a_malformed_cookie_is_nobody(name: str, cookie: str) -> None:
    assert SECRETS.visitor({}, {name: cookie}) == Visitor(None, by_cookie=True)
    assert SECRETS.cookie({name: cookie}) is None


def test_without_anything_one_is_nobody() -> None:
    assert SECRETS.visitor({}, {}) == Visitor(None, by_cookie=True)


@given(st.text())
def test_no_header_whatever_breaks_us(header: str) -> None:
    with contextlib.suppress(ApiError):
        found = SECRETS.visitor({"authorization": header}, {})
        assert found.holder is None or not found.by_cookie


@given(st.text())
def test_no_cookie_whatever_breaks_us(cookie: str) -> None:
    assert SECRETS.visitor({}, {COOKIE: cookie}).holder is None


# --- Signatures -----------------------------------------------------------------------------


def test_a_secret_that_the_server_has_not_made_is_refused() -> None:
    # Otherwise somebody could give a visitor a secret, and share every seat that they take.
    planted = [new_token(), new_token() + "A" * 22, Secrets(b"another key").new()]
    for secret in planted:
        assert not SECRETS.knows(secret)
        assert SECRETS.visitor({}, {COOKIE: secret, SECURE_COOKIE: secret}).holder is None
        with pytest.raises(ApiError) as caught:
            SECRETS.visitor({"authorization": f"Bearer {secret}"}, {})
        assert caught.value.code == "bad-secret"


def test_a_secret_is_good_for_every_server_with_the_key_and_for_no_other() -> None:
    secret = SECRETS.new()
    assert SECRETS.knows(secret)
    assert Secrets(b"the key of this server").knows(secret)
    assert not Secrets(b"the key of another server").knows(secret)


def test_a_signature_belongs_to_one_secret() -> None:
    one, other = SECRETS.new(), SECRETS.new()
    assert not SECRETS.knows(one[:43] + other[43:])
    for at in (0, 20, 42, 43, 50, 63):
        letter = "A" if one[at] != "A" else "B"
        assert not SECRETS.knows(one[:at] + letter + one[at + 1 :])


def test_unsigned_secrets_are_good_only_where_they_hold_something() -> None:
    old = new_token()
    secrets = Secrets(b"key", frozenset({hashed(old)}))
    assert secrets.knows(old)
    assert secrets.visitor({}, {COOKIE: old}) == Visitor(hashed(old), by_cookie=True)
    assert secrets.visitor({"authorization": f"Bearer {old}"}, {}).holder == hashed(old)
    assert not secrets.knows(new_token())
    # Nobody can sign for it either.
    assert not secrets.knows(old + "A" * 22)


def test_the_cookie_of_the_safer_name_goes_first() -> None:
    # A neighbouring host can set the other one.
    safer, other = SECRETS.new(), SECRETS.new()
    for cookies in (
        {SECURE_COOKIE: safer, COOKIE: other},
        {COOKIE: other, SECURE_COOKIE: safer},
    ):
        assert SECRETS.cookie(cookies) == safer
        assert SECRETS.visitor({}, cookies).holder == hashed(safer)
    assert SECRETS.cookie({COOKIE: other}) == other
    # One that is not ours does not hide one that is.
    assert SECRETS.cookie({SECURE_COOKIE: "planted", COOKIE: other}) == other


def test_the_safer_name_is_one_that_browsers_protect() -> None:
    assert SECURE_COOKIE.startswith("__Host-")


# --- Seats ----------------------------------------------------------------------------------


def test_a_visitor_plays_for_the_sides_they_hold() -> None:
    ann, bob = "a" * 64, "b" * 64
    holders = [(Side.BLACK, ann), (Side.WHITE, bob), (Side.WHITE, ann)]
    assert Visitor(ann, by_cookie=True).sides(holders) == set(Side)
    assert Visitor(bob, by_cookie=True).sides(holders) == {Side.WHITE}
    assert Visitor("c" * 64, by_cookie=True).sides(holders) == set()
    assert Visitor(None, by_cookie=True).sides(holders) == set()


def test_what_is_nobodys_is_not_kept_by_nobody() -> None:
    # Studies that were let go have an empty holder.
    assert not Visitor(None, by_cookie=True).keeps("")
    assert not Visitor("a" * 64, by_cookie=True).keeps("")
    assert Visitor("a" * 64, by_cookie=True).keeps("a" * 64)


def test_whoever_has_no_secret_is_told_so() -> None:
    assert Visitor("a" * 64, by_cookie=True).require() == "a" * 64
    with pytest.raises(ApiError) as caught:
        Visitor(None, by_cookie=True).require()
    assert caught.value.code == "no-secret"


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
    with pytest.raises(ApiError):
        require_origin(Visitor(None, by_cookie=True), {}, OURS)


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "https://evil.example"}, {"origin": "http://["}]
)
def test_a_secret_in_a_header_needs_no_origin(headers: dict[str, str]) -> None:
    require_origin(Visitor("0" * 64, by_cookie=False), headers, OURS)


@given(st.text())
def test_no_origin_whatever_breaks_us(origin: str) -> None:
    with pytest.raises(ApiError):
        require_origin(BY_COOKIE, {"origin": origin}, OURS)


# --- Pages of others ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "https://kamon.example"}, {"origin": "http://127.0.0.1:8037"}]
)
def test_programs_and_our_own_page_may_ask(headers: dict[str, str]) -> None:
    refuse_foreign_pages(headers, OURS)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://kamon.example", "null", "", "http://["]
)
def test_a_page_of_another_site_may_not_ask(origin: str) -> None:
    with pytest.raises(ApiError) as caught:
        refuse_foreign_pages({"origin": origin}, OURS)
    assert caught.value.code == "bad-origin"
