"""One text for all values that are equal as JSON, so that many can be compared by looking up."""

from __future__ import annotations

import json
from typing import Final

__all__ = ["canonical"]

MAX_DEPTH: Final = 205
"""More than an expected value may have: what is deeper equals nothing."""


def canonical(value: object, depth: int = MAX_DEPTH) -> str | None:
    """The text of a value: equal texts for values that `json_equal` takes for equal, and no others.

    Text, not numbers, because a program can choose numbers whose hashes collide.

    Args:
        value: As `decode_json` returns it.
        depth: How deep it may be nested.

    Returns:
        `None` when the value is equal to nothing, or too deep to be expected.
    """
    if depth == 0:
        return None
    if isinstance(value, list):
        return _joined("[", [canonical(item, depth - 1) for item in value], "]")
    if isinstance(value, dict):
        items = [(json.dumps(key), canonical(value[key], depth - 1)) for key in sorted(value)]
        return _joined("{", [None if text is None else key + ":" + text for key, text in items], "}")
    return _scalar(value)


def _joined(start: str, texts: list[str | None], end: str) -> str | None:
    sound = [text for text in texts if text is not None]
    return start + ",".join(sound) + end if len(sound) == len(texts) else None


def _scalar(value: object) -> str | None:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, float):
        return hex(int(value)) if value.is_integer() else repr(value)
    return hex(value) if isinstance(value, int) else None
