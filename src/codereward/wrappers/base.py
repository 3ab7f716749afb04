"""What executors around executors share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from codereward.model import Finding
from codereward.protocols import Executor

__all__ = ["Wrapper"]


class Wrapper(Executor):
    """An executor that adds a policy to another one.

    Args:
        inner: The executor that does the work; closed with the wrapper.
    """

    def __init__(self, inner: Executor) -> None:
        self.inner = inner

    async def aclose(self) -> None:
        """Close the inner executor."""
        await self.inner.aclose()

    async def diagnose(self) -> Sequence[Finding]:
        """What the inner executor finds."""
        return await self.inner.diagnose()

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle with an unused copy of the inner executor."""
        return {**self.__dict__, "inner": copy.copy(self.inner)}
