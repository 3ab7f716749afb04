"""Two trainings of the same model, one for each reward, measured before, during and after."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from measure import Curves, Examiner, Training, Watched
from naive import ExitStatusReward
from picture import draw
from progress import quiet
from report import report
from tasks import Task
from tiny_model import warm_started
from train import configuration, pipeline, trainer_for

from codereward import RewardPipeline
from codereward.registry import default_registry

__all__ = ["Experiment"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What to train, on what, and where the results go."""

    tasks: Sequence[Task]
    untrained: Sequence[Task]
    """Measured before and after, never trained on."""
    steps: int
    prompts: int
    """Prompts per step."""
    seed: int
    executor: str
    """Registered name of the executor."""
    output: Path
    cache: Path
    """Folder for the warm-started model."""
    naive: bool
    """Whether to train with the naive reward too."""

    def run(self) -> None:
        """Do it all, and write `result.json`, `report.txt` and `curves.png` to the output folder."""
        quiet()
        torch.set_num_threads(1)  # leaves a core to the sandboxes
        self.output.mkdir(parents=True, exist_ok=True)
        with pipeline(self.executor) as honest:
            print("\nWarm start: imitating answers that are wrong more often than right", flush=True)
            model = warm_started(self.cache)
            trainings = [self.train(model, honest)]
            self.save(trainings)
            if self.naive:
                trainings.append(self.train_naively(model, honest))
                self.save(trainings)
        print(f"\n{report(trainings)}\n\nCurves and all numbers: {self.output}/", flush=True)

    def train(self, model: Path, honest: RewardPipeline) -> Training:
        """Train with rewards from codereward."""
        print("\nGRPO with rewards from codereward", flush=True)
        return self._train(model, honest, [Watched(honest, "code_reward")], [1.0])

    def train_naively(self, model: Path, honest: RewardPipeline) -> Training:
        """Train with the naive reward; the honest one looks on, at weight 0."""
        print("\nGRPO with the naive reward: exit status 0 means pass", flush=True)
        naive = ExitStatusReward(default_registry().create("executor", self.executor))
        return self._train(model, honest, [Watched(naive, "exit_status"), honest], [1.0, 0.0])

    def _train(
        self, model: Path, honest: RewardPipeline, rewards: Sequence[Any], weights: Sequence[float]
    ) -> Training:
        config = configuration(self.output, steps=self.steps, prompts=self.prompts, seed=self.seed)
        config.reward_weights = list(weights)
        trainer = trainer_for(str(model), list(rewards), self.tasks, config)
        examiner = Examiner(trainer.model, trainer.processing_class, honest)
        before, untrained_before = map(examiner.evaluate, (self.tasks, self.untrained))
        started = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - started
        after, untrained_after = map(examiner.evaluate, (self.tasks, self.untrained))
        curves = Curves.of(trainer.state.log_history)
        return Training(curves, seconds, before, after, untrained_before, untrained_after)

    def save(self, trainings: Sequence[Training]) -> None:
        """Keep everything that was measured so far."""
        results = dict(zip(("codereward", "naive"), map(asdict, trainings), strict=False))
        (self.output / "result.json").write_text(json.dumps(results, indent=1) + "\n")
        (self.output / "report.txt").write_text(report(trainings) + "\n")
        draw(trainings, self.output / "curves.png")
