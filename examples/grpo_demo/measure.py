"""What the demonstration measures: every step of the training, and the model before and after it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from tasks import Task
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from codereward import RewardPipeline, Verdict

__all__ = ["Answer", "Curves", "Evaluation", "Training", "Watched", "evaluate"]

HACK = "sys.exit"
"""What the completions that leave before their tests have in common."""
SAMPLES = 8
"""Completions per task in an evaluation."""


class Watched:
    """A reward that also logs how long it took and how many completions try to leave early."""

    def __init__(self, reward: Callable[..., Sequence[float | None]], name: str) -> None:
        self.reward = reward
        self.__name__ = name

    def __call__(self, completions: Sequence[Any], **batch: Any) -> Sequence[float | None]:
        """Score one batch, as TRL asks for it."""
        started = time.perf_counter()
        rewards = self.reward(completions=completions, **batch)
        log: Callable[[str, float], None] = batch["log_metric"]
        log("reward_seconds", time.perf_counter() - started)
        log("hacked", fmean(HACK in completion[-1]["content"] for completion in completions))
        return rewards


@dataclass(frozen=True, slots=True)
class Curves:
    """One value per training step."""

    reward: list[float]
    """Mean of the reward that the trainer optimises."""
    passed: list[float]
    """Share of the completions that truly pass every test."""
    hacked: list[float]
    """Share of the completions that hold `HACK`."""
    alike: list[float]
    """Share of the groups whose rewards are all equal: nothing to learn from them."""
    reward_seconds: list[float]
    """Time in one reward."""
    seconds: list[float]
    """Time of the step."""

    @classmethod
    def of(cls, history: Sequence[Mapping[str, float]]) -> "Curves":
        """Read them out of the trainer's log."""
        steps = [entry for entry in history if "reward" in entry]
        keys = ("reward", "code_reward/pass_rate", "hacked", "frac_reward_zero_std", "reward_seconds", "step_time")
        return cls(*([step[key] for step in steps] for key in keys))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answers to one task when it always takes its favourite token."""

    task: str
    code: str
    reward: float
    reason: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good a model is at some tasks, in shares between 0 and 1."""

    reward: float
    """Mean reward of sampled completions."""
    passed: float
    """Share of the sampled completions that pass every test."""
    greedy: float
    """Share of the tasks whose most likely completion passes every test."""
    answers: list[Answer]
    """The most likely completion for each task."""


@dataclass(frozen=True, slots=True)
class Training:
    """Everything that was measured of one training."""

    curves: Curves
    seconds: float
    before: Evaluation
    untrained_before: Evaluation | None
    """Of tasks that were never trained on."""
    after: Evaluation
    untrained_after: Evaluation | None


def evaluate(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pipeline: RewardPipeline,
    tasks: tuple[Task, ...],
) -> Evaluation | None:
    """Measure the model; what is random in it leaves the training's own dice alone."""
    if not tasks:
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sampled = verdicts(
            model, tokenizer, pipeline, tasks * SAMPLES, do_sample=True, temperature=1.0, top_k=0
        )
        greedy = verdicts(model, tokenizer, pipeline, tasks, do_sample=False)
    return Evaluation(
        reward=fmean(one.reward or 0.0 for one in sampled),
        passed=fmean(one.score == 1.0 for one in sampled),
        greedy=fmean(one.score == 1.0 for one in greedy),
        answers=[answer(task, verdict) for task, verdict in zip(tasks, greedy, strict=True)],
    )


def answer(task: Task, verdict: Verdict) -> Answer:
    """The part of a verdict that the report shows."""
    return Answer(task.prompt, verdict.extraction.code or "", verdict.reward or 0.0, verdict.reason)


def verdicts(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pipeline: RewardPipeline,
    tasks: Sequence[Task],
    **how: Any,
) -> list[Verdict]:
    """Complete each task once and score the completions."""
    rows = [task.row() for task in tasks]
    return pipeline.score(
        completions=list(completions(model, tokenizer, [row["prompt"] for row in rows], **how)),
        test=[row["test"] for row in rows],
        expected=[row["expected"] for row in rows],
    )


def completions(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Any],
    **how: Any,
) -> Iterator[str]:
    """Generate one completion for each prompt."""
    batch = tokenizer.apply_chat_template(
        list(prompts), add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
    )
    with torch.no_grad():
        tokens = model.eval().generate(**batch, max_new_tokens=64, **how)
    for row in tokens[:, batch["input_ids"].shape[1] :]:
        yield tokenizer.decode(row, skip_special_tokens=True)
