"""Do right programs score 1.0 and wrong ones less? Every kind of test, on data sets of real problems.

Usage: python benchmarks/references.py DATA_DIR [--sets mbpp,leetcode] [--limit ROWS] [--cases CASES]

DATA_DIR holds `<set>.jsonl`, one row a line: `id`, `solution`, `tests` (with its `kind`), `verified`,
perhaps `broken` programs; `exploits.jsonl` holds `code` and `max_reward` instead. Programs run in the
executor `local`. Prints a table, then every disagreement with its reason.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codereward import DatasetError, Extraction, Extractor, RewardPipeline, Verdict, Wanted

SETS = (
    "humaneval", "humaneval_plus", "humanevalfix_python", "mbpp", "mbpp_plus", "leetcode", "cruxeval",
    "mathqa_python", "quixbugs", "refactory", "exercism_python_expression", "samples_python", "apps",
    "kodsport_stdio", "exploits",
)  # fmt: skip
TRIED_AS_CALLS = ("humaneval_plus", "quixbugs")
TOLERANCE_OF_FLOATS = 1e-6


class WholeText(Extractor):
    """The completion is the code."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        return Extraction(text, "whole_text", (0, len(text)))


@dataclass
class Trial:
    """One program, and the score it should get."""

    name: str
    code: str
    columns: dict[str, object]
    least: float
    most: float
    marks: float | None = None
    """Share of tests that it is known to pass."""
    scorer: str = "partial"
    exploit: bool = False


@dataclass
class Tally:
    """What came out for one set."""

    counts: Counter[str] = field(default_factory=Counter)
    trust: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


# --------------------------------------------------------------------------- rows to columns


def columns_of(row: dict, name: str, cases: int | None) -> dict[str, object] | None:
    """The columns of a row; `None` when its kind of test is not one of those tried here."""
    tests = row["tests"]
    entry_point = row.get("entry_point")
    named = isinstance(entry_point, str) and "." not in entry_point
    columns = {"entry_point": entry_point if named else None, "setup": None, "prelude": None}
    if tests["kind"] == "asserts":
        place = "prelude" if str(tests.get("setup_goes", "")).startswith("before") else "setup"
        asserts = (tests["asserts"] + (tests.get("challenge_asserts") or []))[:cases]
        entry_point = None if "." in str(row.get("entry_point")) else row.get("entry_point")
        return columns | {
            "kind": "asserts",
            "tests": asserts,
            "entry_point": entry_point,
            place: tests["setup"],
        }
    if tests["kind"] == "stdio":
        return columns | stdio_columns(tests, cases)
    found = tests.get("cases") or tests.get("expressions") or []
    found = [case for case in found if not case.get("slow")][:cases]
    return columns | case_columns(found, name) if found else None


def stdio_columns(tests: dict, cases: int | None) -> dict[str, object]:
    pairs = tests["cases"][:cases]
    rule = {"float": "numbers", "tokens": "tokens"}.get(tests["compare"], "lines")
    caseless = "" if tests.get("case_sensitive", True) else "caseless-"
    return {
        "kind": "stdio",
        "stdin": [pair["stdin"] for pair in pairs],
        "stdout": [pair["stdout"] for pair in pairs],
        "comparator": caseless + rule,
        "tolerance": tests.get("tol", TOLERANCE_OF_FLOATS) if rule == "numbers" else None,
        "entry_point": None,
    }


def case_columns(cases: list[dict], name: str) -> dict[str, object]:
    rules = {case.get("compare", "eq") for case in cases}
    plain = all(case.get("json", True) for case in cases)
    if not plain or not (rules == {"eq"} or rules <= {"abs", "close"}):
        names = "import math\nfrom math import inf, nan"
        return {"kind": "asserts", "tests": [assert_of(case) for case in cases], "prelude": names}
    tolerance = None if rules == {"eq"} else max(case["tol"] for case in cases)
    columns = {"expected": [case["expected"] for case in cases], "tolerance": tolerance}
    if name in TRIED_AS_CALLS and all("args" in case for case in cases):
        return columns | {"kind": "call", "inputs": [case["args"] for case in cases]}
    return columns | {"kind": "cases", "tests": [case["expr"] for case in cases]}


def assert_of(case: dict) -> str:
    rule, left = case.get("compare", "eq"), f"({case['expr']})"
    expected = case.get("expected_repr")
    if rule in ("truthy", "falsy"):
        return f"assert {'not ' * (rule == 'falsy')}{left}"
    if rule in ("abs", "close"):
        return f"assert math.isclose({left}, {expected}, rel_tol=1e-7, abs_tol={case['tol']})"
    return f"assert {left} == {expected}"


# --------------------------------------------------------------------------- trials


