"""Kinds of test that do not depend on the language: how a row splits into questions and answers."""

from codereward.harnesses.kinds.base import Grammar, Kind
from codereward.harnesses.kinds.call import Call
from codereward.harnesses.kinds.expression import Cases, Expression
from codereward.harnesses.kinds.stdio import Stdio

__all__ = ["Call", "Cases", "Expression", "Grammar", "Kind", "Stdio"]
