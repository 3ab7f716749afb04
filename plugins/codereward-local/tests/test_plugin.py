"""What codereward sees of this package."""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import codereward_local
from codereward_local.executor import LocalExecutor


def test_the_executor_is_registered_under_its_name():
    """The hook registers `local`, and the factory passes options on."""
    found = {}
    codereward_local.codereward_register_executors(register=found.__setitem__)

    assert list(found) == ["local"]
    assert isinstance(found["local"](workers=3), LocalExecutor)
    assert found["local"](workers=3).workers == 3


def test_loading_the_plugin_imports_nothing_heavy():
    """The hook's module does not import the executor."""
    code = (
        "import sys, codereward_local; print([m for m in sys.modules if m.startswith('codereward_local.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def test_the_example_in_the_readme_runs():
    """The first block of Python in the README prints what it promises."""
    text = (HERE.parent / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("42\n\n", "")


def test_every_claim_of_the_security_page_names_a_test_that_exists():
    """Files, functions and hostile programs in the table are there."""
    programs = [path.stem for path in (HERE / "hostile").glob("*/*")]
    functions = re.findall(
        r"^def (\w+)", "".join(path.read_text() for path in HERE.glob("*.py")), re.MULTILINE
    )
    rows = re.findall(
        r"^\| .* \| (`test_.*) \|$", (ROOT / "docs/security-local.md").read_text(), re.MULTILINE
    )
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    assert len(rows) > 15
    for name in names:
        file, _, function = name.rpartition("::")
        if file or name.endswith(".py"):
            assert (HERE / (file or name)).exists(), name
            assert not file or function in functions, name
        else:
            assert fnmatch.filter([*programs, *functions], name), name