def trials(name: str, row: dict, cases: int | None) -> Iterator[Trial]:
    """The programs of a row."""
    columns = columns_of(row, name, cases)
    if columns is None:
        return
    if "max_reward" in row:
        # A function that returns 0 is right about some sum: only all asserts together tell it apart.
        scorer = "exact" if columns["kind"] == "asserts" else "partial"
        yield Trial(row["id"], row["code"], columns, 0.0, row["max_reward"], scorer=scorer, exploit=True)
        return
    if row["verified"]["reference"] == "pass":
        yield Trial(f"{row['id']} reference", row["solution"], columns, 1.0, 1.0)
    for broken in row.get("broken") or []:
        verified = broken.get("verified") or {}
        count = len(columns.get("expected") or columns.get("tests") or columns.get("stdout") or [])
        marks = verified["passed"] / count if verified.get("total") == count else None
        less = bool(broken.get("scores_less")) and cases is None
        most = 1.0 - 1e-9 if less else 1.0
        yield Trial(f"{row['id']} {broken['name']}", broken["code"], columns, 0.0, most, marks)


def load(folder: Path, name: str, limit: int | None) -> list[dict]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["language"] == "python"]
    step = max(1, len(rows) // limit) if limit else 1
    return rows[::step][:limit]


def judge(tally: Tally, trial: Trial, verdict: Verdict | DatasetError) -> None:
    if isinstance(verdict, DatasetError):
        tally.counts["refused"] += 1
        tally.problems.append(f"{trial.name}: refused: {verdict.message}")
        return
    kind = "right" if trial.least == 1.0 else "exploit" if trial.exploit else "wrong"
    tally.trust[verdict.trust] += 1
    good = verdict.reward is not None and trial.least <= verdict.reward <= trial.most
    tally.counts[f"{kind} ok" if good else f"{kind} BAD"] += 1
    if trial.marks is not None and verdict.reward is not None:
        equal = abs(verdict.reward - trial.marks) < 1e-9
        tally.counts["marks equal" if equal else "marks differ"] += 1
        if not equal:
            tally.problems.append(
                f"{trial.name}: {verdict.reward:.3f}, known marks {trial.marks:.3f}: {why(verdict, trial)}"
            )
    if not good:
        tally.problems.append(f"{trial.name}: {verdict.reward} {verdict.outcome}: {why(verdict, trial)}")


def why(verdict: Verdict, trial: Trial) -> str:
    answers = trial.columns.get("expected") or trial.columns.get("tests") or trial.columns.get("stdout")
    shown = zip(verdict.cases, answers, strict=False) if isinstance(answers, list) else ()
    odd = [f"{case.value!r:.60} {case.reason:.80} / {answer!r:.80}" for case, answer in shown]
    return f"{verdict.reason:.120} | " + " ; ".join(odd[:3])


def run(pipelines: dict[str, RewardPipeline], batch: list[Trial]) -> list[Verdict | DatasetError]:
    """Score a batch, each trial with its own scorer."""
    results: dict[int, Verdict | DatasetError] = {}
    for scorer, pipeline in pipelines.items():
        chosen = [index for index, trial in enumerate(batch) if trial.scorer == scorer]
        results.update(zip(chosen, score(pipeline, [batch[index] for index in chosen]), strict=True))
    return [results[index] for index in range(len(batch))]


def score(pipeline: RewardPipeline, batch: list[Trial]) -> list[Verdict | DatasetError]:
    """Score a batch; a row that is refused costs the others nothing."""
    results: dict[int, Verdict | DatasetError] = {}
    ready = []
    for index, trial in enumerate(batch):
        try:
            pipeline.harnesses[0].split(trial.columns)
            ready.append(index)
        except DatasetError as error:
            results[index] = error
    names = sorted({key for trial in batch for key in trial.columns})
    columns = {key: [batch[index].columns.get(key) for index in ready] for key in names}
    verdicts = pipeline.score([batch[index].code for index in ready], **columns) if ready else []
    results.update(zip(ready, verdicts, strict=True))
    return [results[index] for index in range(len(batch))]


def pipeline_of(scorer: str, options: argparse.Namespace) -> RewardPipeline:
    return RewardPipeline(
        extractor=WholeText(),
        harness={
            "name": "python",
            "limits": {"wall_seconds": options.seconds, "cpu_seconds": options.seconds},
        },
        executor={"name": "local", "workers": options.workers},
        scorer=scorer,
        max_concurrency=options.workers,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--limit", type=int, help="rows of each set, spread over it")
    parser.add_argument("--cases", type=int, help="cases of each row")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of each process")
    options = parser.parse_args()

    tallies = {}
    with pipeline_of("partial", options) as partial, pipeline_of("exact", options) as exact:
        pipelines = {"partial": partial, "exact": exact}
        for name in options.sets.split(","):
            tally = tallies[name] = Tally()
            start = time.perf_counter()
            rows = load(options.data, name, options.limit)
            batch = [trial for row in rows for trial in trials(name, row, options.cases)]
            for trial, verdict in zip(batch, run(pipelines, batch), strict=True):
                judge(tally, trial, verdict)
            tally.seconds = time.perf_counter() - start
            print_tally(name, tally)
    return int(
        any(count for tally in tallies.values() for key, count in tally.counts.items() if "BAD" in key)
    )


def print_tally(name: str, tally: Tally) -> None:
    counts = ", ".join(f"{key} {count}" for key, count in sorted(tally.counts.items()))
    trust = ", ".join(f"{key} {count}" for key, count in sorted(tally.trust.items()))
    print(f"{name:28} {counts}  [{trust}]  {tally.seconds:.0f} s", flush=True)
    for problem in tally.problems:
        print(f"    {problem}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
