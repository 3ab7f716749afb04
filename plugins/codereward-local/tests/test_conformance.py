"""What every executor does, the local one does."""

from codereward import Executor
from codereward.testing import ExecutorTests

from codereward_local.executor import LocalExecutor


class TestLocalExecutor(ExecutorTests):
    """Programs run on this machine, so a few seconds are slack enough."""

    slack_seconds = 5.0

    def make_executor(self) -> Executor:
        """Make one with room for two programs."""
        return LocalExecutor(workers=2)
