"""Scorers: an observation and the answers in, a score in [0, 1] out."""

from codereward.scorers.exact import Exact
from codereward.scorers.function import FunctionScorer, scorer
from codereward.scorers.matching import all_match, match_items
from codereward.scorers.partial import Partial

__all__ = ["Exact", "FunctionScorer", "Partial", "all_match", "match_items", "scorer"]
