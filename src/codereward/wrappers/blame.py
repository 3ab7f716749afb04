"""Whose fault is it that a sandbox was lost?"""

from __future__ import annotations

from typing import Final

from codereward.errors import BackendMisconfigured, BackendUnavailable
from codereward.model import Command, CommandResult, Program, Run, Status
from codereward.protocols import Executor
from codereward.wrappers.base import Wrapper

__all__ = ["Attributing"]

CANARY: Final = Command(("sh", "-c", "echo canary"))
"""A command that any sandbox that works can run."""


class Attributing(Wrapper):
    """Tells a program that kills its sandbox from a backend that loses sandboxes (law 3).

    A program that was lost after it started is run once more, in a fresh sandbox. When it is lost
    again while a trivial canary program runs there unharmed, the loss is the program's own doing:
    its commands end as `Status.LOST`, which is a score and not an excuse. In every other case the
    backend is at fault and the `BackendUnavailable` goes on to the caller.

    An error that an executor's contract does not allow counts as a sandbox lost after the start.
    """

    async def run(self, program: Program) -> Run:
        """Run `program`, and find out whose fault it is when it is lost."""
        try:
            return await run_within_contract(self.inner, program)
        except BackendUnavailable as first:
            if not first.started:
                raise
        try:
            return await run_within_contract(self.inner, program)
        except BackendUnavailable as second:
            if second.started and await self._works(program):
                return lost(program, str(second))
            raise

    async def _works(self, program: Program) -> bool:
        canary = Program(program.language, {}, (CANARY,))
        try:
            run = await run_within_contract(self.inner, canary)
        except BackendUnavailable:
            return False
        return run.commands[0].status is Status.EXITED and b"canary" in run.commands[0].stdout


async def run_within_contract(executor: Executor, program: Program) -> Run:
    """Run `program` so that nothing but the contract's errors, or a whole `Run`, comes back."""
    try:
        run = await executor.run(program)
    except (BackendUnavailable, BackendMisconfigured):
        raise
    except Exception as error:
        msg = f"{type(executor).__name__} raised {type(error).__name__}: {error}"
        raise BackendUnavailable(msg, True) from error  # noqa: FBT003 - positional, so that it pickles
    if len(run.commands) != len(program.commands):
        msg = (
            f"{type(executor).__name__} gave {len(run.commands)} results for {len(program.commands)} commands"
        )
        raise BackendUnavailable(msg, True)  # noqa: FBT003 - as above
    return run


def lost(program: Program, reason: str) -> Run:
    """The run of a program that takes its sandbox down."""
    result = CommandResult(Status.LOST, stderr=reason.encode("utf-8", "replace"))
    return Run(tuple(result for _ in program.commands))
