"""The tries of one program: what a failure costs, how long to wait, and when to give up."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from codereward import BackendMisconfigured, BackendUnavailable

from codereward_superserve.mapping import Failure, Kind, Stage
from codereward_superserve.settings import Settings

__all__ = ["Trial"]

UNREACHABLE_TRIES: Final = 4
"""A wrong address fails at once and for ever; a resolver that hiccups recovers in a few seconds."""
MALFORMED_TRIES: Final = 2
CAPPED_SECONDS: Final = 60.0
"""Time after which a refused sandbox, with none of ours at the service, is nobody's to wait for."""
MOST_DELAY: Final = 15.0
CAP_FIX: Final = (
    "the team's limit of sandboxes is used up by others: raise the limit, or delete what is not used "
    "(codereward_superserve.reap() finds codereward's own leftovers)"
)

Sort = tuple[Kind, Stage | None]
"""What failures are counted by."""


def sort_of(failure: Failure) -> Sort:
    """Its kind; for a strange reply the call too: one reply here and one there prove nothing."""
    return failure.kind, failure.stage if failure.kind is Kind.MALFORMED else None


class Trial:
    """Budget of one program.

    Args:
        settings: Where the limits are.
        last_good: When a call of each stage last succeeded, on the monotonic clock.
        any_alive: Tells whether a sandbox of codereward exists at the service.
    """

    def __init__(
        self, settings: Settings, last_good: Mapping[Stage, float], any_alive: Callable[[], Awaitable[bool]]
    ) -> None:
        self._settings = settings
        self._last_good = last_good
        self._any_alive = any_alive
        self._seen: Counter[Sort] = Counter()
        self._first: dict[Sort, float] = {}
        self._failed = 0
        self.lost = 0
        """Tries in which the program may have run."""

    async def after(self, failure: Failure) -> None:
        """Wait before the next try.

        Raises:
            BackendUnavailable: The budget is spent.
            BackendMisconfigured: No further try can help.
        """
        self._seen[sort_of(failure)] += 1
        self._first.setdefault(sort_of(failure), time.monotonic())
        if self._hopeless(failure) or await self._capped_by_others(failure):
            raise BackendMisconfigured(f"{failure.message}. To mend it: {self._fix(failure)}")
        if failure.kind not in (Kind.THROTTLED, Kind.CAPPED, Kind.CONGESTED, Kind.WAITING):
            self._spend(failure)
        await asyncio.sleep(self._delay(failure.kind))

    def _spend(self, failure: Failure) -> None:
        self._failed += 1
        self.lost += failure.started
        settings = self._settings
        if self.lost >= settings.lost_attempts:
            self.give_up(f"{failure.message} (the program may have been running, {self.lost} times)")
        if self._failed >= settings.attempts or self._unreachable(failure):
            self.give_up(f"{failure.message} (after {self._failed} tries)")

    def give_up(self, reason: str) -> None:
        """Raise `BackendUnavailable`."""
        raise BackendUnavailable(reason, self.lost > 0)

    # ---- when no retry can help

    def _hopeless(self, failure: Failure) -> bool:
        if failure.kind is Kind.PERMANENT:
            return True
        if failure.kind is Kind.CONFIRM:
            if self._last_good.get(failure.stage, 0.0) > self._first[sort_of(failure)]:
                self._seen[sort_of(failure)] = 1  # it passed: others were served in between
                self._first[sort_of(failure)] = time.monotonic()
            return self._seen[sort_of(failure)] > failure.confirmations
        if failure.kind is Kind.UNREACHABLE:  # an address that never worked
            return not self._last_good and self._unreachable(failure)
        if failure.kind is Kind.MALFORMED:
            return self._seen[sort_of(failure)] >= MALFORMED_TRIES and not self._ever_readable(failure)
        return False

    async def _capped_by_others(self, failure: Failure) -> bool:
        if failure.kind is not Kind.CAPPED:
            return False
        waited = time.monotonic() - self._first[sort_of(failure)]
        return waited > CAPPED_SECONDS and not await self._any_alive()

    def _unreachable(self, failure: Failure) -> bool:
        return failure.kind is Kind.UNREACHABLE and self._seen[sort_of(failure)] >= UNREACHABLE_TRIES

    def _ever_readable(self, failure: Failure) -> bool:
        """Whether such calls are answered properly to others.

        For `exec` a good answer at any time counts: a program that took its machine over could
        answer in the agent's place, and must not be able to stop a training run.
        """
        last = self._last_good.get(failure.stage)
        return last is not None and (failure.stage == "exec" or last > self._first[sort_of(failure)])

    def _fix(self, failure: Failure) -> str:
        return CAP_FIX if failure.kind is Kind.CAPPED else failure.fix

    def _delay(self, kind: Kind) -> float:
        spread = random.uniform(0.5, 1.5)  # noqa: S311 - jitter
        unit = self._settings.backoff_seconds
        if kind in (Kind.THROTTLED, Kind.CAPPED, Kind.CONGESTED):
            return min(10, 3 + self._seen[kind, None]) * unit * spread
        if kind is Kind.WAITING:
            return 10 * unit * spread
        if kind is Kind.CONFIRM:
            return 3 * unit * spread
        return float(min(MOST_DELAY, unit * 2 ** (self._failed - 1)) * spread)
