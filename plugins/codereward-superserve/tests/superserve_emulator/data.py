"""The data plane: commands and files of one sandbox, behind the edge proxy."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator

from .errors import Refusal, plain, refuse
from .execution import capture, start, stream_events
from .guests import Conversation, GuestFailure
from .schema import EXEC, check_fields, parse_object
from .sessions import is_session, run_session, token_of
from .state import Sandbox, Team
from .web import Exchange, Reply, Request, json_reply, text_reply

__all__ = ["DataPlane", "sandbox_id_of"]

CHUNK = 262_144
DENIED = ("/proc", "/sys", "/dev")


def sandbox_id_of(request: Request) -> str:
    """The sandbox a data-plane request is for: by host name, else by header."""
    if request.host.startswith("boxd-"):
        return request.host.partition(".")[0].removeprefix("boxd-")
    return request.headers.get("x-superserve-sandbox-id", "")


class DataPlane:
    """Serves `*sandbox.superserve.ai`."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._in_flight: Counter[str] = Counter()
        self._routes = {
            ("POST", "/exec"): self._exec,
            ("POST", "/exec/stream"): self._exec_stream,
            ("POST", "/files"): self._write,
            ("GET", "/files"): self._read,
        }

    async def session(self, exchange: Exchange) -> None:
        """Serve a command over a WebSocket.

        Raises:
            Refusal: The request is refused.
        """
        with self._counted(exchange.request.peer):
            await run_session(self._admit(exchange.request), exchange)

    async def handle(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Refusal: The request is refused.
        """
        with self._counted(request.peer):
            box = self._admit(request)
            route = self._routes.get((request.method, request.path))
            if route is None:
                raise plain(404, "404 page not found")
            try:
                return await route(box, request)
            except GuestFailure as error:
                raise _agent_error(error) from error

    @contextlib.contextmanager
    def _counted(self, peer: str) -> Iterator[None]:
        if self._in_flight[peer] >= self._team.quotas.max_in_flight_per_ip:
            raise plain(429, "too many connections from this IP")
        self._in_flight[peer] += 1
        try:
            yield
        finally:
            self._in_flight[peer] -= 1

    def _admit(self, request: Request) -> Sandbox:
        token = token_of(request) if is_session(request) else request.headers.get("x-access-token")
        if token is None:
            raise plain(401, "missing X-Access-Token header")
        box = self._team.sandboxes.get(sandbox_id_of(request))
        if box is None or box.status in ("starting", "failed"):
            raise refuse(404, "sandbox_route_stale", "no route to sandbox")
        if token != box.token:
            raise plain(401, "invalid access token")
        if box.status != "active":
            raise refuse(503, "sandbox_unavailable", f"sandbox is {box.status}")
        return box

    def _exec_body(self, request: Request) -> dict[str, object]:
        body = parse_object(request.body, _bad)
        check_fields(body, EXEC, _bad)
        if not body.get("command"):
            raise plain(400, "command is required")
        return body

    async def _exec(self, box: Sandbox, request: Request) -> Reply:
        body = self._exec_body(request)
        recorder = self._team.recorder
        if recorder.on:
            box.commands += 1
            reply, seconds = recorder.replay(body)
            await asyncio.sleep(seconds)
            return json_reply(200, reply)
        started = time.monotonic()
        reply = (await capture(await start(box, body))).as_json()
        recorder.record(body, reply, time.monotonic() - started)
        return json_reply(200, reply)

    async def _exec_stream(self, box: Sandbox, request: Request) -> Reply:
        running = await start(box, self._exec_body(request))
        headers = {"Content-Type": "text/event-stream"}
        return Reply(200, headers=headers, stream=stream_events(running))

    async def _write(self, box: Sandbox, request: Request) -> Reply:
        path = _allowed_path(request)
        if self._team.recorder.on:
            return json_reply(200, {"path": path, "size": len(request.body)})
        writing = await box.live_guest.request(b"W", {"path": path})
        for start_at in range(0, len(request.body), CHUNK):
            await writing.send(b"d", request.body[start_at : start_at + CHUNK])
        await writing.send(b"e", b"")
        async for _, body in writing.frames():
            return json_reply(200, json.loads(body))
        raise plain(500, "no answer")

    async def _read(self, box: Sandbox, request: Request) -> Reply:
        reading = await box.live_guest.request(b"G", {"path": _allowed_path(request)})
        frames = reading.frames()
        first = [await anext(frames)]
        return Reply(200, headers=_octets(), stream=_contents(first, reading, frames))


def _octets() -> dict[str, str]:
    return {"Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"}


async def _contents(
    first: list[tuple[bytes, bytes]], _: Conversation, rest: AsyncIterator[tuple[bytes, bytes]]
) -> AsyncIterator[bytes]:
    for kind, body in first:
        if kind == b"d":
            yield body
    if first[0][0] == b"x":
        return
    async for kind, body in rest:
        if kind == b"d":
            yield body


def _bad(message: str) -> Refusal:
    return plain(400, message)


def _allowed_path(request: Request) -> str:
    path = dict(request.query).get("path", "")
    if not path.startswith("/") or ".." in path.split("/"):
        raise plain(400, "path must be absolute")
    if path == "/" or path.startswith(DENIED):
        raise plain(400, "path is denied")
    return path


def _agent_error(error: GuestFailure) -> Refusal:
    if error.dead:
        return plain(502, "sandbox unreachable", **{"Retry-After": "2"})
    if error.errno == errno.ENOENT:
        return Refusal(json_reply(404, {"error": "file not found"}))
    if error.errno == errno.ENOSPC:
        return refuse(507, "sandbox_storage_full", "sandbox storage is full")
    return Refusal(text_reply(500, error.message))
