"""The system calls that Python has no name for, and only those."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Final

__all__ = [
    "CLONE_NEWCGROUP",
    "CLONE_NEWIPC",
    "CLONE_NEWNET",
    "CLONE_NEWNS",
    "CLONE_NEWPID",
    "CLONE_NEWUSER",
    "CLONE_NEWUTS",
    "MACHINE",
    "Mount",
    "clone",
    "drop_capabilities",
    "mount",
    "pivot_here",
    "prctl",
    "protect",
    "syscall",
    "thread_id_address",
    "trim_memory",
    "umount",
    "unshare",
]

MACHINE: Final = platform.machine()
CLONE_PIDFD: Final = 0x1000
CLONE_CHILD_CLEARTID: Final = 0x200000
CLONE_CHILD_SETTID: Final = 0x1000000
CLONE_NEWNS: Final = 0x20000
CLONE_NEWCGROUP: Final = 0x2000000
CLONE_NEWUTS: Final = 0x4000000
CLONE_NEWIPC: Final = 0x8000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
SIGCHLD: Final = 17

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH: Final = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
AT_RECURSIVE: Final = 0x8000
AT_FDCWD: Final = -100

PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 3, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS, PR_CAP_AMBIENT = 24, 38, 40, 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
CAPABILITY_VERSION: Final = 0x20080522
LAST_CAPABILITY: Final = 63

NUMBERS: Final = {
    "x86_64": {"clone": 56, "pivot_root": 155, "mount_setattr": 442},
    "aarch64": {"clone": 220, "pivot_root": 41, "mount_setattr": 442},
}
_NUMBER: Final = NUMBERS.get(MACHINE, {})

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
# Made once: what a program's process makes anew it pays for in copied memory.
_ZEROS: Final = (0, 0, 0, 0)
_SELF: Final = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
_NOTHING: Final = (ctypes.c_uint32 * 6)()
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
# Forking must not let go of the interpreter's lock: these go through the Python-aware loader.
_holding = ctypes.PyDLL(None, use_errno=True)
_holding.syscall.restype = ctypes.c_long
_holding.syscall.argtypes = [ctypes.c_long] * 6


def _checked(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(name: str, *arguments: object) -> int:
    """Call the kernel by number."""
    return _checked(_libc.syscall(ctypes.c_long(_NUMBER[name]), *arguments), name)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _checked(_libc.unshare(flags), "unshare")


class Mount:
    """A mount to be made, or changed; its words are made once, not in every program's process."""

    def __init__(self, source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
        words = [None if each is None else os.fsencode(each) for each in (source, target, kind)]
        self._arguments = (*words, flags, data.encode() or None)
        self._name = f"mount {kind or 'bind'} on {target}"

    def __call__(self) -> None:
        """Have the kernel do it."""
        _checked(_libc.mount(*self._arguments), self._name)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or change a mount."""
    Mount(source, target, kind, flags, data)()


def umount(target: str, flags: int) -> None:
    """Unmount a file system."""
    _checked(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def protect(target: str) -> None:
    """Make a mount and all below it read-only, without devices and set-user-id programs."""
    attributes = (ctypes.c_uint64 * 4)(ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, 0, 0, 0)
    path = ctypes.c_char_p(os.fsencode(target))
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    syscall("mount_setattr", ctypes.c_int(AT_FDCWD), path, ctypes.c_uint(AT_RECURSIVE), attributes, size)


def pivot_here() -> None:
    """Make the current directory the root, and let go of the old one."""
    here = ctypes.c_char_p(b".")
    syscall("pivot_root", here, here)
    umount(".", MNT_DETACH)
    os.chdir("/")


def prctl(option: int, *arguments: int) -> int:
    """Change or ask for a property of this process."""
    return _checked(_libc.prctl(option, *arguments, *_ZEROS[len(arguments) :]), "prctl")


def drop_capabilities(bounding: bool) -> None:
    """Give up every capability; with `bounding` also the way to get any by a program file."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for number in range(LAST_CAPABILITY + 1) if bounding else ():
        if _libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0):
            break  # the first number this kernel does not know
    _checked(_libc.capset(_SELF, _NOTHING), "capset")


def trim_memory() -> None:
    """Give memory that was freed back to the kernel, where the C library can."""
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(0)


def thread_id_address() -> int:
    """Where the C library keeps this thread's number, or 0.

    A raw clone leaves the parent's number there, and with it `abort` and `raise` miss. The kernel
    can write the child's, as it does for the C library's own fork.
    """
    address = ctypes.c_ulong()
    if _libc.prctl(PR_GET_TID_ADDRESS, ctypes.addressof(address), 0, 0, 0):
        return 0
    where = address.value
    if not where or ctypes.c_int.from_address(where).value != os.getpid():
        return 0  # another C library, which keeps something else there
    return where


def clone(flags: int, thread_id: int) -> tuple[int, int]:
    """Fork into new namespaces: (process number, its descriptor), (0, -1) in the child.

    Only where this is the only thread: the child's interpreter is not told.
    """
    pidfd = ctypes.c_int(-1)
    flags |= SIGCHLD | CLONE_PIDFD
    if thread_id:
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID
    last = (thread_id, 0) if MACHINE == "x86_64" else (0, thread_id)
    found = _holding.syscall(_NUMBER["clone"], flags, 0, ctypes.addressof(pidfd), *last)
    return _checked(found, "clone"), pidfd.value
