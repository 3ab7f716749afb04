"""Hook implementations of the components that ship with codereward."""

from typing import Any

from codereward.hookspecs import (
    RegisterExtractor,
    RegisterHarness,
    RegisterScorer,
    hookimpl,
)
from codereward.protocols import Extractor, Harness, Scorer

__all__: list[str] = []


@hookimpl
def codereward_register_extractors(register: RegisterExtractor) -> None:
    """Register `fenced`."""
    register("fenced", fenced)


@hookimpl
def codereward_register_harnesses(register: RegisterHarness) -> None:
    """Register `python`."""
    register("python", python)


@hookimpl
def codereward_register_scorers(register: RegisterScorer) -> None:
    """Register `exact` and `partial`."""
    register("exact", exact)
    register("partial", partial)


def fenced(**options: Any) -> Extractor:
    """Make the extractor `fenced`."""
    from codereward.extractors import FencedExtractor

    return FencedExtractor(**options)


def python(**options: Any) -> Harness:
    """Make the harness `python`; `limits` may be a table, as configuration files hold it."""
    from codereward.harnesses import PythonHarness

    return PythonHarness(**options)


def exact(**options: Any) -> Scorer:
    """Make the scorer `exact`."""
    from codereward.scorers import Exact

    return Exact(**options)


def partial(**options: Any) -> Scorer:
    """Make the scorer `partial`."""
    from codereward.scorers import Partial

    return Partial(**options)
