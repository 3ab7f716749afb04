"""`/exec/connect`: a command with its input and output over a WebSocket, byte for byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from .errors import Refusal, plain
from .execution import start
from .guests import Conversation, GuestFailure
from .schema import EXEC, check_fields, parse_object
from .state import Sandbox
from .web import Exchange, Request

__all__ = ["is_session", "run_session", "token_of"]

SUBPROTOCOL = "superserve.exec.v1"
TOKEN_PREFIX = "token."
CHANNELS = {b"o": b"\x01", b"e": b"\x02"}
STDIN = 0
CHUNK = 65536


def is_session(request: Request) -> bool:
    """Whether a request asks for a session."""
    return request.path == "/exec/connect" and request.headers.get("upgrade", "").lower() == "websocket"


def token_of(request: Request) -> str | None:
    """The access token, which travels as a subprotocol."""
    offered = [each.strip() for each in request.headers.get("sec-websocket-protocol", "").split(",")]
    return next((each.removeprefix(TOKEN_PREFIX) for each in offered if each.startswith(TOKEN_PREFIX)), None)


async def run_session(box: Sandbox, exchange: Exchange) -> None:
    """Serve one session to its end."""
    session = _Session(exchange, *exchange.take_over())
    await session.open()
    try:
        body = parse_object(await session.next_text(), _bad)
        check_fields(body, EXEC, _bad)
        running = await start(box, body, stdin=True)
        feeding = asyncio.ensure_future(session.feed(running))
        try:
            await session.report(running)
        finally:
            feeding.cancel()
    except (Refusal, GuestFailure) as error:
        await session.say({"error": str(error), "code": "internal", "finished": True})
    await session.close()


def _bad(message: str) -> Refusal:
    return plain(400, message)


class _Session:
    def __init__(
        self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._request = exchange.request
        self._reader = reader
        self._writer = writer
        self._protocol = ServerProtocol(select_subprotocol=_choose)
        self._frames: asyncio.Queue[Frame] = asyncio.Queue()

    async def open(self) -> None:
        head = [f"{self._request.method} {self._request.target} HTTP/1.1"]
        head += [f"{name}: {value}" for name, value in self._request.headers.items()]
        self._protocol.receive_data("\r\n".join([*head, "", ""]).encode("latin-1"))
        (request,) = self._protocol.events_received()
        self._protocol.send_response(self._protocol.accept(request))
        await self._flush()

    async def _next(self) -> Frame | None:
        while self._frames.empty():
            data = await self._reader.read(CHUNK)
            if not data:
                return None
            self._protocol.receive_data(data)
            for event in self._protocol.events_received():
                self._frames.put_nowait(event)
            await self._flush()
        return self._frames.get_nowait()

    async def next_text(self) -> bytes:
        frame = await self._next()
        return frame.data if frame is not None else b""

    async def feed(self, running: Conversation) -> None:
        """Pass input and signals on to the command."""
        while (frame := await self._next()) is not None and frame.opcode is not Opcode.CLOSE:
            if frame.opcode is Opcode.BINARY and frame.data[:1] == bytes([STDIN]):
                await running.send(b"i", frame.data[1:])
            elif frame.opcode is Opcode.TEXT:
                told = json.loads(frame.data)
                is_signal = told.get("type") == "signal"
                await running.send(b"s" if is_signal else b"c", told.get("name", "").encode())

    async def report(self, running: Conversation) -> None:
        """Pass output on, and the exit code last."""
        async for kind, data in running.frames():
            if kind in CHANNELS:
                self._protocol.send_binary(CHANNELS[kind] + data)
                await self._flush()
            else:
                await self.say({"exit_code": json.loads(data)["exit_code"], "finished": True})

    async def say(self, value: dict[str, object]) -> None:
        self._protocol.send_text(json.dumps(value).encode())
        await self._flush()

    async def close(self) -> None:
        self._protocol.send_close(1000)
        await self._flush()

    async def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
        await self._writer.drain()


Choose = Callable[[ServerProtocol, Sequence[str]], str | None]


def _choose(_: ServerProtocol, offered: Sequence[str]) -> str | None:
    return SUBPROTOCOL if SUBPROTOCOL in offered else None
