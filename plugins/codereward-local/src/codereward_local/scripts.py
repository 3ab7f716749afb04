"""Scripts of codereward's own that stand at the start of most programs."""

from __future__ import annotations

import functools
from importlib import resources

__all__ = ["known"]


@functools.cache
def known() -> dict[str, bytes]:
    """Name → source of the Python harness's runners.

    The fork server compiles them once. A program whose script has another name or one other byte is
    compiled as ever.
    """
    folder = resources.files("codereward.harnesses.python")
    scripts = (folder / name for name in ("runner.py", "script.py"))
    return {script.name: script.read_bytes() for script in scripts if script.is_file()}
