"""One completion for each shape that models answer in."""

import pytest

from codereward import Wanted
from codereward.extractors import FencedExtractor
from codereward.harnesses.python.syntax import defines, parses

PY = "def solve(x):\n    return x + 1\n"
JS = "function solve(x) {\n  return x + 1;\n}\n"
USE = "print(solve(1))\n"
WRONG = "def solve(x):\n    return None\n"

PYTHON = Wanted("python", ("python", "py"), "solve", parses, defines)
NODE = Wanted("node", ("javascript", "js"), "solve")


def quoted(text, mark):
    return "".join(mark + line for line in text.splitlines(keepends=True))


# name: (completion, code without outer blanks, how, tag, closed)
SHAPES = {
    "plain": (f"Sure:\n\n```python\n{PY}```\nDone.", PY, "entry_point", "python", True),
    "short tag": (f"```py\n{PY}```", PY, "entry_point", "py", True),
    "capital tag": (f"```Python\n{PY}```", PY, "entry_point", "Python", True),
    "versioned tag": (f"```python3\n{PY}```", PY, "entry_point", "python3", True),
    "title": (f'```python title="a.py" {{1,2}}\n{PY}```', PY, "entry_point", "python", True),
    "attribute": (f"```{{.python .numberLines}}\n{PY}```", PY, "entry_point", "python", True),
    "file name": (f"```py:main.py\n{PY}```", PY, "entry_point", "py", True),
    "other tag": (f"```scss\n{PY}```", PY, "entry_point", "scss", True),
    "no tag": (f"```\n{PY}```", PY, "entry_point", None, True),
    "tag on the first line": (f"```\npython\n{PY}```", PY, "entry_point", "python", True),
    "tildes": (f"~~~python\n{PY}~~~", PY, "entry_point", "python", True),
    "tildes around ticks": (
        f'~~~~python\n{PY}"""\n```\n"""\n~~~~',
        f'{PY}"""\n```\n"""',
        "entry_point",
        "python",
        True,
    ),
    "longer": (f"`````python\n{PY}`````", PY, "entry_point", "python", True),
    "longer closing": (f"```python\n{PY}``````", PY, "entry_point", "python", True),
    "closed by shorter": (f"````python\n{PY}```\nText.", PY, "entry_point", "python", True),
    "shorter, then another": (
        f"````python\n{PY}```\nText.\n````python\n{USE}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "unclosed": (f"```python\n{PY}", PY, "entry_point", "python", False),
    "unclosed, mark": (f"```python\n{PY}<|im_end|>", PY, "entry_point", "python", False),
    "unclosed, next turn": (
        f"```python\n{PY}<|im_end|>\n<|im_start|>user\nMore",
        PY,
        "entry_point",
        "python",
        False,
    ),
    "mark after fence": (f"```python\n{PY}```<|endoftext|>", PY, "entry_point", "python", True),
    "wide mark": (f"```python\n{PY}```<\uff5cend▁of▁sentence\uff5c>", PY, "entry_point", "python", True),
    "mark before closing fence": (f"```python\n{PY}</s>\n```", PY, "entry_point", "python", True),
    "mark before fence": (f"solve it [/INST]  ```python\n{PY}```", PY, "entry_point", "python", True),
    "crlf": (f"Hi\n```python\n{PY}```\n".replace("\n", "\r\n"), PY, "entry_point", "python", True),
    "cr": (f"Hi\n```python\n{PY}```\n".replace("\n", "\r"), PY, "entry_point", "python", True),
    "list": (f"1. So:\n\n   ```python\n{quoted(PY, '   ')}   ```\n", PY, "entry_point", "python", True),
    "quote": (f"> ```python\n{quoted(PY, '> ')}> ```\n", PY, "entry_point", "python", True),
    "list in quote": (f"> - ```python\n{quoted(PY, '>   ')}>   ```\n", PY, "entry_point", "python", True),
    "fence in a list, code not": (
        f"1. So:\n\n    ```python\n{PY}    ```\n",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "indented": (f"  ```python\n{quoted(PY, '  ')}  ```", PY, "entry_point", "python", True),
    "indented code": (f"```python\n{quoted(PY, '    ')}```", PY, "entry_point", "python", True),
    "first line deeper": (f"```python\n {PY}{USE}```", PY + USE, "entry_point", "python", True),
    "fence deeper than code": (
        "  ```python\ndef solve(x):\n  if x:\n    return 1\n  return 0\n  ```",
        "def solve(x):\n  if x:\n    return 1\n  return 0",
        "entry_point",
        "python",
        True,
    ),
    "after text": (
        f"Here it is: ```python\n{PY}```\nand ```python\n{USE}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "prose on closing line": (
        f"```python\n{PY}```### Explanation:\nIt adds.",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "sentence on closing line": (
        f"```python\n{PY}```This is it.\n```python\n{USE}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "dot on closing line": (f"```python\n{PY}```.\nIt adds.", PY, "entry_point", "python", True),
    "code on closing line": (f"```python\n{PY.rstrip()}```", PY, "entry_point", "python", True),
    "opened anew": (f"```python\n{PY}\n```python\n{USE}```", PY, "entry_point", "python", False),
    "stray closing": (f"{PY}```\n\nIt adds.", PY, "before_fence", None, True),
    "stray closing, prose": (f"Here:\n\n{PY}\n```", PY, "before_fence", None, True),
    "html around": (f"<answer>\n```python\n{PY}```\n</answer>", PY, "entry_point", "python", True),
    "named marks": (
        f"[PYTHON]\n{PY}[/PYTHON]\n[TESTS]\nassert solve(1)\n[/TESTS]",
        PY,
        "marked",
        "PYTHON",
        True,
    ),
    "html marks": (f"So: <code>{PY}</code> is it.", PY, "marked", "code", True),
    "usage first": (f"```python\n{USE}```\n\n```python\n{PY}```", PY, "entry_point", "python", True),
    "usage last": (f"```python\n{PY}```\n\n```python\n{USE}```", PY, "entry_point", "python", True),
    "shell first": (f"```bash\npip install x\n```\n```python\n{PY}```", PY, "entry_point", "python", True),
    "corrected later": (f"```python\n{PY}```\n```python\n{WRONG}```", PY, "entry_point", "python", True),
    "fence in a docstring": (
        f'```python\ndef solve(x):\n    """\n    ```\n    1\n    ```\n    """\n    return x\n```\n```python\n{USE}```',
        'def solve(x):\n    """\n    ```\n    1\n    ```\n    """\n    return x',
        "entry_point",
        "python",
        True,
    ),
    "other name": (f"```python\n{USE}```", USE, "first", "python", True),
    "other name, tag wins": (f"```\n1\n```\n```python\n{USE}```", USE, "first", "python", True),
    "bare": (PY, PY, "whole_text", None, True),
    "bare, blank first": (f" {PY}", PY, "whole_text", None, True),
    "bare, mark": (f"{PY}<|im_end|>", PY, "whole_text", None, True),
    "bare, prose": (f"Here is the code:\n\n{PY}\nThis function adds one.", PY, "part_of_text", None, True),
    "thought": (
        f"<think>\n```python\n{WRONG}```\n</think>\n```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "thought, fence left open": (
        f"<think>\n```python\n{WRONG}</think>\n```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "thought, opened by the prompt": (
        f"```python\n{WRONG}```\n</think>```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "thought, bare": (f"<thinking>{WRONG}</thinking>\n{PY}", PY, "whole_text", None, True),
    "thought, brackets": (
        f"[THINK]\n```python\n{WRONG}```[/THINK]\n```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "thought, channel": (
        f"<|channel|>analysis<|message|>\n```python\n{WRONG}```<|end|><|channel|>final<|message|>```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "two thoughts": (
        f"<think>{WRONG}</think>Hm.<reasoning>\n```python\n{WRONG}```\n</reasoning>\n```python\n{PY}```",
        PY,
        "entry_point",
        "python",
        True,
    ),
    "code about thoughts": (
        '```python\nimport re\ndef solve(x):\n    # drop <think> parts\n    return x.split("</think>")[-1]\n```\n',
        'import re\ndef solve(x):\n    # drop <think> parts\n    return x.split("</think>")[-1]',
        "entry_point",
        "python",
        True,
    ),
    "code about marks": (
        '```python\ndef solve(x):\n    return x.removesuffix("<|im_end|>")',
        'def solve(x):\n    return x.removesuffix("<|im_end|>")',
        "entry_point",
        "python",
        False,
    ),
    "not ascii": (f"Voilà 🙂 é:\n```python\n# ü\n{PY}```", f"# ü\n{PY}", "entry_point", "python", True),
    "prompts": ("```python\n>>> solve(1)\n2\n```", ">>> solve(1)\n2", "first", "python", True),
}


@pytest.mark.parametrize("name", SHAPES)
def test_python_shape(name):
    """The code of every shape is found, said how, and where it stands."""
    text, code, how, tag, closed = SHAPES[name]
    found = FencedExtractor().extract(text, PYTHON)
    assert found.code is not None, found.how
    assert found.code.strip() == code.strip()
    assert (found.how, found.tag, found.closed) == (how, tag, closed)
    start, end = found.span
    assert found.code.strip().splitlines()[-1].strip() in text[start:end]


JS_SHAPES = {
    "plain": f"```javascript\n{JS}```",
    "js": f"Text\n```js\n{JS}```\n```js\nconsole.log(solve(1));\n```",
    "usage first": f"```js\nconsole.log(solve(1));\n```\n\n```js\n{JS}```",
    "java": f"```java\n{JS}```",
    "unclosed": f"```javascript\n{JS}",
    "glued": f"Code:```javascript\n{JS}```",
    "bare": JS,
    "bare, prose": f"Here is the code:\n\n{JS}\nThis function adds one.",
    "stray closing": f"{JS}```\nDone here.",
    "list": f"- a\n\n  ```js\n{quoted(JS, '  ')}  ```",
    "thought": f"hm\n```js\nconst solve = 1\n```\n</think>\n```js\n{JS}```",
}


@pytest.mark.parametrize("name", JS_SHAPES)
def test_javascript_shape(name):
    """A language whose harness can tell nothing is served as well."""
    found = FencedExtractor().extract(JS_SHAPES[name], NODE)
    assert found.code is not None
    assert found.code.strip() == JS.strip()


@pytest.mark.parametrize(
    "definition",
    [
        "const solve = (x) => x",
        "let solve = function (x) {}",
        "async function solve(x) {}",
        "function* solve(x) {}",
        "export default class solve {}",
        "module.exports.solve = f",
        "exports.solve = f",
        "  static solve(x) {}",
        "int solve(int x) {",
        "std::vector<int> solve(int x)\n{",
        "func solve(x int) int {",
        "pub fn solve(x: i32) -> i32 {",
        "solve: function (x) {",
        "solve = lambda x: x",
    ],
)
def test_common_definitions_are_known(definition, node):
    """Without a harness's help the usual ways to define a name are known, and calls are not taken for them."""
    text = f"```\nsolve(1); y = solve(2)\nif (solve(3)) {{ }}\nreturn solve(4)\n```\n```\n{definition}\n```"
    assert FencedExtractor().extract(text, node).code.strip() == definition.strip()


NOTHING = {
    "": "empty completion",
    " \n": "empty completion",
    "I am sorry, I can not do that.": "no fenced block",
    "```python\n```": "no fenced block",
    f"<think>\n```python\n{PY}```": "think section never closed",
    f"```python\n{PY}```\n</think>": "empty completion",
    "<|im_end|>": "no fenced block",
}


@pytest.mark.parametrize("text", NOTHING)
def test_the_reason_for_nothing(text, python):
    """When there is no code the reason is short and for people."""
    found = FencedExtractor().extract(text, python)
    assert (found.code, found.span, found.how) == (None, None, NOTHING[text])
