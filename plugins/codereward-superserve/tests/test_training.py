"""TRL's trainer with every completion in a sandbox of the service, in a process that may be killed."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import eventually
from superserve_emulator import Emulator
from training_run import COMPLETIONS, LIFETIME, PROBLEMS, REWARDS, SECRETS, STEP_SIZE, STEPS

pytestmark = pytest.mark.skipif(importlib.util.find_spec("trl") is None, reason="trl is not installed")

SCRIPT = Path(__file__).with_name("training_run.py")
NAMES = {text: name for name, text in COMPLETIONS.items()}


@pytest.fixture
def emulator():
    """One of its own: what a killed process has asked for may still go on when the test is over."""
    with Emulator() as running:
        for secret in SECRETS:
            running.tell("canary", text=secret)
        yield running


def start(emulator, folder):
    """The training, as a process that knows of the emulator by the service's own variables alone."""
    environment = os.environ | emulator.environment | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, SCRIPT, folder]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def boxes(emulator):
    return emulator.state()["sandboxes"]


def kill_in_mid_batch(emulator, folder):
    """Start a training, and kill it when some programs of a batch have run and others are running."""
    emulator.fault("exec", "stall", seconds=60.0, skip=3)
    training = start(emulator, folder)
    try:
        eventually(lambda: stalled(emulator) or training.poll() is not None, 100.0)
    finally:
        training.kill()
        _, errors = training.communicate()
    assert stalled(emulator), errors
    assert training.returncode == -signal.SIGKILL, errors


def stalled(emulator):
    """Whether three programs have run, and two are kept waiting in sandboxes of theirs."""
    state = emulator.state()
    return state["faults"][0]["struck"] >= 2 and len(emulator.requests("exec")) == 3


@pytest.mark.timeout(300)  # two processes import torch, which takes its time on a busy machine
def test_a_killed_training_leaves_nothing_and_can_be_run_again(emulator, tmp_path):
    """Killed in mid-batch, its sandboxes die of age; run again, all rewards are right and nothing is left."""
    kill_in_mid_batch(emulator, tmp_path / "killed")
    emulator.tell("clear_faults")

    emulator.tell("advance", seconds=LIFETIME / 2)
    left = {box["id"] for box in boxes(emulator)}
    assert len(left) >= 2
    emulator.tell("advance", seconds=LIFETIME / 2 + 1)
    assert eventually(lambda: boxes(emulator) == [])

    again = start(emulator, tmp_path / "again")
    output, errors = again.communicate(timeout=200)
    assert again.returncode == 0, errors
    assert_rewards_are_right(json.loads(output.splitlines()[-1]))
    assert emulator.violations() == []
    assert emulator.requests("exec")[-1]["plane"] == "data"  # where a key would have been noticed


def assert_rewards_are_right(told):
    """Each completion is worth what its code does, and the trainer's log says the same."""
    rows = told["rewarded"]
    assert len(rows) == STEPS * STEP_SIZE
    for row in rows:
        wanted = REWARDS[row["prompt"]].get(NAMES[row["completion"]], 0.0)
        assert row["code_reward"] == pytest.approx(wanted), row
    assert {row["prompt"] for row in rows} == {problem["prompt"] for problem in PROBLEMS}
    assert {0.0, 0.2, 1.0} <= {round(row["code_reward"], 6) for row in rows}  # partial credit occurred
    for number, step in enumerate(told["steps"]):
        part = rows[number * STEP_SIZE :][:STEP_SIZE]
        assert step["rewards/code_reward/mean"] == pytest.approx(
            sum(r["code_reward"] for r in part) / STEP_SIZE
        )
        assert step["code_reward/unavailable"] == 0.0
