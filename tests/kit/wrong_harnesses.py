"""Harnesses that each break one law."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from codereward import (
    Answers,
    Command,
    DatasetError,
    Harness,
    Observation,
    Outcome,
    Program,
    Questions,
    Run,
    Status,
)
from codereward.harnesses import PythonHarness
from codereward.protocols import Row


class Shouting(PythonHarness):
    """Has a name no row can hold."""

    language = "Python 3"


class Telling(PythonHarness):
    """Puts the answer into the setup, as a comment."""

    def split(self, row: Row) -> tuple[Questions, Answers]:
        questions, answers = super().split(row)
        return replace(questions, setup=f"# {answers.value!r}"), answers


class Hashing(PythonHarness):
    """Puts a digest of the answer into the setup."""

    def split(self, row: Row) -> tuple[Questions, Answers]:
        questions, answers = super().split(row)
        return replace(
            questions, setup="# " + hashlib.sha256(repr(answers.value).encode()).hexdigest()
        ), answers


class Moody(PythonHarness):
    """Lets the hash seed into the program."""

    def build(self, code: str, questions: Questions) -> Program:
        program = super().build(code, questions)
        first = program.commands[0]
        return replace(
            program, commands=(replace(first, env={"SEED": str(hash("a") % 1000)}), *program.commands[1:])
        )


class Marking(PythonHarness):
    """Leaves a mark in the row."""

    def split(self, row: Row) -> tuple[Questions, Answers]:
        if isinstance(row, dict):
            row["seen"] = True
        return super().split(row)


class Unpicklable(PythonHarness):
    """Holds a function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.clean = lambda code: code


class Careless(PythonHarness):
    """Takes a column as it comes."""

    def split(self, row: Row) -> tuple[Questions, Answers]:
        row["test"].strip()
        return super().split(row)


class Lenient(PythonHarness):
    """Makes up a test where there is none."""

    def split(self, row: Row) -> tuple[Questions, Answers]:
        try:
            return super().split(row)
        except DatasetError:
            return Questions("expression", ("None",)), Answers(None)


class Encoding(PythonHarness):
    """Encodes what cannot be encoded."""

    def build(self, code: str, questions: Questions) -> Program:
        code.encode()
        return super().build(code, questions)


class Blind(PythonHarness):
    """Takes every limit for a crash."""

    def read(self, run: Run, questions: Questions) -> Observation:
        observation = super().read(run, questions)
        limited = observation.outcome in {Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY}
        return replace(observation, outcome=Outcome.CRASHED) if limited else observation


class Fussy(PythonHarness):
    """Raises when a sandbox was lost."""

    def read(self, run: Run, questions: Questions) -> Observation:
        if any(one.status is Status.LOST for one in run.commands):
            raise RuntimeError("lost")
        return super().read(run, questions)


class Whitewashing(PythonHarness):
    """Does not tell of weak isolation."""

    def read(self, run: Run, questions: Questions) -> Observation:
        return replace(super().read(run, questions), trust="separate")


class Exotic(PythonHarness):
    """Gives values of types of its own."""

    def read(self, run: Run, questions: Questions) -> Observation:
        observation = super().read(run, questions)
        return replace(observation, value=Path("x")) if isinstance(observation.value, list) else observation


class Credulous(PythonHarness):
    """Takes exit status 0 for the value true."""

    def read(self, run: Run, questions: Questions) -> Observation:
        if run.commands[0].status is Status.EXITED and run.commands[0].exit_code == 0:
            return Observation(Outcome.SCORED, True)
        return super().read(run, questions)


class Listening(PythonHarness):
    """Takes the last word on standard output for the value where no other came."""

    def read(self, run: Run, questions: Questions) -> Observation:
        observation = super().read(run, questions)
        if observation.outcome is not Outcome.SCORED and run.commands[0].stdout.strip().endswith(b"true"):
            return Observation(Outcome.SCORED, True)
        return observation


class Forgetful(PythonHarness):
    """Forgets to run the program."""

    def build(self, code: str, questions: Questions) -> Program:
        return replace(super().build(code, questions), commands=(Command(("true",)),))


WRONG: dict[type[Harness], set[str]] = {
    Shouting: {"it_is_called_by_plain_names"},
    Telling: {"answers_never_enter_the_program", "programs_do_not_depend_on_answers"},
    Hashing: {"programs_do_not_depend_on_answers"},
    Moody: {"building_is_pure"},
    Marking: {"splitting_is_pure"},
    Unpicklable: {"building_is_pure", "harnesses_pickle"},
    Careless: {"rows_without_a_test_are_refused", "bad_rows_are_refused"},
    Lenient: {"rows_without_a_test_are_refused"},
    Encoding: {"any_code_is_built"},
    Blind: {"limits_show_in_the_outcome"},
    Fussy: {"any_run_is_read"},
    Whitewashing: {"any_run_is_read"},
    Exotic: {"any_run_is_read"},
    Credulous: {
        "exit_status_zero_is_no_pass",
        "forged_results_are_no_pass",
        "wrong_code_scores_less",
        "exploits_earn_nothing",
    },
    Listening: {"exploits_earn_nothing"},
    Forgetful: {"right_code_scores_one", "exploits_do_no_harm_to_others"},
}
