"""Plain functions as scorers."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable

from codereward.model import Answers, Observation
from codereward.protocols import Scorer

__all__ = ["FunctionScorer", "scorer"]


class FunctionScorer(Scorer):
    """A function of (observation, answers) as a scorer.

    Args:
        function: Pure; returns a finite number in [0, 1]. Pipelines that are pickled need one that
            is importable by name (no lambda, no closure).
    """

    def __init__(self, function: Callable[[Observation, Answers], float]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, observation: Observation, answers: Answers) -> float:
        """Call the function."""
        return self.function(observation, answers)

    def score(self, observation: Observation, answers: Answers) -> float:
        """Call the function."""
        return self.function(observation, answers)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Pickle by the function, or by this object's own name where the decorator took it.

        Raises:
            pickle.PicklingError: The function is a lambda or a local one, which has no such name.
        """
        if "<" in self.function.__qualname__:
            msg = (
                f"the scorer {self.function.__qualname__} cannot be pickled: define it at the top of a module"
            )
            raise pickle.PicklingError(msg)
        return _restore, (self.function.__module__, self.function.__qualname__, type(self))


def scorer(function: Callable[[Observation, Answers], float]) -> FunctionScorer:
    """Make a scorer of a function; use it as a decorator.

    Example:
        >>> from codereward import scorers
        >>> @scorers.scorer
        ... def half_for_a_number(observation, answers):
        ...     return 0.5 if isinstance(observation.value, int) else 0.0
    """
    return FunctionScorer(function)


def _restore(module: str, name: str, cls: type[FunctionScorer]) -> FunctionScorer:
    """Find the function, or the scorer that the decorator put in its place, by name."""
    import importlib

    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, FunctionScorer):
        return found
    return cls(found)  # type: ignore[arg-type]  # a function, as when it was pickled
