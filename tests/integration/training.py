"""A training run of a few steps, on one processor and within a second or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from answering import answering_model

__all__ = ["GROUP", "keys_of", "messages", "quick", "rows", "steps_of", "trained"]

GROUP = 4
"""Completions of one prompt."""


def messages(text: str) -> list[dict[str, str]]:
    """A conversational prompt."""
    return [{"role": "user", "content": text}]


def rows(*, conversational: bool = True, count: int = 4) -> list[dict[str, Any]]:
    """Rows that ask for `answer()`, which should be 1."""
    prompt = messages("one") if conversational else "one"
    return [{"prompt": prompt, "test": "answer()", "expected": 1} for _ in range(count)]


def trained(
    folder: Path,
    rewards: Any,
    answers: Sequence[str],
    *,
    data: Sequence[Mapping[str, Any]] | None = None,
    algorithm: str = "GRPO",
    **settings: Any,
) -> Any:
    """A trainer that has run: two steps of two groups, unless `settings` says otherwise."""
    import torch
    import trl
    from datasets import Dataset

    torch.set_num_threads(1)
    model, tokenizer = answering_model(answers)
    data = list(data or rows())
    trainer = getattr(trl, f"{algorithm}Trainer")(
        model=model,
        processing_class=tokenizer,
        reward_funcs=rewards,
        args=getattr(trl, f"{algorithm}Config")(**(quick(folder) | settings)),
        train_dataset=Dataset.from_list(data),
        eval_dataset=Dataset.from_list(data) if "eval_strategy" in settings else None,
    )
    trainer.train()
    return trainer


def quick(folder: Path) -> dict[str, Any]:
    """Settings of a run that writes nothing but what it is asked for."""
    return {
        "output_dir": str(folder),
        "max_steps": 2,
        "per_device_train_batch_size": 2 * GROUP,
        "num_generations": GROUP,
        "max_completion_length": 1,
        "use_cpu": True,
        "bf16": False,
        "dataloader_pin_memory": False,
        "logging_steps": 1,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
    }


def steps_of(trainer: Any, prefix: str = "rewards/") -> list[dict[str, Any]]:
    """What was logged at each step: the log entries that hold a key with `prefix`."""
    return [entry for entry in trainer.state.log_history if any(key.startswith(prefix) for key in entry)]


def keys_of(entry: Mapping[str, Any], prefix: str) -> set[str]:
    """The keys of a log entry that begin with `prefix`."""
    return {key for key in entry if key.startswith(prefix)}
