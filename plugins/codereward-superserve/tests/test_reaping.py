"""`codereward superserve reap`, as the console command that it is."""

import json
import os
import re
from datetime import UTC, datetime

import pytest
import typer
from helpers import codereward
from superserve import Sandbox

from codereward_superserve.cli import seconds

HOURS = 2
OURS = {"codereward": "1"}


@pytest.fixture
def old(service):
    """Makes sandboxes that are two hours old; all are gone after the test."""
    made = []

    def make(metadata):
        service.tell("advance", seconds=-3600 * HOURS)
        service.tell("configure", requests_per_second=1000.0, burst=1000)
        made.append(Sandbox.create(name="left", metadata=metadata).id)
        service.tell("advance", seconds=3600 * HOURS)
        return made[-1]

    yield make
    for each in made:
        Sandbox.kill_by_id(each)


@pytest.fixture
def young(service):
    """The id of a sandbox of codereward that was made just now."""
    made = Sandbox.create(name="busy", metadata=OURS | {"codereward-run": "current"})
    yield made.id
    Sandbox.kill_by_id(made.id)


def boxes(service):
    return {box["id"] for box in service.state()["sandboxes"]}


def test_nothing_left_behind_is_said(service):
    """Without orphans it says so, and all is well."""
    done = codereward("superserve", "reap")

    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing was left behind\n", "")


def test_orphans_are_listed_and_not_touched(service, old, young):
    """Without --kill codereward's old sandboxes are listed with their runs, and everything stays."""
    ours, foreign = old(OURS | {"codereward-run": "monday"}), old({"owner": "somebody"})

    done = codereward("superserve", "reap")

    first, last = done.stdout.splitlines()
    assert re.fullmatch(rf"{ours}  active +\d{{4}}-\d\d-\d\d \d\d:\d\d UTC  monday  still there", first)
    assert last == "1 left behind; destroy with --kill"
    assert (done.returncode, done.stderr) == (0, "")
    assert boxes(service) == {ours, foreign, young}


def test_only_old_sandboxes_of_the_project_are_destroyed(service, old, young):
    """With --kill they are gone; what is young, or not codereward's, is left alone."""
    ours, foreign = old(OURS), old({"codereward-run": "not by codereward itself"})

    done = codereward("superserve", "reap", "--kill")

    assert done.stdout.split()[0] == ours
    assert done.stdout.splitlines()[0].endswith("destroyed")
    assert (len(done.stdout.splitlines()), done.returncode) == (1, 0)
    assert boxes(service) == {foreign, young}


@pytest.mark.parametrize(("age", "found"), [("3h", 0), ("119m", 1)])
def test_the_age_decides(service, old, age, found):
    """A sandbox of two hours is left behind after 119 minutes, and not yet after three hours."""
    old(OURS)

    done = codereward("superserve", "reap", "--older-than", age, "--json")

    assert len(json.loads(done.stdout)) == found


def test_json_is_for_programs(service, old):
    """With --json the sandboxes of the run that was named come as data."""
    ours = old(OURS | {"codereward-run": "monday"})
    old(OURS | {"codereward-run": "tuesday"})

    done = codereward("superserve", "reap", "--json", "--kill", "--run", "monday")

    (one,) = json.loads(done.stdout)
    created = datetime.fromisoformat(one.pop("created_at"))
    assert one == {
        "sandbox_id": ours,
        "run": "monday",
        "status": "active",
        "deleted": True,
        "problem": "",
    }
    assert 3600 * HOURS <= (datetime.now(UTC) - created).total_seconds() < 3600 * HOURS + 60


def test_what_cannot_be_destroyed_is_told(service, old):
    """The others are destroyed, the line says why one was not, and the exit status is 1."""
    left = {old(OURS), old(OURS)}
    service.refuse("delete", 500, "internal_error", "no luck", times=1)

    done = codereward("superserve", "reap", "--kill")

    (still,) = boxes(service)
    told = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert told.keys() == left
    assert "no luck" in told.pop(still)
    assert next(iter(told.values())).endswith("destroyed")
    assert done.returncode == 1


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("age", ["fortnight", "-5m"])
def test_an_age_that_is_none_is_refused(service, age):
    """The message shows what was written and how it should be; the service is not asked."""
    done = codereward("superserve", "reap", f"--older-than={age}")

    assert done.returncode == 2
    assert f"'{age}' is no age: write 90s, 15m, 2h or 1d" in done.stderr
    assert service.requests() == []


@pytest.mark.parametrize(
    ("age", "value"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86400), ("0.5h", 1800), ("7", 7)]
)
def test_ages_have_units(age, value):
    """Seconds, minutes, hours and days; a bare number is seconds."""
    assert seconds(age) == value


@pytest.mark.parametrize("age", ["", "m", "1 h", "1w", "nan", "inf", "1e3", "٣s", "1h\n"])
def test_what_is_no_age_raises(age):
    """Anything else is a mistake of the user."""
    with pytest.raises(typer.BadParameter):
        seconds(age)


def test_an_age_beyond_all_time_finds_nothing(service, old):
    """However large the number is, it is an age."""
    old(OURS)

    assert codereward("superserve", "reap", "--older-than", "9" * 400 + "d").stdout.startswith("nothing")


KEY = {"SUPERSERVE_API_KEY": "ss_live_wrong"}
NOWHERE = {"SUPERSERVE_BASE_URL": "https://127.0.0.1:1", "HTTPS_PROXY": ""}


@pytest.mark.parametrize(
    ("environment", "mend"),
    [
        ({"SUPERSERVE_API_KEY": ""}, "set the variable SUPERSERVE_API_KEY"),
        (KEY, "SUPERSERVE_API_KEY"),
        (NOWHERE, "SUPERSERVE_BASE_URL"),
    ],
    ids=["missing key", "wrong key", "wrong address"],
)
def test_a_service_that_cannot_be_asked_costs_one_line(service, monkeypatch, environment, mend):
    """One line on standard error says what to mend, without the key; the exit status is 2."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    done = codereward("superserve", "reap", "--kill")

    (line,) = done.stderr.splitlines()
    assert line.startswith("codereward: the sandboxes cannot be listed: ")
    assert mend in line
    assert ".." not in line
    assert os.environ["SUPERSERVE_API_KEY"] == "" or os.environ["SUPERSERVE_API_KEY"] not in line
    assert (done.returncode, done.stdout) == (2, "")


def test_an_answer_that_nobody_can_read_costs_one_line(service):
    """A page of HTML in place of the list is neither a traceback nor an empty list."""
    service.fault("list", "status", status=200, body="<html>\n<p>maintenance</p>\n</html>")

    done = codereward("superserve", "reap")

    assert len(done.stderr.splitlines()) == 1
    assert (done.returncode, done.stdout) == (2, "")


def test_the_group_shows_what_it_has():
    """`codereward superserve` alone shows its commands."""
    assert "reap" in codereward("superserve", "--help").stdout
