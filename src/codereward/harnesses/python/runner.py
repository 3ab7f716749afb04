"""Runs inside the sandbox: loads the completion, asks it one question, reports the value.

Standard library only, and no import of codereward: this file travels into the sandbox as it is.
It shares its interpreter with the completion, so nothing here is a secret or a judge. It takes hold
of what it needs before the completion runs, so that an honest program that rebinds builtins, closes
its streams, changes directory or leaves early does not disturb its own result.

The first argument is the number of a question in `questions.json`, which is one of

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

LOAD, TEST, VALUE = "load", "test", "value"
HERE = os.getcwd()
RECURSION = sys.getrecursionlimit()
FunctionType = type(lambda: None)
ModuleType = type(sys)


def refuse(value: object, type: Any = type, error: Any = TypeError) -> NoReturn:
    """Say that a value has no JSON form."""
    raise error("a value of type %s has no JSON form" % type(value).__name__)


def writer(default: Callable[[Any], object]) -> Callable[[object], str]:
    """A function that gives a value's JSON text without looking anything up in `builtins`."""
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value: json.dumps(value, default=default)
    quoted = json.encoder.encode_basestring_ascii
    chunks = make({}, default, quoted, None, ": ", ", ", False, False, True)
    return lambda value: "".join(chunks(value, 0))


def report(
    frame: dict[str, str],
    path: str = os.environ.get("CODEREWARD_RESULT", ""),
    text_of: Callable[[object], str] = writer(refuse),
    open: Any = os.open,
    write: Any = os.write,
    flags: int = os.O_WRONLY | os.O_CREAT | os.O_APPEND,
) -> None:
    """Append one frame to the result channel."""
    descriptor = open(path, flags, 0o600)
    data = text_of(frame).encode() + b"\n"
    while data:
        data = data[write(descriptor, data) :]


