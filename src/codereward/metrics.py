"""What a trainer logs about a batch: always the same keys, always full columns of text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from codereward.model import Outcome, Verdict

__all__ = ["batch_extras", "batch_metrics", "printable"]

KEPT_CHARACTERS: Final = 100_000
"""Length to which logged text is cut."""


def batch_metrics(name: str, verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The metrics of a batch, every key led by the pipeline's name.

    `pass_rate` is the share of full scores among the scored; `outcome/<outcome>` the share of each
    outcome among all, `unavailable` that of completions without a score; `deduped` the share that
    shared a run; `run_seconds_p50` and `_p95` are over programs that ran. The keys never depend on
    the batch: ranks of a distributed run that log different keys can wait for each other for ever.
    """
    size = max(len(verdicts), 1)
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    ran = [one for one in verdicts if not one.deduped and one.outcome is not Outcome.NO_CODE]
    seconds = sorted(one.timings.run_seconds for one in ran)
    metrics = {
        "pass_rate": sum(score == 1.0 for score in scores) / max(len(scores), 1),
        "unavailable": (len(verdicts) - len(scores)) / size,
        "deduped": sum(verdict.deduped for verdict in verdicts) / size,
        "run_seconds_p50": quantile(seconds, 0.5),
        "run_seconds_p95": quantile(seconds, 0.95),
    }
    for outcome in Outcome:
        metrics[f"outcome/{outcome}"] = sum(one.outcome is outcome for one in verdicts) / size
    return {f"{name}/{key}": value for key, value in metrics.items()}


def batch_extras(name: str, verdicts: Sequence[Verdict]) -> Mapping[str, list[str]]:
    """The columns for a trainer's table of completions: text, one value for each completion."""
    return {
        f"{name}_outcome": [str(verdict.outcome) for verdict in verdicts],
        f"{name}_reason": [printable(verdict.reason) for verdict in verdicts],
        f"{name}_code": [printable(verdict.extraction.code or "") for verdict in verdicts],
    }


def quantile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank quantile of sorted numbers; 0.0 when there are none."""
    if not ordered:
        return 0.0
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def printable(text: str) -> str:
    """Text that any table can hold: no lone surrogates, no control characters but line ends and tabs."""
    clean = text[:KEPT_CHARACTERS].encode("utf-8", "replace").decode()
    if clean.replace("\n", "").replace("\t", "").isprintable():
        return clean
    return "".join(
        one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in clean
    )
