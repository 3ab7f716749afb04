"""What `codereward doctor` is told: does the service answer, know the key, and have the templates?"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Final, Literal

import superserve
from codereward import BackendError, BackendMisconfigured, Finding
from superserve import TemplateStatus

from codereward_superserve.boxes import StageFailed

__all__ = ["diagnosed"]

KEYS_FAULT: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN)
"""Statuses by which a service that is the right one turns a key, or its team, away."""

Part = Literal["host", "key"]


async def diagnosed(
    look: Callable[[str], Awaitable[TemplateStatus | None]], templates: Sequence[str], base_url: str | None
) -> list[Finding]:
    """One finding for each of host, key and templates, up to the first that keeps the rest from being seen.

    Args:
        look: Asks for a template's status, and raises `BackendError` when the service cannot be asked
            or has no such template.
        templates: Those that are set.
        base_url: The address as it is set; `None`: not at all.
    """
    found = []
    for template in templates:
        name = f"template {template}"
        try:
            status = await look(template)
        except BackendError as error:
            if not about_template(error):
                return _not_served(failed_call(error), str(error), base_url)
            found.append(Finding(name, passed=False, detail=str(error)))
        else:
            said = "given by its id, which only a creation proves" if status is None else status.value
            found.append(Finding(name, passed=True, detail=said))
    return [_host(base_url), Finding("key", passed=True, detail="accepted"), *found]


def failed_call(error: BackendError) -> BaseException | None:
    """What the SDK raised when the error is about a call; `None` when none failed."""
    behind = error.__context__  # `Trial` raises while it handles the failed call
    return behind.__cause__ if isinstance(behind, StageFailed) else None


def about_template(error: BackendError) -> bool:
    """Whether the service answered, and what it said about the template is the error."""
    return isinstance(error, BackendMisconfigured) and failed_call(error) is None


def _not_served(raised: BaseException | None, detail: str, base_url: str | None) -> list[Finding]:
    """Findings when the service did not do what was asked; who turns a key away has answered."""
    part = part_at_fault(raised)
    answered = part == "key" and turned_away(raised)
    return [*([_host(base_url)] if answered else []), Finding(part, passed=False, detail=detail)]


def turned_away(error: BaseException | None) -> bool:
    """Whether the service itself refused; the SDK refuses on its own where no key is set."""
    return getattr(error, "status_code", None) in KEYS_FAULT and "Missing API key" not in str(error)


def part_at_fault(error: BaseException | None) -> Part:
    """Whether the key or the host has to be mended."""
    if isinstance(error, superserve.AuthenticationError | UnicodeError):
        return "key"
    return "key" if getattr(error, "status_code", None) in KEYS_FAULT else "host"


def _host(base_url: str | None) -> Finding:
    where = base_url or os.environ.get("SUPERSERVE_BASE_URL") or "the one of the key's region"
    return Finding("host", passed=True, detail=where)
