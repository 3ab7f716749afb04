"""Programs mean the same here as in every other executor, and leave nothing behind."""

import asyncio
import copy
import os
import pickle
import shutil
import signal
import sys

import pytest
from codereward import BackendMisconfigured, Command, Limits, Program, Status
from codereward.registry import Registry
from helpers import FAST, HELLO, only, python, run, run_all, shell

from codereward_superserve import SuperserveExecutor


def test_a_program_brings_back_its_output_code_and_result(service):
    """Standard output, standard error, the exit code and the result channel all come back."""
    code = (
        "import os, sys\nprint('out'); print('err', file=sys.stderr)\n"
        "open(os.environ['CODEREWARD_RESULT'], 'wb').write(b'4\\xff2')\nsys.exit(3)"
    )

    result = only(python(code))

    assert (result.status, result.exit_code) == (Status.EXITED, 3)
    assert (result.stdout, result.stderr, result.result) == (b"out\n", b"err\n", b"4\xff2")


@pytest.mark.parametrize(
    ("code", "limits", "status", "limit"),
    [
        ("while True: pass", {"wall_seconds": 0.5}, Status.TIMED_OUT, "wall_seconds"),
        ("while True: pass", {"cpu_seconds": 0.2}, Status.TIMED_OUT, "cpu_seconds"),
        ("bytearray(10**10)", {}, Status.OUT_OF_MEMORY, "memory_bytes"),
        (
            "import os, time\nfor _ in range(6):\n    if not os.fork(): break\nx = b'x' * 30_000_000\ntime.sleep(5)",
            {"memory_bytes": 2**26},
            Status.OUT_OF_MEMORY,
            "memory_bytes",
        ),
        ("while True: print('x' * 1000)", {"disk_bytes": 2**23}, Status.OUTPUT_LIMIT, "output_bytes"),
        (
            "f = open('f', 'wb')\nwhile True: f.write(bytes(10**6))",
            {"disk_bytes": 2**22},
            Status.OUTPUT_LIMIT,
            "disk_bytes",
        ),
        (
            "f = open('/dev/shm/f', 'wb')\nwhile True: f.write(bytes(10**5))",
            {"disk_bytes": 2**20},
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
            "import threading as t, time\nfor _ in range(99): t.Thread(target=time.sleep, args=(9,), daemon=True).start()",
            {"processes": 20, "memory_bytes": 2**30},
            Status.EXITED,
            "processes",
        ),
    ],
)
def test_each_limit_shows_as_its_own(service, code, limits, status, limit):
    """A program over a limit is ended, and the result names the limit."""
    result = only(python(code, limits=Limits(**limits)))

    assert (result.status, result.limit) == (status, limit)


def test_output_before_a_timeout_is_kept_and_nothing_is_added(service):
    """What was written before the wall limit comes back, and the shell's remarks do not."""
    code = "import time\nprint('early', flush=True)\ntime.sleep(9)"

    result = only(python(code, limits=Limits(wall_seconds=0.7)))

    assert (result.status, result.stdout, result.stderr) == (Status.TIMED_OUT, b"early\n", b"")
    assert 0.6 < result.wall_seconds < 3


def test_output_is_cut_at_its_limit(service):
    """Exactly `output_bytes` are kept of a flood."""
    result = only(python("print('x' * 5000)", limits=Limits(output_bytes=1000)))

    assert (result.stdout, result.truncated) == (b"x" * 1000, True)


def test_files_outlive_a_command_and_processes_do_not(service):
    """The commands of a program share files; what the first leaves running is dead for the second."""
    first = "setsid sleep 60 & echo $! > pid; echo kept > file"
    second = "cat file; kill -0 $(cat pid) 2>/dev/null || echo dead"
    commands = tuple(Command(("sh", "-c", each)) for each in (first, second))

    result = run(Program("python", {}, commands)).commands[1]

    assert result.stdout == b"kept\ndead\n"


def test_a_failed_build_starts_nothing(service):
    """When the build fails, its result is there and every command says that it was not started."""
    program = Program("python", {}, (Command(("true",)),), build=Command(("sh", "-c", "exit 4")))

    done = run(program)

    assert (done.build.exit_code, done.commands[0].status) == (4, Status.NOT_STARTED)


