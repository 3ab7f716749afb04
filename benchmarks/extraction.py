"""Which extraction rule keeps right answers right, and what it costs.

    python benchmarks/extraction.py graded.jsonl [more.jsonl …] [--no-run]

The files hold one answer a line: `{"language", "completion", "entry_point", "tests", "verified":
{"passed", "total"}}`, with `tests` of kind `expression` (`cases` of `expr` and `expected`) or
`check` (`code` that defines `check(candidate)`). Every rule's code is run with the answer's own
tests, in bubblewrap, as nobody, without network. Right answers are those whose `verified` is full.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codereward.extractors import FencedExtractor
from codereward.harnesses.python import syntax
from codereward.model import Wanted

Row = dict[str, Any]
Rule = Callable[[Row], str | None]

SANDBOX = shlex.split(
    """
    setpriv --reuid=65534 --regid=65534 --clear-groups
    bwrap --unshare-all --die-with-parent --new-session --clearenv --setenv PATH /usr/bin
        --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
        --proc /proc --dev /dev --tmpfs /tmp --chdir /tmp
    prlimit --as=4000000000 --nproc=64 --fsize=10000000
    timeout -s KILL 10
    """
)

RUN_PYTHON = """
import json, sys
job = json.loads(sys.stdin.read())
space = {"__name__": "answer"}
say, sys.stdout = sys.stdout, sys.stderr
exec(job["code"], space)
if "check" in job:
    exec(job["check"], space)
    space["check"](space[job["name"]])
    values = [True]
else:
    values = [eval(item, space) for item in job["exprs"]]
say.write(json.dumps(values))
"""
RUN_NODE = """
const job = JSON.parse(require("fs").readFileSync(0, "utf8"));
const say = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
const vm = require("vm");
globalThis.require = require; globalThis.module = module; globalThis.exports = exports;
vm.runInThisContext(job.code);
say(JSON.stringify(job.exprs.map((item) => vm.runInThisContext(item))), () => process.exit(0));
"""

TAGS = {"python": ("python", "py", "python3"), "javascript": ("javascript", "js", "node")}


# ------------------------------------------------------------------------------------- rules


def wanted(row: Row) -> Wanted:
    """What the pipeline would ask for."""
    python = row["language"] == "python"
    return Wanted(
        row["language"],
        TAGS[row["language"]],
        row["entry_point"],
        syntax.parses if python else None,
        syntax.defines if python else None,
    )


def fenced(**options: Any) -> Rule:
    extractor = FencedExtractor(**options)
    return lambda row: extractor.extract(row["completion"], wanted(row)).code


_CLOSED = {
    "python": re.compile(r"```(?:python|py)\n(.*?)```", re.DOTALL),
    "javascript": re.compile(r"```(?:javascript|js)\n(.*?)```", re.DOTALL),
}
_ANY = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def regex_first_tagged(row: Row) -> str | None:
    """A closed block tagged for the language, by regular expression."""
    found = _CLOSED[row["language"]].search(row["completion"])
    return found[1] if found else None


def regex_blocks(row: Row) -> list[str]:
    return _ANY.findall(row["completion"].rpartition("</think>")[2])


def regex_first_any(row: Row) -> str | None:
    return next(iter(regex_blocks(row)), row["completion"])


def regex_last_any(row: Row) -> str | None:
    return (regex_blocks(row) or [row["completion"]])[-1]


def markdown_it_first(row: Row) -> str | None:
    """First block after the thoughts, by markdown-it-py."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(row["completion"].rpartition("</think>")[2])
    return next((token.content for token in tokens if token.type == "fence"), row["completion"])


RULES: dict[str, Rule] = {
    "FencedExtractor()": fenced(),
    'FencedExtractor(which="first")': fenced(which="first"),
    'FencedExtractor(which="longest")': fenced(which="longest"),
    'FencedExtractor(which="last")': fenced(which="last"),
    'FencedExtractor(which="first", strict=True)': fenced(which="first", strict=True),
    "regex, first closed block with the tag": regex_first_tagged,
    "regex, first block, else the text": regex_first_any,
    "regex, last block, else the text": regex_last_any,
    "markdown-it-py, first block, else the text": markdown_it_first,
}


# --------------------------------------------------------------------------------- execution


