"""The executor `local`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from codereward import (
    BackendMisconfigured,
    BackendUnavailable,
    CommandResult,
    Executor,
    Limits,
    Program,
    Run,
)

from codereward_local import payload, reading
from codereward_local.bwrap import Box
from codereward_local.inside import wire
from codereward_local.interpreter import Interpreter, choose

__all__ = ["LocalExecutor"]

PAGE_SLACK = 64 * 4096
SLACK_SECONDS = 10.0


class LocalExecutor(Executor):
    """Runs every program in a sandbox of its own on this machine.

    Args:
        workers: Programs at once; more wait. Default: the number of processors.
        python: Path or name of the interpreter that programs see as `python3` and `python`.
            Default: the one that runs codereward if it can be made visible, else `python3` on PATH.
    """

    def __init__(self, *, workers: int | None = None, python: str | None = None) -> None:
        if workers is not None and workers < 1:
            msg = f"LocalExecutor: workers must be at least 1, not {workers}"
            raise ValueError(msg)
        self.workers = workers or os.cpu_count() or 1
        self.python = python
        self._live: _Live | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """The configuration alone: what is live stays in this process."""
        return {"workers": self.workers, "python": self.python}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc] # an unused one of the same configuration

    async def run(self, program: Program) -> Run:
        """Run `program` in a fresh sandbox.

        Raises:
            BackendUnavailable: The sandbox broke down.
            BackendMisconfigured: Programs cannot be isolated here, or a language is not installed.
            ValueError: A file's path leaves the working directory.
        """
        packed = payload.pack(program)
        live = self._alive()
        job = _Job(program, packed, live.interpreter)
        future = asyncio.wrap_future(live.threads.submit(job.run))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            job.cancel()
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()
            raise

    async def aclose(self) -> None:
        """Destroy everything that is still alive. `run` may be called again after."""
        with self._lock:
            live, self._live = self._live, None
        if live is not None and live.owner == os.getpid():
            await asyncio.to_thread(live.threads.shutdown)

    def _alive(self) -> _Live:
        with self._lock:
            if self._live is None or self._live.owner != os.getpid():
                self._live = _Live(self.workers, self.python)
            return self._live


class _Live:
    """What one process has open for an executor."""

    def __init__(self, workers: int, python: str | None) -> None:
        self.owner = os.getpid()
        self.interpreter = choose(python, for_all=os.geteuid() == 0)
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="codereward-local")


OPEN: weakref.WeakSet[Box] = weakref.WeakSet()


def _forget() -> None:
    """In a forked child: the parent's sandboxes must see the end of the parent alone."""
    for box in list(OPEN):
        box.channel.close()


os.register_at_fork(after_in_child=_forget)


class _Job:
    """One program on its way through a sandbox."""

    def __init__(self, program: Program, packed: bytes, interpreter: Interpreter) -> None:
        self.program = program
        self.packed = packed
        self.interpreter = interpreter
        self.cancelled = False
        self.box: Box | None = None

    def cancel(self) -> None:
        """End the program now; `run` returns soon after. Called from another thread."""
        self.cancelled = True
        if self.box is not None:
            with contextlib.suppress(OSError):
                self.box.channel.shutdown(socket.SHUT_RDWR)  # both sides see the end

    def run(self) -> Run:
        """Run the program; called in a thread."""
        commands = ([self.program.build] if self.program.build else []) + list(self.program.commands)
        limits = [payload.limits_of(each, self.program) for each in commands]
        box = self.box = Box(self.interpreter, max(each.disk_bytes for each in limits) + PAGE_SLACK)
        OPEN.add(box)
        try:
            if self.cancelled:
                raise BackendUnavailable("cancelled")
            return self._talk(box)
        finally:
            box.close()

    def _talk(self, box: Box) -> Run:
        try:
            box.channel.settimeout(SLACK_SECONDS)
            box.give(self.packed)
            results = []
            commands = ([self.program.build] if self.program.build else []) + list(self.program.commands)
            for position, command in enumerate(commands):
                limits = payload.limits_of(command, self.program)
                box.channel.settimeout(limits.wall_seconds + SLACK_SECONDS)
                report, fds = wire.receive(box.channel)
                if "laying" in report:
                    limit = "disk_bytes" if report["laying"] in (27, 28) else None
                    text = f"the program's files could not be written: {report['text']}"
                    results = [reading.not_started(text, limit)] * len(commands)
                    break
                results.append(self._read(report, fds, limits))
                if position == 0 and self.program.build and results[0].exit_code != 0:
                    results += [reading.not_started("the build failed")] * len(self.program.commands)
                    break
        except (wire.Closed, TimeoutError) as error:
            if self.cancelled:
                raise BackendUnavailable("cancelled", True) from None
            raise self._broken(box, error) from error
        build = results.pop(0) if self.program.build else None
        return Run(tuple(results), build)

    def _read(self, report: dict[str, Any], fds: list[int], limits: Limits) -> CommandResult:
        try:
            if "missing" in report:
                name = report["missing"]
                msg = (
                    f"{name!r} is not installed in the sandbox; install it under /usr (`apt install {name}`)"
                )
                raise BackendMisconfigured(msg)
            if "refused" in report:
                return reading.not_started(f"cannot start: {os.strerror(report['refused'])}")
            return reading.read_result(report, fds, limits)
        finally:
            for fd in fds:
                os.close(fd)

    def _broken(self, box: Box, error: Exception) -> Exception:
        box.channel.close()
        try:
            box.process.wait(1)
        except Exception:  # noqa: BLE001 - it hangs, that is all there is to say
            return BackendUnavailable(f"the sandbox does not answer: {error!r}", True)
        said = box.complaint()
        if said.startswith("bwrap:"):
            return BackendMisconfigured(
                f"cannot isolate programs here: {said}. User namespaces must be allowed: "
                "`sysctl user.max_user_namespaces=10000`, `sysctl kernel.unprivileged_userns_clone=1`, "
                "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container run it with "
                "seccomp, apparmor and systempaths unconfined"
            )
        return BackendUnavailable(f"the sandbox ended early: {said[-1000:]}", True)