def test_what_a_build_makes_can_be_run(service):
    """A build command's files are there for the commands."""
    build = Command(("sh", "-c", "printf '#!/bin/sh\\necho built' > tool && chmod +x tool"))

    done = run(Program("python", {}, (Command(("./tool",)),), build=build))

    assert (done.build.exit_code, done.commands[0].stdout) == (0, b"built\n")


def test_each_command_has_its_own_input_variables_and_limits(service):
    """Standard input ends after its bytes; variables and limits reach one command alone."""
    text = ("sh", "-c", 'cat; echo "$X"')
    commands = (
        Command(text, stdin=b"one\0\xff", env={"X": "it's\n$1"}),
        Command(("sleep", "9"), limits=Limits(wall_seconds=0.3)),
        Command(text, stdin=b"two"),
    )

    first, second, third = run(Program("python", {}, commands)).commands

    assert (first.stdout, third.stdout) == (b"one\0\xffit's\n$1\n", b"two\n")
    assert second.status is Status.TIMED_OUT


def test_twenty_commands_take_one_call(service):
    """A program of many commands runs in one sandbox and one exec call."""
    commands = tuple(Command(("cat",), stdin=str(number).encode()) for number in range(20))

    done = run(Program("python", {}, commands))

    assert [each.stdout for each in done.commands] == [str(number).encode() for number in range(20)]
    assert len(service.requests("exec")) == 1


def test_a_signal_is_told_from_an_exit(service):
    """A program that kills itself is `signaled`."""
    result = only(python("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"))

    assert (result.status, result.signal) == (Status.SIGNALED, signal.SIGTERM)


def test_a_missing_language_is_not_the_programs_fault(service):
    """A command that is not installed raises, and the message names it and the template."""
    with pytest.raises(BackendMisconfigured, match=r"superserve/python-3.11.*no-such-language"):
        run(Program("python", {}, (Command(("no-such-language",)),)))


def test_a_missing_program_file_is_not_started(service):
    """A relative path that the build did not make is the program's own fault, in its turn."""
    done = run(Program("python", {}, (Command(("./a.out",)), Command(("echo", "next")))))

    assert [each.status for each in done.commands] == [Status.NOT_STARTED, Status.EXITED]
    assert done.commands[1].stdout == b"next\n"


def test_a_program_that_cannot_be_executed_is_not_started(service):
    """A script whose interpreter is not there is not started."""
    program = Program(
        "python", {}, (Command(("./x",)),), build=Command(("sh", "-c", "printf '#!/none' > x; chmod +x x"))
    )

    assert run(program).commands[0].status is Status.NOT_STARTED


def test_programs_run_as_nobody_with_nothing_in_sight(service):
    """No root, no network, no capabilities, an environment of its own, no other command's files."""
    code = """
import json, os, socket
def attempt(function, *arguments):
    try:
        return str(function(*arguments))
    except OSError as error:
        return error.strerror
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "uid": os.getuid(), "caps": status["CapBnd"].strip(), "new": status["NoNewPrivs"].strip(),
    "net": attempt(socket.create_connection, ("1.1.1.1", 53), 2),
    "rooms": attempt(os.listdir, os.path.dirname(os.path.dirname(os.environ["CODEREWARD_RESULT"]))),
    "etc": attempt(open, "/etc/x", "w"), "environ": sorted(os.environ),
    "others": attempt(open, "/proc/1/environ"),
}))
"""
    import json

    seen = json.loads(only(python(code)).stdout)

    assert seen == {
        "uid": 65534,
        "caps": "0000000000000000",
        "new": "1",
        "net": "Network is unreachable",
        "rooms": "Permission denied",
        "etc": "Permission denied",
        "environ": ["CODEREWARD_RESULT", "HOME", "LANG", "PATH", "PYTHONHASHSEED", "TMPDIR"],
        "others": "Permission denied",
    }


def test_a_command_cannot_change_an_earlier_ones_result(service):
    """What a command left is sealed before the next one starts."""
    first = "echo $CODEREWARD_RESULT > where; echo true > $CODEREWARD_RESULT"
    second = "echo forged > $(cat where) || echo sealed"
    commands = tuple(Command(("sh", "-c", each)) for each in (first, second))

    done = run(Program("python", {}, commands))

    assert (done.commands[0].result, done.commands[1].stdout) == (b"true\n", b"sealed\n")


