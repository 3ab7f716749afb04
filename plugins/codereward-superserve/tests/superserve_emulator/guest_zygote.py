"""Makes guests: one fork, one set of namespaces and one in-guest agent per sandbox.

Runs as a process of its own (`python -I -S guest_zygote.py CONTROL_FD`), single-threaded and with
the standard library only, so that a guest costs a fork and a few mounts instead of a start of the
interpreter. The emulator sends one datagram per guest, with the guest's agent socket attached.

Privileged (real root): the root file system is built first, then the guest gets a user namespace
of its own in which "root" is an unused uid of the host. Unprivileged: "root" is the user who runs
the emulator, other users do not exist, and `setpriv` is a stand-in that changes none.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_MOUNT_SETATTR = 442
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
PR_SET_PDEATHSIG = 1

UIDS_PER_GUEST = 65536
FIRST_UID = 1_000_000
GUEST_SLOTS = 4096
ROOT_TMPFS = "mode=755,size=512m,nr_inodes=65536"
MAX_PROCESSES = 512
MAX_DATA_BYTES = 2**30
FRAME = struct.Struct("!cI")
CHUNK = 65536

WRITABLE = ("home", "home/user", "root", "srv", "opt", "var", "run", "usr-local-bin")
DEVICES = ("null", "zero", "full", "random", "urandom")
GUEST_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n",
}
SETPRIV_STAND_IN = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --reuid|--regid) shift 2 ;;
    --clear-groups|--*=*|--no-new-privs|--reset-env) shift ;;
    *) break ;;
  esac
done
exec "$@"
"""
TAR_STAND_IN = """#!/bin/sh
exec /usr/bin/tar "$@" --no-same-owner
"""


# --------------------------------------------------------------------------- system calls


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2) with texts."""
    arguments = (source.encode(), target.encode(), kind.encode() or None, flags, data.encode() or None)
    _checked(_libc.mount(*arguments), f"mount {source} on {target}")


def read_only(target: str) -> None:
    """Make a mount and everything below read-only, without devices and set-uid programs."""
    attributes = struct.pack("QQQQ", 1 | 2 | 4, 0, 0, 0)  # RDONLY | NOSUID | NODEV
    result = _libc.syscall(SYS_MOUNT_SETATTR, -100, target.encode(), 0x8000, attributes, len(attributes))
    _checked(result, f"mount_setattr {target}")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent is gone."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def loopback_up() -> None:
    """Switch `lo` on in the current network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(probe, 0x8914, request)  # SIOCSIFFLAGS


# --------------------------------------------------------------------------- the root file system


def build_root(root: Path, owner: int, runtimes: list[list[str]], *, privileged: bool) -> None:
    """Lay a guest's root below `root`: the host's programs read-only, everything else its own."""
    mount("guest", str(root), "tmpfs", MS_NOSUID | MS_NODEV, f"{ROOT_TMPFS},uid={owner},gid={owner}")
    for name in (*WRITABLE, "usr", "etc", "proc", "dev", "dev/shm", "tmp", "var/tmp"):
        (root / name).mkdir(exist_ok=True)
    for name in ("tmp", "var/tmp", "dev/shm"):
        (root / name).chmod(0o1777)
    _bind_programs(root, runtimes)
    _link_runtimes(root, runtimes)
    _make_devices(root)
    for name, text in GUEST_FILES.items():
        (root / name).write_text(text)
    if not privileged:
        _stand_in_for_users(root)
    _give_away(root, owner)
    _bind("usr-local-bin", root, root / "usr/local/bin", source=root / "usr-local-bin")


def _bind(name: str, root: Path, target: Path, source: Path | None = None) -> None:
    mount(str(source or Path("/") / name), str(target), flags=MS_BIND | MS_REC)


def _bind_programs(root: Path, runtimes: list[list[str]]) -> None:
    _bind("usr", root, root / "usr")
    read_only(str(root / "usr"))
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        host = Path("/") / name
        if host.is_symlink():
            (root / name).symlink_to(host.readlink())
        elif host.is_dir():
            (root / name).mkdir()
            _bind(name, root, root / name)
            read_only(str(root / name))
    for name in ("etc/alternatives", "etc/ssl"):
        if (Path("/") / name).is_dir():
            (root / name).mkdir()
            _bind(name, root, root / name)
            read_only(str(root / name))
    cache = Path("/etc/ld.so.cache")
    if cache.exists():
        (root / "etc/ld.so.cache").write_bytes(cache.read_bytes())


