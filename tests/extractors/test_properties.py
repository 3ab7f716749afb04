"""Whatever the text: no exception, a true span, the same answer again, in linear time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward import Wanted
from codereward.extractors import FencedExtractor
from codereward.harnesses.python.syntax import defines, parses

WANTED = [
    Wanted("python", ("python", "py"), "f", parses, defines),
    Wanted("node", ("javascript", "js"), "f"),
    Wanted("python", ("python",), None, parses, defines),
]
EXTRACTORS = [
    FencedExtractor(which, strict=strict)
    for which in ("entry_point", "first", "last", "longest")
    for strict in (False, True)
]

PIECES = [
    "```", "````", "~~~", "`", "python", "js", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "> ", "- ", "1. ", "f", "def f():",
    " return 1", "function f() {", "}", "f = 1", "<think>", "</think>", "<|im_end|>", "</s>", "[PYTHON]\n", "[/PYTHON]", "<code>",
    "</code>", "[INST]", "é", "🙂", "\ud800", "\0", "\\", '"', "'", "Here is the", "text", "{.python}", "<div>", "[THINK]", "x: ```py\n",
]  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=200),
)


@settings(max_examples=400, deadline=None)
@given(texts, st.sampled_from(EXTRACTORS), st.sampled_from(WANTED))
def test_any_text(text, extractor, wanted):
    """Code is never blank, its span lies in the text, and asking again changes nothing."""
    found = extractor.extract(text, wanted)
    assert found == extractor.extract(text, wanted)
    assert found.how
    if found.code is None:
        assert found.span is None
    else:
        start, end = found.span
        assert found.code.strip()
        assert 0 <= start < end <= len(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([piece for piece in PIECES if "think" not in piece.lower()]), max_size=20).map(
        "".join
    ),
    st.sampled_from(
        [("<think>", "</think>"), ("<Thinking>", "</Thinking>"), ("", "</think>"), ("<think>", "")]
    ),
    st.sampled_from(EXTRACTORS),
)
def test_thoughts_are_never_code(noise, tags, extractor):
    """Nothing of a think section is extracted, whatever fences it leaves open."""
    text = f"{tags[0]}{noise}\n```python\ndef f(): SECRET\n```\n{noise}\n.{tags[1]}\n```python\ndef f(): open\n```\n"
    found = extractor.extract(text, WANTED[0])
    assert "SECRET" not in (found.code or "")
    assert tags[1] or found.code is None


CODE = st.lists(
    st.sampled_from(["x = 1", "def f():", "    return '`'", "", "é = 🙂", "# > - ", "\ty"]), min_size=1
).map("\n".join)


@settings(max_examples=200, deadline=None)
@given(CODE, st.sampled_from(["", "> ", "> > ", "- ", "1. > "]), st.sampled_from(["```", "~~~~", "``````"]))
def test_containers_are_taken_off(code, container, fence):
    """A block in quotes and lists gives the code that was put there."""
    code = f"start\n{code}\nend"
    rest = container.replace("- ", "  ").replace("1. ", "   ")
    lines = [f"{fence}python", *code.split("\n"), fence]
    text = (
        "Text é\n\n" + "\n".join((rest if at else container) + line for at, line in enumerate(lines)) + "\n"
    )
    found = FencedExtractor("first", strict=True).extract(text, WANTED[2])
    assert found.code == code + "\n"


UNITS = {
    "quotes": "> ", "lists": "1. ", "bullets": "+ - ", "fences": "```\n", "open fences": "```python\n", "shorter": "````py\n```\n",
    "glued": "x```\n", "opened": "a: ```py\n", "prose": "```### E\n", "thoughts": "<think>", "ends": "</think>", "both": "<think></think>",
    "marks": "<|im_end|>", "strikes": "</s>\n", "names": "[PYTHON]\n", "code": "<code>", "defs": "def f(", "calls": "f(", "typed": "int f(\n",
    "assigned": "f = ", "letters": "a", "lines": "\n", "blanks": " ", "ticks": "`", "tildes": "~", "runs": "~~~ x ", "spans": "``` x `",
    "tabs": "\t", "zeros": "\0", "links": "[](", "stars": "*a_ ", "prose words": "Ab cd ", "digits": "1", "angles": "<", "escapes": "\\",
    "returns": "\r", "deep": " " * 50 + "```\n", "wide": "é\u2028", "lets": "let f ", "pipes": "<|a", "lone": "\ud800",
}  # fmt: skip
STARTS = ["", "```python\n", "1. " * 3000 + "```\n", "def f():\n"]


def seconds(text, wanted):
    start = time.process_time()
    FencedExtractor().extract(text, wanted)
    return time.process_time() - start


@pytest.mark.parametrize("unit", UNITS)
def test_linear_time(unit):
    """Four times the text takes nowhere near sixteen times as long."""
    for start in STARTS:
        for wanted in WANTED[:2]:
            small, large = (start + UNITS[unit] * (size // len(UNITS[unit])) for size in (30_000, 120_000))
            took = seconds(large, wanted)
            assert took < 0.1 or took < 10 * seconds(small, wanted) + 0.1


@pytest.mark.parametrize("text", ["```python\n" + "x = 1\n" * 1_700_000, "> " * 5_000_000, "<" * 10_000_000])
def test_ten_megabytes(text, python):
    """Ten megabytes are read in seconds."""
    assert seconds(text, python) < 20
