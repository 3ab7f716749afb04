"""The suite for executors finds what is wrong with wrong ones."""

from __future__ import annotations

import asyncio
import functools

import pytest
from wrong_executors import WRONG_ORDERS, WRONG_RESULTS, Wrong

from codereward.testing.checks.executor import CHECKS, Bench, Check, perform, results

BY_NAME = {check.__name__: check for check in CHECKS}
AT_ONCE = 3


async def verdict(check: Check, bench: Bench, gate: asyncio.Semaphore) -> tuple[str, bool]:
    async with gate:
        try:
            await perform(check, bench)
        except (Exception, asyncio.CancelledError):
            return check.__name__, False
        return check.__name__, True


async def failures(make, checks) -> set[str]:
    """Names of the checks that fail; a few of them run at a time."""
    gate = asyncio.Semaphore(AT_ONCE)
    benches = [Bench(make=make, slack_seconds=3.0) for _ in checks]
    verdicts = await asyncio.gather(*(verdict(*one, gate) for one in zip(checks, benches, strict=True)))
    return {name for name, passed in verdicts if not passed}


@functools.cache
def local_failures() -> set[str]:
    """What the executor inside the wrong ones fails by itself: nothing, when all is well."""
    return asyncio.run(failures(Wrong, results.CHECKS))


@pytest.mark.parametrize("wrong", WRONG_RESULTS, ids=lambda wrong: wrong.__name__)
def test_a_wrong_result_fails_its_own_checks(wrong):
    """Each executor whose results are wrong fails exactly the checks written for it."""
    checks = {*results.CHECKS, *(BY_NAME[name] for name in WRONG_RESULTS[wrong])}

    assert asyncio.run(failures(wrong, checks)) - local_failures() == WRONG_RESULTS[wrong]


@pytest.mark.parametrize("wrong", WRONG_ORDERS, ids=lambda wrong: wrong.__name__)
def test_a_wrong_way_of_running_fails_its_own_check(wrong):
    """Each executor that behaves wrongly fails the check that is about it."""
    check = BY_NAME[WRONG_ORDERS[wrong]]

    assert asyncio.run(failures(wrong, [check])) == {check.__name__}
