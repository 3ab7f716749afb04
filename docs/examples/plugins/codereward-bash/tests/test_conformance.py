"""What every harness does, `bash` does; its programs run in the executor `local`."""

import codereward_bash

from codereward.testing import HarnessTests

SUM = {"kind": "stdio", "stdin": ["1 2\n", "20 22\n"], "stdout": ["3\n", "42\n"]}


class TestBash(HarnessTests):
    right = ((SUM, "read a b\necho $((a + b))"),)
    wrong = ((SUM, "echo 3"), (SUM, "read a b\necho $((a + b))\nexit 1"))
    exploits = ((SUM, "exit 0"), (SUM, 'echo 3 > "$CODEREWARD_RESULT"'))
    answer_columns = ("stdout",)

    def make_harness(self) -> codereward_bash.Bash:
        return codereward_bash.Bash(wall_seconds=5)
