"""What an error of the SDK means: one function, most specific first.

The SDK's own classes tell less than they seem to: network failures come as a bare `SandboxError`,
malformed replies leak errors of the JSON decoder and of pydantic, and the same class means another
thing when a sandbox is created than when a program runs in it. `classify` looks at the class, the
status, the code, the chain of causes and the stage, and answers in terms of what to do.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Final, Literal

import httpx
import superserve
from superserve.errors import BuildError

__all__ = ["DeadlinePassed", "Failure", "Kind", "Stage", "classify"]

Stage = Literal["preflight", "create", "write", "exec", "read"]
"""What was asked of the service when it failed."""

CONTROL: Final = ("preflight", "create")
"""Stages in which a wrong configuration shows."""

REDIRECTS: Final = range(300, 400)
TRY_AGAIN: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY)
NEVER_SERVED: Final = (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
HOPELESS: Final = (ssl.SSLCertVerificationError, httpx.UnsupportedProtocol, httpx.LocalProtocolError)
NOBODY_THERE: Final = (socket.gaierror, ConnectionRefusedError)

FIX_KEY: Final = "check api_key of SuperserveExecutor or the variable SUPERSERVE_API_KEY"
FIX_ADDRESS: Final = (
    "check base_url of SuperserveExecutor or the variable SUPERSERVE_BASE_URL, and HTTPS_PROXY and "
    "SSL_CERT_FILE if you use them"
)
FIX_TEMPLATE: Final = "check templates and template of SuperserveExecutor"
FIX_VERSION: Final = (
    "the service and the installed superserve package do not fit: upgrade codereward-superserve"
)


class Kind(Enum):
    """What to do about a failure."""

    PERMANENT = "no retry can help"
    CONFIRM = "no retry can help, if it comes back"
    TRANSIENT = "try again on a fresh sandbox"
    UNREACHABLE = "nobody answers at the address"
    THROTTLED = "too many requests: slow down"
    CAPPED = "too many sandboxes: hold fewer"
    CONGESTED = "too many commands at once: run fewer"
    WAITING = "not ready yet: come back in a while"
    MALFORMED = "an answer that nobody can read"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, understood."""

    kind: Kind
    stage: Stage
    message: str
    """What happened, for people."""
    fix: str = ""
    """What to do about it, for a permanent one."""
    started: bool = False
    """Whether the program may have begun to run."""
    created: bool = False
    """Whether a sandbox may exist that nobody knows of."""
    confirmations: int = 1
    """For `CONFIRM`: how often it has to come back."""


class DeadlinePassed(Exception):  # noqa: N818 - reads as what happened
    """A call to the service took longer than it may; it goes on in its thread, unheeded."""


Meaning = tuple[Kind, str]
"""Kind and fix."""


def classify(error: BaseException, stage: Stage) -> Failure:
    """Say what an error that a call to the SDK raised means.

    Args:
        error: What was raised.
        stage: What was asked for.
    """
    kind, fix = next(meaning for rule in RULES if (meaning := rule(error, stage)) is not None)
    status = getattr(error, "status_code", None)
    code = getattr(error, "code", None)
    details = ", ".join(str(part) for part in (status, code) if part is not None)
    name = type(error).__name__ + (f" ({details})" if details else "")
    return Failure(
        kind=kind,
        stage=stage,
        message=f"Superserve, {stage}: {name}: {str(error)[:500].rstrip('.')}",
        fix=fix,
        started=stage == "exec" and not _never_sent(error),
        created=stage == "create" and status_leaves_doubt(error),
        confirmations=3 if isinstance(error, superserve.ConflictError) else 1,
    )


def _never_sent(error: BaseException) -> bool:
    """Whether the service certainly did not start the command."""
    return isinstance(error, superserve.RateLimitError) or _caused_by(error, *NOT_SENT)


def status_leaves_doubt(error: BaseException) -> bool:
    """Whether a sandbox may have been created all the same."""
    if _caused_by(error, *NOT_SENT):
        return False
    status = getattr(error, "status_code", None)
    return status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _caused_by(error: BaseException, *classes: type[BaseException]) -> bool:
    return any(isinstance(each, classes) for each in _chain(error))


# --------------------------------------------------------------------------- the rules, in order


def _our_own_text(error: BaseException, _: Stage) -> Meaning | None:
    if isinstance(error, UnicodeError):  # a ValueError, but not a malformed reply
        return Kind.PERMANENT, f"a text cannot be sent as it is; {FIX_KEY}"
    return None


