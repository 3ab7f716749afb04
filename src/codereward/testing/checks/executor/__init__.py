"""What a conforming executor does."""

from typing import Final

from codereward.testing.checks.executor import isolation, lifecycle, limits, results
from codereward.testing.checks.executor.bench import Bench, Check, perform

__all__ = ["CHECKS", "Bench", "Check", "perform"]

CHECKS: Final[tuple[Check, ...]] = (*results.CHECKS, *limits.CHECKS, *isolation.CHECKS, *lifecycle.CHECKS)
