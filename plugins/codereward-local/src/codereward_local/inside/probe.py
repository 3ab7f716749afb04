"""Tries to get out of the sandbox, harmlessly, and writes down what it could do.

Run as a program under test. Arguments: a file of the host's, the host user's home, a port the host
listens on, the name of an abstract socket it listens on.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable

WRITABLE = ("/", "/usr", "/etc", "/dev", "/proc", "/root", "/bin/")
KERNEL_FILES = ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger")
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER = 0x10000000
PTRACE_TRACEME = 0
MOST_PROCESSES = 2


def host_files(canary: str, home: str) -> str:
    """Read what is the host's."""
    for path in (canary, "/etc/shadow"):
        with contextlib.suppress(OSError), open(path, "rb"):
            return f"{path} can be read"
    with contextlib.suppress(OSError):
        shown = [name for name in os.listdir(home) if not name.startswith(".")]
        return f"{home} shows {shown[0]}" if shown else ""
    return ""


def network(port: str, name: str) -> str:
    """Reach the host's sockets."""
    places = ((socket.AF_INET, ("127.0.0.1", int(port))), (socket.AF_UNIX, "\0" + name))
    for family, address in places:
        with contextlib.suppress(OSError), socket.socket(family) as client:
            client.settimeout(1)
            client.connect(address)
            return f"the host's socket {address!r} answers"
    return ""


def writing() -> str:
    """Write outside the private directory."""
    for place in WRITABLE:
        with contextlib.suppress(OSError), open(os.path.join(place, "probe"), "wb"):
            return f"{place} can be written"
    return ""


def kernel_settings() -> str:
    """Open what only root may change."""
    for path in KERNEL_FILES:
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            return f"{path} can be written"
    return ""


def rights() -> str:
    """Find a capability, or a missing lock."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    wanted = {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0" * 16, "CapPrm": "0" * 16, "CapInh": "0" * 16}
    wrong = [f"{name} is {fields.get(name)}" for name, value in wanted.items() if fields.get(name) != value]
    return ", ".join(wrong)


def processes() -> str:
    """See somebody else's processes."""
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    return f"{len(seen)} processes are in sight" if len(seen) > MOST_PROCESSES else ""


def calls() -> str:
    """Make the calls that the filters forbid."""
    attempts: dict[str, Callable[[], int]] = {
        "unshare": lambda: LIBC.unshare(NEW_USER),
        "mount": lambda: LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "ptrace": lambda: LIBC.ptrace(PTRACE_TRACEME, 0, 0, 0),
        "chroot": lambda: LIBC.chroot(b"/tmp"),
        "inet socket": lambda: LIBC.socket(socket.AF_INET, socket.SOCK_STREAM, 0),
    }
    allowed = [name for name, attempt in attempts.items() if attempt() >= 0]
    return f"the kernel allows {', '.join(allowed)}" if allowed else ""


def main(canary: str, home: str, port: str, name: str) -> None:
    """Try everything; the findings, by name, go into the result channel."""
    findings = {
        "host files": host_files(canary, home),
        "network": network(port, name),
        "read-only system": writing(),
        "kernel settings": kernel_settings(),
        "rights": rights(),
        "other processes": processes(),
        "forbidden calls": calls(),
    }
    with open(os.environ["CODEREWARD_RESULT"], "w", encoding="utf-8") as file:
        json.dump(findings, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
