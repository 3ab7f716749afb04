"""Builds the box around a fork server: what all its programs see of the machine.

Run once for each worker. As root it makes the namespaces with root's rights and then becomes a
user that owns nothing; as anybody else it makes a user namespace first. Either way the kernel
never takes the programs for root.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, NoReturn

from codereward_local.inside import kernel, wire

if TYPE_CHECKING:
    import socket

__all__ = ["main"]

NAMESPACES = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWCGROUP
)
BASE = "/tmp"  # noqa: S108 - only a place to mount on: the new root covers it
ROOT_BYTES = 2**20
USER = 1000


def main(channel: socket.socket) -> None:
    """Build the box and turn into its fork server; this process itself only waits for it."""
    config, _fds = wire.take_instruction(channel)
    try:
        _leave(config)
        pid = os.fork()
        if not pid:
            _enter(channel, config)
    except OSError as error:
        wire.send(channel, {"refused": error.errno, "text": error.strerror})
        os._exit(1)
    channel.close()
    _pid, status = os.waitpid(pid, 0)
    os._exit(1 if status else 0)


def _leave(config: dict[str, Any]) -> None:
    """Leave the host's namespaces."""
    if config["privileged"]:
        kernel.unshare(NAMESPACES)
    else:
        user, group = _ordinary(config["user"])
        kernel.unshare(NAMESPACES | kernel.CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{USER} {user} 1")
        _write("/proc/self/gid_map", f"{USER} {group} 1")
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)


def _ordinary(unused: int) -> tuple[int, int]:
    """This process's user and group; root without the rights to build a box becomes nobody first."""
    if os.getuid() == 0 and _mapped(unused):
        os.setgroups([])
        os.setresgid(unused, unused, unused)
        os.setresuid(unused, unused, unused)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    return os.getuid(), os.getgid()


def _mapped(user: int) -> bool:
    with open("/proc/self/uid_map") as file:
        spans = [[int(word) for word in line.split()] for line in file]
    return any(first <= user < first + count for first, _outside, count in spans)


def _enter(channel: socket.socket, config: dict[str, Any]) -> NoReturn:
    """Make the new root, give up every right, and execute the fork server."""
    try:
        _build(config)
        if config["privileged"]:
            os.setgroups([])
            os.setresgid(config["user"], config["user"], config["user"])
            os.setresuid(config["user"], config["user"], config["user"])
        kernel.drop_capabilities(bounding=True)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.umask(0o022)
        channel.set_inheritable(True)
        argv = [config["python"], "-B", "-c", config["boot"], str(channel.fileno())]
        os.execve(config["python"], argv, config["env"])
    except OSError as error:
        wire.send(channel, {"refused": error.errno, "text": error.strerror})
        os._exit(1)


def _build(config: dict[str, Any]) -> None:
    # Opened before anything is covered, and as root where we are: later the way there may be closed.
    sources = [(target, os.open(source, os.O_PATH | os.O_CLOEXEC)) for source, target in config["binds"]]
    kernel.mount("tmpfs", BASE, "tmpfs", kernel.MS_NOSUID, f"size={ROOT_BYTES},mode=755")
    for target, fd in sources:
        _bind(fd, BASE + target)
    for path, link in config["links"]:
        os.makedirs(os.path.dirname(BASE + path), exist_ok=True)
        os.symlink(link, BASE + path)
    for path, text in config["texts"]:
        os.makedirs(os.path.dirname(BASE + path), exist_ok=True)
        _write(BASE + path, text)
    for path in ("/proc", "/tmp"):  # noqa: S108 - each program mounts its own on it
        os.makedirs(BASE + path, exist_ok=True)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("proc", BASE + "/proc", "proc", flags)
    os.chdir(BASE)
    kernel.pivot_here()
    read_only = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID
    kernel.mount(None, "/", None, read_only)


def _bind(fd: int, target: str) -> None:
    source = f"/proc/self/fd/{fd}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    kernel.mount(source, target, None, kernel.MS_BIND | kernel.MS_REC)
    if not target.startswith(BASE + "/dev/"):
        kernel.protect(target)
    os.close(fd)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(fd, text.encode())
    os.close(fd)
