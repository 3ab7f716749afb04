"""What the sandbox's script said, read with a cap and put into codereward's terms."""

from __future__ import annotations

import base64
import io
import signal
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from codereward import BackendMisconfigured, Command, CommandResult, Limits, Program, Run, Status
from codereward.overruns import STATUS_OF_LIMIT, limit_complained_of

from codereward_superserve.payload import BUILD, limits_of, named

__all__ = ["BrokenReply", "Parked", "Refused", "most_bytes", "not_started", "parse", "read", "too_large"]

CLOCK_SECONDS: Final = 0.02
"""Resolution of the guest's clock, twice."""
SIGNAL_BASE: Final = 128
KILLED: Final = SIGNAL_BASE + signal.SIGKILL
TOO_LARGE: Final = SIGNAL_BASE + signal.SIGXFSZ
TOO_BUSY: Final = SIGNAL_BASE + signal.SIGXCPU
MOST_OF_IT: Final = 0.75
"""A program that ignores the first signal is killed a second of processor time later; the time that
is reported is less than what is counted for the limit where the machine itself has to wait."""
NO_START: Final = (126, 127)
GZIP: Final = b"\x1f\x8b"
MEMBER_BYTES: Final = 4096
"""Room for one member's header and padding in the archive."""


class BrokenReply(Exception):  # noqa: N818 - reads as what it is
    """The reply is not what the script writes: cut, mangled or made up.

    Args:
        message: What is wrong with it.
        began: Whether the script certainly began to run.
    """

    def __init__(self, message: str, began: bool) -> None:  # noqa: FBT001 - positional, so that it pickles
        super().__init__(message, began)
        self.message = message
        self.began = began


@dataclass(frozen=True, slots=True)
class Refused:
    """The script found that it cannot isolate programs in this template."""

    reason: str


@dataclass(frozen=True, slots=True)
class Parked:
    """What came back is too large for a reply and lies in a file of the sandbox."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How one command ended, as the script saw it."""

    code: int
    wall_seconds: float
    cpu_seconds: float
    memory_full: bool
    disk_full: bool
    sizes: tuple[int, int, int]
    """Bytes of standard output, standard error and the result channel, before they were cut."""


Returned = tuple[tuple[str, ...], bytes]
"""The script's remarks about commands, and the archive that came back."""


def parse(stdout: str, nonce: str) -> Returned | Parked | Refused:
    """Take the reply to an exec call apart.

    Raises:
        BrokenReply: It is not a whole reply of this very call.
    """
    lines = stdout.split("\n")
    if f"{nonce} begin" not in lines:
        raise BrokenReply("the reply does not carry this call's nonce", began=False)
    remarks: list[str] = []
    for position, line in enumerate(lines):
        if not line.startswith(f"{nonce} "):
            continue
        word, _, rest = line.removeprefix(f"{nonce} ").partition(" ")
        if word == "refused":
            return Refused(rest)
        if word == "file":
            return Parked(rest, tuple(remarks))
        if word == "data":
            return tuple(remarks), _decoded(lines[position + 1 :], nonce)
        remarks.append(f"{word} {rest}")
    raise BrokenReply("the reply ends early", began=True)


def _decoded(rest: list[str], nonce: str) -> bytes:
    if rest[1:2] != [f"{nonce} end"]:
        raise BrokenReply("the reply ends early", began=True)
    try:
        return base64.b64decode(rest[0], validate=True)
    except ValueError as error:  # binascii.Error, or a plain one where the text is not even ASCII
        raise BrokenReply("the reply's data is not base64", began=True) from error


def read(returned: Returned, program: Program, template: str) -> Run:
    """Put what came back into a `Run`.

    Raises:
        BackendMisconfigured: A program that a command names is not installed in the template.
        BrokenReply: It does not fit the program.
    """
    remarks, archive = returned
    files = _unpacked(archive, program)
    endings = dict(remark.split(" ", 1) for remark in remarks if " " in remark)
    sizes = _sizes(endings.pop("sizes", ""))
    results: dict[str, CommandResult] = {}
    for name, command in named(program):
        if results.get(BUILD) is not None and results[BUILD].exit_code != 0:
            results[name] = not_started("the build failed")
        elif name not in endings:
            raise BrokenReply(f"the reply says nothing about command {name}", began=True)
        elif endings[name].strip() == "missing":
            next(sizes)
            results[name] = _missing(command, template)
        else:
            ended = _ended(endings[name], next(sizes))
            results[name] = _result(ended, files.get(name, {}), limits_of(command, program))
    commands = tuple(results[str(number)] for number in range(len(program.commands)))
    return Run(commands, results.get(BUILD))


def not_started(reason: str) -> CommandResult:
    """The result of a command that never ran."""
    return CommandResult(Status.NOT_STARTED, stderr=reason.encode("utf-8", "replace"))


def too_large(program: Program) -> Run:
    """The run of a program whose own files are beyond its disk limit."""
    text = b"the program's files are larger than its disk limit"
    result = CommandResult(Status.OUTPUT_LIMIT, stderr=text, limit="disk_bytes")
    return Run(tuple(result for _ in program.commands), result if program.build else None)


def _missing(command: Command, template: str) -> CommandResult:
    name = command.argv[0]
    if "/" in name:
        return not_started(f"cannot start {name}: there is no such program")
    msg = (
        f"Superserve template {template!r} has no program {name!r}. Choose a template that has it: "
        "templates={language: name} or template=name of SuperserveExecutor"
    )
    raise BackendMisconfigured(msg)


