"""Programs that end in the middle of things: `python ending.py <way>`."""

import asyncio
import multiprocessing
import sys
import threading
import time
from functools import partial

from codereward import RewardPipeline
from codereward.testing.fake import FakeExecutor

ENDLESS = "```python\nwhile True:\n    pass\n```"
RIGHT = "```python\nanswer = 1\n```"
BATCH = {"completions": [ENDLESS, ENDLESS + "\n"], "test": ["answer"] * 2, "expected": [1, 1]}
SINGLE = {"completions": [RIGHT], "test": ["answer"], "expected": [1]}


def local() -> RewardPipeline:
    """A pipeline whose programs would run for a minute."""
    limits = {"wall_seconds": 60, "cpu_seconds": 60}
    return RewardPipeline(
        harness={"name": "python", "limits": limits},
        executor={"name": "local", "workers": 2},
        dedupe=False,
    )


say = partial(print, flush=True)


class Telling(FakeExecutor):
    """Says when it is closed, from a thread, as a client of a remote service would work."""

    async def aclose(self) -> None:
        """Say so."""
        await asyncio.to_thread(say, "closed")


def call() -> None:
    """Stay in the synchronous call."""
    local()(**BATCH)


def wait() -> None:
    """Stay in the asynchronous call."""
    asyncio.run(local().async_reward(**BATCH))


def go_on() -> None:
    """Be interrupted in the call, and call again."""
    pipeline = local()
    try:
        pipeline(**BATCH)
    except KeyboardInterrupt:
        say(pipeline(**SINGLE))


def leave() -> None:
    """End the interpreter while another thread is in the call."""
    threading.Thread(target=local(), kwargs=BATCH, daemon=True).start()
    time.sleep(2)


def forget() -> None:
    """Never close."""
    say(local()(**SINGLE))


def tell() -> None:
    """End with an executor that needs a thread to clean up."""
    telling()


def telling() -> None:
    """Use a pipeline, so that there is something to close."""
    pipeline = RewardPipeline(executor=Telling())
    pipeline(**SINGLE)
    kept.append(pipeline)


kept: list[RewardPipeline] = []
"""Pipelines that live until the interpreter ends."""


def child() -> None:
    """As `tell`, in a child of multiprocessing."""
    process = multiprocessing.get_context("fork").Process(target=telling)
    process.start()
    process.join()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
