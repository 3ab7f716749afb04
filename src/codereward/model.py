"""The data that crosses the seams between extractor, harness, executor, scorer and pipeline.

Everything here is frozen, built of plain values, and picklable. Sizes are in bytes, times in
seconds, unless a name says otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, Literal

__all__ = [
    "MISSING",
    "RESULT_VARIABLE",
    "Answers",
    "Blame",
    "Case",
    "Command",
    "CommandResult",
    "Comparator",
    "Extraction",
    "Finding",
    "Limits",
    "Missing",
    "Observation",
    "Outcome",
    "Program",
    "Questions",
    "Run",
    "Status",
    "Timings",
    "Trust",
    "Verdict",
    "Wanted",
]

RESULT_VARIABLE: Final = "CODEREWARD_RESULT"
"""Environment variable that names the file a command writes its result to.

Executors set it for every command, to a path that is fresh, writable and private to that command,
and return what the file holds after the whole process tree is dead (`CommandResult.result`).
"""


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        """`MISSING`, as it is written in code."""
        return "MISSING"

    __str__ = __repr__


MISSING: Final = Missing.MISSING
"""Stands where a program gave no value. Equal to no value that a row can expect."""


# --------------------------------------------------------------------------- what is looked for


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an extractor is asked to find in a completion."""

    language: str
    """Name of the harness's language, as `python`."""
    tags: tuple[str, ...]
    """Fence tags of that language in lower case, as `("python", "py")`."""
    entry_point: str | None = None
    """Name the code has to define, when the row says so."""
    parses: Callable[[str], bool | None] | None = None
    """Tells whether a text is a program of this language; `None`: nobody can tell."""
    defines: Callable[[str, str], bool | None] | None = None
    """Tells whether `(code, name)`: the code defines the name; `None`: nobody can tell."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The code found in one completion, or the reason why there is none."""

    code: str | None
    """The program text; `None` when nothing was found."""
    how: str
    """The rule that found it (`entry_point`, `first`, `whole_text`, …) or the reason for nothing."""
    span: tuple[int, int] | None = None
    """Start and end of the code in the completion, counted in characters."""
    tag: str | None = None
    """The fence's language tag as written; `None` without a fence."""
    closed: bool = True
    """Whether the fence was closed. `True` without a fence."""


# --------------------------------------------------------------------------- rows


Comparator = Callable[[object, object], bool]
"""Tells whether (observed value, expected value) are equal under one named rule."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The part of a row that goes into the sandbox. Holds no answer."""

    kind: str
    """The kind of test: `expression`, `cases`, …"""
    items: tuple[str, ...]
    """One text per case: an expression, a standard input, call arguments as JSON, ..."""
    entry_point: str | None = None
    """Name that the completion has to define, when the row says so."""
    setup: str = ""
    """Source that runs before the questions, after the completion."""
    limits: Limits | None = None
    """Limits of this row; `None`: the harness's."""
    prelude: str = ""
    """Source that runs before the completion."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The part of a row that stays on the host."""

    value: object
    """The expected value. For several cases: the list of theirs, in order."""
    comparators: tuple[Comparator, ...] = ()
    """How values are compared: one for all, or one for each case. Empty: JSON equality."""
    several: bool = False
    """Whether the row asks several questions, and `value` is a list with one item for each."""


# --------------------------------------------------------------------------- programs


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command of a program may use. Executors enforce every one of them."""

    wall_seconds: float = 10.0
    """Time on the clock."""
    cpu_seconds: float = 10.0
    """Processor time of one process; the tree is bounded by wall time times cores."""
    memory_bytes: int = 512 * 2**20
    """Memory of the whole process tree."""
    processes: int = 64
    """Processes and threads at once."""
    output_bytes: int = 2**20
    """Standard output and standard error, each."""
    result_bytes: int = 4 * 2**20
    """The result channel."""
    disk_bytes: int = 64 * 2**20
    """Files written, the result channel included."""

    def __post_init__(self) -> None:
        """Refuse limits that would forbid everything.

        Raises:
            ValueError: A limit is not a positive number.
        """
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                msg = f"Limits.{name} must be positive, not {getattr(self, name)!r}"
                raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Command:
    """One process to start in the sandbox."""

    argv: tuple[str, ...]
    """Program and arguments. The program is looked up on the sandbox's own PATH."""
    stdin: bytes = b""
    """Standard input; it ends after these bytes."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the sandbox's own environment, which holds nothing of the host's."""
    limits: Limits | None = None
    """Limits of this command alone; `None`: the program's."""

    def __post_init__(self) -> None:
        """Refuse a command that no system could start.

        Raises:
            ValueError: There is no program to start, or a word or variable holds a NUL.
        """
        if not self.argv or not self.argv[0]:
            msg = "a Command needs a program: argv[0] is missing"
            raise ValueError(msg)
        words = (*self.argv, *self.env, *self.env.values())
        if any("\0" in word for word in words):
            msg = f"a Command's words and variables must not hold NUL: {words!r:.100}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Program:
    """Everything an executor needs, and all it gets to know."""

    language: str
    """Chooses the sandbox's image or template (`python`, `node`, …); means nothing else."""
    files: Mapping[str, bytes]
    """Relative path → content. Laid in a fresh directory, which is every command's working one."""
    commands: tuple[Command, ...]
    """Run one after another in one sandbox; a failure of one does not stop the next."""
    build: Command | None = None
    """Runs first. When it does not exit with status 0, no command is started."""
    limits: Limits = field(default_factory=Limits)
    """Apply to every command that brings none of its own."""
    scaffold: frozenset[str] = frozenset()
    """Names of the files that are the harness's own and the same for many programs. An executor may
    prepare them in advance; it means nothing else."""

    def __post_init__(self) -> None:
        """Refuse files outside the program's directory.

        Raises:
            ValueError: A path is absolute, climbs, is empty, or holds a NUL.
        """
        for path in self.files:
            if (
                not path
                or path.startswith("/")
                or "\0" in path
                or not {"", ".", ".."}.isdisjoint(path.split("/"))
            ):
                msg = f"a Program's file {path!r} needs a plain path below the program's directory, as 'lib/a.py'"
                raise ValueError(msg)

    def digest(self) -> bytes:
        """16 bytes that are equal for equal programs and practically never otherwise."""
        state = hashlib.blake2b(digest_size=16)
        parts = (self.language, sorted(self.files.items()), self.limits, self.build, self.commands)
        state.update(repr(parts).encode("utf-8", "surrogatepass"))
        return state.digest()


