"""Sandboxes from birth to death: created within the quotas, used once, always destroyed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from superserve import NetworkConfig, Sandbox

from codereward_superserve.inventory import TAG_KEY, Entry, Inventory, find_by_tag
from codereward_superserve.mapping import DeadlinePassed, Failure, Kind, Stage, classify
from codereward_superserve.quotas import Bucket, Places
from codereward_superserve.settings import Settings
from codereward_superserve.threads import Threads

__all__ = ["MARK_KEY", "RUN_KEY", "Box", "Boxes", "StageFailed"]

MARK_KEY: Final = "codereward"
"""Metadata key that every sandbox of codereward carries, with the value `1`."""
RUN_KEY: Final = "codereward-run"
"""Metadata key that names the run."""

BURST_OF_RATE: Final = 2.0
"""The service allows twice its rate at once."""
DELETE_SECONDS: Final = 100.0
"""Time for one deletion: the SDK itself tries for up to 81 s while the service answers 409."""
LOOK_AGAIN: Final = (1, 4, 10)
"""When the sandbox of a creation without an answer is looked for: pauses, in `backoff_seconds`."""
LOOK_SELDOM: Final = 20
"""The same, later on."""
EXPIRY_SLACK: Final = 60.0
"""The service's clock acts every 30 s."""
MOST_DELAY: Final = 15.0

log = logging.getLogger(__name__)
T = TypeVar("T")


