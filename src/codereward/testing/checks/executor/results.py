"""What comes back from programs that stay within their limits."""

from __future__ import annotations

from typing import Final

from codereward.errors import BackendMisconfigured
from codereward.model import Command, CommandResult, Limits, Status
from codereward.testing.checks.executor.bench import ROOMY, Bench, Check, python, sh

__all__ = ["CHECKS"]

EVERY_BYTE: Final = bytes(range(256))
REPORT: Final = 'printf %s "$1" > "$CODEREWARD_RESULT"'
AWKWARD: Final = (
    "",
    " ",
    "two words",
    "-n",
    "--help",
    'it\'s "quoted"',
    "$(echo expanded) `echo expanded` $HOME",
    "*",
    "a;b|c&d>e",
    "back\\slash",
    "line\nbreak\ttab",
    "naïve Ünïcode 漢字 🙂",
    "\x1b[31m",
)
"""Arguments that a careless command line would change."""


async def exit_codes_are_reported(bench: Bench) -> None:
    """A command that ends by itself is `exited` with its own exit code."""
    codes = (0, 1, 7, 255)

    run = await bench.run(bench.program(*(sh(f"exit {code}") for code in codes)))

    assert [one.status for one in run.commands] == [Status.EXITED] * len(codes), "status is not `exited`"
    assert [one.exit_code for one in run.commands] == [*codes], "exit codes differ"
    assert [one.signal for one in run.commands] == [None] * len(codes), "a signal where there was none"


async def signals_are_reported(bench: Bench) -> None:
    """A command that dies of a signal is `signaled` with the signal's number and no exit code."""
    numbers = (6, 9, 11, 15)

    run = await bench.run(bench.program(*(sh(f"kill -{number} $$; sleep 5") for number in numbers)))

    assert [one.status for one in run.commands] == [Status.SIGNALED] * len(numbers), (
        "status is not `signaled`"
    )
    assert [one.signal for one in run.commands] == [*numbers], "signal numbers differ"
    assert [one.exit_code for one in run.commands] == [None] * len(numbers), "exit code beside a signal"


async def outputs_are_kept_apart(bench: Bench) -> None:
    """Standard output and standard error come back whole, apart, and not in the result."""
    result = await bench.only(sh("echo out; echo err >&2; echo more"))

    assert result.stdout == b"out\nmore\n", "standard output differs"
    assert result.stderr == b"err\n", "standard error differs"
    assert result.result == b"", "output in the result channel"
    assert not result.truncated, "truncated without reason"
    assert result.limit is None, "a limit without reason"


async def every_byte_survives(bench: Bench) -> None:
    """Standard input, both outputs, files and the result channel carry any bytes unchanged."""
    script = 'cat; cat file.bin >&2; cat file.bin > "$CODEREWARD_RESULT"'
    program = bench.program(sh(script, stdin=EVERY_BYTE), files={"file.bin": EVERY_BYTE}, limits=ROOMY)

    result = (await bench.run(program)).commands[0]

    assert result.stdout == EVERY_BYTE, "standard input or output was changed"
    assert result.stderr == EVERY_BYTE, "standard error or a file was changed"
    assert result.result == EVERY_BYTE, "the result was changed"


async def stdin_ends(bench: Bench) -> None:
    """Standard input ends after the command's own bytes, and is empty when there are none."""
    run = await bench.run(bench.program(sh("cat", stdin=b"one"), sh("cat"), sh("cat", stdin=b"three")))

    assert [one.stdout for one in run.commands] == [b"one", b"", b"three"], "wrong standard input"


async def unread_stdin_does_no_harm(bench: Bench) -> None:
    """A command that leaves a megabyte of standard input unread ends as it would without."""
    result = await bench.only(sh("exit 3", stdin=bytes(2**20)))

    assert (result.status, result.exit_code) == (Status.EXITED, 3), "unread input changed the ending"


async def arguments_are_not_interpreted(bench: Bench) -> None:
    """Arguments arrive as they are: no shell expands, splits or drops them."""
    result = await bench.only(sh(r"""printf '%s\001' "$@" """, *AWKWARD))

    assert result.stdout.decode().split("\x01")[:-1] == [*AWKWARD], "arguments were changed"


async def variables_reach_their_command_alone(bench: Bench) -> None:
    """Variables are set for their own command, unchanged, and for no other."""
    script = r"""printf '%s\001' "${ONE-unset}" "${TWO-unset}" """
    first = sh(script, env={"ONE": AWKWARD[6], "TWO": AWKWARD[-2]})

    run = await bench.run(bench.program(first, sh(script)))

    assert run.commands[0].stdout.decode().split("\x01") == [AWKWARD[6], AWKWARD[-2], ""], "variables differ"
    assert run.commands[1].stdout == b"unset\x01unset\x01", "variables of one command reached another"


