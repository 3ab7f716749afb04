"""Filters on system calls: what no program under test has any business with.

The wide filter is installed once, in the fork server, and inherited. The narrow one forbids what
the server needs to set a sandbox up; each program installs it as its last step.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import TYPE_CHECKING, Final

from codereward_local.inside import kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Filter", "narrow", "wide"]

ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32: Final = 0x40000000
NEWEST: Final = 452
"""The newest call these lists were written for; newer ones do not exist in the sandbox."""

KILL: Final = 0x80000000
ERRNO: Final = 0x00050000
ALLOW: Final = 0x7FFF0000
LOAD, EQUAL, ABOVE, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
OFFSET_NUMBER, OFFSET_ARCHITECTURE, OFFSET_ARGUMENTS = 0, 4, 16

NEW_NAMESPACES: Final = (
    kernel.CLONE_NEWNS
    | kernel.CLONE_NEWCGROUP
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | 0x80  # CLONE_NEWTIME
)
AF_UNIX: Final = 1
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

# name: (x86_64, aarch64); None where the architecture has no such call.
WIDE: Final = {
    # other processes' memory and descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # parts of the kernel that few programs use and many exploits do
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "personality": (135, 92),
    "vserver": (236, None),
    # memory that no limit counts
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "memfd_secret": (447, 447),
    # file systems by other ways than mount
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # the machine
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}
ABSENT: Final = {  # libraries ask whether these exist, and do without
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
NARROW: Final = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "mount_setattr": (442, 442),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "memfd_create": (319, 279),
}
OF_ANOTHER: Final = {  # allowed on oneself only: the supervisor has the same user
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
SOCKET: Final = {"socket": (41, 198)}
IOCTL: Final = {"ioctl": (16, 29)}
CLONE: Final = {"clone": (56, 220)}
CLONE3: Final = {"clone3": (435, 435)}


class Filter:
    """A filter ready to be installed."""

    def __init__(self, instructions: bytes) -> None:
        self._code = ctypes.create_string_buffer(instructions, len(instructions))
        count = len(instructions) // 8
        self._program = struct.pack("HxxxxxxQ", count, ctypes.addressof(self._code))
        self._pointer = ctypes.create_string_buffer(self._program, len(self._program))

    def install(self) -> None:
        """Apply it to this process and all it starts; `no_new_privs` must be set."""
        kernel.prctl(kernel.PR_SET_SECCOMP, 2, ctypes.addressof(self._pointer))


def wide() -> Filter:
    """What neither the fork server nor any program may do."""
    parts = [_refuse(WIDE, errno.EPERM), _refuse(ABSENT, errno.ENOSYS), _newer()]
    parts += [_unless(SOCKET, AF_UNIX, errno.EAFNOSUPPORT)]
    parts += [_when(IOCTL, 1, each, errno.EPERM) for each in (TIOCSTI, TIOCLINUX)]
    return _filter(parts)


def narrow() -> Filter:
    """What only the fork server may do."""
    parts = [_refuse(NARROW, errno.EPERM), _refuse(CLONE3, errno.ENOSYS)]
    parts += [_namespaces(), *(_unless({each: OF_ANOTHER[each]}, 0, errno.EPERM) for each in OF_ANOTHER)]
    return _filter(parts)


def _filter(parts: list[bytes]) -> Filter:
    start = _load(OFFSET_ARCHITECTURE) + _jump(EQUAL, ARCHITECTURES[kernel.MACHINE], 1, 0) + _return(KILL)
    start += _load(OFFSET_NUMBER)
    if kernel.MACHINE == "x86_64":
        start += _jump(AT_LEAST, X32, 0, 1) + _return(KILL)
    return Filter(start + b"".join(parts) + _return(ALLOW))


def _refuse(calls: Mapping[str, tuple[int, int | None]], error: int) -> bytes:
    return b"".join(_jump(EQUAL, each, 0, 1) + _return(ERRNO | error) for each in _numbers(calls))


def _newer() -> bytes:
    return _jump(ABOVE, NEWEST, 0, 1) + _return(ERRNO | errno.ENOSYS)


def _namespaces() -> bytes:
    check = _load(OFFSET_ARGUMENTS) + _jump(ANY_BIT, NEW_NAMESPACES, 0, 1) + _return(ERRNO | errno.EPERM)
    return _only_for(CLONE, check + _return(ALLOW))


def _unless(calls: Mapping[str, tuple[int, int | None]], value: int, error: int) -> bytes:
    check = _load(OFFSET_ARGUMENTS) + _jump(EQUAL, value, 1, 0) + _return(ERRNO | error)
    return _only_for(calls, check + _return(ALLOW))


def _when(calls: Mapping[str, tuple[int, int | None]], argument: int, value: int, error: int) -> bytes:
    load = _load(OFFSET_ARGUMENTS + 8 * argument)
    check = load + _jump(EQUAL, value, 0, 1) + _return(ERRNO | error)
    return _only_for(calls, check + _load(OFFSET_NUMBER))


def _only_for(calls: Mapping[str, tuple[int, int | None]], check: bytes) -> bytes:
    return b"".join(_jump(EQUAL, each, 0, len(check) // 8) + check for each in _numbers(calls))


def _numbers(calls: Mapping[str, tuple[int, int | None]]) -> list[int]:
    column = 0 if kernel.MACHINE == "x86_64" else 1
    return [each[column] for each in calls.values() if each[column] is not None]  # type: ignore[misc]


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", LOAD, 0, 0, offset)


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("HBBI", test, if_true, if_false, value)


def _return(value: int) -> bytes:
    return struct.pack("HBBI", RETURN, 0, 0, value)
