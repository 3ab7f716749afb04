"""GRPO with rewards that come from running the model's code: the script to copy for a real run.

`python examples/grpo_demo/train.py` trains the tiny model of the demonstration and prints a line
for each step. The lines marked REAL RUN are those that a real run changes; `progress.py` can come
along, the other files are the demonstration's.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # REAL RUN: delete, unless the model is on disk

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from progress import Progress, quiet
from tasks import TRAINED, Task
from tiny_model import warm_started
from transformers import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from codereward import Executor, Limits, RewardPipeline
from codereward.harnesses.python import PythonHarness

__all__ = ["configuration", "data_set", "pipeline", "trainer_for"]


def pipeline(executor: str | Executor = "local") -> RewardPipeline:  # REAL RUN: "superserve"
    """The reward: run the code in a sandbox, compare what it returns on the host."""
    return RewardPipeline(
        harness=PythonHarness(Limits(cpu_seconds=0.25)),  # REAL RUN: "python", which allows 10 seconds
        executor=executor,
        scorer="partial",
        expected_format="json",
    )


def data_set(tasks: Sequence[Task]) -> Dataset:
    """Columns `prompt`, `test` and `expected`; TRL hands the last two to the reward."""
    return Dataset.from_list([task.row() for task in tasks])  # REAL RUN: your data


def configuration(output: Path, *, steps: int = 60, prompts: int = 16, seed: int = 0) -> GRPOConfig:
    """The trainer's settings: each step samples eight completions for each of `prompts` prompts."""
    return GRPOConfig(
        output_dir=str(output),
        max_steps=steps,
        seed=seed,
        per_device_train_batch_size=prompts * 8,
        num_generations=8,
        max_completion_length=48,  # REAL RUN: 512 or more
        learning_rate=5e-4,  # REAL RUN: about 1e-6
        lr_scheduler_type="constant",
        use_cpu=True,  # REAL RUN: delete, and the next two
        bf16=False,
        gradient_checkpointing=False,
        dataloader_pin_memory=False,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )


def trainer_for(model: str, rewards: Any, tasks: Sequence[Task], config: GRPOConfig) -> GRPOTrainer:
    """A trainer that prints one readable line per step."""
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=rewards,
        train_dataset=data_set(tasks),
        args=config,
        callbacks=[Progress()],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def main() -> None:
    """Train on the twenty tasks of the demonstration."""
    quiet()
    torch.set_num_threads(1)  # leaves a core to the sandboxes. REAL RUN: delete
    model = str(warm_started(Path(".demo-cache")))  # REAL RUN: "Qwen/Qwen2.5-Coder-0.5B-Instruct"
    with pipeline() as reward:
        trainer_for(model, reward, TRAINED, configuration(Path("demo-output"))).train()


if __name__ == "__main__":
    main()
