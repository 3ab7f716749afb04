"""The fork server: an interpreter with its modules loaded, forked once for each program.

It runs in the box, with one program at a time. It never reads a program, nor what one leaves: the
descriptors pass through its hands, and only the process made for a program looks at it. So nothing
of one program is in the memory that the next one is born with.
"""

from __future__ import annotations

import _thread
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import sys
import threading
from typing import Any, NoReturn

from codereward_local.inside import (
    files,
    guard,
    hooks,
    kernel,
    launch,
    limits,
    python,
    sandbox,
    seccomp,
    supervise,
    wire,
)
from codereward_local.inside.watch import Watch, report

__all__ = ["main"]

PROGRAM = b"program"
READY = b'{"ready": true}'
DONE = {"done": True}
GUARDS = 1
"""Processes of the sandbox itself beside a lone command."""
FAILED = 71
"""Exit code of a sandbox's first process that could not start the command."""


def main(channel: socket.socket) -> Any:
    """Serve programs until the host goes; in a process made for a Python script, return it loaded."""
    config, _fds = wire.take_instruction(channel)
    try:
        zygote = Zygote(channel, config)
    except (ImportError, OSError) as error:
        wire.send(channel, {"broken": f"{type(error).__name__}: {error}"})
        os._exit(1)
    wire.send(channel, {"up": True, "guarded": zygote.guard is not None})
    try:
        return zygote.serve()
    except wire.Closed:
        os._exit(0)


