"""The curves of the demonstration as a picture."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from measure import Training

__all__ = ["draw"]

REWARD, PASSED = "#D55E00", "#0072B2"
"""Vermilion and blue: told apart by colour-blind readers too, and by their line styles."""
TITLES = ("Rewards from codereward", "Naive reward: exit status 0 means pass")
WINDOW = 5
"""Steps that the bold lines average over."""
LABEL_STARTS = 0.45
"""Where the labels at the right end begin, as a share of the panel's width."""


def draw(trainings: Sequence[Training], path: Path) -> None:
    """Draw one panel per training, side by side, into a PNG file."""
    with mpl.rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(4.6 * len(trainings), 3.7), layout="constrained")
        panels = figure.subplots(1, len(trainings), sharey=True, squeeze=False)[0]
        for axes, training, title in zip(panels, trainings, TITLES, strict=False):
            panel(axes, training, title)
        panels[0].set_ylabel("mean over the step's completions")
        figure.savefig(path, dpi=150)


def panel(axes: Axes, training: Training, title: str) -> None:
    """The reward that the trainer saw, and what it was worth."""
    curves = training.curves
    line(axes, curves.reward, REWARD, "--", "reward that the trainer sees")
    line(axes, curves.passed, PASSED, "-", "programs that pass all tests" + note(curves.hacked))
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=10)
    axes.set_xlabel("training step")
    axes.set_xlim(1, len(curves.reward))
    axes.set_ylim(0, 1.09)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.grid(axis="y", color="0.9")


def note(hacked: Sequence[float]) -> str:
    """What most programs do instead of passing, at the end of the training."""
    share = fmean(hacked[-WINDOW:])
    return f":\n{share:.0%} call sys.exit(0) instead" if share > 0.5 else ""


def line(axes: Axes, values: Sequence[float], color: str, style: str, label: str) -> None:
    """The values, faint, their moving mean, bold, and its name at the right end."""
    steps = range(1, len(values) + 1)
    mean = smooth(values)
    axes.plot(steps, values, color=color, linewidth=0.8, alpha=0.35)
    axes.plot(steps, mean, color=color, linewidth=2.4, linestyle=style)
    below = style == "-" and mean[-1] > 0.3
    beside = values[int(len(values) * LABEL_STARTS) :]
    axes.annotate(
        label,
        (len(values), min(beside) if below else max(*beside, *mean[-len(beside) :])),
        xytext=(-4, -6 if below else 6),
        textcoords="offset points",
        horizontalalignment="right",
        verticalalignment="top" if below else "bottom",
        color=color,
        fontweight="bold",
        fontsize=10,
    )


def smooth(values: Sequence[float]) -> list[float]:
    """The mean of each value and its neighbours."""
    reach = WINDOW // 2
    return [fmean(values[max(at - reach, 0) : at + reach + 1]) for at in range(len(values))]
