"""Threads of the executor's own, for the SDK's blocking calls."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
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
        self._lock = threading.Lock()
        self._count = 0
        self._idle: list[SimpleQueue[Job | None]] = []
        self._backlog: deque[Job] = deque()
        self._closed = False

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Run `function` in a thread: the one that became idle last, whose connections are warm."""
        future: Future[T] = Future()
        with self._lock:
            if self._idle:
                self._idle.pop().put((future, function))
            elif self._count < self._most:
                self._count += 1
                inbox: SimpleQueue[Job | None] = SimpleQueue()
                inbox.put((future, function))
                threading.Thread(
                    target=self._work, args=(inbox,), name="codereward-superserve", daemon=True
                ).start()
            else:
                self._backlog.append((future, function))
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
            self._closed = True
            while self._idle:
                self._idle.pop().put(None)

    def _work(self, inbox: SimpleQueue[Job | None]) -> None:
        while (job := inbox.get()) is not None:
            _carry_out(*job)
            del job  # else an idle thread keeps the last result alive
            with self._lock:
                if self._backlog:
                    inbox.put(self._backlog.popleft())
                elif self._closed:
                    return
                else:
                    self._idle.append(inbox)


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
