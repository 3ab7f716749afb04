"""One line per training step, made of what TRL and the reward log."""

import math
import warnings
from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.utils.logging import disable_progress_bar

__all__ = ["Progress", "quiet"]

COLUMNS = {
    "reward": "reward",
    "code_reward/pass_rate": "pass all tests",
    "frac_reward_zero_std": "groups alike",
    "reward_seconds": "rewards (s)",
    "step_time": "step (s)",
}
"""Key of the log → heading."""
EVERY = 20
"""Lines after which the headings are repeated."""


class Progress(TrainerCallback):
    """Prints a table that grows with the training, with a column for what is logged."""

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Print the step's line; the summary at the end of a run has none."""
        del args, control
        if logs is None or "reward" not in logs:
            return
        columns = {key: heading for key, heading in COLUMNS.items() if key in logs}
        if state.global_step % EVERY == 1:
            print("  ".join(["step", *columns.values()]), flush=True)
        cells = [number(logs[key]).rjust(len(heading)) for key, heading in columns.items()]
        print("  ".join([f"{state.global_step:4}", *cells]), flush=True)


def number(value: float | None) -> str:
    """Two decimals, or a dash where a step has no value."""
    return "-" if value is None or math.isnan(value) else f"{value:.2f}"


def quiet() -> None:
    """Leave the screen to the progress lines.

    TRL still reads, in every step, a property under the name that transformers has given up. Only
    an update of TRL can end that warning, so it is the one that is silenced.
    """
    disable_progress_bar()
    warnings.filterwarnings("ignore", r".*gradient_checkpointing` is deprecated", FutureWarning)
