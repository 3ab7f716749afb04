"""Process 1 of a sandbox that holds several commands: runs one after another, and watches them.

It cannot be killed from within, and what it starts ends with it. Not being dumpable, it cannot be
traced or read by the program, which has the same user.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING, Any

from codereward_local.inside import files, kernel, launch, python, sandbox, wire
from codereward_local.inside.watch import Watch, report

if TYPE_CHECKING:
    import socket

    from codereward_local.inside.seccomp import Filter

__all__ = ["Supervisor"]

OWN_PROCESSES = 1


class Supervisor:
    """Runs the commands of one program in the sandbox it is in.

    Args:
        channel: The way to the host.
        program: The program, as the host packed it.
        narrow: The filter each command gets.
    """

    def __init__(self, channel: socket.socket, program: dict[str, Any], narrow: Filter) -> None:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores what it does not handle
        self.channel = channel
        self.program = program
        self.narrow = narrow
        self.failed = False

    def run(self) -> Any:
        """Run all commands and end; in a process made for a Python script, return it loaded."""
        for position, command in enumerate(self.program["commands"]):
            file = launch.find(command)
            if file is None:
                wire.send(self.channel, {"missing": os.fsdecode(command["argv"][0])})
                break
            script = self._command(file, command)
            if script is not None:
                return script
            if position == 0 and self.program["build"] and self.failed:
                break
        os._exit(0)

    def _command(self, file: bytes, command: dict[str, Any]) -> Any:
        path, place = files.make_result_place()
        command["env"][wire.RESULT_VARIABLE] = os.fsencode(path)
        outputs = [wire.to_memory("stdout"), wire.to_memory("stderr")]
        stdin = wire.to_memory("stdin", command["stdin"])
        failed, failing = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if not pid:
            return self._become(file, command, (stdin, *outputs), failing)
        os.close(stdin)
        os.close(failing)
        disk = os.open(files.ROOT, os.O_RDONLY | os.O_CLOEXEC)
        watch = Watch(command["limits"], outputs, disk, {os.getpid()})
        ended = os.pidfd_open(pid)
        watch.wait(ended)
        status, cpu = _end(pid)
        message, fds = report(watch, status, cpu, place)
        self.failed = status != 0 or message["limit"] is not None
        wire.send(self.channel, message | refusal(failed), fds)
        for fd in (*fds, disk, ended):
            os.close(fd)
        return None

    def _become(self, file: bytes, command: dict[str, Any], stdio: tuple[int, ...], failing: int) -> Any:
        script = None if self.program["fresh"] else python.accept(command)
        try:
            sandbox.give_up_rights(command["limits"], OWN_PROCESSES, self.narrow)
        except OSError:
            os.write(failing, b"-1")
            os._exit(1)
        launch.connect(stdio, -1 if script else failing)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.channel.detach()
        if script is None:
            launch.replace(file, command, failing)
        return script.load()


def refusal(failed: int) -> dict[str, Any]:
    """What the kernel said to the command's file, if it refused it; closes the descriptor."""
    said = os.read(failed, 64)
    os.close(failed)
    return {"refused": int(said)} if said else {}


def _end(pid: int) -> tuple[int, float]:
    """Kill everything but this process: the wait status of `pid`, and the processor time of all."""
    status, cpu = 0, 0.0
    found, own, usage = os.wait4(pid, os.WNOHANG)  # before a kill could replace its own end
    if found:
        status, cpu = own, usage.ru_utime + usage.ru_stime
    with contextlib.suppress(ProcessLookupError):  # nothing is left
        os.kill(-1, signal.SIGKILL)
    while True:
        try:
            found, other, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return status, cpu
        cpu += usage.ru_utime + usage.ru_stime
        if found == pid:
            status = other
