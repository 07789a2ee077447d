"""Budgets: nobody can take the whole server, and everybody gets theirs back."""

import pytest
from starlette.requests import HTTPConnection

from kamon.web import limits
from kamon.web.errors import ApiError
from kamon.web.limits import BUDGETS, SOCKETS_PER_CLIENT, Budgets, client_of


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def spend_all(purse: Budgets, client: str, what: str) -> None:
    for _ in range(int(BUDGETS[what].burst)):
        purse.spend(client, what)


@pytest.mark.parametrize("what", sorted(BUDGETS))
def test_a_spent_budget_is_refused_and_says_when_there_is_some_again(what: str) -> None:
    hands = Hands()
    purse = Budgets(hands)
    spend_all(purse, "ann", what)
    with pytest.raises(ApiError, match=f"Try again in .* s\\. .{what} of this address") as caught:
        purse.spend("ann", what)
    assert caught.value.code == "too-many"
    assert caught.value.retry is not None
    assert caught.value.retry >= 1
    hands.now += caught.value.retry
    purse.spend("ann", what)


def test_what_is_refused_costs_nothing() -> None:
    hands = Hands()
    purse = Budgets(hands)
    spend_all(purse, "ann", "messages")
    for _ in range(100):
        with pytest.raises(ApiError):
            purse.spend("ann", "messages")
    hands.now += 1.01 / BUDGETS["messages"].rate
    purse.spend("ann", "messages")


def test_a_budget_fills_with_time_but_never_beyond_its_brim() -> None:
    hands = Hands()
    purse = Budgets(hands)
    spend_all(purse, "ann", "messages")
    hands.now += 10**6
    spend_all(purse, "ann", "messages")
    with pytest.raises(ApiError):
        purse.spend("ann", "messages")


def test_clients_and_budgets_do_not_touch_each_other() -> None:
    purse = Budgets(Hands())
    spend_all(purse, "ann", "games")
    purse.spend("bob", "games")
    purse.spend("ann", "messages")


def test_a_dear_thing_costs_more() -> None:
    purse = Budgets(Hands())
    purse.spend("ann", "analysis", BUDGETS["analysis"].burst)
    with pytest.raises(ApiError):
        purse.spend("ann", "analysis")


def test_what_is_required_is_not_taken() -> None:
    purse = Budgets(Hands())
    for _ in range(3):
        purse.require("ann", "thinking", BUDGETS["thinking"].burst)
    with pytest.raises(ApiError):
        purse.require("ann", "thinking", BUDGETS["thinking"].burst + 1)


def test_what_was_used_is_charged_even_where_too_little_is_left() -> None:
    hands = Hands()
    purse, budget = Budgets(hands), BUDGETS["thinking"]
    purse.charge("ann", "thinking", budget.burst + 5)
    hands.now += 4 / budget.rate
    with pytest.raises(ApiError) as caught:
        purse.require("ann", "thinking", 0)
    assert caught.value.retry == 1
    hands.now += 2 / budget.rate
    purse.require("ann", "thinking", 1)
    # What is given back never fills a budget beyond its brim.
    purse.charge("ann", "thinking", -1000)
    with pytest.raises(ApiError):
        purse.require("ann", "thinking", budget.burst + 1)


def test_no_debt_is_larger_than_a_budget() -> None:
    hands = Hands()
    purse, budget = Budgets(hands), BUDGETS["thinking"]
    purse.charge("ann", "thinking", 100 * budget.burst)
    hands.now += budget.burst / budget.rate
    purse.require("ann", "thinking", 0)


def test_a_scale_widens_all_budgets() -> None:
    purse = Budgets(Hands(), scale=2)
    spend_all(purse, "ann", "games")
    spend_all(purse, "ann", "games")
    with pytest.raises(ApiError):
        purse.spend("ann", "games")


def test_those_who_have_not_come_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLIENTS_REMEMBERED", 3)
    purse = Budgets(Hands())
    for client in ("ann", "bob", "cid", "dan", "ann", "eve"):
        purse.spend(client, "games")
    assert [client for client, _ in purse._left] == ["dan", "ann", "eve"]


def test_sockets_are_counted_and_given_back() -> None:
    purse = Budgets(Hands())
    for _ in range(SOCKETS_PER_CLIENT):
        purse.open_socket("ann")
    with pytest.raises(ApiError, match="connections of this address"):
        purse.open_socket("ann")
    purse.open_socket("bob")
    purse.close_socket("ann")
    purse.open_socket("ann")
    for _ in range(SOCKETS_PER_CLIENT):
        purse.close_socket("ann")
    purse.close_socket("bob")
    assert purse._sockets == {}


# --- Whose budget ---------------------------------------------------------------------------


def client(host: str | None) -> str:
    address = None if host is None else (host, 50_000)
    return client_of(HTTPConnection({"type": "http", "client": address, "headers": []}))


def test_two_addresses_of_one_ipv6_network_share_a_budget() -> None:
    # A provider gives every customer such a network.
    one, other = client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff:ffff:ffff:ffff")
    assert one == other == "2001:db8:1:2::/64"
    purse = Budgets(Hands())
    spend_all(purse, one, "games")
    with pytest.raises(ApiError):
        purse.spend(other, "games")
    purse.spend(client("2001:db8:1:3::1"), "games")


def test_two_ipv4_addresses_have_budgets_of_their_own() -> None:
    assert client("192.0.2.1") == "192.0.2.1"
    assert client("192.0.2.2") == "192.0.2.2"


def test_an_ipv4_address_that_is_written_as_ipv6_counts_as_ipv4() -> None:
    assert client("::ffff:192.0.2.1") == client("::ffff:c000:201") == client("192.0.2.1")
    assert client("::ffff:192.0.2.1") != client("::ffff:192.0.2.2")


def test_the_loopback_and_what_is_no_address_have_a_budget_too() -> None:
    assert client("::1") == "::/64"
    assert client("fe80::1%eth0") == "fe80::/64"
    assert client("testclient") == "testclient"
    assert client("") == ""
    assert client(None) == "unknown"
