"""One request through the service: delay, fault, plane, log."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from .control import ControlPlane
from .data import DataPlane, sandbox_id_of
from .errors import Refusal
from .faults import Faults
from .journal import Entry, Journal
from .routes import route_name
from .sessions import is_session
from .state import Team
from .web import Exchange, Reply, Request

__all__ = ["Delays", "Service"]


@dataclass(slots=True)
class Delays:
    """Simulated latency, seconds."""

    request: float = 0.0
    """Added to every request: the way there and back."""
    create: float = 0.0
    """Added to every create: the start of the machine."""


class Service:
    """Both planes behind one TLS origin, told apart by host name."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.journal = Journal()
        self.delays = Delays()
        self.faults = Faults(self._kill_agent)
        self._data = DataPlane(team)
        self._planes = {"control": ControlPlane(team), "data": self._data}

    async def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        request = exchange.request
        plane = "control" if request.host.startswith("api") else "data"
        route = route_name(request.method, request.path)
        self.journal.inspect(plane, request, route)
        started = time.monotonic()
        await asyncio.sleep(self.delays.request / 2)
        status = await self._answer(exchange, plane, route)
        box = sandbox_id_of(request) if plane == "data" else request.path
        self.journal.add(Entry(plane, route, status, box, started, time.monotonic() - started))

    async def _answer(self, exchange: Exchange, plane: str, route: str) -> int:
        async def carry() -> Reply:
            reply = await self._carry_out(exchange.request, plane, route)
            await asyncio.sleep(self.delays.request / 2)
            return reply

        if is_session(exchange.request):
            return await self._session(exchange)
        if fault := self.faults.choose(route):
            return await self.faults.apply(fault, exchange, carry)
        reply = await carry()
        await exchange.answer(reply)
        return reply.status

    async def _session(self, exchange: Exchange) -> int:
        try:
            await self._data.session(exchange)
        except Refusal as refusal:
            await exchange.answer(refusal.reply)
            return refusal.reply.status
        return 101

    async def _carry_out(self, request: Request, plane: str, route: str) -> Reply:
        try:
            reply = await self._planes[plane].handle(request)
            if route == "create":
                await asyncio.sleep(self.delays.create)
        except Refusal as refusal:
            return refusal.reply
        return reply

    def _kill_agent(self, exchange: Exchange) -> None:
        box = self.team.sandboxes.get(sandbox_id_of(exchange.request))
        if box is not None and box.guest is not None:
            box.guest.die()
