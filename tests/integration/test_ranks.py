"""Two ranks of a distributed training, each with a pipeline of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from training import keys_of

RANK = Path(__file__).parent / "scripts" / "rank.py"


@pytest.mark.timeout(300)  # three processes import torch, which takes its time on a busy machine
def test_two_ranks_train_even_when_one_has_no_backend(tmp_path):
    """Ranks score their own slices, one that cannot holds nobody up, and all log the same keys."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*launch, RANK, tmp_path], env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-4000:]

    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    each_scores_its_own_slice(first["healthy"], second["healthy"])
    one_goes_on_without_the_other(first["faulty"], second["faulty"])
    same_keys_everywhere([first["healthy"], second["healthy"], first["faulty"], second["faulty"]])


def each_scores_its_own_slice(first, second):
    """The trainer's mean is over both ranks, and neither missed a backend."""
    assert len(first["steps"]) == 2
    for step, *batches in zip(first["steps"], first["batches"], second["batches"], strict=True):
        mean = sum(batch["code_reward/pass_rate"] for batch in batches) / 2
        assert step["rewards/code_reward/mean"] == pytest.approx(mean)
        assert step["code_reward/unavailable"] == 0.0


def one_goes_on_without_the_other(first, second):
    """Rank 1 had no score at all; both finished, and rank 0's rewards counted."""
    assert len(first["steps"]) == len(second["steps"]) == 2
    assert [batch["code_reward/unavailable"] for batch in first["batches"]] == [0.0, 0.0]
    assert [batch["code_reward/unavailable"] for batch in second["batches"]] == [1.0, 1.0]
    for step, batch in zip(first["steps"], first["batches"], strict=True):
        assert step["code_reward/unavailable"] == 0.5
        assert step["rewards/code_reward/mean"] == pytest.approx(batch["code_reward/pass_rate"])


def same_keys_everywhere(trainings):
    """Other trainers would wait for ever for a rank with keys of its own."""
    batches = [batch for training in trainings for batch in training["batches"]]
    assert len({frozenset(batch) for batch in batches}) == 1
    steps = [step for training in trainings for step in training["steps"]]
    assert {frozenset(keys_of(step, "code_reward/")) for step in steps} == {frozenset(batches[0])}
