"""The mapping covers every exception there is, most specific first."""

import inspect
import json
import socket
import ssl

import httpx
import pydantic
import pytest
import superserve
from hypothesis import given
from hypothesis import strategies as st
from superserve import errors

from codereward_superserve.mapping import CONTROL, DeadlinePassed, Kind, classify

STAGES = ("preflight", "create", "write", "exec", "read")

KNOWN = {
    "AuthenticationError",
    "BuildError",
    "ConflictError",
    "NotFoundError",
    "RateLimitError",
    "SandboxError",
    "SandboxTimeoutError",
    "ServerError",
    "ValidationError",
}


def chained(error, *causes):
    current = error
    for cause in causes:
        current.__cause__ = cause
        current = cause
    return error


def network(*causes):
    return chained(superserve.SandboxError("Network error: x"), *causes)


def test_the_sdk_has_no_exception_that_the_mapping_does_not_know():
    """A class that a new version of the SDK adds fails this test until somebody has decided about it."""
    found = {
        name
        for module in (superserve, errors, superserve._http)
        for name, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, Exception) and value.__module__.startswith("superserve")
    }

    assert found == KNOWN | {"DeadlineExceeded"}


CASES = [
    (superserve.AuthenticationError("Missing API key. Pass"), "create", Kind.PERMANENT),
    (superserve.AuthenticationError("no"), "create", Kind.CONFIRM),
    (superserve.AuthenticationError("no", status_code=403), "preflight", Kind.CONFIRM),
    (superserve.AuthenticationError("no"), "exec", Kind.TRANSIENT),
    (superserve.ValidationError("no"), "create", Kind.PERMANENT),
    (superserve.ValidationError("no"), "exec", Kind.PERMANENT),
    (superserve.NotFoundError("no", "not_found"), "create", Kind.PERMANENT),
    (superserve.NotFoundError("no", "not_found"), "exec", Kind.TRANSIENT),
    (superserve.ConflictError("template is not ready (status=building)"), "create", Kind.WAITING),
    (superserve.ConflictError("template is not ready (status=failed)"), "create", Kind.PERMANENT),
    (superserve.ConflictError("other"), "create", Kind.CONFIRM),
    (superserve.ConflictError("other"), "exec", Kind.TRANSIENT),
    (superserve.RateLimitError("x", "too_many_sandboxes"), "create", Kind.CAPPED),
    (superserve.RateLimitError("x", "rate_limited"), "create", Kind.THROTTLED),
    (superserve.RateLimitError("x"), "create", Kind.THROTTLED),
    (superserve.RateLimitError("x"), "exec", Kind.CONGESTED),
    (superserve.ServerError("x", "host_state_missing", 503), "create", Kind.WAITING),
    (superserve.ServerError("x", None, 500), "create", Kind.TRANSIENT),
    (superserve.ServerError("x", None, 501), "create", Kind.PERMANENT),
    (superserve.ServerError("x", None, 505), "preflight", Kind.PERMANENT),
    (superserve.ServerError("x", None, 501), "exec", Kind.TRANSIENT),
    (superserve.ServerError("x", "sandbox_storage_full", 507), "write", Kind.CONFIRM),
    (superserve.SandboxTimeoutError(), "create", Kind.TRANSIENT),
    (superserve.BuildError("x", code="step_failed", build_id="b", template_id="t"), "create", Kind.PERMANENT),
    (superserve.SandboxError("x", 402), "create", Kind.PERMANENT),
    (superserve.SandboxError("x", 410), "create", Kind.PERMANENT),
    (superserve.SandboxError("x", 410), "exec", Kind.TRANSIENT),
    (superserve.SandboxError("x", 307), "exec", Kind.PERMANENT),
    (superserve.SandboxError("x", 408), "create", Kind.TRANSIENT),
    (superserve.SandboxError("Invalid API response: missing id"), "create", Kind.MALFORMED),
    (network(httpx.ReadError("x")), "create", Kind.TRANSIENT),
    (network(httpx.ProxyError("403")), "create", Kind.TRANSIENT),
    (network(httpx.ConnectError("x"), socket.gaierror()), "create", Kind.UNREACHABLE),
    (network(httpx.ConnectError("x"), ConnectionRefusedError()), "exec", Kind.UNREACHABLE),
    (network(httpx.ConnectError("x"), ssl.SSLCertVerificationError()), "create", Kind.PERMANENT),
    (network(httpx.UnsupportedProtocol("x")), "create", Kind.PERMANENT),
    (network(httpx.LocalProtocolError("x")), "create", Kind.PERMANENT),
    (httpx.InvalidURL("x"), "create", Kind.PERMANENT),
    (json.JSONDecodeError("x", "", 0), "create", Kind.MALFORMED),
    (AttributeError("x"), "exec", Kind.MALFORMED),
    (TypeError("x"), "exec", Kind.MALFORMED),
    (KeyError("x"), "exec", Kind.MALFORMED),
    (ValueError("x"), "create", Kind.MALFORMED),
    (UnicodeEncodeError("utf-8", "x", 0, 1, "x"), "exec", Kind.PERMANENT),
    (RuntimeError("client has been closed"), "create", Kind.PERMANENT),
    (NotImplementedError(), "create", Kind.PERMANENT),
    (DeadlinePassed("x"), "exec", Kind.TRANSIENT),
]


