"""Two ranks of a distributed training, each with a pipeline of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from training import keys_of

pytestmark = pytest.mark.xdist_group("processes")

RANK = Path(__file__).parent / "scripts" / "rank.py"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What each of two ranks saw of a training with healthy backends, and of one where rank 1's fails."""
    folder = tmp_path_factory.mktemp("ranks")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*launch, RANK, folder], env=environment, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_each_rank_scores_its_own_slice(ranks):
    """Every rank runs its own programs, and the trainer's mean is over both."""
    first, second = (rank["healthy"] for rank in ranks)
    assert len(first["steps"]) == 2
    for step, *batches in zip(first["steps"], first["batches"], second["batches"], strict=True):
        mean = sum(batch["code_reward/pass_rate"] for batch in batches) / 2
        assert step["rewards/code_reward/mean"] == pytest.approx(mean)
        assert step["code_reward/unavailable"] == 0.0


def test_a_rank_without_a_backend_holds_nobody_up(ranks):
    """When one rank's backend fails altogether, both go on, and the other's rewards count."""
    first, second = (rank["faulty"] for rank in ranks)
    assert len(first["steps"]) == len(second["steps"]) == 2
    assert [batch["code_reward/unavailable"] for batch in first["batches"]] == [0.0, 0.0]
    assert [batch["code_reward/unavailable"] for batch in second["batches"]] == [1.0, 1.0]
    for step, batch in zip(first["steps"], first["batches"], strict=True):
        assert step["code_reward/unavailable"] == 0.5
        assert step["rewards/code_reward/mean"] == pytest.approx(batch["code_reward/pass_rate"])


@pytest.mark.parametrize("backends", ["healthy", "faulty"])
def test_ranks_log_the_same_keys(ranks, backends):
    """Metric keys are equal on every rank and at every step; other trainers would wait for ever."""
    batches = [batch for rank in ranks for batch in rank[backends]["batches"]]
    assert len({frozenset(batch) for batch in batches}) == 1
    steps = [step for rank in ranks for step in rank[backends]["steps"]]
    assert {frozenset(keys_of(step, "code_reward/")) for step in steps} == {frozenset(batches[0])}
