"""Fair queues: everybody has a turn, however often somebody else asks."""

import asyncio

import pytest

from kamon.web.engine.fairness import FairQueue, Places
from kamon.web.errors import ApiError

pytestmark = pytest.mark.anyio


async def test_clients_are_served_in_turn() -> None:
    queue: FairQueue[str] = FairQueue(10)
    for item in ("e1", "e2", "e3"):
        queue.put("eve", item)
    queue.put("ann", "a1")
    queue.put("bob", "b1")
    assert [await queue.get() for _ in range(5)] == ["e1", "a1", "b1", "e2", "e3"]
    assert len(queue) == 0


async def test_whoever_waits_is_woken_by_the_next_item() -> None:
    queue: FairQueue[int] = FairQueue(10)
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.put("ann", 7)
    assert await asyncio.wait_for(waiting, 5) == 7


async def test_a_full_queue_says_so() -> None:
    queue: FairQueue[int] = FairQueue(1)
    queue.put("ann", 1)
    with pytest.raises(asyncio.QueueFull):
        queue.put("bob", 2)


async def test_places_are_taken_and_given_back() -> None:
    places = Places(1, "pictures")
    with places.one("eve"):
        with pytest.raises(ApiError) as caught:
            places.take("eve")
        assert caught.value.code == "too-many"
        places.take("ann")
    places.take("eve")
