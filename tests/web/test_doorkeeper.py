"""Connections: so many for each address, and so many requests on them."""

from ipaddress import ip_network

from kamon.web.connections import CONNECTIONS_PER_ADDRESS, Doorkeeper
from kamon.web.limits import BUDGETS

ARRIVALS = BUDGETS["arrivals"]
EVE, ANN = "192.0.2.1", "192.0.2.2"


def test_an_address_has_so_many_connections_and_gets_their_places_back() -> None:
    door = Doorkeeper(10_000)
    assert all(door.admit(EVE) for _ in range(CONNECTIONS_PER_ADDRESS))
    assert not door.admit(EVE)
    assert door.admit(ANN)
    door.release(EVE)
    assert door.admit(EVE)


def test_there_is_a_limit_for_all_together() -> None:
    door = Doorkeeper(1)
    assert door.admit(EVE)
    assert not door.admit(ANN)


def test_an_ipv6_network_counts_as_one_address() -> None:
    door = Doorkeeper(10_000)
    for number in range(CONNECTIONS_PER_ADDRESS):
        assert door.admit(f"2001:db8:1:2::{number:x}")
    assert not door.admit("2001:db8:1:2:ffff::1")
    assert door.admit("2001:db8:1:3::1")


def test_who_asks_too_often_is_not_read_for_a_while() -> None:
    door = Doorkeeper(10_000)
    delays = [door.pace(EVE) for _ in range(int(ARRIVALS.burst) + 60)]
    assert not any(delays[: int(ARRIVALS.burst)])
    # Everything beyond the budget makes the next one wait longer, on whichever connection.
    assert 0.5 < delays[-1] <= 60 / ARRIVALS.rate
    assert door.pace(ANN) == 0


def test_who_has_asked_too_often_cannot_open_another_connection() -> None:
    door = Doorkeeper(10_000)
    assert door.may_ask(EVE, ARRIVALS.burst + 60)
    assert not door.may_ask(EVE)
    assert not door.admit(EVE)
    assert door.admit(ANN)


def test_a_trusted_proxy_is_not_paced() -> None:
    door = Doorkeeper(10_000, [ip_network("192.0.2.0/24")])
    assert all(door.admit(EVE) for _ in range(CONNECTIONS_PER_ADDRESS + 1))
    assert not any(door.pace(EVE) for _ in range(int(2 * ARRIVALS.burst)))
