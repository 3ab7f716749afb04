"""Programs that want out, or everything: all contained, their neighbours unharmed."""

import asyncio
import dataclasses
import os
import secrets
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from codereward import Command, CommandResult, Limits, Program, Status

from codereward_local.executor import LocalExecutor

HERE = Path(__file__).parent / "hostile"
LIMITS = Limits(
    wall_seconds=0.7,
    memory_bytes=256 * 2**20,
    processes=32,
    output_bytes=2**18,
    result_bytes=2**20,
    disk_bytes=2**23,
)
NODE_LIMITS = Limits(wall_seconds=4.0, memory_bytes=512 * 2**20, output_bytes=2**18, disk_bytes=2**23)
NEIGHBOUR = "import sys\nprint(sum(range(1000)), sys.stdin.read())"
PYTHON = {path.stem: path.read_text() for path in sorted((HERE / "python").iterdir())}
NODE = {path.stem: path.read_text() for path in sorted((HERE / "node").iterdir())}
NODE_MISSING = None if shutil.which("node") else "node is not installed"


@pytest.fixture(scope="module")
def bait(tmp_path_factory):
    """What programs must not reach: a file, a port, an abstract socket."""
    canary = tmp_path_factory.mktemp("canary") / "secret"
    canary.write_text("secret")
    name = f"codereward-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0" + name)
        local.listen()
        yield (str(canary), str(server.getsockname()[1]), name)


def wanted(source: str) -> str:
    return source.partition("\n")[0].partition("expect: ")[2]


CONTAINED = [name for name, source in PYTHON.items() if wanted(source) == "contained"]


def python_program(source: str, words: tuple[str, ...]) -> Program:
    files = {"main.py": source.encode(), "harm.py": (HERE / "harm.py").read_bytes()}
    # Who ends by itself, or at another limit, gets the time for it on a busy machine too.
    seconds = LIMITS.wall_seconds if wanted(source) in ("wall_seconds", "bounded") else 8.0
    limits = dataclasses.replace(LIMITS, wall_seconds=seconds)
    return Program("python", files, (Command(("python3", "main.py", *words)),), limits=limits)


def node_program(source: str, words: tuple[str, ...]) -> Program:
    lead = "const fs = require('fs'); const {won, attempt} = require('./harm.js');\n"
    limits = LIMITS if wanted(source) == "wall_seconds" else NODE_LIMITS
    files = {"main.js": (lead + source).encode(), "harm.js": (HERE / "harm.js").read_bytes()}
    return Program("node", files, (Command(("node", "main.js", *words)),), limits=limits)


def run_all(programs: dict[str, Program]) -> dict[str, CommandResult]:
    """Run hostile programs and as many honest ones, mixed on the same workers."""
    honest = Command(("python3", "main.py"), stdin=b"honest")
    neighbour = Program("python", {"main.py": NEIGHBOUR.encode()}, (honest,))

    async def gathered() -> tuple[list, list]:
        executor = LocalExecutor(workers=4)
        try:
            hostile = [asyncio.create_task(executor.run(each)) for each in programs.values()]
            honest = [asyncio.create_task(executor.run(neighbour)) for _ in programs]
            return await asyncio.gather(*hostile), await asyncio.gather(*honest)
        finally:
            await executor.aclose()

    hostile, honest_runs = asyncio.run(gathered())
    assert all(each.commands[0].stdout == b"499500 honest\n" for each in honest_runs)
    assert all(each.commands[1].stdout == b"after\n" for each in hostile if len(each.commands) > 1)
    return {name: each.commands[0] for name, each in zip(programs, hostile, strict=True)}


@pytest.fixture(scope="module")
def python_results(bait):
    os.environ["CANARY_OF_HOST"] = "SECRET"
    try:
        return run_all({name: python_program(source, bait) for name, source in PYTHON.items()})
    finally:
        del os.environ["CANARY_OF_HOST"]


@pytest.fixture(scope="module")
def supervised_results(bait):
    """The first of two commands: a program that has a supervisor with its own user beside it."""
    programs = {name: python_program(PYTHON[name], bait) for name in CONTAINED}
    after = Command(("echo", "after"))
    twofold = {
        name: dataclasses.replace(each, commands=(*each.commands, after)) for name, each in programs.items()
    }
    return run_all(twofold)


@pytest.fixture(scope="module")
def node_results(bait):
    return run_all({name: node_program(source, bait) for name, source in NODE.items()})


@pytest.mark.parametrize("name", PYTHON)
def test_hostile_python_program(python_results, name):
    """Nothing that it tries works, and it ends at the limit that its first line names."""
    expect(PYTHON[name], python_results[name])


@pytest.mark.parametrize("name", CONTAINED)
def test_hostile_python_program_with_a_supervisor(supervised_results, name):
    """Nothing that it tries against the supervisor works, and the next command still runs."""
    expect(PYTHON[name], supervised_results[name])


@pytest.mark.skipif(NODE_MISSING is not None, reason=str(NODE_MISSING))
@pytest.mark.parametrize("name", NODE)
def test_hostile_node_program(node_results, name):
    """Nothing that it tries works, and it ends at the limit that its first line names."""
    expect(NODE[name], node_results[name])


def expect(source: str, result: CommandResult) -> None:
    """`contained`, `ends`: by itself; `bounded`: somehow; else at the limit of that name."""
    end = wanted(source)

    assert end
    assert result.wall_seconds < 20  # eight at most, and a busy machine
    assert b"LATE" not in result.stdout
    if end in ("contained", "ends"):
        assert result.limit is None
        assert result.status in (Status.EXITED, Status.SIGNALED)
    elif end != "bounded":
        assert result.limit == end
    if end == "contained":
        assert result.result == b""


def test_nothing_is_left(python_results):
    """No process of a hostile program is alive, and nothing was written."""
    found = subprocess.run(["pgrep", "-f", "^sleep (77|99)"], capture_output=True)

    assert found.returncode == 1
    assert not [path for path in ("/hostile", "/usr/hostile", "/etc/hostile") if Path(path).exists()]
