"""What exists at the service because of this process, so that it can be destroyed at any time.

The executor's event loop fills it; a finalizer, the interpreter's end, or a closing executor empties
it, from any thread and without a loop.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from superserve import Sandbox

__all__ = ["TAG_KEY", "Entry", "Inventory", "destroy_all"]

TAG_KEY = "codereward-box"
"""Metadata key of a sandbox's own tag: finds a sandbox whose creation was never answered."""


@dataclass(slots=True)
class Entry:
    """One sandbox, known or feared to exist."""

    tag: str
    expires: float
    """When the service will have destroyed it by itself, on the monotonic clock."""
    sandbox_id: str | None = None
    """Known once its creation was answered."""
    pending: bool = True
    """Whether the call that creates it is still under way."""


@dataclass(slots=True)
class Inventory:
    """All entries of one executor in one process. Safe to use from any thread."""

    owner: int = field(default_factory=os.getpid)
    _entries: dict[str, Entry] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entry: Entry) -> None:
        """Note a sandbox that is about to be created."""
        with self._lock:
            self._entries[entry.tag] = entry

    def remove(self, entry: Entry) -> None:
        """Strike a sandbox that is certainly gone."""
        with self._lock:
            self._entries.pop(entry.tag, None)

    def entries(self) -> list[Entry]:
        """A copy of what there is."""
        with self._lock:
            return list(self._entries.values())

    def __len__(self) -> int:
        """How many sandboxes there may be."""
        return len(self._entries)


def destroy_all(inventory: Inventory, credentials: dict[str, str | None], seconds: float) -> None:
    """Destroy everything in the inventory, in threads of its own; returns after `seconds` at most.

    Does nothing in a forked child: what it inherited is its parent's.
    """
    entries = inventory.entries()
    if not entries or inventory.owner != os.getpid():
        return
    deadline = time.monotonic() + seconds
    waiting = [_in_thread(lambda each=entry: _destroy(each, inventory, credentials)) for entry in entries]  # type: ignore[misc] # a default binds the loop's variable
    for wait in waiting:
        wait(max(0.0, deadline - time.monotonic()))


def _in_thread(job: Callable[[], None]) -> Callable[[float], None]:
    thread = threading.Thread(target=job, name="codereward-superserve-end", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the interpreter is too far gone to start threads
        job()
        return lambda _: None
    return thread.join


def _destroy(entry: Entry, inventory: Inventory, credentials: dict[str, str | None]) -> None:
    with contextlib.suppress(Exception):  # the service's own clock destroys what is left
        ids = [entry.sandbox_id] if entry.sandbox_id else find_by_tag(entry.tag, credentials)
        for sandbox_id in ids:
            Sandbox.kill_by_id(sandbox_id, **credentials)
        inventory.remove(entry)


def find_by_tag(tag: str, credentials: dict[str, str | None]) -> list[str]:
    """Ids of the sandboxes that carry the tag: one, or none."""
    return [found.id for found in Sandbox.list(metadata={TAG_KEY: tag}, **credentials)]  # type: ignore[arg-type] # keywords of one type
