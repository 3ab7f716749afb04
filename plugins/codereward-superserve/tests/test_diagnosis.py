"""`codereward doctor --executor superserve`: what is wrong with key, host or template, and how to mend it."""

import asyncio
import json

import pytest
from helpers import FAST, codereward

from codereward_superserve import SuperserveExecutor

PYTHON, NODE = "superserve/python-3.11", "superserve/node-22"


@pytest.fixture
def failed_node(service):
    """The template for Node is one whose build failed."""
    service.tell("template_status", name=NODE, status="failed")
    yield
    service.tell("template_status", name=NODE, status="ready")


def diagnose(**options):
    """The findings, as name → (passed, detail), in order."""

    async def once():
        executor = SuperserveExecutor(**FAST | options)
        try:
            return await executor.diagnose()
        finally:
            await executor.aclose()

    return {each.name: (each.passed, each.detail) for each in asyncio.run(once())}


def passed(findings):
    return {name: good for name, (good, _) in findings.items()}


def test_all_is_well_and_nothing_is_created(service):
    """Host, key and each template are found good, by as many requests as there are templates."""
    found = diagnose(base_url="https://api.superserve.ai")

    assert found == {
        "host": (True, "https://api.superserve.ai"),
        "key": (True, "accepted"),
        f"template {PYTHON}": (True, "ready"),
        f"template {NODE}": (True, "ready"),
    }
    assert [each["route"] for each in service.requests()] == ["templates", "templates"]


def test_one_template_for_all_is_the_one_that_is_tried(service):
    """With `template=` the others do not matter."""
    assert list(diagnose(template=NODE)) == ["host", "key", f"template {NODE}"]


@pytest.mark.usefixtures("service", "failed_node")
def test_a_missing_template_is_told_from_the_others():
    """The finding says what is wrong and names the setting; the other templates are still looked at."""
    found = diagnose(templates={"python": "superserve/python-3.9", "node": NODE, "ml": PYTHON})

    assert passed(found) == {
        "host": True,
        "key": True,
        "template superserve/python-3.9": False,
        f"template {NODE}": False,
        f"template {PYTHON}": True,
    }
    assert "no such template" in found["template superserve/python-3.9"][1]
    assert "its build failed" in found[f"template {NODE}"][1]
    assert "templates={language: name}" in found[f"template {NODE}"][1]


def test_a_template_by_its_id_cannot_be_proven(service):
    """It is said that only a creation proves it."""
    good, detail = diagnose(template="8f3a")["template 8f3a"]

    assert good
    assert "only a creation" in detail


def test_a_wrong_key_is_the_keys_fault(service):
    """The host is good, the key is not, and nothing is said about templates."""
    found = diagnose(api_key="ss_live_wrong")

    assert passed(found) == {"host": True, "key": False}
    assert "SUPERSERVE_API_KEY" in found["key"][1]
    assert "ss_live_wrong" not in str(found)


@pytest.mark.parametrize("key", [None, "ss_live_schlüssel"])
def test_a_key_that_is_never_sent_says_nothing_about_the_host(service, monkeypatch, key):
    """Without a key, or with one that no header can carry, nobody was asked."""
    monkeypatch.delenv("SUPERSERVE_API_KEY")

    found = diagnose(api_key=key)

    assert passed(found) == {"key": False}
    assert "api_key" in found["key"][1]
    assert service.requests() == []


@pytest.mark.parametrize(("status", "code"), [(402, "payment_required"), (403, "forbidden")])
def test_a_team_that_is_turned_away_has_reached_the_host(service, status, code):
    """A plan that ran out, or a key without the right, is the key's finding."""
    service.refuse("templates", status, code)

    assert passed(diagnose()) == {"host": True, "key": False}


def test_nobody_at_the_address_is_the_hosts_fault(service, monkeypatch):
    """Where nobody answers, the finding names the settings that lead there."""
    monkeypatch.setenv("NO_PROXY", "*")

    found = diagnose(base_url="https://127.0.0.1:1")

    assert passed(found) == {"host": False}
    assert "base_url" in found["host"][1]


def test_a_service_that_is_down_is_the_hosts_fault(service):
    """A service that goes on failing is tried several times, and then reported."""
    service.refuse("templates", 503, "service_unavailable")

    found = diagnose(attempts=3)

    assert passed(found) == {"host": False}
    assert "after 3 tries" in found["host"][1]
    assert len(service.requests("templates")) >= 3  # the SDK itself tries again, too


def test_an_endless_queue_is_the_hosts_fault(service):
    """Being throttled for as long as the patience lasts ends in a finding."""
    service.refuse("templates", 429, "rate_limited")

    assert passed(diagnose(patience_seconds=0.5)) == {"host": False}


def test_a_hiccup_is_no_finding(service):
    """What goes away when tried again is not reported."""
    service.refuse("templates", 503, "service_unavailable", times=2)
    service.refuse("templates", 401, "auth_failed", times=1)

    assert all(passed(diagnose()).values())


def test_the_doctor_runs_programs_at_the_service(service):
    """The console command finds everything good, measures a rate, and leaves no sandbox."""
    service.tell("configure", requests_per_second=1000.0, burst=1000)

    done = codereward("doctor", "--executor", "superserve", "--json")

    (found,) = json.loads(done.stdout)
    assert (done.returncode, done.stderr, found["works"]) == (0, "", True)
    names = ["host", "key", f"template {PYTHON}", f"template {NODE}", "runs programs"]
    assert [each["name"] for each in found["findings"]] == names
    python = next(each for each in found["languages"] if each["name"] == "language python")
    assert python["detail"].startswith("Python 3.")


def test_the_doctor_says_what_to_mend(service, monkeypatch):
    """With a wrong key the console command says so, runs nothing, and exits with 1."""
    monkeypatch.setenv("SUPERSERVE_API_KEY", "ss_live_wrong")

    done = codereward("doctor", "--executor", "superserve")

    first, host, key = done.stdout.splitlines()
    assert first == "executor superserve: DOES NOT WORK"
    assert host.startswith("  ok    host: ")
    assert key.startswith("  FAIL  key: ")
    assert "check api_key" in key
    assert (done.returncode, service.requests("create")) == (1, [])
