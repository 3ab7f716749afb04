"""`codereward doctor` with executors that work, half work, and do not."""

from __future__ import annotations

import asyncio
import json
import types

import pytest
from typer.testing import CliRunner

import codereward
from codereward import BackendMisconfigured, Command, CommandResult, Finding, Program, Run, Status
from codereward.cli import app, doctor
from codereward.registry import Registry
from codereward.testing.fake import FakeExecutor


class Sound(FakeExecutor):
    """Runs everything; a Python says its version."""

    async def run(self, program: Program) -> Run:
        words = program.commands[0].argv
        return Run(
            (CommandResult(Status.EXITED, 0, stdout=b"Python 3.11.7\n" if "--version" in words else b""),)
        )

    async def diagnose(self):
        return [Finding("network", passed=True)]


class Leaky(Sound):
    """Its network is open."""

    async def diagnose(self):
        return [Finding("network", passed=False, detail="the host can be reached")]


class Poor(Sound):
    """Has no Python."""

    async def run(self, program: Program) -> Run:
        if program.commands[0] == Command(("python3", "--version")):
            raise BackendMisconfigured("python3 is not installed")
        return await super().run(program)


class Dead(FakeExecutor):
    """Runs nothing."""

    async def run(self, program: Program) -> Run:
        raise BackendMisconfigured("no key")


@pytest.fixture
def examined():
    """Examines an executor that is registered for the test."""

    def examine(cls: type[codereward.Executor]) -> doctor.Examination:
        plugin = types.ModuleType("plugin")
        plugin.codereward_register_executors = codereward.hookimpl(specname="codereward_register_executors")(
            lambda register: register("it", cls)
        )
        registry = Registry()
        registry.discover()
        registry.add(plugin, "test")
        return asyncio.run(doctor.examine(registry, "it"))

    return examine


def test_an_executor_that_works(examined):
    """Its findings, its rate, its languages."""
    found = examined(Sound)

    assert found.works
    assert [one.name for one in found.findings] == ["network", "runs programs"]
    assert "language python: Python 3.11.7" in "\n".join(doctor.lines([found]))


def test_an_executor_whose_isolation_does_not_hold_is_not_used(examined):
    """Nothing is run in it."""
    found = examined(Leaky)

    assert not found.works
    assert doctor.lines([found]) == ["executor it: DOES NOT WORK", "  FAIL  network: the host can be reached"]


def test_a_missing_language_is_no_failure_of_the_executor(examined):
    """It is said what is missing."""
    found = examined(Poor)

    assert found.works
    assert "  none  language python: python3 is not installed" in doctor.lines([found])


def test_an_executor_that_is_misconfigured_says_why(examined):
    """One line, no traceback."""
    assert doctor.lines([examined(Dead)])[1] == "  FAIL  runs programs: no key"


def test_the_command_examines_the_local_executor_for_real():
    """As a user types it; the exit status is for scripts."""
    result = CliRunner().invoke(app.app, ["doctor", "--executor", "local", "--json"])

    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)
    assert found["works"]
    assert {key: found["languages"][-1][key] for key in ("name", "passed")} == {
        "name": "language python",
        "passed": True,
    }


def test_an_executor_that_is_not_installed_is_told():
    """An unknown name is an answer too."""
    result = CliRunner().invoke(app.app, ["doctor", "--executor", "nowhere"])

    assert result.exit_code == 1
    assert "there is no executor 'nowhere'" in result.stdout
