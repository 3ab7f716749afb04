"""The executor `superserve`."""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import secrets
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from codereward import BackendMisconfigured, BackendUnavailable, Executor, Finding, Program, Run
from superserve import CommandResult, Template, TemplateStatus

from codereward_superserve import payload, reply
from codereward_superserve.boxes import Box, Boxes, StageFailed
from codereward_superserve.connections import enlarge_pool
from codereward_superserve.diagnosis import diagnosed
from codereward_superserve.inventory import destroy_all
from codereward_superserve.mapping import Failure, Kind
from codereward_superserve.settings import Settings
from codereward_superserve.threads import Threads
from codereward_superserve.trial import Trial
from codereward_superserve.warm import WarmPool

__all__ = ["SuperserveExecutor"]

SCRIPT_SECONDS: Final = 20
"""Time that the script in the sandbox gets beyond what the program's limits add up to."""
LIFETIME_SLACK: Final = 60
"""Seconds a sandbox has to live beyond its longest exec call."""
SPARE_THREADS: Final = 16
"""Beyond one for each sandbox: deletions, and calls that were given up and have not returned yet."""

T = TypeVar("T")


class SuperserveExecutor(Executor):
    """Runs every program in a fresh Superserve cloud sandbox.

    Args:
        **options: The settings, by keyword; see `Settings` for each one's meaning and default.

    Raises:
        TypeError: An unknown setting.
        ValueError: A setting that cannot work.
    """

    __signature__: ClassVar[inspect.Signature] = inspect.signature(Settings)
    """What `help` and documentation show: the settings by name."""

    def __init__(self, **options: Any) -> None:
        self.settings = Settings(**options)
        self._lives: dict[asyncio.AbstractEventLoop, _Live] = {}

    def __repr__(self) -> str:
        """The executor as it was made, with the key masked."""
        return f"SuperserveExecutor({self.settings!r})"

    def __getstate__(self) -> dict[str, Any]:
        """The configuration alone: what is live stays in this process."""
        return self.settings.as_options()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc] # an unused one of the same configuration

    async def run(self, program: Program) -> Run:
        """Run `program` in a fresh sandbox.

        Raises:
            BackendUnavailable: The service failed, and may recover.
            BackendMisconfigured: The service cannot work as configured.
            ValueError: The program cannot be packed: a name that is too long, or none.
        """
        template = self.settings.template_for(program.language)
        if template is None:
            known = ", ".join(sorted(self.settings.templates))
            msg = (
                f"SuperserveExecutor has no template for language {program.language!r}, only for {known}. "
                "Set templates={language: name} or template=name"
            )
            raise BackendMisconfigured(msg)
        if not payload.fits_on_disk(program):
            return reply.too_large(program)
        return await self._alive().run(program, payload.pack(program), template)

    async def aclose(self) -> None:
        """Destroy everything that is still alive. `run` may be called again after."""
        live = self._lives.pop(asyncio.get_running_loop(), None)
        if live is not None and live.owner == os.getpid():
            await live.close()
        self._bury_the_dead()

    async def diagnose(self) -> Sequence[Finding]:
        """Try whether the service answers, knows the key, and has every template that is set.

        Creates no sandbox. What fails is tried again, as for a program, before it is a finding.
        """
        templates = [self.settings.template] if self.settings.template else self.settings.templates.values()
        return await diagnosed(self._alive().look, list(dict.fromkeys(templates)), self.settings.base_url)

    def statistics(self) -> Mapping[str, int]:
        """Counts of what happened in this process: `created`, `deleted`, `throttled` and so on."""
        total: dict[str, int] = {}
        for live in self._lives.values():
            for name, count in live.boxes.counts.items():
                total[name] = total.get(name, 0) + count
        return total

    def _alive(self) -> _Live:
        loop = asyncio.get_running_loop()
        live = self._lives.get(loop)
        if live is None or live.owner != os.getpid():
            self._bury_the_dead()
            live = self._lives[loop] = _Live(self.settings)
            live.finalizer = weakref.finalize(self, *live.last_will())
        return live

    def _bury_the_dead(self) -> None:
        """Destroy what belongs to loops that ended without `aclose`."""
        for loop, live in list(self._lives.items()):
            if loop.is_closed() or live.owner != os.getpid():
                del self._lives[loop]
                live.end()


