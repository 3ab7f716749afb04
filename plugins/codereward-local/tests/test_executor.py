"""The executor's promises, kept in real sandboxes."""

import asyncio
import copy
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest
from codereward import BackendMisconfigured, Command, CommandResult, Limits, Program, Run, Status

from codereward_local.executor import LocalExecutor


def python(code: str, **options: object) -> Program:
    return Program("python", {"main.py": code.encode()}, (Command(("python3", "main.py")),), **options)


def run(program: Program) -> Run:
    async def once() -> Run:
        executor = LocalExecutor(workers=1)
        try:
            return await executor.run(program)
        finally:
            await executor.aclose()

    return asyncio.run(once())


def only(program: Program) -> CommandResult:
    return run(program).commands[0]


def test_a_program_brings_back_its_output_code_and_result():
    """Standard output, standard error, the exit code and the result channel all come back."""
    code = (
        "import os, sys\nprint('out'); print('err', file=sys.stderr)\n"
        "open(os.environ['CODEREWARD_RESULT'], 'w').write('42')\nsys.exit(3)"
    )

    result = only(python(code))

    assert (result.status, result.exit_code) == (Status.EXITED, 3)
    assert (result.stdout, result.stderr, result.result) == (b"out\n", b"err\n", b"42")


@pytest.mark.parametrize(
    ("code", "limits", "status", "limit"),
    [
        ("while True: pass", {"wall_seconds": 0.3}, Status.TIMED_OUT, "wall_seconds"),
        ("while True: pass", {"cpu_seconds": 0.2}, Status.TIMED_OUT, "cpu_seconds"),
        ("bytearray(10**10)", {}, Status.OUT_OF_MEMORY, "memory_bytes"),
        ("while True: print('x' * 1000)", {}, Status.OUTPUT_LIMIT, "output_bytes"),
        (
            "f = open('f', 'wb')\nwhile True: f.write(bytes(10**6))",
            {"disk_bytes": 2**22},
            Status.OUTPUT_LIMIT,
            "disk_bytes",
        ),
        (
            "import os\nopen(os.environ['CODEREWARD_RESULT'], 'wb').write(bytes(2000))",
            {"result_bytes": 1000},
            Status.OUTPUT_LIMIT,
            "result_bytes",
        ),
        (
            "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
            {"processes": 20, "memory_bytes": 2**31},
            Status.EXITED,
            "processes",
        ),
    ],
)
def test_each_limit_shows_as_its_own(code, limits, status, limit):
    """A program over a limit is ended, and the result names the limit."""
    result = only(python(code, limits=Limits(**limits)))

    assert (result.status, result.limit) == (status, limit)


def test_output_before_a_timeout_is_kept():
    """What was written before the wall limit comes back."""
    result = only(
        python("import time\nprint('early', flush=True)\ntime.sleep(9)", limits=Limits(wall_seconds=0.3))
    )

    assert (result.status, result.stdout) == (Status.TIMED_OUT, b"early\n")


def test_output_is_cut_at_its_limit():
    """Exactly `output_bytes` are kept of a flood."""
    result = only(python("print('x' * 5000)", limits=Limits(output_bytes=1000)))

    assert (result.stdout, result.truncated) == (b"x" * 1000, True)


def test_files_outlive_a_command_and_processes_do_not():
    """The commands of a program share files; what the first leaves running is dead for the second."""
    first = "sleep 60 & echo $! > pid; echo kept > file"
    second = "cat file; kill -0 $(cat pid) 2>&1 || echo dead"
    commands = tuple(Command(("sh", "-c", each)) for each in (first, second))

    result = run(Program("shell", {}, commands)).commands[1]

    assert result.stdout.startswith(b"kept\n")
    assert result.stdout.endswith(b"dead\n")


def test_a_failed_build_starts_nothing():
    """When the build fails, its result is there and every command says that it was not started."""
    program = Program("shell", {}, (Command(("true",)),), build=Command(("sh", "-c", "exit 4")))

    done = run(program)

    assert done.build is not None
    assert (done.build.exit_code, done.commands[0].status) == (4, Status.NOT_STARTED)


