"""The executor `local`."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from typing import Any

from codereward import Executor, Finding, Program, Run

from codereward_local import diagnosis, payload
from codereward_local.pool import Job, Pool
from codereward_local.preimport import DEFAULT_PREIMPORT

__all__ = ["DEFAULT_PREIMPORT", "LocalExecutor"]


class LocalExecutor(Executor):
    """Runs every program in a sandbox of its own on this machine.

    Each worker keeps an interpreter in a box without network, home or host files. For a program it
    forks into namespaces of the program's own: a few milliseconds for Python, a start of its own
    for everything else. See `docs/security-local.md` for what that holds and what not.

    Args:
        workers: Programs at once; more wait. Default: the number of processors.
        python: Path or name of the interpreter that programs see as `python3` and `python`.
            Default: the one that runs codereward, outside its virtual environment, if it can be
            made visible; else `python3` on PATH.
        preimport: Modules that are loaded before programs start. They cost a program that does not
            use them next to nothing. They must not start threads.
        fresh: Start an interpreter for each Python program instead of forking one that is warm:
            slower by the time an interpreter takes to start.
        max_runs: Programs after which a worker's box is made anew.

    Raises:
        ValueError: `workers` or `max_runs` is less than 1.
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        python: str | None = None,
        preimport: tuple[str, ...] = DEFAULT_PREIMPORT,
        fresh: bool = False,
        max_runs: int = 10_000,
    ) -> None:
        for name, value in (("workers", workers), ("max_runs", max_runs)):
            if value is not None and value < 1:
                msg = f"LocalExecutor: {name} must be at least 1, not {value}"
                raise ValueError(msg)
        self.workers = workers or os.cpu_count() or 1
        self.python = python
        self.preimport = tuple(preimport)
        self.fresh = fresh
        self.max_runs = max_runs
        self._make_unused()

    def _make_unused(self) -> None:
        self._lock = threading.Lock()
        self._pool: Pool | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The configuration alone: what is live stays in this process."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_unused()

    async def run(self, program: Program) -> Run:
        """Run `program` in a fresh sandbox.

        Raises:
            BackendUnavailable: The sandbox broke down.
            BackendMisconfigured: Programs cannot be isolated here, or a language is not installed.
        """
        if not payload.commands_of(program):
            return Run(())
        job = Job(program, fresh=self.fresh)
        future = asyncio.wrap_future(self._live().submit(job))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await _end(job, future)
            raise

    async def diagnose(self) -> list[Finding]:
        """Make a sandbox and try to get out of it; and look for what can run in one."""
        return await asyncio.to_thread(diagnosis.diagnose, self.python, self.preimport)

    async def aclose(self) -> None:
        """Destroy everything that is still alive. `run` may be called again after."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and pool.owner == os.getpid():
            await asyncio.to_thread(pool.close)

    def _live(self) -> Pool:
        if self._pool is not None and self._pool.owner != os.getpid():
            self._make_unused()  # this is a forked child: the pool, and perhaps the lock, are the parent's
        with self._lock:
            if self._pool is None:
                self._pool = Pool(self.workers, self.python, self.preimport, self.max_runs)
                weakref.finalize(self, self._pool.abandon)  # also at the interpreter's exit
            return self._pool


async def _end(job: Job, future: asyncio.Future[Run]) -> None:
    """End a cancelled job, and come back only when nothing of it is alive."""
    job.cancel()
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:  # again: the first one is raised when the job is over
            continue
    if not future.cancelled():
        future.exception()  # seen, so that the loop does not complain