class _Live:
    """What one process has open for an executor, on one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.owner = os.getpid()
        self.settings = settings
        threads = settings.max_sandboxes // settings.share() * 2 + SPARE_THREADS
        enlarge_pool()
        self.threads = Threads(threads)
        self.boxes = Boxes(settings, self.threads)
        self.warm = WarmPool(self.boxes, settings.warm, settings.warm_seconds, settings.lifetime_seconds)
        self.finalizer: weakref.finalize[Any, Any] | None = None
        self._checks: dict[str, asyncio.Future[TemplateStatus | None]] = {}
        self._running: set[asyncio.Future[Run]] = set()
        self._closing = False

    # ---- one program

    async def run(self, program: Program, parcel: payload.Parcel, template: str) -> Run:
        """Try until it has run, the budget is spent, or the executor is closed."""
        tries = asyncio.ensure_future(self._try(partial(self._once, program, parcel, template)))
        self._running.add(tries)
        tries.add_done_callback(self._running.discard)
        try:
            return await tries
        except asyncio.CancelledError:
            if not tries.cancelled() or not self._closing:
                raise
            raise BackendUnavailable("the executor was closed while the program ran", True) from None  # noqa: FBT003 - positional, so that it pickles

    async def look(self, template: str) -> TemplateStatus | None:
        """The template's status, `None` for one that is given by its id; tries as `run` does."""
        return await self._try(partial(self._check, template))

    async def _try(self, attempt: Callable[[], Awaitable[T]]) -> T:
        trial = Trial(self.settings, self.boxes.last_good, self.boxes.any_alive)
        patience = asyncio.timeout(self.settings.patience_seconds)
        try:
            async with patience:
                while True:
                    try:
                        return await attempt()
                    except StageFailed as failed:
                        await trial.after(failed.failure)
        except TimeoutError:
            if not patience.expired():
                raise
        trial.give_up(f"Superserve did not do it within {self.settings.patience_seconds:g} s")
        raise AssertionError  # give_up raises

    async def _once(self, program: Program, parcel: payload.Parcel, template: str) -> Run:
        await self._check(template)
        seconds = math.ceil(payload.wall_seconds(program)) + SCRIPT_SECONDS
        box = await self._box(template, seconds + LIFETIME_SLACK)
        try:
            return await self._run_in(box, program, parcel, seconds)
        finally:
            self.boxes.discard(box)

    async def _box(self, template: str, need: int) -> Box:
        if (ready := await self.warm.take(template, need)) is not None:
            return ready
        self.warm.make_room(template)
        return await self.boxes.create(template, max(self.settings.lifetime_seconds, need))

    async def _run_in(self, box: Box, program: Program, parcel: payload.Parcel, seconds: int) -> Run:
        nonce = secrets.token_hex(16)
        variables = {"CODEREWARD_NONCE": nonce, **await self._deliver(box, parcel, nonce)}
        ask = partial(box.handle.commands.run, payload.script(), env=variables, timeout_seconds=seconds)
        limit = seconds + self.settings.call_seconds
        result: CommandResult = await self.boxes.call("exec", ask, limit)
        try:
            said = reply.parse(result.stdout, nonce)
            if isinstance(said, reply.Refused):
                raise BackendMisconfigured(_unfit(box.template, said.reason))
            if isinstance(said, reply.Parked):
                said = (said.lines, await self._fetch(box, said.path, reply.most_bytes(program)))
            run = reply.read(said, program, box.template)
        except reply.BrokenReply as broken:
            raise StageFailed(_broken(broken, result)) from broken
        self.boxes.worked("exec")
        return run

    async def _deliver(self, box: Box, parcel: payload.Parcel, nonce: str) -> dict[str, str]:
        """Variables that say where the program is; a large one is written to a file first."""
        if parcel.inline:
            return parcel.variables()
        path = f"/tmp/codereward-{nonce}"  # noqa: S108 - in the sandbox, before the program starts
        seconds = self.settings.call_seconds
        write = partial(box.handle.files.write, path, parcel.archive, timeout=seconds)
        await self.boxes.call("write", write, seconds)
        return {"CODEREWARD_FILE": path, **parcel.room()}

    async def _fetch(self, box: Box, path: str, most: int) -> bytes:
        seconds = self.settings.call_seconds
        fetch = partial(box.handle.files.read, path, timeout=seconds, max_bytes=most)
        try:
            return await self.boxes.call("read", fetch, seconds)
        except StageFailed as failed:  # the program has run, whatever the stage says
            failure = failed.failure
            lost = Failure(Kind.TRANSIENT, failure.stage, failure.message, started=True)
            raise StageFailed(lost) from failed

    # ---- before the first program

    async def _check(self, template: str) -> TemplateStatus | None:
        """Prove key, address and template with one cheap call, once."""
        check = self._checks.get(template)
        if check is None:
            check = self._checks[template] = asyncio.ensure_future(self._look_at(template))
        try:
            return await asyncio.shield(check)
        except BaseException:
            if check.done() and self._checks.get(template) is check:
                del self._checks[template]
            raise

    async def _look_at(self, template: str) -> TemplateStatus | None:
        await self.boxes.bucket.take()
        ask = partial(Template.list, name_prefix=template, **self.settings.credentials())
        try:
            found = await self.boxes.call("preflight", ask, self.settings.call_seconds)
        except StageFailed as failed:
            if failed.failure.kind is Kind.THROTTLED:
                self.boxes.bucket.refused()
            raise
        status = next((each.status for each in found if template in (each.name, each.id)), None)
        if status is TemplateStatus.FAILED:
            raise BackendMisconfigured(_unfit(template, "its build failed"))
        if status is None and "/" in template:  # a template given by its id is not found by its name
            near = ", ".join(each.name for each in found[:10]) or "none that begins so"
            raise BackendMisconfigured(_unfit(template, f"this key's team has no such template ({near})"))
        return status

    # ---- the end

    async def close(self) -> None:
        """Destroy everything; returns when that is confirmed, or the time for it is over."""
        self._closing = True
        for each in self._running:
            each.cancel()
        try:
            async with asyncio.timeout(self.settings.drain_seconds):
                await asyncio.gather(*self._running, return_exceptions=True)
                await self.warm.close()
                await self.boxes.drain()
        except TimeoutError:
            self.boxes.stop()
        await self.threads.call(self.end, 2 * self.settings.drain_seconds)

    def end(self) -> None:
        """Destroy what is left, without an event loop."""
        if self.finalizer is not None:
            self.finalizer.detach()
        function, *arguments = self.last_will()
        function(*arguments)
        if self.owner == os.getpid():
            self.threads.close()

    def last_will(self) -> tuple[Any, ...]:
        """What to call when the executor, or the interpreter, is gone: nothing that holds either."""
        return destroy_all, self.boxes.inventory, self.settings.credentials(), self.settings.drain_seconds


def _unfit(template: str, reason: str) -> str:
    return (
        f"Superserve template {template!r} cannot be used: {reason}. Choose another one: "
        "templates={language: name} or template=name of SuperserveExecutor"
    )


def _broken(broken: reply.BrokenReply, result: CommandResult) -> Failure:
    """A reply without our nonce, or a cut one, is never a result."""
    shown = f"exit code {result.exit_code}, {len(result.stdout)} characters: {result.stdout[:100]!r}"
    kind = Kind.TRANSIENT if broken.began else Kind.MALFORMED
    fix = "the service does not run commands as this version expects: upgrade codereward-superserve"
    return Failure(kind, "exec", f"Superserve, exec: {broken.message} ({shown})", fix, started=True)
