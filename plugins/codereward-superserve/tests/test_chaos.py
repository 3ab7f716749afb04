"""Whatever the service does: every result is right, or there is none, and nothing is left."""

import json
import time

from codereward import BackendUnavailable, Run, Status
from helpers import outcomes, python
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROGRAMS = 6
CAP = 3
PATIENCE = 12.0
SLACK = 15.0
"""Time for closing, and for a machine that is busy with other things."""

JSON_ERROR = json.dumps({"error": {"code": "internal_error", "message": "chaos"}})
LYING = json.dumps({"stdout": "0\n", "stderr": "", "exit_code": 0})


def fault(route: str, action: str, **fixed: object) -> st.SearchStrategy[dict[str, object]]:
    """A fault that strikes a part of the requests, for a while."""
    return st.fixed_dictionaries(
        {
            "route": st.just(route),
            "action": st.just(action),
            "times": st.integers(1, 6),
            "skip": st.integers(0, 4),
            "probability": st.sampled_from([0.2, 0.5, 1.0]),
        }
        | {name: st.just(value) for name, value in fixed.items()}
    )


def once(route: str, action: str, **fixed: object) -> st.SearchStrategy[dict[str, object]]:
    """A fault that strikes once: repeated, it would rightly count as a wrong configuration."""
    values = {"route": route, "action": action, "times": 1, **fixed}
    return st.integers(0, 6).map(lambda skip: values | {"skip": skip})


ANY_ROUTE = st.sampled_from(["templates", "create", "exec", "delete", "list"])
FAULT = st.one_of(
    ANY_ROUTE.flatmap(lambda route: fault(route, "reset_before")),
    ANY_ROUTE.flatmap(lambda route: fault(route, "reset_after")),
    ANY_ROUTE.flatmap(lambda route: fault(route, "half_body")),
    ANY_ROUTE.flatmap(lambda route: fault(route, "garbage")),
    ANY_ROUTE.flatmap(lambda route: fault(route, "stall", seconds=0.3)),
    ANY_ROUTE.flatmap(lambda route: fault(route, "status", status=503, body=JSON_ERROR)),
    ANY_ROUTE.flatmap(lambda route: fault(route, "status_after", status=504, body="<html>")),
    fault(
        "create", "status", status=429, body=json.dumps({"error": {"code": "rate_limited", "message": "x"}})
    ),
    fault(
        "create",
        "status",
        status=429,
        body=json.dumps({"error": {"code": "too_many_sandboxes", "message": "x"}}),
    ),
    fault("exec", "agent_death", seconds=0.05),
    fault("exec", "status", status=401, body="invalid access token"),
    fault(
        "exec",
        "status",
        status=404,
        body=json.dumps({"error": {"code": "sandbox_route_stale", "message": "x"}}),
    ),
    once("create", "status", status=401, body=JSON_ERROR),
    once("create", "status_after", status=201, body="[]"),
    once("exec", "status", status=200, body="{}"),
    once("exec", "status", status=200, body=LYING),
)


def at_most_once(faults: list[dict[str, object]]) -> bool:
    """Whether no fault of those that are to strike once is there twice."""
    seldom = [(each["route"], each["status"]) for each in faults if each.get("status") in (200, 201, 401)]
    return len(seldom) == len(set(seldom))


@given(
    faults=st.lists(FAULT, min_size=1, max_size=4).filter(at_most_once),
    seed=st.integers(0, 1000),
    warm=st.sampled_from([0, 0, 2]),
    rate=st.sampled_from([20.0, 1000.0]),
)
@settings(
    max_examples=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_result_is_right_or_there_is_none(service, faults, seed, warm, rate):
    """Under any schedule of faults: no wrong result, no sandbox left, never over the cap, no hang."""
    service.tell("reset")
    service.tell("configure", requests_per_second=rate, burst=int(2 * rate), max_sandboxes=CAP)
    service.tell("seed", value=seed)
    for each in faults:
        service.tell("fault", **each)
    programs = [python(f"print({number} * 7)") for number in range(PROGRAMS)]
    started = time.monotonic()

    results = outcomes(
        programs,
        max_sandboxes=CAP,
        warm=warm,
        warm_seconds=30.0,
        patience_seconds=PATIENCE,
        drain_seconds=10.0,
    )

    assert time.monotonic() - started < PATIENCE + SLACK
    for number, result in enumerate(results):
        if isinstance(result, Run):
            command = result.commands[0]
            assert (command.status, command.stdout) == (Status.EXITED, b"%d\n" % (number * 7))
        else:
            assert isinstance(result, BackendUnavailable), repr(result)
    service.tell("clear_faults")
    assert service.violations() == []
    assert service.state()["most_at_once"] <= CAP
