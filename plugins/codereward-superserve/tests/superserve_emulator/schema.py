"""Strict request bodies: unknown fields, floats and oversized values are refused."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Mapping

from .errors import Refusal, bad_request, plain

__all__ = ["CREATE", "EXEC", "PATCH", "SNAPSHOTLESS", "Fields", "check_fields", "parse_object"]

MAX_TIMEOUT = 604_800
MAX_AUTO_DELETE = 30 * 86_400
RESERVED = ("superserve.", "_superserve")
SNAPSHOTLESS = "snapshots are not emulated"

Check = Callable[[object], str | None]
Fields = Mapping[str, Check]


def _integer(low: int, high: int) -> Check:
    def check(value: object) -> str | None:
        if type(value) is not int:
            return "must be an integer"
        return None if low <= value <= high else f"must be between {low} and {high}"

    return check


def _optional(inner: Check) -> Check:
    return lambda value: None if value is None else inner(value)


def _text(most: int) -> Check:
    def check(value: object) -> str | None:
        if not isinstance(value, str) or not value:
            return "must be a non-empty string"
        return None if len(value) <= most else f"must be at most {most} characters"

    return check


def _strings(keys: int, key_bytes: int, value_bytes: int, total: int) -> Check:
    def check(value: object) -> str | None:
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            return "must be an object of strings"
        if len(value) > keys:
            return f"must have at most {keys} keys"
        if any(len(k.encode()) > key_bytes or len(v.encode()) > value_bytes for k, v in value.items()):
            return "has a key or a value that is too long"
        size = sum(len(key.encode()) + len(item.encode()) for key, item in value.items())
        return None if size <= total else "is too large"

    return check


def _metadata(value: object) -> str | None:
    if wrong := _strings(64, 256, 2048, 16384)(value):
        return wrong
    assert isinstance(value, dict)
    if any(key.startswith(RESERVED) for key in value):
        return "uses a reserved prefix"
    return None


def _network(value: object) -> str | None:
    if not isinstance(value, dict) or not set(value) <= {"allow_out", "deny_out"}:
        return "must hold allow_out and deny_out only"
    for cidr in value.get("deny_out") or []:
        try:
            ipaddress.IPv4Network(cidr)
        except ValueError:
            return f"deny_out takes IPv4 CIDRs only, not {cidr!r}"
    return None


def _one_of(*names: str) -> Check:
    return lambda value: None if value in names else f"must be one of {', '.join(names)}"


def _any_strings(value: object) -> str | None:
    good = isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return None if good else "must be an object of strings"


CREATE: Fields = {
    "name": _text(64),
    "from_template": _text(128),
    "from_snapshot": _text(64),
    "timeout_seconds": _integer(1, MAX_TIMEOUT),
    "auto_delete_seconds": _integer(0, MAX_AUTO_DELETE),
    "metadata": _metadata,
    "env_vars": _strings(64, 256, 8192, 65536),
    "secrets": _any_strings,
    "network": _network,
    "preview_access": _one_of("public", "private"),
}
PATCH: Fields = {
    "metadata": _metadata,
    "network": _network,
    "timeout_seconds": _optional(_integer(1, MAX_TIMEOUT)),
    "auto_delete_seconds": _optional(_integer(0, MAX_AUTO_DELETE)),
    "preview_access": _one_of("public", "private"),
}
EXEC: Fields = {
    "command": lambda value: None if isinstance(value, str) else "must be a string",
    "working_dir": lambda value: None if isinstance(value, str) else "must be a string",
    "env": _any_strings,
    "timeout_s": _integer(0, 86_400),
}


def parse_object(body: bytes, refusal: Callable[[str], Refusal] = bad_request) -> dict[str, object]:
    """The body as a JSON object."""
    try:
        value = json.loads(body)
    except ValueError:
        raise refusal("invalid JSON body") from None
    if not isinstance(value, dict):
        raise refusal("invalid JSON body")
    return value


def check_fields(
    value: Mapping[str, object], fields: Fields, refusal: Callable[[str], Refusal] = bad_request
) -> None:
    """Refuse unknown fields and values that the service's decoder would refuse."""
    for name, item in value.items():
        if name not in fields:
            raise refusal(f"unknown field {name!r}")
        if wrong := fields[name](item):
            raise refusal(f"{name} {wrong}")


def agent_refusal(message: str) -> Refusal:
    """400 as the in-guest agent writes it."""
    return plain(400, message)
