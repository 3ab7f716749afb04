"""The checks behind the suites: plain functions, one law each, that need neither pytest nor hypothesis.

A check takes what it checks, raises `AssertionError` with a message when the law is broken, and its
docstring is the law in one sentence. Each module lists its checks in `CHECKS`.
"""

__all__ = ["Unsupported"]


class Unsupported(Exception):  # noqa: N818 - it says what happened, and is no failure
    """The component does not offer what a check needs; the message says what."""
