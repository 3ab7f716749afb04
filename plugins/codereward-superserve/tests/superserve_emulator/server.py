"""The emulator's process: origin, tunnel and admin endpoint in one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import trustme

from .admin import Admin
from .service import Service
from .state import Team
from .tunnel import Tunnel
from .web import serve_connection

__all__ = ["HOSTS", "serve"]

HOSTS = (
    *("api.superserve.ai", "api-usw.superserve.ai", "api-staging.superserve.ai"),
    *(
        f"{wild}{name}.superserve.ai"
        for name in ("sandbox", "usw-sandbox", "staging-sandbox")
        for wild in ("", "*.")
    ),
    *("127.0.0.1", "localhost"),
)
OnConnection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def make_certificates(ca_file: Path) -> ssl.SSLContext:
    """A certificate authority of our own, written to `ca_file`, and the origin's TLS context."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*HOSTS).configure_cert(context)
    return context


async def _listen(
    on_connection: OnConnection, context: ssl.SSLContext | None = None
) -> tuple[asyncio.Server, int]:
    alive: set[asyncio.Task[None] | None] = set()  # the loop itself holds tasks weakly

    async def until_cancelled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        alive.add(asyncio.current_task())
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await on_connection(reader, writer)
        finally:
            alive.discard(asyncio.current_task())

    server = await asyncio.start_server(until_cancelled, "127.0.0.1", 0, ssl=context, backlog=512)
    return server, server.sockets[0].getsockname()[1]


async def _end_connections() -> None:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # nobody reads it any more
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.wait(others, timeout=1)


async def serve(folder: Path, api_key: str) -> None:
    """Run until standard input ends; one line of JSON on standard output says where to connect."""
    team = Team(api_key)
    service = Service(team)
    context = make_certificates(folder / "ca.pem")

    async def on_origin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        service.journal.connections += 1
        await serve_connection(reader, writer, service.handle)

    origin, origin_port = await _listen(on_origin, context)
    tunnel = Tunnel(origin_port)
    proxy, proxy_port = await _listen(tunnel.serve)
    admin, admin_port = await _listen(partial(serve_connection, handle=Admin(service, tunnel).handle))
    clock = asyncio.create_task(team.run_clock())
    where = {"proxy": proxy_port, "admin": admin_port, "origin": origin_port, "ca": str(folder / "ca.pem")}
    sys.stdout.write(f"{json.dumps(where)}\n")
    sys.stdout.flush()
    try:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    finally:
        clock.cancel()
        await _end_connections()
        for server in (origin, proxy, admin):
            server.close()
        await team.close()
