"""What is left of an assert when its questions are taken out, evaluated on the host.

A check is the text of a Python expression in which `_0`, `_1`, … stand for the observed values:
`_0 == 5`, `abs(_0 - 2.5) < 1e-6`. It is interpreted, never run: it knows the names in `known` and
nothing else, sees data of built-in types only, and its cost is bounded whatever was observed.
"""

from codereward.harnesses.python.checks.evaluation import holds
from codereward.harnesses.python.checks.forms import can_evaluate, is_check
from codereward.harnesses.python.checks.known import CLASSES, CONSTANTS, FUNCTIONS, full_name, is_class

__all__ = ["CLASSES", "CONSTANTS", "FUNCTIONS", "can_evaluate", "full_name", "holds", "is_check", "is_class"]
