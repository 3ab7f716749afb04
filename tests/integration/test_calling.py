"""A pipeline called in every way and place that trainers, notebooks and workers know."""

import asyncio
import inspect
import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from answering import RIGHT, fenced

from codereward import RewardPipeline

COLUMNS = {"test": ["answer()"] * 2, "expected": [1, 1]}
COMPLETIONS = [RIGHT, fenced("def answer():\n    return 2")]
REWARDS = [1.0, 0.0]

multithreaded = pytest.mark.filterwarnings(  # Python 3.12 and later warn of what is tested here
    "ignore:This process .* is multi-threaded, use of fork:DeprecationWarning"
)


@pytest.fixture
def pipeline():
    with RewardPipeline(executor={"name": "local", "workers": 2}) as made:
        yield made


# ---------------------------------------------------------------------- shapes of the call


def test_an_older_trainer_calls_without_what_it_does_not_know(pipeline):
    """Prompts, completions and columns are enough; messages and plain strings give the same."""
    prompts = ["one", "one"]
    assert pipeline(prompts=prompts, completions=COMPLETIONS, **COLUMNS) == REWARDS
    messages = [[{"role": "assistant", "content": text}] for text in COMPLETIONS]
    assert pipeline(prompts=prompts, completions=messages, completion_ids=[[1], [2]], **COLUMNS) == REWARDS
    assert pipeline(prompts, COMPLETIONS, **COLUMNS) == REWARDS


@pytest.mark.filterwarnings(
    "ignore:'asyncio.iscoroutinefunction' is deprecated:DeprecationWarning"
)  # from 3.14
def test_every_trainer_recognises_the_asynchronous_form(pipeline):
    """All ways to ask whether a callable is a coroutine function say yes for the asynchronous form only."""
    for recognises in (inspect.iscoroutinefunction, asyncio.iscoroutinefunction):
        assert recognises(pipeline.async_reward)
        assert not recognises(pipeline)
        assert not recognises(pipeline.__call__)
    assert pipeline.async_reward.__name__ == pipeline.__name__ == "code_reward"


def test_the_asynchronous_form_keeps_its_name_across_a_pickle(pipeline):
    """Both forms survive pickling, keep the name that trainers log, and work."""
    named = RewardPipeline(executor={"name": "local", "workers": 1}, name="passes")
    for form in (named, named.async_reward):
        copied = pickle.loads(pickle.dumps(form))
        assert copied.__name__ == "passes"
        assert inspect.iscoroutinefunction(copied) == inspect.iscoroutinefunction(form)
    copied = pickle.loads(pickle.dumps(named.async_reward))
    assert asyncio.run(copied(prompts=["one"] * 2, completions=COMPLETIONS, **COLUMNS)) == REWARDS
    copied.__self__.close()


# ---------------------------------------------------------------------- inside loops and threads


def test_a_notebook_may_call_it(pipeline):
    """The synchronous form works while a loop runs in the calling thread, as it does in notebooks."""

    async def cell():
        return pipeline(prompts=["one"] * 2, completions=COMPLETIONS, **COLUMNS)

    assert asyncio.run(cell()) == REWARDS


def test_loops_may_come_and_go(pipeline):
    """The asynchronous form works on one loop after another, as with one `asyncio.run` for each step."""
    for _ in range(2):
        assert asyncio.run(pipeline.async_reward(completions=COMPLETIONS, **COLUMNS)) == REWARDS


def test_threads_may_call_it_at_once(pipeline):
    """Calls from several threads at once each get their own rewards, in order."""
    orders = [COMPLETIONS, COMPLETIONS[::-1]] * 3
    with ThreadPoolExecutor(6) as threads:
        futures = [threads.submit(pipeline, completions=order, **COLUMNS) for order in orders]
        assert [future.result() for future in futures] == [REWARDS, REWARDS[::-1]] * 3


def test_the_callers_loop_is_free_while_programs_run(pipeline):
    """While the asynchronous form is awaited, the caller's loop goes on."""
    slow = fenced("import time\ntime.sleep(0.5)\ndef answer():\n    return 1")

    async def beside():
        scoring = asyncio.ensure_future(
            pipeline.async_reward(completions=[slow], test=["answer()"], expected=[1])
        )
        turns = 0
        while not scoring.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns, await scoring

    turns, rewards = asyncio.run(beside())
    assert rewards == [1.0]
    assert turns > 10


# ---------------------------------------------------------------------- other processes


async def rollouts(reward, groups):
    """Groups scored as AsyncGRPO does it: awaited, or in a thread, several at once."""
    calls = (
        {"prompts": ["one"] * 2, "completions": group, "completion_ids": [[1]] * 2, **COLUMNS}
        for group in groups
    )
    if inspect.iscoroutinefunction(reward):
        return await asyncio.gather(*(reward(**call) for call in calls))
    return await asyncio.gather(*(asyncio.to_thread(reward, **call) for call in calls))


def rollout_worker(reward):
    """What a spawned rollout worker does with the reward it was sent."""
    return asyncio.run(rollouts(reward, [COMPLETIONS, COMPLETIONS[::-1], COMPLETIONS]))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_spawned_worker_scores_groups_at_once(pipeline, asynchronous):
    """A used pipeline is pickled into a spawned process and scores several groups at once there."""
    assert pipeline(completions=COMPLETIONS, **COLUMNS) == REWARDS
    reward = pipeline.async_reward if asynchronous else pipeline
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as spawned:
        assert spawned.submit(rollout_worker, reward).result(60) == [REWARDS, REWARDS[::-1], REWARDS]
    assert pipeline(completions=COMPLETIONS, **COLUMNS) == REWARDS


@multithreaded
def test_a_forked_child_starts_anew(pipeline):
    """After a fork both sides score: the child with sandboxes of its own, the parent as before."""
    assert pipeline(completions=COMPLETIONS, **COLUMNS) == REWARDS
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
        child = process.submit(pipeline, completions=COMPLETIONS, **COLUMNS)
        assert pipeline(completions=COMPLETIONS, **COLUMNS) == REWARDS
        assert child.result(60) == REWARDS


def forked(succeeds):
    """The id of a forked child, which ends with status 0 if `succeeds()` and never returns into pytest."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if succeeds() else 1
        finally:
            os._exit(status)
    return child


@multithreaded
def test_a_fork_in_mid_batch_harms_neither_side(pipeline):
    """A child forked while programs run may use the pipeline, and end, without touching the parent's batch."""
    slow = [fenced(f"import time\ntime.sleep(0.5)\ndef answer():\n    return {number}") for number in (1, 2)]
    with ThreadPoolExecutor(1) as thread:
        batch = thread.submit(pipeline, completions=slow, **COLUMNS)
        child = forked(lambda: pipeline(completions=COMPLETIONS, **COLUMNS) == REWARDS)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert batch.result(60) == REWARDS
