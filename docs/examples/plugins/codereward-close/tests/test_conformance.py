"""What every scorer does, `close` does."""

import codereward_close

from codereward.testing import ScorerTests


class TestClose(ScorerTests):
    def make_scorer(self) -> codereward_close.Close:
        return codereward_close.Close()
