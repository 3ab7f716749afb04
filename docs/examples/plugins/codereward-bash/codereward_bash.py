"""Harness `bash`: a script gets each standard input and has to print what is expected."""

import codereward
from codereward.harnesses import Stdio, read_outputs


class Bash(codereward.Harness):
    """Kind `stdio`: columns `stdin` and `stdout`, a list of texts each; a process for every pair."""

    language = "bash"
    tags = ("bash", "sh", "shell")

    def __init__(self, wall_seconds: float = 10.0) -> None:
        self.limits = codereward.Limits(wall_seconds=wall_seconds)

    def split(self, row: codereward.Row) -> tuple[codereward.Questions, codereward.Answers]:
        if row["kind"] != "stdio":
            raise codereward.DatasetError(f"the bash harness has the kind 'stdio', not {row['kind']!r:.40}")
        return Stdio().split(row)

    def build(self, code: str, questions: codereward.Questions) -> codereward.Program:
        script = code.encode("utf-8", "surrogatepass")
        inputs = [text.encode("utf-8", "surrogatepass") for text in questions.items]
        return codereward.Program(
            language="bash",
            files={"solution.sh": script},
            commands=tuple(codereward.Command(("bash", "solution.sh"), stdin=given) for given in inputs),
            limits=self.limits,
        )

    def read(self, run: codereward.Run, questions: codereward.Questions) -> codereward.Observation:
        return read_outputs(run)


@codereward.hookimpl
def codereward_register_harnesses(register: codereward.RegisterHarness) -> None:
    register("bash", Bash)
