"""Faults that tests ask for: which requests they strike and what happens to those."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from typing import Any

from .errors import Refusal
from .web import Exchange, Reply

__all__ = ["ACTIONS", "Fault", "Faults"]

ACTIONS = (
    "status",  # answer with `status`, `headers`, `body`; the request is not carried out
    "status_after",  # the same, but the request is carried out first
    "reset_before",  # drop the connection; the request is not carried out
    "reset_after",  # carry the request out, then drop the connection: a lost reply
    "half_body",  # carry the request out, send half of the reply, then close
    "garbage",  # answer with bytes that are not HTTP
    "stall",  # wait `seconds`, then carry the request out
    "stall_after",  # carry the request out, then wait `seconds` before the reply
    "agent_death",  # kill the sandbox's agent after `seconds`, while the request runs
)
GARBAGE = b"\x16\x03\x01 this is not HTTP at all\r\n\r\n"


@dataclass(slots=True)
class Fault:
    """One rule. It strikes requests of `route` (`*`: all), at most `times`, after `skip` of them."""

    route: str
    action: str
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    seconds: float = 0.0
    times: int | None = None
    skip: int = 0
    probability: float = 1.0
    struck: int = 0

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Fault:
        """A fault from its JSON form.

        Raises:
            ValueError: An unknown field or action.
        """
        known = {item.name for item in fields(cls)}
        if unknown := set(value) - known:
            raise ValueError(f"unknown field of a fault: {', '.join(sorted(unknown))}")
        fault = cls(**value)
        if fault.action not in ACTIONS:
            raise ValueError(f"unknown action {fault.action!r}, one of {', '.join(ACTIONS)}")
        return fault

    def strikes(self, route: str, dice: random.Random) -> bool:
        """Whether it strikes this request; counts it."""
        if self.route not in ("*", route) or self.times == 0:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if dice.random() >= self.probability:
            return False
        self.times = None if self.times is None else self.times - 1
        self.struck += 1
        return True


Carry = Callable[[], Awaitable[Reply]]


class Faults:
    """The rules in force; the first that strikes wins."""

    def __init__(self, kill_agent: Callable[[Exchange], None]) -> None:
        self.rules: list[Fault] = []
        self._dice = random.Random(0)  # noqa: S311 - dice for tests
        self._kill_agent = kill_agent

    def seed(self, value: int) -> None:
        """Start the dice anew."""
        self._dice = random.Random(value)  # noqa: S311 - as above

    def choose(self, route: str) -> Fault | None:
        """The fault that strikes this request."""
        return next((rule for rule in self.rules if rule.strikes(route, self._dice)), None)

    async def apply(self, fault: Fault, exchange: Exchange, carry: Carry) -> int:
        """Answer the request as the fault says. Returns the status for the journal, 0 for none."""
        action = getattr(self, f"_{fault.action}")
        return int(await action(fault, exchange, carry))

    async def _status(self, fault: Fault, exchange: Exchange, _: Carry) -> int:
        headers = {"Content-Type": "application/json"} | fault.headers
        body = b"" if fault.status == 204 else fault.body.encode()
        await exchange.answer(Reply(fault.status, body, headers))
        return fault.status

    async def _status_after(self, fault: Fault, exchange: Exchange, carry: Carry) -> int:
        await _carried(carry)
        return await self._status(fault, exchange, carry)

    async def _reset_before(self, _: Fault, exchange: Exchange, __: Carry) -> int:
        exchange.reset()
        return 0

    async def _reset_after(self, _: Fault, exchange: Exchange, carry: Carry) -> int:
        await _carried(carry)
        exchange.reset()
        return 0

    async def _half_body(self, _: Fault, exchange: Exchange, carry: Carry) -> int:
        reply = await _carried(carry)
        size = max(2, len(reply.body))
        head = (
            f"HTTP/1.1 {reply.status} OK\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
        )
        await exchange.send_raw(head.encode() + reply.body[: size // 2])
        return reply.status

    async def _garbage(self, _: Fault, exchange: Exchange, __: Carry) -> int:
        await exchange.send_raw(GARBAGE)
        return 0

    async def _stall(self, fault: Fault, exchange: Exchange, carry: Carry) -> int:
        await asyncio.sleep(fault.seconds)
        reply = await _carried(carry)
        await exchange.answer(reply)
        return reply.status

    async def _stall_after(self, fault: Fault, exchange: Exchange, carry: Carry) -> int:
        reply = await _carried(carry)
        await asyncio.sleep(fault.seconds)
        await exchange.answer(reply)
        return reply.status

    async def _agent_death(self, fault: Fault, exchange: Exchange, carry: Carry) -> int:
        running = asyncio.ensure_future(_carried(carry))
        await asyncio.sleep(fault.seconds)
        self._kill_agent(exchange)
        reply = await running
        await exchange.answer(reply)
        return reply.status


async def _carried(carry: Carry) -> Reply:
    try:
        return await carry()
    except Refusal as refusal:
        return refusal.reply
