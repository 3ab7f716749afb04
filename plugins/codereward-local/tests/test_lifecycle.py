"""Forks, copies, loops, threads, exits and kills of the host."""

import asyncio
import contextlib
import marshal
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from codereward import BackendMisconfigured, BackendUnavailable, Command, Limits, Program, Run, Status

from codereward_local import box, bundle, refusal
from codereward_local.executor import LocalExecutor


def program(code: str, **options: object) -> Program:
    return Program("python", {"main.py": code.encode()}, (Command(("python3", "main.py")),), **options)


HELLO = program("print('hello')")


def says_hello(executor: LocalExecutor) -> bool:
    return asyncio.run(executor.run(HELLO)).commands[0].stdout == b"hello\n"


@pytest.fixture
def executor():
    made = LocalExecutor(workers=2)
    yield made
    asyncio.run(made.aclose())


def test_it_works_after_a_fork_while_busy(executor):
    """A forked child runs programs of its own while the parent's goes on, and both end well."""
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(asyncio.run, executor.run(program("import time\ntime.sleep(1)\nprint('slow')")))
        time.sleep(0.5)
        child = os.fork()
        if not child:
            good = False
            with contextlib.suppress(BaseException):
                good = says_hello(executor)
                asyncio.run(executor.aclose())
            os._exit(0 if good else 1)
        status = os.waitpid(child, 0)[1]

        assert slow.result().commands[0].stdout == b"slow\n"
    assert status == 0
    assert says_hello(executor)


def test_a_forked_copy_does_not_keep_the_parents_boxes_alive():
    """When the parent closes, its boxes end though a forked child still lives."""
    executor = LocalExecutor(workers=1)
    assert says_hello(executor)
    box = executor._pool._free[0].box
    child = os.fork()
    if not child:
        time.sleep(30)
        os._exit(0)
    try:
        began = time.monotonic()
        asyncio.run(executor.aclose())

        assert time.monotonic() - began < 1.5
        assert box.process.returncode is not None
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_it_works_from_several_threads_and_loops(executor):
    """Four threads with a loop each share one executor."""
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(lambda _: says_hello(executor), range(12)))


def test_it_works_again_after_aclose(executor):
    """Closing twice is harmless; the next run makes new boxes."""
    assert says_hello(executor)
    asyncio.run(executor.aclose())
    asyncio.run(executor.aclose())

    assert says_hello(executor)


def test_the_constructor_opens_nothing():
    """No thread, process or descriptor before the first run."""
    before = (threading.active_count(), len(os.listdir("/proc/self/fd")))
    LocalExecutor(workers=3)

    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before


def test_a_worker_is_made_anew_after_max_runs():
    """With `max_runs=3` the fourth program meets another box."""
    executor = LocalExecutor(workers=1, max_runs=3)
    boxes = set()
    for _ in range(7):
        assert says_hello(executor)
        boxes |= {slot.box.process.pid for slot in executor._pool._slots}
    asyncio.run(executor.aclose())

    assert len(boxes) >= 2


def test_a_killed_box_is_replaced(executor):
    """A box that dies costs at most the program in it; the next one meets a new box."""
    assert says_hello(executor)
    for slot in list(executor._pool._slots):
        slot.box.process.kill()
        slot.box.process.wait()
    with contextlib.suppress(BackendUnavailable):
        says_hello(executor)

    assert says_hello(executor)


def test_cancelling_one_of_two_leaves_the_other(executor):
    """The neighbour of a cancelled program ends as if nothing had been, and its worker is kept."""

    async def both() -> tuple[bytes, float]:
        await executor.run(HELLO)
        victim = asyncio.create_task(executor.run(program("while True: pass")))
        other = asyncio.create_task(executor.run(program("import time\ntime.sleep(0.5)\nprint('other')")))
        await asyncio.sleep(0.2)
        victim.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await victim
        return (await other).commands[0].stdout, time.monotonic() - began

    output, _took = asyncio.run(both())

    assert output == b"other\n"
    assert says_hello(executor)


