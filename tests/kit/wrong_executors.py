"""Executors that each break one law. All of them run their programs in real sandboxes."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from remembering import Remembering

from codereward import BackendUnavailable, Command, CommandResult, Executor, Limits, Program, Run, Status
from codereward.registry import default_registry
from codereward.wrappers import Wrapper


def local() -> Executor:
    return default_registry().create("executor", "local", {"workers": 4})


class Wrong(Wrapper):
    """Changes the limits, the commands or the results on their way."""

    def __init__(self) -> None:
        super().__init__(Remembering(local()))

    async def run(self, program: Program) -> Run:
        commands = tuple(self.changed(one, program) for one in program.commands)
        build = program.build and self.changed(program.build, program)
        run = await self.inner.run(replace(program, commands=commands, build=build))
        return Run(tuple(map(self.told, run.commands)), run.build and self.told(run.build), run.unsafe)

    def changed(self, command: Command, program: Program) -> Command:
        return replace(command, limits=self.limited(command.limits or program.limits))

    def limited(self, limits: Limits) -> Limits:
        return limits

    def told(self, result: CommandResult) -> CommandResult:
        return result


class Timeless(Wrong):
    """Ignores the wall limit."""

    def limited(self, limits: Limits) -> Limits:
        return replace(limits, wall_seconds=30.0)


class Imprecise(Wrong):
    """Does not tell processor time from time."""

    def told(self, result: CommandResult) -> CommandResult:
        return replace(result, limit="wall_seconds") if result.limit == "cpu_seconds" else result


class Uncapped(Wrong):
    """Forgets the cap on output."""

    def limited(self, limits: Limits) -> Limits:
        return replace(limits, output_bytes=10 * limits.output_bytes)


class Overflowing(Wrong):
    """Forgets the cap on results."""

    def limited(self, limits: Limits) -> Limits:
        return replace(limits, result_bytes=10 * limits.result_bytes)


class Stingy(Wrong):
    """Cuts output one byte too early."""

    def limited(self, limits: Limits) -> Limits:
        cut = limits.output_bytes == limits.result_bytes
        return replace(limits, output_bytes=limits.output_bytes - 1) if cut else limits


class Crowded(Wrong):
    """Ignores the limit of processes."""

    def limited(self, limits: Limits) -> Limits:
        return replace(limits, processes=64)


class Hoarding(Wrong):
    """Lets a full disk be the program's own problem."""

    def told(self, result: CommandResult) -> CommandResult:
        if result.limit != "disk_bytes":
            return result
        return replace(result, status=Status.EXITED, exit_code=1, limit=None)


class Uniform(Wrong):
    """Applies the program's cap on output to every command."""

    def changed(self, command: Command, program: Program) -> Command:
        own = command.limits or program.limits
        return replace(command, limits=replace(own, output_bytes=program.limits.output_bytes))


class Optimistic(Wrong):
    """Reports exit status 0 whatever happened."""

    def told(self, result: CommandResult) -> CommandResult:
        return replace(result, exit_code=0) if result.status is Status.EXITED else result


class Vague(Wrong):
    """Takes a memory limit for a signal."""

    def told(self, result: CommandResult) -> CommandResult:
        return (
            replace(result, status=Status.SIGNALED, signal=9)
            if result.status is Status.OUT_OF_MEMORY
            else result
        )


class Shell(Wrong):
    """Reports signals as a shell does."""

    def told(self, result: CommandResult) -> CommandResult:
        if result.status is not Status.SIGNALED:
            return result
        return replace(result, status=Status.EXITED, exit_code=128 + (result.signal or 0), signal=None)


class Forgetful(Wrong):
    """Keeps nothing of a program that ran out of time."""

    def told(self, result: CommandResult) -> CommandResult:
        return replace(result, stdout=b"", stderr=b"") if result.limit == "wall_seconds" else result


class Mixing(Wrong):
    """Puts standard error into standard output."""

    def told(self, result: CommandResult) -> CommandResult:
        return (
            replace(result, stdout=result.stdout + result.stderr, stderr=b"")
            if result.stderr == b"err\n"
            else result
        )


