"""Does the code a model wrote pass the tests? A reward for RL post-training, run in sandboxes."""

from typing import TYPE_CHECKING, Any

from codereward.errors import *  # noqa: F403
from codereward.errors import __all__ as _errors
from codereward.hookspecs import (
    RegisterCommand,
    RegisterExecutor,
    RegisterExtractor,
    RegisterHarness,
    RegisterScorer,
    hookimpl,
)
from codereward.model import *  # noqa: F403
from codereward.model import __all__ as _model
from codereward.protocols import *  # noqa: F403
from codereward.protocols import __all__ as _protocols

if TYPE_CHECKING:
    from codereward.pipeline import RewardPipeline

    __version__: str

__all__ = [  # noqa: PLE0604 - the parts' own lists
    *_errors,
    *_model,
    *_protocols,
    "RegisterCommand",
    "RegisterExecutor",
    "RegisterExtractor",
    "RegisterHarness",
    "RegisterScorer",
    "RewardPipeline",
    "__version__",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    """Import the pipeline, and look the version up, when they are first asked for."""
    if name == "RewardPipeline":
        from codereward.pipeline import RewardPipeline

        return RewardPipeline
    if name == "__version__":
        from importlib.metadata import version

        return version("codereward")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