def leave(
    status: int,
    exit_now: Callable[[int], NoReturn] = os._exit,
    stdout: Any = sys.stdout,
    stderr: Any = sys.stderr,
    sys: Any = sys,
    error: type[BaseException] = Exception,
) -> NoReturn:
    """End the process now, whatever threads and handlers the completion left behind."""
    for stream in (stdout, stderr, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except error:
            pass
    exit_now(status)


def one_line(error: BaseException, text_of: Any = str, type: Any = type) -> str:
    """The error as a person wants to see it in one line."""
    name: str = type(error).__name__
    try:
        text = text_of(error).strip()
    except BaseException:
        text = "(its message cannot be shown)"
    line: str = text.split("\n")[-1]
    return (name + ": " + line if line else name)[:2000]


def show(
    error: BaseException,
    own: str = leave.__code__.co_filename,
    hook: Any = sys.__excepthook__,
    stderr: Any = sys.stderr,
    sys: Any = sys,
    type: Any = type,
) -> None:
    """Print the traceback without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == own:
        trace = trace.tb_next
    sys.stderr = stderr
    hook(type(error), error.with_traceback(trace), trace)


def fail(
    stage: str,
    error: BaseException,
    show: Callable[..., None] = show,
    one_line: Callable[..., str] = one_line,
    report: Callable[..., None] = report,
    leave: Callable[..., NoReturn] = leave,
    base: type[BaseException] = BaseException,
) -> NoReturn:
    """Report an exception and end the process."""
    text = one_line(error)
    try:
        show(error)
    except base:
        pass
    report({"failed": stage, "error": text})
    leave(1)


def load(
    path: str,
    module: Any,
    compile: Any = compile,
    exec: Any = exec,
    open: Any = open,
    exit: type[BaseException] = SystemExit,
) -> None:
    """Run the completion as a module of its own; leaving early ends its loading, no more."""
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    try:
        exec(code, module.__dict__)
    except exit:
        pass


def plain(
    value: Any,
    type: Any = type,
    hasattr: Any = hasattr,
    refuse: Callable[[object], NoReturn] = refuse,
) -> object:
    """Give the JSON form of number and array types that are not built in (numpy's)."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    refuse(value)


def as_json(
    value: object,
    text_of: Callable[[object], str] = writer(plain),
    lift: Any = getattr(sys, "set_int_max_str_digits", None),
) -> str:
    """The value as JSON text."""
    if lift is not None:
        lift(0)
    return text_of(value)


def tagging() -> Callable[[object], object]:
    """The function that gives a value's tagged form."""
    path = os.path.join(HERE, "tagging.py")
    namespace: dict[str, Any] = {"__name__": "tagging"}
    with open(path, "rb") as source:
        exec(compile(source.read(), path, "exec", dont_inherit=True), namespace)
    tagged: Callable[[object], object] = namespace["tagged"]
    return tagged


class Find:
    """Finds the function to call: at the top level, else a method of `class Solution`, made anew."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.before = dict(module.__dict__)  # names of the prelude are not the completion's

    def __call__(
        self,
        name: str,
        callable: Any = callable,
        getattr: Any = getattr,
        isinstance: Any = isinstance,
        function: Any = FunctionType,
        type: Any = type,
        error: Any = NameError,
    ) -> Any:
        """The function, or bound method, of a name."""
        names = self.module.__dict__
        found, solution = names.get(name), names.get("Solution")
        if callable(found) and found is not self.before.get(name):
            return found
        if "." not in name:
            if solution is None:
                raise error("the completion defines no function %r" % name)
            return getattr(solution(), name)
        found = self.module
        for part in name.split("."):
            owner, found = found, getattr(found, part)
            if isinstance(owner, type) and isinstance(found, function):
                found = getattr(owner(), part)
        return found


class Question:
    """One question, compiled before the completion can get at the compiler."""

    def __init__(self, task: dict[str, Any], tagged: Any) -> None:
        self.task = task
        self.tagged = tagged
        self.before = compile(task.get("before", ""), "<test>", "exec", dont_inherit=True)
        groups = task.get("asks", [[task["ask"]]] if "ask" in task else [])
        self.groups = [[self.expression(ask) for ask in group] for group in groups]
        self.hold = compile(task.get("hold", ""), "<test>", "exec", dont_inherit=True)

    def expression(self, text: str) -> Any:
        """An expression, whatever lines it spans."""
        return compile("(" + text + "\n)", "<test>", "eval", dont_inherit=True)

    def value(self, find: Find, names: dict[str, Any], eval: Any = eval, exec: Any = exec) -> object:
        """Ask; for several expressions, the list of their tagged values."""
        if "call" in self.task:
            return find(self.task["call"])(*self.task["args"], **self.task["kwargs"])
        if "ask" in self.task:
            return eval(self.groups[0][0], names)
        exec(self.before, names)
        return [self.holds(names)] if "hold" in self.task else self.values(names)

    def holds(self, names: dict[str, Any], exec: Any = exec, error: Any = AssertionError) -> bool:
        """Whether the statement passes."""
        try:
            exec(self.hold, names)
        except error:
            return False
        return True

    def values(
        self,
        names: dict[str, Any],
        eval: Any = eval,
        one_line: Any = one_line,
        error: Any = Exception,
    ) -> list[object]:
        """The tagged values of all expressions; one after the first may fail, and need not be needed."""
        taken: list[object] = []
        for group in self.groups:
            try:
                values = [eval(code, names) for code in group]
                taken += [self.tagged(value) for value in values]
            except error as failure:
                if group is self.groups[0]:
                    raise
                taken += [{"raised": one_line(failure)} for _ in group]
        return taken


def main(
    load: Callable[..., None] = load,
    fail: Callable[..., NoReturn] = fail,
    leave: Callable[..., NoReturn] = leave,
    report: Callable[..., None] = report,
    as_json: Callable[..., str] = as_json,
    exec: Any = exec,
    base: type[BaseException] = BaseException,
    limit: Any = sys.setrecursionlimit,
    recursion: int = RECURSION,
) -> None:
    """Load the completion, ask the question whose number is the first argument, report."""
    with open("questions.json", encoding="utf-8", errors="surrogatepass") as file:
        questions = json.load(file)
    question = Question(questions["items"][int(sys.argv[1])], tagging() if questions["tagged"] else None)
    prelude = compile(questions["prelude"], "<prelude>", "exec", dont_inherit=True)
    setup = compile(questions["setup"], "<setup>", "exec", dont_inherit=True)
    module: Any = ModuleType("solution")
    module.__file__ = os.path.join(HERE, "solution.py")
    sys.modules["solution"] = module
    sys.argv[:] = [module.__file__]
    stage = LOAD
    try:
        exec(prelude, module.__dict__)
        find = Find(module)
        load(module.__file__, module)
        stage = TEST
        exec(setup, module.__dict__)
        value = question.value(find, module.__dict__)
        stage = VALUE
        limit(recursion)
        frame = {"value": as_json(value)}
    except base as error:
        fail(stage, error)
    report(frame)
    leave(0)


if __name__ == "__main__":
    try:
        main()
    finally:
        leave(1)  # whatever went wrong, nothing that the completion left behind is waited for
