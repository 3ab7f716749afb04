"""What the tests of this plugin share."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from codereward import Command, CommandResult, Program, Run

from codereward_superserve import SuperserveExecutor

FAST = {"max_sandboxes": 4, "create_rate": 1000.0, "backoff_seconds": 0.01, "call_seconds": 10.0}
"""Options for tests: no waiting that is not the subject."""


def python(code: str, **options: object) -> Program:
    return Program("python", {"main.py": code.encode()}, (Command(("python3", "main.py")),), **options)


def shell(text: str, **options: object) -> Program:
    return Program("python", {}, (Command(("sh", "-c", text)),), **options)


HELLO = python("print('hello')")


def run(program: Program, **options: object) -> Run:
    """Run one program with an executor of its own."""
    return run_all([program], **options)[0]


def run_all(programs: list[Program], **options: object) -> list[Run]:
    """Run programs at once with one executor; an exception of any is raised after all have ended."""
    results = outcomes(programs, **options)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def outcomes(programs: list[Program], **options: object) -> list[Run | BaseException]:
    """As `run_all`, but exceptions are returned."""

    async def once() -> list[Run | BaseException]:
        executor = SuperserveExecutor(**FAST | options)
        try:
            return await asyncio.gather(*map(executor.run, programs), return_exceptions=True)
        finally:
            await executor.aclose()

    return asyncio.run(once())


def only(program: Program, **options: object) -> CommandResult:
    return run(program, **options).commands[0]


def forget_connections() -> None:
    """Close the SDK's client: the next one reads the environment anew."""
    from superserve import _http

    if _http._shared is not None:
        _http._shared.close()
    _http._shared = None


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def codereward(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the console command, as a user does."""
    command = [Path(sys.executable).with_name("codereward"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)
