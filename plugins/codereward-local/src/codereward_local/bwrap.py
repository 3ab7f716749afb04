"""One sandbox for one program, made by bubblewrap."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

from codereward import BackendMisconfigured

from codereward_local.bundle import boot_source, bundle
from codereward_local.inside import wire
from codereward_local.interpreter import Interpreter

__all__ = ["Box"]

UNUSED_ID = "64000"
"""A user that owns nothing: programs never run as the kernel's root."""

UNSHARE = ("user", "pid", "ipc", "uts", "net", "cgroup-try")
DEVICES = ("null", "zero", "full", "random", "urandom")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


class Box:
    """A started sandbox that waits for its program."""

    def __init__(self, interpreter: Interpreter, disk_bytes: int) -> None:
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            boot = [interpreter.path, "-I", "-S", "-B", "-c", boot_source(), str(theirs.fileno())]
            self.process = subprocess.Popen(
                [*_launcher(), *_arguments(interpreter, disk_bytes), "--", *boot],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin"},
            )

    def give(self, payload: bytes) -> None:
        """Hand over the program.

        Raises:
            Closed: The sandbox is not there.
        """
        for message, content in ((b"supervise", bundle()), (b"{}", payload)):
            fd = wire.to_memory("payload", content)
            try:
                socket.send_fds(self.channel, [message], [fd])
            except (BrokenPipeError, ConnectionResetError) as error:
                raise wire.Closed from error
            finally:
                os.close(fd)

    def complaint(self) -> str:
        """What bubblewrap said, once the sandbox has gone."""
        assert self.process.stderr is not None  # noqa: S101 - for the type checker: it is a pipe
        return self.process.stderr.read().decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the sandbox and everything in it."""
        self.channel.close()  # its first process sees this and ends; then the kernel ends the rest
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()


def _launcher() -> list[str]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        msg = "cannot isolate programs here: bubblewrap is not installed (`apt install bubblewrap`)"
        raise BackendMisconfigured(msg)
    if os.geteuid() != 0:
        return [bwrap]
    drop = shutil.which("setpriv")
    if drop is None:
        msg = "cannot isolate programs here: started as root, and setpriv (package util-linux) is missing"
        raise BackendMisconfigured(msg)
    return [drop, "--reuid", UNUSED_ID, "--regid", UNUSED_ID, "--clear-groups", bwrap]


def _arguments(interpreter: Interpreter, disk_bytes: int) -> list[str]:
    arguments = [f"--unshare-{each}" for each in UNSHARE]
    arguments += ["--new-session", "--clearenv", "--as-pid-1", "--uid", "1000", "--gid", "1000"]
    arguments += ["--cap-drop", "ALL", "--proc", "/proc", "--dir", "/etc", "--size", str(disk_bytes)]
    arguments += ["--tmpfs", "/tmp"]  # noqa: S108 - private to the program
    for place in SYSTEM:
        arguments += _shown(place)
    if not interpreter.prefix.startswith("/usr"):
        arguments += ["--ro-bind", interpreter.prefix, interpreter.prefix]
    for name in DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    links = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
    for name, tail in links.items():
        arguments += ["--symlink", f"/proc/self/fd{tail}", f"/dev/{name}"]
    return [*arguments, "--symlink", "/tmp", "/dev/shm", "--remount-ro", "/"]  # noqa: S108 - as above


def _shown(place: str) -> list[str]:
    path = Path(place)
    if path.is_symlink():
        return ["--symlink", os.readlink(path), place]
    return ["--ro-bind", place, place] if path.exists() else []
