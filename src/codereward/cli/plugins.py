"""`codereward plugins`: what is installed, and from where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from codereward.registry import Plugin, default_registry, summary

__all__ = ["plugins"]


def plugins(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """List the installed plugins: what they register, distribution and version, and what is broken.

    Exit status 1 when a plugin could not be loaded.
    """
    found = list(default_registry().plugins.values())
    typer.echo(
        json.dumps([described(one) for one in found], indent=2) if as_json else "\n".join(lines(found))
    )
    if any(one.error is not None for one in found):
        raise typer.Exit(1)


def described(plugin: Plugin) -> dict[str, Any]:
    """A plugin as JSON data."""
    return {
        "owner": plugin.owner,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "module": plugin.module,
        "requires": list(plugin.requires),
        "components": [{"kind": one.kind, "name": one.name} for one in plugin.components],
        "observes": list(plugin.observes),
        "error": None if plugin.error is None else summary(plugin.error),
    }


def lines(found: Sequence[Plugin]) -> list[str]:
    """The list for people: a component each, in columns, then what is broken."""
    rows = [("KIND", "NAME", "DISTRIBUTION", "VERSION")]
    for plugin in found:
        rows += [(one.kind, one.name, plugin.distribution, plugin.version) for one in plugin.components]
        rows += [("observer", hook, plugin.distribution, plugin.version) for hook in plugin.observes]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    broken = [
        f"broken: {one.owner} {one.version} ({one.module}): {summary(one.error)}"
        for one in found
        if one.error is not None
    ]
    return table + broken
