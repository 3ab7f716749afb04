"""Scorers: an observation and the answers in, a score in [0, 1] out."""

from codereward.scorers.equality import Tolerance, Unordered
from codereward.scorers.exact import Exact
from codereward.scorers.f1 import F1
from codereward.scorers.function import FunctionScorer, scorer
from codereward.scorers.matching import all_match, match_items
from codereward.scorers.partial import Partial
from codereward.scorers.shaped import Shaped, Threshold
from codereward.scorers.weighted import Weighted

__all__ = [
    "F1",
    "Exact",
    "FunctionScorer",
    "Partial",
    "Shaped",
    "Threshold",
    "Tolerance",
    "Unordered",
    "Weighted",
    "all_match",
    "match_items",
    "scorer",
]
