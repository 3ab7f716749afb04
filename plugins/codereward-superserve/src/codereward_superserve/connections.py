"""A pool of connections sized for the executor's threads.

The SDK keeps 20 idle connections for both of its hosts together, and each for 5 seconds. With more
than ten threads, or at each training step after a longer generation, most calls would open a new
connection with two handshakes. Its client is private, so it is replaced only where it looks exactly
as it did when this was written; else the SDK is left as it is, and works, slower.
"""

from __future__ import annotations

import logging
from typing import Final

import httpx
from superserve import _http

__all__ = ["enlarge_pool"]

KEEP_SECONDS: Final = 55.0
"""Idle time after which a connection is closed; load balancers commonly close theirs after 60 s."""

log = logging.getLogger(__name__)


def enlarge_pool(connections: int) -> bool:
    """Have the SDK keep up to `connections` idle connections. Whether it does."""
    if not _as_expected():
        log.info("superserve %s: its connection pool is left as it is", getattr(_http, "SDK_VERSION", "?"))
        return False
    with _http._shared_lock:  # noqa: SLF001 - see the module's docstring
        current = _http._shared  # noqa: SLF001
        if current is None or not getattr(current, "_codereward", False):
            client = httpx.Client(
                timeout=_http.DEFAULT_TIMEOUT,
                limits=httpx.Limits(
                    max_connections=None,
                    max_keepalive_connections=connections,
                    keepalive_expiry=KEEP_SECONDS,
                ),
            )
            client._codereward = True  # type: ignore[attr-defined] # noqa: SLF001 - our own mark
            _http._shared = client  # noqa: SLF001
    return True


def _as_expected() -> bool:
    version = str(getattr(_http, "SDK_VERSION", ""))
    if not version.startswith("0.11."):
        return False
    lock = getattr(_http, "_shared_lock", None)
    current = getattr(_http, "_shared", lock)  # any wrong type will do where there is none
    return hasattr(lock, "__enter__") and (current is None or isinstance(current, httpx.Client))
