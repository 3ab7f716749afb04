"""What every executor does, this one does."""

import pytest
from codereward import Executor
from codereward.testing import ExecutorTests

from codereward_superserve import SuperserveExecutor


@pytest.mark.usefixtures("service")
class TestSuperserveExecutor(ExecutorTests):
    """Against the emulator, without the service's quotas on calls."""

    slack_seconds = 15.0

    @pytest.fixture(autouse=True)
    def _unlimited(self, service):
        service.tell("configure", requests_per_second=1000.0, burst=1000)

    def make_executor(self) -> Executor:
        """Make one with room for a few sandboxes."""
        return SuperserveExecutor(max_sandboxes=4, create_rate=1000.0, backoff_seconds=0.01)
