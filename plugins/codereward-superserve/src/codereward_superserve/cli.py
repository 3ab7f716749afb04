"""`codereward superserve …`: commands for what is at the service."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from codereward import BackendMisconfigured, BackendUnavailable

from codereward_superserve.mapping import Kind, classify
from codereward_superserve.reaper import Orphan, reap

__all__ = ["commands"]

UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def commands() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(name="superserve", help="What codereward has at Superserve.", no_args_is_help=True)
    app.command("reap")(reap_command)
    app.callback()(group)
    return app


def group() -> None:
    """What codereward has at Superserve."""


def reap_command(
    *,
    older_than: Annotated[
        str, typer.Option(help="Age from which a sandbox counts as left behind: 90s, 15m, 2h, 1d.")
    ] = "1h",
    run: Annotated[str | None, typer.Option(help="Only sandboxes of the run of this name.")] = None,
    kill: Annotated[
        bool, typer.Option("--kill", help="Destroy them; without it they are only listed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """List sandboxes that earlier runs left behind, and with --kill destroy them.

    Only sandboxes that carry codereward's own metadata are looked at.

    Exit status 1 when one could not be destroyed, 2 when they could not be listed.
    """
    found = reaped(seconds(older_than), run, kill=kill)
    typer.echo(
        json.dumps([asdict(one) for one in found], default=datetime.isoformat, indent=2)
        if as_json
        else "\n".join(lines(found))
    )
    if any(one.problem for one in found):
        raise typer.Exit(1)


def reaped(older_than: float, run: str | None, *, kill: bool) -> list[Orphan]:
    """What `reap` says.

    Raises:
        BackendMisconfigured: The sandboxes cannot be listed until something is mended.
        BackendUnavailable: They cannot be listed now.
    """
    try:
        return reap(older_than, dry_run=not kill, run=run)
    except Exception as error:  # the SDK lets errors of many kinds out
        failure = classify(error, "preflight")
        mend = f". To mend it: {failure.fix}" if failure.fix else "; try again"
        text = f"the sandboxes cannot be listed: {failure.message}{mend}"
        lasting = failure.kind in (Kind.PERMANENT, Kind.CONFIRM, Kind.UNREACHABLE)
        raised = BackendMisconfigured if lasting else BackendUnavailable
        raise raised(" ".join(text.split())) from error  # a service's page of HTML is still one line


def seconds(age: str) -> float:
    """An age as `90s`, `15m`, `2h` or `1d`, in seconds.

    Raises:
        typer.BadParameter: It is written otherwise.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", age)
    if match is None:
        msg = f"{age!r} is no age: write 90s, 15m, 2h or 1d"
        raise typer.BadParameter(msg)
    return float(match[1]) * UNITS[match[2] or "s"]


def lines(found: list[Orphan]) -> list[str]:
    """The sandboxes for people."""
    text = [f"{one.sandbox_id}  {one.status:8}  {made(one)}  {one.run}  {fate(one)}" for one in found]
    if not found:
        return ["nothing was left behind"]
    if not any(one.deleted or one.problem for one in found):
        text.append(f"{len(found)} left behind; destroy with --kill")
    return text


def made(orphan: Orphan) -> str:
    """When it was created."""
    return f"{orphan.created_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def fate(orphan: Orphan) -> str:
    """What became of it."""
    return "destroyed" if orphan.deleted else orphan.problem or "still there"
