"""What a suite says of a component, without pytest's report."""

from __future__ import annotations

import pytest

from codereward.testing.suites.base import Suite


def failures(suite: type[Suite]) -> set[str]:
    """Names of the checks that a component fails."""
    return {name.removeprefix("test_") for name in suite._standard if not passes(suite(), name)}


def passes(suite: Suite, name: str) -> bool:
    try:
        getattr(suite, name)()
    except pytest.skip.Exception:
        return True
    except Exception:
        return False
    return True
