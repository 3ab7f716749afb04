"""Extractors that each break one law."""

from __future__ import annotations

import re
from dataclasses import replace

from codereward import Extraction, Extractor, Wanted
from codereward.extractors import FencedExtractor


class Silent(FencedExtractor):
    """Does not say why it found nothing."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        found = super().extract(text, wanted)
        return found if found.code else replace(found, how="")


class Counting(FencedExtractor):
    """Numbers its extractions."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        self.calls += 1
        found = super().extract(text, wanted)
        return replace(found, how=f"{found.how} ({self.calls})")


class Lost(FencedExtractor):
    """Forgets where the code was."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        found = super().extract(text, wanted)
        return replace(found, span=(0, 0)) if found.code else found


class Outside(FencedExtractor):
    """Counts a line end too many."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        found = super().extract(text, wanted)
        return replace(found, span=(found.span[0], len(text) + 1)) if found.span else found


class Easy(FencedExtractor):
    """Takes blanks for code."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        found = super().extract(text, wanted)
        return found if found.code else Extraction(" ", "blank", (0, 0))


class Tagless(FencedExtractor):
    """Does not say which tag the fence had."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        return replace(super().extract(text, wanted), tag=None)


class Backtracking(FencedExtractor):
    """Strips blank lines with an expression that looks at each of them from each of them."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        re.search(r"\s+$", text + ".")
        return super().extract(text, wanted)


class Unpicklable(FencedExtractor):
    """Holds a function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.clean = lambda text: text


class Fragile(FencedExtractor):
    """Encodes what cannot be encoded."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        text.encode()
        return super().extract(text, wanted)


WRONG: dict[type[Extractor], set[str]] = {
    Silent: {"extraction_never_fails"},
    Counting: {"extraction_is_pure"},
    Lost: {"spans_point_at_the_code"},
    Outside: {"spans_point_at_the_code"},
    Easy: {"blank_is_not_code", "nothing_is_found_in_nothing"},
    Tagless: {"a_plain_block_is_found"},
    Backtracking: {"time_is_linear"},
    Unpicklable: {"extractors_pickle"},
}
