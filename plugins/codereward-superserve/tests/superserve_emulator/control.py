"""The control plane: sandboxes and templates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from .builds import build_of, run_build
from .errors import bad_request, conflict, not_found, refuse
from .guests import GuestFailure
from .schema import CREATE, PATCH, SNAPSHOTLESS, check_fields, parse_object
from .state import Build, Sandbox, Team, Template, new_id
from .web import Reply, Request, json_reply

__all__ = ["ControlPlane"]

Route = Callable[[Request, list[str]], Awaitable[Reply]]
NO_CONTENT = 204


class ControlPlane:
    """Serves `api*.superserve.ai`."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._routes: dict[tuple[str, ...], Route] = {
            ("POST", "sandboxes"): self._create,
            ("GET", "sandboxes"): self._list,
            ("GET", "sandboxes", "*"): self._get,
            ("DELETE", "sandboxes", "*"): self._delete,
            ("PATCH", "sandboxes", "*"): self._patch,
            ("POST", "sandboxes", "*", "activate"): self._activate,
            ("POST", "sandboxes", "*", "resume"): self._resume,
            ("POST", "sandboxes", "*", "pause"): self._pause,
            ("GET", "templates"): self._list_templates,
            ("POST", "templates"): self._create_template,
            ("GET", "templates", "*"): self._get_template,
            ("DELETE", "templates", "*"): self._delete_template,
            ("POST", "templates", "*", "builds"): self._rebuild,
            ("GET", "templates", "*", "builds"): self._list_builds,
            ("GET", "templates", "*", "builds", "*"): self._get_build,
            ("GET", "templates", "*", "builds", "*", "logs"): self._build_log,
        }

    async def handle(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Refusal: The request is refused.
        """
        self._admit(request)
        parts = request.path.strip("/").split("/")
        for pattern, route in self._routes.items():
            if _matches(pattern, request.method, parts):
                return await route(request, parts)
        raise not_found("Route")

    def _admit(self, request: Request) -> None:
        if request.headers.get("x-api-key") != self._team.api_key:
            raise refuse(401, "auth_failed", "invalid API key")
        if wait := self._team.bucket.take():
            limit = str(int(self._team.quotas.requests_per_second))
            headers = {"Retry-After": str(wait), "RateLimit-Limit": limit, "RateLimit-Remaining": "0"}
            raise refuse(429, "rate_limited", "rate limit exceeded", **headers)

    # ---- sandboxes

    async def _create(self, request: Request, _: list[str]) -> Reply:
        body = parse_object(request.body)
        check_fields(body, CREATE)
        if "name" not in body:
            raise bad_request("name is required")
        if "from_snapshot" in body:
            raise bad_request(SNAPSHOTLESS)
        box = await self._team.create(body)
        return json_reply(201, box.as_json(with_token=True))

    async def _list(self, request: Request, _: list[str]) -> Reply:
        query = request.query
        keys = [key for key, _ in query]
        if len(keys) != len(set(keys)):
            raise bad_request("repeated query parameter")
        found = [box for box in self._team.sandboxes.values() if _selected(box, query)]
        found.sort(key=lambda box: box.created_at, reverse=True)
        options = dict(query)
        offset = int(options.get("offset", 0))
        found = found[offset : offset + int(options.get("limit", len(found)))]
        return json_reply(200, [box.as_json() for box in found])

    async def _get(self, _: Request, parts: list[str]) -> Reply:
        return json_reply(200, self._team.sandbox(parts[1]).as_json())

    async def _delete(self, _: Request, parts: list[str]) -> Reply:
        await self._team.delete(parts[1])
        return Reply(NO_CONTENT)

    async def _patch(self, request: Request, parts: list[str]) -> Reply:
        box = self._team.sandbox(parts[1])
        body = parse_object(request.body)
        check_fields(body, PATCH)
        if not body:
            raise bad_request("nothing to update")
        if "network" in body and box.status == "paused":
            raise conflict("sandbox is paused")
        for name, value in body.items():
            setattr(box, name, value)
        return Reply(NO_CONTENT)

    async def _activate(self, _: Request, parts: list[str]) -> Reply:
        box = self._team.sandbox(parts[1])
        self._wake(box)
        return json_reply(200, box.as_json(with_token=True))

    async def _resume(self, _: Request, parts: list[str]) -> Reply:
        box = self._team.sandbox(parts[1])
        if box.status != "paused":
            raise conflict(f"sandbox is {box.status}")
        self._wake(box)
        return json_reply(200, {"id": box.id, "status": box.status, "access_token": box.token})

    def _wake(self, box: Sandbox) -> None:
        try:
            self._team.resume(box)
        except GuestFailure as error:
            raise refuse(503, "host_state_missing", error.message) from error

    async def _pause(self, request: Request, parts: list[str]) -> Reply:
        self._team.pause(self._team.sandbox(parts[1]))
        if request.headers.get("prefer") == "respond-async":
            return json_reply(202, {"status": "pausing"})
        return Reply(NO_CONTENT)

    # ---- templates

    async def _list_templates(self, request: Request, _: list[str]) -> Reply:
        prefix = dict(request.query).get("name_prefix", "")
        return json_reply(200, [t.as_json() for t in self._team.templates if t.name.startswith(prefix)])

    async def _create_template(self, request: Request, _: list[str]) -> Reply:
        body = parse_object(request.body)
        spec = body.get("build_spec")
        if not isinstance(spec, dict) or not isinstance(body.get("name"), str):
            raise bad_request("name and build_spec are required")
        template = Template(new_id(), str(body["name"]), self._team.wall(), status="building", spec=spec)
        for size in ("vcpu", "memory_mib", "disk_mib"):
            setattr(template, size, body.get(size) or getattr(template, size))
        self._team.templates.append(template)
        build = self._start_build(template)
        return json_reply(202, template.as_json() | {"build_id": build.id})

    def _start_build(self, template: Template) -> Build:
        build = build_of(self._team, template)
        if build.status == "building":
            task = asyncio.ensure_future(run_build(self._team, template, build))
            self._team.tasks.add(task)
            task.add_done_callback(self._team.tasks.discard)
        return build

    async def _get_template(self, _: Request, parts: list[str]) -> Reply:
        return json_reply(200, self._team.template(parts[1]).as_json())

    async def _delete_template(self, _: Request, parts: list[str]) -> Reply:
        template = self._team.template(parts[1])
        if any(box.template is template for box in self._team.sandboxes.values()):
            raise conflict("template is referenced by sandboxes")
        self._team.templates.remove(template)
        return Reply(NO_CONTENT)

    async def _rebuild(self, _: Request, parts: list[str]) -> Reply:
        build = self._start_build(self._team.template(parts[1]))
        return json_reply(200, build.as_json())

    async def _list_builds(self, _: Request, parts: list[str]) -> Reply:
        builds = self._team.template(parts[1]).builds
        return json_reply(200, [build.as_json() for build in reversed(builds)])

    async def _get_build(self, _: Request, parts: list[str]) -> Reply:
        return json_reply(200, self._build(parts).as_json())

    def _build(self, parts: list[str]) -> Build:
        for build in self._team.template(parts[1]).builds:
            if build.id == parts[3]:
                return build
        raise not_found("Build")

    async def _build_log(self, _: Request, parts: list[str]) -> Reply:
        build = self._build(parts)

        async def events() -> AsyncIterator[bytes]:
            await build.finished.wait()
            stamp = build.created_at.isoformat()
            for text in build.log:
                yield _event({"timestamp": stamp, "stream": "stdout", "text": text})
            yield _event({"timestamp": stamp, "stream": "system", "finished": True, "status": build.status})

        return Reply(200, headers={"Content-Type": "text/event-stream"}, stream=events())


def _event(value: dict[str, object]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _matches(pattern: tuple[str, ...], method: str, parts: list[str]) -> bool:
    wanted = pattern[1:]
    if pattern[0] != method or len(wanted) != len(parts):
        return False
    return all(want in ("*", part) for want, part in zip(wanted, parts, strict=True))


def _selected(box: Sandbox, query: list[tuple[str, str]]) -> bool:
    for key, value in query:
        if key.startswith("metadata.") and box.metadata.get(key.removeprefix("metadata.")) != value:
            return False
        if key == "status" and box.status not in value.split(","):
            return False
    return True
