"""What a box holds, and starting one."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from codereward import BackendMisconfigured, BackendUnavailable

from codereward_local import refusal
from codereward_local.bundle import boot_source, bundle
from codereward_local.inside import wire
from codereward_local.interpreter import Interpreter, choose
from codereward_local.payload import environment

__all__ = ["Box", "Plan", "make_plan", "may_build_as_root"]

FIRST_UNUSED_ID: Final = 64000
"""Users that own nothing; each box made by root takes its own."""
ROUND: Final = 1000

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64")
SETTINGS: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
LINKS: Final = (
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/shm", "/tmp"),  # noqa: S108 - private to each program
)
TEXTS: Final = (
    ("/etc/passwd", "user:x:1000:1000::/tmp:/bin/sh\n"),
    ("/etc/group", "user:x:1000:\n"),
    ("/etc/hosts", "127.0.0.1 localhost\n"),
)
SYSTEM_ADMIN: Final = 1 << 21
SET_IDS: Final = (1 << 6) | (1 << 7)
START_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What boxes look like; found out once for each process and configuration."""

    interpreter: Interpreter
    privileged: bool
    """Whether boxes are made with root's rights."""
    path: str
    """Where commands are looked for in a box."""
    places: tuple[str, ...]
    """Folders in sight beside the system's."""
    preimport: tuple[str, ...]


def make_plan(python: str | None, preimport: tuple[str, ...]) -> Plan:
    """Look at this machine.

    Raises:
        BackendMisconfigured: No box can be made here at all.
    """
    refusal.check_platform()
    privileged = may_build_as_root()
    interpreter = choose(python, as_root=privileged)
    node = _node_place()
    folders = dict.fromkeys([str(Path(interpreter.path).parent), *node, "/usr/local/bin", "/usr/bin", "/bin"])
    places = (*interpreter.places, *(str(Path(each).parent) for each in node))
    return Plan(interpreter, privileged, ":".join(folders), places, preimport)


def may_build_as_root() -> bool:
    """Whether boxes are made with root's rights here."""
    status = Path("/proc/self/status").read_text("utf-8")
    line = next(each for each in status.splitlines() if each.startswith("CapEff:"))
    rights = int(line.split()[1], 16)
    needed = SYSTEM_ADMIN | SET_IDS
    return os.geteuid() == 0 and rights & needed == needed and _ids_mapped()


def _ids_mapped() -> bool:
    spans = [line.split() for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()]
    last = FIRST_UNUSED_ID + ROUND
    return any(
        int(first) <= FIRST_UNUSED_ID and last <= int(first) + int(count) for first, _out, count in spans
    )


def _node_place() -> list[str]:
    """The folder of `node` where it is none of the system's (as nvm installs it)."""
    found = shutil.which("node")
    folder = str(Path(found).resolve().parent) if found else "/usr/bin"
    return [] if folder.startswith(SYSTEM) or not folder.endswith("/bin") else [folder]


class Box:
    """A running fork server in its box.

    Args:
        plan: What it looks like.
        number: Which of this process's boxes it is; tells their users apart.
        known: Name → source of scripts that the fork server compiles in advance.

    Raises:
        BackendMisconfigured: The kernel does not allow it here.
        BackendUnavailable: It did not come up.
    """

    def __init__(self, plan: Plan, number: int, known: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._said = wire.to_memory("box")
        with theirs:
            self.process = self._launch(plan, theirs.fileno())
        try:
            self.guarded = self._bring_up(plan, number, known)
        except BaseException:
            self.close()
            raise

    def _launch(self, plan: Plan, fd: int) -> subprocess.Popen[bytes]:
        stdin = wire.to_memory("stdin")
        try:
            return subprocess.Popen(
                [plan.interpreter.path, "-I", "-S", "-B", "-c", boot_source(), str(fd)],
                pass_fds=[fd],
                stdin=stdin,
                stdout=self._said,
                stderr=self._said,
                env=environment(plan.path),
                cwd="/",
                start_new_session=True,  # a Ctrl-C in the terminal is for the host alone
            )
        finally:
            os.close(stdin)

    def _bring_up(self, plan: Plan, number: int, known: Mapping[str, bytes]) -> bool:
        self.channel.settimeout(START_SECONDS)
        try:
            with contextlib.suppress(wire.Closed):  # it has refused and gone: then it has said why
                self._send_module("outer")
                wire.instruct(self.channel, _outer_config(plan, number))
                self._send_module("zygote")
                wire.instruct(self.channel, {"preimport": plan.preimport, "known": dict(known)})
            answer, _fds = wire.receive(self.channel)
        except (wire.Closed, TimeoutError) as error:
            msg = f"a sandbox did not come up ({type(error).__name__}): {self.said()}"
            raise BackendUnavailable(msg) from error
        if "refused" in answer:
            raise refusal.explain(answer["refused"], answer["text"])
        if "broken" in answer:
            msg = f"the sandbox's interpreter {plan.interpreter.path} cannot serve: {answer['broken']}"
            raise BackendMisconfigured(msg)
        return bool(answer["guarded"])

    def _send_module(self, name: str) -> None:
        fd = wire.to_memory(name, bundle(name))
        try:
            socket.send_fds(self.channel, [name.encode()], [fd])
        except (BrokenPipeError, ConnectionResetError) as error:
            raise wire.Closed from error
        finally:
            os.close(fd)

    def said(self) -> str:
        """The end of what the box's own processes wrote, for people."""
        return os.pread(self._said, 4096, 0).decode("utf-8", "replace").strip()

    @property
    def is_open(self) -> bool:
        """Whether `close` has not been called."""
        return self._said >= 0

    def close(self) -> None:
        """End the box and everything in it. Idempotent."""
        self.channel.close()  # the fork server sees it and ends; then the kernel ends the rest
        if not self.is_open:
            return
        os.close(self._said)
        self._said = -1
        try:
            self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()  # and with it, by its death signal, the fork server
            self.process.wait()


def _outer_config(plan: Plan, number: int) -> dict[str, Any]:
    binds, links = _view()
    return {
        "privileged": plan.privileged,
        "user": FIRST_UNUSED_ID + number % ROUND,
        "python": plan.interpreter.path,
        "boot": boot_source(),
        "env": environment(plan.path) | {"LD_BIND_NOW": "1"},  # found once, not in every program's process
        "binds": [*binds, *((place, place) for place in plan.places)],
        "links": links,
        "texts": TEXTS,
    }


@functools.cache
def _view() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The system's folders: (source, target) of binds, and links."""
    binds = [(f"/dev/{name}", f"/dev/{name}") for name in DEVICES]
    links = list(LINKS)
    for place in (*SYSTEM, *SETTINGS):
        if os.path.islink(place):  # noqa: PTH114 - a text, as everything here
            links.append((place, os.readlink(place)))  # noqa: PTH115 - as above
        elif os.path.exists(place):  # noqa: PTH110 - as above
            binds.append((place, place))
    return binds, links