def test_a_large_program_and_a_large_result_travel_as_files(service):
    """What does not fit into a request is written first, what does not fit into a reply is fetched."""
    blob = os.urandom(3_000_000)
    code = "import os\ndata = open('blob', 'rb').read()\nos.write(1, data)\nopen(os.environ['CODEREWARD_RESULT'], 'wb').write(data)"
    program = Program(
        "python",
        {"main.py": code.encode(), "blob": blob},
        (Command(("python3", "main.py")),),
        limits=Limits(output_bytes=4_000_000),
    )

    result = only(program)

    assert result.stdout == blob
    assert result.result == blob
    assert (len(service.requests("write")), len(service.requests("read"))) == (1, 1)


def test_a_program_of_a_megabyte_travels_in_one_request(service):
    """About a megabyte of incompressible program still fits into the exec request."""
    blob = os.urandom(1_000_000)
    program = Program("python", {"blob": blob}, (Command(("sha256sum", "blob")),))
    import hashlib

    result = only(program)

    assert result.stdout.split()[0].decode() == hashlib.sha256(blob).hexdigest()
    assert service.requests("write") == []


def test_files_larger_than_the_disk_limit_need_no_sandbox(service):
    """A program that is over its disk limit from the start is told so without asking the service."""
    result = only(
        Program("python", {"f": bytes(2000)}, (Command(("true",)),), limits=Limits(disk_bytes=1000))
    )

    assert (result.status, result.limit) == (Status.OUTPUT_LIMIT, "disk_bytes")
    assert service.requests("create") == []


@pytest.mark.parametrize(
    "program",
    [
        Program("python", {"x" * 300: b""}, (Command(("true",)),)),
        Program("python", {}, (Command(("true",), env={"-u": "HOME"}),)),
        Program("python", {}, (Command(("true",), env={"A=B": "C"}),)),
    ],
    ids=["file", "option", "assignment"],
)
def test_names_that_no_system_takes_are_refused(service, program):
    """A file's name that is too long, and a variable's name that would be read as something else."""
    with pytest.raises(ValueError, match=r"Program\.files|Command\.env"):
        run(program)


def test_odd_names_and_texts_survive(service):
    """Quotes, newlines, lone surrogates and nested folders reach the program as they are."""
    name = "a 'b'/\n\udcff"
    program = Program(
        "python",
        {name: b"x"},
        (
            Command(
                (
                    "python3",
                    "-c",
                    "import sys; print(ascii(sys.argv[1:]), open(sys.argv[1]).read())",
                    name,
                    "$HOME",
                    "\udcfe",
                )
            ),
        ),
    )

    assert only(program).stdout.decode() == f"{[name, '$HOME', chr(0xDCFE)]!a} x\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="the emulator's guests have the host's node")
def test_node_programs_run_in_the_node_template(service):
    """A program's language chooses the template."""
    program = Program(
        "node", {"main.js": b"console.log([1, 2].map(x => x * 2))"}, (Command(("node", "main.js")),)
    )

    assert only(program).stdout == b"[ 2, 4 ]\n"
    assert [each["sandbox"] for each in service.requests("templates")] == ["/templates"]


def test_every_sandbox_is_new_closed_and_mortal(service):
    """Each program gets a sandbox of its own: no network, private, with a time to live, and named."""
    service.fault("exec", "stall", seconds=1.0)

    async def look():
        executor = SuperserveExecutor(**FAST, metadata={"experiment": "7"}, run_name="run-1")
        jobs = [asyncio.create_task(executor.run(HELLO)) for _ in range(2)]
        await asyncio.sleep(0.7)
        seen = service.state()["sandboxes"]
        await asyncio.gather(*jobs)
        await executor.aclose()
        return seen

    boxes = asyncio.run(look())

    assert len({box["id"] for box in boxes}) == 2
    for box in boxes:
        assert box["network"] == {"allow_out": None, "deny_out": ["0.0.0.0/0"]}
        assert (box["preview_access"], box["auto_delete_seconds"], box["timeout_seconds"]) == (
            "private",
            0,
            600,
        )
        expected = {"experiment": "7", "codereward": "1", "codereward-run": "run-1"}
        assert expected.items() <= box["metadata"].items()
    assert service.state()["most_commands"] == 1