def _link_runtimes(root: Path, runtimes: list[list[str]]) -> None:
    for prefix, *links in runtimes:
        inside = prefix
        if not prefix.startswith("/usr"):
            inside = f"/opt/{Path(prefix).name}"
            (root / inside[1:]).mkdir()
            _bind(prefix, root, root / inside[1:], source=Path(prefix))
            read_only(str(root / inside[1:]))
        for link in links:
            name, _, program = link.partition("=")
            (root / "usr-local-bin" / name).symlink_to(f"{inside}/{program}")


def _make_devices(root: Path) -> None:
    for name in DEVICES:
        (root / "dev" / name).touch()
        _bind(f"dev/{name}", root, root / "dev" / name)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (root / "dev" / name).symlink_to(f"/proc/self/fd{target}")


def _stand_in_for_users(root: Path) -> None:
    for name, text in (("setpriv", SETPRIV_STAND_IN), ("tar", TAR_STAND_IN)):
        script = root / "usr-local-bin" / name
        script.write_text(text)
        script.chmod(0o755)


def _give_away(root: Path, owner: int) -> None:
    for name in (*WRITABLE, "etc", "dev", "tmp", "var/tmp", "dev/shm"):
        os.chown(root / name, owner, owner)


def enter_root(root: Path) -> None:
    """Make `root` the root and let go of the host's."""
    os.chdir(root)
    _checked(_libc.syscall(SYS_PIVOT_ROOT, b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount the host's root")
    os.chdir("/")


# --------------------------------------------------------------------------- becoming a guest


def become_guest(order: dict[str, Any], agent: socket.socket) -> None:
    """Turn this fork of the zygote into a guest's keeper; returns when the guest is dead."""
    die_with_parent()
    privileged = os.geteuid() == 0
    first_uid = FIRST_UID + (order["serial"] % GUEST_SLOTS) * UIDS_PER_GUEST
    others = NEWPID | NEWNET | NEWIPC | NEWUTS
    if privileged:
        unshare(others)
    else:
        user, group = os.getuid(), os.getgid()
        unshare(others | NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    keeper, inside = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        keeper.close()
        _as_first_process(order, agent, inside, first_uid if privileged else 0, privileged=privileged)
    inside.close()
    agent.send(json.dumps({"pid": pid}).encode())
    if privileged and keeper.recv(1):
        for table in ("uid_map", "gid_map"):
            Path(f"/proc/{pid}/{table}").write_text(f"0 {first_uid} {UIDS_PER_GUEST}")
        keeper.send(b"m")
    agent.close()
    os.waitpid(pid, 0)


def _as_first_process(
    order: dict[str, Any], agent: socket.socket, keeper: socket.socket, owner: int, *, privileged: bool
) -> None:
    try:
        die_with_parent()
        unshare(NEWNS)
        mount("", "/", flags=MS_REC | MS_PRIVATE)
        root = Path(order["root"])
        build_root(root, owner, order["runtimes"], privileged=privileged)
        mount("proc", str(root / "proc"), "proc")
        loopback_up()
        socket.sethostname(b"sandbox")
        enter_root(root)
        if privileged:
            _enter_user_namespace(keeper)
        keeper.close()
        _limit_resources()
        die_with_parent()
        agent.send(b'{"ready": true}')
        serve(agent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            agent.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(0)


def _enter_user_namespace(keeper: socket.socket) -> None:
    unshare(NEWUSER | NEWNS)
    keeper.send(b"u")
    keeper.recv(1)
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _limit_resources() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_DATA_BYTES, MAX_DATA_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# --------------------------------------------------------------------------- the agent in the guest


def serve(agent: socket.socket) -> None:
    """Answer requests, each in a fork of its own, until the emulator closes the socket."""
    os.umask(0o022)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(agent, 16, 1)
        if not message:
            return
        with socket.socket(fileno=descriptors[0]) as channel:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                agent.close()
                _answer(channel)


def _answer(channel: socket.socket) -> None:
    try:
        kind, body = read_frame(channel)
        OPERATIONS[kind](channel, json.loads(body))
    except OSError as error:
        reply = {"errno": error.errno, "message": error.strerror}
        with contextlib.suppress(OSError):
            send_frame(channel, b"f", json.dumps(reply).encode())
    except BaseException as error:
        with contextlib.suppress(OSError):
            send_frame(
                channel,
                b"f",
                json.dumps({"errno": None, "message": f"{type(error).__name__}: {error}"}).encode(),
            )
    finally:
        os._exit(0)


def read_frame(channel: socket.socket) -> tuple[bytes, bytes]:
    """One frame: a kind and its bytes; `(b"", b"")` at the end."""
    head = channel.recv(FRAME.size, socket.MSG_WAITALL)
    if len(head) < FRAME.size:
        return b"", b""
    kind, size = FRAME.unpack(head)
    return kind, channel.recv(size, socket.MSG_WAITALL) if size else b""


def send_frame(channel: socket.socket, kind: bytes, body: bytes) -> None:
    """Send one frame."""
    channel.sendall(FRAME.pack(kind, len(body)) + body)


def run_command(channel: socket.socket, request: dict[str, Any]) -> None:
    """`sh -c` the command; output goes out as it comes, the exit status last."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", request["command"]],
        cwd=request["cwd"],
        env=request["env"],
        stdin=subprocess.PIPE if request.get("stdin") else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + request["timeout"]
    timed_out = _forward(channel, process, deadline)
    if not timed_out:
        timed_out = _outlived(process, deadline)
    if timed_out:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    code = 124 if timed_out else process.returncode
    send_frame(channel, b"x", json.dumps({"exit_code": 128 - code if code < 0 else code}).encode())


def _outlived(process: subprocess.Popen[bytes], deadline: float) -> bool:
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _forward(channel: socket.socket, process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Pass output on, and input in, until both outputs are closed. Whether the time ran out."""
    kinds = {process.stdout.fileno(): b"o", process.stderr.fileno(): b"e"}
    incoming = {channel.fileno(): None} if process.stdin else {}
    while kinds:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([*kinds, *incoming], [], [], max(0.0, left))
        if not ready and left <= 0:
            return True
        for descriptor in ready:
            if descriptor in incoming:
                _feed(channel, process, incoming)
            elif data := os.read(descriptor, CHUNK):
                send_frame(channel, kinds[descriptor], data)
            else:
                del kinds[descriptor]
    return False


def _feed(channel: socket.socket, process: subprocess.Popen[bytes], incoming: dict[int, None]) -> None:
    kind, body = read_frame(channel)
    if kind == b"i":
        with contextlib.suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), body)
    elif kind == b"s":
        os.killpg(process.pid, getattr(signal, body.decode()))
    else:
        process.stdin.close()
        incoming.clear()


def write_file(channel: socket.socket, request: dict[str, Any]) -> None:
    """Write what follows to a file; its folders are made."""
    target = Path(request["path"])
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with target.open("wb") as file:
        for body in _frames(channel):
            size += file.write(body)
    send_frame(channel, b"x", json.dumps({"path": str(target), "size": size}).encode())


def _frames(channel: socket.socket) -> Iterator[bytes]:
    while True:
        kind, body = read_frame(channel)
        if kind != b"d":
            return
        yield body


def read_file(channel: socket.socket, request: dict[str, Any]) -> None:
    """Send a regular file's bytes."""
    with Path(request["path"]).open("rb") as file:
        while data := file.read(CHUNK):
            send_frame(channel, b"d", data)
    send_frame(channel, b"x", b"{}")


Operation = Callable[[socket.socket, dict[str, Any]], None]
OPERATIONS: dict[bytes, Operation] = {b"R": run_command, b"W": write_file, b"G": read_file}


# --------------------------------------------------------------------------- the zygote


def main(control_descriptor: int) -> None:
    """Fork one keeper per order until the emulator closes the control socket."""
    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=control_descriptor) as control:
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, CHUNK, 1)
            if not message:
                return
            with socket.socket(fileno=descriptors[0]) as agent:
                if os.fork() == 0:
                    control.close()
                    _keep(json.loads(message), agent)


def _keep(order: dict[str, Any], agent: socket.socket) -> None:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become_guest(order, agent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            agent.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