class Texting(Wrong):
    """Decodes what programs write, and encodes it again."""

    def told(self, result: CommandResult) -> CommandResult:
        return replace(result, stdout=result.stdout.decode("utf-8", "replace").encode())


class Deaf(Wrong):
    """Gives every command an empty standard input."""

    def changed(self, command: Command, program: Program) -> Command:
        return replace(command, stdin=b"")


class Gluing(Wrong):
    """Hands a command line to a shell."""

    def changed(self, command: Command, program: Program) -> Command:
        line = " ".join((shlex.join(command.argv[:3]), *command.argv[3:]))
        return replace(command, argv=("sh", "-c", line)) if "$(" in line else command


class Backwards(Wrong):
    """Returns results in the wrong order."""

    async def run(self, program: Program) -> Run:
        run = await super().run(program)
        return replace(run, commands=run.commands[::-1])


class Discouraged(Wrong):
    """Stops at the first command that fails."""

    async def run(self, program: Program) -> Run:
        run = await super().run(program)
        ends = [n for n, one in enumerate(run.commands) if one.exit_code != 0][:1] or [len(run.commands)]
        rest = (CommandResult(Status.NOT_STARTED),) * (len(run.commands) - ends[0] - 1)
        return replace(run, commands=(*run.commands[: ends[0] + 1], *rest))


class Stubborn(Wrong):
    """Runs the commands after a failed build."""

    async def run(self, program: Program) -> Run:
        run = await super().run(program)
        if run.build is None or run.build.exit_code == 0:
            return run
        return replace(await super().run(replace(program, build=None)), build=run.build)


class Fresh(Wrong):
    """Runs every command in a sandbox of its own."""

    async def run(self, program: Program) -> Run:
        runs = [await super(Fresh, self).run(replace(program, commands=(one,))) for one in program.commands]
        return Run(tuple(one.commands[0] for one in runs), runs[0].build if runs else None)


# --------------------------------------------------------------------------- not only results


class Direct(Wrapper):
    """Changes how it behaves, not what comes back."""

    def __init__(self) -> None:
        super().__init__(local())

    async def run(self, program: Program) -> Run:
        return await self.inner.run(program)


class Swallowing(Direct):
    """Takes a cancellation for an ending."""

    async def run(self, program: Program) -> Run:
        try:
            return await super().run(program)
        except asyncio.CancelledError:
            return Run(tuple(CommandResult(Status.TIMED_OUT) for _ in program.commands))


class Abandoning(Direct):
    """Leaves a cancelled program running."""

    async def run(self, program: Program) -> Run:
        return await asyncio.shield(super().run(program))


class Touchy(Direct):
    """Ends everything when one run is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: set[asyncio.Future[Run]] = set()

    async def run(self, program: Program) -> Run:
        task = asyncio.ensure_future(super().run(program))
        self.tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            for each in self.tasks:
                each.cancel()
            raise

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "tasks": set()}


class Confusing(Direct):
    """Gives a run the result of the one that ended before it."""

    last: Run | None = None

    async def run(self, program: Program) -> Run:
        run = await super().run(program)
        last, self.last = self.last, run
        return last or run


class Leaking(Direct):
    """Gives programs the host's environment."""

    async def run(self, program: Program) -> Run:
        commands = tuple(replace(one, env={**os.environ, **one.env}) for one in program.commands)
        return await super().run(replace(program, commands=commands))


class Connected(Direct):
    """Connects for the program, as a sandbox with a network would."""

    async def run(self, program: Program) -> Run:
        argv = program.commands[0].argv
        try:
            socket.create_connection((argv[3], int(argv[4])), timeout=1).close()
        except (IndexError, ValueError, OSError):
            return await super().run(program)
        return Run((CommandResult(Status.EXITED, 0, stdout=b"connected\ndone\n"),))


class Showing(Direct):
    """Shows the host's files, as a sandbox without its own file system would."""

    async def run(self, program: Program) -> Run:
        run = await super().run(program)
        argv = program.commands[0].argv
        seen = content_of(argv[4]) if len(argv) > 4 else b""
        return Run((replace(run.commands[0], stdout=seen + run.commands[0].stdout),))