def test_a_program_that_may_take_longer_gets_a_sandbox_that_lives_longer(service):
    """The time to live follows the program's own limits."""
    service.fault("exec", "stall", seconds=0.5)

    async def look():
        executor = SuperserveExecutor(**FAST)
        job = asyncio.create_task(executor.run(shell("true", limits=Limits(wall_seconds=3000.0))))
        await asyncio.sleep(0.4)
        box = service.state()["sandboxes"][0]
        await job
        await executor.aclose()
        return box

    assert asyncio.run(look())["timeout_seconds"] > 3000


def test_nothing_of_the_answers_could_hide(service):
    """The emulator reads what travels: a text of the program is found, so that others would be."""
    service.tell("canary", text="print('hello')")

    assert only(HELLO).stdout == b"hello\n"
    assert service.violations() != []
    service.tell("reset")


def test_many_programs_share_few_connections(service):
    """Connections are kept and reused: far fewer than requests."""
    service.tell("configure", requests_per_second=1000.0, burst=1000)
    results = run_all([python(f"print({number})") for number in range(12)])

    assert [each.commands[0].stdout for each in results] == [b"%d\n" % number for number in range(12)]
    assert service.tell("log")["connections"] <= 12


def test_the_key_is_masked():
    """Neither the executor's text nor its settings show the key."""
    executor = SuperserveExecutor(api_key="ss_live_secret", max_sandboxes=3)

    assert repr(executor) == "SuperserveExecutor(api_key=***, max_sandboxes=3)"


def test_an_executor_copies_and_pickles_to_an_unused_one(service):
    """What is live stays where it is; the copy works."""

    async def both():
        executor = SuperserveExecutor(**FAST)
        await executor.run(HELLO)
        twins = [pickle.loads(pickle.dumps(executor)), copy.copy(executor), copy.deepcopy(executor)]
        assert all(twin.settings == executor.settings and not twin.statistics() for twin in twins)
        result = await twins[0].run(HELLO)
        await twins[0].aclose()
        await executor.aclose()
        return result

    assert asyncio.run(both()).commands[0].stdout == b"hello\n"


def test_an_executor_serves_one_loop_after_another(service):
    """After a loop has ended, with or without `aclose`, the next one finds the executor usable."""
    executor = SuperserveExecutor(**FAST)
    for _ in range(2):
        assert asyncio.run(executor.run(HELLO)).commands[0].stdout == b"hello\n"

    async def close():
        await executor.run(HELLO)
        await executor.aclose()
        await executor.aclose()

    asyncio.run(close())


def test_the_plugin_registers_its_name():
    """`executor="superserve"` finds it, and loading the plugin does not import the SDK."""
    import subprocess

    registry = Registry()
    registry.discover()
    script = "import codereward_superserve, sys; sys.exit('superserve' in sys.modules)"

    made = (
        registry.create("executor", "superserve", {"max_sandboxes": 3})
        if hasattr(registry, "create")
        else None
    )

    assert made is None or made.settings.max_sandboxes == 3
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_sandboxes": 0},
        {"create_rate": 0.0},
        {"lifetime_seconds": 60},
        {"warm": -1},
        {"warm_seconds": 700.0, "warm": 1},
        {"ranks": 0},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong):
    """The message names the setting."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SuperserveExecutor(**wrong)


def test_ranks_share_the_quotas(service, monkeypatch):
    """Each of `WORLD_SIZE` processes takes its part of the sandboxes and of the rate."""
    monkeypatch.setenv("WORLD_SIZE", "4")

    async def look():
        executor = SuperserveExecutor(max_sandboxes=8, create_rate=10.0)
        await executor.run(HELLO)
        live = next(iter(executor._lives.values()))
        seen = live.boxes.places.most, live.boxes.bucket.full_rate
        await executor.aclose()
        return seen

    assert asyncio.run(look()) == (2, 5.0)
