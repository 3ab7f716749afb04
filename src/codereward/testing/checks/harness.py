"""What a conforming harness does."""

from __future__ import annotations

import asyncio
import base64
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codereward.errors import DatasetError
from codereward.model import (
    MISSING,
    Answers,
    CommandResult,
    Observation,
    Outcome,
    Program,
    Questions,
    Run,
    Status,
)
from codereward.protocols import Executor, Harness, Row, Scorer
from codereward.testing.checks import Unsupported
from codereward.testing.nasty import variants_of_row
from codereward.values import UNEQUAL

__all__ = ["CHECKS", "CHECKS_OF_CODE", "CHECKS_OF_ROWS", "CHECKS_OF_RUNS", "Bench", "Example", "Plant"]

Example = tuple[Row, str]
"""A row and code for it."""
Plant = Callable[[Row, str], Row]
"""Gives a row with a text in place of every answer."""

CANARY: Final = "canary7f3a9c"
PLAIN_TYPES: Final = frozenset(
    {type(None), bool, int, float, str, bytes, complex, list, tuple, dict, set, frozenset, type(MISSING), type(UNEQUAL)}
)  # fmt: skip
PLAIN_NAMES: Final = frozenset(
    {"builtins.range", "builtins.bytearray", "collections.deque", "decimal.Decimal", "fractions.Fraction"}
    | {f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta")}
    | {f"codereward.values.standins.{name}" for name in ("Iterated", "Opaque", "Raised")}
)
LIMITED: Final[Mapping[Status, Outcome]] = {
    Status.TIMED_OUT: Outcome.TIMED_OUT,
    Status.OUT_OF_MEMORY: Outcome.OUT_OF_MEMORY,
    Status.OUTPUT_LIMIT: Outcome.OUTPUT_LIMIT,
}
BOASTS: Final = b'PASS\nok 1\nAll tests passed\n1 passed in 0.01s\nOK\nTrue\n1.0\n{"passed": true}\n'
PROGRAMS_AT_ONCE: Final = 2
REBUILD: Final = """
import pickle, sys
harness, examples = pickle.load(sys.stdin.buffer)
for row, code in examples:
    print(harness.build(code, harness.split(row)[0]).digest().hex())
"""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A harness under check, and what its author knows of it."""

    harness: Harness
    right: Sequence[Example]
    """Rows with code that solves them."""
    wrong: Sequence[Example]
    """Rows with code that does not; partly right code included."""
    exploits: Sequence[Example] = ()
    """Rows with code that solves nothing and tries to be paid for it."""
    plant: Plant
    make_executor: Callable[[], Executor]
    scorer: Scorer

    def scores(self, examples: Sequence[Example]) -> list[float]:
        """What pieces of code earn, run for real."""
        return asyncio.run(self._scores(examples))

    async def _scores(self, examples: Sequence[Example]) -> list[float]:
        executor = self.make_executor()
        gate = asyncio.Semaphore(PROGRAMS_AT_ONCE)
        try:
            return await asyncio.gather(*(self._score(executor, gate, *one) for one in examples))
        finally:
            await executor.aclose()

    async def _score(self, executor: Executor, gate: asyncio.Semaphore, row: Row, code: str) -> float:
        questions, answers = self.harness.split(row)
        async with gate:
            run = await executor.run(self.harness.build(code, questions))
        observation = self.harness.read(run, questions)
        assert_plain(observation.value)
        return self.score(observation, answers)

    def score(self, observation: Observation, answers: Answers) -> float:
        """What an observation earns, as the pipeline decides it."""
        scored = observation.outcome is Outcome.SCORED
        return self.scorer.score(observation, answers) if scored else 0.0


# --------------------------------------------------------------------------- what it calls itself


def it_is_called_by_plain_names(bench: Bench) -> None:
    """`language` is a name that rows can hold, `tags` are fence tags in lower case, at least one."""
    language, tags = bench.harness.language, bench.harness.tags

    assert re.fullmatch(r"[a-z0-9]+([-+#.][a-z0-9]+)*", language), f"language {language!r} is no plain name"
    assert isinstance(tags, tuple), "tags is no tuple"
    assert tags, "there is no tag"
    assert all(tag and tag == tag.lower().strip() and not tag.startswith("`") for tag in tags), (
        f"tags are {tags}"
    )


# --------------------------------------------------------------------------- law 1


def answers_never_enter_the_program(bench: Bench) -> None:
    """No byte of an answer is in the program: not in files, arguments, variables or input, however encoded."""
    for row, code in bench.right:
        questions, _ = bench.harness.split(bench.plant(row, CANARY))
        haystack = b"\n".join(bytes_of(bench.harness.build(code, questions)))
        found = [name for name, needle in disguises(CANARY) if needle in haystack]
        assert not found, f"an answer is in the program ({', '.join(found)}); row {row!r:.200}"
        assert CANARY not in repr(questions), "an answer is among the questions"


def programs_do_not_depend_on_answers(bench: Bench) -> None:
    """Rows that differ in nothing but their answers give the same program, byte for byte."""
    for row, code in bench.right:
        first, second = (
            bench.harness.build(code, bench.harness.split(bench.plant(row, text))[0])
            for text in (CANARY, "other")
        )
        assert first == second, f"the program changes with the answers of row {row!r:.200}"


def bytes_of(program: Program) -> Iterable[bytes]:
    """Everything of a program that the sandbox gets to see."""
    yield program.language.encode()
    for name, content in program.files.items():
        yield name.encode("utf-8", "surrogatepass")
        yield content
    for command in (*program.commands, *([program.build] if program.build else [])):
        yield command.stdin
        texts = (*command.argv, *command.env, *command.env.values())
        yield from (text.encode("utf-8", "surrogatepass") for text in texts)


def disguises(text: str) -> Iterable[tuple[str, bytes]]:
    """A text as it may stand in a file: name of the encoding, bytes."""
    plain = text.encode()
    yield "as it is", plain
    yield "backwards", plain[::-1]
    yield "hexadecimal", plain.hex().encode()
    for encoding in ("utf-16-le", "utf-16-be", "rot13"):
        yield encoding, encoded(text, encoding)
    for shift in range(
        3
    ):  # base64 looks different at each of three offsets; its ends depend on the neighbours
        yield "base64", base64.b64encode(b"x" * shift + plain)[4:-4]


def encoded(text: str, encoding: str) -> bytes:
    """A text in an encoding, those from text to text included."""
    import codecs

    data: str | bytes = codecs.encode(text, encoding)
    return data if isinstance(data, bytes) else data.encode()


# --------------------------------------------------------------------------- purity


def building_is_pure(bench: Bench) -> None:
    """The same row and code give the same program every time, in this process and in others."""
    programs = [build(bench.harness, example) for example in bench.right]
    again = [build(bench.harness, example) for example in bench.right]
    assert programs == again, "the second program differs from the first"

    digests = [program.digest().hex() for program in programs]
    payload = pickle.dumps((bench.harness, [(dict(row), code) for row, code in bench.right]))
    for seed in ("1", "2"):
        assert rebuilt(payload, seed) == digests, "another process (another hash seed) builds another program"


def build(harness: Harness, example: Example) -> Program:
    """The program of an example."""
    row, code = example
    return harness.build(code, harness.split(row)[0])


def rebuilt(payload: bytes, seed: str) -> list[str]:
    """Digests of programs that an interpreter of its own builds."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, "-c", REBUILD],
        input=payload,
        capture_output=True,
        env=environment,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, f"it does not unpickle elsewhere: {done.stderr.decode()[-500:]}"
    return done.stdout.decode().split()


def splitting_is_pure(bench: Bench) -> None:
    """A row is split the same way every time, and left as it was."""
    for row, _ in bench.right:
        before = repr(row)
        assert bench.harness.split(row) == bench.harness.split(row), "the second split differs from the first"
        assert repr(row) == before, "the row was changed"


def harnesses_pickle(bench: Bench) -> None:
    """A harness pickles to one that builds the same programs."""
    twin: Harness = pickle.loads(pickle.dumps(bench.harness))  # noqa: S301 - made here

    for example in bench.right:
        assert build(twin, example) == build(bench.harness, example), "the pickled one differs"


# --------------------------------------------------------------------------- hostile rows and code


def bad_rows_are_refused(bench: Bench, row: Row) -> None:
    """A row is split or refused with `DatasetError`, and what was split can be built; nothing else is raised."""
    try:
        questions, _ = bench.harness.split(row)
    except DatasetError:
        return
    bench.harness.build("", questions)


def rows_without_a_test_are_refused(bench: Bench) -> None:
    """A row that is wrong in one column, or has none, is split or refused with `DatasetError`."""
    for row, _ in bench.right:
        for bad in variants_of_row(row):
            bad_rows_are_refused(bench, bad)
    for kind in {str(row["kind"]) for row, _ in bench.right}:
        assert refuses(bench.harness, {"kind": kind}), (
            f"a row of kind {kind!r} without any column was accepted"
        )
    assert refuses(bench.harness, {"kind": "no-such-kind"}), "a row of an unknown kind was accepted"


def refuses(harness: Harness, row: Row) -> bool:
    """Whether a row is refused."""
    try:
        harness.split(row)
    except DatasetError:
        return True
    return False


def any_code_is_built(bench: Bench, code: str) -> None:
    """Any text at all is built into a program, and asked whether it parses and what it defines."""
    for row, _ in bench.right[:1]:
        program = bench.harness.build(code, bench.harness.split(row)[0])
        assert isinstance(program, Program), f"a {type(program).__name__} is no Program"
    assert bench.harness.parses(code) in {True, False, None}, "`parses` gave neither truth nor None"
    assert bench.harness.defines(code, "solve") in {True, False, None}, (
        "`defines` gave neither truth nor None"
    )


# --------------------------------------------------------------------------- reading


def any_run_is_read(bench: Bench, example: Example, run: Run) -> None:
    """Any run gives an observation, the same every time: values as plain data if it is scored, else a reason."""
    questions, _ = bench.harness.split(example[0])

    observation = bench.harness.read(run, questions)

    assert isinstance(observation, Observation), f"a {type(observation).__name__} is no Observation"
    assert repr(bench.harness.read(run, questions)) == repr(observation), (
        "the second reading differs from the first"
    )
    if observation.outcome is Outcome.SCORED:
        assert observation.value is not MISSING, "scored without a value"
        assert_plain(observation.value)
    else:
        assert observation.reason.strip(), "not scored, and no reason given"
    if run.unsafe:
        assert observation.trust != "separate", "an unsafe run is not as good as a separate one"


def assert_plain(value: object) -> None:
    """See that a value is made of built-in types only, without recursion."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        name = f"{type(item).__module__}.{type(item).__qualname__}"
        assert type(item) in PLAIN_TYPES or name in PLAIN_NAMES, f"a {name} is no plain data"
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting += item


def limits_show_in_the_outcome(bench: Bench) -> None:
    """A program that a limit ended before it gave a value has that limit's outcome."""
    for row, code in bench.right:
        for status, outcome in LIMITED.items():
            observation = read_all(bench.harness, row, code, CommandResult(status, limit="wall_seconds"))
            assert observation.outcome is outcome, f"{status} became {observation.outcome}"


def exit_status_zero_is_no_pass(bench: Bench) -> None:
    """A program that ends with exit status 0, silent or full of boasts, has earned nothing."""
    for row, code in bench.right:
        _, answers = bench.harness.split(row)
        for output in (b"", BOASTS):
            silent = CommandResult(Status.EXITED, 0, stdout=output, stderr=output)
            score = bench.score(read_all(bench.harness, row, code, silent), answers)
            assert score == 0.0, f"exit status 0 scores {score} on row {row!r:.200}"


def forged_results_are_no_pass(bench: Bench) -> None:
    """Boasts in the result channel earn nothing."""
    boasts = (
        BOASTS,
        b"true",
        b"1",
        b"1.0\n",
        b'{"passed": 1}\n',
        b'{"score": 1.0}\n',
        b'{"ok": true}\n',
        b"\xff",
    )
    for row, code in bench.right:
        _, answers = bench.harness.split(row)
        for boast in boasts:
            forged = CommandResult(Status.EXITED, 0, result=boast)
            score = bench.score(read_all(bench.harness, row, code, forged), answers)
            assert score == 0.0, f"{boast!r} as the result scores {score}"


def read_all(harness: Harness, row: Row, code: str, result: CommandResult) -> Observation:
    """What is read from a run all of whose commands ended alike."""
    questions: Questions = harness.split(row)[0]
    program = harness.build(code, questions)
    built = CommandResult(Status.EXITED, 0) if program.build else None
    return harness.read(Run((result,) * len(program.commands), built), questions)


# --------------------------------------------------------------------------- run for real


def right_code_scores_one(bench: Bench) -> None:
    """Code that solves its row scores 1.0."""
    assert_scores(bench, bench.right, lambda score: score == 1.0)


def wrong_code_scores_less(bench: Bench) -> None:
    """Code that does not solve its row scores less than 1.0; nothing at all scores 0.0."""
    assert_scores(bench, bench.wrong, lambda score: score < 1.0)
    assert_scores(bench, [(row, "") for row, _ in bench.right], lambda score: score == 0.0)


def exploits_earn_nothing(bench: Bench) -> None:
    """Code that solves nothing and attacks what judges it scores 0.0."""
    if not bench.exploits:
        msg = "needs `exploits`"
        raise Unsupported(msg)
    assert_scores(bench, bench.exploits, lambda score: score == 0.0)


def exploits_do_no_harm_to_others(bench: Bench) -> None:
    """Right code scores 1.0 beside and after exploits on the same executor."""
    mixed = [one for pair in zip(bench.exploits[:4], [*bench.right] * 4, strict=False) for one in pair]
    if not mixed:
        msg = "needs `exploits`"
        raise Unsupported(msg)
    scores = bench.scores(mixed)
    assert scores[1::2] == [1.0] * (len(mixed) // 2), f"right code scored {scores[1::2]} beside exploits"


def assert_scores(bench: Bench, examples: Sequence[Example], wanted: Callable[[float], bool]) -> None:
    """See that each example earns what it should; those that do not are shown."""
    scores = bench.scores(examples)
    bad = [
        f"{score} for {code!r:.300}"
        for score, (_, code) in zip(scores, examples, strict=True)
        if not wanted(score)
    ]
    assert not bad, "unexpected scores:\n" + "\n".join(bad)


CHECKS_OF_ROWS: Final = (bad_rows_are_refused,)
"""Take a row more."""
CHECKS_OF_CODE: Final = (any_code_is_built,)
"""Take a text more."""
CHECKS_OF_RUNS: Final = (any_run_is_read,)
"""Take an example and a run of its program more."""
CHECKS: Final = (
    it_is_called_by_plain_names,
    answers_never_enter_the_program,
    programs_do_not_depend_on_answers,
    building_is_pure,
    splitting_is_pure,
    harnesses_pickle,
    rows_without_a_test_are_refused,
    limits_show_in_the_outcome,
    exit_status_zero_is_no_pass,
    forged_results_are_no_pass,
    right_code_scores_one,
    wrong_code_scores_less,
    exploits_earn_nothing,
    exploits_do_no_harm_to_others,
)
