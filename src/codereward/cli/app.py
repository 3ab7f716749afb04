"""The command `codereward`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from codereward import __version__
from codereward.cli import doctor, plugins
from codereward.errors import CoderewardError
from codereward.registry import Registry, default_registry, summary

__all__ = ["app", "main"]

app = typer.Typer(
    name="codereward",
    help="Does the code a model wrote pass the tests? A reward for RL post-training.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("plugins")(plugins.plugins)
app.command("doctor")(doctor.doctor)


def show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    """Print the version and leave."""
    if asked:
        typer.echo(f"codereward {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Does the code a model wrote pass the tests? A reward for RL post-training."""


def add_plugin_commands(registry: Registry) -> None:
    """Add the commands that plugins register; broken ones are told, and spare the rest."""
    for name in registry.names("command"):
        try:
            app.add_typer(registry.create("command", name), name=name)
        except Exception as error:  # noqa: BLE001 - whatever a plugin's code raises
            owner = registry.component("command", name).owner
            typer.echo(f"codereward: no commands {name!r} ({owner}): {summary(error)}", err=True)


def main() -> None:
    """Run the command line; the user's own mistakes end in one line, with exit status 2."""
    try:
        add_plugin_commands(default_registry())
        app()
    except CoderewardError as error:
        typer.echo(f"codereward: {error}", err=True)
        sys.exit(2)
