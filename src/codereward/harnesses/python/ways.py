"""How questions are put to Python code: in the loaded module, or to a program of its own."""

from __future__ import annotations

import functools
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Protocol

from codereward.harnesses.observing import read_outputs, read_values
from codereward.model import Command, Observation, Questions, Run

__all__ = ["Outputs", "Values", "Way"]

SOLUTION = "solution.py"


class Way(Protocol):
    """How a kind's questions are put to code, and how what comes back is read."""

    @abstractmethod
    def files(self, questions: Questions) -> Mapping[str, bytes]:
        """What lies beside `solution.py` in the sandbox."""
        ...

    @abstractmethod
    def commands(self, questions: Questions) -> tuple[Command, ...]:
        """One command for each question."""
        ...

    @abstractmethod
    def read(self, run: Run, questions: Questions) -> Observation:
        """Read what came back. Never raises."""
        ...


class Values(Way):
    """The runner loads the completion as a module, asks it, and reports the value as JSON.

    A question is the runner's standard input, not a file: the completion finds no test to read.

    Args:
        task: Makes the runner's task of a question.
        several: Whether a row of this kind asks several questions.
        tagged: Whether values are in the tagged form.
    """

    def __init__(self, task: Callable[[str], object], *, several: bool, tagged: bool = False) -> None:
        self.task = task
        self.several = several
        self.tagged = tagged

    def files(self, questions: Questions) -> Mapping[str, bytes]:
        """The runner."""
        names = ("runner.py", "tagging.py") if self.tagged else ("runner.py",)
        return {name: source(name) for name in names}

    def commands(self, questions: Questions) -> tuple[Command, ...]:
        """One run of the runner for each question."""
        return asking(self.task, questions, tagged=self.tagged)

    def read(self, run: Run, questions: Questions) -> Observation:
        """Read the values out of the result channels."""
        return read_values(run, several=self.several)


class Outputs(Way):
    """The completion is run as a program, once for each question, which is its standard input."""

    def files(self, questions: Questions) -> Mapping[str, bytes]:
        """Nothing but the completion."""
        return {}

    def commands(self, questions: Questions) -> tuple[Command, ...]:
        """One run of the completion for each standard input."""
        return tuple(
            Command(("python3", "-I", "-B", SOLUTION), item.encode("utf-8", "surrogateescape"))
            for item in questions.items
        )

    def read(self, run: Run, questions: Questions) -> Observation:
        """Read the standard outputs."""
        return read_outputs(run)


def ask(item: str) -> object:
    """The runner's task for an expression."""
    return {"ask": item}


@functools.lru_cache(maxsize=64)
def asking(task: Callable[[str], object], questions: Questions, *, tagged: bool) -> tuple[Command, ...]:
    """The commands that ask, in interpreters that ignore their surroundings; a group's programs share them."""
    around = {"prelude": questions.prelude, "setup": questions.setup, "tagged": tagged}
    inputs = (json.dumps({**around, "task": task(item)}) for item in questions.items)
    return tuple(Command(("python3", "-I", "-B", "runner.py"), text.encode()) for text in inputs)


@functools.cache
def source(name: str) -> bytes:
    """The source of a file of ours that travels with programs."""
    return files(__package__).joinpath(name).read_bytes()