class StageFailed(Exception):  # noqa: N818 - reads as what happened
    """A call to the service failed; `failure` says what it means."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(slots=True)
class Box:
    """A sandbox that is ready to run one program."""

    handle: Sandbox
    entry: Entry
    template: str
    born: float
    """On the monotonic clock."""
    lifetime: float
    """Seconds after its birth at which the service destroys it."""

    def left(self) -> float:
        """Seconds that it has still to live."""
        return self.born + self.lifetime - time.monotonic()


class Boxes:
    """Creates and destroys sandboxes; belongs to one event loop."""

    def __init__(self, settings: Settings, threads: Threads) -> None:
        share = settings.share()
        rate = 2 * settings.create_rate / share
        self.settings = settings
        self.threads = threads
        self.inventory = Inventory()
        self.places = Places(max(1, settings.max_sandboxes // share))
        self.bucket = Bucket(rate, BURST_OF_RATE * rate)
        self.counts: Counter[str] = Counter()
        self.last_good: dict[Stage, float] = {}
        run = settings.run_name or os.environ.get("TORCHELASTIC_RUN_ID") or uuid.uuid4().hex[:12]
        self._metadata = {**settings.metadata, MARK_KEY: "1", RUN_KEY: run}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    # ---- calls

    async def call(
        self,
        stage: Stage,
        function: Callable[[], T],
        seconds: float,
        late: Callable[[Future[T]], None] | None = None,
    ) -> T:
        """Make one call to the service.

        Raises:
            StageFailed: It failed.
        """
        try:
            result = await self.threads.call(function, seconds, late)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise StageFailed(classify(error, stage)) from error
        if stage != "exec":  # whether that went well shows when the reply is read
            self.worked(stage)
        return result

    def worked(self, stage: Stage) -> None:
        """Note that the service answered properly."""
        self.last_good[stage] = time.monotonic()

    # ---- birth

    async def create(self, template: str, lifetime: int) -> Box:
        """Create a sandbox, as soon as the quotas allow it.

        Raises:
            StageFailed: The service did not give one.
        """
        await self.places.take()
        entry = Entry(uuid.uuid4().hex, time.monotonic() + lifetime + EXPIRY_SLACK)
        try:
            await self.bucket.take()
        except BaseException:
            self.places.give_back()
            raise
        self.inventory.add(entry)
        try:
            born = time.monotonic()
            handle = await self._ask_for_one(template, lifetime, entry)
        except BaseException as error:
            self._not_created(entry, error)
            raise
        entry.sandbox_id, entry.pending = handle.id, False
        self.counts["created"] += 1
        self.places.worked()
        return Box(handle, entry, template, born, lifetime)

    async def _ask_for_one(self, template: str, lifetime: int, entry: Entry) -> Sandbox:
        ask = partial(
            Sandbox.create,
            name=f"codereward-{entry.tag[:12]}",
            from_template=template,
            timeout_seconds=lifetime,
            auto_delete_seconds=0,
            metadata={**self._metadata, TAG_KEY: entry.tag},
            network=NetworkConfig(deny_out=["0.0.0.0/0"]),
            preview_access="private",
            **self.settings.credentials(),  # type: ignore[arg-type] # keywords of one type
        )

        def late(call: Future[Sandbox]) -> None:
            if not call.cancelled() and call.exception() is None:
                entry.sandbox_id = call.result().id
            entry.pending = False

        return await self.call("create", ask, self.settings.call_seconds, late)

    def _not_created(self, entry: Entry, error: BaseException) -> None:
        """Give the place back at once, or when it is certain that there is no sandbox."""
        if isinstance(error, StageFailed):
            kind = error.failure.kind
            if kind is Kind.CAPPED:
                self.places.refused()
            elif kind is Kind.THROTTLED:
                self.bucket.refused()
            self.counts[kind.name.lower()] += 1
            entry.pending = entry.pending and isinstance(error.__cause__, DeadlinePassed)
            if not error.failure.created:
                self._gone(entry)
                return
        self.counts["creations_without_answer"] += 1
        self._spawn(self._find_and_delete(entry))

    # ---- death

    def discard(self, box: Box) -> None:
        """Destroy a sandbox in the background; its place stays held until that is confirmed."""
        self._spawn(self._delete(box.entry))

    async def _find_and_delete(self, entry: Entry) -> None:
        """Destroy the sandbox of a creation whose answer was lost, if there is one."""
        unit = self.settings.backoff_seconds
        for delay in LOOK_AGAIN:
            await asyncio.sleep(delay * unit)
            if await self._found(entry):
                await self._delete(entry)
                return
        while time.monotonic() < entry.expires and (entry.pending or not await self._is_absent(entry)):  # noqa: ASYNC110 - nobody signals it
            await asyncio.sleep(max(0.1, LOOK_SELDOM * unit))
        if entry.sandbox_id is not None:
            await self._delete(entry)
        else:
            self._gone(entry)

    async def _found(self, entry: Entry) -> bool:
        with contextlib.suppress(StageFailed):
            if entry.sandbox_id is None:
                entry.sandbox_id = next(iter(await self._listed(entry.tag)), None)
        return entry.sandbox_id is not None

    async def _is_absent(self, entry: Entry) -> bool:
        """Whether the service answered that there is no such sandbox."""
        with contextlib.suppress(StageFailed):
            return entry.sandbox_id is not None or not await self._listed(entry.tag)
        return False

    async def _listed(self, tag: str) -> list[str]:
        await self.bucket.take()
        look = partial(find_by_tag, tag, self.settings.credentials())
        return await self.call("preflight", look, self.settings.call_seconds)

    async def _delete(self, entry: Entry) -> None:
        tries = 0
        while time.monotonic() < entry.expires:
            if await self._deleted(entry):
                self._gone(entry)
                self.counts["deleted"] += 1
                return
            tries += 1
            self.counts["failed_deletions"] += 1
            await asyncio.sleep(min(MOST_DELAY, 0.25 * 2**tries) * random.uniform(0.7, 1.3))  # noqa: S311 - jitter
        log.warning("Superserve sandbox %s could not be deleted and is left to expire", entry.sandbox_id)
        self.counts["left_to_expire"] += 1
        self._gone(entry)

    async def _deleted(self, entry: Entry) -> bool:
        """Delete by id: a handle's own `kill` does nothing after it failed once."""
        await self.bucket.take()
        kill = partial(Sandbox.kill_by_id, str(entry.sandbox_id), **self.settings.credentials())
        try:
            await self.threads.call(kill, DELETE_SECONDS)
        except DeadlinePassed:
            return False
        except Exception as error:  # noqa: BLE001 - never the completion's concern
            if classify(error, "create").kind is Kind.THROTTLED:
                self.bucket.refused()
            log.debug("Superserve sandbox %s was not deleted: %s", entry.sandbox_id, error)
            return False
        return True

    def _gone(self, entry: Entry) -> None:
        self.inventory.remove(entry)
        self.places.give_back()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def any_alive(self) -> bool:
        """Whether a sandbox of ours, or of another rank or run of codereward, exists."""
        if any(entry.sandbox_id is not None for entry in self.inventory.entries()):
            return True
        look = partial(Sandbox.list, metadata={MARK_KEY: "1"}, **self.settings.credentials())  # type: ignore[arg-type] # keywords of one type
        try:
            await self.bucket.take()
            return bool(await self.call("preflight", look, self.settings.call_seconds))
        except StageFailed:
            return True  # nobody knows

    async def drain(self) -> None:
        """Wait until everything discarded is gone."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def stop(self) -> None:
        """End what is under way; what is not gone stays in the inventory."""
        for task in self._tasks:
            task.cancel()
