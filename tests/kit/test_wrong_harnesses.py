"""The suite for harnesses finds what is wrong with wrong ones, and nothing else."""

import pytest
from outcomes import failures
from remembering import Remembering
from wrong_harnesses import WRONG

from codereward.registry import default_registry
from codereward.testing import HarnessTests


def is_even_row() -> dict[str, object]:
    return {"kind": "expression", "test": "even(4)", "expected": True}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_harness_fails_its_own_check(wrong):
    """Each wrong harness fails exactly the checks written for it."""

    class Tests(HarnessTests):
        examples = 30
        right = ((is_even_row(), "def even(n): return n % 2 == 0"),)
        wrong = ((is_even_row(), "def even(n): return 0"),)
        exploits = ((is_even_row(), "import os\nprint('true', flush=True)\nos._exit(0)"),)

        def make_harness(self):
            return component()

        def make_executor(self):
            return Remembering(default_registry().create("executor", "local", {"workers": 1}))

    component = wrong

    assert failures(Tests) == WRONG[wrong]
