"""The answers that the tiny model imitates before GRPO starts: mostly wrong ones, on purpose.

A model that is right already has nothing to learn from a reward, and one that is never right gets
none. So most answers start from the task's misconception, not from the right answer, and on top come
the slips of real models: swapped tokens, syntax errors, prints, wrong names, endless loops, missing
fences, and now and then `sys.exit(0)`.
"""

import random
import re
from collections.abc import Iterator, Sequence

from tasks import Task, fenced

__all__ = ["Example", "examples"]

Example = tuple[str, str]
"""A prompt and the completion to imitate."""

MISCONCEPTION = 0.6
"""Share of the answers that start from the misconception."""
TOKEN_SWAP = 0.1
"""Chance of each token that has a partner in `SWAPS` to be exchanged for it."""
SWAPS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<": ">", ">": "<", "==": "!=", ">=": "<",
    "and": "or", "max": "min", "min": "max", "sum": "len", "len": "sum", "sorted": "set",
    "upper": "lower", "0": "1", "1": "0", "2": "3", "a": "b", "b": "a", "text": "a",
}  # fmt: skip
TOKEN = re.compile(r"\w+|[-+*/%<>=!]+|\s+|.", re.DOTALL)
SLIPS = {
    "none": 0.67,
    "syntax": 0.05,
    "prints": 0.05,
    "wrong_name": 0.04,
    "endless": 0.02,
    "early_exit": 0.03,
    "empty": 0.06,
    "no_fence": 0.08,
}
"""What else goes wrong with an answer → how often."""


def examples(tasks: Sequence[Task], count: int, seed: int) -> Iterator[Example]:
    """Yield `count` prompts with an answer each, the same ones for the same seed."""
    dice = random.Random(seed)
    for _ in range(count):
        task = dice.choice(tasks)
        yield task.prompt, answer(task, dice)


def answer(task: Task, dice: random.Random) -> str:
    """One completion for the task, more often wrong than right."""
    body = task.misconception if dice.random() < MISCONCEPTION else task.body
    slip = dice.choices(list(SLIPS), list(SLIPS.values()))[0]
    return slipped(task, swapped(body, dice), slip)


def swapped(body: str, dice: random.Random) -> str:
    """The body with some of its tokens exchanged for their partners."""
    tokens = TOKEN.findall(body)
    return "".join(
        SWAPS[token] if token in SWAPS and dice.random() < TOKEN_SWAP else token for token in tokens
    )


def slipped(task: Task, body: str, slip: str) -> str:
    """The completion that holds this body, with the named slip."""
    match slip:
        case "syntax":
            return fenced(task.function(body).replace("):", ")", 1))
        case "prints":
            return fenced(task.function(body.replace("return ", "print(") + ")"))
        case "wrong_name":
            return fenced(task.function(body, name="solution"))
        case "endless":
            return fenced(task.function(f"while True:\n    pass\n{body}"))
        case "early_exit":
            return fenced("import sys\nsys.exit(0)")
        case "empty":
            return fenced(task.function("pass"))
        case "no_fence":
            return task.function(body)
        case _:
            return fenced(task.function(body))
