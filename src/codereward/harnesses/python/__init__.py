"""The harness for Python."""

from codereward.harnesses.python.harness import PythonHarness

__all__ = ["PythonHarness"]
