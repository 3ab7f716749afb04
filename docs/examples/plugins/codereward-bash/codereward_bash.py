"""Harness `bash`: a script gets each standard input and has to print what is expected."""

import codereward
from codereward.harnesses import case_of_failure


class Bash(codereward.Harness):
    """Kind `stdio`: columns `stdin` and `stdout`, a list of texts each. Blanks at the end are forgiven."""

    language = "bash"
    tags = ("bash", "sh", "shell")

    def split(self, row: codereward.Row) -> tuple[codereward.Questions, codereward.Answers]:
        if row["kind"] != "stdio":
            raise codereward.DatasetError(f"the bash harness has the kind 'stdio', not {row['kind']!r}")
        stdin, stdout = texts(row, "stdin"), texts(row, "stdout")
        if not stdin or len(stdin) != len(stdout):
            raise codereward.DatasetError("columns 'stdin' and 'stdout' need one text for each case")
        return codereward.Questions("stdio", stdin), codereward.Answers([text.rstrip() for text in stdout])

    def build(self, code: str, questions: codereward.Questions) -> codereward.Program:
        return codereward.Program(
            language="bash",
            files={"solution.sh": code.encode("utf-8", "surrogatepass")},
            commands=tuple(
                codereward.Command(("bash", "solution.sh"), item.encode()) for item in questions.items
            ),
            limits=questions.limits or codereward.Limits(),
        )

    def read(self, run: codereward.Run, questions: codereward.Questions) -> codereward.Observation:
        cases = tuple(read_case(result) for result in run.commands)
        failed = next((case for case in cases if case.outcome != "scored"), None)
        if failed and all(case.outcome != "scored" for case in cases):
            return codereward.Observation(failed.outcome, reason=failed.reason, cases=cases)
        values = [case.value for case in cases]
        return codereward.Observation(
            codereward.Outcome.SCORED, values, failed.reason if failed else "", cases
        )


def texts(row: codereward.Row, name: str) -> tuple[str, ...]:
    column = row.get(name)
    if not isinstance(column, list | tuple) or not all(isinstance(text, str) for text in column):
        raise codereward.DatasetError(f"column {name!r} has to be a list of texts, not {column!r:.60}")
    return tuple(column)


def read_case(result: codereward.CommandResult) -> codereward.Case:
    if result.status is not codereward.Status.EXITED or result.exit_code != 0:
        return case_of_failure(result)
    return codereward.Case(
        codereward.Outcome.SCORED,
        result.stdout.decode("utf-8", "replace").rstrip(),
        wall_seconds=result.wall_seconds,
    )


@codereward.hookimpl
def codereward_register_harnesses(register: codereward.RegisterHarness) -> None:
    register("bash", Bash)