@dataclass(frozen=True)
class Job:
    """One program to run."""

    argv: tuple[str, ...]
    stdin: str


def job_of(row: Row, code: str) -> Job:
    tests = row["tests"]
    job: dict[str, Any] = {"code": code}
    if tests["kind"] == "check":
        job |= {"check": tests["code"], "name": row["entry_point"]}
    else:
        job["exprs"] = [case["expr"] for case in tests["cases"]]
    python = row["language"] == "python"
    argv = ("/usr/bin/python3", "-I", "-c", RUN_PYTHON) if python else ("/usr/bin/node", "-e", RUN_NODE)
    return Job(argv, json.dumps(job))


def run(job: Job) -> str:
    done = subprocess.run([*SANDBOX, *job.argv], input=job.stdin.encode(), capture_output=True, check=False)
    return done.stdout[:1_000_000].decode(errors="replace") if done.returncode == 0 else ""


def is_full(row: Row, output: str) -> bool:
    try:
        values = json.loads(output)
    except ValueError:
        return False
    tests = row["tests"]
    accepted = [[True]] if tests["kind"] == "check" else [accepts(case) for case in tests["cases"]]
    return len(values) == len(accepted) and all(map(list.__contains__, accepted, values))


def accepts(case: dict[str, Any]) -> list[Any]:
    return case["expected_any"] if "expected_any" in case else [case["expected"]]


def run_all(jobs: Iterable[Job]) -> dict[Job, str]:
    todo = list(dict.fromkeys(jobs))
    with ThreadPoolExecutor(3) as pool:
        return dict(zip(todo, pool.map(run, todo), strict=True))


# ------------------------------------------------------------------------------------ report


def microseconds(rule: Rule, rows: list[Row]) -> float:
    """CPU time per row, best of five passes over `rows`."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for row in rows:
            rule(row)
        best = min(best, time.process_time() - start)
    return best / len(rows) * 1e6


def report_marks(rows: list[Row], *, verbose: bool) -> None:
    codes = {name: [rule(row) for row in rows] for name, rule in RULES.items()}
    every = (
        job_of(row, code) for found in codes.values() for row, code in zip(rows, found, strict=True) if code
    )
    outputs = run_all(every)
    right = [row["verified"]["passed"] == row["verified"]["total"] for row in rows]
    print(f"{'rule':46} {'python':>9} {'javascript':>11} {'wrong ones full':>16}")
    for name, found in codes.items():
        full = [
            bool(code) and is_full(row, outputs[job_of(row, code)])
            for row, code in zip(rows, found, strict=True)
        ]
        print(
            f"{name:46} {_share(rows, full, right, 'python'):>9} {_share(rows, full, right, 'javascript'):>11} "
            f"{sum(f and not ok for f, ok in zip(full, right, strict=True)):>16}"
        )
        if verbose:
            _list_losses(rows, full, right)


def _list_losses(rows: list[Row], full: list[bool], right: list[bool]) -> None:
    for row, got, ok in zip(rows, full, right, strict=True):
        if got != ok:
            print(f"    {'lost' if ok else 'won '} {row['id']} {row['language']}")


def _share(rows: list[Row], full: list[bool], right: list[bool], language: str) -> str:
    kept = [got for row, got, ok in zip(rows, full, right, strict=True) if ok and row["language"] == language]
    return f"{sum(kept)}/{len(kept)}"


def report_times(rows: list[Row]) -> None:
    usual = [row for row in rows if 2000 <= len(row["completion"]) <= 3200 and "```" in row["completion"]]
    size = sum(len(row["completion"]) for row in usual) / max(1, len(usual)) / 1000
    print(
        f"\n{'CPU µs per completion':46} {'all':>9} {f'{size:.1f} kB':>11}   ({len(rows)}, {len(usual)} completions)"
    )
    for name, rule in RULES.items():
        print(f"{name:46} {microseconds(rule, rows):9.1f} {microseconds(rule, usual):11.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--no-run", action="store_true", help="measure time only")
    parser.add_argument("--verbose", action="store_true", help="list the answers each rule loses or wins")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.files for line in file.read_text().splitlines()]
    if not options.no_run:
        report_marks(rows, verbose=options.verbose)
    report_times(rows)


if __name__ == "__main__":
    sys.exit(main())
