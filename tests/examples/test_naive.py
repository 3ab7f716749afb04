"""The naive reward of the demonstration does what it is there to show."""

import pytest

from codereward.registry import default_registry


@pytest.fixture(scope="module")
def rewards(tasks, naive):
    """Rewards of four completions of one task, by the naive reward."""
    task = tasks.TASKS[0]
    row = task.row()
    bodies = {
        "right": task.function(task.body),
        "wrong": task.function(task.misconception),
        "hack": "import sys\nsys.exit(0)",
        "endless": "while True:\n    pass",
    }
    reward = naive.ExitStatusReward(default_registry().create("executor", "local"))
    completions = [[{"role": "assistant", "content": tasks.fenced(code)}] for code in bodies.values()]
    given = reward(completions=completions, test=[row["test"]] * 4, expected=[row["expected"]] * 4)
    return dict(zip(bodies, given, strict=True))


def test_it_tells_right_from_wrong(rewards):
    """On honest programs it is a fair reward, which is why it is so widely used."""
    assert (rewards["right"], rewards["wrong"], rewards["endless"]) == (1.0, 0.0, 0.0)


def test_it_pays_for_leaving_early(rewards):
    """A program that ends before the asserts is paid in full."""
    assert rewards["hack"] == 1.0
