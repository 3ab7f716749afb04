"""HTTP/1.1 over asyncio with h11: one coroutine per connection, one `Exchange` per request."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

import h11

__all__ = ["Exchange", "Handler", "Reply", "Request", "json_reply", "serve_connection", "text_reply"]

CHUNK = 65536


@dataclass(slots=True)
class Request:
    """One request with its whole body."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: str

    @property
    def host(self) -> str:
        """Host name without the port, in lower case."""
        return self.headers.get("host", "").partition(":")[0].lower()

    @property
    def path(self) -> str:
        """Path, unquoted."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> list[tuple[str, str]]:
        """Query parameters in order, repeated keys included."""
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(slots=True)
class Reply:
    """One response; `stream` replaces `body` when the length is not known."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    stream: AsyncIterator[bytes] | None = None


def json_reply(status: int, value: object, **headers: str) -> Reply:
    """A JSON response."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def text_reply(status: int, text: str, **headers: str) -> Reply:
    """A plain text response, with the newline that the service's proxy adds."""
    kind = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Reply(status, f"{text}\n".encode(), kind | headers)


class Exchange:
    """One request and the means to answer it, properly or not."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self._connection = connection
        self.request = request

    async def answer(self, reply: Reply) -> None:
        """Send a whole, valid response."""
        await self._connection.send_reply(reply)

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be HTTP, then close."""
        await self._connection.send_raw(data)
        await self._connection.close()

    def take_over(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The bare connection, for another protocol; closed when the handler returns."""
        return self._connection.take_over()

    def reset(self) -> None:
        """Drop the connection without a word."""
        self._connection.abort()


Handler = Callable[[Exchange], Awaitable[None]]


class Connection:
    """One TCP connection with keep-alive."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=2**18)
        self._aborted = False

    async def requests(self) -> AsyncIterator[Request]:
        """Requests one after another, until either side closes."""
        while not self._aborted:
            event = await self._next_event()
            if not isinstance(event, h11.Request):
                return
            yield await self._whole(event)
            if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _whole(self, head: h11.Request) -> Request:
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            body += event.data
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in head.headers}
        peer = headers.get("x-emulated-ip", "127.0.0.1")
        return Request(head.method.decode(), head.target.decode(), headers, bytes(body), peer)

    async def _next_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(CHUNK))
        return event

    async def send_reply(self, reply: Reply) -> None:
        headers = dict(reply.headers)
        if reply.stream is None:
            headers["Content-Length"] = str(len(reply.body))
        head = h11.Response(
            status_code=reply.status,
            headers=list(headers.items()),
            reason=HTTPStatus(reply.status).phrase,
        )
        self._write(self._http.send(head))
        if reply.stream is None:
            self._write(self._http.send(h11.Data(data=reply.body)))
        else:
            async for data in reply.stream:
                self._write(self._http.send(h11.Data(data=data)))
                await self._writer.drain()
        self._write(self._http.send(h11.EndOfMessage()))
        await self._writer.drain()

    async def send_raw(self, data: bytes) -> None:
        self._write(data)
        await self._writer.drain()
        self._aborted = True

    def _write(self, data: bytes | None) -> None:
        if data:
            self._writer.write(data)

    def take_over(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._aborted = True
        return self._reader, self._writer

    def abort(self) -> None:
        self._aborted = True
        self._writer.transport.abort()

    async def close(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            self._writer.close()
            async with asyncio.timeout(1):
                await self._writer.wait_closed()


async def serve_connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handler
) -> None:
    """Serve one connection to its end; a lost peer is no error."""
    connection = Connection(reader, writer)
    try:
        async for request in connection.requests():
            await handle(Exchange(connection, request))
    except (OSError, h11.ProtocolError, asyncio.IncompleteReadError):
        pass
    finally:
        await connection.close()