class Zygote:
    """The fork server's state: nothing in it comes from a program."""

    def __init__(self, channel: socket.socket, config: dict[str, Any]) -> None:
        self.channel = channel
        self.mine, self.childs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.guard = guard.make()
        self.entrance = sandbox.Entrance(os.getuid(), os.getgid())
        sys.path[:] = [each for each in sys.path if each]
        self.hooks = hooks.Hooks()
        with self.hooks.collected():
            for name in config["preimport"]:
                importlib.import_module(name)
        if _thread._count():
            raise ImportError("a module of preimport= has started a thread")
        python.know(config["known"])
        compile("", "", "exec")  # the first one makes the types of syntax trees: a millisecond, and memory
        self.thread_id = kernel.thread_id_address()
        self.narrow = seccomp.narrow()
        python.OWN[:] = [name for name in sys.modules if name.partition(".")[0] == "codereward_local"]
        python.KEPT.append(self)
        limits.apply_fixed()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        seccomp.wide().install()
        gc.collect()
        kernel.trim_memory()
        gc.disable()
        gc.freeze()

    def serve(self) -> Any:
        """Run programs one after another, each in a sandbox that stands ready before it comes."""
        while True:
            spare = self._spawn()
            if not isinstance(spare, Spare):
                return spare
            message, fds = self._next()
            wire.pass_on(self.mine, PROGRAM, fds)
            os.close(fds[0])
            self._oversee(message, spare)

    def _next(self) -> tuple[dict[str, Any], tuple[int, ...]]:
        while True:
            message, fds = wire.take_instruction(self.channel)
            if fds:
                return message, fds
            # Without a program: told to stop one that had just ended.

    def _spawn(self) -> Any:
        outputs = [wire.to_memory("stdout"), wire.to_memory("stderr")]
        if self.guard:
            self.guard.reset()
        for hook in self.hooks.before:
            hook()
        pid, ended = kernel.clone(sandbox.NAMESPACES, self.thread_id)
        if not pid:
            return self._child(outputs)
        for hook in self.hooks.in_parent:
            hook()
        return Spare(pid, ended, outputs)

    # ------------------------------------------------------------------ in the fork server

    def _oversee(self, message: dict[str, Any], spare: Spare) -> None:
        """Have the spare run the program that it was sent, and report until it is done."""
        told: dict[str, Any] = {}
        fds: list[int] = []
        moved = self._moved_in(spare)
        if moved is None:
            os.wait4(spare.pid, 0)
        elif message["single"]:
            told, fds = self._watch(message["limits"], spare, moved)
        else:
            self._stand_by(spare)
        os.close(spare.ended)
        wire.send(self.channel, told | DONE, fds)
        for fd in (*spare.outputs, *fds[len(spare.outputs) :]):
            os.close(fd)

    def _moved_in(self, spare: Spare) -> tuple[int, ...] | None:
        """Wait for the program to be in its place; `None`, and the host is told, when it will not be."""
        poll = select.poll()
        poll.register(spare.ended, select.POLLIN)
        poll.register(self.mine, select.POLLIN)
        if all(fd == spare.ended for fd, _event in poll.poll()):
            wire.send(self.channel, {"broken": "the sandbox's first process ended before its program"})
            return None
        said, fds = wire.take(self.mine)
        if said == READY:
            return fds
        wire.pass_on(self.channel, said)
        return None

    def _watch(
        self, allowed: dict[str, Any], spare: Spare, moved: tuple[int, ...]
    ) -> tuple[dict[str, Any], list[int]]:
        """Watch a lone command; what there is to report, and the descriptors."""
        place, disk, *failed = moved
        watch = Watch(allowed, spare.outputs, disk, {os.getpid(), spare.pid})
        if watch.wait(spare.ended, self.channel):
            self._heed()
        if watch.limit or not _over(spare.ended):
            signal.pidfd_send_signal(spare.ended, signal.SIGKILL)
        _pid, first, usage = os.wait4(spare.pid, 0)
        if os.WIFEXITED(first) and os.WEXITSTATUS(first) == FAILED:
            return {"broken": "the command's process could not be made"}, []
        status = self.guard.status() if self.guard else guard.UNKNOWN
        told, fds = report(watch, status, usage.ru_utime + usage.ru_stime, place)
        for each in failed:
            told |= supervise.refusal(each)
        os.close(disk)
        return told, fds

    def _stand_by(self, spare: Spare) -> None:
        """Wait for the supervisor, which reports by itself."""
        poll = select.poll()
        poll.register(spare.ended, select.POLLIN)
        poll.register(self.channel, select.POLLIN)
        if all(fd != spare.ended for fd, _event in poll.poll()):
            self._heed()
            signal.pidfd_send_signal(spare.ended, signal.SIGKILL)
        _pid, status, _usage = os.wait4(spare.pid, 0)
        if status:
            wire.send(self.channel, {"broken": f"the supervisor ended with wait status {status}"})

    def _heed(self) -> None:
        """Take the host's word to stop, or end with everything when it has gone."""
        try:
            wire.take(self.channel)
        except wire.Closed:
            os._exit(0)

    # ------------------------------------------------------------------ in the sandbox

    def _child(self, outputs: list[int]) -> Any:
        """Be the sandbox's first process: move in, wait for a program, start it."""
        try:
            self.entrance.move_in()
            for hook in self.hooks.in_child:
                hook()
            _word, (payload,) = wire.take(self.childs, len(PROGRAM))
            program = marshal.loads(wire.read_all(payload))
            sandbox.furnish(program["disk_bytes"])
            files.lay(program["files"])
            if self.guard and len(program["commands"]) == 1:
                return self._lone(program, outputs)
        except files.LayingError as error:
            self._give_up({"laying": error.number, "text": str(error)})
        except Exception as error:  # the host has to know, whatever it is
            self._give_up({"broken": f"{type(error).__name__}: {error}"})
        wire.pass_on(self.childs, READY)
        return supervise.Supervisor(self.channel, program, self.narrow).run()

    def _give_up(self, told: dict[str, Any]) -> NoReturn:
        wire.send(self.childs, told)
        os._exit(0)

    def _lone(self, program: dict[str, Any], outputs: list[int]) -> Any:
        """Become the only command, leaving the guard behind."""
        (command,) = program["commands"]
        file = launch.find(command)
        if file is None:
            self._give_up({"missing": os.fsdecode(command["argv"][0])})
        script = None if program["fresh"] else python.accept(command)
        path, place = files.make_result_place()
        command["env"][wire.RESULT_VARIABLE] = os.fsencode(path)
        stdin = wire.to_memory("stdin", command["stdin"])
        disk = os.open(files.ROOT, os.O_RDONLY | os.O_CLOEXEC)
        pipe = (-1, -1) if script else os.pipe2(os.O_CLOEXEC)
        sandbox.give_up_rights(command["limits"], GUARDS, self.narrow)
        wire.pass_on(self.childs, READY, [place, disk, *(each for each in pipe[:1] if each >= 0)])
        # Before the guard: it shares the program's memory, so it must not hold what a program may not.
        launch.connect((stdin, *outputs), pipe[1])
        for each in (self.channel, self.mine, self.childs):
            each.detach()
        self._leave_guard()
        if script is None:
            launch.replace(file, command, pipe[1])
        return script.load()

    def _leave_guard(self) -> None:
        try:
            if self.guard:
                self.guard.become_guarded(self.thread_id)
        except OSError:
            os._exit(FAILED)
        threading.main_thread()._set_native_id()  # type: ignore[attr-defined] # it is another process now


class Spare:
    """A sandbox that waits for its program.

    Args:
        pid: Its first process.
        ended: A descriptor of that process.
        outputs: Where a lone command's standard output and standard error will go.
    """

    def __init__(self, pid: int, ended: int, outputs: list[int]) -> None:
        self.pid = pid
        self.ended = ended
        self.outputs = outputs


def _over(ended: int) -> bool:
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    return bool(poll.poll(0))