def host(code: str) -> subprocess.Popen[bytes]:
    lead = """
        import asyncio, os, sys, time
        from codereward import Command, Limits, Program
        from codereward_local.executor import LocalExecutor
        program = Program("x", {}, (Command(("sh", "-c", sys.argv[1])),), limits=Limits(wall_seconds=60))
    """
    mark = f"sleep {60 + os.getpid() / 1e6:.6f}{len(code) % 10}"
    source = textwrap.dedent(lead) + code
    process = subprocess.Popen(
        [sys.executable, "-c", source, f"echo; {mark} & wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.mark = mark
    return process


def wait_until(there: bool, mark: str) -> None:
    deadline = time.monotonic() + 15
    while (subprocess.run(["pgrep", "-f", f"^{mark}"], capture_output=True).returncode == 0) is not there:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [9, 15, 2], ids=["SIGKILL", "SIGTERM", "SIGINT"])
def test_nothing_survives_a_killed_host(number):
    """Whatever kills the host in mid-run, no process of its boxes is alive soon after."""
    process = host("asyncio.run(LocalExecutor(workers=1).run(program))")
    wait_until(True, process.mark)
    process.send_signal(number)
    process.communicate(timeout=20)

    wait_until(False, process.mark)


def test_the_interpreter_ends_in_time_with_a_box_open():
    """A host that never calls `aclose` ends quietly and at once."""
    process = host(
        "executor = LocalExecutor(workers=2)\n"
        "ok = Program('x', {}, (Command(('true',)),))\n"
        "print(asyncio.run(executor.run(ok)).commands[0].status)"
    )
    out, err = process.communicate(timeout=20)

    assert (out, err, process.returncode) == (b"exited\n", b"", 0)


def test_it_works_in_a_spawned_process(executor):
    """A used executor, pickled into a new interpreter, runs programs there."""
    assert says_hello(executor)
    code = (
        "import asyncio, pickle, sys\nexecutor, program = pickle.load(sys.stdin.buffer)\n"
        "print(asyncio.run(executor.run(program)).commands[0].stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((executor, HELLO)), capture_output=True, timeout=60
    )

    assert done.stdout == b"b'hello\\n'\n"


# --------------------------------------------------------------------------- options


@pytest.mark.parametrize("options", [{"workers": 0}, {"max_runs": 0}])
def test_senseless_options_are_refused(options):
    """A count below one is a mistake, said at once."""
    with pytest.raises(ValueError, match="at least 1"):
        LocalExecutor(**options)


def test_an_unknown_interpreter_is_named():
    """The message holds the name that cannot be used."""
    with pytest.raises(BackendMisconfigured, match="no-such-python"):
        says_hello(LocalExecutor(python="no-such-python"))


def test_an_unknown_preimport_is_named():
    """A module that cannot be imported is the configuration's fault."""
    with pytest.raises(BackendMisconfigured, match="no_such_module"):
        says_hello(LocalExecutor(preimport=("no_such_module",)))


def test_fresh_starts_an_interpreter():
    """With `fresh=True` no module of the fork server is loaded."""
    look = program("import sys\nprint('colorsys' in sys.modules)")

    async def seen(fresh: bool) -> bytes:
        executor = LocalExecutor(workers=1, fresh=fresh, preimport=("colorsys",))
        try:
            return (await executor.run(look)).commands[0].stdout
        finally:
            await executor.aclose()

    assert asyncio.run(seen(True)) == b"False\n"
    assert asyncio.run(seen(False)) == b"True\n"


def test_a_missing_program_file_and_clashing_files_are_the_programs_fault(executor):
    """Neither raises: nothing is wrong with the sandbox."""
    absent = Program("x", {}, (Command(("python3", "absent.py")),))
    clash = Program("x", {"a": b"", "a/b": b""}, (Command(("true",)),))
    full = Program("x", {"a": bytes(2**20)}, (Command(("true",)),), limits=Limits(disk_bytes=2**16))

    async def all_three() -> list[object]:
        runs = [await executor.run(each) for each in (absent, clash, full)]
        return [(each.commands[0].status, each.commands[0].limit) for each in runs]

    assert asyncio.run(all_three()) == [
        (Status.EXITED, None),
        (Status.NOT_STARTED, None),
        (Status.OUTPUT_LIMIT, "disk_bytes"),
    ]


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("number", "cause"), [(28, "max_user_namespaces"), (1, "forbidden"), (22, "")])
def test_a_refusal_names_cause_and_ways_out(number, cause):
    """The message says what was tried, why it failed, and what can be done."""
    text = str(refusal.explain(number, "unshare: no"))

    assert text.startswith("cannot isolate programs here: unshare: no")
    assert cause in text
    assert "sysctl user.max_user_namespaces" in text
    assert "CAP_SYS_ADMIN" in text


