"""One rank of a distributed training: `torchrun --nproc_per_node 2 rank.py <folder>`.

Trains twice: with sandboxed programs, and with a backend that fails on rank 1 alone. What this rank
saw goes into `<folder>/<rank>.json`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the helpers of the tests

from answering import PYTHON, SNIPPETS
from training import steps_of, trained

import codereward
from codereward import RewardPipeline
from codereward.registry import Registry
from codereward.testing.fake import FakeExecutor

RANK = int(os.environ["RANK"])
FOLDER = Path(sys.argv[1])


class Watcher:
    """A plugin that keeps the metrics of every batch of this rank."""

    def __init__(self) -> None:
        self.batches: list[dict[str, float]] = []

    @codereward.hookimpl
    def codereward_batch_finished(self, metrics: dict[str, float]) -> None:
        """Keep them."""
        self.batches.append(dict(metrics))


def seen(name: str, executor: Any, answers: tuple[str, ...]) -> dict[str, Any]:
    """Train, and tell what this rank computed and what the trainer logged."""
    watcher, registry = Watcher(), Registry()
    registry.discover()
    registry.add(watcher, "watcher")
    with RewardPipeline(executor=executor, registry=registry) as pipeline:
        trainer = trained(FOLDER / name, pipeline, answers, log_completions=True)
    return {"batches": watcher.batches, "steps": steps_of(trainer), "trainer": trainer}


def main() -> None:
    """Train twice and tell."""
    healthy = seen("healthy", {"name": "local", "workers": 1}, PYTHON)
    faulty = seen("faulty", FakeExecutor(lambda _: "refused" if RANK == 1 else None), SNIPPETS)
    healthy.pop("trainer")
    faulty.pop("trainer").end()  # closes the process group that both share
    (FOLDER / f"{RANK}.json").write_text(json.dumps({"healthy": healthy, "faulty": faulty}))


main()
