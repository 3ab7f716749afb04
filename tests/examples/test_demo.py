"""The whole demonstration: real training, real sandboxes, the short version."""

from statistics import fmean

import pytest

pytestmark = pytest.mark.timeout(900)


def ends(curve):
    return fmean(curve[:5]), fmean(curve[-5:])


@pytest.fixture(scope="module")
def honest(short_run):
    return short_run.result["codereward"]


@pytest.fixture(scope="module")
def hacked(short_run):
    return short_run.result["naive"]


def test_it_succeeds_without_a_warning(short_run):
    """The demonstration ends well and leaves standard error empty."""
    assert (short_run.returncode, short_run.stderr) == (0, "")


def test_the_reward_rises(honest):
    """GRPO with rewards from codereward learns."""
    first, last = ends(honest["curves"]["reward"])
    assert last - first >= 0.2


def test_more_programs_pass(honest):
    """What the reward promises is true: more of the programs pass every test."""
    assert honest["after"]["passed"] - honest["before"]["passed"] >= 0.2
    assert honest["after"]["greedy"] > honest["before"]["greedy"]


def test_leaving_early_does_not_spread(honest):
    """Early exits earn nothing, so that the model does not take to them."""
    first, last = ends(honest["curves"]["hacked"])
    assert last <= max(first, 0.05)


def test_the_naive_reward_is_hacked(hacked):
    """Under the naive reward the reported reward rises and the truth falls."""
    curves = hacked["curves"]
    first_reward, last_reward = ends(curves["reward"])
    first_hacked, last_hacked = ends(curves["hacked"])
    assert last_reward - first_reward >= 0.2
    assert last_hacked - first_hacked >= 0.3
    assert hacked["after"]["passed"] < hacked["before"]["passed"]


def test_every_step_is_reported(short_run, honest):
    """Each training step has a line on the screen and a point on every curve."""
    steps = len(honest["curves"]["reward"])
    assert {len(curve) for curve in honest["curves"].values()} == {steps}
    lines = [line.split() for line in short_run.stdout.splitlines()]
    numbers = [line[0] for line in lines if len(line) == 6 and line[0].isdigit()]
    assert numbers == [str(step + 1) for step in range(steps)] * 2


def test_the_picture_is_drawn(short_run):
    """The curves are there as a PNG file."""
    assert (short_run.output / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_executor_is_explained(start_demo):
    """A mistyped executor costs one line, at once, instead of a traceback after the warm start."""
    run = start_demo("--executor", "locall")
    assert run.returncode == 2
    assert run.stderr.startswith("error: there is no executor 'locall'")
    assert len(run.stderr.splitlines()) == 1


def test_steps_have_to_be_positive(start_demo):
    """Zero steps are refused by the option's name."""
    run = start_demo("--steps", "0")
    assert run.returncode == 2
    assert "--steps: has to be at least 1" in run.stderr
