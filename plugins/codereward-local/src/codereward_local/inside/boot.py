"""Given to the interpreter with `-c`: takes the modules of this package from the host, runs one.

The argument is the number of the socket to the host. The first message names the module to run and
carries the sources of all, since no file of the host's is in sight.
"""

import marshal
import os
import socket
import sys
from types import ModuleType

PACKAGES = ("codereward_local", "codereward_local.inside")


def install(sources: dict) -> None:
    """Put the modules in place, in the order they import each other."""
    for name in PACKAGES:
        package = ModuleType(name)
        package.__path__ = []
        sys.modules[name] = package
    for name, source in sources.items():
        full = PACKAGES[-1] + "." + name
        module = ModuleType(full)
        sys.modules[full] = module
        setattr(sys.modules[PACKAGES[-1]], name, module)
        exec(compile(source, f"<{full}>", "exec"), module.__dict__)  # noqa: S102


channel = socket.socket(fileno=int(sys.argv[1]))
channel.set_inheritable(False)
name, (bundle,), _flags, _address = socket.recv_fds(channel, 64, 1)
with os.fdopen(bundle, "rb") as file:
    install(marshal.loads(file.read()))  # noqa: S302 - made by the host
sys.modules[PACKAGES[-1] + "." + name.decode()].main(channel)
