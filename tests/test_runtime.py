"""Law 7: a pipeline survives where trainers put it."""

from __future__ import annotations

import asyncio
import gc
import inspect
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from codereward import ConfigError, RewardPipeline
from codereward.runtime import Door
from codereward.testing.fake import FakeExecutor


class Slow(FakeExecutor):
    """A fake that is copied and pickled as an unused one, as the contract asks."""

    def __init__(self, turns: int = 0) -> None:
        super().__init__()
        self.turns = turns

    async def run(self, program):
        self.owner = os.getpid()
        await asyncio.sleep(self.turns)
        return await super().run(program)

    def __reduce__(self):
        return Slow, (self.turns,)


def pipeline(turns: int = 0) -> RewardPipeline:
    return RewardPipeline(executor=Slow(turns), extractor={"name": "fenced", "strict": False})


def once(reward: RewardPipeline) -> list[float | None]:
    return reward(completions=["```python\nreturn 1\n```"], test=["f()"], expected=[1])


def test_a_pickled_pipeline_works_and_holds_nothing_live():
    """Pickling takes the configuration; it works before and after the first use."""
    reward = pipeline()
    before = pickle.dumps(reward)
    once(reward)

    assert len(pickle.dumps(reward)) == len(before)
    assert once(pickle.loads(pickle.dumps(reward))) == [1.0]
    reward.close()


def test_a_spawned_worker_scores():
    """A pipeline that was used travels into a spawned process."""
    reward = RewardPipeline(executor=FakeExecutor())
    call = {"completions": ["return 1"], "test": ["f()"], "expected": [1]}
    assert reward(**call) == [1.0]

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(reward, **call).result(60) == [1.0]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_scores_while_the_parent_is_busy():
    """The child of a fork has its own loop, locks and executor, even when forked in mid-batch."""
    reward = pipeline(turns=1)
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(once, reward)
        time.sleep(0.3)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:  # pragma: no cover - the child
            os.write(write, str(once(reward)).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)

        assert os.read(read, 100) == b"[1.0]"
        assert busy.result(30) == [1.0]
    os.close(read)


def test_a_fork_under_the_lock_does_not_hang():
    """A lock that another thread holds during a fork is not held in the child."""
    door = Door(_nothing)
    with door._state.lock:
        pid = os.fork()
        if pid == 0:  # pragma: no cover - the child
            door.call(_nothing())
            os._exit(7)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.02)
    if ended == (0, 0):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(ended[1]) == 7


async def _nothing() -> None:
    pass


def test_the_synchronous_call_works_inside_a_running_loop():
    """Notebooks run a loop in the main thread."""

    async def notebook():
        return once(pipeline())

    assert asyncio.run(notebook()) == [1.0]


def test_many_threads_share_one_pipeline():
    """Calls from several threads at once each get their own rewards."""
    reward = pipeline()
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: once(reward), range(40)))

    assert results == [[1.0]] * 40


def test_asynchronous_rewards_run_beside_each_other():
    """Two asynchronous rewards that take a second each take less than two together."""
    rewards = [pipeline(turns=1).async_reward for _ in range(3)]

    async def both():
        calls = [one(completions=["return 1"], test=["f()"], expected=[1]) for one in rewards]
        return await asyncio.gather(*calls)

    start = time.monotonic()
    asyncio.run(both())

    assert time.monotonic() - start < 2.5


def test_the_asynchronous_form_is_recognised_named_and_pickles():
    """Old and new trainers see a coroutine function that carries the pipeline's name."""
    reward = RewardPipeline(executor=FakeExecutor(), name="unit_tests").async_reward

    assert inspect.iscoroutinefunction(reward)
    assert reward.__name__ == "unit_tests"
    with RewardPipeline(executor=Slow(), name="unit_tests") as owner:
        copied = pickle.loads(pickle.dumps(owner.async_reward))
    assert copied.__name__ == "unit_tests"
    assert inspect.iscoroutinefunction(copied)


def test_closing_is_idempotent_and_the_next_call_starts_anew():
    """A with block frees the executor; the pipeline still works after it."""
    executor = FakeExecutor()
    with RewardPipeline(executor=executor) as reward:
        assert once(reward) == [1.0]
    reward.close()

    assert executor.closed == 1
    assert once(reward) == [1.0]
    reward.close()
    assert executor.closed == 2


def test_a_pipeline_that_nobody_closes_is_closed_when_collected():
    """A forgotten pipeline frees its executor and its thread."""
    executor = FakeExecutor()
    reward = RewardPipeline(executor=executor)
    once(reward)
    threads = threading.active_count()

    del reward
    gc.collect()

    assert executor.closed == 1
    assert threading.active_count() < threads


def test_a_call_from_the_pipelines_own_loop_is_refused():
    """It would wait for itself; the message says so."""
    door = Door(_nothing)

    async def inside():
        door.call(_nothing())

    with pytest.raises(ConfigError, match="its own event loop"):
        door.call(inside())
    door.close()


SCRIPT = """
import os, sys, time
sys.path.insert(0, {tests!r})
from codereward import RewardPipeline
from codereward.testing.fake import FakeExecutor

class Told(FakeExecutor):
    async def run(self, program):
        import asyncio
        print("running", flush=True)
        try:
            await asyncio.sleep(60)
        finally:
            print("cleaned", flush=True)

    async def aclose(self):
        print("closed", flush=True)

reward = RewardPipeline(executor=Told())
reward(completions=["return 1"], test=["f()"], expected=[1])
"""


def test_ctrl_c_cancels_the_batch_and_cleans_up():
    """An interrupted call raises KeyboardInterrupt after its runs were cancelled, and closes at exit."""
    script = textwrap.dedent(SCRIPT.format(tests=str(Path(__file__).parent)))
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "running\n"

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert out.split() == ["cleaned", "closed"]
    assert "KeyboardInterrupt" in err
