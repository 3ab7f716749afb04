"""Executors around executors: policy that every executor gets for free."""

from codereward.wrappers.base import Wrapper
from codereward.wrappers.blame import Attributing

__all__ = ["Attributing", "Wrapper"]
