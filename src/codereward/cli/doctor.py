"""`codereward doctor`: which executors work here, and is their isolation real?"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Annotated, Any, Final

import typer

from codereward.errors import BackendError, ConfigError
from codereward.model import Command, Finding, Program, Run, Status
from codereward.protocols import Executor, Harness
from codereward.registry import Registry, default_registry

__all__ = ["doctor"]

PROGRAMS: Final = 64
"""Programs run to measure the rate."""


def doctor(
    *,
    executor: Annotated[
        list[str] | None,
        typer.Option(help="Only this executor; may be repeated. Default: all that are installed."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Try every installed executor for real: isolation, limits, languages, programs a second.

    Exit status 1 when an executor that was named does not work, or none does.
    """
    registry = default_registry()
    names = executor or registry.names("executor")
    examined = [asyncio.run(examine(registry, name)) for name in names]
    typer.echo(
        json.dumps([described(one) for one in examined], indent=2) if as_json else "\n".join(lines(examined))
    )
    working = [one.works for one in examined]
    if not (all(working) if executor else any(working)):
        raise typer.Exit(1)


@dataclass(slots=True)
class Examination:
    """What was found out about one executor."""

    executor: str
    findings: list[Finding] = field(default_factory=list)
    """What has to pass for the executor to work."""
    languages: list[Finding] = field(default_factory=list)
    """Which languages it can run; each may be missing."""

    @property
    def works(self) -> bool:
        """Whether it runs programs, and holds them."""
        return all(one.passed for one in self.findings)


async def examine(registry: Registry, name: str) -> Examination:
    """Everything that can be found out about one executor."""
    found = Examination(name)
    try:
        executor: Executor = registry.create("executor", name)
    except ConfigError as error:
        found.findings.append(Finding("can be made", passed=False, detail=str(error)))
        return found
    try:
        found.findings += await executor.diagnose()
        if found.works:
            found.findings.append(await rate(executor))
        if found.works:
            harnesses = [registry.create("harness", one) for one in registry.names("harness")]
            found.languages += [await language(executor, one) for one in harnesses if one.version]
        return found
    finally:
        await executor.aclose()


async def rate(executor: Executor) -> Finding:
    """Run small programs, many at once, and measure."""
    program = Program("python", {}, (Command(("true",)),))
    try:
        await executor.run(program)
        start = perf_counter()
        await asyncio.gather(*(executor.run(program) for _ in range(PROGRAMS)))
    except BackendError as error:
        return Finding("runs programs", passed=False, detail=str(error))
    return Finding(
        "runs programs", passed=True, detail=f"{PROGRAMS / (perf_counter() - start):.0f} a second (`true`)"
    )


async def language(executor: Executor, harness: Harness) -> Finding:
    """Ask for the version of what runs a harness's language."""
    name = f"language {harness.language}"
    try:
        run = await executor.run(Program(harness.language, {}, (Command(harness.version),)))
    except BackendError as error:
        return Finding(name, passed=False, detail=str(error))
    return Finding(name, passed=ran(run), detail=said(run))


def ran(run: Run) -> bool:
    """Whether its one command ended well."""
    return run.commands[0].status is Status.EXITED and run.commands[0].exit_code == 0


def said(run: Run) -> str:
    """The first line of what its one command printed."""
    result = run.commands[0]
    text = (result.stdout or result.stderr).decode("utf-8", "replace").strip()
    return text.splitlines()[0] if text else f"ended {result.status}"


def described(found: Examination) -> dict[str, Any]:
    """An examination as JSON data."""
    return {"works": found.works, **asdict(found)}


def lines(examined: list[Examination]) -> list[str]:
    """The findings for people."""
    text: list[str] = []
    for found in examined:
        text.append(f"executor {found.executor}: {'works' if found.works else 'DOES NOT WORK'}")
        text += [line(one, "FAIL") for one in found.findings]
        text += [line(one, "none") for one in found.languages]
    return text or ["no executor is installed; try `pip install codereward-local`"]


def line(finding: Finding, failed: str) -> str:
    """One finding."""
    mark = "ok" if finding.passed else failed
    return f"  {mark:4}  {finding.name}" + (f": {finding.detail}" if finding.detail else "")
