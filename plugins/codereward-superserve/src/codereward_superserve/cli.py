"""`codereward superserve …`: commands for what is at the service."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Annotated, Final

import typer
from codereward import BackendMisconfigured
from superserve import SandboxError

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

    Only sandboxes that carry codereward's own metadata are looked at. Exit status 1 when one could
    not be destroyed.
    """
    try:
        found = reap(seconds(older_than), dry_run=not kill, run=run)
    except SandboxError as error:
        msg = f"cannot list the sandboxes at Superserve: {error}. Is SUPERSERVE_API_KEY set, and right?"
        raise BackendMisconfigured(msg) from error
    typer.echo(
        json.dumps([asdict(one) for one in found], default=str, indent=2)
        if as_json
        else "\n".join(lines(found))
    )
    if any(one.problem for one in found):
        raise typer.Exit(1)


def seconds(age: str) -> float:
    """An age as `90s`, `15m`, `2h` or `1d`, in seconds.

    Raises:
        typer.BadParameter: It is written otherwise.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", age)
    if match is None:
        msg = f"{age!r} is no age: write 90s, 15m, 2h or 1d"
        raise typer.BadParameter(msg)
    return float(match[1]) * UNITS[match[2] or "s"]


def lines(found: list[Orphan]) -> list[str]:
    """The sandboxes for people."""
    text = [
        f"{one.sandbox_id}  {one.status:8}  {one.created_at:%Y-%m-%d %H:%M}  {one.run}  {fate(one)}"
        for one in found
    ]
    if not found:
        return ["nothing was left behind"]
    if not any(one.deleted or one.problem for one in found):
        text.append(f"{len(found)} left behind; destroy with --kill")
    return text


def fate(orphan: Orphan) -> str:
    """What became of it."""
    return "destroyed" if orphan.deleted else orphan.problem or "still there"
