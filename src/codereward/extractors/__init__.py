"""Extractors: they find the code in a completion."""

from codereward.extractors.fenced import FencedExtractor

__all__ = ["FencedExtractor"]
