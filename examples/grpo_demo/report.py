"""The numbers of the demonstration as text."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from textwrap import indent

from measure import Answer, Training

__all__ = ["report"]

EDGE = 5
"""Steps that are averaged at both ends of a curve."""
LABEL = 38
"""Width of the table's first column."""
SHOWN = 3
"""Tasks whose answers are shown."""


def report(trainings: Sequence[Training]) -> str:
    """The report on the honest training and, when there is one, the naive one."""
    honest, *naive = trainings
    lines = ["Rewards from codereward", *table(honest), *costs(honest), "", *answers(honest)]
    for training in naive:
        lines += ["Naive reward: exit status 0 means pass", *table(training), *hack(training)]
    return "\n".join(lines).rstrip()


def table(training: Training) -> Iterator[str]:
    """Before and after, side by side."""
    before, after = training.before, training.after
    yield f"{'':{LABEL + 2}} before   after"
    yield row("mean reward (first and last 5 steps)", *ends(training.curves.reward))
    yield row("pass all tests: sampled programs", before.passed, after.passed)
    yield row("pass all tests: most likely programs", before.greedy, after.greedy)
    untrained = training.untrained_before.passed, training.untrained_after.passed
    yield row("... sampled, tasks never trained on", *untrained)


def row(label: str, before: float, after: float) -> str:
    """One line of the table."""
    return f"  {label:{LABEL}} {before:6.2f}  {after:6.2f}"


def ends(curve: Sequence[float]) -> tuple[float, float]:
    """Mean of the first and of the last steps."""
    return fmean(curve[:EDGE]), fmean(curve[-EDGE:])


def costs(training: Training) -> Iterator[str]:
    """Where the time went, and how many groups taught nothing."""
    spent = sum(training.curves.reward_seconds)
    yield (
        f"  {len(training.curves.reward)} steps in {training.seconds:.0f} s, "
        f"{spent / training.seconds:.0%} of it in rewards; "
        f"{fmean(training.curves.alike):.0%} of the groups had equal rewards throughout"
    )


def hack(training: Training) -> Iterator[str]:
    """What the naive reward paid for."""
    first, last = ends(training.curves.hacked)
    yield row("sampled programs that call sys.exit", first, last)
    example = training.after.answers[0]
    yield from (
        "",
        example.task,
        "  after, truly worth " + worth(example),
        indent(example.code.strip(), "    | "),
    )


def answers(training: Training) -> Iterator[str]:
    """Tasks whose most likely answer the training improved, with both answers."""
    pairs = zip(training.before.answers, training.after.answers, strict=True)
    improved = [(old, new) for old, new in pairs if new.reward > old.reward]
    for old, new in improved[:SHOWN]:
        yield from (old.task, "  before: " + worth(old), indent(old.code.strip(), "    | "))
        yield from ("  after: " + worth(new), indent(new.code.strip(), "    | "), "")


def worth(answer: Answer) -> str:
    """Reward and reason of an answer."""
    return f"{answer.reward:.2f}" + (f" ({answer.reason})" if answer.reason else "")
