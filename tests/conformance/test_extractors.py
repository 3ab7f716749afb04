"""The built-in extractor does what every extractor does, under each of its policies."""

from codereward import Extractor
from codereward.extractors import FencedExtractor
from codereward.testing import ExtractorTests


class TestFencedExtractor(ExtractorTests):
    def make_extractor(self) -> Extractor:
        return FencedExtractor()


class TestStrictExtractor(ExtractorTests):
    def make_extractor(self) -> Extractor:
        return FencedExtractor(which="first", strict=True)


class TestLongestExtractor(ExtractorTests):
    def make_extractor(self) -> Extractor:
        return FencedExtractor(which="longest")
