"""A reward for TRL's command line: `trl grpo --reward_funcs codereward.trl.reward`.

The environment variable `CODEREWARD_CONFIG` names the configuration file. TRL is not imported; what
is needed of it is the way it calls a reward function.
"""

from __future__ import annotations

import os
from typing import Any, Final

from codereward.errors import ConfigError
from codereward.pipeline import RewardPipeline

__all__ = ["CONFIG_VARIABLE", "ConfiguredReward", "reward"]

CONFIG_VARIABLE: Final = "CODEREWARD_CONFIG"
"""Names the TOML file with the pipeline's settings."""


class ConfiguredReward:
    """The pipeline that a configuration file describes, made at its first use.

    Args:
        variable: The environment variable that names the file.
    """

    def __init__(self, variable: str = CONFIG_VARIABLE) -> None:
        self.variable = variable
        self._pipeline: RewardPipeline | None = None

    @property
    def pipeline(self) -> RewardPipeline:
        """The pipeline.

        Raises:
            ConfigError: The variable names no file, or the file does not fit.
        """
        if self._pipeline is None:
            path = os.environ.get(self.variable)
            if not path:
                msg = (
                    f"codereward.trl.reward needs {self.variable}: the path of a TOML file, "
                    'for example with the line `executor = "local"`'
                )
                raise ConfigError(msg)
            self._pipeline = RewardPipeline.from_config(path)
        return self._pipeline

    @property
    def __name__(self) -> str:
        """What the trainer logs."""
        return self.pipeline.name

    def __call__(self, *arguments: Any, **keywords: Any) -> list[float | None]:
        """Reward completions; see `RewardPipeline`."""
        return self.pipeline(*arguments, **keywords)


reward: Final = ConfiguredReward()
"""The reward function to name on TRL's command line."""
