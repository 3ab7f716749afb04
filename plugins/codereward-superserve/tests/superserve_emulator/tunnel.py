"""A CONNECT proxy that leads every `*.superserve.ai:443` to the origin and refuses the rest."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

__all__ = ["Tunnel"]

CHUNK = 65536
LINGER_SECONDS = 5.0
GREETING = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Tunnel:
    """Speaks plain HTTP CONNECT on loopback."""

    def __init__(self, origin_port: int) -> None:
        self._origin_port = origin_port
        self.refused: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client connection."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
            head = await reader.readuntil(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode("latin-1")
            host, _, port = target.rpartition(":")
            if head.startswith(b"CONNECT ") and host.endswith(".superserve.ai") and port == "443":
                writer.write(GREETING)
                await self._pipe_to_origin(reader, writer)
            else:
                self.refused.append(target)
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        writer.close()

    async def _pipe_to_origin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        origin_reader, origin_writer = await asyncio.open_connection("127.0.0.1", self._origin_port)
        ways = {
            asyncio.ensure_future(_copy(reader, origin_writer)),
            asyncio.ensure_future(_copy(origin_reader, writer)),
        }
        try:
            _, open_ways = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if open_ways:
                await asyncio.wait(open_ways, timeout=LINGER_SECONDS)
        finally:
            for way in ways:
                way.cancel()
            origin_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()
