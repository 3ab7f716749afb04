"""Forty small programming tasks: what to ask, a right answer, a likely wrong one, and the tests.

Each misconception is a mistake people (and models) really make; it passes some of the tests of most
tasks, none of others, and never all of them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SHORT", "SHORT_UNTRAINED", "TASKS", "TRAINED", "UNTRAINED", "Row", "Task", "fenced"]

Row = dict[str, object]
"""One row of the training data set."""


@dataclass(frozen=True, slots=True)
class Task:
    """One function to write."""

    name: str
    parameters: str
    says: str
    """What it returns, as the prompt puts it."""
    body: str
    """A right answer: the lines of the function's body, not indented."""
    misconception: str
    """A likely wrong answer, written alike."""
    cases: Mapping[str, object]
    """Arguments as source text → the value that the function returns for them."""

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return f"Write {self.name}({self.parameters}): {self.says}."

    @property
    def test(self) -> str:
        """One expression that asks for the values of all cases: `[add(2, 3), add(7, 0)]`."""
        return f"[{', '.join(f'{self.name}({arguments})' for arguments in self.cases)}]"

    def function(self, body: str, *, name: str | None = None) -> str:
        """The source of the function with the given body."""
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        return f"def {name or self.name}({self.parameters}):\n{lines}"

    def row(self) -> Row:
        """The row of the data set: TRL reads `prompt`, the reward reads `test` and `expected`.

        `expected` is JSON text, because all values in a column of a data set have one type.
        """
        return {
            "prompt": [{"role": "user", "content": self.prompt}],
            "test": self.test,
            "expected": json.dumps(list(self.cases.values())),
        }


def fenced(code: str) -> str:
    """The completion that a well-behaved model gives: the code in one fenced block."""
    return f"```python\n{code}\n```"


