"""Hook implementations of the components that ship with codereward."""

from functools import partial
from typing import Any, Final

from codereward.hookspecs import (
    RegisterExtractor,
    RegisterHarness,
    RegisterScorer,
    hookimpl,
)
from codereward.protocols import Extractor, Harness, Scorer

__all__: list[str] = []

SCORERS: Final = {
    "exact": "Exact",
    "f1": "F1",
    "partial": "Partial",
    "shaped": "Shaped",
    "threshold": "Threshold",
    "tolerance": "Tolerance",
    "unordered": "Unordered",
    "weighted": "Weighted",
}
"""Name → class in `codereward.scorers`."""


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
    """Register the scorers of `codereward.scorers`."""
    for name, cls in SCORERS.items():
        register(name, partial(scorer, cls))


def fenced(**options: Any) -> Extractor:
    """Make the extractor `fenced`."""
    from codereward.extractors import FencedExtractor

    return FencedExtractor(**options)


def python(**options: Any) -> Harness:
    """Make the harness `python`; `limits` may be a table, as configuration files hold it."""
    from codereward.harnesses import PythonHarness

    return PythonHarness(**options)


def scorer(cls: str, **options: Any) -> Scorer:
    """Make a scorer of `codereward.scorers`."""
    from codereward import scorers

    made: Scorer = getattr(scorers, cls)(**options)
    return made
