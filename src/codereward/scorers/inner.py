"""Scorers inside scorers."""

from __future__ import annotations

from codereward.protocols import Scorer
from codereward.scorers.exact import Exact
from codereward.scorers.partial import Partial

__all__ = ["Inner", "fraction", "inner_scorer"]

Inner = str | Scorer
"""A scorer, or the name of one that needs no options: `exact` or `partial`."""


def inner_scorer(given: Inner) -> Scorer:
    """The scorer that is meant.

    Raises:
        ValueError: It is a name, and not one of the two.
    """
    if not isinstance(given, str):
        return given
    if given not in ("exact", "partial"):
        msg = f"a scorer inside another is 'exact', 'partial' or an instance, not {given!r}"
        raise ValueError(msg)
    return Exact() if given == "exact" else Partial()


def fraction(name: str, value: float) -> float:
    """The value, when it is from 0 to 1.

    Raises:
        ValueError: It is not.
    """
    if type(value) not in (int, float) or not 0.0 <= value <= 1.0:
        msg = f"{name} has to be a number from 0 to 1, not {value!r}"
        raise ValueError(msg)
    return float(value)
