"""A pool of connections sized for the executor's threads.

The SDK keeps 20 idle connections for both of its hosts together, and each for 5 seconds. With more
than ten threads, or at each training step after a longer generation, most calls would open a new
connection with two handshakes. One large pool is no better: the time that httpcore takes to pick a
connection grows with the square of their number (at 100 of them, 8 ms of processor time for each
completion). So every thread has a client, with few connections, of its own.

The SDK's client is private: it is replaced only where it looks exactly as it did when this was
written. Else the SDK is left as it is, and works, slower.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final

import httpx
from superserve import _http

__all__ = ["ClientPerThread", "enlarge_pool"]

KEEP_SECONDS: Final = 55.0
"""Idle time after which a connection is closed; load balancers commonly close theirs after 60 s."""
CONNECTIONS: Final = 4
"""Idle connections of one thread: one for each of the service's two hosts, and some slack."""

log = logging.getLogger(__name__)


class ClientPerThread(httpx.Client):
    """Looks like one client, and sends each request with the calling thread's own.

    Args:
        before: The client that it replaces. Others may be using it, so it is closed with this one.
    """

    def __init__(self, before: httpx.Client | None = None) -> None:
        self._context = httpx.create_ssl_context()
        super().__init__(timeout=_http.DEFAULT_TIMEOUT, verify=self._context)
        self._own = threading.local()
        self._all: list[httpx.Client] = [] if before is None else [before]

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; redirects are not followed, as with the SDK's own client."""
        client: httpx.Client | None = getattr(self._own, "client", None)
        if client is None:
            client = self._own.client = self._make()
        return client.send(request, **options)

    def _make(self) -> httpx.Client:
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEEP_SECONDS
        )
        client = httpx.Client(timeout=_http.DEFAULT_TIMEOUT, limits=limits, verify=self._context)
        self._all.append(client)
        return client

    def close(self) -> None:
        """Close the clients of all threads."""
        super().close()
        while self._all:
            self._all.pop().close()


def enlarge_pool() -> bool:
    """Have the SDK use a client per thread. Whether it does."""
    if not _as_expected():
        log.info("superserve %s: its connection pool is left as it is", getattr(_http, "SDK_VERSION", "?"))
        return False
    with _http._shared_lock:  # noqa: SLF001 - see the module's docstring
        if not isinstance(_http._shared, ClientPerThread):  # noqa: SLF001
            _http._shared = ClientPerThread(_http._shared)  # noqa: SLF001
    return True


def _as_expected() -> bool:
    version = str(getattr(_http, "SDK_VERSION", ""))
    if not version.startswith("0.11."):
        return False
    lock = getattr(_http, "_shared_lock", None)
    current = getattr(_http, "_shared", lock)  # any wrong type will do where there is none
    return hasattr(lock, "__enter__") and (current is None or isinstance(current, httpx.Client))
