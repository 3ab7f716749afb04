"""Keeping sets and dicts of hostile values from taking quadratic time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["refuse_colliding"]

MAX_KEYS: Final = 65_536
"""Keys, texts apart, of one set or dict: the hashes of numbers are the program's choice."""
MAX_SAME: Final = 64
"""Keys of one hash."""
RANDOM: Final = (str, bytes)
"""Types whose hashes depend on a secret of this process."""


def refuse_colliding(keys: Iterable[object]) -> None:
    """Refuse keys whose hashes were chosen to collide, or might have been.

    Raises:
        ValueError: There are too many keys, or too many of one hash.
        TypeError: One cannot be hashed.
    """
    hashes = sorted(hash(key) for key in keys if type(key) not in RANDOM)
    if len(hashes) > MAX_KEYS:
        msg = f"a set or dict of more than {MAX_KEYS} keys"
        raise ValueError(msg)
    if any(one == other for one, other in zip(hashes, hashes[MAX_SAME:], strict=False)):
        msg = "a set or dict whose keys have the same hash"
        raise ValueError(msg)
