"""Everything that can be set about `SuperserveExecutor`, with its default and the reason for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final

__all__ = ["DEFAULT_TEMPLATES", "Settings"]

DEFAULT_TEMPLATES: Final[Mapping[str, str]] = MappingProxyType(
    {"python": "superserve/python-3.11", "node": "superserve/node-22"}
)
"""Language → template. `superserve/base` has neither Python nor Node."""

WORLD_VARIABLE: Final = "WORLD_SIZE"
MOST_METADATA: Final = 60


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Configuration of `SuperserveExecutor`, given as its keyword arguments."""

    api_key: str | None = field(default=None, repr=False)
    """API key. Default: the SDK's variable `SUPERSERVE_API_KEY`, read at every call."""
    base_url: str | None = None
    """Address of the control plane. Default: `SUPERSERVE_BASE_URL`, else what the key's region says."""
    templates: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_TEMPLATES))
    """Language of a program → name of the template its sandbox is made from."""
    template: str | None = None
    """One template for every program, whatever its language; overrides `templates`."""

    max_sandboxes: int = 50
    """Sandboxes at once over all ranks, those being created or deleted included. 50 is the service's
    default for a team; the executor finds a lower limit by itself, but is refused on the way."""
    create_rate: float = 10.0
    """Sandboxes created per second, over all ranks. The service's default is 20 control-plane
    requests per second for a team, and each sandbox costs two: its creation and its deletion."""
    ranks: int | None = None
    """Processes that share the two limits above. Default: the variable `WORLD_SIZE`, else 1."""
    warm: int = 0
    """Sandboxes kept ready in advance by each rank, for each template in use. They hide the time of
    creation but hold places of `max_sandboxes`, so none are kept unless asked for."""
    warm_seconds: float = 240.0
    """Age at which an unused warm sandbox is dropped, and how long after the last program the warm
    pool is kept filled. A sandbox lives `lifetime_seconds`; what is left must do for a program."""

    call_seconds: float = 30.0
    """Time for one call to the service, beyond what the program may take. The service's own client
    gives up after 30 s without progress; this bounds the whole call."""
    lifetime_seconds: int = 600
    """Time after which the service itself destroys a sandbox that nobody deleted: what is left when
    this process is killed. Longer where a program's own limits ask for more."""
    attempts: int = 8
    """Tries to get a program started while the service fails. With the delays between them they
    outlast an outage of about a minute."""
    lost_attempts: int = 2
    """Tries of a program that was lost after it started. The pipeline around the executor tries again
    on its own and then tells whether the program itself is the cause."""
    patience_seconds: float = 900.0
    """Time after which a program that could not be run is given up, waiting for a place and for the
    service's quotas included. Being throttled alone never ends it earlier."""
    backoff_seconds: float = 0.5
    """Delay before the second try; doubles with each further one, with jitter, up to 15 s."""
    drain_seconds: float = 20.0
    """Time that closing, or the end of the interpreter, waits for sandboxes to be deleted."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    """Added to the metadata of every sandbox, next to the executor's own `codereward*` keys."""
    run_name: str | None = None
    """Value of the metadata key `codereward-run`. Default: a random one for each process."""

    def __post_init__(self) -> None:
        """Refuse values that cannot work.

        Raises:
            ValueError: With the name of the setting and what it has to be.
        """
        for name in ("max_sandboxes", "attempts", "lost_attempts"):
            _require(getattr(self, name) >= 1, name, "at least 1")
        for name in ("create_rate", "call_seconds", "patience_seconds", "drain_seconds", "warm_seconds"):
            _require(getattr(self, name) > 0, name, "positive")
        _require(self.ranks is None or self.ranks >= 1, "ranks", "at least 1")
        _require(self.warm >= 0, "warm", "0 or more")
        _require(self.backoff_seconds >= 0, "backoff_seconds", "0 or more")
        _require(self.lifetime_seconds >= 120, "lifetime_seconds", "at least 120 (seconds)")  # noqa: PLR2004
        fits = self.warm_seconds < self.lifetime_seconds
        _require(fits or not self.warm, "warm_seconds", "less than lifetime_seconds")
        _require(len(self.metadata) <= MOST_METADATA, "metadata", f"at most {MOST_METADATA} entries")

    def __repr__(self) -> str:
        """The settings that differ from their defaults; the key is masked."""
        shown = []
        for item in fields(self):
            value = getattr(self, item.name)
            default = item.default_factory() if callable(item.default_factory) else item.default
            if value != default:
                shown.append(f"{item.name}={'***' if item.name == 'api_key' else repr(value)}")
        return ", ".join(shown)

    def credentials(self) -> dict[str, str | None]:
        """Keywords that every SDK call takes."""
        return {"api_key": self.api_key, "base_url": self.base_url}

    def template_for(self, language: str) -> str | None:
        """The template for programs of a language; `None` when none is set."""
        return self.template or self.templates.get(language)

    def share(self) -> int:
        """Number of processes that share the quotas."""
        if self.ranks is not None:
            return self.ranks
        text = os.environ.get(WORLD_VARIABLE, "")
        return max(1, int(text)) if text.isdecimal() else 1

    def as_options(self) -> dict[str, Any]:
        """The keyword arguments that make equal settings."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def _require(good: bool, name: str, wanted: str) -> None:  # noqa: FBT001 - a condition
    if not good:
        msg = f"SuperserveExecutor: {name} must be {wanted}"
        raise ValueError(msg)
