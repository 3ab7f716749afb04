"""Template builds: the steps run in a guest, and what they leave in its own folders is kept."""

from __future__ import annotations

import hashlib
import json

from .execution import capture, start
from .guests import GuestFailure
from .state import Build, Sandbox, Team, Template, new_id

__all__ = ["build_of", "run_build"]

KEEP = "tar cf /tmp/.kept.tar -C / srv home root"


class StepFailedError(Exception):
    """A step of a build exited with a status other than 0."""


def build_of(team: Team, template: Template) -> Build:
    """A build of the template's spec: the finished one of the same spec, else a new one."""
    spec_hash = hashlib.sha256(json.dumps(template.spec, sort_keys=True).encode()).hexdigest()
    for build in template.builds:
        if build.spec_hash == spec_hash and build.status in ("ready", "building"):
            return build
    build = Build(new_id(), template.id, spec_hash, team.wall())
    template.builds.append(build)
    return build


async def run_build(team: Team, template: Template, build: Build) -> None:
    """Run the steps; the template is ready, or failed, afterwards."""
    box = Sandbox(new_id(), "build", template, team.wall(), team.now())
    try:
        box.guest = await team.guests.create()
        await _run_steps(box, template, build)
        template.files = await _kept_files(box)
        template.status = build.status = "ready"
        template.built_at = team.wall()
    except (StepFailedError, GuestFailure) as error:
        template.status = build.status = "failed"
        build.error = f"step_failed: {error}"
    finally:
        build.finished.set()
        if box.guest is not None:
            await box.guest.destroy()


async def _run_steps(box: Sandbox, template: Template, build: Build) -> None:
    steps = template.spec.get("steps")
    for step in steps if isinstance(steps, list) else []:
        if "env" in step:
            template.env[step["env"]["key"]] = step["env"]["value"]
        elif "workdir" in step:
            template.workdir = step["workdir"]
            await _run(box, build, f"mkdir -p {step['workdir']}", cwd="/")
        elif "run" in step:
            await _run(box, build, step["run"])


async def _run(box: Sandbox, build: Build, command: str, cwd: str | None = None) -> None:
    running = await start(box, {"command": command, "timeout_s": 60, "working_dir": cwd})
    captured = await capture(running)
    build.log.append(f"$ {command}\n")
    if captured.exit_code != 0:
        raise StepFailedError(f"{command!r} exited with status {captured.exit_code}")


async def _kept_files(box: Sandbox) -> bytes:
    await capture(await start(box, {"command": KEEP, "working_dir": "/"}))
    reading = await box.live_guest.request(b"G", {"path": "/tmp/.kept.tar"})
    return b"".join([body async for kind, body in reading.frames() if kind == b"d"])
