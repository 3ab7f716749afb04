"""A wrapper is an executor: what it wraps keeps its promises through it."""

from __future__ import annotations

import asyncio

import pytest

from codereward import Program
from codereward.registry import default_registry
from codereward.testing.checks.executor import Bench, Check, isolation, lifecycle, perform, results
from codereward.testing.fake import FakeExecutor
from codereward.wrappers import Attributing

THROUGH: tuple[Check, ...] = (
    *lifecycle.CHECKS,
    results.a_failed_build_starts_nothing,
    results.many_commands_come_back_in_order,
    results.a_program_without_commands_runs,
    isolation.killing_everything_hurts_nobody_else,
)
"""What a wrapper could spoil."""


@pytest.mark.parametrize("check", THROUGH, ids=lambda check: check.__name__)
def test_attributing_keeps_what_an_executor_promises(check):
    """Cancelling, closing, copying and running many at once go through the wrapper."""
    bench = Bench(
        make=lambda: Attributing(default_registry().create("executor", "local", {"workers": 2})),
        slack_seconds=5.0,
    )

    asyncio.run(perform(check, bench))


@pytest.mark.parametrize("check", [lifecycle.constructor_opens_nothing], ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [FakeExecutor, lambda: Attributing(FakeExecutor())])
def test_the_fake_opens_nothing(check, make):
    """The fake runs no shell, so that little of the suite can be asked of it."""
    asyncio.run(perform(check, Bench(make=make)))


def test_the_fake_gives_one_result_for_each_command():
    """Through the wrapper as without it."""
    bench = Bench(make=lambda: Attributing(FakeExecutor()))
    program = bench.program(files={"solution.py": b"exit 0"})

    assert asyncio.run(bench.run(program)).commands == ()
    assert isinstance(bench.executor.inner.programs[0], Program)
