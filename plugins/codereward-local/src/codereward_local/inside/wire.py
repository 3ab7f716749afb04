"""Messages between the host and the box: one datagram each, JSON and descriptors."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

__all__ = ["MESSAGE_BYTES", "RESULT_VARIABLE", "Closed", "read_all", "receive", "send", "to_memory"]

MESSAGE_BYTES = 64 * 1024
RESULT_VARIABLE = b"CODEREWARD_RESULT"
DESCRIPTORS = 4


class Closed(Exception):  # noqa: N818 - says a state, not an error
    """The other side has gone."""


def send(channel: socket.socket, message: dict[str, Any], fds: list[int] | None = None) -> None:
    """Send one message; the descriptors stay open on this side."""
    try:
        socket.send_fds(channel, [json.dumps(message).encode()], fds or [])
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
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        return file.read()


def to_memory(name: str, content: bytes = b"") -> int:
    """A descriptor of a new file in memory that holds `content` and stands at its start."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
