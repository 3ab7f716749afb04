"""Where asynchronous work happens: one event loop in a thread of its own, and the door to it.

Trainers call rewards from scripts, notebooks with a running loop, worker threads, forked and spawned
processes. All of them go through a `Door`: it starts its loop at the first use, is never pickled,
and is replaced whole in the child of a fork.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread  # noqa: F401 - its hook at the end has to be registered before ours
import logging
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from codereward.errors import ConfigError

__all__ = ["Door"]

logger = logging.getLogger("codereward")

T = TypeVar("T")

CLOSE_SECONDS: Final = 30.0
"""How long closing, and an interrupted call, waits for sandboxes to be destroyed."""

_doors: weakref.WeakSet[Door] = weakref.WeakSet()


class Door:
    """A way into an event loop that runs in a thread of its own.

    Args:
        aclose: Makes the coroutine that frees what the loop's work holds; called once when the
            door closes, on its loop.
    """

    def __init__(self, aclose: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._aclose = aclose
        self._state = _State()
        _doors.add(self)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the loop and wait for it, from any thread but the loop's own.

        When the wait is interrupted (Ctrl-C), the work is cancelled and its clean-up awaited.
        """
        ended = threading.Event()
        future = self.submit(work, ended.set)
        try:
            return future.result()
        except BaseException:
            if not ended.is_set():
                future.cancel()
                ended.wait(CLOSE_SECONDS)
            raise

    def submit(self, work: Coroutine[Any, Any, T], ended: Callable[[], None] | None = None) -> Future[T]:
        """Start `work` on the loop; cancelling the future cancels the work."""
        state = self._state
        if state.thread is threading.current_thread():
            work.close()
            msg = "a pipeline was called from its own event loop (an observer or a component calls it): await it instead"
            raise ConfigError(msg)
        return asyncio.run_coroutine_threadsafe(_with_end(work, ended), state.loop())

    def close(self) -> None:
        """Free everything and stop the loop. Idempotent; the next use starts a new one."""
        state, self._state = self._state, _State()
        state.stop(self._aclose)

    def close_at_exit(self, owner: object) -> None:
        """Close when `owner` is collected, or the interpreter exits, whichever comes first."""
        weakref.finalize(owner, _close_in, os.getpid(), self)

    def reset(self) -> None:
        """Forget everything, locks included: in the child of a fork, the loop's thread is gone."""
        self._state = _State()


class _State:
    """One loop and its thread; replaced, never repaired."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self.lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self.thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="codereward", daemon=True
                )
                self.thread.start()
            return self._loop

    def stop(self, aclose: Callable[[], Coroutine[Any, Any, None]]) -> None:
        with self.lock:
            loop, thread, self._loop = self._loop, self.thread, None
        if loop is None or thread is None or thread is threading.current_thread():
            return
        future = asyncio.run_coroutine_threadsafe(_finish(aclose), loop)
        try:
            future.result(CLOSE_SECONDS)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(CLOSE_SECONDS)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


async def _with_end(work: Coroutine[Any, Any, T], ended: Callable[[], None] | None) -> T:
    try:
        return await work
    finally:
        if ended is not None:
            ended()


async def _finish(aclose: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Cancel what still runs, wait for its clean-up, then free the rest."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        if not task.cancelling():  # a second one would interrupt the clean-up that the first began
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await aclose()


def _close_in(pid: int, door: Door) -> None:
    """Close, but only in the process that opened: a fork inherits finalizers."""
    if pid == os.getpid():
        door.close()


def _after_fork() -> None:
    for door in _doors:
        door.reset()


def _close_all() -> None:
    """Close every door while threads can still be started, without which hardly an executor can clean up."""
    for door in list(_doors):
        try:
            door.close()
        except Exception:
            logger.exception("a pipeline could not be closed at the end of the interpreter")


os.register_at_fork(after_in_child=_after_fork)
# `atexit` is too late: thread pools are shut by then. It also passes over the children of multiprocessing.
threading._register_atexit(_close_all)  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public one
