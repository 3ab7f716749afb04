"""The team's quotas."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Quotas", "TokenBucket"]


@dataclass(slots=True)
class Quotas:
    """Settings, all changeable while the emulator runs; the defaults are the service's."""

    requests_per_second: float = 20.0
    burst: int = 40
    max_sandboxes: int = 50
    max_in_flight_per_ip: int = 100


@dataclass(slots=True)
class TokenBucket:
    """Counts control-plane requests of one team."""

    quotas: Quotas
    now: Callable[[], float]
    tokens: float = field(init=False)
    at: float = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.at = float(self.quotas.burst), self.now()

    def take(self) -> int:
        """Take one token. Seconds to wait when there is none, 0 when there was one."""
        now = self.now()
        gained = (now - self.at) * self.quotas.requests_per_second
        self.tokens, self.at = min(self.tokens + gained, float(self.quotas.burst)), now
        if self.tokens >= 1.0:
            self.tokens -= 1.0
            return 0
        return max(1, math.ceil((1.0 - self.tokens) / self.quotas.requests_per_second))

    def refill(self) -> None:
        """Start anew, full."""
        self.tokens, self.at = float(self.quotas.burst), self.now()
