"""Conformance tests for whoever writes an extractor, a harness, an executor or a scorer.

Subclass a suite, say how to make the component, and let pytest find the class:

```python
from codereward.testing import ExecutorTests

class TestAcme(ExecutorTests):
    exempt = {"test_memory_limit_is_reported": "acme meters memory per hour, not per program"}

    def make_executor(self):
        return AcmeExecutor(region="test")
```

The suites need pytest and hypothesis (`pip install 'codereward[testing]'`). The checks behind them
are plain functions in `codereward.testing.checks`, which need neither.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from codereward.testing.suites.executor import ExecutorTests
    from codereward.testing.suites.extractor import ExtractorTests
    from codereward.testing.suites.harness import HarnessTests
    from codereward.testing.suites.scorer import ScorerTests

__all__ = ["ExecutorTests", "ExtractorTests", "HarnessTests", "ScorerTests"]

CHECKS: Final = "codereward.testing.checks"
SUITES: Final = "codereward.testing.suites"


def __getattr__(name: str) -> Any:
    """Import a suite when it is asked for: the checks alone have to work without pytest."""
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    show_values_of_failed_checks()
    return getattr(import_module(f"{SUITES}.{name.removesuffix('Tests').lower()}"), name)


def show_values_of_failed_checks() -> None:
    """Have pytest rewrite the assertions of the checks, as it does for test modules alone."""
    if CHECKS not in sys.modules:
        import pytest

        pytest.register_assert_rewrite(CHECKS)
