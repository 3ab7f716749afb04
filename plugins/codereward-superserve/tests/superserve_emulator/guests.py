"""The emulator's side of the guests: makes them, talks to their agents, sees them dead."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from .guest_zygote import FRAME

__all__ = ["Conversation", "Guest", "GuestFailure", "GuestHost"]

ZYGOTE = Path(__file__).with_name("guest_zygote.py")
CHUNK = 65536


class GuestFailure(Exception):  # noqa: N818 - reads as what happened
    """The guest or its agent could not do it.

    Args:
        message: What the guest said.
        errno: The system's error number, when it was one.
        dead: Whether the agent is gone.
    """

    def __init__(self, message: str, errno: int | None = None, dead: bool = False) -> None:
        super().__init__(message, errno, dead)
        self.message = message
        self.errno = errno
        self.dead = dead


def find_runtimes() -> list[list[str]]:
    """Prefixes of the interpreters, each with the links it gets in `/usr/local/bin`."""
    found = []
    system = Path("/usr/bin/python3")
    if system.exists():
        found.append(["/usr", "python3=bin/python3", "python=bin/python3"])
    else:
        program = f"bin/python{sys.version_info.major}.{sys.version_info.minor}"
        found.append([sys.base_prefix, f"python3={program}", f"python={program}"])
    if node := shutil.which("node"):
        prefix = Path(node).resolve().parent.parent
        if prefix != Path("/usr"):
            found.append([str(prefix), "node=bin/node"])
    return found


@dataclass(slots=True)
class Guest:
    """One sandbox's own file system, processes and users."""

    agent: socket.socket
    pid: int
    pidfd: int

    async def request(self, kind: bytes, body: dict[str, object]) -> Conversation:
        """Ask the agent for one operation."""
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.agent, [b"r"], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise GuestFailure("the agent is gone", dead=True) from error
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        conversation = Conversation(reader, writer)
        await conversation.send(kind, json.dumps(body).encode())
        return conversation

    def freeze(self, *, frozen: bool) -> None:
        """Stop every process of the guest, or let them go on."""
        number = signal.SIGSTOP if frozen else signal.SIGCONT
        for pid in [self.pid, *_descendants(self.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def die(self) -> None:
        """Kill every process of the guest, at once."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    async def destroy(self) -> None:
        """Kill every process of the guest and wait until none is left."""
        self.die()
        loop = asyncio.get_running_loop()
        dead = asyncio.Event()
        loop.add_reader(self.pidfd, dead.set)
        try:
            await dead.wait()
        finally:
            loop.remove_reader(self.pidfd)
            os.close(self.pidfd)
            self.agent.close()


def _descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(child), *_descendants(int(child))]
    return found


@dataclass(slots=True)
class Conversation:
    """One operation of an agent: frames in both directions."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, kind: bytes, body: bytes) -> None:
        """Send one frame."""
        try:
            self.writer.write(FRAME.pack(kind, len(body)) + body)
            await self.writer.drain()
        except ConnectionError as error:
            raise GuestFailure("the agent is gone", dead=True) from error

    async def frames(self) -> AsyncIterator[tuple[bytes, bytes]]:
        """What the agent says, up to and including its last word (`x`).

        Raises:
            GuestFailure: The operation failed, or the agent died in the middle of it.
        """
        try:
            while True:
                kind, size = FRAME.unpack(await self.reader.readexactly(FRAME.size))
                body = await self.reader.readexactly(size)
                if kind == b"f":
                    raise GuestFailure(**json.loads(body))
                yield kind, body
                if kind == b"x":
                    return
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise GuestFailure("the agent is gone", dead=True) from error
        finally:
            self.writer.close()


class GuestHost:
    """Owns the zygote process that forks guests."""

    def __init__(self) -> None:
        self._root = tempfile.mkdtemp(prefix="superserve-guest-")
        Path(self._root).chmod(0o755)
        self._runtimes = find_runtimes()
        self._serial = os.getpid()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-I", "-S", str(ZYGOTE), str(theirs.fileno())]
            self._zygote = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._control = ours

    async def create(self) -> Guest:
        """Make a guest.

        Raises:
            GuestFailure: This machine cannot isolate guests; the message says why.
        """
        self._serial += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = {"serial": self._serial, "root": self._root, "runtimes": self._runtimes}
        with theirs:
            socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])
        ours.setblocking(False)
        said: dict[str, object] = {}
        loop = asyncio.get_running_loop()
        while "ready" not in said:
            message = await loop.sock_recv(ours, CHUNK)
            said |= json.loads(message or b'{"failed": "no answer"}')
            if "failed" in said:
                ours.close()
                raise GuestFailure(f"cannot make a guest: {said['failed']}")
        pid = int(str(said["pid"]))
        return Guest(ours, pid, os.pidfd_open(pid))

    def close(self) -> None:
        """Stop the zygote, and with it every guest."""
        self._control.close()
        self._zygote.wait()
        with contextlib.suppress(OSError):
            Path(self._root).rmdir()
