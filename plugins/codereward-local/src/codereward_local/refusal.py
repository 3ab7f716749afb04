"""Why programs cannot be isolated on this machine, and what can be done about it."""

from __future__ import annotations

import errno
import platform
import sys
from pathlib import Path
from typing import Final

from codereward import BackendMisconfigured

__all__ = ["check_platform", "explain"]

OLDEST_KERNEL: Final = (5, 14)
"""From here on the limit of processes holds for each sandbox alone."""
MACHINES: Final = ("x86_64", "aarch64")

WAYS_OUT: Final = (
    "Ways out: run as root with CAP_SYS_ADMIN; or allow user namespaces "
    "(`sysctl user.max_user_namespaces=10000`, on Debian `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for the interpreter); in a "
    "container start it with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined`; or use a cloud executor"
)


def check_platform() -> None:
    """Refuse what the sandbox was not written for.

    Raises:
        BackendMisconfigured: Another system, processor, or an old kernel.
    """
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        msg = f"the executor `local` needs Linux on {' or '.join(MACHINES)}, not {sys.platform} on {platform.machine()}"
        raise BackendMisconfigured(msg)
    release = platform.release()
    version = tuple(int(each) for each in release.split("-")[0].split(".")[:2])
    if version < OLDEST_KERNEL:
        msg = f"the executor `local` needs Linux 5.14 or newer; this is {release}"
        raise BackendMisconfigured(msg)


def explain(number: int, text: str) -> BackendMisconfigured:
    """The error for a box that the kernel refused to make.

    Args:
        number: The kernel's error number.
        text: What was tried, and the kernel's words.
    """
    return BackendMisconfigured(f"cannot isolate programs here: {text}{_cause(number)}. {WAYS_OUT}")


def _cause(number: int) -> str:
    if number == errno.ENOSPC:
        return " (user.max_user_namespaces is used up or 0)"
    if number in (errno.EPERM, errno.EACCES):
        restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        if restricted.exists() and restricted.read_text("ascii").strip() == "1":
            return " (AppArmor restricts user namespaces)"
        return " (namespaces or mounts are forbidden, as in a container's default profile)"
    return ""
