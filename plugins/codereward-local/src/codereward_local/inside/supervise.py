"""The first process of a sandbox: runs a program's commands one after another, and watches them.

Being process 1 of its own process namespace it cannot be killed from within, and everything it
cannot see the end of ends with it. Not being dumpable, it cannot be traced or read.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from codereward_local.inside import files, launch, limits, wire

__all__ = ["main"]

PR_SET_DUMPABLE = 4


def main(channel: socket.socket) -> None:
    """Take one program from the channel, run it, and send a report for each command."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores what it does not handle
    _message, (payload,) = wire.receive(channel)
    program = marshal.loads(wire.read_all(payload))  # noqa: S302 - made by the host
    try:
        files.lay(program["files"])
    except OSError as error:
        wire.send(channel, {"laying": error.errno, "text": str(error)})
        return
    for position, command in enumerate(program["commands"]):
        report, fds = Supervised(channel, command).run()
        wire.send(channel, report, fds)
        for fd in fds:
            os.close(fd)
        if position == 0 and program["build"] and report["status"] != 0:
            return


class Supervised:
    """One command under watch."""

    def __init__(self, channel: socket.socket, command: dict[str, Any]) -> None:
        self.channel = channel
        self.command = command
        self.limit: str | None = None
        self.peak_threads = 0
        self.cpu = 0.0
        self.disk = os.open(files.ROOT, os.O_RDONLY | os.O_CLOEXEC)
        self.outputs = [wire.to_memory("stdout"), wire.to_memory("stderr")]

    def run(self) -> tuple[dict[str, Any], list[int]]:
        """Run it to its end: the report, and descriptors of its outputs and its result."""
        path, place = files.make_result_place()
        file = launch.find(self.command["argv"][0], self.command["path"])
        report: dict[str, Any] = {"status": None}
        if file is None:
            report["missing"] = os.fsdecode(self.command["argv"][0])
        else:
            self.command["env"][b"CODEREWARD_RESULT"] = os.fsencode(path)
            report = self._start(file)
        result = files.open_result(place)
        os.close(place)
        os.close(self.disk)
        return report, [*self.outputs, *([] if result is None else [result])]

    def _start(self, file: bytes) -> dict[str, Any]:
        stdin = wire.to_memory("stdin", self.command["stdin"])
        failed, failing = os.pipe2(os.O_CLOEXEC)
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            _become_or_tell(file, self.command, (stdin, *self.outputs), failing)
        os.close(failing)
        os.close(stdin)
        self._watch(pid, began)
        report = {"status": self._end(pid), "wall": time.monotonic() - began, "limit": self.limit}
        refused = os.read(failed, 64)
        os.close(failed)
        if refused:
            report = {"status": None, "refused": int(refused)}
        usage = limits.look(self.outputs, self.disk, {os.getpid()})
        return {
            **report,
            "cpu": self.cpu,
            "limit": self.limit or limits.exceeded(usage, self.command["limits"]),
            "disk_full": not os.fstatvfs(self.disk).f_bavail,
            "threads": self.peak_threads,
        }

    def _watch(self, pid: int, began: float) -> None:
        """Return when the process has ended or is over a limit, or the host has gone."""
        ended = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self.channel, select.POLLIN)
        deadline = began + self.command["limits"]["wall_seconds"]
        while self.limit is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self.limit = "wall_seconds"
                break
            events = poll.poll(1000 * min(left, limits.LOOK_SECONDS))
            if any(fd != ended for fd, _event in events):
                os._exit(1)  # the host has gone, and with this process everything goes
            if events:
                break
            self._look()
        os.close(ended)

    def _look(self) -> None:
        usage = limits.look(self.outputs, self.disk, {os.getpid()})
        self.peak_threads = max(self.peak_threads, usage.threads)
        self.limit = limits.exceeded(usage, self.command["limits"])

    def _end(self, pid: int) -> int:
        """Kill everything but this process; the wait status of `pid`."""
        status = 0
        # At the wall limit the command may still be alive; at its own end only what it left is.
        found, own, usage = os.wait4(pid, os.WNOHANG)
        if found:
            status = own
            self.cpu += usage.ru_utime + usage.ru_stime
        _kill_all()
        while True:
            try:
                found, other, usage = os.wait4(-1, 0)
            except ChildProcessError:
                return status
            self.cpu += usage.ru_utime + usage.ru_stime
            if found == pid:
                status = other


def _kill_all() -> None:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return


def _become_or_tell(file: bytes, command: dict[str, Any], stdio: tuple[int, int, int], failing: int) -> None:
    try:
        launch.become(file, command, stdio, already=1)
    except OSError as error:
        os.write(failing, str(error.errno).encode())
    except BaseException:  # noqa: BLE001 - nothing may get back into the supervisor's own code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(127)