def test_each_command_has_its_own_input_and_variables():
    """Standard input ends after its bytes; variables reach one command alone."""
    script = ("sh", "-c", "cat; echo $X")
    commands = (Command(script, stdin=b"one", env={"X": "1"}), Command(script, stdin=b"two"))

    done = run(Program("shell", {}, commands))

    assert [each.stdout for each in done.commands] == [b"one1\n", b"two\n"]


def test_a_signal_is_told_from_an_exit():
    """A program that kills itself is `signaled`."""
    result = only(python("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"))

    assert (result.status, result.signal) == (Status.SIGNALED, signal.SIGTERM)


def test_a_missing_language_is_not_the_programs_fault():
    """A command that is not installed raises, and the message names it."""
    with pytest.raises(BackendMisconfigured, match="no-such-language"):
        run(Program("x", {}, (Command(("no-such-language",)),)))


def test_a_missing_program_file_is_not_started():
    """A relative path that the build did not make is the program's own fault."""
    assert run(Program("x", {}, (Command(("./a.out",)),))).commands[0].status is Status.NOT_STARTED


def test_nothing_of_the_host_is_in_sight():
    """Neither its environment, nor its home, nor its temporary files, nor its users."""
    code = "import os\nprint(sorted(os.environ), os.listdir('/tmp'), os.path.exists('/etc/shadow'), os.path.exists('/home'))"

    shown = only(python(code)).stdout

    assert b"CODEREWARD_RESULT" in shown
    assert b"VIRTUAL_ENV" not in shown
    assert shown.endswith(b"False False\n")


def test_cancelling_ends_the_program():
    """A cancelled run is over at once and leaves no process."""

    async def cancel() -> float:
        executor = LocalExecutor(workers=1)
        task = asyncio.create_task(executor.run(python("import time\ntime.sleep(77.25)")))
        await asyncio.sleep(0.5)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await executor.aclose()
        return time.monotonic() - began

    assert asyncio.run(cancel()) < 2


def test_no_more_than_workers_run_at_once():
    """Eight sleeping programs on four workers take two rounds."""

    async def timed() -> float:
        executor = LocalExecutor(workers=4)
        began = time.monotonic()
        await asyncio.gather(*(executor.run(python("import time\ntime.sleep(0.4)")) for _ in range(8)))
        await executor.aclose()
        return time.monotonic() - began

    assert asyncio.run(timed()) > 0.8


def test_a_used_executor_copies_and_pickles_to_an_unused_one():
    """Copies carry the configuration and run on their own."""
    executor = LocalExecutor(workers=2)
    asyncio.run(executor.run(python("pass")))

    for twin in (copy.copy(executor), copy.deepcopy(executor), pickle.loads(pickle.dumps(executor))):
        assert twin.workers == 2
        assert asyncio.run(twin.run(python("print(1)"))).commands[0].stdout == b"1\n"
        asyncio.run(twin.aclose())
    asyncio.run(executor.aclose())


def test_a_killed_host_leaves_no_process():
    """After SIGKILL of the host nothing of its sandboxes is alive."""
    mark = f"{os.getpid()}.125"
    code = (
        "import asyncio, sys\nfrom codereward import *\nfrom codereward_local.executor import LocalExecutor\n"
        f"program = Program('x', {{}}, (Command(('sleep', '{mark}')),), limits=Limits(wall_seconds=60))\n"
        "asyncio.run(LocalExecutor(workers=1).run(program))"
    )
    host = subprocess.Popen([sys.executable, "-c", code])
    await_sight(mark, True)
    host.kill()
    host.wait()

    await_sight(mark, False)


def await_sight(mark: str, there: bool) -> None:
    """Wait until a process with `mark` in its arguments is there, or is not."""
    deadline = time.monotonic() + 10
    while any_process(mark) is not there:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def any_process(mark: str) -> bool:
    found = subprocess.run(["pgrep", "-f", f"^sleep {mark}"], capture_output=True)
    return found.returncode == 0
