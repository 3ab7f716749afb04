"""What the service knows: one team with its sandboxes, templates, tokens and clock."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from .errors import Refusal, conflict, not_found, refuse
from .guests import Guest, GuestFailure, GuestHost
from .quota import Quotas, TokenBucket
from .replay import Recorder

__all__ = ["Build", "Sandbox", "Team", "Template"]

SYSTEM_TEMPLATES = ("base", "python-3.11", "python-ml", "code-interpreter", "node-22")
COUNTED = ("starting", "active", "pausing", "resuming")
TICK_SECONDS = 0.05
TEAM_ID = "team-emulated"
TEMPLATE_FILES = "/tmp/.template.tar"


def new_id() -> str:
    """A fresh id, as the service makes them."""
    return str(uuid.uuid4())


@dataclass(slots=True)
class Build:
    """One build of a template."""

    id: str
    template_id: str
    spec_hash: str
    created_at: datetime
    status: str = "building"
    error: str | None = None
    log: list[str] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def as_json(self) -> dict[str, object]:
        """The API's form."""
        return {
            "id": self.id,
            "template_id": self.template_id,
            "status": self.status,
            "build_spec_hash": self.spec_hash,
            "error_message": self.error,
            "created_at": self.created_at.isoformat(),
        }


@dataclass(slots=True)
class Template:
    """What sandboxes are made from."""

    id: str
    name: str
    created_at: datetime
    status: str = "ready"
    vcpu: int = 1
    memory_mib: int = 1024
    disk_mib: int = 4096
    workdir: str = "/home/user"
    env: dict[str, str] = field(default_factory=dict)
    spec: dict[str, object] = field(default_factory=dict)
    files: bytes = b""
    builds: list[Build] = field(default_factory=list)
    built_at: datetime | None = None

    def as_json(self) -> dict[str, object]:
        """The API's form."""
        return {
            "id": self.id,
            "name": self.name,
            "team_id": TEAM_ID,
            "status": self.status,
            "vcpu": self.vcpu,
            "memory_mib": self.memory_mib,
            "disk_mib": self.disk_mib,
            "created_at": self.created_at.isoformat(),
            "built_at": self.built_at.isoformat() if self.built_at else None,
            "latest_build_id": self.builds[-1].id if self.builds else None,
        }


@dataclass(slots=True)
class Sandbox:
    """One sandbox of the team."""

    id: str
    name: str
    template: Template
    created_at: datetime
    since: float
    """When it last became active or paused, on the team's clock."""
    metadata: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    network: dict[str, object] | None = None
    preview_access: str = "legacy_public"
    timeout_seconds: int | None = None
    auto_delete_seconds: int | None = None
    status: str = "starting"
    token: str = ""
    guest: Guest | None = None
    commands: int = 0
    """How many commands were started in it."""

    def as_json(self, *, with_token: bool = False) -> dict[str, object]:
        """The API's form."""
        info: dict[str, object] = {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "created_at": self.created_at.isoformat(),
            "vcpu_count": self.template.vcpu,
            "memory_mib": self.template.memory_mib,
            "metadata": self.metadata,
            "timeout_seconds": self.timeout_seconds,
            "auto_delete_seconds": self.auto_delete_seconds,
            "network": self.network,
            "preview_access": self.preview_access,
        }
        return info | {"access_token": self.token} if with_token else info

    @property
    def live_guest(self) -> Guest:
        """The guest.

        Raises:
            GuestFailure: It is not there yet, or no longer.
        """
        if self.guest is None:
            raise GuestFailure("no guest", dead=True)
        return self.guest


