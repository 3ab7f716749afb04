"""Given to the interpreter with `-c`: takes this package's modules from the host and runs one.

The argument is the number of the socket to the host. The first message names the module and
carries the sources of all, since no file of the host's is in sight.

A Python program under test runs from the last lines of this file, at the bottom of the stack: what
`main` returns in a process made for a program is the program.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import socket
import sys
from types import ModuleType
from typing import Any, NoReturn

INTERRUPTED = -2
PACKAGES = ("codereward_local", "codereward_local.inside")


def install(sources: dict[str, str]) -> None:
    """Put the modules in place, in the order they import each other."""
    for name in PACKAGES:
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = []
    for name, code in marshal.loads(translated(sources)).items():
        full = PACKAGES[-1] + "." + name
        module = ModuleType(full)
        sys.modules[full] = module
        setattr(sys.modules[PACKAGES[-1]], name, module)
        exec(code, module.__dict__)


def translated(sources: dict[str, str]) -> bytes:
    """The modules' code, marshalled.

    A child compiles, so that the compiler's memory is not in this process: the kernel would copy
    its page tables for every program.
    """
    fd = os.memfd_create("code")
    child = os.fork()
    if not child:
        code = {name: compile(text, f"<{PACKAGES[-1]}.{name}>", "exec") for name, text in sources.items()}
        with os.fdopen(fd, "wb") as file:
            marshal.dump(code, file)
        os._exit(0)
    os.waitpid(child, 0)
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        return file.read()


def start() -> Any:
    """Run the module that the host names; returns in a process made for a program."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    name, (bundle,), _flags, _address = socket.recv_fds(channel, 64, 1)
    with os.fdopen(bundle, "rb") as file:
        install(marshal.loads(file.read()))
    return sys.modules[PACKAGES[-1] + "." + name.decode()].main(channel)


def fail(error: BaseException) -> int:
    """Report what escaped from the program as the interpreter does; the exit code."""
    trace = error.__traceback__ and error.__traceback__.tb_next  # this file is not part of the program
    error.__traceback__ = trace
    if isinstance(error, SystemExit):
        return leave(error.code)
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as again:
        return leave(again.code)
    except BaseException:
        sys.__excepthook__(*sys.exc_info())
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return 1


def leave(code: object) -> int:
    """The exit code that `SystemExit` asks for."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    flush(sys.stdout)
    print(code, file=sys.stderr)
    return 1


def flush(stream: Any) -> bool:
    """Flush; tells whether it failed."""
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except BaseException:
        return True
    return False


def finish(code: int) -> NoReturn:
    """End the process as the interpreter does: threads, exit functions, the module, the streams."""
    threading = sys.modules.get("threading")
    try:
        if threading is not None:
            threading._shutdown()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    atexit._run_exitfuncs()
    broken = flush(sys.stdout)
    flush(sys.stderr)
    sys.modules.pop("__main__", None)
    gc.collect()
    broken = flush(sys.stdout) or broken
    flush(sys.stderr)
    if code == INTERRUPTED:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(120 if broken and code == 0 else code)


loaded = start()
if isinstance(loaded, int):
    finish(loaded)
code, namespace = loaded
del loaded
error = None
try:
    exec(code, namespace)
except BaseException as caught:
    error = caught
status = 0 if error is None else fail(error)
del code, namespace, error
finish(status)
