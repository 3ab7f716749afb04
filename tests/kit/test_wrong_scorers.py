"""The suite for scorers finds what is wrong with wrong ones, and nothing else."""

import pytest
from outcomes import failures
from wrong_scorers import WRONG

from codereward.testing import ScorerTests


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_scorer_fails_its_own_check(wrong):
    """Each wrong scorer fails exactly the checks written for it."""

    class Tests(ScorerTests):
        examples = 30

        def make_scorer(self):
            return wrong()

    assert failures(Tests) == WRONG[wrong]
