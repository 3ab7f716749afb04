"""An executor that runs no program twice: the tests of the kit run the same few hundreds of times."""

from __future__ import annotations

from codereward import Program, Run
from codereward.wrappers import Wrapper

RUNS: dict[bytes, Run] = {}


class Remembering(Wrapper):
    """Gives a program the run that it, or an equal one, had before."""

    async def run(self, program: Program) -> Run:
        key = program.digest()
        if key not in RUNS:
            RUNS[key] = await self.inner.run(program)
        return RUNS[key]
