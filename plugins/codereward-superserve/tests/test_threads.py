"""Blocking calls in threads: waited for, given up, never in the way of the interpreter's end."""

import asyncio
import threading
import time

import pytest

from codereward_superserve.mapping import DeadlinePassed
from codereward_superserve.threads import Threads


def test_calls_run_at_once_and_then_in_turn():
    """Not more threads than allowed; the rest waits, and all get their answers."""

    async def calls():
        threads = Threads(3)
        started = time.monotonic()
        names = await asyncio.gather(
            *(threads.call(lambda n=n: (time.sleep(0.1), n)[1], 5) for n in range(9))
        )
        threads.close()
        return names, time.monotonic() - started

    names, seconds = asyncio.run(calls())

    assert names == list(range(9))
    assert 0.28 < seconds < 2


def test_the_thread_that_was_idle_last_is_taken():
    """One call after another uses one thread, whose connections are open."""

    async def calls():
        threads = Threads(8)
        await asyncio.gather(*(threads.call(lambda: time.sleep(0.05), 5) for _ in range(4)))
        await asyncio.sleep(0.05)
        used = set()
        for _ in range(5):
            used.add(await threads.call(threading.get_ident, 5))
            await asyncio.sleep(0.02)
        threads.close()
        return used

    assert len(asyncio.run(calls())) == 1


def test_a_call_past_its_time_is_given_up_and_reported_late():
    """The waiter goes on at once; the call's own end is told to whoever asked."""
    ended = []

    async def wait():
        threads = Threads(1)
        with pytest.raises(DeadlinePassed, match=r"0\.05 s"):
            await threads.call(
                lambda: time.sleep(0.3) or "late", 0.05, lambda call: ended.append(call.result())
            )
        assert ended == []
        assert await threads.call(lambda: "next", 5) == "next"
        threads.close()

    asyncio.run(wait())

    assert ended == ["late"]


def test_a_timeout_of_the_call_itself_is_not_a_deadline():
    """`TimeoutError` raised by the call comes through as it is."""

    def fail():
        raise TimeoutError("own")

    async def wait():
        await Threads(1).call(fail, 5)

    with pytest.raises(TimeoutError, match="own"):
        asyncio.run(wait())


def test_a_call_that_never_started_is_cancelled():
    """A call that waits for a thread when it is given up is never made."""
    made = []

    async def wait():
        threads = Threads(1)
        busy = asyncio.create_task(threads.call(lambda: time.sleep(0.3), 5))
        await asyncio.sleep(0.05)
        with pytest.raises(DeadlinePassed):
            await threads.call(lambda: made.append(1), 0.05)
        await busy
        await threads.call(lambda: None, 5)
        threads.close()

    asyncio.run(wait())

    assert made == []
