"""The suite for extractors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.model import Wanted
from codereward.protocols import Extractor
from codereward.testing import nasty, strategies
from codereward.testing.checks import extractor as checks
from codereward.testing.suites.base import Suite

__all__ = ["ExtractorTests"]

ALL: Final[tuple[Callable[..., None], ...]] = (
    *checks.CHECKS,
    *checks.CHECKS_OF_CODE,
    *checks.CHECKS_OF_TEXTS,
)


class ExtractorTests(Suite, checks=ALL):
    """What every extractor does, on completions that hypothesis finds."""

    examples: ClassVar[int] = 100
    """How many examples a test tries."""
    wanted: ClassVar[tuple[Wanted, ...]] = (
        checks.PYTHON,
        Wanted("python", ("python",), entry_point="solve"),
        Wanted("python", ("python",), "solve", lambda code: "=" in code, lambda code, name: name in code),
    )
    """What is looked for."""

    @abstractmethod
    def make_extractor(self) -> Extractor:
        """Make the extractor."""

    def completions(self) -> st.SearchStrategy[str]:
        """The texts to try."""
        return strategies.completions() | strategies.texts()

    def perform(self, check: Callable[..., None]) -> None:
        """Run one check for all that is wanted, on many examples where it takes any."""
        extractor = self.make_extractor()
        if check in checks.CHECKS:
            for wanted in self.wanted:
                check(extractor, wanted)
        else:
            texts = strategies.code() if check in checks.CHECKS_OF_CODE else self.completions()
            self._try_examples(check, extractor, texts)

    def _try_examples(
        self, check: Callable[..., None], extractor: Extractor, texts: st.SearchStrategy[str]
    ) -> None:
        for text in nasty.TEXTS if check in checks.CHECKS_OF_TEXTS else ():
            for wanted in self.wanted:
                check(extractor, wanted, text)

        @settings(max_examples=self.examples, deadline=None)
        @given(st.sampled_from(self.wanted), texts)
        def examples(wanted: Wanted, text: str) -> None:
            check(extractor, wanted, text)

        examples()