def _deadline(error: BaseException, _: Stage) -> Meaning | None:
    return (Kind.TRANSIENT, "") if isinstance(error, DeadlinePassed) else None


def _authentication(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.AuthenticationError):
        return None
    if "Missing API key" in str(error):
        return Kind.PERMANENT, "set the variable SUPERSERVE_API_KEY or pass api_key= to SuperserveExecutor"
    if stage in CONTROL:  # the service says so too when its own key look-up fails
        return Kind.CONFIRM, FIX_KEY
    return Kind.TRANSIENT, ""


def _validation(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.ValidationError):
        return None
    if "maximum size" in str(error):  # the SDK's own, when a download is longer than it may be
        return Kind.TRANSIENT, ""
    return (
        Kind.PERMANENT,
        f"{FIX_TEMPLATE} and metadata; else {FIX_VERSION}" if stage == "create" else FIX_VERSION,
    )


def _not_found(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.NotFoundError):
        return None
    if stage not in CONTROL:
        return Kind.TRANSIENT, ""
    return Kind.PERMANENT, FIX_ADDRESS if error.code is None else FIX_TEMPLATE


def _conflict(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.ConflictError):
        return None
    if stage not in CONTROL:
        return Kind.TRANSIENT, ""
    text = str(error)
    if "status=building" in text or "status=pending" in text:
        return Kind.WAITING, ""
    return (Kind.PERMANENT if "status=failed" in text else Kind.CONFIRM), FIX_TEMPLATE


def _rate_limit(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.RateLimitError):
        return None
    if stage not in CONTROL:
        return Kind.CONGESTED, ""
    return (Kind.CAPPED if error.code == "too_many_sandboxes" else Kind.THROTTLED), ""


def _server(error: BaseException, stage: Stage) -> Meaning | None:
    if not isinstance(error, superserve.ServerError):
        return None
    if stage in CONTROL and error.status_code in NEVER_SERVED:
        return Kind.PERMANENT, FIX_ADDRESS
    if stage == "write" and error.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
        return Kind.CONFIRM, "the program is larger than the template's disk; use one with a larger disk"
    return (Kind.WAITING if error.code == "host_state_missing" else Kind.TRANSIENT), ""


def _timeout(error: BaseException, _: Stage) -> Meaning | None:
    return (Kind.TRANSIENT, "") if isinstance(error, superserve.SandboxTimeoutError) else None


def _build(error: BaseException, _: Stage) -> Meaning | None:
    return (Kind.PERMANENT, FIX_TEMPLATE) if isinstance(error, BuildError) else None


def _other_status(error: BaseException, stage: Stage) -> Meaning | None:
    """Statuses without a class of their own: 402, 410, 413, redirects and so on."""
    if not isinstance(error, superserve.SandboxError) or error.status_code is None:
        return None
    if error.status_code in TRY_AGAIN or (stage not in CONTROL and error.status_code not in REDIRECTS):
        return Kind.TRANSIENT, ""
    if error.status_code == HTTPStatus.PAYMENT_REQUIRED:
        return Kind.PERMANENT, "check the team's plan and billing at Superserve"
    return Kind.PERMANENT, FIX_ADDRESS if error.status_code in REDIRECTS else FIX_VERSION


def _network(error: BaseException, _: Stage) -> Meaning | None:
    if isinstance(error, httpx.InvalidURL) or _caused_by(error, *HOPELESS):
        return Kind.PERMANENT, FIX_ADDRESS
    if _caused_by(error, *NOBODY_THERE):
        return Kind.UNREACHABLE, FIX_ADDRESS
    return (Kind.TRANSIENT, "") if _caused_by(error, httpx.HTTPError) else None


def _programming(error: BaseException, _: Stage) -> Meaning | None:
    if isinstance(error, RuntimeError):  # NotImplementedError is one of them
        return Kind.PERMANENT, "this is a bug of codereward-superserve; please report it"
    return None


def _anything(_: BaseException, __: Stage) -> Meaning | None:
    """Replies that the SDK could not read: errors of json, pydantic and plain Python leak out."""
    return Kind.MALFORMED, FIX_VERSION


Rule = Callable[[BaseException, Stage], Meaning | None]
RULES: Final[tuple[Rule, ...]] = (
    _our_own_text,
    _deadline,
    _authentication,
    _validation,
    _not_found,
    _conflict,
    _rate_limit,
    _server,
    _timeout,
    _build,
    _other_status,
    _network,
    _programming,
    _anything,
)
