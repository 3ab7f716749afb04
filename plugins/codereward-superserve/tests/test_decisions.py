"""Each row of the error table, over real sockets: what the service does, and what comes of it."""

import asyncio
import json
import time

import pytest
from codereward import BackendMisconfigured, BackendUnavailable, Limits, Status
from helpers import FAST, HELLO, eventually, forget_connections, only, outcomes, python, run, run_all

from codereward_superserve import SuperserveExecutor

ONCE = {"times": 1}
HTML = {"headers": {"Content-Type": "text/html"}, "body": "<html>Bad gateway</html>"}


def error(code: str | None, message: str = "asked for") -> dict[str, object]:
    return {"body": json.dumps({"error": {"code": code, "message": message}})}


TRANSIENT = [
    # the preflight
    ("templates", "status", {"status": 500, **error("internal_error")}),
    ("templates", "status", {"status": 401, **error("auth_failed")}),
    ("templates", "garbage", {}),
    ("templates", "half_body", {}),
    # creation
    ("create", "status", {"status": 401, **error("auth_failed")}),
    ("create", "status", {"status": 409, **error("conflict")}),
    ("create", "status", {"status": 429, **error("rate_limited")}),
    ("create", "status", {"status": 429, **error("too_many_sandboxes")}),
    ("create", "status", {"status": 429, "body": "slow down"}),
    ("create", "status", {"status": 500, **error("internal_error")}),
    ("create", "status", {"status": 502, **HTML}),
    ("create", "status", {"status": 503, **error("service_unavailable", "No hosts available")}),
    ("create", "status", {"status": 504, **HTML}),
    ("create", "reset_before", {}),
    ("create", "reset_after", {}),
    ("create", "half_body", {}),
    ("create", "garbage", {}),
    ("create", "status_after", {"status": 201, "body": ""}),
    ("create", "status_after", {"status": 201, "body": "<html>"}),
    ("create", "status_after", {"status": 201, "body": "[]"}),
    ("create", "status_after", {"status": 201, "body": '{"id": "x", "access_token": "t"}'}),
    ("create", "status_after", {"status": 504, **HTML}),
    # the program
    ("exec", "status", {"status": 401, "body": "invalid access token"}),
    ("exec", "status", {"status": 404, **error("sandbox_route_stale")}),
    ("exec", "status", {"status": 409, **error("conflict")}),
    ("exec", "status", {"status": 410, **error("gone")}),
    ("exec", "status", {"status": 429, "body": "too many connections from this IP"}),
    ("exec", "status", {"status": 500, "body": "fork failed"}),
    ("exec", "status", {"status": 502, "body": "sandbox unreachable", "headers": {"Retry-After": "2"}}),
    ("exec", "status", {"status": 503, **error("sandbox_unavailable")}),
    ("exec", "status", {"status": 503, **HTML}),
    ("exec", "status", {"status": 504, **HTML}),
    ("exec", "reset_before", {}),
    ("exec", "reset_after", {}),
    ("exec", "half_body", {}),
    ("exec", "garbage", {}),
    ("exec", "agent_death", {}),
    ("exec", "status", {"status": 200, "body": ""}),
    ("exec", "status", {"status": 200, "body": "{}"}),
    ("exec", "status", {"status": 200, "body": "[]"}),
    ("exec", "status", {"status": 200, "body": "<html>"}),
    ("exec", "status", {"status": 200, "body": '{"stdout": null, "exit_code": 0}'}),
    ("exec", "status", {"status": 200, "body": '{"stdout": "hello\\n", "stderr": "", "exit_code": 0}'}),
    # deletion never costs anything
    ("delete", "status", {"status": 500, **error("internal_error")}),
    ("delete", "status", {"status": 401, **error("auth_failed")}),
    ("delete", "reset_before", {}),
    ("delete", "reset_after", {}),
    ("delete", "garbage", {}),
]


@pytest.mark.parametrize(("route", "action", "fault"), TRANSIENT, ids=lambda value: str(value)[:40])
def test_a_passing_failure_costs_time_and_nothing_else(service, route, action, fault):
    """One failure of any kind is tried again; the result is right and no sandbox is left."""
    service.fault(route, action, **ONCE | fault)

    result = only(HELLO)

    assert (result.status, result.stdout) == (Status.EXITED, b"hello\n")
    assert [rule["struck"] for rule in service.state()["faults"]] == [1]
    assert service.state()["most_commands"] <= 2  # the SDK itself may send a command twice


