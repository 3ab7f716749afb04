"""Observer hooks: what they are told, and that they cannot harm."""

from __future__ import annotations

import logging
import types

import pytest

from codereward import RewardPipeline, hookimpl
from codereward.registry import Registry
from codereward.testing.fake import FakeExecutor


@pytest.fixture
def registry():
    found = Registry()
    found.discover()
    return found


def plugin(**functions: object) -> types.ModuleType:
    module = types.ModuleType("observer")
    module.__dict__.update({name: hookimpl(function) for name, function in functions.items()})
    return module


def run(registry: Registry, snippets: list[str]) -> list[float | None]:
    with RewardPipeline(executor=FakeExecutor(), registry=registry) as reward:
        texts = [f"```python\n{snippet}\n```" for snippet in snippets]
        return reward(completions=texts, test=["f()"] * len(texts), expected=[1] * len(texts))


def test_hook_codereward_batch_started(registry):
    """Told the pipeline, the batch's number and its size."""
    told = []
    registry.add(
        plugin(codereward_batch_started=lambda pipeline, batch, size: told.append((pipeline, batch, size))),
        "a",
    )

    run(registry, ["return 1", "return 2"])

    assert told == [("code_reward", 0, 2)]


def test_hook_codereward_completion_scored(registry):
    """Told each verdict with its place; an implementation may take fewer arguments."""
    told = {}
    registry.add(
        plugin(codereward_completion_scored=lambda index, verdict: told.update({index: verdict.score})), "a"
    )

    run(registry, ["return 1", "return 2", "return 1"])

    assert told == {0: 1.0, 1: 0.0, 2: 1.0}


def test_hook_codereward_batch_finished(registry):
    """Told all verdicts in order, the metrics, and the time."""
    told = []
    registry.add(
        plugin(
            codereward_batch_finished=lambda verdicts, metrics, seconds: told.append(
                ([one.score for one in verdicts], metrics["code_reward/pass_rate"], seconds > 0)
            )
        ),
        "a",
    )

    run(registry, ["return 1", "return 2"])

    assert told == [([1.0, 0.0], 0.5, True)]


def test_an_observer_that_raises_is_named_once_muted_and_touches_no_reward(registry, caplog):
    """The other observers are still told."""
    told = []

    def broken(index: int) -> None:
        raise ZeroDivisionError

    registry.add(plugin(codereward_completion_scored=broken), "acme-log")
    registry.add(plugin(codereward_completion_scored=lambda index, batch: told.append(index)), "other")

    with caplog.at_level(logging.ERROR, "codereward"):
        assert run(registry, ["return 1", "return 2"]) == [1.0, 0.0]

    assert [record.getMessage() for record in caplog.records] == [
        "observer acme-log raised in codereward_completion_scored and is not called again"
    ]
    assert sorted(told) == [0, 1]
