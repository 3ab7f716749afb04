"""Where executors are checked: fresh ones, programs to give them, and looks behind them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from codereward.model import Command, CommandResult, Limits, Program, Run
from codereward.protocols import Executor
from codereward.testing.checks import Unsupported

__all__ = ["Bench", "Check", "perform", "python", "sh", "within"]

T = TypeVar("T")

ROOMY: Final = Limits(wall_seconds=20.0, cpu_seconds=20.0)
"""For programs that are not about limits; a busy machine must not fail them."""


def nothing_left() -> Collection[str]:
    """What an author who cannot look behind the executor answers."""
    return ()


@dataclass(kw_only=True)
class Bench:
    """One executor under check, and what its author said of it."""

    make: Callable[[], Executor]
    """Makes another executor of the same configuration."""
    languages: tuple[str, ...] = ("python",)
    """The values of `Program.language` it serves. Every sandbox has `sh` and the usual small tools
    (POSIX); the one for `python` has `python3`."""
    slack_seconds: float = 10.0
    """How much longer than its limits a run may take."""
    outside: tuple[str, int] | None = None
    """Host and port that answer TCP and that no sandbox may reach; `None`: one on this machine."""
    leftovers: Callable[[], Collection[str]] = nothing_left
    """Names what the backend still holds: sandboxes, processes, containers."""
    executor: Executor = field(init=False)
    token: str = field(default_factory=lambda: secrets.token_hex(6), init=False)
    """A text that nothing else holds; programs of this check carry it."""

    def __post_init__(self) -> None:
        """Make the executor that is checked."""
        self.executor = self.make()

    def program(
        self,
        *commands: Command,
        files: Mapping[str, bytes] | None = None,
        build: Command | None = None,
        limits: Limits = ROOMY,
    ) -> Program:
        """A program in the first language whose sandbox has what the commands need."""
        uses_python = any(one.argv[0] == "python3" for one in commands)
        if uses_python and "python" not in self.languages:
            msg = "needs python3 in the sandbox"
            raise Unsupported(msg)
        language = "python" if uses_python else self.languages[0]
        return Program(language, files or {}, commands, build, limits)

    async def run(self, program: Program, executor: Executor | None = None) -> Run:
        """Run a program, which has to come back within its limits and the slack."""
        run = await within(self.patience(program), (executor or self.executor).run(program))
        expected = len(program.commands)
        assert len(run.commands) == expected, f"{len(run.commands)} results for {expected} commands"
        return run

    async def only(self, command: Command, limits: Limits = ROOMY) -> CommandResult:
        """Run a program of one command."""
        return (await self.run(self.program(command, limits=limits))).commands[0]

    def patience(self, program: Program) -> float:
        """How long the run of a program may take, in seconds."""
        commands = program.commands if program.build is None else (program.build, *program.commands)
        return sum((one.limits or program.limits).wall_seconds for one in commands) + self.slack_seconds

    def sleeper(self, seconds: int) -> str:
        """Shell words for a sleep that can be told from every other on this machine."""
        return f"sleep {seconds}.{int(self.token, 16):015d}"


Check = Callable[[Bench], Awaitable[None]]


def sh(
    script: str,
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Command:
    """A command that is a shell script."""
    return Command(("sh", "-c", script, "sh", *arguments), stdin, env or {}, limits)


def python(code: str, *arguments: str, limits: Limits | None = None) -> Command:
    """A command that is a Python script."""
    return Command(("python3", "-c", code, *arguments), limits=limits)


async def within(seconds: float, work: Awaitable[T]) -> T:
    """Wait for `work`, even for work that does not let itself be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        late = not task.done()
        task.cancel()
    assert not late, f"it did not return within {seconds:g} s"
    assert not task.cancelled(), "it ended as cancelled, and nobody had cancelled it"
    return task.result()


async def perform(check: Check, bench: Bench) -> None:
    """Perform one check, close its executor, and see that nothing is left.

    Raises:
        AssertionError: The executor breaks the law.
        Unsupported: Its sandboxes lack what the check needs.
    """
    try:
        await check(bench)
    finally:
        await within(bench.slack_seconds, bench.executor.aclose())
    await assert_nothing_left(bench)


async def assert_nothing_left(bench: Bench, seconds: float = 1.0) -> None:
    """See that neither the backend nor this machine holds anything of the bench's programs."""
    left = [*bench.leftovers(), *processes_with(bench.sleeper(0).partition(".")[2])]
    if left and seconds > 0:  # the kernel, or a service, may need a moment for what is dead already
        await asyncio.sleep(0.05)
        return await assert_nothing_left(bench, seconds - 0.05)
    assert not left, f"still there after the run: {left}"
    return None


def processes_with(mark: str) -> list[str]:
    """Command lines of this machine's processes that hold `mark`; empty where there is no `/proc`."""
    lines = [command_line(place) for place in Path("/proc").glob("[0-9]*")]
    return [line for line in lines if mark in line]


def command_line(place: Path) -> str:
    """Command line of a process; empty when it has ended."""
    try:
        return (place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""
