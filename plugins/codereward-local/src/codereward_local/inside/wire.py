"""Messages between the host and the box: one datagram each, and descriptors.

Into the box they are marshalled, which is cheapest to read. Out of it they are JSON: the host bears
any bytes.
"""

from __future__ import annotations

import json
import marshal
import os
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "RESULT_VARIABLE",
    "Closed",
    "instruct",
    "pass_on",
    "read_all",
    "receive",
    "send",
    "take",
    "take_instruction",
    "to_memory",
    "write_all",
]

MESSAGE_BYTES = 64 * 1024
RESULT_VARIABLE = b"CODEREWARD_RESULT"
RIGHTS_BYTES = socket.CMSG_SPACE(4 * struct.calcsize("i"))
MARSHAL_VERSION = 2


class Closed(Exception):  # noqa: N818 - says a state, not an error
    """The other side has gone."""


def pass_on(channel: socket.socket, data: bytes, fds: Sequence[int] = ()) -> None:
    """Send one datagram; the descriptors stay open on this side."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds))] if fds else []
    try:
        channel.sendmsg([data], rights)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed from error


def take(channel: socket.socket, size: int = MESSAGE_BYTES) -> tuple[bytes, tuple[int, ...]]:
    """Wait for one datagram and its descriptors."""
    try:
        data, rights, _flags, _address = channel.recvmsg(size, RIGHTS_BYTES, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:  # it went with words of ours unread; its own last ones may still be here
        data, rights, _flags, _address = channel.recvmsg(size, RIGHTS_BYTES, socket.MSG_CMSG_CLOEXEC)
    if not data:
        raise Closed
    packed = b"".join(each for _level, _kind, each in rights)
    return data, struct.unpack(f"{len(packed) // 4}i", packed)


def send(channel: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message out of the box."""
    pass_on(channel, json.dumps(message).encode(), fds)


def receive(channel: socket.socket) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Wait for a message out of the box."""
    data, fds = take(channel)
    return json.loads(data), fds


def instruct(channel: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message into the box."""
    pass_on(channel, marshal.dumps(message, MARSHAL_VERSION), fds)


def take_instruction(channel: socket.socket) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Wait for a message from the host."""
    data, fds = take(channel)
    return marshal.loads(data), fds


def read_all(fd: int) -> bytes:
    """The whole content of a file in memory, which is closed."""
    size = os.fstat(fd).st_size
    parts: list[bytes] = []
    while size > 0 and (part := os.pread(fd, size, sum(len(each) for each in parts))):
        parts.append(part)
        size -= len(part)
    os.close(fd)
    return b"".join(parts)


def write_all(fd: int, content: bytes) -> None:
    """Write to the last byte."""
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def to_memory(name: str, content: bytes = b"") -> int:
    """A descriptor of a new file in memory that holds `content` and stands at its start."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    if content:
        write_all(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
    return fd
