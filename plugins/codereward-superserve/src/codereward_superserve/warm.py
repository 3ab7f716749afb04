"""Sandboxes created ahead of the programs that will run in them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict, deque
from typing import Final

from codereward_superserve.boxes import Box, Boxes, StageFailed

__all__ = ["WarmPool"]

LOOK_SECONDS: Final = 0.25
PAUSE_SECONDS: Final = 5.0
"""After a creation ahead of time failed, the next waits this long: programs come first."""


class WarmPool:
    """Keeps sandboxes of the templates in use ready. Each is handed out once, or dropped when stale."""

    def __init__(self, boxes: Boxes, size: int, seconds: float, lifetime: int) -> None:
        self._boxes = boxes
        self._size = size
        self._seconds = seconds
        self._lifetime = lifetime
        self._ready: defaultdict[str, deque[Box]] = defaultdict(deque)
        self._coming: Counter[str] = Counter()
        self._claims: defaultdict[str, deque[asyncio.Future[Box | None]]] = defaultdict(deque)
        self._used: dict[str, float] = {}
        self._pause_until = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._keeper: asyncio.Task[None] | None = None

    async def take(self, template: str, seconds: float) -> Box | None:
        """A sandbox with at least `seconds` to live, if one is ready or already on its way."""
        self._used[template] = time.monotonic()
        if self._size and self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        while self._ready[template]:
            box = self._ready[template].popleft()
            if box.left() >= seconds and not self._stale(box):
                return box
            self._boxes.discard(box)
        if seconds < self._lifetime and self._coming[template] > len(self._claims[template]):
            return await self._claim(template)
        return None

    async def _claim(self, template: str) -> Box | None:
        """The next sandbox that is ready; `None` when its creation failed."""
        claim: asyncio.Future[Box | None] = asyncio.get_running_loop().create_future()
        self._claims[template].append(claim)
        try:
            return await claim
        except asyncio.CancelledError:
            if claim.done() and not claim.cancelled() and (box := claim.result()) is not None:
                self._boxes.discard(box)
            raise

    def _deliver(self, template: str, box: Box | None) -> None:
        claims = self._claims[template]
        while claims:
            claim = claims.popleft()
            if not claim.done():
                claim.set_result(box)
                return
        if box is not None:
            self._ready[template].append(box)

    def make_room(self, template: str) -> None:
        """Drop a ready sandbox of another template when no place is free for this one."""
        if self._boxes.places.free > 0:
            return
        for other, ready in self._ready.items():
            if other != template and ready:
                self._boxes.discard(ready.popleft())
                return

    async def _keep(self) -> None:
        while True:
            self._drop_stale()
            self._create_ahead()
            await asyncio.sleep(LOOK_SECONDS)

    def _stale(self, box: Box) -> bool:
        return time.monotonic() - box.born > self._seconds

    def _drop_stale(self) -> None:
        for ready in self._ready.values():
            while ready and self._stale(ready[0]):
                self._boxes.discard(ready.popleft())

    def _create_ahead(self) -> None:
        now = time.monotonic()
        if now < self._pause_until:
            return
        for template, used in self._used.items():
            if now - used > self._seconds:
                continue
            missing = self._size - len(self._ready[template]) - self._coming[template]
            places = self._boxes.places
            for _ in range(0 if places.waiting else min(missing, places.free)):
                self._start(template)

    def _start(self, template: str) -> None:
        self._coming[template] += 1
        task = asyncio.get_running_loop().create_task(self._create(template))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _create(self, template: str) -> None:
        box = None
        try:
            box = await self._boxes.create(template, self._lifetime)
        except StageFailed:  # whoever needs a sandbox will meet the failure again and report it
            self._pause_until = time.monotonic() + PAUSE_SECONDS
        finally:
            self._coming[template] -= 1
            self._deliver(template, box)

    async def close(self) -> None:
        """Stop creating, and drop what is ready."""
        tasks = [*self._tasks, *([self._keeper] if self._keeper else [])]
        self._keeper = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for ready in self._ready.values():
            while ready:
                self._boxes.discard(ready.popleft())
