"""Answering repeated commands from a record, so that a benchmark measures clients and not guests.

The guests of the emulator compute on the machine that runs the benchmark; the service's do not. With
replay on, a command that was really run before is answered with what it said then, after as long as
it took in the middle of all times, and no guest is made. The nonce in a reply is exchanged.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

__all__ = ["Recorder"]

NONCE_VARIABLE = "CODEREWARD_NONCE"


@dataclass(slots=True)
class _Record:
    reply: dict[str, object]
    nonce: str
    seconds: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Recorder:
    """What commands said, and how long they took."""

    on: bool = False
    _records: dict[str, _Record] = field(default_factory=dict)

    def record(self, body: dict[str, object], reply: dict[str, object], seconds: float) -> None:
        """Note a command that was really run."""
        kept = self._records.setdefault(str(body["command"]), _Record(reply, _nonce(body)))
        kept.seconds.append(seconds)

    def replay(self, body: dict[str, object]) -> tuple[dict[str, object], float]:
        """The reply to a command, and the seconds until it is due.

        Raises:
            KeyError: It was never run.
        """
        kept = self._records[str(body["command"])]
        reply = dict(kept.reply)
        if kept.nonce:
            reply["stdout"] = str(reply["stdout"]).replace(kept.nonce, _nonce(body))
        return reply, statistics.median(kept.seconds)


def _nonce(body: dict[str, object]) -> str:
    env = body.get("env")
    return str(env.get(NONCE_VARIABLE, "")) if isinstance(env, dict) else ""
