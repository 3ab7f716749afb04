"""What one program does, the next one does not find."""

import asyncio
import os
from pathlib import Path

import pytest
from codereward import Command, Limits, Program

from codereward_local.executor import LocalExecutor

SETTLED_SECONDS = 0.3
"""After it the fork server has made its next sandbox ahead, and waits."""
TRACES = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "traces").iterdir())}
"""Two programs in a file: the first leaves something, the second looks for it."""
LIMITS = Limits(wall_seconds=5, memory_bytes=400 * 2**20, processes=30)


def program(code: str) -> Program:
    return Program("python", {"main.py": code.encode()}, (Command(("python3", "main.py")),), limits=LIMITS)


@pytest.fixture(scope="module")
def outputs():
    """For each pair: what the second program prints in a fresh worker, and after the first."""

    async def pairs() -> dict[str, tuple[bytes, bytes]]:
        executor = LocalExecutor(workers=1)
        found = {}
        for name, text in TRACES.items():
            leave, look = text.split("# ---- the next program\n")
            before = await executor.run(program(look))
            await executor.run(program(leave))
            after = await executor.run(program(look))
            found[name] = (before.commands[0].stdout, after.commands[0].stdout)
        await executor.aclose()
        return found

    return asyncio.run(pairs())


@pytest.mark.parametrize("name", TRACES)
def test_nothing_of_a_program_stays(outputs, name):
    """A program sees the same whether or not another one tried to leave something."""
    before, after = outputs[name]

    assert before
    assert after == before


def test_no_earlier_program_is_in_memory():
    """The bytes of a program, its input and its output are not in the memory of the next one."""
    secret = "planted-" + "x7" * 8
    leave = Program(
        "python",
        {"main.py": f"kept = ['{secret}'] * 9\nprint(kept, input())".encode()},
        (Command(("python3", "main.py"), stdin=secret.encode()),),
    )
    look = (
        "mark = b'planted-' + b'x7' * 8\n"
        "own, found = 0, 0\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:\n"
        "    for line in list(maps):\n"
        "        a, b = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "        if 'rw' in line.split()[1]:\n"
        "            try: memory.seek(a); block = memory.read(b - a)\n"
        "            except (OSError, ValueError, OverflowError): continue\n"
        "            found += block.count(mark[:-1] + b'7')\n"
        "            del block\n"
        "import gc; print(found)"
    )

    async def counts() -> list[int]:
        executor = LocalExecutor(workers=1)
        before = await executor.run(program(look))
        for _ in range(5):
            await executor.run(leave)
        after = await executor.run(program(look))
        await executor.aclose()
        return [int(each.commands[0].stdout) for each in (before, after)]

    before, after = asyncio.run(counts())

    assert after <= before + 1  # the constant itself, and the block it is looked for in, may be seen


@pytest.mark.parametrize("runs", [1500])
def test_no_leak_in_many_runs(runs):
    """After many programs: the same worker, no more descriptors, no more memory, no more mounts."""

    async def measure() -> tuple[int, dict[str, int], dict[str, int]]:
        executor = LocalExecutor(workers=1)
        await asyncio.gather(*(executor.run(program("print(1)")) for _ in range(100)))
        await asyncio.sleep(SETTLED_SECONDS)
        before = footprint(executor)
        done = await asyncio.gather(*(executor.run(program("print(1)")) for _ in range(runs)))
        await asyncio.sleep(SETTLED_SECONDS)
        after = footprint(executor)
        await executor.aclose()
        return sum(each.commands[0].stdout == b"1\n" for each in done), before, after

    right, before, after = asyncio.run(measure())

    assert right == runs
    assert after["server"] == before["server"]
    assert after["descriptors"] <= before["descriptors"]
    assert after["own descriptors"] <= before["own descriptors"]
    assert after["mounts"] == before["mounts"]
    assert after["kilobytes"] < before["kilobytes"] + 1000


def footprint(executor: LocalExecutor) -> dict[str, int]:
    """What the worker's fork server has open, seen from outside."""
    helper = executor._pool._free[0].box.process.pid
    server = int(Path(f"/proc/{helper}/task/{helper}/children").read_text().split()[0])
    status = Path(f"/proc/{server}/status").read_text()
    return {
        "server": server,
        "descriptors": descriptors(server),
        "own descriptors": len(os.listdir("/proc/self/fd")),
        "mounts": len(Path(f"/proc/{server}/mountinfo").read_text().splitlines()) if os.geteuid() == 0 else 0,
        "kilobytes": int(status.split("RssAnon:")[1].split()[0]),
    }


def descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:  # an ordinary user may not look into a process that keeps to itself
        return 0
