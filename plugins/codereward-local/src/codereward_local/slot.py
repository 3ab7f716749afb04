"""One worker's place: a box, and running programs in it one after another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from codereward import (
    BackendMisconfigured,
    BackendUnavailable,
    CommandResult,
    Limits,
    Program,
    Run,
    Status,
)

from codereward_local import payload, reading
from codereward_local.box import Box, Plan
from codereward_local.inside import wire

__all__ = ["Slot"]

SLACK_SECONDS: Final = 10.0
"""How much later than a command's wall limit the box may answer before it is given up."""
DONE: Final = {"done": True}
NO_ROOM: Final = (27, 28, 122)
"""EFBIG, ENOSPC, EDQUOT."""


class Slot:
    """A box that runs one program at a time.

    Args:
        plan: What the box looks like.
        number: Which of this process's boxes it is.
        known: As `Box`.
    """

    def __init__(self, plan: Plan, number: int, known: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self.box = Box(plan, number, known)
        self.runs = 0
        self.sound = True
        """Whether it may be used again."""
        self._plan = plan

    def run(self, program: Program, packed: bytes) -> Run:
        """Run a program to its end; raises what `begin` and `finish` raise."""
        self.begin(program, packed)
        return self.finish(program)

    def begin(self, program: Program, packed: bytes) -> None:
        """Hand a program over; it starts at once.

        Raises:
            BackendUnavailable: The box is gone; the program never began.
        """
        self.runs += 1
        self.sound = False  # until the box has said that it is done
        try:
            self._hand_over(program, packed)
        except (wire.Closed, OSError) as error:
            raise self._broken(error, started=False) from error

    def finish(self, program: Program) -> Run:
        """Wait for the end of the program that was handed over.

        Raises:
            BackendUnavailable: The box broke down.
            BackendMisconfigured: A command is not installed.
        """
        try:
            return _Collection(self, program).collect()
        except (wire.Closed, OSError) as error:
            raise self._broken(error, started=True) from error

    def _broken(self, error: Exception, *, started: bool) -> BackendUnavailable:
        said = self.box.said() if self.box.is_open else ""
        msg = f"a sandbox broke down ({type(error).__name__}: {error}) {said}"
        return BackendUnavailable(msg.strip(), started)

    def stop(self) -> None:
        """End the running program now; called from another thread than `finish`."""
        with contextlib.suppress(OSError, wire.Closed):
            wire.instruct(self.box.channel, {"stop": True})

    def close(self) -> None:
        """End the box and everything in it."""
        self.sound = False
        self.box.close()

    def _hand_over(self, program: Program, packed: bytes) -> None:
        commands = payload.commands_of(program)
        message = {
            "single": self.box.guarded and len(commands) == 1,
            "limits": payload.plain(payload.limits_of(commands[0], program)),
        }
        fd = wire.to_memory("program", packed)
        try:
            wire.instruct(self.box.channel, message, [fd])
        finally:
            os.close(fd)


class _Collection:
    """Gathers the reports on one program."""

    def __init__(self, slot: Slot, program: Program) -> None:
        self.slot = slot
        self.program = program
        self.results: list[CommandResult] = []
        self.fault: BackendMisconfigured | BackendUnavailable | None = None

    def collect(self) -> Run:
        """Read reports until the box is done with the program."""
        commands = payload.commands_of(self.program)
        while True:
            position = min(len(self.results), len(commands) - 1)
            limits = payload.limits_of(commands[position], self.program)
            self.slot.box.channel.settimeout(limits.wall_seconds + SLACK_SECONDS)
            report, fds = wire.receive(self.slot.box.channel)
            try:
                if report != DONE:
                    self._take(report, fds, limits)
            finally:
                for fd in fds:
                    os.close(fd)
            if "done" in report:
                break
        self.slot.sound = not isinstance(self.fault, BackendUnavailable)
        if self.fault:
            raise self.fault
        return self._run(len(commands))

    def _take(self, report: dict[str, Any], fds: tuple[int, ...], limits: Limits) -> None:
        if "missing" in report:
            self.fault = BackendMisconfigured(_missing(report["missing"]))
        elif "broken" in report:
            self.fault = BackendUnavailable(
                f"a sandbox could not run its program: {report['broken']}", started=True
            )
        elif "laying" in report:
            text = f"the program's files could not be written: {report['text']}"
            limit = "disk_bytes" if report["laying"] in NO_ROOM else None
            self.results = [reading.not_started(text, limit)] * len(payload.commands_of(self.program))
        elif "refused" in report:
            self._refused(report["refused"])
        else:
            self.results.append(reading.read_result(report, fds, limits))

    def _refused(self, number: int) -> None:
        if number < 0:
            self.fault = BackendUnavailable("a sandbox could not limit its program", started=True)
        else:
            self.results.append(reading.not_started(f"cannot start: {os.strerror(number)}"))

    def _run(self, expected: int) -> Run:
        lacking = expected - len(self.results)
        if lacking and not self._build_failed():
            raise BackendUnavailable(
                "a sandbox ended before all commands of its program had run", started=True
            )
        results = [*self.results, *[reading.not_started("the build failed")] * lacking]
        build = results.pop(0) if self.program.build else None
        return Run(tuple(results), build)

    def _build_failed(self) -> bool:
        first = self.results[0] if self.results else None
        return bool(self.program.build and first and (first.status, first.exit_code) != (Status.EXITED, 0))


def _missing(name: str) -> str:
    return (
        f"{name!r} is not installed where sandboxed programs can see it; install it system-wide (under /usr), "
        f"for example with `apt install {name}`"
    )