class Team:
    """All state of the emulated service."""

    def __init__(self, api_key: str) -> None:
        self.api_key = api_key
        self.clock_offset = 0.0
        self.guests = GuestHost()
        self.recorder = Recorder()
        self.quotas = Quotas()
        self.bucket = TokenBucket(self.quotas, self.now)
        self.sandboxes: dict[str, Sandbox] = {}
        self.deleted: set[str] = set()
        self.created = 0
        self.most_at_once = 0
        self.most_commands = 0
        names = [f"superserve/{name}" for name in SYSTEM_TEMPLATES]
        self.templates = [Template(new_id(), name, self.wall()) for name in names]
        self.tasks: set[asyncio.Task[None]] = set()

    def now(self) -> float:
        """The team's clock, seconds. Tests can move it forward."""
        return time.monotonic() + self.clock_offset

    def wall(self) -> datetime:
        """The team's clock as a date."""
        return datetime.now(UTC) + timedelta(seconds=self.clock_offset)

    # ---- looking up

    def sandbox(self, sandbox_id: str) -> Sandbox:
        """The sandbox of that id, or 404."""
        if sandbox_id not in self.sandboxes:
            raise not_found("Sandbox")
        return self.sandboxes[sandbox_id]

    def template(self, name: str) -> Template:
        """The template of that name or id, or 404."""
        for template in self.templates:
            if name in (template.name, template.id):
                return template
        raise not_found("Template")

    def counted(self) -> int:
        """Sandboxes that count against the cap."""
        return sum(box.status in COUNTED for box in self.sandboxes.values())

    # ---- sandboxes

    async def create(self, body: dict[str, object]) -> Sandbox:
        """Make a sandbox that is ready to use."""
        template = self.template(str(body.get("from_template", "superserve/base")))
        if template.status != "ready":
            raise conflict(f"template is not ready (status={template.status})")
        self._check_cap()
        box = Sandbox(new_id(), str(body["name"]), template, self.wall(), self.now())
        box.env = _strings(body.get("env_vars"))
        box.metadata = _strings(body.get("metadata"))
        box.network = body.get("network")  # type: ignore[assignment]
        box.preview_access = str(body.get("preview_access", "legacy_public"))
        box.timeout_seconds = body.get("timeout_seconds")  # type: ignore[assignment]
        box.auto_delete_seconds = body.get("auto_delete_seconds")  # type: ignore[assignment]
        self.sandboxes[box.id] = box
        self.created += 1
        self.most_at_once = max(self.most_at_once, self.counted())
        if self.recorder.on:
            box.status, box.token = "active", f"at_{secrets.token_urlsafe(24)}"
        else:
            await self._boot(box)
        return box

    def _check_cap(self) -> None:
        if self.counted() >= self.quotas.max_sandboxes:
            message = f"team has reached its limit of {self.quotas.max_sandboxes} active sandboxes"
            raise refuse(429, "too_many_sandboxes", message)

    async def _boot(self, box: Sandbox) -> None:
        try:
            box.guest = await self.guests.create()
            if box.template.files:
                await unpack(box.guest, box.template.files)
        except GuestFailure as error:
            box.status = "failed"
            raise refuse(503, "service_unavailable", error.message) from error
        if box.id not in self.sandboxes:
            await box.guest.destroy()
            raise not_found("Sandbox")
        self.activate(box)

    def activate(self, box: Sandbox) -> None:
        """Make a sandbox active, with a new token."""
        box.token = f"at_{secrets.token_urlsafe(24)}"
        if box.status != "active":
            box.status, box.since = "active", self.now()
            box.live_guest.freeze(frozen=False)

    def resume(self, box: Sandbox) -> None:
        """Wake a paused sandbox, if the cap allows it."""
        if box.status == "paused":
            self._check_cap()
        self.activate(box)

    def pause(self, box: Sandbox) -> None:
        """Freeze a sandbox."""
        if box.status != "active":
            raise conflict(f"sandbox is {box.status}")
        box.live_guest.freeze(frozen=True)
        box.status, box.since = "paused", self.now()

    async def delete(self, sandbox_id: str) -> None:
        """Destroy a sandbox with all its processes."""
        box = self.sandbox(sandbox_id)
        del self.sandboxes[sandbox_id]
        self.deleted.add(sandbox_id)
        self.most_commands = max(self.most_commands, box.commands)
        if box.guest is not None:
            await box.guest.destroy()

    # ---- time

    async def run_clock(self) -> None:
        """Pause and delete sandboxes when their time has come; runs for ever."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            for box in list(self.sandboxes.values()):
                with contextlib.suppress(Refusal, GuestFailure):
                    await self._age(box)

    async def _age(self, box: Sandbox) -> None:
        age = self.now() - box.since
        if box.status == "active" and box.timeout_seconds is not None and age >= box.timeout_seconds:
            self.pause(box)
            age = 0.0
        due = box.auto_delete_seconds
        if box.status == "paused" and due is not None and age >= due:
            await self.delete(box.id)

    async def close(self) -> None:
        """Destroy everything."""
        for sandbox_id in list(self.sandboxes):
            with contextlib.suppress(Refusal):
                await self.delete(sandbox_id)
        self.guests.close()


def _strings(value: object) -> dict[str, str]:
    return dict(value) if isinstance(value, dict) else {}


async def unpack(guest: Guest, files: bytes) -> None:
    """Lay a template's files into a guest."""
    writing = await guest.request(b"W", {"path": TEMPLATE_FILES})
    await writing.send(b"d", files)
    await writing.send(b"e", b"")
    async for _ in writing.frames():
        pass
    command = f"tar xf {TEMPLATE_FILES} -C /; rm {TEMPLATE_FILES}"
    request = {"command": command, "cwd": "/", "env": {"PATH": "/usr/bin:/bin"}, "timeout": 60}
    running = await guest.request(b"R", request)
    async for _ in running.frames():
        pass
