"""Finding and destroying what earlier runs left behind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from superserve import Sandbox

from codereward_superserve.boxes import MARK_KEY, RUN_KEY

__all__ = ["Orphan", "reap"]


@dataclass(frozen=True, slots=True)
class Orphan:
    """A sandbox of codereward that is older than it should be."""

    sandbox_id: str
    run: str
    """Name of the run that made it."""
    created_at: datetime
    status: str
    deleted: bool
    """Whether `reap` destroyed it."""
    problem: str = ""
    """Why it could not be destroyed."""


def reap(
    older_than: float = 3600.0,
    *,
    dry_run: bool = True,
    run: str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
) -> list[Orphan]:
    """List, and with `dry_run=False` destroy, sandboxes that codereward left at Superserve.

    Only sandboxes that carry codereward's own metadata are looked at.

    Args:
        older_than: Age in seconds from which a sandbox counts as left behind.
        dry_run: Only list them.
        run: Only those of the run of this name.
        api_key: As for `SuperserveExecutor`.
        base_url: As for `SuperserveExecutor`.

    Raises:
        superserve.SandboxError: They could not be listed.
    """
    wanted = {MARK_KEY: "1"} if run is None else {MARK_KEY: "1", RUN_KEY: run}
    now = datetime.now(UTC)
    orphans = []
    for found in Sandbox.list(metadata=wanted, api_key=api_key, base_url=base_url):
        if (now - found.created_at).total_seconds() < older_than:
            continue
        problem = "" if dry_run else _destroy(found.id, api_key, base_url)
        name, status = found.metadata.get(RUN_KEY, ""), found.status.value
        deleted = not dry_run and not problem
        orphans.append(Orphan(found.id, name, found.created_at, status, deleted, problem))
    return orphans


def _destroy(sandbox_id: str, api_key: str | None, base_url: str | None) -> str:
    try:
        Sandbox.kill_by_id(sandbox_id, api_key=api_key, base_url=base_url)
    except Exception as error:  # noqa: BLE001 - the others are still to be destroyed
        return f"{type(error).__name__}: {error}"
    return ""