TASKS = (
    Task(
        "add", "a, b", "the sum of a and b",
        "return a + b",
        "return a - b",
        {"2, 3": 5, "10, -4": 6, "7, 0": 7, "-1, -1": -2},
    ),
    Task(
        "is_even", "n", "whether n is even",
        "return n % 2 == 0",
        "return n % 2",
        {"2": True, "7": False, "0": True, "-3": False},
    ),
    Task(
        "max_of_two", "a, b", "the larger of a and b",
        "return max(a, b)",
        "return a",
        {"1, 2": 2, "5, 3": 5, "-1, -7": -1, "0, 9": 9},
    ),
    Task(
        "reverse_text", "text", "the text backwards",
        "return text[::-1]",
        "return text[-1]",
        {"'abc'": "cba", "'x'": "x", "'noon'": "noon", "'Hi!'": "!iH"},
    ),
    Task(
        "count_words", "text", "the number of words",
        "return len(text.split())",
        "return len(text)",
        {"'one two'": 2, "''": 0, "'a b c d'": 4, "'word'": 1},
    ),
    Task(
        "square", "n", "n times itself",
        "return n * n",
        "return n * 2",
        {"2": 4, "0": 0, "-3": 9, "7": 49},
    ),
    Task(
        "first_item", "items", "the first item",
        "return items[0]",
        "return items[1]",
        {"[4, 5, 6]": 4, "['a', 'b']": "a", "[1, 1]": 1, "[True, False]": True},
    ),
    Task(
        "last_item", "items", "the last item",
        "return items[-1]",
        "return items[0]",
        {"[4, 5, 6]": 6, "['a', 'b']": "b", "[8]": 8, "[3, 1, 2]": 2},
    ),
    Task(
        "absolute", "n", "n without its sign",
        "return abs(n)",
        "return -n",
        {"-4": 4, "3": 3, "0": 0, "12": 12},
    ),
    Task(
        "is_positive", "n", "whether n is above zero",
        "return n > 0",
        "return n >= 0",
        {"1": True, "0": False, "-5": False, "40": True},
    ),
    Task(
        "total", "numbers", "the sum of the numbers",
        "return sum(numbers)",
        "return len(numbers)",
        {"[1, 2, 3]": 6, "[]": 0, "[-5, 5, 4]": 4, "[10]": 10},
    ),
    Task(
        "mean", "numbers", "the mean of the numbers",
        "return sum(numbers) / len(numbers)",
        "return sum(numbers) / 2",
        {"[2, 4]": 3, "[9]": 9, "[1, 2, 3]": 2, "[5, 5, 5, 5]": 5},
    ),
    Task(
        "shout", "text", "the text in capitals",
        "return text.upper()",
        "return text.lower()",
        {"'abc'": "ABC", "'42'": "42", "'Hi you'": "HI YOU", "'X'": "X"},
    ),
    Task(
        "double_all", "numbers", "each number times two",
        "return [n * 2 for n in numbers]",
        "return numbers * 2",
        {"[1, 2]": [2, 4], "[]": [], "[-3]": [-6], "[5, 0, 5]": [10, 0, 10]},
    ),
    Task(
        "only_even", "numbers", "the even numbers",
        "return [n for n in numbers if n % 2 == 0]",
        "return [n for n in numbers if n % 2]",
        {"[1, 2, 3, 4]": [2, 4], "[5]": [], "[]": [], "[6, 8]": [6, 8]},
    ),
    Task(
        "largest", "a, b, c", "the largest of a, b and c",
        "return max(a, b, c)",
        "return max(a, b)",
        {"1, 2, 3": 3, "9, 2, 3": 9, "4, 8, 6": 8, "-3, -2, -1": -1},
    ),
    Task(
        "factorial", "n", "the product of 1 to n",
        "result = 1\nfor i in range(1, n + 1):\n    result *= i\nreturn result",
        "result = 1\nfor i in range(1, n):\n    result *= i\nreturn result",
        {"1": 1, "3": 6, "5": 120, "0": 1},
    ),
    Task(
        "fibonacci", "n", "the n-th Fibonacci number",
        "a, b = 0, 1\nfor i in range(n):\n    a, b = b, a + b\nreturn a",
        "a, b = 0, 1\nfor i in range(n):\n    a, b = b, a + b\nreturn b",
        {"0": 0, "1": 1, "7": 13, "10": 55},
    ),
    Task(
        "gcd", "a, b", "the greatest common divisor",
        "while b:\n    a, b = b, a % b\nreturn a",
        "while b:\n    a, b = b, a % b\nreturn b",
        {"12, 8": 4, "7, 3": 1, "10, 5": 5, "9, 6": 3},
    ),
    Task(
        "count_vowels", "text", "the number of vowels",
        "return sum(c in 'aeiou' for c in text)",
        "return sum(c == 'a' for c in text)",
        {"'banana'": 3, "'xyz'": 0, "'queue'": 4, "'hello'": 2},
    ),
    Task(
        "is_palindrome", "text", "whether it reads the same backwards",
        "return text == text[::-1]",
        "return text[0] == text[-1]",
        {"'noon'": True, "'abca'": False, "'x'": True, "'pull up'": False},
    ),
    Task(
        "sum_to", "n", "the sum of 1 to n",
        "return sum(range(n + 1))",
        "return sum(range(n))",
        {"3": 6, "1": 1, "0": 0, "10": 55},
    ),
    Task(
        "clamp", "n, low, high", "n, kept between low and high",
        "return max(low, min(n, high))",
        "return min(n, high)",
        {"5, 0, 10": 5, "-5, 0, 10": 0, "15, 0, 10": 10, "2, 3, 4": 3},
    ),
    Task(
        "unique", "items", "the distinct items, sorted",
        "return sorted(set(items))",
        "return sorted(items)",
        {"[3, 1, 3]": [1, 3], "[2]": [2], "['b', 'a', 'b']": ["a", "b"], "[]": []},
    ),
    Task(
        "sort_down", "numbers", "the numbers, largest first",
        "return sorted(numbers, reverse=True)",
        "return sorted(numbers)",
        {"[1, 3, 2]": [3, 2, 1], "[5]": [5], "[9, 8]": [9, 8], "[0, -1, 4]": [4, 0, -1]},
    ),
    Task(
        "join_words", "words", "the words with spaces between them",
        "return ' '.join(words)",
        "return ''.join(words)",
        {"['a', 'b']": "a b", "['one']": "one", "[]": "", "['x', 'y', 'z']": "x y z"},
    ),
    Task(
        "power", "a, b", "a to the power of b",
        "return a ** b",
        "return a * b",
        {"2, 2": 4, "3, 3": 27, "5, 1": 5, "7, 0": 1},
    ),
    Task(
        "remainder", "a, b", "what is left of a divided by b",
        "return a % b",
        "return a / b",
        {"7, 3": 1, "10, 4": 2, "9, 3": 0, "2, 5": 2},
    ),
    Task(
        "contains", "items, x", "whether x is one of the items",
        "return x in items",
        "return x == items",
        {"[1, 2], 2": True, "[1, 2], 3": False, "['a'], 'a'": True, "[], 0": False},
    ),
    Task(
        "last_digit", "n", "the last digit of n",
        "return n % 10",
        "return n // 10",
        {"123": 3, "7": 7, "40": 0, "99": 9},
    ),
    Task(
        "how_often", "items, x", "how often x is among the items",
        "return items.count(x)",
        "return x in items",
        {"[1, 2, 1], 1": 2, "[1], 3": 0, "[5, 5, 5], 5": 3, "['a', 'b'], 'b'": 1},
    ),
    Task(
        "longest", "words", "the longest word",
        "return max(words, key=len)",
        "return max(words)",
        {"['a', 'bcd', 'ef']": "bcd", "['x']": "x", "['zz', 'ab', 'abc']": "abc", "['b', 'cc']": "cc"},
    ),
    Task(
        "starts_same", "a, b", "whether the first letters are equal",
        "return a[0] == b[0]",
        "return a == b",
        {"'cat', 'cow'": True, "'cat', 'dog'": False, "'x', 'xy'": True, "'same', 'same'": True},
    ),
    Task(
        "digit_sum", "n", "the sum of the digits of n",
        "return sum(int(d) for d in str(n))",
        "return sum(d for d in str(n))",
        {"123": 6, "7": 7, "100": 1, "99": 18},
    ),
    Task(
        "flatten", "rows", "the items of all rows in one list",
        "return [x for row in rows for x in row]",
        "return [row for row in rows]",
        {"[[1], [2, 3]]": [1, 2, 3], "[]": [], "[[], [4]]": [4], "[['a', 'b']]": ["a", "b"]},
    ),
    Task(
        "swap", "pair", "the two items in the other order",
        "return [pair[1], pair[0]]",
        "return [pair[0], pair[1]]",
        {"[1, 2]": [2, 1], "['a', 'b']": ["b", "a"], "[3, 3]": [3, 3], "[0, 9]": [9, 0]},
    ),
    Task(
        "is_leap", "year", "whether the year has 366 days",
        "return year % 4 == 0 and year % 100 != 0 or year % 400 == 0",
        "return year % 4 == 0",
        {"2024": True, "1900": False, "2000": True, "2023": False},
    ),
    Task(
        "celsius", "f", "f degrees Fahrenheit in Celsius",
        "return (f - 32) * 5 / 9",
        "return f - 32 * 5 / 9",
        {"32": 0, "212": 100, "50": 10, "-40": -40},
    ),
    Task(
        "drop_first", "items", "all items but the first",
        "return items[1:]",
        "return items[1]",
        {"[1, 2, 3]": [2, 3], "['a']": [], "[7, 7]": [7], "[]": []},
    ),
    Task(
        "repeat", "text, n", "the text n times over",
        "return text * n",
        "return text * 2",
        {"'ab', 2": "abab", "'x', 3": "xxx", "'hi', 0": "", "'-', 5": "-----"},
    ),
)  # fmt: skip

TRAINED = TASKS[::2]
"""The twenty tasks of the full demonstration."""
UNTRAINED = TASKS[1::2]
"""The twenty tasks that the model meets in the warm start but never in GRPO."""
SHORT = TASKS[::5]
"""The eight tasks of the short version."""
SHORT_UNTRAINED = TASKS[1::5]
"""Eight tasks that the short version does not train on."""