PERMANENT = [
    ("templates", {"status": 403, **error("forbidden")}, "SUPERSERVE_API_KEY"),
    ("templates", {"status": 404, "body": "not here"}, "base_url"),
    ("templates", {"status": 308, "headers": {"Location": "https://elsewhere"}}, "base_url"),
    ("templates", {"status": 200, "body": "<html>"}, "upgrade"),
    ("create", {"status": 401, **error("auth_failed")}, "SUPERSERVE_API_KEY"),
    ("create", {"status": 400, **error("bad_request", "metadata is too large")}, "metadata"),
    ("create", {"status": 402, **error("payment_required")}, "billing"),
    ("create", {"status": 404, **error("not_found", "Template not found")}, "templates"),
    ("create", {"status": 404, "body": "not here"}, "base_url"),
    ("create", {"status": 409, **error("conflict", "template is not ready (status=failed)")}, "templates"),
    ("create", {"status": 413, "body": "too large"}, "upgrade"),
    ("create", {"status": 501, "body": "?"}, "base_url"),
    ("create", {"status": 201, "body": "[]"}, "upgrade"),
    ("exec", {"status": 400, "body": "invalid JSON body"}, "upgrade"),
    ("exec", {"status": 200, "body": "{}"}, "upgrade"),
]


@pytest.mark.parametrize(("route", "fault", "told"), PERMANENT, ids=lambda value: str(value)[:40])
def test_a_wrong_configuration_stops_at_once_and_says_what_to_mend(service, route, fault, told):
    """What no retry can help raises `BackendMisconfigured` within seconds, with the way out."""
    service.fault(route, "status", **fault)
    started = time.monotonic()

    with pytest.raises(BackendMisconfigured, match=told):
        run(HELLO)

    assert time.monotonic() - started < 12


LASTING = [
    ("create", "status", {"status": 503, **error("service_unavailable")}, False),
    ("create", "reset_before", {}, False),
    ("exec", "status", {"status": 502, "body": "sandbox unreachable"}, True),
    ("exec", "reset_after", {}, True),
    ("exec", "agent_death", {"seconds": 0.05}, True),
]


@pytest.mark.parametrize(("route", "action", "fault", "started"), LASTING, ids=lambda value: str(value)[:40])
def test_a_lasting_failure_is_unavailable_and_says_whether_the_program_ran(
    service, route, action, fault, started
):
    """When the budget is spent, `BackendUnavailable.started` tells whether the program may be the cause."""
    service.tell("configure", requests_per_second=1000.0, burst=1000)
    service.fault(route, action, **fault)

    with pytest.raises(BackendUnavailable) as failed:
        run(python("import time; time.sleep(0.3)"), attempts=3)

    assert failed.value.started is started


def test_a_lost_program_is_tried_on_fresh_sandboxes_only(service):
    """Each further try of a lost program gets a new sandbox; none is used again."""
    service.fault("exec", "status", status=502, times=1)

    only(HELLO)

    used = [each["sandbox"] for each in service.requests("exec")]
    assert len(used) == len(set(used)) == 2


def test_an_answer_to_another_call_is_no_result(service):
    """A reply that some other call could have got is not taken for this one's."""
    body = json.dumps(
        {"stdout": "0123456789abcdef begin\n0123456789abcdef data\n\n", "stderr": "", "exit_code": 0}
    )
    service.fault("exec", "status", status=200, body=body, times=1)

    assert only(HELLO).stdout == b"hello\n"


def test_a_script_that_is_ended_early_is_no_result(service, monkeypatch):
    """When the service ends the script at its own limit, the program counts as lost."""
    from codereward_superserve import executor

    monkeypatch.setattr(executor, "SCRIPT_SECONDS", -2)

    with pytest.raises(BackendUnavailable, match="ends early") as failed:
        run(python("import time; time.sleep(9)", limits=Limits(wall_seconds=3.0)))

    assert failed.value.started


def test_a_call_that_hangs_is_given_up(service, monkeypatch):
    """A call past its deadline is abandoned, its sandbox destroyed, and another one tried."""
    from codereward_superserve import executor

    monkeypatch.setattr(executor, "SCRIPT_SECONDS", 1)
    service.fault("exec", "stall_after", seconds=5, times=1)
    started = time.monotonic()

    result = only(python("print('hello')", limits=Limits(wall_seconds=0.5)), call_seconds=1.0)

    assert result.stdout == b"hello\n"
    assert 2.9 < time.monotonic() - started < 5
    assert eventually(lambda: len(service.requests("exec")) == 2)  # the late answer belongs to this test


def test_a_creation_that_hangs_is_found_and_deleted(service):
    """The sandbox of a creation whose answer came too late is destroyed."""
    service.fault("create", "stall_after", seconds=2.0, times=1)

    assert only(HELLO, call_seconds=0.8).stdout == b"hello\n"
    assert service.state()["created"] == 2
    assert eventually(lambda: len(service.requests("create")) == 2)  # the late answer belongs to this test


@pytest.mark.parametrize("action", ["reset_after", "half_body"])
def test_a_creation_without_an_answer_leaves_no_sandbox(service, action):
    """A lost reply to a creation: the sandbox is found by its tag and deleted before closing ends."""
    service.fault("create", action, times=1)

    only(HELLO)

    assert (service.state()["created"], service.state()["sandboxes"]) == (2, [])


def test_a_failed_deletion_is_tried_again_and_its_place_stays_taken(service):
    """While a sandbox may still exist, it counts."""
    service.tell("configure", max_sandboxes=1)
    service.refuse("delete", 500, "internal_error", times=2)

    results = run_all([HELLO, HELLO], max_sandboxes=1)

    assert [each.commands[0].stdout for each in results] == [b"hello\n"] * 2
    assert [each["status"] for each in service.requests("create")] == [201, 201]


