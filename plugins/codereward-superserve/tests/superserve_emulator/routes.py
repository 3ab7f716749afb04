"""Names of routes: what faults, delays and the log call a request."""

from __future__ import annotations

import re

__all__ = ["route_name"]

NAMES = (
    ("POST", r"/sandboxes", "create"),
    ("GET", r"/sandboxes", "list"),
    ("GET", r"/sandboxes/[^/]+", "get"),
    ("DELETE", r"/sandboxes/[^/]+", "delete"),
    ("PATCH", r"/sandboxes/[^/]+", "update"),
    ("POST", r"/sandboxes/[^/]+/activate", "activate"),
    ("POST", r"/sandboxes/[^/]+/resume", "resume"),
    ("POST", r"/sandboxes/[^/]+/pause", "pause"),
    ("GET", r"/templates", "templates"),
    ("POST", r"/exec", "exec"),
    ("POST", r"/exec/stream", "exec_stream"),
    ("GET", r"/exec/connect", "spawn"),
    ("POST", r"/files", "write"),
    ("GET", r"/files", "read"),
)
PATTERNS = tuple((method, re.compile(path), name) for method, path, name in NAMES)


def route_name(method: str, path: str) -> str:
    """A short name such as `create`, `exec`, `delete`; `other` for the rest."""
    for known, pattern, name in PATTERNS:
        if known == method and pattern.fullmatch(path):
            return name
    return "other"
