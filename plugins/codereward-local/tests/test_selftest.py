"""The self-test passes here, is quick, and sees a sandbox that does not hold."""

import asyncio
import time

import pytest
from codereward import BackendMisconfigured, Command, Limits, Program

from codereward_local import selftest
from codereward_local.box import make_plan
from codereward_local.executor import LocalExecutor
from codereward_local.slot import Slot


def test_every_check_passes_here():
    """All checks have a name of their own, and none fails."""
    checks = selftest.run()

    assert [each for each in checks if not each.passed] == []
    assert len({each.name for each in checks}) == len(checks) >= 13


def test_it_is_quick():
    """At its best of three the examination takes less than a second, on a busy machine too."""
    plan = make_plan(None, ())
    slot = Slot(plan, 1)
    took = []
    for _ in range(3):
        began = time.monotonic()
        selftest.examine(slot, plan)
        took.append(time.monotonic() - began)
    slot.close()

    assert min(took) < 1.0


def test_an_impossible_sandbox_is_one_failed_check():
    """What keeps a sandbox from being made is told as a check, not raised."""
    (check,) = selftest.run(python="no-such-python")

    assert not check.passed
    assert "no-such-python" in check.detail


@pytest.mark.parametrize(
    ("weakened", "failing"),
    [
        ({"memory_bytes": 2**34}, "memory limit"),
        ({"processes": 500}, "process limit"),
        ({"output_bytes": 2**24}, "output limit"),
        ({"wall_seconds": 1.0}, "wall limit"),
    ],
)
def test_a_limit_that_does_not_hold_is_seen(monkeypatch, weakened, failing):
    """When a limit is not enforced, the check of that name fails, and programs are refused."""
    plan = make_plan(None, ())
    honest = selftest.payload.pack

    def weak(program: Program, path: str, *, fresh: bool) -> bytes:
        old = program.limits
        values = {name: getattr(old, name) for name in old.__slots__} | weakened
        command = Command(program.commands[0].argv, limits=Limits(**values))
        return honest(Program(program.language, program.files, (command,)), path, fresh=fresh)

    def limits_of(command: Command, program: Program) -> Limits:
        values = {name: getattr(program.limits, name) for name in program.limits.__slots__}
        return Limits(**(values | weakened))

    monkeypatch.setattr(selftest.payload, "pack", weak)
    monkeypatch.setattr(selftest.payload, "limits_of", limits_of)
    monkeypatch.setattr(selftest, "EXHAUST_TIME", "import time\ntime.sleep(0.4)\n")
    slot = Slot(plan, 2)
    try:
        failed = {each.name for each in selftest.examine(slot, plan) if not each.passed}
        with pytest.raises(BackendMisconfigured, match=failing):
            selftest.require(slot, make_plan(None, ("json",)))
    finally:
        slot.close()

    assert failing in failed


def test_a_box_run_by_root_is_seen(monkeypatch):
    """A box whose processes the kernel takes for root is refused."""
    monkeypatch.setattr(selftest, "_user_of", lambda _pid: 0)
    monkeypatch.setattr(selftest, "_identity_map", lambda: True)
    failed = [each.name for each in selftest.run() if not each.passed]

    assert failed == ["kernel user"]


def test_nothing_runs_when_the_self_test_fails(monkeypatch):
    """The executor refuses its first program, and says which check failed."""
    monkeypatch.setattr(selftest, "_passed", {})
    monkeypatch.setattr(selftest, "_user_of", lambda _pid: 0)
    monkeypatch.setattr(selftest, "_identity_map", lambda: True)
    executor = LocalExecutor(workers=1, preimport=("json", "re"))
    with pytest.raises(BackendMisconfigured, match="kernel user"):
        asyncio.run(executor.run(Program("x", {}, (Command(("true",)),))))
    asyncio.run(executor.aclose())


def test_the_doctor_hears_of_checks_and_interpreters():
    """The diagnosis holds every check of the self-test, and says what runs in the sandbox."""
    findings = {each.name: each for each in asyncio.run(LocalExecutor().diagnose())}

    assert {each.name for each in selftest.run()} < set(findings)
    assert all(each.passed for each in findings.values())
    assert findings["interpreter"].detail.startswith("Python 3.")
    assert {"other interpreters", "node"} < set(findings)


def test_a_diagnosis_without_an_interpreter_is_a_finding():
    """What keeps programs from running is told, not raised."""
    findings = asyncio.run(LocalExecutor(python="no-such-python").diagnose())

    assert [each.name for each in findings if not each.passed] == ["a sandbox can be made"]