def content_of(path: str) -> bytes:
    return Path(path).read_bytes() if Path(path).is_file() else b""


class Reused(Direct):
    """Lets files of a program lie for the next."""

    def __init__(self) -> None:
        super().__init__()
        self.used = False

    async def run(self, program: Program) -> Run:
        used, self.used = self.used, True
        return await super().run(
            replace(program, files={"seen": b"", **program.files} if used else program.files)
        )


class Pleading(Direct):
    """Says that a program that killed its sandbox never ran."""

    async def run(self, program: Program) -> Run:
        if any("kill -9 -1" in one.argv for one in program.commands):
            raise BackendUnavailable("no sandbox")
        return await super().run(program)


class Eager(Direct):
    """Opens a connection before it is asked to run."""

    def __init__(self) -> None:
        super().__init__()
        self.client = socket.socket()

    async def aclose(self) -> None:
        self.client.close()
        await super().aclose()


class Bound(Direct):
    """Stays with the event loop that it met first."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def run(self, program: Program) -> Run:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError("another loop")
        return await super().run(program)


class Locked(Direct):
    """Cannot be copied or pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Once(Direct):
    """Cannot be closed twice."""

    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True
        await super().aclose()


class Recalling(Wrong):
    """Gives equal programs the result of the first."""


WRONG_RESULTS: dict[Callable[[], Executor], set[str]] = {
    Timeless: {
        "wall_limit_is_reported",
        "wall_limit_holds_for_the_stubborn",
        "output_before_a_timeout_is_kept",
        "a_failed_command_does_not_stop_the_next",
        "a_failed_build_starts_nothing",
    },
    Imprecise: {"cpu_limit_is_reported"},
    Uncapped: {"output_limit_is_reported", "a_commands_own_limits_win"},
    Overflowing: {"result_limit_is_reported"},
    Stingy: {"output_up_to_the_limit_is_whole"},
    Crowded: {"process_limit_holds"},
    Hoarding: {"disk_limit_is_reported"},
    Uniform: {"a_commands_own_limits_win"},
    Optimistic: {
        "exit_codes_are_reported",
        "unread_stdin_does_no_harm",
        "many_commands_come_back_in_order",
        "a_failed_build_starts_nothing",
    },
    Vague: {"memory_limit_is_reported", "memory_is_that_of_the_whole_tree"},
    Shell: {
        "signals_are_reported",
        "a_failed_command_does_not_stop_the_next",
        "a_failed_build_starts_nothing",
    },
    Forgetful: {"output_before_a_timeout_is_kept"},
    Mixing: {"outputs_are_kept_apart", "output_before_a_timeout_is_kept"},
    Texting: {"every_byte_survives"},
    Deaf: {"every_byte_survives", "stdin_ends"},
    Gluing: {"arguments_are_not_interpreted", "files_are_laid"},
    Stubborn: {"a_failed_build_starts_nothing"},
}
"""Wrong in what comes back → all the checks of results, and some of limits, that they fail."""

WRONG_ORDERS: dict[Callable[[], Executor], str] = {
    Backwards: "many_commands_come_back_in_order",
    Discouraged: "a_failed_command_does_not_stop_the_next",
    Fresh: "commands_share_files",
    Swallowing: "cancelling_ends_the_program",
    Abandoning: "cancelling_ends_the_program",
    Touchy: "cancelling_one_leaves_the_others_alone",
    Confusing: "many_at_once_are_not_mixed_up",
    Leaking: "host_environment_is_out_of_sight",
    Connected: "no_network",
    Showing: "host_files_are_out_of_sight",
    Reused: "every_run_is_a_real_one",
    Recalling: "every_run_is_a_real_one",
    Pleading: "killing_everything_hurts_nobody_else",
    Eager: "constructor_opens_nothing",
    Bound: "another_event_loop_will_do",
    Locked: "copies_are_unused",
    Once: "closing_is_idempotent",
}
"""Wrong in how they go about it → the check that is about it."""
