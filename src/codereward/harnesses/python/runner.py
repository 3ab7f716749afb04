"""Runs inside the sandbox: loads the completion, asks it one question, reports the value.

Standard library only, and no import of codereward: this file travels into the sandbox as it is.
It shares its interpreter with the completion, so nothing here is a secret or a judge. It takes hold
of what it needs before the completion runs, so that an honest program that rebinds builtins, closes
its streams, changes directory or leaves early does not disturb its own result.

Its standard input, which the completion does not get to see, is a JSON object: `prelude` and `setup`,
source around the completion; `tagged`, whether values are in the tagged form; and `task`, one of

- `{"ask": expression}`,
- `{"call": name, "args": [...], "kwargs": {...}}`,
- `{"before": statements, "asks": [[expression, ...], ...]}`: the values of a group are taken down
  together, when all of its expressions are evaluated,
- `{"before": statements, "hold": statement}`: whether it passes without an `AssertionError`.
"""

from __future__ import annotations

import json
import os
import sys
from builtins import *  # noqa: F403 - names of our own, which no program that rebinds builtins can take away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

LOAD, TEST, VALUE = "load", "test", "value"
HERE = os.getcwd()
RESULT = os.environ.get("CODEREWARD_RESULT", "")

open_descriptor, write_descriptor, exit_now = os.open, os.write, os._exit
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
show_exception, stdout, stderr = sys.__excepthook__, sys.stdout, sys.stderr
recursion, set_recursion = sys.getrecursionlimit(), sys.setrecursionlimit
lift_digits = getattr(sys, "set_int_max_str_digits", None)
Function, Module = type(lambda: None), type(sys)


# --------------------------------------------------------------------------- values


def plain(value: Any) -> object:
    """Give the JSON form of number and array types that are not built in (numpy's)."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError("a value of type %s has no JSON form" % type(value).__name__)


def writer() -> Callable[[object], str]:
    """The C encoder of the JSON module, which looks nothing up while it works."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value: json.dumps(value, default=plain)
    quoted = json.encoder.encode_basestring_ascii
    chunks = make({}, plain, quoted, None, ": ", ", ", False, False, True)
    return lambda value: "".join(chunks(value, 0))


write_json = writer()


