"""How many people are here: whoever has a socket, and whoever has just been seen."""

from kamon.web.games import people
from kamon.web.games.people import People


def test_people_are_counted_once_and_forgotten_after_a_while() -> None:
    now = 0
    here = People(lambda: now)
    assert here.count() == 0
    here.see("ann")
    here.connect("ann")
    here.connect("ann")
    here.see("bea")
    assert here.count() == 2
    now = people.SEEN_FOR
    assert here.count() == 1
    here.disconnect("ann")
    assert here.count() == 1
    here.disconnect("ann")
    assert here.count() == 0


def test_who_is_seen_again_stays() -> None:
    now = 0
    here = People(lambda: now)
    here.see("ann")
    here.see("bea")
    now = people.SEEN_FOR - 1
    here.see("ann")
    now = people.SEEN_FOR + 1
    assert here.count() == 1


def test_nobody_without_a_secret_is_counted() -> None:
    here = People(lambda: 0)
    here.see(None)
    here.connect(None)
    here.disconnect(None)
    assert here.count() == 0