async def files_are_laid(bench: Bench) -> None:
    """Files lie in the working directory of every command, folders included, whatever their names."""
    files = {
        "a.txt": b"a",
        "deep/er/b": b"b",
        "empty": b"",
        "-n": b"dash",
        "sp ace '\"$X": b"quotes",
        "漢字": b"unicode",
    }
    shown = sh('for name in "$@"; do printf "%s|" "$(cat "./$name")"; done', *files)

    run = await bench.run(bench.program(shown, shown, files=files))

    expected = b"".join(content + b"|" for content in files.values())
    assert [one.stdout for one in run.commands] == [expected, expected], "files are missing or differ"


async def commands_share_files(bench: Bench) -> None:
    """Commands run one after another, in order, and find the files that earlier ones left."""
    run = await bench.run(bench.program(*(sh(f"echo {n} >> log; cat log") for n in range(3))))

    assert [one.stdout for one in run.commands] == [b"0\n", b"0\n1\n", b"0\n1\n2\n"], "order or files differ"


async def a_failed_command_does_not_stop_the_next(bench: Bench) -> None:
    """After a command that fails, dies, floods or runs out of time the next one still runs."""
    tight = Limits(wall_seconds=1.0, output_bytes=1000)
    failing = (sh("exit 1"), sh("kill -9 $$"), sh("sleep 20", limits=tight), sh("yes", limits=tight))

    run = await bench.run(bench.program(*failing, sh("echo alive")))

    assert run.commands[-1].stdout == b"alive\n", "the last command did not run"
    statuses = [one.status for one in run.commands[:-1]]
    wanted = [Status.EXITED, Status.SIGNALED, Status.TIMED_OUT, Status.OUTPUT_LIMIT]
    assert statuses == wanted, "statuses of the failed commands differ"


async def many_commands_come_back_in_order(bench: Bench) -> None:
    """Twenty commands in one program give twenty results, in order."""
    run = await bench.run(bench.program(*(sh(f"echo {n}; exit {n}") for n in range(20))))

    assert [one.exit_code for one in run.commands] == [*range(20)], "exit codes are out of order"
    assert [one.stdout for one in run.commands] == [b"%d\n" % n for n in range(20)], (
        "outputs are out of order"
    )


async def results_travel_apart(bench: Bench) -> None:
    """Each command finds an empty result channel of its own, and what it leaves there comes back with it."""
    peek = 'cat "$CODEREWARD_RESULT" 2>/dev/null; '

    run = await bench.run(
        bench.program(sh(peek + REPORT, "one"), sh(peek), sh(peek + REPORT, "three"), sh(peek + "exit 1"))
    )

    assert [one.result for one in run.commands] == [b"one", b"", b"three", b""], "results differ"
    assert [one.stdout for one in run.commands] == [b""] * 4, "a command saw the result of another"


async def what_outlives_a_command_ends_with_it(bench: Bench) -> None:
    """What a command leaves running holds nothing up, and cannot touch results, files or later commands."""
    late = 'sleep 1; echo late; echo late > file; printf late > "$CODEREWARD_RESULT"'
    first = sh(f"({late}) & {REPORT}; echo early > file; echo early", "early")

    run = await bench.run(bench.program(first, sh("sleep 2; cat file")))

    early = run.commands[0]
    assert (early.status, early.stdout) == (Status.EXITED, b"early\n"), "the command did not end by itself"
    assert early.result == b"early", "the result was written by what should have been dead"
    assert early.wall_seconds < 1, "the command's end waited for what it left running"
    assert run.commands[1].stdout == b"early\n", "what the first command left was alive in the second"


async def odd_results_do_no_harm(bench: Bench) -> None:
    """A result channel made into a folder, a pipe or a link to no end is bounded and breaks nothing."""
    odd = (
        'mkdir "$R"',
        'mkfifo "$R"',
        'ln -s "$R" "$R"',
        'ln -s /dev/zero "$R"',
        'ln -s / "$R"',
        'chmod 0 "$R"',
    )
    commands = [sh(f'R="$CODEREWARD_RESULT"; rm -rf "$R"; {one}; exit 0') for one in odd]
    limits = Limits(wall_seconds=20, result_bytes=1000)

    run = await bench.run(bench.program(*commands, sh(REPORT, "fine"), limits=limits))

    assert all(len(one.result) <= 1000 for one in run.commands), "a result is longer than its limit"
    assert run.commands[-1].result == b"fine", "the result channel did not recover"


