"""What a conforming extractor does."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Final

from codereward.model import Extraction, Wanted
from codereward.protocols import Extractor

__all__ = ["CHECKS", "CHECKS_OF_CODE", "CHECKS_OF_TEXTS", "PYTHON"]

PYTHON: Final = Wanted("python", ("python", "py"))
"""What is wanted when nothing else is said."""

ADVERSARIAL: Final = (
    "```", "```\n", "~~~python\n", "`", "> ", "- ", "1. ", "    ", "\n", "<think>", "</think>", "[", "(", "<!--",
    "def solve(", "```python\nx\n```\n", "*a ", "\\", "<a ", "\t", "&#", "|-", "_a*", "\ud800", "```python\n" + "x" * 60,
)  # fmt: skip
"""Texts that, repeated, make backtracking parsers slow."""
CHARACTERS: Final = 12_000
GROWTH: Final = 4
"""Factor between the two lengths that are timed."""
QUICK_SECONDS: Final = 0.5
"""What is faster than this is taken to be linear."""


def extraction_never_fails(extractor: Extractor, wanted: Wanted, text: str) -> None:
    """Any text gives an `Extraction`, found or not, with the rule or the reason in `how`."""
    extraction = extractor.extract(text, wanted)

    assert isinstance(extraction, Extraction), f"a {type(extraction).__name__} is no Extraction"
    assert isinstance(extraction.how, str), "`how` is no text"
    assert extraction.how.strip(), "`how` says nothing"


def extraction_is_pure(extractor: Extractor, wanted: Wanted, text: str) -> None:
    """The same text gives the same extraction, whatever was extracted in between."""
    first = extractor.extract(text, wanted)
    extractor.extract("```python\nother = 1\n```", wanted)

    assert extractor.extract(text, wanted) == first, "the second extraction differs from the first"


def spans_point_at_the_code(extractor: Extractor, wanted: Wanted, text: str) -> None:
    """Code comes with the span it was found at; nothing found has neither code nor span."""
    extraction = extractor.extract(text, wanted)
    if extraction.code is None:
        assert extraction.span is None, "a span without code"
        return
    assert extraction.span is not None, "code without a span"
    start, end = extraction.span
    assert 0 <= start <= end <= len(text), f"the span {extraction.span} is outside the text"
    source = text[start:end]
    for line in extraction.code.split("\n"):
        assert line.strip() in source, f"the line {line!r:.60} does not stand at the span"


def blank_is_not_code(extractor: Extractor, wanted: Wanted, text: str) -> None:
    """Code that is found is not blank."""
    code = extractor.extract(text, wanted).code

    assert code is None or code.strip(), f"{code!r} was taken for code"


def nothing_is_found_in_nothing(extractor: Extractor, wanted: Wanted) -> None:
    """In blank texts, and empty blocks, there is no code."""
    for blank in ("", " \n\t\n", "```python\n```", f"```{wanted.tags[0]}\n\n\n```\n"):
        assert extractor.extract(blank, wanted).code is None, f"code was found in {blank!r}"


def a_plain_block_is_found(extractor: Extractor, wanted: Wanted, code: str) -> None:
    """The only block of an answer, tagged for the language, is what is found, with its tag."""
    for tag in wanted.tags:
        completion = f"Here you are:\n\n```{tag}\n{code}\n```\n\nHope this helps.\n"
        extraction = extractor.extract(completion, wanted)
        assert extraction.code is not None, f"the block tagged {tag} was not found: {extraction.how}"
        assert extraction.code.strip() == code.strip(), f"the code of the block tagged {tag} was changed"
        assert (extraction.tag, extraction.closed) == (tag, True), "the fence is described wrongly"


def time_is_linear(extractor: Extractor, wanted: Wanted) -> None:
    """A text four times as long takes about four times as long, not sixteen times."""
    for part in ADVERSARIAL:
        short, long = (part * (size // len(part)) for size in (CHARACTERS, CHARACTERS * GROWTH))
        spent = seconds(extractor, wanted, long)
        if spent > QUICK_SECONDS:
            ratio = spent / seconds(extractor, wanted, short)
            assert ratio < GROWTH * 2.5, (
                f"{part!r:.20} repeated: {GROWTH} times the text took {ratio:.0f} times the time"
            )


def seconds(extractor: Extractor, wanted: Wanted, text: str) -> float:
    """The shorter of two measured processor times of one extraction; what else the machine does is left out."""
    spent = []
    for _ in range(2):
        start = time.process_time()
        extractor.extract(text, wanted)
        spent.append(time.process_time() - start)
        if spent[0] < QUICK_SECONDS:
            break
    return min(spent)


def extractors_pickle(extractor: Extractor, wanted: Wanted, text: str) -> None:
    """An extractor pickles to one that finds the same."""
    twin: Extractor = pickle.loads(pickle.dumps(extractor))  # noqa: S301 - made here

    assert twin.extract(text, wanted) == extractor.extract(text, wanted), "the pickled one differs"


Check = Callable[[Extractor, Wanted], None]
CheckOfText = Callable[[Extractor, Wanted, str], None]

CHECKS: Final[tuple[Check, ...]] = (nothing_is_found_in_nothing, time_is_linear)
CHECKS_OF_CODE: Final[tuple[CheckOfText, ...]] = (a_plain_block_is_found,)
"""Take code without a fence more."""
CHECKS_OF_TEXTS: Final[tuple[CheckOfText, ...]] = (
    extraction_never_fails,
    extraction_is_pure,
    spans_point_at_the_code,
    blank_is_not_code,
    extractors_pickle,
)
"""Take any text more."""
