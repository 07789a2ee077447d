"""What a first visit costs: few requests, and few bytes on the wire."""

import pytest

from e2e.conftest import Guests

# By page: kilobytes on the wire with an empty cache, and requests.
LIMITS = {"home": (95, 15), "game": (115, 20), "puzzle": (115, 21), "learn": (110, 20)}


@pytest.mark.parametrize("name", LIMITS)
def test_a_first_visit_is_light(guests: Guests, name: str) -> None:
    guest = guests.come()
    paths = {"home": "/", "puzzle": "/puzzles/day", "learn": "/learn"}
    path = paths[name] if name in paths else guests.come().set_up("computer", level=1)
    sent: list[float] = []
    session = guest.page.context.new_cdp_session(guest.page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    guest.go(path)
    guest.page.wait_for_load_state("networkidle")
    kilobytes, requests = LIMITS[name]
    # Files that came from elsewhere than the wire have no bytes.
    assert 10 < len(sent) <= requests, len(sent)
    assert 50 < sum(sent) / 1000 <= kilobytes, sum(sent)
