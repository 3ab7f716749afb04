"""`which`, `strict` and `tags`."""

import pickle

import pytest

from codereward import Wanted
from codereward.extractors import FencedExtractor

A, B, C = "a = 1\n", "def solve():\n    return 2\n", "print(solve(), 'much longer than the others')\n"
TEXT = f"```\nx\n```\n```python\n{A}```\n```python\n{B}```\n```python\n{C}```\n```\ny\n```\n"


@pytest.mark.parametrize(("which", "code"), [("entry_point", B), ("first", A), ("last", C), ("longest", C)])
@pytest.mark.parametrize("strict", [False, True])
def test_which(which, code, strict, python):
    """Each policy picks its block among those of the language."""
    found = FencedExtractor(which, strict=strict).extract(TEXT, python)
    assert (found.code, found.how) == (code, which)


@pytest.mark.parametrize(("which", "code"), [("first", "x\n"), ("last", "y\n"), ("entry_point", "x\n")])
def test_other_blocks_count_when_the_language_has_none(which, code, python):
    """Untagged blocks are better than nothing."""
    found = FencedExtractor(which).extract("```\nx\n```\n```\ny\n```", python)
    assert found.code == code


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{B}```",
        f"```python\n{B}",
        f"````python\n{B}```",
        f"Text ```python\n{B}```",
        f"```python\n{B}```### Notes",
        f"```js\n{B}```",
        f"<think>\n```python\n{B}```\n</think>",
        f"    ```python\n{B}    ```",
        "```python\n```",
        B,
    ],
)
def test_strict_takes_well_formed_blocks_only(text, python):
    """Whatever is not a closed block of the language is nothing."""
    found = FencedExtractor("first", strict=True).extract(text, python)
    assert found.code is None
    assert found.how == ("empty completion" if "think" in text else "no closed python block")


def test_strict_is_commonmark(python):
    """A fence inside a longer one is content, and a tilde fence is a fence."""
    found = FencedExtractor(strict=True).extract(f"````md\n```python\n{A}```\n````\n~~~py\n{B}~~~", python)
    assert found.code == B


def test_tags_replace_the_languages(python):
    """Own tags count instead of the harness's, in any case."""
    text = f"```python\n{A}```\n```Answer\n{B}```"
    assert FencedExtractor("first", tags=["ANSWER"]).extract(text, python).code == B


def test_no_entry_point_means_first():
    """A row that names nothing gets the first block of the language."""
    found = FencedExtractor().extract(TEXT, Wanted("python", ("python",)))
    assert (found.code, found.how) == (A, "first")


def test_unfenced_text_needs_a_judge_or_a_definition():
    """Where nobody can tell what a program is, text counts only if it defines the name."""
    extract = FencedExtractor().extract
    assert extract(B, Wanted("x", ("x",))).code is None
    assert extract(B, Wanted("x", ("x",), "solve")).how == "whole_text"


@pytest.mark.parametrize(
    "options",
    [
        {"which": "best"},
        {"which": None},
        {"strict": 1},
        {"tags": "py"},
        {"tags": []},
        {"tags": [1]},
        {"tags": [" "]},
    ],
)
def test_wrong_arguments_are_refused_at_once(options):
    """A mistake in the configuration names the argument."""
    with pytest.raises(ValueError, match=next(iter(options))):
        FencedExtractor(**options)


def test_it_pickles(python):
    """A pickled extractor does the same."""
    extractor = FencedExtractor("last", tags=["py"])
    again = pickle.loads(pickle.dumps(extractor))
    assert repr(again) == repr(extractor)
    assert again.extract(TEXT, python) == extractor.extract(TEXT, python)
