"""No sandbox outlives its use, whatever ends the process that made it."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import superserve
from helpers import FAST, HELLO, eventually, python, run_all
from superserve import Sandbox

from codereward_superserve import SuperserveExecutor, reap

LONG = python("import time; time.sleep(8)")

CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from helpers import FAST, python
from codereward import Limits
from codereward_superserve import SuperserveExecutor

async def main():
    executor = SuperserveExecutor(**FAST, warm=1)
    jobs = [asyncio.ensure_future(executor.run(python("import time; time.sleep(60)", limits=Limits(wall_seconds=90.0)))) for _ in range(2)]
    await asyncio.sleep(0.1)
    print("running", flush=True)
    await asyncio.sleep(0.9)
    {ending}

asyncio.run(main())
"""


def start_child(ending: str) -> subprocess.Popen:
    """A process that runs two programs and then comes to its end."""
    script = CHILD.replace("{ending}", ending)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def boxes(service) -> list[str]:
    return [box["id"] for box in service.state()["sandboxes"]]


@pytest.fixture(autouse=True)
def _no_quotas(service):
    service.tell("configure", requests_per_second=1000.0, burst=1000)


@pytest.mark.parametrize("delay", [0.05, 0.5])
def test_a_cancelled_program_leaves_no_sandbox(service, delay):
    """Cancelled while its sandbox is created, or while it runs: the sandbox is destroyed."""
    service.tell("configure", create=0.3)

    async def cancel():
        executor = SuperserveExecutor(**FAST)
        job = asyncio.create_task(executor.run(LONG))
        await asyncio.sleep(delay)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await executor.aclose()

    started = time.monotonic()
    asyncio.run(cancel())

    assert boxes(service) == []
    assert time.monotonic() - started < 5


def test_a_timeout_around_a_program_works(service):
    """`asyncio.timeout` around `run` ends it at once, and the sandbox with it."""

    async def limited():
        executor = SuperserveExecutor(**FAST)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await executor.run(LONG)
        await executor.aclose()

    asyncio.run(limited())

    assert boxes(service) == []


@pytest.mark.parametrize("ending", ["return", "sys.exit(3)", "raise ValueError", "raise KeyboardInterrupt"])
def test_the_end_of_the_interpreter_destroys_everything(service, ending):
    """A process that ends in mid-run, by itself or by an exception, destroys its sandboxes on the way."""
    child = start_child(ending)
    child.communicate(timeout=30)

    assert boxes(service) == []
    assert service.state()["created"] >= 2


def test_ctrl_c_destroys_everything(service):
    """SIGINT in mid-run: no sandbox is left when the process has ended."""
    child = start_child("await asyncio.sleep(60)")
    child.stdout.readline()
    assert eventually(lambda: len(boxes(service)) >= 2)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)

    assert boxes(service) == []


def test_after_sigkill_the_service_destroys_everything_itself(service):
    """What a killed process leaves is gone when its time to live is over."""
    child = start_child("await asyncio.sleep(60)")
    child.stdout.readline()
    assert eventually(lambda: len(boxes(service)) >= 2)
    child.kill()
    child.communicate(timeout=30)
    assert eventually(lambda: all(box["status"] == "active" for box in service.state()["sandboxes"]))
    assert len(boxes(service)) >= 2

    service.tell("advance", seconds=601)

    assert eventually(lambda: boxes(service) == [])


def test_a_forgotten_executor_destroys_its_sandboxes(service):
    """An executor that is dropped without `aclose` takes its warm sandboxes with it."""

    async def forget():
        executor = SuperserveExecutor(**FAST, warm=2)
        await executor.run(HELLO)
        await asyncio.sleep(1)
        assert len(boxes(service)) == 2

    asyncio.run(forget())
    gc.collect()

    assert eventually(lambda: boxes(service) == [])


def test_a_forked_child_leaves_its_parents_sandboxes_alone(service):
    """A child that ends does not destroy what it inherited, and can run programs of its own."""

    async def fork():
        executor = SuperserveExecutor(**FAST)
        job = asyncio.create_task(executor.run(python("import time; time.sleep(1.5); print('survived')")))
        await asyncio.sleep(0.5)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio._set_running_loop(None)
                executor._bury_the_dead()
                gc.collect()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0  # noqa: ASYNC222 - it ends at once
        result = await job
        await executor.aclose()
        return result

    assert asyncio.run(fork()).commands[0].stdout == b"survived\n"


