"""Harness `bash`: a script gets each input and has to print what is expected."""

import codereward
from codereward import Answers, Command, Observation, Program, Questions, Row, Run
from codereward.harnesses import Stdio, read_outputs


class Bash(codereward.Harness):
    """Kind `stdio`: columns `stdin` and `stdout`, a list of texts each."""

    language = "bash"
    tags = ("bash", "sh", "shell")

    def __init__(self, wall_seconds: float = 10.0) -> None:
        self.limits = codereward.Limits(wall_seconds=wall_seconds)

    def split(self, row: Row) -> tuple[Questions, Answers]:
        if row["kind"] != "stdio":
            msg = f"the bash harness has the kind 'stdio', not {row['kind']!r:.40}"
            raise codereward.DatasetError(msg)
        return Stdio().split(row)

    def build(self, code: str, questions: Questions) -> Program:
        argv = ("bash", "solution.sh")
        inputs = [text.encode("utf-8", "surrogatepass") for text in questions.items]
        return Program(
            language="bash",
            files={"solution.sh": code.encode("utf-8", "surrogatepass")},
            commands=tuple(Command(argv, stdin=given) for given in inputs),
            limits=self.limits,
        )

    def read(self, run: Run, questions: Questions) -> Observation:
        return read_outputs(run)


@codereward.hookimpl
def codereward_register_harnesses(register: codereward.RegisterHarness) -> None:
    register("bash", Bash)
