"""Runs the blocks of one page, in a process and a folder of their own: `python doc_runner.py PAGE`.

Python blocks share a namespace. The exit status is 1 when a block does not do what the page says.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import re
import shlex
import subprocess
import sys
import tomllib
import traceback
import types
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from doc_blocks import Block, blocks_of
from doc_names import problems

__all__ = ["Page"]

REPOSITORY: Final = Path(__file__).resolve().parents[2]
COMMAND_SECONDS: Final = 120


class Page:
    """A page that is being run.

    Args:
        path: The Markdown file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.printed = ""
        """What the last Python block printed."""
        self.named: dict[str, Any] = {}
        """What blocks that were not run define."""
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module  # so that its functions pickle

    def run(self) -> None:
        """Check every block, in order."""
        for block in blocks_of(self.path):
            self.check(block)

    def check(self, block: Block) -> None:
        """Check one block as the comment above it says.

        Raises:
            AssertionError: It does not do what the page says.
        """
        how, _, rest = block.check.partition(" ")
        if how == "same":
            self.same(block, rest.removeprefix("as "))
        elif how == "raises":
            self.raises(block)
        elif how == "output":
            expect(block, self.printed, block.text)
        elif how in {"names", "names,"}:
            NAMES[block.language](self, block, rest)
        elif how == "":
            self.file_or_run(block)
        else:
            assert block.check.startswith("nothing, because "), f"{block}: unknown check {block.check!r}"

    def same(self, block: Block, path: str) -> None:
        """The block is a file of the repository."""
        assert block.text == (REPOSITORY / path).read_text(encoding="utf-8"), f"{block} differs from {path}"

    def file_or_run(self, block: Block) -> None:
        """Write a titled block down; run any other."""
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
            checked = CONTENTS.get(block.language)
        else:
            checked = RUNS.get(block.language)
            assert checked, f"{block}: a block of this language has to say how it is checked"
        if checked:
            checked(self, block)

    # ------------------------------------------------------------------ Python

    def run_python(self, block: Block) -> None:
        """Run a block in the page's namespace."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compiled(block), self.module.__dict__)
        self.printed = output.getvalue()

    def raises(self, block: Block) -> None:
        """Run a block that has to end in an error of codereward's; what it says counts as printed."""
        from codereward import CoderewardError

        try:
            self.run_python(block)
        except CoderewardError as error:
            self.printed = f"{type(error).__name__}: {error}"
        else:
            msg = f"{block} raises nothing"
            raise AssertionError(msg)

    def name_python(self, block: Block, rest: str) -> None:
        """Check a block that is not run."""
        given = re.findall(r"\w+", rest.removeprefix("given "))
        self.named |= self.module.__dict__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages it imports
            found = problems(ast.parse(block.text), self.named, given)
        assert not found, f"{block}: {found}"

    # ------------------------------------------------------------------ configuration

    def run_toml(self, block: Block) -> None:
        """A configuration makes a pipeline; so does a part of one."""
        from codereward import RewardPipeline

        settings = tomllib.loads(block.text)
        if block.title != "pyproject.toml":
            RewardPipeline.from_config(settings).close()

    # ------------------------------------------------------------------ the command line

    def run_console(self, block: Block) -> None:
        """Run each command and compare what it prints with what stands below it."""
        for command, shown in commands_of(block):
            printed = subprocess.run(
                ["bash", "-c", command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_SECONDS,
            ).stdout
            if shown:
                expect(block, printed, shown)

    def name_console(self, block: Block, _: str) -> None:
        """Check commands that are not run."""
        for command, _shown in commands_of(block):
            words = [word for word in shlex.split(command, comments=True) if word != "\n"]
            while "=" in words[0]:
                words.pop(0)
            assert words[0] in COMMANDS, f"{block}: how is {words[0]!r} to be checked?"
            COMMANDS[words[0]](words)


def compiled(block: Block) -> types.CodeType:
    """The code of a block, which shows its place in the page when it fails."""
    place = f"{block.page}"
    linecache.checkcache(place)
    return compile("\n" * (block.line - 1) + block.text, place, "exec", dont_inherit=True)


def expect(block: Block, printed: str, shown: str) -> None:
    """Compare output with what a page shows; `...` there stands for anything."""
    lines = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    pattern = ".*".join(map(re.escape, shown.strip().split("...")))
    assert re.fullmatch(pattern, lines, re.DOTALL), f"{block} shows\n{shown}\nbut this is printed:\n{lines}"


def commands_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block}: a console block begins with `$ `"
    found = []
    for part in parts[1:]:
        command, rest = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
        found.append((command, rest))
    return found


# ---------------------------------------------------------------------- commands that are not run


def check_make(words: list[str]) -> None:
    """Every target is in the Makefile."""
    targets = re.findall(r"^(\w+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert set(words[1:]) <= set(targets), words


def check_pip(words: list[str]) -> None:
    """What is installed is ours, or a folder of the repository."""
    ours = {
        tomllib.loads(one.read_text())["project"]["name"]
        for one in REPOSITORY.glob("plugins/*/pyproject.toml")
    }
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    ours |= {"codereward", *(f"codereward[{extra}]" for extra in extras)}
    assert words[1] == "install", words
    for word in words[2:]:
        folder = (REPOSITORY / word).is_dir()
        assert word.startswith("-") or word in ours or folder, f"{word} is nothing that could be installed"


def check_trl(words: list[str]) -> None:
    """TRL's own parser takes the options."""
    assert words[1] == "grpo", words
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl.scripts.grpo import make_parser

        make_parser().parse_args(words[2:])


def check_git(words: list[str]) -> None:
    """Nothing of ours can be wrong there."""
    assert words[1] in {"clone", "commit", "switch"}, words


COMMANDS: Final[Mapping[str, Callable[[list[str]], None]]] = {
    "make": check_make,
    "pip": check_pip,
    "pytest": lambda words: None,
    "trl": check_trl,
    "git": check_git,
}
RUNS: Final[Mapping[str, Callable[[Page, Block], None]]] = {
    "python": Page.run_python,
    "toml": Page.run_toml,
    "console": Page.run_console,
    "json": lambda _, block: json.loads(block.text),
    "text": lambda *_: None,
    "": lambda *_: None,
}
CONTENTS: Final[Mapping[str, Callable[[Page, Block], None]]] = {
    "python": lambda _, block: compiled(block),
    "toml": Page.run_toml,
    "json": RUNS["json"],
}
NAMES: Final[Mapping[str, Callable[[Page, Block, str], Any]]] = {
    "python": Page.name_python,
    "console": Page.name_console,
}


def main() -> int:
    """Run the page that the first argument names."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        Page(Path(sys.argv[1])).run()
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
