"""The four contracts. Whoever fulfils one can be plugged in; nothing else is asked.

Inherit the protocol explicitly, so that a forgotten method is an error when the object is made.
Plugin code raises plain Python errors; the pipeline attributes what escapes to the plugin.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from codereward.model import (
    Answers,
    Extraction,
    Finding,
    Observation,
    Program,
    Questions,
    Run,
    Wanted,
)

__all__ = ["Executor", "Extractor", "Harness", "Row", "Scorer"]

Row = Mapping[str, object]
"""One row of the data set: column name → value, after `columns=` has renamed them."""


class Extractor(Protocol):
    """Finds the code in a completion.

    **Given:** the completion's whole text, any text at all (megabytes, lone surrogates, terminal
    escapes), and what is wanted of it.

    **Guarantees:** a pure function of its arguments that never raises, in time linear in the text.
    When it finds nothing it returns an `Extraction` with `code=None` and the reason in `how`.
    `code` need not be a literal slice of the text (an indented block loses its indentation), but
    `span` always points at where it came from.

    **Threads:** may be called from several threads at once. **Pickling:** must pickle.
    """

    @abstractmethod
    def extract(self, text: str, wanted: Wanted) -> Extraction:
        """Find the code that `wanted` asks for in `text`."""
        ...


class Harness(Protocol):
    """Knows one language: how a row's test becomes a program, and a run becomes a value.

    The answers leave `split` on one side and the questions on the other; `build` has no parameter
    that could carry answers into the sandbox.

    **Guarantees:** all three methods are pure and deterministic and do no I/O. `split` raises
    `DatasetError` for a row that cannot be scored (no test, undecodable or vacuous answers) and
    nothing else; `build` and `read` never raise, whatever the code or the run holds: what the
    program did wrong is an `Observation`.

    **Threads:** may be called from several threads at once. **Pickling:** must pickle.
    """

    language: ClassVar[str]
    """What users and rows call it: `python`, `node`, …"""
    tags: ClassVar[tuple[str, ...]]
    """Fence tags of the language in lower case, the usual one first."""
    version: ClassVar[tuple[str, ...]] = ()
    """Words of a command that prints the version of what runs the language; empty: nobody asks."""

    @abstractmethod
    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into what goes into the sandbox and what stays on the host.

        Args:
            row: The row's columns. `row["kind"]` is always there: the kind of test.

        Raises:
            DatasetError: The row cannot be scored.
        """
        ...

    @abstractmethod
    def build(self, code: str, questions: Questions) -> Program:
        """Put the completion's code and the questions together into a program."""
        ...

    @abstractmethod
    def read(self, run: Run, questions: Questions) -> Observation:
        """Read the values out of what the program left behind."""
        ...

    def parses(self, code: str) -> bool | None:
        """Whether `code` is a program of this language; `None`: cannot tell.

        Decides whether a completion without any fence is taken as code as a whole.
        """
        return None

    def defines(self, code: str, name: str) -> bool | None:
        """Whether `code` defines `name`; `None`: cannot tell.

        Decides which of several blocks holds the row's entry point.
        """
        return None


class Executor(Protocol):
    """Runs programs in sandboxes. The only part that does I/O.

    **Given:** `run` is called many times at once from one event loop, at most `max_concurrency`
    at a time. Programs are hostile.

    **Guarantees:** each program gets a fresh sandbox without network, used once; nothing of it is
    alive and nothing it wrote is left when `run` returns, raises, or is cancelled. Every limit of
    `Limits` holds. Whatever the program does is a `Run`; only the backend's own failures are
    raised:

    - `BackendUnavailable(message, started)` when another try may work. `started=False` only if the
      program certainly never began to run.
    - `BackendMisconfigured` when no retry can help (key, template, isolation).

    It keeps its own temporary failures inside while retrying is cheap, and knows nothing of tests,
    answers or scores.

    **Lifecycle:** the constructor opens nothing; clients, pools and processes are made by the
    first `run`, and belong to the loop that runs it. A used executor must still copy and pickle to
    an unused one of the same configuration (`__getstate__` drops what is live): that is how it
    gets into spawned workers and past a fork.
    """

    @abstractmethod
    async def run(self, program: Program) -> Run:
        """Run `program` in a fresh sandbox.

        Raises:
            BackendUnavailable: The backend failed and may recover.
            BackendMisconfigured: The backend cannot work as configured, or lacks the program's language.
        """
        ...

    async def aclose(self) -> None:
        """Destroy everything that is still alive. Idempotent; `run` may be called again after.

        Programs that run are ended, not waited for; their `run` returns or raises soon after.
        """
        return  # a body, so that type checkers do not take it for abstract

    async def diagnose(self) -> Sequence[Finding]:
        """Try whether sandboxes hold and work here, for people (`codereward doctor`).

        What is not to be had is a finding, not an exception. Executors need not implement it: that
        a program runs at all is tried by who asks.
        """
        return ()


class Scorer(Protocol):
    """Turns an observation and the answers into a score. The only part that compares.

    **Given:** an observation with at least one value (`outcome` is `scored`); programs that gave
    none score 0.0 without a scorer being asked.

    **Guarantees:** a pure function of its arguments that returns a finite float in [0, 1].

    **Threads:** may be called from several threads at once. **Pickling:** must pickle.
    """

    @abstractmethod
    def score(self, observation: Observation, answers: Answers) -> float:
        """Score what was observed against what was expected."""
        ...
