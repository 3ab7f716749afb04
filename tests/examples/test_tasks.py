"""The tasks of the demonstration, scored by the real pipeline in real sandboxes."""

import pytest

from codereward import RewardPipeline


@pytest.fixture(scope="module")
def score(tasks):
    with RewardPipeline(executor="local", scorer="partial", expected_format="json") as pipeline:

        def score(bodies):
            rows = [task.row() for task in tasks.TASKS]
            return pipeline.score(
                completions=[
                    tasks.fenced(task.function(body)) for task, body in zip(tasks.TASKS, bodies, strict=True)
                ],
                test=[row["test"] for row in rows],
                expected=[row["expected"] for row in rows],
            )

        yield score


def test_every_reference_passes(tasks, score):
    """The right answer of every task passes all of its tests."""
    verdicts = score([task.body for task in tasks.TASKS])
    assert {task.name: one.reward for task, one in zip(tasks.TASKS, verdicts, strict=True)} == {
        task.name: 1.0 for task in tasks.TASKS
    }


def test_every_misconception_fails(tasks, score):
    """No misconception passes all tests, and many pass some: there is partial credit to climb."""
    rewards = [verdict.reward for verdict in score([task.misconception for task in tasks.TASKS])]
    assert max(rewards) < 1.0
    assert sum(reward > 0 for reward in rewards) > len(rewards) / 2


def test_prompts_and_names_are_distinct(tasks):
    """No two tasks can be taken for each other."""
    assert len({task.name for task in tasks.TASKS}) == len(tasks.TASKS) == 40
    assert len({task.prompt for task in tasks.TASKS}) == 40


def test_trained_and_untrained_tasks_do_not_overlap(tasks):
    """What is reported as untrained was not trained on."""
    for trained, untrained in ((tasks.TRAINED, tasks.UNTRAINED), (tasks.SHORT, tasks.SHORT_UNTRAINED)):
        assert not {task.name for task in trained} & {task.name for task in untrained}