async def a_missing_program_is_not_started(bench: Bench) -> None:
    """A command whose program file is not there, or cannot be executed, is `not_started`."""
    program = bench.program(
        Command(("./missing",)), Command(("./data",)), sh("echo on"), files={"data": b"x"}
    )

    run = await bench.run(program)

    assert [one.status for one in run.commands[:2]] == [Status.NOT_STARTED] * 2, "status is not `not_started`"
    assert [one.exit_code for one in run.commands[:2]] == [None] * 2, "an exit code of what never ran"
    assert run.commands[2].stdout == b"on\n", "the next command did not run"


async def a_missing_interpreter_is_no_score(bench: Bench) -> None:
    """A program name that the sandbox's PATH does not hold is `not_started`, or a misconfigured backend."""
    try:
        result = await bench.only(Command((f"no-such-program-{bench.token}",)))
    except BackendMisconfigured:
        return
    assert result.status is Status.NOT_STARTED, "the program cannot have run"


async def a_build_runs_first(bench: Bench) -> None:
    """The build runs before the commands, they find what it made, and its result comes back."""
    build = sh("echo built > made; echo building; echo warning >&2", env={"X": "1"})

    run = await bench.run(bench.program(sh("cat made"), sh("cat made"), build=build))

    assert run.build is not None, "the build's result is missing"
    assert (run.build.status, run.build.exit_code) == (Status.EXITED, 0), "the build's ending differs"
    assert (run.build.stdout, run.build.stderr) == (b"building\n", b"warning\n"), "the build's output differs"
    assert [one.stdout for one in run.commands] == [b"built\n"] * 2, "what the build made is missing"


async def no_build_has_no_result(bench: Bench) -> None:
    """A program without a build command comes back without a build result."""
    run = await bench.run(bench.program(sh("true")))

    assert run.build is None, "a build result without a build"


async def a_failed_build_starts_nothing(bench: Bench) -> None:
    """When the build fails in any way no command is started, and each says so."""
    hurried = Limits(wall_seconds=1.0)
    builds = (sh("echo broken >&2; exit 4"), sh("kill -9 $$"), sh("sleep 20", limits=hurried))
    endings: list[CommandResult] = []
    for build in builds:
        run = await bench.run(bench.program(sh("echo ran"), sh("echo ran"), build=build))
        assert [one.status for one in run.commands] == [Status.NOT_STARTED] * 2, "a command was started"
        assert [one.stdout for one in run.commands] == [b""] * 2, "a command ran"
        assert run.build is not None, "the build's result is missing"
        endings.append(run.build)

    assert (endings[0].exit_code, endings[0].stderr) == (4, b"broken\n"), "the build's result differs"
    wanted = [Status.EXITED, Status.SIGNALED, Status.TIMED_OUT]
    assert [one.status for one in endings] == wanted, "the endings of the builds differ"


async def a_program_without_commands_runs(bench: Bench) -> None:
    """A program that has nothing to run comes back with no results."""
    run = await bench.run(bench.program())

    assert run.commands == (), "results without commands"


async def times_are_measured(bench: Bench) -> None:
    """Wall time is that of the command; processor time, where it is told, is not below what it used."""
    run = await bench.run(
        bench.program(sh("sleep 0.5"), sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
    )

    slept, worked = run.commands
    assert 0.5 <= slept.wall_seconds < 5, "wall time is not that of the command"
    assert slept.cpu_seconds is None or slept.cpu_seconds < 0.4, "sleeping takes no processor time"
    assert worked.cpu_seconds is None or worked.cpu_seconds > 0, "work takes processor time"


async def python_gets_its_arguments(bench: Bench) -> None:
    """Where `python` is served, `python3` runs with its arguments and can import the standard library."""
    result = await bench.only(python("import json, sys; print(json.dumps(sys.argv[1:]))", "a b", "c"))

    assert (result.exit_code, result.stdout) == (0, b'["a b", "c"]\n'), "python3 did not run as asked"


CHECKS: Final[tuple[Check, ...]] = (
    exit_codes_are_reported,
    signals_are_reported,
    outputs_are_kept_apart,
    every_byte_survives,
    stdin_ends,
    unread_stdin_does_no_harm,
    arguments_are_not_interpreted,
    variables_reach_their_command_alone,
    files_are_laid,
    commands_share_files,
    a_failed_command_does_not_stop_the_next,
    many_commands_come_back_in_order,
    results_travel_apart,
    what_outlives_a_command_ends_with_it,
    odd_results_do_no_harm,
    a_missing_program_is_not_started,
    a_missing_interpreter_is_no_score,
    a_build_runs_first,
    no_build_has_no_result,
    a_failed_build_starts_nothing,
    a_program_without_commands_runs,
    times_are_measured,
    python_gets_its_arguments,
)
