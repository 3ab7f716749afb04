"""Does the code a model wrote pass the tests? A reward for RL post-training, run in sandboxes."""

from codereward.errors import *  # noqa: F403
from codereward.hookspecs import (
    RegisterExecutor,
    RegisterExtractor,
    RegisterHarness,
    RegisterScorer,
    hookimpl,
)
from codereward.model import *  # noqa: F403
from codereward.protocols import *  # noqa: F403
