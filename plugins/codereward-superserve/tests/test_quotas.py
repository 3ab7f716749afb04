"""The two limits: places for sandboxes, and the rate of calls."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from codereward_superserve.quotas import CALM_SECONDS, Bucket, Places


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


def test_places_are_given_in_the_order_they_were_asked_for():
    """First come, first served; never more than there are."""

    async def check():
        places = Places(1)
        await places.take()
        order = []

        async def want(name):
            await places.take()
            order.append(name)

        tasks = [asyncio.create_task(want(name)) for name in "abc"]
        await asyncio.sleep(0)
        for count in (1, 2, 3):
            places.give_back()
            await asyncio.sleep(0)
            assert len(order) == count
        await asyncio.gather(*tasks)
        assert order == ["a", "b", "c"]
        assert places.held == 1

    asyncio.run(check())


def test_a_cancelled_wait_loses_no_place():
    """Who is cancelled in the very moment of being called up passes the place on."""

    async def check():
        places = Places(1)
        await places.take()
        first, second = (asyncio.create_task(places.take()) for _ in range(2))
        await asyncio.sleep(0)
        places.give_back()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.wait_for(second, 1)
        assert (places.held, places.free) == (1, 0)

    asyncio.run(check())


def test_places_shrink_once_for_a_burst_of_refusals_and_grow_back():
    """Refusals within a moment count once; successes regain what was lost, never more."""
    clock = Clock()
    places = Places(50, clock)
    places.held = 20
    for _ in range(20):
        places.refused()
    assert places.allowed == 16.0
    clock.time += CALM_SECONDS
    places.refused()
    assert 12 < places.allowed < 16
    for _ in range(5000):
        places.worked()
    assert places.allowed == 50.0


def test_at_least_one_place_is_left():
    """Refusals never stop everything."""
    clock = Clock()
    places = Places(3, clock)
    for _ in range(50):
        clock.time += CALM_SECONDS
        places.refused()
    assert places.free == 1


@given(st.lists(st.sampled_from(["take", "give", "refuse", "work", "cancel"]), max_size=60))
def test_the_books_balance(actions):
    """Whatever happens, as many places are held as were taken, and nobody waits while one is free."""

    async def check():
        places = Places(4)
        waiting, held = [], 0
        for action in actions:
            if action == "take":
                waiting.append(asyncio.create_task(places.take()))
            elif action == "give" and held:
                places.give_back()
                held -= 1
            elif action == "refuse":
                places.refused()
            elif action == "work":
                places.worked()
            elif waiting:
                waiting.pop().cancel()
            for _ in range(3):
                await asyncio.sleep(0)
            held += sum(task.done() and not task.cancelled() for task in waiting)
            waiting = [task for task in waiting if not task.done()]
            assert places.held == held
            assert not (waiting and places.free)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(check())


def test_the_bucket_lets_a_burst_through_and_then_keeps_the_rate():
    """After the burst, calls come at the rate."""

    async def check():
        loop = asyncio.get_running_loop()
        bucket = Bucket(100.0, 10.0)
        started = loop.time()
        await asyncio.gather(*(bucket.take() for _ in range(40)))
        assert 0.25 < loop.time() - started < 1.0

    asyncio.run(check())


def test_a_cancelled_call_gives_its_turn_back():
    """Cancelled calls do not delay later ones."""

    async def check():
        clock = Clock()
        bucket = Bucket(1.0, 1.0, clock)
        await bucket.take()
        tasks = [asyncio.create_task(bucket.take()) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        clock.time = 1.0
        await asyncio.wait_for(bucket.take(), 0.1)

    asyncio.run(check())


def test_the_rate_falls_on_refusal_and_recovers():
    """Throttled, the bucket slows down step by step and returns to its full rate in time."""
    clock = Clock()
    bucket = Bucket(20.0, 40.0, clock)
    for _ in range(10):
        bucket.refused()
    assert bucket.rate == 18.0
    clock.time += 100.0
    bucket._refill()
    assert bucket.rate == 20.0
