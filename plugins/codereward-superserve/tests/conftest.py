"""One emulator for the test session; each test finds it fresh and must leave nothing behind."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from superserve_emulator import Emulator


@pytest.fixture(scope="session")
def running_emulator():
    from helpers import forget_connections

    with Emulator() as emulator:
        forget_connections()  # a client made earlier would not go through the emulator's tunnel
        yield emulator
        forget_connections()


@pytest.fixture
def service(running_emulator, monkeypatch):
    """The emulator, reset; afterwards it must have seen no broken rule and hold no sandbox."""
    running_emulator.tell("reset")
    for name in ("https_proxy", "NO_PROXY", "no_proxy", "SUPERSERVE_BASE_URL", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in running_emulator.environment.items():
        monkeypatch.setenv(name, value)
    yield running_emulator
    assert running_emulator.violations() == []