def encoded(value: object) -> str:
    """The value as JSON text."""
    set_recursion(recursion)
    if lift_digits is not None:
        lift_digits(0)
    try:
        return write_json(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def tagging() -> Callable[[object], object]:
    """The function that gives a value's tagged form."""
    path = os.path.join(HERE, "tagging.py")
    namespace: dict[str, Any] = {"__name__": "tagging"}
    with open(path, "rb") as source:
        exec(compile(source.read(), path, "exec", dont_inherit=True), namespace)
    tagged: Callable[[object], object] = namespace["tagged"]
    return tagged


# --------------------------------------------------------------------------- reporting


def report(frame: dict[str, str]) -> None:
    """Append one frame to the result channel."""
    descriptor = open_descriptor(RESULT, APPEND, 0o600)
    data = write_json(frame).encode() + b"\n"
    while data:
        data = data[write_descriptor(descriptor, data) :]


def leave(status: int) -> NoReturn:
    """End the process now, whatever threads and handlers the completion left behind."""
    for stream in (stdout, stderr, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    exit_now(status)


def fail(stage: str, error: BaseException) -> NoReturn:
    """Report an exception and end the process."""
    text = one_line(error)
    try:
        show(error)
    except BaseException:
        pass
    report({"failed": stage, "error": text})
    leave(1)


def one_line(error: BaseException) -> str:
    """The error as a person wants to see it in one line."""
    name = type(error).__name__
    try:
        line = str(error).strip().split("\n")[-1]
    except BaseException:
        line = "(its message cannot be shown)"
    return (name + ": " + line if line else name)[:2000]


def show(error: BaseException) -> None:
    """Print the traceback without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == show.__code__.co_filename:
        trace = trace.tb_next
    sys.stderr = stderr
    show_exception(type(error), error.with_traceback(trace), trace)


# --------------------------------------------------------------------------- asking


def load(path: str, names: dict[str, Any]) -> None:
    """Run the completion as a module of its own; leaving early ends its loading, no more."""
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    try:
        exec(code, names)
    except SystemExit:
        pass


def found(name: str, names: dict[str, Any], prelude: dict[str, Any]) -> Any:
    """The function to call: at the top level, else a method of `class Solution`, made anew."""
    function = names.get(name)
    if callable(function) and function is not prelude.get(name):
        return function
    if "." in name:
        return found_inside(name, names)
    if "Solution" not in names:
        raise NameError("the completion defines no function %r" % name)
    return getattr(names["Solution"](), name)


def found_inside(dotted: str, names: dict[str, Any]) -> Any:
    """What a dotted name stands for; a method of a class is bound to an object made anew."""
    first, *rest = dotted.split(".")
    if first not in names:
        raise NameError("the completion defines no %r" % first)
    value = names[first]
    for part in rest:
        owner, value = value, getattr(value, part)
        if isinstance(owner, type) and isinstance(value, Function):
            value = getattr(owner(), part)
    return value


class Question:
    """One question, compiled before the completion can get at the compiler."""

    def __init__(self, task: dict[str, Any], tagged: Any) -> None:
        self.call = task if "call" in task else None
        self.alone = "ask" in task
        self.tagged = tagged
        self.before = compile(task.get("before", ""), "<test>", "exec", dont_inherit=True)
        groups = task.get("asks", [[task["ask"]]] if "ask" in task else [])
        self.groups = [[expression(ask) for ask in group] for group in groups]
        self.hold = compile(task["hold"], "<test>", "exec", dont_inherit=True) if "hold" in task else None

    def value(self, names: dict[str, Any], prelude: dict[str, Any]) -> object:
        """Ask; for several expressions, the list of their tagged values."""
        if self.call is not None:
            return found(self.call["call"], names, prelude)(*self.call["args"], **self.call["kwargs"])
        if self.alone:
            return eval(self.groups[0][0], names)
        exec(self.before, names)
        return self.values(names) if self.hold is None else [holds(self.hold, names)]

    def values(self, names: dict[str, Any]) -> list[object]:
        """The tagged values of all expressions; one after the first may fail, and need not be needed."""
        taken: list[object] = []
        for group in self.groups:
            try:
                values = [eval(code, names) for code in group]
                taken += [self.tagged(value) for value in values]
            except Exception as error:
                if group is self.groups[0]:
                    raise
                taken += [{"raised": one_line(error)} for _ in group]
        return taken


def holds(statement: Any, names: dict[str, Any]) -> bool:
    """Whether a statement passes."""
    try:
        exec(statement, names)
    except AssertionError:
        return False
    return True


def expression(text: str) -> Any:
    """An expression, whatever lines it spans."""
    return compile("(" + text + "\n)", "<test>", "eval", dont_inherit=True)


def given() -> Any:
    """What standard input holds; after that, it is empty for good."""
    chunks = []
    while True:
        chunk = os.read(0, 2**20)
        if not chunk:
            break
        chunks.append(chunk)
    empty, end = os.pipe()
    os.close(end)
    os.dup2(empty, 0)
    os.close(empty)
    return json.loads(b"".join(chunks))


def main() -> None:
    """Load the completion, ask the question, report."""
    asked = given()
    question = Question(asked["task"], tagging() if asked["tagged"] else None)
    prelude = compile(asked["prelude"], "<prelude>", "exec", dont_inherit=True)
    setup = compile(asked["setup"], "<setup>", "exec", dont_inherit=True)
    del asked
    module: Any = Module("solution")
    module.__file__ = os.path.join(HERE, "solution.py")
    names = module.__dict__
    sys.modules["solution"] = module
    sys.argv[:] = [module.__file__]
    stage = LOAD
    try:
        exec(prelude, names)
        before = dict(names)
        load(module.__file__, names)
        stage = TEST
        exec(setup, names)
        value = question.value(names, before)
        stage = VALUE
        frame = {"value": encoded(value)}
    except BaseException as error:
        fail(stage, error)
    report(frame)
    leave(0)


if __name__ == "__main__":
    try:
        main()
    finally:
        leave(1)  # whatever went wrong, nothing that the completion left behind is waited for