def test_a_wrong_key_stops_before_any_sandbox(service, monkeypatch):
    """The preflight finds a wrong key with a call that creates nothing."""
    monkeypatch.setenv("SUPERSERVE_API_KEY", "ss_live_wrong")

    with pytest.raises(BackendMisconfigured, match="SUPERSERVE_API_KEY"):
        run(HELLO)

    assert service.requests("create") == []


def test_no_key_at_all_says_so(service, monkeypatch):
    """Without a key nothing is sent."""
    monkeypatch.delenv("SUPERSERVE_API_KEY")

    with pytest.raises(BackendMisconfigured, match="set the variable SUPERSERVE_API_KEY"):
        run(HELLO)

    assert service.requests() == []


@pytest.mark.parametrize("key", ["line\nbreak", "schlüssel"])
def test_a_key_that_cannot_be_sent_says_so(service, key):
    """A line break or a letter beyond ASCII in the key is a configuration error."""
    with pytest.raises(BackendMisconfigured):
        run(HELLO, api_key=key)


@pytest.mark.parametrize(
    "address", ["https://api-nowhere.superserve.ai", "ftp://api.superserve.ai", "https://127.0.0.1:1"]
)
def test_a_wrong_address_says_so(service, monkeypatch, address):
    """A host with another certificate, a scheme that is none, and a port where nobody listens."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    forget_connections()
    try:
        with pytest.raises(BackendMisconfigured, match="base_url"):
            run(HELLO, base_url=address)
    finally:
        forget_connections()


def test_a_missing_template_is_named_with_those_there_are(service):
    """The message lists what begins alike."""
    with pytest.raises(BackendMisconfigured, match="no such template"):
        run(HELLO, template="superserve/python-3")

    assert service.requests("create") == []


def test_a_language_without_a_template_says_how_to_set_one(service):
    """The message names the setting and the languages that have a template."""
    with pytest.raises(BackendMisconfigured, match="templates="):
        run(HELLO, templates={"cobol": "acme/cobol"})


def test_a_template_whose_commands_are_not_root_is_refused(service):
    """A template in which the script cannot isolate programs is a configuration error."""
    body = {"stdout": "", "stderr": "", "exit_code": 0}
    from codereward_superserve import executor, reply

    refused = reply.parse("N begin\nN refused unshare -n -m fails: do its commands run as root?\n", "N")

    assert isinstance(refused, reply.Refused)
    assert "root" in executor._unfit("acme/x", refused.reason)
    assert body["exit_code"] == 0


def test_a_template_that_is_being_built_is_waited_for(service):
    """409 with `status=building` waits; the program runs when the template is ready."""
    service.tell("template_status", name="superserve/python-3.11", status="building")

    async def wait():
        executor = SuperserveExecutor(**FAST)
        job = asyncio.create_task(executor.run(HELLO))
        await asyncio.sleep(1)
        service.tell("template_status", name="superserve/python-3.11", status="ready")
        done = await job
        await executor.aclose()
        return done

    assert asyncio.run(wait()).commands[0].stdout == b"hello\n"


def test_throttling_delays_and_never_loses(service):
    """Far over the quotas, every program still gets its result, and the cap is never passed."""
    service.tell("configure", requests_per_second=15.0, burst=4, max_sandboxes=3)

    results = outcomes([HELLO] * 12, max_sandboxes=12)

    assert [type(each).__name__ for each in results] == ["Run"] * 12
    assert service.state()["most_at_once"] <= 3


def test_congestion_of_commands_is_waited_out(service):
    """More commands at once than the proxy allows are tried again, on fresh sandboxes."""
    service.tell("configure", max_in_flight_per_ip=2, requests_per_second=1000.0, burst=1000)

    results = run_all([python("import time; time.sleep(0.2)")] * 8, max_sandboxes=8)

    assert [each.commands[0].status for each in results] == [Status.EXITED] * 8


def test_patience_ends_a_program_that_nobody_can_run(service):
    """`patience_seconds` is the last word."""
    service.refuse("create", 429, "rate_limited")
    started = time.monotonic()

    with pytest.raises(BackendUnavailable, match="within 2 s") as failed:
        run(HELLO, patience_seconds=2.0)

    assert not failed.value.started
    assert time.monotonic() - started < 10


def test_a_rotated_key_stops_the_run_at_the_next_creation(service):
    """A key that is revoked in mid-run is noticed at the next creation and confirmed once."""

    async def revoke():
        executor = SuperserveExecutor(**FAST)
        await executor.run(HELLO)
        await asyncio.sleep(0.3)
        service.tell("key", api_key="another")
        try:
            with pytest.raises(BackendMisconfigured, match="SUPERSERVE_API_KEY"):
                await executor.run(HELLO)
        finally:
            service.tell("key", api_key=service.api_key)
            await executor.aclose()

    asyncio.run(revoke())
