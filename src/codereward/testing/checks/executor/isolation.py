"""Programs reach neither the network nor the host nor each other."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from codereward.errors import BackendUnavailable
from codereward.model import Limits, Program, Run
from codereward.testing.checks.executor.bench import Bench, Check, python, sh

__all__ = ["CHECKS"]

CONNECT: Final = """
import socket, sys
for family, address in ((socket.AF_INET, (sys.argv[1], int(sys.argv[2]))), (socket.AF_UNIX, "\\0" + sys.argv[3])):
    try:
        client = socket.socket(family)
        client.settimeout(3)
        client.connect(address)
        print("connected to", address)
    except OSError:
        pass
print("done")
"""
"""Python that tries to reach a TCP address and an abstract Unix socket."""
VARIABLE: Final = "CODEREWARD_KIT_SECRET"


async def no_network(bench: Bench) -> None:
    """A program reaches no address outside its sandbox, not even on the machine it runs on."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0" + bench.token)
        local.listen()
        host, port = bench.outside or server.getsockname()[:2]
        result = await bench.only(python(CONNECT, host, str(port), bench.token))

    assert result.stdout == b"done\n", f"a program got out: {result.stdout!r:.200} {result.stderr!r:.200}"


async def host_files_are_out_of_sight(bench: Bench) -> None:
    """No file of the host can be read, by its path or through `/proc`, and none can be written."""
    script = 'cat "$1" "/proc/1/root$1" "$HOME/.ssh/id_rsa" /etc/shadow; echo planted > "$2"; echo done'
    with host_folder(secret=bench.token) as folder:
        result = await bench.only(sh(script, f"{folder}/secret", f"{folder}/planted"))
        found = names_in(folder)

    assert result.stdout == b"done\n", f"a program read a file of the host: {result.stdout!r:.200}"
    assert found == ["secret"], "a program wrote a file of the host"


async def host_environment_is_out_of_sight(bench: Bench) -> None:
    """No variable of the host's environment can be read, by a program or in its sandbox's processes."""
    with variable(VARIABLE, bench.token):
        executor = bench.make()
        try:
            program = bench.program(sh("env; cat /proc/[0-9]*/environ 2>/dev/null; echo done"))
            result = (await bench.run(program, executor)).commands[0]
        finally:
            await executor.aclose()

    assert result.stdout.endswith(b"done\n"), "the program did not run to its end"
    assert bench.token.encode() not in result.stdout, "the host's environment leaked"


async def programs_leave_nothing_to_the_next(bench: Bench) -> None:
    """A program finds nothing that an earlier one wrote, wherever it wrote it."""
    places = ". /tmp /var/tmp /dev/shm $HOME"
    write = f'for place in {places}; do echo "$1" > "$place/$1"; done 2>/dev/null; true'
    look = f'for place in {places}; do test -e "$place/$1" && echo "$place"; done; echo done'

    await bench.only(sh(write, bench.token))
    result = await bench.only(sh(look, bench.token))

    assert result.stdout == b"done\n", f"a program's files outlived it in {result.stdout!r:.200}"


async def programs_do_not_see_each_other(bench: Bench) -> None:
    """Programs that run at the same time see neither each other's processes nor files."""
    hide = sh(f'echo "$1" > /tmp/"$1"; {bench.sleeper(2)}', bench.token)
    seek = sh(
        'sleep 1; ls /tmp; cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep "^sleep"; echo done'
    )

    _, run = await asyncio.gather(bench.run(bench.program(hide)), bench.run(bench.program(seek)))

    shown = run.commands[0].stdout
    assert shown.endswith(b"done\n"), "the program did not run to its end"
    mark = bench.sleeper(2).encode()
    assert bench.token.encode() not in shown, "a program saw another's files"
    assert mark not in shown, "a program saw another's processes"


async def killing_everything_hurts_nobody_else(bench: Bench) -> None:
    """A program that kills all it can reach ends as a `Run` or as a sandbox lost after the start."""
    for script in ("kill -9 -1", "kill -9 1; kill -9 $PPID", "kill -STOP $PPID; kill -9 $$"):
        await ended(bench, bench.program(sh(script), limits=Limits(wall_seconds=2.0)))

    assert (await bench.only(sh("echo fine"))).stdout == b"fine\n", "the next program did not run"


async def ended(bench: Bench, program: Program) -> Run | None:
    """The run of a program that may take its sandbox down; `None` when it did."""
    try:
        return await bench.run(program)
    except BackendUnavailable as error:
        if not error.started:
            msg = "a program that ran was reported as never started"
            raise AssertionError(msg) from error
    return None


@contextmanager
def host_folder(**files: str) -> Iterator[str]:
    """A folder of this machine that everybody may use, for a while."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        for name, text in files.items():
            Path(folder, name).write_text(text, "utf-8")
        yield folder


def names_in(folder: str) -> list[str]:
    """What a folder of this machine holds."""
    return sorted(place.name for place in Path(folder).iterdir())


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable of this process for a while."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


CHECKS: Final[tuple[Check, ...]] = (
    no_network,
    host_files_are_out_of_sight,
    host_environment_is_out_of_sight,
    programs_leave_nothing_to_the_next,
    programs_do_not_see_each_other,
    killing_everything_hurts_nobody_else,
)
