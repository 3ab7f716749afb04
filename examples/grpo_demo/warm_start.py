"""The answers that the tiny model imitates before GRPO starts: mostly wrong ones, on purpose.

A model that is right already has nothing to learn from a reward, and one that is never right gets
none. So most answers start from the task's misconception, not from the right answer, and on top come
the slips of real models: swapped tokens, syntax errors, prints, wrong names, endless loops, missing
fences, and now and then `sys.exit(0)`.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Slip:
    """Something else that goes wrong with an answer."""

    share: float
    """How often."""
    write: Callable[[Task, str], str]
    """Writes the completion for a task and the function's body."""


SLIPS = (
    Slip(0.67, lambda task, body: fenced(task.function(body))),  # nothing goes wrong
    Slip(0.08, lambda task, body: task.function(body)),
    Slip(0.06, lambda task, _: fenced(task.function("pass"))),
    Slip(0.05, lambda task, body: fenced(task.function(body).replace("):", ")", 1))),
    Slip(0.05, lambda task, body: fenced(task.function(f"{body.replace('return ', 'print(')})"))),
    Slip(0.04, lambda task, body: fenced(task.function(body, name="solution"))),
    Slip(0.02, lambda task, body: fenced(task.function(f"while True:\n    pass\n{body}"))),
    Slip(0.03, lambda *_: fenced("import sys\nsys.exit(0)")),
)


def examples(tasks: Sequence[Task], count: int, seed: int) -> Iterator[Example]:
    """Yield `count` prompts with an answer each, the same ones for the same seed."""
    dice = random.Random(seed)
    for _ in range(count):
        task = dice.choice(tasks)
        yield task.prompt, answer(task, dice)


def answer(task: Task, dice: random.Random) -> str:
    """One completion for the task, more often wrong than right."""
    body = task.misconception if dice.random() < MISCONCEPTION else task.body
    slip = dice.choices(SLIPS, [slip.share for slip in SLIPS])[0]
    return slip.write(task, swapped(body, dice))


def swapped(body: str, dice: random.Random) -> str:
    """The body with some of its tokens exchanged for their partners."""
    tokens = TOKEN.findall(body)
    return "".join(
        SWAPS[token] if token in SWAPS and dice.random() < TOKEN_SWAP else token for token in tokens
    )
