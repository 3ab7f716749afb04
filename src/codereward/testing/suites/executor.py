"""The suite for executors."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Collection
from typing import ClassVar

from codereward.protocols import Executor
from codereward.testing.checks.executor import CHECKS, Bench, Check, perform
from codereward.testing.suites.base import Suite

__all__ = ["ExecutorTests"]


class ExecutorTests(Suite, checks=CHECKS):
    """What every executor does. Its sandboxes need `sh` and the small tools of POSIX."""

    languages: ClassVar[tuple[str, ...]] = ("python",)
    """The values of `Program.language` that it serves; checks that need `python3` are skipped
    unless `python` is among them."""
    slack_seconds: ClassVar[float] = 10.0
    """How much longer than its limits a run, a cancellation or a close may take."""
    outside: ClassVar[tuple[str, int] | None] = None
    """Host and port that answer TCP where the sandboxes are, and that none may reach. Give one when
    they do not run on this machine; `None`: the check listens here itself."""

    @abstractmethod
    def make_executor(self) -> Executor:
        """Make an unused executor; called several times in a test, equal ones every time."""

    def leftovers(self) -> Collection[str]:
        """Names of what the backend still holds, asked after every test: sandboxes, containers.

        Processes on this machine are looked for anyway.
        """
        return ()

    def perform(self, check: Check) -> None:
        """Run one check on an event loop of its own."""
        asyncio.run(self._perform(check))

    async def _perform(self, check: Check) -> None:
        bench = Bench(
            make=self.make_executor,
            languages=self.languages,
            slack_seconds=self.slack_seconds,
            outside=self.outside,
            leftovers=self.leftovers,
        )
        await perform(check, bench)