@pytest.mark.parametrize(("error", "stage", "kind"), CASES, ids=lambda value: str(value)[:60])
def test_each_error_has_its_kind(error, stage, kind):
    """The rows of the table, one by one."""
    assert classify(error, stage).kind is kind


def test_errors_of_pydantic_are_malformed_replies():
    """A field of the wrong type leaks pydantic's own error."""
    with pytest.raises(pydantic.ValidationError) as leaked:
        superserve.CommandResult(stdout=None, stderr="", exit_code=0)

    assert classify(leaked.value, "exec").kind is Kind.MALFORMED


@pytest.mark.parametrize(
    ("error", "started"),
    [
        (superserve.RateLimitError("x"), False),
        (network(httpx.ConnectError("x")), False),
        (network(httpx.ConnectTimeout("x")), False),
        (network(httpx.ReadError("x")), True),
        (superserve.ServerError("x", None, 502), True),
        (superserve.ServerError("x", None, 503), True),
        (superserve.SandboxTimeoutError(), True),
        (DeadlinePassed("x"), True),
        (ValueError("x"), True),
    ],
)
def test_only_what_was_never_sent_did_not_start(error, started):
    """`started` is false only when the service certainly did not run the program."""
    assert classify(error, "exec").started is started
    assert classify(error, "create").started is False


@pytest.mark.parametrize(
    ("error", "created"),
    [
        (superserve.ValidationError("x"), False),
        (superserve.RateLimitError("x"), False),
        (network(httpx.ConnectError("x")), False),
        (network(httpx.ReadError("x")), True),
        (superserve.ServerError("x", None, 504), True),
        (superserve.SandboxTimeoutError(), True),
        (json.JSONDecodeError("x", "", 0), True),
    ],
)
def test_a_creation_in_doubt_is_looked_after(error, created):
    """Whatever may have left a sandbox behind says so."""
    assert classify(error, "create").created is created


def test_a_permanent_failure_always_says_what_to_do():
    """Every permanent kind carries a way out."""
    for error, stage, kind in CASES:
        if kind in (Kind.PERMANENT, Kind.CONFIRM, Kind.MALFORMED, Kind.UNREACHABLE):
            assert classify(error, stage).fix, (error, stage)


@given(
    status=st.one_of(st.none(), st.integers(100, 599)),
    code=st.one_of(st.none(), st.text(max_size=20)),
    message=st.text(max_size=50),
    stage=st.sampled_from(STAGES),
)
def test_any_status_has_a_kind(status, code, message, stage):
    """No status, code or text is without an answer, and only the control plane's 4xx are permanent."""
    body = {"error": {"message": message, "code": code}}
    error = superserve.SandboxError(message) if status is None else errors.map_api_error(status, body)

    failure = classify(error, stage)

    assert failure.stage == stage
    if failure.kind is Kind.PERMANENT and stage not in CONTROL:
        assert status == 400 or 300 <= status < 400


@given(st.sampled_from(STAGES))
def test_circular_causes_do_not_hang(stage):
    """A chain of causes that leads back to itself ends."""
    error = superserve.SandboxError("x")
    error.__cause__ = httpx.ReadError("y")
    error.__cause__.__cause__ = error

    assert classify(error, stage).kind is Kind.TRANSIENT
