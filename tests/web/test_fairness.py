"""Fair queues: everybody has a turn, however often somebody else asks."""

import asyncio

import pytest

from kamon.web.engine.fairness import Average, FairQueue, Places, Turns, share_of
from kamon.web.errors import ApiError

pytestmark = pytest.mark.anyio


async def test_clients_are_served_in_turn() -> None:
    queue: FairQueue[str] = FairQueue(10, 10)
    for item in ("e1", "e2", "e3"):
        queue.put("eve", item)
    queue.put("ann", "a1")
    queue.put("bob", "b1")
    assert [await queue.get() for _ in range(5)] == ["e1", "a1", "b1", "e2", "e3"]
    assert len(queue) == 0


async def test_whoever_waits_is_woken_by_the_next_item() -> None:
    queue: FairQueue[int] = FairQueue(10, 10)
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.put("ann", 7)
    assert await asyncio.wait_for(waiting, 5) == 7


async def test_a_full_queue_says_so() -> None:
    queue: FairQueue[int] = FairQueue(1, 1)
    queue.put("ann", 1)
    with pytest.raises(asyncio.QueueFull):
        queue.put("bob", 2)


async def test_a_client_is_served_only_so_many_at_the_same_time() -> None:
    queue: FairQueue[str] = FairQueue(10, 1)
    queue.put("eve", "e1")
    queue.put("eve", "e2")
    assert queue.take() == "e1"
    assert queue.take() is None
    queue.put("ann", "a1")
    assert queue.take() == "a1"
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.done("eve")
    assert await asyncio.wait_for(waiting, 5) == "e2"


async def test_a_place_is_the_number_of_turns_until_one_is_served() -> None:
    queue: FairQueue[str] = FairQueue(10, 10)
    for client, item in (("eve", "e1"), ("eve", "e2"), ("ann", "a1"), ("eve", "e3"), ("ann", "a2")):
        queue.put(client, item)
    places = {
        item: queue.place("eve" if item[0] == "e" else "ann", item)
        for item in ("e1", "a1", "e2", "a2", "e3")
    }
    assert places == {"e1": 1, "a1": 2, "e2": 3, "a2": 4, "e3": 5}
    assert [queue.take() for _ in range(6)] == [*places, None]


async def test_an_item_that_is_removed_is_not_served() -> None:
    queue: FairQueue[str] = FairQueue(10, 10)
    queue.put("eve", "e1")
    queue.put("ann", "a1")
    queue.remove("eve", "e1")
    assert len(queue) == 1
    assert queue.take() == "a1"
    assert queue.take() is None


def test_one_worker_is_left_for_others_where_there_are_several() -> None:
    assert [share_of(workers) for workers in (1, 2, 4)] == [1, 1, 3]


async def test_workers_go_from_one_client_to_the_next() -> None:
    turns = Turns(["first", "second"], 3)
    mine = [turns.ask("eve") for _ in range(3)]
    assert [asked.done() for asked in mine] == [True, False, False]
    hers = turns.ask("ann")
    assert hers.result() == "second"
    assert (turns.waiting, turns.place("eve", mine[2]), turns.rounds(2)) == (2, 2, 1.0)
    turns.leave("eve", mine[1])
    turns.give_back("eve", "first")
    assert mine[2].result() == "first"
    # Who leaves when the worker has come gives it back.
    turns.leave("eve", mine[2])
    turns.give_back("ann", "second")
    assert turns.ask("bob").result() == "second"


async def test_only_so_many_wait_for_a_worker() -> None:
    turns = Turns(["only"], 1)
    turns.ask("eve")
    turns.ask("eve")
    with pytest.raises(asyncio.QueueFull):
        turns.ask("ann")


def test_an_average_follows_what_is_measured() -> None:
    average = Average(10.0)
    average.note(5.0)
    assert average.seconds == 9.0
    for _ in range(50):
        average.note(1.0)
    assert average.seconds == pytest.approx(1.0, abs=0.01)


async def test_places_are_taken_and_given_back() -> None:
    places = Places(1, "pictures")
    with places.one("eve"):
        with pytest.raises(ApiError) as caught:
            places.take("eve")
        assert caught.value.code == "too-many"
        places.take("ann")
    places.take("eve")
