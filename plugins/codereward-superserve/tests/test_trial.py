"""What a program's failed tries add up to."""

import asyncio

import pytest
from codereward import BackendMisconfigured

from codereward_superserve.mapping import Failure, Kind
from codereward_superserve.settings import Settings
from codereward_superserve.trial import Trial


async def nobody():
    return False


def tried(*stages):
    """The tries of a program whose calls of these stages got strange replies, one after another."""

    async def tries():
        trial = Trial(Settings(backoff_seconds=0.0), {}, nobody)
        for stage in stages:
            await trial.after(Failure(Kind.MALFORMED, stage, "no sense", "upgrade"))

    asyncio.run(tries())


def test_strange_replies_to_different_calls_prove_nothing():
    """Each sort of call is judged by its own."""
    tried("preflight", "create", "exec")


@pytest.mark.parametrize("stage", ["create", "exec"])
def test_strange_replies_to_the_same_call_are_a_broken_contract(stage):
    """Nothing of the kind was ever answered properly."""
    with pytest.raises(BackendMisconfigured, match=r"no sense. To mend it: upgrade"):
        tried(stage, stage)