class Status(StrEnum):
    """How one command ended."""

    EXITED = "exited"
    """By itself, with an exit code."""
    SIGNALED = "signaled"
    """By a signal that no limit sent."""
    TIMED_OUT = "timed_out"
    """At the wall or CPU limit."""
    OUT_OF_MEMORY = "out_of_memory"
    """At the memory limit."""
    OUTPUT_LIMIT = "output_limit"
    """At the limit of an output stream, the result channel, or the disk."""
    NOT_STARTED = "not_started"
    """Never ran: the build failed, or the program file is not there."""
    LOST = "lost"
    """Took its sandbox down, again and again, while other programs ran there unharmed."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came back from one command."""

    status: Status
    exit_code: int | None = None
    """Set when `status` is `exited`."""
    signal: int | None = None
    """Set when `status` is `signaled`."""
    stdout: bytes = b""
    """At most `Limits.output_bytes`, kept whatever the status."""
    stderr: bytes = b""
    """At most `Limits.output_bytes`, kept whatever the status."""
    result: bytes = b""
    """What the command left in the result channel, at most `Limits.result_bytes`."""
    truncated: bool = False
    """Whether any of the three was longer than its limit."""
    limit: str | None = None
    """Name of the `Limits` field that ended the command, when one did."""
    wall_seconds: float = 0.0
    cpu_seconds: float | None = None
    """Processor time of the process tree, where the executor can tell."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came back from one program."""

    commands: tuple[CommandResult, ...]
    """One for each of `Program.commands`, in order."""
    build: CommandResult | None = None
    """Set when the program had a build command."""
    unsafe: bool = False
    """Whether the executor ran it with weaker isolation than it promises, because told to."""


# --------------------------------------------------------------------------- verdicts


class Outcome(StrEnum):
    """How scoring one completion ended."""

    SCORED = "scored"
    """The program gave at least one value; the scorer compared."""
    NO_CODE = "no_code"
    """The completion holds no code."""
    BUILD_FAILED = "build_failed"
    """The build command (a compiler) refused the program."""
    CRASHED = "crashed"
    """The program ended by an error or a signal before it gave a value."""
    TIMED_OUT = "timed_out"
    """The program ran into its wall or CPU limit."""
    OUT_OF_MEMORY = "out_of_memory"
    """The program ran into its memory limit."""
    OUTPUT_LIMIT = "output_limit"
    """The program wrote more than it may."""
    NO_RESULT = "no_result"
    """The program ended by itself without giving a value, or gave one that cannot be compared."""
    UNAVAILABLE = "unavailable"
    """The backend could not run the program: no score."""


class Blame(StrEnum):
    """Whose doing it is that a completion was not scored by its values."""

    NOBODY = "nobody"
    PROGRAM = "program"
    BACKEND = "backend"


Trust = Literal["separate", "shared", "unsafe"]
"""How far the score is out of the program's reach.

`separate`: compared on the host; `shared`: test and program shared a process in the sandbox;
`unsafe`: the program ran with weaker isolation, because told to.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """What one question brought back."""

    outcome: Outcome
    value: object = MISSING
    """The value as plain built-in data; `MISSING` when there is none."""
    reason: str = ""
    """What went wrong, for people; empty when nothing did."""
    wall_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Observation:
    """What a harness read out of a run: data, not yet judged."""

    outcome: Outcome
    value: object = MISSING
    """The value; for several cases the list of theirs, `MISSING` where a case has none."""
    reason: str = ""
    """What went wrong, for people; empty when nothing did."""
    cases: tuple[Case, ...] = ()
    """One for each question."""
    trust: Trust = "separate"


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time of one completion went."""

    prepare_seconds: float = 0.0
    """Extraction and build."""
    run_seconds: float = 0.0
    """The executor's call, its own queue included."""
    score_seconds: float = 0.0
    """Reading the run and scoring it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything codereward has to say about one completion."""

    reward: float | None
    """What the trainer gets: the score, unless `outcome_rewards` says otherwise; `None`: no score."""
    score: float | None
    """What the scorer gave, in [0, 1]; `None` when the backend was at fault."""
    outcome: Outcome
    blame: Blame
    reason: str
    """One line for people; empty when the program gave all it was asked for."""
    extraction: Extraction
    cases: tuple[Case, ...] = ()
    """One for each question; empty when the program was not run."""
    observed: object = MISSING
    """The observed value, as the scorer saw it."""
    stdout: str = ""
    """The end of the program's standard output (2 kB), for people."""
    stderr: str = ""
    """The end of the program's standard error (2 kB), for people."""
    timings: Timings = Timings()
    trust: Trust = "separate"
    deduped: bool = False
    """Whether the result was shared with an identical program of the same batch."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried to see whether an executor works, and is safe, where it is."""

    name: str
    """What was tried, as `network` or `wall limit`."""
    passed: bool
    detail: str = ""
    """What is wrong and what to do about it; or, when it passed, what was found."""
