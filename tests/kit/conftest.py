"""Makes the wrong components importable by name, in other processes too: some checks pickle them."""

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _no_shrinking():
    """Whether a wrong component is found out is the question, not by which smallest example."""
    settings.register_profile("kit", phases=[Phase.explicit, Phase.generate], database=None, derandomize=True)
    settings.load_profile("kit")
    yield
    settings.load_profile("default")