# --------------------------------------------------------------------------- the archive


def _unpacked(archive: bytes, program: Program) -> dict[str, dict[str, bytes]]:
    """Name of a command → name of a file → its content."""
    files: dict[str, dict[str, bytes]] = {}
    try:
        if archive.startswith(GZIP):
            archive = zlib.decompressobj(wbits=31).decompress(archive, most_bytes(program))
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as opened:
            for member in opened:
                if member.isreg():
                    room, _, kind = member.name.removeprefix("./").partition("/")
                    files.setdefault(room.partition("-")[0], {})[kind] = _content(opened, member)
    except (zlib.error, tarfile.TarError, OSError, ValueError) as error:
        raise BrokenReply(f"what came back cannot be unpacked: {error}", began=True) from error
    return files


def _content(opened: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = opened.extractfile(member)
    return stream.read() if stream is not None else b""


def most_bytes(program: Program) -> int:
    """No honest archive is larger than this."""
    total = 64 * 1024
    for _, command in named(program):
        limits = limits_of(command, program)
        total += 2 * limits.output_bytes + limits.result_bytes + 4 * MEMBER_BYTES
    return total


# --------------------------------------------------------------------------- one command


def _sizes(text: str) -> Iterator[tuple[int, int, int]]:
    """Bytes of the three files of each command that the plan came to."""
    try:
        numbers = [int(word) for word in text.split()]
        yield from zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=True)
    except ValueError as error:
        raise BrokenReply(f"the sizes cannot be read: {text[:200]!r}", began=True) from error
    raise BrokenReply("the reply lacks the sizes of a command", began=True)


def _ended(remark: str, sizes: tuple[int, int, int]) -> Ended:
    words = remark.split()
    try:
        code, began, ended, memory, disk = words[1:6]
        before, after = sum(map(_seconds, words[6:8])), sum(map(_seconds, words[8:10]))
        return Ended(
            code=int(code),
            wall_seconds=float(ended) - float(began),
            cpu_seconds=after - before,
            memory_full=memory == "1",
            disk_full=disk == "1",
            sizes=sizes,
        )
    except ValueError as error:
        raise BrokenReply(f"a command's remark cannot be read: {remark[:200]!r}", began=True) from error


def _seconds(text: str) -> float:
    """The shell writes processor time as `1m2.345s`."""
    minutes, _, seconds = text.removesuffix("s").partition("m")
    return int(minutes) * 60 + float(seconds)


def _result(ended: Ended, files: Mapping[str, bytes], limits: Limits) -> CommandResult:
    caps = (limits.output_bytes, limits.output_bytes, limits.result_bytes)
    stdout, stderr, result = _contents(ended.sizes, caps, files)
    overflow = _overflow(ended.sizes, caps)
    limit = _stopped_by(ended, limits) or overflow or _complaint(ended, stderr)
    status, code, number = _ending(ended.code, limit, stderr)
    return CommandResult(
        status=status,
        exit_code=code,
        signal=number,
        stdout=stdout,
        stderr=stderr,
        result=result,
        truncated=overflow is not None,
        limit=limit,
        wall_seconds=max(0.0, ended.wall_seconds),
        cpu_seconds=max(0.0, ended.cpu_seconds),
    )


def _contents(sizes: tuple[int, ...], caps: tuple[int, ...], files: Mapping[str, bytes]) -> list[bytes]:
    """The three files, which must be as long as the script said."""
    contents = []
    for kind, size, cap in zip(("out", "err", "result"), sizes, caps, strict=True):
        content = files.get(kind, b"")[:cap]
        if len(content) != min(size, cap):
            raise BrokenReply(
                f"{len(content)} of {min(size, cap)} bytes of a command's {kind} came back", began=True
            )
        contents.append(content)
    return contents


def _stopped_by(ended: Ended, limits: Limits) -> str | None:
    """The limit whose enforcer killed the command."""
    if ended.memory_full:
        return "memory_bytes"
    if ended.code == TOO_BUSY:
        return "cpu_seconds"
    if ended.code != KILLED:
        return None
    if ended.wall_seconds >= limits.wall_seconds - CLOCK_SECONDS:
        return "wall_seconds"
    return "cpu_seconds" if ended.cpu_seconds >= limits.cpu_seconds * MOST_OF_IT else None


def _overflow(sizes: tuple[int, int, int], caps: tuple[int, int, int]) -> str | None:
    names = ("output_bytes", "output_bytes", "result_bytes")
    sized = zip(sizes, caps, names, strict=True)
    return next((name for size, cap, name in sized if size > cap), None)


def _complaint(ended: Ended, stderr: bytes) -> str | None:
    """The limit that made a program fail by itself, told by what is used up and what it said."""
    if ended.code == 0:
        return None
    if ended.disk_full or ended.code == TOO_LARGE:
        return "disk_bytes"
    return limit_complained_of(stderr)


def _ending(code: int, limit: str | None, stderr: bytes) -> tuple[Status, int | None, int | None]:
    if limit in STATUS_OF_LIMIT:
        return STATUS_OF_LIMIT[limit], None, None
    if code in NO_START and stderr.startswith(b"env: "):
        return Status.NOT_STARTED, None, None
    if code > SIGNAL_BASE and code - SIGNAL_BASE in signal.valid_signals():
        return Status.SIGNALED, None, code - SIGNAL_BASE
    return Status.EXITED, code, None
