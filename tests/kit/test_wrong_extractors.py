"""The suite for extractors finds what is wrong with wrong ones, and nothing else."""

import pytest
from outcomes import failures
from wrong_extractors import WRONG, Fragile

from codereward.testing import ExtractorTests
from codereward.testing.checks import extractor as checks


def suite_of(wrong: type) -> type[ExtractorTests]:
    class Tests(ExtractorTests):
        examples = 30
        wanted = ExtractorTests.wanted[:1]

        def make_extractor(self):
            return wrong()

    return Tests


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_extractor_fails_its_own_check(wrong, monkeypatch):
    """Each wrong extractor fails exactly the checks written for it."""
    monkeypatch.setattr(checks, "QUICK_SECONDS", 0.1)
    monkeypatch.setattr(checks, "CHARACTERS", 2_000)

    assert failures(suite_of(wrong)) == WRONG[wrong]


def test_an_extractor_that_raises_on_odd_texts_is_found():
    """Among the texts that are tried are those that cannot be encoded."""
    assert "extraction_never_fails" in failures(suite_of(Fragile))