def test_warm_sandboxes_are_ready_and_used_once(service):
    """A program finds a sandbox that was created ahead; nobody else ever gets it."""

    async def twice():
        executor = SuperserveExecutor(**FAST, warm=2)
        await executor.run(HELLO)
        await asyncio.sleep(1)
        before = len(service.requests("create"))
        started = time.monotonic()
        service.tell("configure", create=3.0)
        await asyncio.gather(executor.run(HELLO), executor.run(HELLO))
        seconds = time.monotonic() - started
        service.tell("configure", create=0.0)
        await executor.aclose()
        return before, seconds

    before, seconds = asyncio.run(twice())

    used = [each["sandbox"] for each in service.requests("exec")]
    assert before == 3
    assert seconds < 2.5
    assert len(set(used)) == len(used) == 3
    assert service.state()["most_commands"] == 1


def test_a_warm_sandbox_on_its_way_is_waited_for(service):
    """Programs that come while the pool is being filled take what is under way: nothing idles beside them."""
    service.tell("configure", create=0.6)

    async def hurry():
        executor = SuperserveExecutor(**FAST | {"max_sandboxes": 2}, warm=2)
        await executor.run(HELLO)
        assert await asyncio.to_thread(eventually, lambda: len(boxes(service)) == 2)
        await asyncio.gather(*(executor.run(HELLO) for _ in range(4)))
        await executor.aclose()

    started = time.monotonic()
    asyncio.run(hurry())

    assert len(service.requests("create")) <= 7
    assert time.monotonic() - started < 15


def test_stale_warm_sandboxes_are_dropped(service):
    """A warm sandbox that is too old is destroyed unused."""

    async def wait():
        executor = SuperserveExecutor(**FAST, warm=1, warm_seconds=0.5)
        await executor.run(HELLO)
        await asyncio.sleep(2.5)
        assert boxes(service) == []
        await executor.run(HELLO)
        await executor.aclose()

    asyncio.run(wait())

    assert len(service.requests("exec")) == 2


def test_warm_sandboxes_give_way(service):
    """A full house of warm sandboxes of one template does not block programs of another."""

    async def other():
        executor = SuperserveExecutor(**FAST | {"max_sandboxes": 2}, warm=2)
        await executor.run(HELLO)
        await asyncio.sleep(1)
        async with asyncio.timeout(10):
            result = await executor.run(type(HELLO)("node", HELLO.files, HELLO.commands))
        await executor.aclose()
        return result

    assert asyncio.run(other()).commands[0].stdout == b"hello\n"
    assert service.state()["most_at_once"] <= 2


def test_a_vanished_warm_sandbox_is_replaced(service):
    """A warm sandbox that the service deleted costs a try, not a result."""

    async def vanish():
        executor = SuperserveExecutor(**FAST, warm=1)
        await executor.run(HELLO)
        await asyncio.sleep(1)
        for sandbox_id in boxes(service):
            Sandbox.kill_by_id(sandbox_id)
        result = await executor.run(HELLO)
        await executor.aclose()
        return result

    assert asyncio.run(vanish()).commands[0].stdout == b"hello\n"


def test_sandboxes_never_exceed_the_cap(service):
    """Those being deleted are counted."""
    service.fault("delete", "stall", seconds=0.2)

    run_all([HELLO] * 12, max_sandboxes=3)

    assert service.state()["most_at_once"] <= 3


def test_reaping_lists_first_and_deletes_when_told(service):
    """`reap` finds codereward's old sandboxes, of one run when named, and nobody else's."""
    ours = Sandbox.create(name="a", metadata={"codereward": "1", "codereward-run": "old"})
    other = Sandbox.create(name="b", metadata={"codereward": "1", "codereward-run": "new"})
    foreign = Sandbox.create(name="c")

    assert reap() == []
    listed = reap(older_than=0)
    reaped = reap(older_than=0, run="old", dry_run=False)

    assert {(each.sandbox_id, each.deleted) for each in listed} == {(ours.id, False), (other.id, False)}
    assert [(each.sandbox_id, each.run, each.deleted) for each in reaped] == [(ours.id, "old", True)]
    assert set(boxes(service)) == {other.id, foreign.id}
    for each in (other, foreign):
        each.kill()


def test_reaping_goes_on_after_a_failure(service):
    """A sandbox that cannot be deleted is reported, and the others are deleted."""
    made = [Sandbox.create(name="a", metadata={"codereward": "1", "codereward-run": "old"}) for _ in range(2)]
    service.refuse("delete", 500, "internal_error", times=1)

    reaped = reap(older_than=0, dry_run=False)

    assert sorted(bool(each.problem) for each in reaped) == [False, True]
    for each in made:
        Sandbox.kill_by_id(each.id)


def test_the_pool_of_connections_is_left_alone_when_the_sdk_changed(service, monkeypatch):
    """Another version of the SDK keeps its own pool, and programs still run."""
    from superserve import _http

    from codereward_superserve.connections import enlarge_pool

    assert enlarge_pool()
    monkeypatch.setattr(_http, "SDK_VERSION", "0.12.0")

    assert not enlarge_pool()
    assert run_all([HELLO])[0].commands[0].stdout == b"hello\n"
    assert superserve._http.SDK_VERSION == "0.12.0"
