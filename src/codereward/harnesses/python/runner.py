"""Runs inside the sandbox: loads the completion, evaluates one expression, reports its value.

Standard library only, and no import of codereward: this file travels into the sandbox as it is.
It shares its interpreter with the completion, so nothing here is a secret or a judge. It takes hold
of what it needs before the completion runs, so that an honest program that rebinds builtins, closes
its streams, changes directory or leaves early does not disturb its own result.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

LOAD, TEST, VALUE = "load", "test", "value"


def report(
    frame: dict[str, str],
    path: str = os.environ.get("CODEREWARD_RESULT", ""),
    dumps: Callable[..., str] = json.dumps,
    os: Any = os,
) -> None:
    """Append one frame to the result channel."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    data = dumps(frame).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
    os.close(descriptor)


def leave(
    status: int,
    exit_now: Callable[[int], NoReturn] = os._exit,
    stdout: Any = sys.stdout,
    stderr: Any = sys.stderr,
) -> NoReturn:
    """End the process now, whatever threads and handlers the completion left behind."""
    for stream in (stdout, stderr, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    exit_now(status)


def fail(
    stage: str,
    error: BaseException,
    show: Callable[..., None] = traceback.print_exception,
    one_line: Callable[..., list[str]] = traceback.format_exception_only,
) -> NoReturn:
    """Report an exception and end the process."""
    try:
        show(type(error), error, error.__traceback__, file=sys.stderr)
    except BaseException:
        pass
    try:
        text = "".join(one_line(type(error), error)).strip().splitlines()[-1]
    except BaseException:
        text = "an error that cannot be shown"
    report({"failed": stage, "error": text[:2000]})
    leave(1)


def load(
    path: str,
    module: types.ModuleType,
    compile: Any = compile,
    exec: Any = exec,
    exit: type[BaseException] = SystemExit,
) -> None:
    """Run the completion as a module of its own; leaving early ends its loading, no more."""
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    try:
        exec(code, module.__dict__)
    except exit:
        pass


def plain(value: Any) -> object:
    """Give the JSON form of number and array types that are not built in (numpy's)."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError("a value of type %s has no JSON form" % type(value).__name__)


def encode(
    value: object,
    dumps: Callable[..., str] = json.dumps,
    lift: Any = getattr(sys, "set_int_max_str_digits", None),
    plain: Callable[[Any], object] = plain,
) -> str:
    """The value as JSON text."""
    if lift is not None:
        lift(0)
    return dumps(value, default=plain)


def main(
    eval: Any = eval,
    exec: Any = exec,
    compile: Any = compile,
    load: Callable[..., None] = load,
    fail: Callable[..., NoReturn] = fail,
    leave: Callable[..., NoReturn] = leave,
    report: Callable[..., None] = report,
    encode: Callable[..., str] = encode,
) -> None:
    """Load the completion, evaluate the question whose number is the first argument, report."""
    number = int(sys.argv[1])
    directory = os.getcwd()
    with open("questions.json", encoding="utf-8", errors="surrogatepass") as file:
        questions = json.load(file)
    test = compile("(" + questions["items"][number] + "\n)", "<test>", "eval", dont_inherit=True)
    setup = compile(questions["setup"], "<setup>", "exec", dont_inherit=True)
    module = types.ModuleType("solution")
    module.__file__ = os.path.join(directory, "solution.py")
    sys.modules["solution"] = module
    sys.argv[:] = [module.__file__]
    stage = LOAD
    try:
        load(module.__file__, module)
        stage = TEST
        exec(setup, module.__dict__)
        value = eval(test, module.__dict__)
        stage = VALUE
        frame = {"value": encode(value)}
    except BaseException as error:
        fail(stage, error)
    report(frame)
    leave(0)


if __name__ == "__main__":
    main()
