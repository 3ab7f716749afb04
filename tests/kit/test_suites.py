"""How suites treat their subclasses, and how pytest sees them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import ClassVar

import pytest

from codereward import Executor, Scorer
from codereward.scorers import Exact
from codereward.testing import ExecutorTests, ExtractorTests, HarnessTests, ScorerTests
from codereward.testing.checks.executor import Bench, perform
from codereward.testing.fake import FakeExecutor
from codereward.testing.suites.base import Suite

SUITES = (ExecutorTests, ExtractorTests, HarnessTests, ScorerTests)

PLUGIN = """
from codereward.scorers import Exact
from codereward.testing import ScorerTests

HALF = {"test_the_expected_value_scores_one": "half is all it gives"}

class Half(Exact):
    def score(self, observation, answers):
        return 0.5 * super().score(observation, answers)

class HalfTests(ScorerTests):
    examples = 1

    def make_scorer(self):
        return Half()

class TestReasoned(HalfTests):
    exempt = HALF

    def test_of_my_own(self):
        assert True

class TestStale(HalfTests):
    exempt = {**HALF, "test_scorers_pickle": "it cannot"}

class TestBare(HalfTests):
    pass
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What pytest says of a plugin's tests, written as its author would write them."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "test_half.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=100, env=environment)
    return done.stdout


@pytest.mark.parametrize("suite", SUITES)
def test_each_check_is_a_test_with_its_law(suite):
    """Standard tests carry the name and the one-sentence docstring of their check."""
    for name, test in suite._standard.items():
        assert getattr(suite, name) is test
        assert name == test.__name__
        law = test.__doc__.strip()
        assert law.endswith(".")
        assert "\n" not in law


@pytest.mark.parametrize("suite", SUITES)
def test_suites_themselves_are_not_collected(suite):
    """pytest takes only classes whose names start with Test, so importing a suite adds no test."""
    assert not suite.__name__.startswith("Test")
    assert suite.__abstractmethods__


def test_a_plugins_exemption_is_a_strict_xfail(said):
    """An exempted test that fails is expected, and the report gives the reason."""
    reasoned = [line for line in said.splitlines() if "TestReasoned" in line]

    assert any(line.startswith("XFAIL") and line.endswith("half is all it gives") for line in reasoned)
    assert any(line.startswith("PASSED") and "test_of_my_own" in line for line in reasoned)
    assert not any(line.startswith("FAILED") for line in reasoned)


def test_a_stale_exemption_fails(said):
    """An exempted test that passes is an error, and the report gives the reason that is stale."""
    assert "FAILED test_half.py::TestStale::test_scorers_pickle - [XPASS(strict)] it cannot" in said


def test_a_failed_check_shows_the_values(said):
    """The assertions of the checks are rewritten by pytest, as those of test modules are."""
    assert "FAILED test_half.py::TestBare::test_the_expected_value_scores_one" in said
    assert "the expected value itself scores 0.5" in said
    assert "assert 0.5 == 1.0" in said


def test_overriding_a_standard_test_is_refused():
    """A class, or one of its bases, cannot replace or delete a standard test."""

    class Mixin:
        def test_scorers_pickle(self):
            """Not the standard one."""

    with pytest.raises(TypeError, match=r"overrides the standard test 'test_scorers_pickle': exempt it"):
        type("TestMine", (ScorerTests,), {"test_scorers_pickle": lambda self: None})
    with pytest.raises(TypeError, match="overrides"):
        type("TestMine", (ScorerTests,), {"test_scorers_pickle": None})
    with pytest.raises(TypeError, match="overrides"):
        type("TestMine", (Mixin, ScorerTests), {})


def test_exempting_what_is_not_there_is_refused():
    """A misspelt exemption, or one without a reason, is an error when the class is made."""
    with pytest.raises(
        TypeError, match=r"exempts 'test_pickle', which is no standard test: .*test_scorers_pickle"
    ):
        type("TestMine", (ScorerTests,), {"exempt": {"test_pickle": "why"}})
    with pytest.raises(TypeError, match="without a reason"):
        type("TestMine", (ScorerTests,), {"exempt": {"test_scorers_pickle": " "}})


def test_exemptions_stay_in_their_class():
    """Neither the suite nor a subclass that exempts something else is marked."""

    class First(ScorerTests):
        exempt: ClassVar = {"test_scorers_pickle": "cannot"}

    class Second(First):
        exempt: ClassVar = {"test_scoring_is_pure": "is not"}

    def marked(suite: type[Suite], name: str) -> bool:
        return bool(getattr(getattr(suite, name), "pytestmark", []))

    assert marked(First, "test_scorers_pickle")
    assert not marked(ScorerTests, "test_scorers_pickle")
    assert not marked(Second, "test_scorers_pickle")
    assert marked(Second, "test_scoring_is_pure")


def test_a_suite_without_its_component_is_an_error():
    """Forgetting the one method that a suite needs is told when the tests are made."""

    class Forgotten(ScorerTests):
        pass

    with pytest.raises(TypeError, match="make_scorer"):
        Forgotten()


def test_what_a_sandbox_lacks_is_skipped():
    """Checks that need python3 are skipped where no sandbox serves Python."""

    class Ruby(ExecutorTests):
        languages = ("ruby",)

        def make_executor(self) -> Executor:
            return FakeExecutor()

    with pytest.raises(pytest.skip.Exception, match="needs python3"):
        Ruby().test_memory_limit_is_reported()


def test_leftovers_of_the_backend_fail_every_test():
    """What the author's own look behind the executor finds is reported."""

    async def check(bench: Bench) -> None:
        """Nothing to check."""

    class Holding(ExecutorTests):
        def make_executor(self) -> Executor:
            return FakeExecutor()

        def leftovers(self) -> list[str]:
            return ["sandbox-17"]

    with pytest.raises(AssertionError, match="sandbox-17"):
        Holding().perform(check)


def test_the_executor_is_closed_when_a_check_fails():
    """A check that fails does not leave the executor open."""

    async def check(bench: Bench) -> None:
        """Fail."""
        raise AssertionError("as it should")

    bench = Bench(make=FakeExecutor)
    with pytest.raises(AssertionError, match="as it should"):
        asyncio.run(perform(check, bench))
    assert bench.executor.closed == 1


def test_the_checks_need_neither_pytest_nor_hypothesis():
    """A command can perform checks where the extra `testing` is not installed."""
    code = (
        "import sys\nsys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from codereward.testing.checks import executor, extractor, harness, scorer\n"
        "print(len(executor.CHECKS))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert int(done.stdout) > 40, done.stderr


def test_a_scorer_class_is_three_lines():
    """What the documentation promises: a name, a method, nothing else."""

    class Mine(ScorerTests):
        def make_scorer(self) -> Scorer:
            return Exact()

    Mine().test_scorers_pickle()
