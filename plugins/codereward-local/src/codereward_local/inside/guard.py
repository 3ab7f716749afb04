"""Process 1 of a sandbox that holds one command: waits for it, and nothing else.

The kernel spares process 1 of a namespace the signals it does not handle, so a program must not be
process 1 itself: it could not kill itself, nor abort. A second fork for it costs half a
millisecond of copied memory. Instead the two share their memory, and process 1 stays in a loop of
a few machine instructions that read and write none of it but the place for the status:

    pid = clone(flags)          the program returns from here, as from any function
    do: found = wait4(-1, status)
    while found > 0 and found != pid
    exit_group(0)

Process 1 is no more trusted than the program: the same user, no capability, the same filters. If
the program spoils the loop, process 1 crashes, and the program is gone with it.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from typing import Final

from codereward_local.inside import kernel

__all__ = ["UNKNOWN", "Guard", "make"]

CLONE_VM: Final = 0x100
UNKNOWN: Final = 9
"""Wait status of a program whose end nobody saw: as if killed."""

# Arguments: flags, address of the status, address for the thread's number.
CODE: Final = {
    "x86_64": (
        "53 55"  # push rbx; push rbp
        "48 89 f3"  # mov rbx, rsi
        "49 89 d2"  # mov r10, rdx
        "31 f6 31 d2 45 31 c0"  # xor esi, esi; xor edx, edx; xor r8d, r8d
        "b8 38 00 00 00 0f 05"  # mov eax, clone; syscall
        "85 c0 7e 27"  # test eax, eax; jle out
        "89 c5"  # mov ebp, eax
        "bf ff ff ff ff"  # again: mov edi, -1
        "48 89 de 31 d2 45 31 d2"  # mov rsi, rbx; xor edx, edx; xor r10d, r10d
        "b8 3d 00 00 00 0f 05"  # mov eax, wait4; syscall
        "85 c0 7e 04"  # test eax, eax; jle done
        "39 e8 75 e4"  # cmp eax, ebp; jne again
        "31 ff b8 e7 00 00 00 0f 05"  # done: xor edi, edi; mov eax, exit_group; syscall
        "5d 5b c3"  # out: pop rbp; pop rbx; ret
    ),
}


class Guard:
    """The loop in executable memory, and the page for the status, which is shared by forks."""

    def __init__(self, code: bytes) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._status = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._text = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._text.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._text))
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, 5):
            raise PermissionError
        for each in (self._page, self._text):  # never freed: process 1 needs them to the very end
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
        kind = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._enter = kind(address)

    def reset(self) -> None:
        """Forget the last status, and whatever a program put on the page."""
        self._page[:] = struct.pack("i", UNKNOWN).ljust(mmap.PAGESIZE, b"\0")

    def status(self) -> int:
        """The wait status that process 1 saw last."""
        return int(struct.unpack_from("i", self._page)[0])

    def become_guarded(self, thread_id: int) -> None:
        """Return in a new process; this one stays behind as its guard."""
        flags = CLONE_VM | kernel.SIGCHLD
        if thread_id:
            flags |= kernel.CLONE_CHILD_SETTID | kernel.CLONE_CHILD_CLEARTID
        failed = self._enter(flags, self._status, thread_id)
        if failed:
            raise OSError(-failed, "clone")


def make() -> Guard | None:
    """A guard; `None` on a processor it is not written for, or where memory cannot be executable."""
    code = CODE.get(kernel.MACHINE)
    if code is None:
        return None
    try:
        return Guard(bytes.fromhex(code.replace(" ", "")))
    except PermissionError:
        return None
