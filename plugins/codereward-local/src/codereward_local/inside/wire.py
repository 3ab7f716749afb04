"""Messages between the host and the box: one datagram each, JSON and descriptors."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

__all__ = [
    "MESSAGE_BYTES",
    "RESULT_VARIABLE",
    "Closed",
    "read_all",
    "receive",
    "send",
    "to_memory",
    "write_all",
]

MESSAGE_BYTES = 64 * 1024
RESULT_VARIABLE = b"CODEREWARD_RESULT"
DESCRIPTORS = 4


class Closed(Exception):  # noqa: N818 - says a state, not an error
    """The other side has gone."""


def send(channel: socket.socket, message: dict[str, Any], fds: list[int] | None = None) -> None:
    """Send one message; the descriptors stay open on this side."""
    data = json.dumps(message).encode() if message else b"{}"
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds))] if fds else []
    try:
        channel.sendmsg([data], rights)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed from error


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for one message and its descriptors."""
    try:
        data, fds, _flags, _address = socket.recv_fds(channel, MESSAGE_BYTES, DESCRIPTORS)
    except ConnectionResetError as error:
        raise Closed from error
    if not data:
        raise Closed
    for fd in fds:
        os.set_inheritable(fd, False)
    return json.loads(data), fds


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
