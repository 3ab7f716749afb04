"""The workers of an executor in one process: threads, and a box for each."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from codereward import BackendError, BackendUnavailable, Program, Run

from codereward_local import payload, selftest
from codereward_local.box import Plan, make_plan
from codereward_local.slot import Slot

__all__ = ["Job", "Pool"]

TRIES: Final = 2
"""Boxes tried before a program that certainly never began is given up."""
MOST_KNOWN: Final = 2**20
"""Bytes of scripts that a fork server compiles in advance."""

_open_slots: weakref.WeakSet[Slot] = weakref.WeakSet()
_numbers: Final = itertools.count(os.getpid() * 8)
"""Numbers for boxes: those of processes started together should differ."""


def _forget_parents_slots() -> None:
    """In a forked child: the boxes must see the end of the parent, not of this copy."""
    for slot in list(_open_slots):
        slot.box.channel.close()
    _open_slots.clear()


os.register_at_fork(after_in_child=_forget_parents_slots)


class Job:
    """A program on its way through a worker."""

    def __init__(self, program: Program, *, fresh: bool) -> None:
        self.program = program
        self.fresh = fresh
        self._lock = threading.Lock()
        self._slot: Slot | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """End the program now, or keep it from beginning."""
        with self._lock:
            self._cancelled = True
            if self._slot is not None:
                self._slot.stop()

    def run(self, slot: Slot, path: str) -> Run:
        """Run the program; called in a worker's thread.

        Raises:
            BackendUnavailable: It was cancelled before, or the sandbox broke down.
            BackendMisconfigured: A command is not installed.
        """
        packed = payload.pack(self.program, path, fresh=self.fresh)
        with self._lock:  # a stop must never overtake the program that it is for
            if self._cancelled:
                raise BackendUnavailable("cancelled before it began")
            slot.begin(self.program, packed)
            self._slot = slot
        try:
            return slot.finish(self.program)
        finally:
            with self._lock:
                self._slot = None


class Pool:
    """Threads with a box each, made when they are first needed.

    Args:
        workers: Threads and boxes.
        python: As `LocalExecutor`.
        preimport: As `LocalExecutor`.
        max_runs: As `LocalExecutor`.
    """

    def __init__(self, workers: int, python: str | None, preimport: tuple[str, ...], max_runs: int) -> None:
        self.owner = os.getpid()
        self._python = python
        self._preimport = preimport
        self._max_runs = max_runs
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="codereward-local")
        self._lock = threading.Lock()
        self._planning = threading.Lock()
        self._plan: Plan | None = None
        self._free: list[Slot] = []
        self._slots: set[Slot] = set()
        self._jobs: set[Job] = set()
        self._closed = False
        self._known: dict[str, bytes] = {}

    def submit(self, job: Job) -> Future[Run]:
        """Have a worker run the job."""
        with self._lock:
            self._jobs.add(job)
        return self._threads.submit(self._work, job)

    def close(self) -> None:
        """End all programs and boxes, and wait for it."""
        self._end_slots()
        self._threads.shutdown()  # what waits is told that it was cancelled, and raises
        self._end_slots()

    def abandon(self) -> None:
        """As `close`, for a pool that nobody waits for; leaves a parent's pool alone."""
        if self.owner == os.getpid():
            self._end_slots()
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _end_slots(self) -> None:
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            busy = self._slots - set(free)
            jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        for slot in busy:
            slot.stop()  # it may be in its self-test; its thread closes it
        for slot in free:
            self._discard(slot)

    def _work(self, job: Job) -> Run:
        self._learn(job.program)
        try:
            return self._attempt(job, self._ready_plan())
        finally:
            with self._lock:
                self._jobs.discard(job)

    def _learn(self, program: Program) -> None:
        """Keep the harness's own scripts for boxes yet to be made."""
        with self._lock:
            for name in program.scaffold & program.files.keys() - self._known.keys():
                size = sum(map(len, self._known.values())) + len(program.files[name])
                if name.endswith(".py") and size <= MOST_KNOWN:
                    self._known[name] = program.files[name]

    def _attempt(self, job: Job, plan: Plan) -> Run:
        for attempt in range(1, TRIES + 1):
            try:
                with self._slot(plan) as slot:
                    return job.run(slot, plan.path)
            except BackendUnavailable as error:
                if error.started or attempt == TRIES or self._closed:
                    raise
        raise AssertionError

    def _ready_plan(self) -> Plan:
        with self._planning:
            if self._plan is None:
                self._plan = self._tested_plan()
            return self._plan

    def _tested_plan(self) -> Plan:
        plan = make_plan(self._python, self._preimport)
        try:
            with self._slot(plan) as slot:
                selftest.require(slot, plan)
        except BackendError as error:
            if self._closed:  # which ended the self-test
                raise BackendUnavailable("closed before it began") from error
            raise
        return plan

    @contextmanager
    def _slot(self, plan: Plan) -> Iterator[Slot]:
        slot = self._take(plan)
        try:
            yield slot
        finally:
            self._give_back(slot)

    def _take(self, plan: Plan) -> Slot:
        with self._lock:
            if self._closed:
                raise BackendUnavailable("the executor was closed")
            if self._free:
                return self._free.pop()
            known = dict(self._known)
        slot = Slot(plan, next(_numbers), known)
        _open_slots.add(slot)
        with self._lock:
            self._slots.add(slot)
        return slot

    def _give_back(self, slot: Slot) -> None:
        with self._lock:
            reusable = slot.sound and slot.runs < self._max_runs and not self._closed
            if reusable:
                self._free.append(slot)
        if not reusable:
            self._discard(slot)

    def _discard(self, slot: Slot) -> None:
        with self._lock:
            self._slots.discard(slot)
        _open_slots.discard(slot)
        slot.close()
