"""Reviews run to their end, through the page's own socket.

``make soak`` reviews more games: KAMON_REVIEWS says how many.
"""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

import pytest

from kamon.web.engine.reviews import REVIEW_SECONDS
from web_server import PATIENCE, Client, Server

REVIEWS: Final = int(os.environ.get("KAMON_REVIEWS", "2"))
# A page that hears nothing for this long would believe that the server is gone.
SILENCE: Final = 30.0


def played(ann: Client, level: int, rng: Random) -> str:
    """Play a game against the computer with random moves, to its end; return its line."""
    game = ann.new(level=level, side=rng.choice(["black", "white"]))
    while True:
        view = ann.view(game)
        if view["status"] != "playing":
            return " ".join([view["layout"], *view["moves"]])
        if view["board"]["turn"] in view["you"]:
            ann.do(game, "move", cell=rng.choice(view["board"]["legal"]))
        else:
            time.sleep(0.02)


def review(ann: Client, line: str) -> tuple[list[dict[str, Any]], float]:
    """Ask for a review and listen to its end; return what was sent, and the longest silence."""
    heard, silence, last = list[dict[str, Any]](), 0.0, time.monotonic()
    with ann.socket() as page:
        page.send(json.dumps({"type": "review", "line": line}))
        while True:
            heard.append(json.loads(page.recv(timeout=REVIEW_SECONDS + 6 * PATIENCE)))
            silence, last = max(silence, time.monotonic() - last), time.monotonic()
            if heard[-1].get("end") or heard[-1]["type"] == "error":
                return heard, silence


@pytest.mark.thorough
def test_every_review_ends_with_what_could_be_proven(own_server: Server) -> None:
    def play_and_review(number: int) -> None:
        with Client(own_server) as ann:
            line = played(ann, 1 + number % 5, Random(number))
            heard, silence = review(ann, line)
        assert heard[-1].get("end"), heard[-1]
        found = [each for each in heard if "turns" in each][-1]
        assert found["story"]["kind"] != "open"
        # The last moves of a game are always proven.
        assert found["turns"][-1]["after"] is not None
        assert silence < SILENCE

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(play_and_review, range(REVIEWS)))
