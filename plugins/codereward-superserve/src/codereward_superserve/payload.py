"""A program on its way into a sandbox: one archive, the script that runs it, and how it travels."""

from __future__ import annotations

import base64
import gzip
import io
import math
import secrets
import shlex
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Final

from codereward import Command, Limits, Program

__all__ = ["BUILD", "Parcel", "fits_on_disk", "limits_of", "pack", "script", "wall_seconds"]

BUILD: Final = "build"
"""Name of the build command; the others are called by their number."""

PART_BYTES: Final = 120 * 1024
"""Length of one environment variable. Linux allows 128 KiB, name and terminator included."""
INLINE_BYTES: Final = 1_500_000
"""Longest base64 text that travels in the exec request. All arguments and variables of a process
together may take about 2 MB; the rest is left to the script itself and the sandbox's own ones."""
PAGE: Final = 4096
FILE_SLACK: Final = 64 * PAGE
"""Room beyond `Limits.disk_bytes` for directories and partly used pages."""
NAME_BYTES: Final = 255
TOOLS: Final = "unshare setpriv prlimit timeout base64 tar gzip mount awk stat truncate chmod"
GUEST_USER: Final = 65534
"""`nobody`: the user that programs run as, in the sandbox."""
PACK_FROM: Final = 65536
"""Archives below this size are not worth the time of another process in the sandbox."""

PROLOGUE: Final = """\
n=$CODEREWARD_NONCE
echo "$n begin"
for t in %s; do type $t >/dev/null 2>&1 || { echo "$n refused it has no $t"; exit 0; }; done
unshare -n -m sh -c %s || echo "$n refused unshare -n -m fails: do its commands run as root?"
"""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A packed program."""

    archive: bytes
    """The tar archive that `guest.sh` expects."""
    disk_bytes: int
    """Size of the program's file system."""

    @property
    def inline(self) -> bool:
        """Whether it travels inside the exec request."""
        return len(self.archive) * 4 // 3 + 4 <= INLINE_BYTES

    def variables(self) -> dict[str, str]:
        """The archive as environment variables."""
        text = base64.b64encode(self.archive).decode("ascii")
        parts = [text[start : start + PART_BYTES] for start in range(0, len(text), PART_BYTES)]
        numbered = {f"CODEREWARD_P{number}": part for number, part in enumerate(parts)}
        return {"CODEREWARD_PARTS": str(len(parts)), **self.room(), **numbered}

    def room(self) -> dict[str, str]:
        """The variable that says how large the program's file system is."""
        return {"CODEREWARD_DISK": str(self.disk_bytes)}


@cache
def script() -> str:
    """The command of the exec call; the same for every program."""
    inner = resources.files("codereward_superserve").joinpath("guest.sh").read_text("utf-8")
    return PROLOGUE % (TOOLS, shlex.quote(inner))


def limits_of(command: Command, program: Program) -> Limits:
    """The limits that apply to a command of the program."""
    return command.limits or program.limits


def named(program: Program) -> Iterator[tuple[str, Command]]:
    """The program's commands in the order they run, each with its name."""
    if program.build is not None:
        yield BUILD, program.build
    for number, command in enumerate(program.commands):
        yield str(number), command


def wall_seconds(program: Program) -> float:
    """The longest that the program's commands may take together."""
    return sum(limits_of(command, program).wall_seconds for _, command in named(program))


def fits_on_disk(program: Program) -> bool:
    """Whether the program's own files are within its disk limit."""
    return sum(len(content) for content in program.files.values()) <= _disk_bytes(program)


def pack(program: Program) -> Parcel:
    """Pack a program.

    Raises:
        ValueError: A name of a file is longer than file systems allow, or a variable's name is none.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        rooms = {name: f"{name}-{secrets.token_hex(8)}" for name, _ in named(program)}
        _add(archive, "plan", _plan(program, rooms))
        _add_folder(archive, "c", 0o711)
        for name, command in named(program):
            _add_room(archive, f"c/{rooms[name]}", command.stdin)
        _add_folder(archive, "box/tmp", 0o1777)
        _add_files(archive, program.files)
    plain = buffer.getvalue()
    packed = plain if len(plain) < PACK_FROM else gzip.compress(plain, compresslevel=1, mtime=0)
    return Parcel(packed, _disk_bytes(program) + FILE_SLACK)


def _add_room(archive: tarfile.TarFile, room: str, stdin: bytes) -> None:
    """What one command reads and writes, in a folder that other commands can neither list nor guess."""
    _add_folder(archive, room, 0o711)
    _add(archive, f"{room}/in", stdin, 0o400, GUEST_USER)
    for name in ("out", "err", "result"):
        _add(archive, f"{room}/{name}", b"", 0o600, GUEST_USER)


def _add_files(archive: tarfile.TarFile, files: Mapping[str, bytes]) -> None:
    paths = {_checked_path(name): content for name, content in files.items()}
    folders = {PurePosixPath("."), *(parent for path in paths for parent in path.parents)}
    for folder in sorted(folders):
        _add_folder(archive, f"box/work/{folder}", 0o755, GUEST_USER)
    for path, content in paths.items():
        _add(archive, f"box/work/{path}", content, 0o644, GUEST_USER)


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o600, owner: int = 0) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.uid, member.gid = len(content), mode, owner, owner
    archive.addfile(member, io.BytesIO(content))


def _add_folder(archive: tarfile.TarFile, name: str, mode: int, owner: int = 0) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, mode, owner, owner
    archive.addfile(member)


def _checked_path(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if any(len(_encode(part)) > NAME_BYTES for part in path.parts):
        msg = f"Program.files: a part of {name!r} is longer than {NAME_BYTES} bytes"
        raise ValueError(msg)
    return path


# --------------------------------------------------------------------------- the plan


def _plan(program: Program, rooms: Mapping[str, str]) -> bytes:
    lines = []
    for name, command in named(program):
        lines.append(_go(f"{name} {rooms[name]}", command, limits_of(command, program)))
        if name == BUILD:
            lines.append(b'[ "$code" = 0 ] || return 0')
    return b"\n".join(lines) + b"\n"


def _go(names: str, command: Command, limits: Limits) -> bytes:
    file = max(limits.disk_bytes, limits.output_bytes, limits.result_bytes) + PAGE
    numbers = (
        f"{limits.wall_seconds:.3f}",
        math.ceil(limits.cpu_seconds),
        limits.memory_bytes,
        limits.processes,
        file,
        limits.output_bytes,
        limits.result_bytes,
    )
    words = [command.argv[0], *_assignments(command), *command.argv]
    head = " ".join(["go", names, *map(str, numbers)])
    return b" ".join([head.encode(), *map(_quoted, words)])


def _assignments(command: Command) -> list[str]:
    for name in command.env:
        if not name or "=" in name or name.startswith("-"):
            msg = f"Command.env: {name!r} is not a name of a variable"
            raise ValueError(msg)
    return [f"{name}={value}" for name, value in command.env.items()]


def _quoted(word: str) -> bytes:
    return b"'" + _encode(word).replace(b"'", b"'\\''") + b"'"


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "surrogatepass")


def _disk_bytes(program: Program) -> int:
    sizes = (limits_of(command, program).disk_bytes for _, command in named(program))
    return max(sizes, default=program.limits.disk_bytes)
