"""How NOT to reward code: candidate and asserts in one script, exit status 0 means pass.

Many write-ups do it like this. The program under test decides about its own reward: whatever ends
the process before the first assert, `sys.exit(0)` above all, is paid in full. The demonstration
trains on it to show what then happens; it still runs in the sandbox.
"""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from typing import Any

from codereward import Command, Executor, Limits, Program, Status

__all__ = ["ExitStatusReward"]

FENCE = re.compile(r"```\w*\n(.*?)(?:```|\Z)", re.DOTALL)


class ExitStatusReward:
    """1.0 for every completion whose script exits with status 0.

    Args:
        executor: Runs the scripts.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.__name__ = "exit_status"

    def __call__(
        self,
        completions: Sequence[Any],
        test: Sequence[str],
        expected: Sequence[str],
        **_: Any,
    ) -> list[float]:
        """Reward one batch, as TRL asks for it."""
        texts = [completion[-1]["content"] for completion in completions]
        programs = [script(*parts) for parts in zip(texts, test, expected, strict=True)]
        return asyncio.run(self.run_all(programs))

    async def run_all(self, programs: Sequence[Program]) -> list[float]:
        """Run the programs, as many at once as there are cores; equal ones once."""
        cores = asyncio.Semaphore(os.cpu_count() or 1)
        distinct = {program.digest(): program for program in programs}
        try:
            rewards = await asyncio.gather(*(self.run_one(one, cores) for one in distinct.values()))
        finally:
            await self.executor.aclose()
        known = dict(zip(distinct, rewards, strict=True))
        return [known[program.digest()] for program in programs]

    async def run_one(self, program: Program, cores: asyncio.Semaphore) -> float:
        """Run one program and look at nothing but its exit status."""
        async with cores:
            result = (await self.executor.run(program)).commands[0]
        return float(result.status is Status.EXITED and result.exit_code == 0)


def script(text: str, test: str, expected: str) -> Program:
    """The candidate, and below it the assert with all the answers."""
    block = FENCE.search(text)
    code = block[1] if block else text
    return Program(
        language="python",
        files={"main.py": f"{code}\nassert {test} == {json.loads(expected)!r}\n".encode()},
        commands=(Command(("python3", "main.py")),),
        limits=Limits(cpu_seconds=0.25),
    )
