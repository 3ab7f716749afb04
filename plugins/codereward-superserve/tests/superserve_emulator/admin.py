"""The loopback endpoint through which tests turn the emulator's knobs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict

from .errors import Refusal
from .faults import Fault
from .service import Service
from .state import new_id
from .tunnel import Tunnel
from .web import Exchange, json_reply

__all__ = ["Admin"]


class Admin:
    """`POST /<command>` with a JSON object; answers JSON."""

    def __init__(self, service: Service, tunnel: Tunnel) -> None:
        self._service = service
        self._tunnel = tunnel

    async def handle(self, exchange: Exchange) -> None:
        """Carry out one command."""
        name = exchange.request.path.strip("/")
        body = json.loads(exchange.request.body or b"{}")
        command: Callable[..., object] | None = getattr(self, f"do_{name}", None)
        if command is None:
            await exchange.answer(json_reply(404, {"error": f"no command {name!r}"}))
            return
        try:
            result = command(**body)
            if asyncio.iscoroutine(result):
                result = await result
            await exchange.answer(json_reply(200, result))
        except (TypeError, ValueError, KeyError, Refusal) as error:
            await exchange.answer(json_reply(400, {"error": repr(error)}))

    async def do_reset(self) -> None:
        """Start anew: no sandboxes, faults, delays or log; default quotas; a full bucket."""
        team = self._service.team
        self.do_configure(
            requests_per_second=20.0,
            burst=40,
            max_sandboxes=50,
            max_in_flight_per_ip=100,
            request=0.0,
            create=0.0,
        )
        for sandbox_id in list(team.sandboxes):
            with contextlib.suppress(Refusal):
                await team.delete(sandbox_id)
        self._service.faults.rules.clear()
        team.recorder.on = False
        self._service.journal.clear()
        self._tunnel.refused.clear()
        team.deleted.clear()
        team.created = team.most_at_once = team.most_commands = 0
        team.clock_offset = 0.0
        team.bucket.refill()

    def do_configure(self, **values: float) -> None:
        """Set quotas (`requests_per_second`, `burst`, …) and delays (`request`, `create`)."""
        for name, value in values.items():
            owners = (self._service.team.quotas, self._service.delays)
            owner = next((owner for owner in owners if hasattr(owner, name)), None)
            if owner is None:
                raise ValueError(f"no setting {name!r}")
            setattr(owner, name, value)
        if "burst" in values:
            self._service.team.bucket.refill()

    def do_fault(self, **values: object) -> None:
        """Add a fault."""
        self._service.faults.rules.append(Fault.from_json(values))

    def do_clear_faults(self) -> None:
        """Remove all faults."""
        self._service.faults.rules.clear()

    def do_seed(self, value: int) -> None:
        """Seed the dice of faults with a probability."""
        self._service.faults.seed(value)

    def do_replay(self, *, on: bool) -> None:
        """Answer commands from the record, or run them."""
        self._service.team.recorder.on = on

    def do_canary(self, text: str) -> None:
        """Plant a text that no request may carry."""
        self._service.journal.canaries.append(text)

    def do_advance(self, seconds: float) -> None:
        """Move the service's clock forward."""
        self._service.team.clock_offset += seconds

    def do_rotate_tokens(self) -> None:
        """Make every access token stale."""
        for box in self._service.team.sandboxes.values():
            box.token = new_id()

    def do_key(self, api_key: str) -> None:
        """Accept another API key from now on."""
        self._service.team.api_key = api_key

    def do_pause_all(self) -> None:
        """Pause every active sandbox."""
        for box in self._service.team.sandboxes.values():
            with contextlib.suppress(Refusal):
                self._service.team.pause(box)

    def do_template_status(self, name: str, status: str) -> None:
        """Change a template's status."""
        self._service.team.template(name).status = status

    def do_state(self) -> dict[str, object]:
        """Sandboxes and counters."""
        team = self._service.team
        return {
            "sandboxes": [box.as_json() | {"commands": box.commands} for box in team.sandboxes.values()],
            "created": team.created,
            "deleted": len(team.deleted),
            "most_at_once": team.most_at_once,
            "most_commands": team.most_commands,
            "refused_hosts": self._tunnel.refused,
            "faults": [asdict(rule) for rule in self._service.faults.rules],
        }

    def do_log(self) -> dict[str, object]:
        """The request log."""
        return self._service.journal.as_json()
