"""Hook implementations of the components that ship with codereward."""

from codereward.hookspecs import (
    RegisterExtractor,
    RegisterHarness,
    RegisterScorer,
    hookimpl,
)

__all__: list[str] = []


@hookimpl
def codereward_register_extractors(register: RegisterExtractor) -> None:
    """Register `fenced`."""
    from codereward.extractors import FencedExtractor

    register("fenced", FencedExtractor)


@hookimpl
def codereward_register_harnesses(register: RegisterHarness) -> None:
    """Register `python`."""
    from codereward.harnesses import PythonHarness

    register("python", PythonHarness)


@hookimpl
def codereward_register_scorers(register: RegisterScorer) -> None:
    """Register `exact` and `partial`."""
    from codereward.scorers import Exact, Partial

    register("exact", Exact)
    register("partial", Partial)
