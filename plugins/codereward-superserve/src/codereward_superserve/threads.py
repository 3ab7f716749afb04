"""Threads of the executor's own, for the SDK's blocking calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from codereward_superserve.mapping import DeadlinePassed

__all__ = ["Threads"]

T = TypeVar("T")
Job = tuple[Future[Any], Callable[[], Any]]


class Threads:
    """Daemon threads, started as needed.

    Not a `ThreadPoolExecutor`: its threads are joined when the interpreter ends, so that a call
    that hangs would keep the trainer from exiting.

    Args:
        most: Threads at once. A call given up still occupies its thread until the SDK returns.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Run `function` in a thread."""
        future: Future[T] = Future()
        with self._lock:
            self._jobs.put((future, function))
            if self._jobs.qsize() > self._idle and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._work, name="codereward-superserve", daemon=True).start()
        return future

    async def call(
        self, function: Callable[[], T], seconds: float, late: Callable[[Future[T]], None] | None = None
    ) -> T:
        """Run `function` in a thread and wait for it.

        Args:
            function: The blocking call.
            seconds: How long to wait.
            late: Called with the call's future, in any thread, when it ends or is cancelled after
                nobody waits for it any longer.

        Raises:
            DeadlinePassed: It did not return in time.
        """
        future = self.submit(function)
        waiter = asyncio.wrap_future(future)
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                return await asyncio.shield(waiter)
        except TimeoutError:
            if not clock.expired():
                raise
            _abandon(future, waiter, late)
            raise DeadlinePassed(f"no answer within {seconds:g} s") from None
        except asyncio.CancelledError:
            _abandon(future, waiter, late)
            raise

    def close(self) -> None:
        """Let the threads end when their calls do."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)
            self._threads = self._most

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            job = self._jobs.get()
            with self._lock:
                self._idle -= 1
            if job is None:
                return
            _carry_out(*job)
            del job  # else an idle thread keeps the last result alive


def _carry_out(future: Future[Any], function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits
        future.set_exception(error)
    else:
        future.set_result(result)


def _abandon(future: Future[T], waiter: asyncio.Future[T], late: Callable[[Future[T]], None] | None) -> None:
    waiter.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else asks
    future.cancel()
    if late is not None:
        future.add_done_callback(late)
