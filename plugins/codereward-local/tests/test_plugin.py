"""What codereward sees of this package."""

import subprocess
import sys

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