def test_without_namespaces_nothing_runs():
    """Where the kernel forbids namespaces, as in a locked container, the executor raises."""
    code = (
        "import asyncio\nfrom codereward import BackendMisconfigured, Command, Program\n"
        "from codereward_local.inside import kernel, seccomp\n"
        "from codereward_local.executor import LocalExecutor\n"
        "seccomp.NARROW = {'unshare': seccomp.NARROW['unshare']}\n"
        "kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)\nseccomp.narrow().install()\n"
        "executor = LocalExecutor()\n"
        "try: asyncio.run(executor.run(Program('x', {}, (Command(('true',)),))))\n"
        "except BackendMisconfigured as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout.startswith("cannot isolate programs here: unshare: Operation not permitted")
    assert "forbidden" in done.stdout


def test_without_the_guard_the_supervisor_does_its_work(monkeypatch):
    """On a processor that the guard is not written for, lone commands end as they do elsewhere."""
    sources = marshal.loads(bundle.bundle("zygote"))  # noqa: S302 - our own
    sources["guard"] = sources["guard"].replace("CODE.get(kernel.MACHINE)", "None")
    unguarded = marshal.dumps(sources, bundle.MARSHAL_VERSION)
    honest = bundle.bundle
    monkeypatch.setattr(box, "bundle", lambda name: unguarded if name == "zygote" else honest(name))
    programs = [
        HELLO,
        program("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"),
        program("while True: pass", limits=Limits(wall_seconds=0.3)),
        Program("x", {}, (Command(("./absent",)),)),
    ]

    async def all_of_them() -> list[object]:
        executor = LocalExecutor(workers=1)
        try:
            runs = [await executor.run(each) for each in programs]
            assert not executor._pool._free[0].box.guarded
        finally:
            await executor.aclose()
        return [each.commands[0].status for each in runs]

    statuses = asyncio.run(all_of_them())

    assert statuses == [Status.EXITED, Status.SIGNALED, Status.TIMED_OUT, Status.NOT_STARTED]


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.6])
def test_closing_at_any_moment_ends_what_runs(delay):
    """Before the box is there, in its self-test, or in mid-program: closing ends it soon."""

    async def close_in_mid_run() -> float:
        executor = LocalExecutor(workers=2)
        tasks = [asyncio.create_task(executor.run(program("import time\ntime.sleep(9)"))) for _ in range(4)]
        await asyncio.sleep(delay)
        began = time.monotonic()
        await executor.aclose()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, Run | BackendUnavailable) for each in ended)
        return time.monotonic() - began

    assert asyncio.run(close_in_mid_run()) < 5


def test_cancelling_at_any_moment_is_not_overtaken(executor):
    """However soon after its start a program is cancelled, it ends, and its worker is kept."""

    async def cancel_soon() -> float:
        await executor.run(HELLO)
        began = time.monotonic()
        for number in range(30):
            task = asyncio.create_task(executor.run(program("while True: pass")))
            await asyncio.sleep(number / 10_000)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return time.monotonic() - began

    assert asyncio.run(cancel_soon()) < 8
    assert len(executor._pool._slots) <= 2
