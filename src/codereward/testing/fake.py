"""A fake executor for property-based tests. It runs nothing, isolates nothing, and has no name in any registry.

"Programs" are snippets of a toy language, one line in the file `solution.py`:

| snippet | what the fake program does |
|---|---|
| `return <JSON>` | reports that value |
| `write <text>` | writes the text into the result channel as it is |
| `exit <number>` | ends with that exit status, reporting nothing |
| `crash` | dies of a signal |
| `loop` | runs into its wall limit |
| `hog` | runs into its memory limit |
| `flood` | runs into its output limit |
| `kill` | takes its sandbox down, whenever it is run |

Anything else ends with exit status 1, as a program that does not parse would.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final, Literal

from codereward.errors import BackendUnavailable
from codereward.model import CommandResult, Program, Run, Status
from codereward.protocols import Executor

__all__ = ["FakeExecutor", "Fault"]

Fault = Literal["refused", "lost", "broken"]
"""A failure of the backend: before the program starts, after it, or an error no contract allows."""

SNIPPETS: Final = {
    "crash": CommandResult(Status.SIGNALED, signal=11),
    "loop": CommandResult(Status.TIMED_OUT, limit="wall_seconds"),
    "hog": CommandResult(Status.OUT_OF_MEMORY, limit="memory_bytes"),
    "flood": CommandResult(Status.OUTPUT_LIMIT, limit="output_bytes", truncated=True),
}


def never(_: int) -> None:
    """A backend without faults."""


def at_once(_: int) -> int:
    """A backend without delay."""
    return 0


class FakeExecutor(Executor):
    """Pretends to run snippets.

    Args:
        faults: Given the number of a call (from 0), says how the backend fails it; `None`: not.
        pause: Given the number of a call, says how many turns of the event loop it takes.

    Attributes:
        programs: Every program it was given, in order.
        running: How many calls are under way.
        peak: The most that ever were.
        closed: How often it was closed.
    """

    def __init__(
        self,
        faults: Callable[[int], Fault | None] = never,
        pause: Callable[[int], int] = at_once,
    ) -> None:
        self._faults = faults
        self._pause = pause
        self.programs: list[Program] = []
        self.running = 0
        self.peak = 0
        self.closed = 0

    async def run(self, program: Program) -> Run:
        """Pretend to run `program`."""
        number = len(self.programs)
        self.programs.append(program)
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            for _ in range(self._pause(number)):
                await asyncio.sleep(0)
            return self._outcome(program, self._faults(number))
        finally:
            self.running -= 1

    async def aclose(self) -> None:
        """Count the call."""
        self.closed += 1

    def __reduce__(self) -> tuple[type[FakeExecutor], tuple[object, ...]]:
        """Copy and pickle to an unused one."""
        return type(self), (self._faults, self._pause)

    def _outcome(self, program: Program, fault: Fault | None) -> Run:
        if fault == "refused":
            msg = "the fake backend has no room"
            raise BackendUnavailable(msg)
        if fault == "lost":
            msg = "the fake backend lost the sandbox"
            raise BackendUnavailable(msg, True)  # noqa: FBT003 - positional, so that it pickles
        if fault == "broken":
            msg = "the fake backend has a bug"
            raise ZeroDivisionError(msg)
        return Run(tuple(self._command(program) for _ in program.commands))

    def _command(self, program: Program) -> CommandResult:
        if not program.files:
            return CommandResult(Status.EXITED, 0, stdout=b"canary\n")
        snippet = program.files["solution.py"].decode("utf-8", "replace").strip()
        verb, _, rest = snippet.partition(" ")
        if verb == "kill":
            msg = "the program took the fake sandbox down"
            raise BackendUnavailable(msg, True)  # noqa: FBT003 - as above
        if verb == "return":
            return CommandResult(Status.EXITED, 0, result=json.dumps({"value": rest}).encode() + b"\n")
        if verb == "write":
            return CommandResult(Status.EXITED, 0, result=rest.encode())
        if verb == "exit":
            return CommandResult(Status.EXITED, int(rest))
        return SNIPPETS.get(verb, CommandResult(Status.EXITED, 1, stderr=b"SyntaxError\n"))
