"""How many sandboxes at once, and how many calls a second: limits that adapt to what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Final

__all__ = ["Bucket", "Places"]

SHRINK: Final = 0.8
"""Factor on the number of places when the service says that there are too many sandboxes."""
SLOW_DOWN: Final = 0.9
"""Factor on the rate when the service says that there are too many requests."""
CALM_SECONDS: Final = 2.0
"""Refusals of requests sent before the last reduction say nothing new; they are counted once."""
RECOVER: Final = 0.02
"""Part of the full rate that is regained each second."""


class Places:
    """Sandboxes that may exist at once; shrinks on refusal, grows back on success.

    A place is held from before the creation until the deletion is confirmed.
    """

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.allowed = float(most)
        self.held = 0
        self._now = now
        self._shrunk_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> bool:
        """Whether somebody waits for a place."""
        return any(not each.done() for each in self._waiting)

    @property
    def free(self) -> int:
        """Places that nobody holds."""
        return max(0, int(self.allowed) - self.held)

    async def take(self) -> None:
        """Wait for a place, first come first served."""
        if self.free > 0 and not self.waiting:
            self.held += 1
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self.give_back()  # it was called up in the very moment it was cancelled
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(ticket)

    def give_back(self) -> None:
        """Give a place back, to the next who waits."""
        self.held -= 1
        self._call_up()

    def worked(self) -> None:
        """A sandbox was created: allow one more after as many successes as there are places."""
        if self.allowed < self.most:
            self.allowed = min(float(self.most), self.allowed + 1.0 / self.allowed)
            self._call_up()

    def refused(self) -> None:
        """The service refused one more sandbox: hold fewer."""
        if self._now() - self._shrunk_at >= CALM_SECONDS:
            self._shrunk_at = self._now()
            self.allowed = max(1.0, min(self.allowed, float(self.held)) * SHRINK)

    def _call_up(self) -> None:
        while self._waiting and self.free > 0:
            ticket = self._waiting.popleft()
            if not ticket.done():
                self.held += 1
                ticket.set_result(None)


class Bucket:
    """A token bucket for calls to the control plane.

    Args:
        rate: Calls per second in the long run.
        burst: Calls at once after a pause.
    """

    def __init__(self, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self.full_rate = rate
        self.rate = rate
        self.burst = max(1.0, burst)
        self._now = now
        self._tokens = self.burst
        self._at = now()
        self._slowed_at = float("-inf")

    async def take(self) -> None:
        """Wait for this call's turn, first come first served."""
        self._refill()
        self._tokens -= 1.0
        if self._tokens < 0:
            await self._sleep(-self._tokens / self.rate)

    async def _sleep(self, seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self._tokens += 1.0
            raise

    def refused(self) -> None:
        """The service refused a call: go slower, and let those that wait come later."""
        now = self._now()
        if now - self._slowed_at >= CALM_SECONDS:
            self._refill()
            self._slowed_at = now
            self.rate = max(self.full_rate / 20, self.rate * SLOW_DOWN)
            self._tokens = min(self._tokens, 0.0)

    def _refill(self) -> None:
        now = self._now()
        passed, self._at = now - self._at, now
        self._tokens = min(self.burst, self._tokens + passed * self.rate)
        self.rate = min(self.full_rate, self.rate + passed * RECOVER * self.full_rate)
